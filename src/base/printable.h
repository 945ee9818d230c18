// SPDX-License-Identifier: Apache-2.0
// Texts of messages: names in them come from files and may hold anything.
#pragma once

#include <string>
#include <string_view>

namespace max {

// One line of UTF-8: control characters and bytes that are no UTF-8 become "\n" or "\xff", long texts are cut in the
// middle.
std::string printable(std::string_view text);

}  // namespace max
