// SPDX-License-Identifier: Apache-2.0
// UTF-8. Bytes that are none are taken for characters of their own, so that nothing is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace max {

struct Character {
  uint32_t code;  // a byte that is no UTF-8: kRawByte + its value
  size_t bytes;
};
inline constexpr uint32_t kRawByte = 0x110000;

// Of text that is not empty.
Character firstCharacter(std::string_view text);
void appendCharacter(std::string& text, uint32_t code);

bool isSpace(uint32_t code);  // as in Unicode
// Each character on its own, by the system's tables, whatever the process's locale is.
std::string lowerCase(std::string_view text);
std::string upperCase(std::string_view text);

}  // namespace max
