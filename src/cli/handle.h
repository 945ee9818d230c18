// SPDX-License-Identifier: Apache-2.0
// Owners of C API handles, and its failures as exceptions.
#pragma once

#include <max/max.h>

#include <utility>

#include "failure.h"

namespace max::cli {

// Throws the failed call's status and the summary line of its message.
void check(MaxStatus status);

template <class T, void (*release)(const T*)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() { release(handle_); }

  operator T*() const { return handle_; }  // NOLINT: handles are passed to the C API as they are
  // For out-parameters of an empty owner.
  T** out() { return &handle_; }

 private:
  T* handle_ = nullptr;
};

using Device = Owned<MaxDevice, maxDeviceRelease>;

// "cpu", "gpu:0", "cuda:1": an api and an optional number.
Device openDevice(const std::string& name);

}  // namespace max::cli
