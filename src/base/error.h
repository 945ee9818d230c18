// SPDX-License-Identifier: Apache-2.0
// Errors inside the library: C++ throws max::Error, the C boundary translates it.
#pragma once

#include <exception>
#include <initializer_list>
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

// A value that a text contains. One function joins values of all types, so that a message costs its callers little
// code.
class TextPart {
 public:
  explicit TextPart(const char* text) : value_(text), append_(appendCharacters) {}
  template <class T>
  explicit TextPart(const T& value) : value_(&value), append_(appendValue<T>) {}

  void addTo(std::string& text) const { append_(text, value_); }

 private:
  static void appendCharacters(std::string& text, const void* value) { text += static_cast<const char*>(value); }
  template <class T>
  static void appendValue(std::string& text, const void* value) {
    appendTo(text, *static_cast<const T*>(value));
  }

  const void* value_;
  void (*append_)(std::string& text, const void* value);
};

std::string join(std::initializer_list<TextPart> parts);
[[noreturn]] void failWith(MaxStatus status, std::initializer_list<TextPart> parts);

template <class... Parts>
std::string concat(const Parts&... parts) {
  return join({TextPart(parts)...});
}

template <class... Parts>
[[noreturn]] void fail(MaxStatus status, const Parts&... parts) {
  failWith(status, {TextPart(parts)...});
}

template <class... Parts>
void require(bool condition, MaxStatus status, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(status, parts...);
}

template <class... Parts>
[[noreturn]] void invalidArgument(const Parts&... parts) {
  failWith(MAX_STATUS_INVALID_ARGUMENT, {TextPart(parts)...});
}

}  // namespace max
