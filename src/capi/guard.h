// SPDX-License-Identifier: Apache-2.0
// The boundary: C++ throws inside, guard translates, nothing escapes.
#pragma once

#include <new>

#include "base/error.h"
#include "base/logged_error.h"

namespace max::capi {

// Stores the message of this thread's failed call; never allocates for RESOURCE_EXHAUSTED without text.
MaxStatus reportError(MaxStatus status, const char* message) noexcept;
// The log keeps its lines.
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

inline void requireArgument(const void* pointer, const char* name) {
  if (!pointer) invalidArgument("Argument '", name, "' is NULL");
}

// Out-pointers of handles are NULL whenever a call fails, so they are cleared first.
template <class Handle>
void clearOutput(Handle** pointer, const char* name) {
  requireArgument(pointer, name);
  *pointer = nullptr;
}

// Functions that ask an object for one value: *out = getter(*object).
template <class Object, class Value, class Getter>
MaxStatus getValue(const Object* object, const char* objectName, Value* out, const char* name, Getter getter) {
  return guard([&] {
    requireArgument(out, name);
    requireArgument(object, objectName);
    *out = getter(*object);
  });
}

}  // namespace max::capi
