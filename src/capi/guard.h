// SPDX-License-Identifier: Apache-2.0
// The boundary: C++ throws inside, guard translates, nothing escapes.
#pragma once

#include <new>

#include "base/error.h"
#include "base/handle_kind.h"
#include "base/logged_error.h"

namespace max::capi {

// Stores the message of this thread's failed call; never allocates for RESOURCE_EXHAUSTED without text.
MaxStatus reportError(MaxStatus status, const char* message) noexcept;
// The log keeps its line breaks.
MaxStatus reportError(const LoggedError& error) noexcept;
MaxStatus reportOutOfMemory() noexcept;

template <class Function>
MaxStatus guard(Function&& function) noexcept {
  try {
    function();
    return MAX_STATUS_OK;
  } catch (const LoggedError& error) {
    return reportError(error);
  } catch (const Error& error) {
    return reportError(error.status(), error.message().c_str());
  } catch (const std::bad_alloc&) {
    return reportOutOfMemory();
  } catch (const std::exception& error) {
    return reportError(MAX_STATUS_INTERNAL, error.what());
  } catch (...) {
    return reportError(MAX_STATUS_INTERNAL, "Unknown exception");
  }
}

// Checks that an argument is a handle of the right kind and not released.
template <class T>
void requireKind(const T* pointer, const char* name) {
  if constexpr (kHandleKind<T> != HandleKind::None)
    if (!isHandle(pointer)) [[unlikely]]
      invalidArgument("Argument '", name, "' ", wrongHandleText(pointer));
}

template <class T>
void requireKindIfGiven(const T* pointer, const char* name) {
  if (pointer) requireKind(pointer, name);
}

template <class T>
void requireArgument(const T* pointer, const char* name) {
  if (!pointer) invalidArgument("Argument '", name, "' is NULL");
  requireKind(pointer, name);
}

// Checks enumerations and numbers with a range.
inline void requireWithin(int64_t value, int64_t least, int64_t most, const char* name) {
  if (value < least || value > most) invalidArgument(name, " is ", value, "; it must be ", least, " to ", most);
}

inline void requireCount(int64_t count, const char* name) {
  if (count < 0) invalidArgument(name, " is ", count, "; it must be at least 0");
}

// Out-pointers of handles are NULL whenever a call fails, so they are cleared first.
template <class Handle>
void clearOutput(Handle** pointer, const char* name) {
  requireArgument(pointer, name);
  *pointer = nullptr;
}

// Functions that get one value of an object: *out = getter(*object).
template <class Object, class Value, class Getter>
MaxStatus getValue(const Object* object, const char* objectName, Value* out, const char* name, Getter getter) {
  return guard([&] {
    requireArgument(out, name);
    requireArgument(object, objectName);
    *out = getter(*object);
  });
}

}  // namespace max::capi
