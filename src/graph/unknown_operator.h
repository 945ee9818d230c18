// SPDX-License-Identifier: Apache-2.0
// Hints for an operator that does not exist.
#pragma once

#include <string>
#include <string_view>

namespace max {

// "; did you mean 'Relu'?" or similar; empty if there is no hint. `domain`: "" is ONNX's own.
std::string hintAtOperator(std::string_view domain, std::string_view op);

// How to load an extension; empty if the domain is this library's or a loaded extension's.
std::string hintAtExtensions(std::string_view domain);

// UNIMPLEMENTED, with these hints.
[[noreturn]] void failUnknownOperator(std::string_view node, std::string_view domain, std::string_view op);

}  // namespace max
