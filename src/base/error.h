// SPDX-License-Identifier: Apache-2.0
// Errors inside the library: C++ throws max::Error, the C boundary translates it.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "max/status.h"

namespace max {

class Error : public std::exception {
 public:
  Error(MaxStatus status, std::string message) : status_(status), message_(std::move(message)) {}

  MaxStatus status() const { return status_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  MaxStatus status_;
  std::string message_;
};

const char* statusName(MaxStatus status);

// appendTo(text, value) is the customisation point of concat: the library's types add an overload next to their
// definition (DType, Shape, Dim).
inline void appendTo(std::string& text, std::string_view value) { text += value; }
inline void appendTo(std::string& text, const char* value) { text += value; }
inline void appendTo(std::string& text, const std::string& value) { text += value; }
inline void appendTo(std::string& text, char value) { text += value; }
inline void appendTo(std::string& text, bool value) { text += value ? "true" : "false"; }
template <class T>
requires std::is_arithmetic_v<T>
void appendTo(std::string& text, T value) { text += std::to_string(value); }

template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  (appendTo(text, parts), ...);
  return text;
}

[[noreturn]] void throwError(MaxStatus status, std::string message);

template <class... Parts>
[[noreturn]] void fail(MaxStatus status, const Parts&... parts) {
  throwError(status, concat(parts...));
}

template <class... Parts>
void require(bool condition, MaxStatus status, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(status, parts...);
}

template <class... Parts>
[[noreturn]] void invalidArgument(const Parts&... parts) {
  fail(MAX_STATUS_INVALID_ARGUMENT, parts...);
}

}  // namespace max
