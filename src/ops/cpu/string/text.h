// SPDX-License-Identifier: Apache-2.0
// UTF-8. Invalid bytes count as separate characters, so that nothing is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace max {

struct Character {
  uint32_t code;  // an invalid byte: kRawByte + its value
  size_t bytes;
};
inline constexpr uint32_t kRawByte = 0x110000;

// Of text that is not empty.
Character firstCharacter(std::string_view text);
void appendCharacter(std::string& text, uint32_t code);

bool isSpace(uint32_t code);  // as in Unicode
// Character by character, with the system's tables, independent of the process's locale.
std::string lowerCase(std::string_view text);
std::string upperCase(std::string_view text);

}  // namespace max
