// SPDX-License-Identifier: Apache-2.0
// Kinds of handles. Each object stores its kind, which the C boundary compares with the type of an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#define MAX_HANDLE_KINDS(X) \
  X(Attributes)             \
  X(Buffer)                 \
  X(Cancellation)           \
  X(Device)                 \
  X(Event)                  \
  X(Graph)                  \
  X(Model)                  \
  X(ModelInfo)              \
  X(Module)                 \
  X(Session)                \
  X(Stream)                 \
  X(Value)                  \
  X(Weights)

#define MAX_DECLARE(kind) struct Max##kind;
MAX_HANDLE_KINDS(MAX_DECLARE)
#undef MAX_DECLARE

// Symbols that the linker defines. NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
}
// NOLINTEND(bugprone-reserved-identifier)

namespace max {

enum class HandleKind : uint32_t {
  None,
#define MAX_ENUMERATOR(kind) kind,
  MAX_HANDLE_KINDS(MAX_ENUMERATOR)
#undef MAX_ENUMERATOR
};

// For example "MaxBuffer"; "object" for None.
inline const char* handleName(HandleKind kind) {
  static constexpr const char* kNames[] = {"object",
#define MAX_NAME(kind) "Max" #kind,
                                           MAX_HANDLE_KINDS(MAX_NAME)
#undef MAX_NAME
  };
  return kNames[static_cast<size_t>(kind)];
}

// The kind of a type; None for types that are not handles.
template <class T>
inline constexpr HandleKind kHandleKind = HandleKind::None;
#define MAX_KIND_OF(kind) \
  template <>             \
  inline constexpr HandleKind kHandleKind<Max##kind> = HandleKind::kind;
MAX_HANDLE_KINDS(MAX_KIND_OF)
#undef MAX_KIND_OF

inline constexpr uint64_t kHandleTag = 0x4d41582068616e00;  // "MAX han" and the kind

// The kind of the live handle at this address, None if it is something else. That is read one aligned word at a time,
// as far as needed. Sanitizers would report reads beside a small value.
__attribute__((no_sanitize("address"), no_sanitize("thread"))) inline HandleKind handleKindAt(
    const void* address) noexcept {
  if (!address || reinterpret_cast<uintptr_t>(address) % alignof(uint64_t) != 0) return HandleKind::None;
  const auto* words = static_cast<const volatile uint64_t*>(address);
  // Objects with virtual functions start with the address of their vtable, which is in the library.
  const auto library = reinterpret_cast<uintptr_t>(__ehdr_start);
  if (words[0] - library >= reinterpret_cast<uintptr_t>(_end) - library) return HandleKind::None;
  // A handle without references is in a pool.
  if (static_cast<int64_t>(words[1]) <= 0) return HandleKind::None;
  const uint64_t number = words[2] - kHandleTag;
  return number <= static_cast<uint64_t>(HandleKind::Weights) ? static_cast<HandleKind>(number) : HandleKind::None;
}

template <class T>
bool isHandle(const T* pointer) noexcept {
  return handleKindAt(pointer) == kHandleKind<T>;
}

// Why a pointer is not a handle of the type: "is NULL", "is a MaxStream, not a MaxBuffer".
std::string wrongHandleText(const void* pointer, HandleKind expected);
template <class T>
std::string wrongHandleText(const T* pointer) {
  return wrongHandleText(pointer, kHandleKind<T>);
}

}  // namespace max
