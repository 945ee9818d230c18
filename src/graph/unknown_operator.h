// SPDX-License-Identifier: Apache-2.0
// What to say of an operator that does not exist.
#pragma once

#include <string>
#include <string_view>

namespace max {

// "; did you mean 'Relu'?" and the like; empty if there is nothing to say. `domain`: "" is ONNX's own.
std::string hintAtOperator(std::string_view domain, std::string_view op);

// How to load an extension; empty if operators of the domain are this library's, or those of one that is loaded.
std::string hintAtExtensions(std::string_view domain);

// UNIMPLEMENTED, with these hints.
[[noreturn]] void failUnknownOperator(std::string_view node, std::string_view domain, std::string_view op);

}  // namespace max
