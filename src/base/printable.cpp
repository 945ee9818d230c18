// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

namespace max {

namespace {

constexpr size_t kLongest = 16384;

struct Range {
  uint32_t first, last;
};

// Unicode's control and format characters, and others that are invisible or reorder text. Sorted.
constexpr Range kHidden[] = {
    {0x0000, 0x001F},    // control characters, which start escape sequences
    {0x007F, 0x009F},    // delete and C1 control characters
    {0x00AD, 0x00AD},    // soft hyphen
    {0x061C, 0x061C},    // direction marks, embeddings, overrides and isolates: here and below
    {0x180E, 0x180E},    // vowel separator
    {0x200B, 0x200F},    // zero width, direction marks
    {0x2028, 0x202E},    // line and paragraph separators, embeddings and overrides
    {0x2060, 0x206F},    // invisible operators, isolates
    {0xFDD0, 0xFDEF},    // noncharacters
    {0xFE00, 0xFE0F},    // variation selectors
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFF0, 0xFFFB},    // annotations
    {0xFFFE, 0xFFFF},    // noncharacters
    {0xE0000, 0xE0FFF},  // tags
};

bool isHidden(uint32_t character) {
  const Range* found = std::lower_bound(std::begin(kHidden), std::end(kHidden), character,
                                        [](const Range& range, uint32_t value) { return range.last < value; });
  return found != std::end(kHidden) && found->first <= character;
}

struct Character {
  uint32_t code = 0;
  size_t size = 0;  // bytes; 0 = not UTF-8
};

// The first one of a text that is not empty.
Character firstOf(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1};
  if (first < 0xC2 || first > 0xF4) return {};
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (text.size() < size) return {};
  uint32_t code = first & (0x7Fu >> size);
  for (const char byte : text.substr(1, size - 1)) {
    if ((static_cast<unsigned char>(byte) & 0xC0) != 0x80) return {};
    code = code << 6 | (static_cast<unsigned char>(byte) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool isSurrogate = code >= 0xD800 && code < 0xE000;
  return code < kLeast[size] || code > 0x10FFFF || isSurrogate ? Character{} : Character{code, size};
}

void appendByte(std::string& out, char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  out += byte == '\n' ? "\\n" : text;
}

void appendCodeUnits(std::string& out, uint32_t code) {
  char text[16];
  if (code < 0x10000)
    std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(code));
  else
    std::snprintf(text, sizeof text, "\\u%04x\\u%04x", static_cast<unsigned>(0xD7C0 + (code >> 10)),
                  static_cast<unsigned>(0xDC00 + (code & 0x3FF)));
  out += text;
}

void appendPrintable(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const Character character = firstOf(text);
    const size_t size = std::max<size_t>(character.size, 1);
    if (character.size > 0 && !isHidden(character.code))
      out += text.substr(0, size);
    else
      for (const char byte : text.substr(0, size)) appendByte(out, byte);
    text.remove_prefix(size);
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

std::string printableLines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\n\t"), text.size());
    out += printable(text.substr(0, end));
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string printableJson(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    const Character character = firstOf(json);
    const size_t size = std::max<size_t>(character.size, 1);
    if (character.size == 0)
      appendCodeUnits(out, 0xFFFD);
    else if (isHidden(character.code) && json[0] != '\n')
      appendCodeUnits(out, character.code);
    else
      out += json.substr(0, size);
    json.remove_prefix(size);
  }
  return out;
}

}  // namespace max
