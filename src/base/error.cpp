// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <array>

namespace max {

namespace {

constexpr std::array<const char*, 16> kNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS",
};

}  // namespace

const char* statusName(MaxStatus status) {
  const auto index = static_cast<size_t>(status);
  return index < kNames.size() ? kNames[index] : "UNKNOWN";
}

std::string join(std::initializer_list<TextPart> parts) {
  std::string text;
  for (const TextPart& part : parts) part.addTo(text);
  return text;
}

void failWith(MaxStatus status, std::initializer_list<TextPart> parts) { throw Error(status, join(parts)); }

}  // namespace max
