// SPDX-License-Identifier: Apache-2.0
#include "base/intern.h"

#include <mutex>
#include <set>
#include <string>

#include "base/fork.h"

namespace max {

const char* intern(std::string_view text) {
  const std::lock_guard lock(processMutex());
  static auto& texts = *new std::set<std::string, std::less<>>;
  const auto found = texts.find(text);
  return (found != texts.end() ? found : texts.emplace(text).first)->c_str();
}

}  // namespace max
