// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/source.h"

namespace max {

std::string filledIn(std::string text, std::initializer_list<std::pair<std::string_view, std::string_view>> names) {
  for (const auto& [name, value] : names)
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  return text;
}

}  // namespace max
