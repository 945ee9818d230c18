// SPDX-License-Identifier: Apache-2.0
// Texts of kernels.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace max {

// The text with each of these names, wherever it is, replaced by what stands for it.
std::string filledIn(std::string text, std::initializer_list<std::pair<std::string_view, std::string_view>> names);

}  // namespace max
