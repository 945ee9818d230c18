// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <cstdint>

namespace max {

namespace {

constexpr size_t kLongest = 16384;

bool isContinuation(std::string_view text, size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
}

// Bytes of the character at the start of the text; 0 if it is no UTF-8 or a control character.
size_t characterSize(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (size_t i = 1; i < size; ++i)
    if (!isContinuation(text, i)) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool tooLong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool tooLarge = first == 0xF4 && second >= 0x90;
  const bool control = first == 0xC2 && second < 0xA0;
  return tooLong || surrogate || tooLarge || control ? 0 : size;
}

void appendEscaped(std::string& out, char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto number = static_cast<unsigned char>(byte);
  if (byte == '\n') {
    out += "\\n";
  } else {
    out += "\\x";
    out += kDigits[number >> 4];
    out += kDigits[number & 15];
  }
}

void appendPrintable(std::string& out, std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t size = characterSize(text.substr(i));
    if (size == 0)
      appendEscaped(out, text[i]);
    else
      out += text.substr(i, size);
    i += size ? size : 1;
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  if (text.size() <= kLongest) {
    appendPrintable(out, text);
    return out;
  }
  appendPrintable(out, text.substr(0, kLongest / 2));
  out += " ... ";
  appendPrintable(out, text.substr(text.size() - kLongest / 4));
  return out;
}

}  // namespace max
