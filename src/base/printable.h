// SPDX-License-Identifier: Apache-2.0
// Text for people: names in it come from files and may hold anything. What a terminal would obey, what changes the
// order or the look of the text around it, and what is no UTF-8 is written as an escape.
#pragma once

#include <string>
#include <string_view>

namespace max {

// One line of UTF-8: such bytes become "\n" or "\xff", long texts are cut in the middle.
std::string printable(std::string_view text);

// Each line of a text by itself; its line feeds and tabs stay.
std::string printableLines(std::string_view text);

// A JSON text, which may have such characters in its strings: they become "\u001b", so that it means the same.
std::string printableJson(std::string_view json);

}  // namespace max
