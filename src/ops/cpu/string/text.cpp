// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/string/text.h"

#include <locale.h>
#include <wctype.h>

namespace max {

namespace {

// Bytes of a character by its first byte; 0 = not a first byte.
size_t lengthOf(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

// The smallest code point that needs this many bytes.
constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};

bool isCharacter(uint32_t code, size_t bytes) {
  return code >= kSmallest[bytes] && code < kRawByte && (code < 0xD800 || code > 0xDFFF);
}

// NULL if the system has no such locale; then only ASCII letters change.
locale_t unicodeLocale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

template <class Change, class ChangeAscii>
std::string changed(std::string_view text, Change change, ChangeAscii changeAscii) {
  const locale_t locale = unicodeLocale();
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    if (const auto byte = static_cast<unsigned char>(text[0]); byte < 0x80) {
      result += static_cast<char>(changeAscii(byte));
      text.remove_prefix(1);
      continue;
    }
    const Character character = firstCharacter(text);
    uint32_t code = character.code;
    if (locale && code < kRawByte) code = static_cast<uint32_t>(change(static_cast<wint_t>(code), locale));
    appendCharacter(result, code);
    text.remove_prefix(character.bytes);
  }
  return result;
}

}  // namespace

Character firstCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t bytes = lengthOf(byte(0));
  if (bytes == 1) return {byte(0), 1};
  const Character raw = {kRawByte + byte(0), 1};
  if (bytes == 0 || bytes > text.size()) return raw;
  uint32_t code = byte(0) & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return raw;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  return isCharacter(code, bytes) ? Character{code, bytes} : raw;
}

void appendCharacter(std::string& text, uint32_t code) {
  const auto append = [&](uint32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code >= kRawByte) return append(code - kRawByte);
  if (code < 0x80) return append(code);
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  append((0xFF00u >> (more + 1) & 0xFF) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) append(0x80 | (code >> (6 * i) & 0x3F));
}

bool isSpace(uint32_t code) {
  if (code <= 0x20) return code == 0x20 || (code >= 9 && code <= 13) || (code >= 0x1C && code <= 0x1F);
  if (code == 0x85 || code == 0xA0 || code == 0x1680) return true;
  return (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}

std::string lowerCase(std::string_view text) {
  return changed(text, towlower_l, [](uint32_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
}

std::string upperCase(std::string_view text) {
  return changed(text, towupper_l, [](uint32_t c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
}

}  // namespace max
