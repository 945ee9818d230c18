// SPDX-License-Identifier: Apache-2.0
#include "kernel/ptx_parameters.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>

namespace max {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kEntry = ".entry";
// No parameter of a kernel is larger; also keeps the arithmetic in range.
constexpr uint32_t kMostBytes = 1U << 16;

// Without leading blanks; trailing ones are not searched, since the text may be a whole file.
std::string_view trimmed(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

// Removes the first word from the text.
std::string_view takeWord(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, std::min(text.find_first_of(kBlanks), text.size()));
  text.remove_prefix(word.size());
  return word;
}

std::optional<uint32_t> numberOf(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > kMostBytes) return std::nullopt;
  return value;
}

// ".u64" -> 8; 0 if it is not a parameter type.
uint32_t typeSize(std::string_view word) {
  constexpr std::string_view kKinds = "busf";
  if (word.size() < 3 || word[0] != '.' || kKinds.find(word[1]) == kKinds.npos) return 0;
  const uint32_t bits = numberOf(word.substr(2)).value_or(0);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

// ".param .align 8 .b8 name[16]" -> 16.
std::optional<size_t> parameterSize(std::string_view text) {
  if (takeWord(text) != ".param") return std::nullopt;
  uint32_t size = 0;
  while (size == 0 && !trimmed(text).empty()) size = typeSize(takeWord(text));
  if (size == 0) return std::nullopt;
  const size_t open = text.find('[');
  if (open == text.npos) return size;
  const std::optional<uint32_t> count = numberOf(text.substr(open + 1, text.find(']', open) - open - 1));
  if (!count) return std::nullopt;
  return size_t{size} * *count;
}

// The text between the parentheses after the kernel's name.
std::optional<std::string_view> parameterList(std::string_view ptx, std::string_view kernel) {
  for (size_t at = ptx.find(kEntry); at != ptx.npos; at = ptx.find(kEntry, at + kEntry.size())) {
    const std::string_view rest = trimmed(ptx.substr(at + kEntry.size()));
    if (!rest.starts_with(kernel)) continue;
    const std::string_view list = trimmed(rest.substr(kernel.size()));
    // Without parentheses it has no parameters; any other character is part of a longer name.
    if (list.starts_with('(')) {
      const size_t close = list.find(')');
      if (close == list.npos) return std::nullopt;  // nor do later ones have it
      return list.substr(1, close - 1);
    }
    if (list.starts_with('{') || list.starts_with('.')) return std::string_view();
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<size_t>> ptxParameterSizes(std::string_view ptx, std::string_view kernel) {
  std::optional<std::string_view> list = parameterList(ptx, kernel);
  if (!list) return std::nullopt;
  std::vector<size_t> sizes;
  while (!trimmed(*list).empty()) {
    const size_t comma = std::min(list->find(','), list->size());
    const std::optional<size_t> size = parameterSize(list->substr(0, comma));
    if (!size) return std::nullopt;
    sizes.push_back(*size);
    list->remove_prefix(std::min(comma + 1, list->size()));
  }
  return sizes;
}

}  // namespace max
