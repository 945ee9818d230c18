// SPDX-License-Identifier: Apache-2.0
// Text for people: it includes names from files, which may contain anything. Control characters, characters that
// reorder or hide text, and invalid UTF-8 are escaped.
#pragma once

#include <string>
#include <string_view>

namespace max {

// One line of UTF-8: such bytes become "\n" or "\xff", long texts are cut in the middle.
std::string printable(std::string_view text);

// Text of several lines; line feeds and tabs stay.
std::string printableLines(std::string_view text);

// JSON, whose strings may contain such characters: they become "\u001b", which means the same.
std::string printableJson(std::string_view json);

}  // namespace max
