// SPDX-License-Identifier: Apache-2.0
// The drivers of accelerators: their functions, their errors, and a device's context.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/ref.h"
#include "device/gpu/allocator_streams.h"
#include "device/gpu/api.h"
#include "device/gpu/host_gate.h"
#include "device/gpu/library.h"

namespace max::gpu {

// Numbers that all APIs share.
inline constexpr int kSuccess = 0;
inline constexpr int kInvalidValue = 1;
inline constexpr int kOutOfMemory = 2;
inline constexpr int kNoDevice = 100;
inline constexpr int kNotReady = 600;
inline constexpr int kPeerAccessAlreadyEnabled = 704;

template <class Signature>
struct Symbol;

// A driver's function together with its name.
template <class Result, class... Parameters>
struct Symbol<Result(Parameters...)> {
  Result (*function)(Parameters...) = nullptr;
  const char* name = nullptr;

  explicit operator bool() const { return function != nullptr; }
  // The driver's result code; Context::call turns it into an error.
  MAX_GPU_FOREIGN_CALL Result operator()(Parameters... arguments) const { return function(arguments...); }
};

struct Symbols {
#define MAX_GPU_MEMBER(member, parameters) Symbol<int parameters> member;
  MAX_GPU_SYMBOLS(MAX_GPU_MEMBER)
#undef MAX_GPU_MEMBER
  Symbol<const char*(int error)> errorText;
};

// The driver of an API in this process, loaded and initialised on first use.
struct Driver : Symbols {
  const Api* api = nullptr;
  int deviceCount = 0;
  // 1000 * major + 10 * minor.
  int version = 0;
  // Why there is no device; empty if there is one.
  std::string problem;
  // Of all its devices.
  Ref<StreamTable> streams = makeRef<StreamTable>();
  Ref<HostGate> hostGate = makeRef<HostGate>();

  // Some drivers store the last error of each thread; the host program would mistake ours for its own.
  int forget(int error) const {
    if (error != kSuccess && clearLastError) static_cast<void>(clearLastError());
    return error;
  }
  // "CUDA_ERROR_OUT_OF_MEMORY"
  MAX_GPU_FOREIGN_CALL std::string errorName(int error) const;
};

const Driver& driverOf(const Api& api);
// A child process cannot use a driver that its parent loaded.
bool isCutOffByFork();

MaxStatus statusOf(int error);

// While it lives, a capture of this thread or another does not forbid this thread the calls that drivers take for
// unsafe in one, such as allocations and queries: what we do is no part of it.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver) : exchange_(driver.exchangeCaptureMode) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  static constexpr int kRelaxedMode = 2;
  void exchange() {
    if (exchange_) static_cast<void>(exchange_(&mode_));
  }

  const Symbol<int(int*)>& exchange_;
  int mode_ = kRelaxedMode;  // the thread's own one meanwhile
};

// A device's primary context, which all calls on the device need, and whether it still works.
class Context final : public RefCounted {
 public:
  // `ordinal` is below the driver's count.
  Context(const Driver& driver, int ordinal);
  ~Context() override;

  const Driver& driver() const { return driver_; }
  const Api& api() const { return *driver_.api; }
  int ordinal() const { return ordinal_; }
  int device() const { return device_; }
  void* handle() const { return handle_; }
  // "cuda:0", as messages name the device.
  const std::string& displayName() const { return displayName_; }
  // For the device's host functions.
  const Ref<GatedDevice>& gated() const { return gated_; }

  // Throws if the device is lost or belongs to the parent process.
  void check() const;
  // Not lost, and of this process.
  bool isUsable() const noexcept { return !isLost() && !isCutOffByFork(); }
  bool isLost() const noexcept { return lost_.load(std::memory_order_acquire); }

  // Calls a driver function with this context as the thread's current one.
  // Throws on errors: "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY on cuda:0".
  template <class... Parameters, class... Arguments>
  void call(const Symbol<int(Parameters...)>& symbol, Arguments... arguments) const {
    check();
    const int error = invoke(symbol, arguments...);
    if (error != kSuccess) [[unlikely]]
      fail(symbol.name, error);
  }

  // The same after check(), for launches, which no capture forbids.
  template <class... Parameters, class... Arguments>
  void callChecked(const Symbol<int(Parameters...)>& symbol, Arguments... arguments) const {
    const Scope scope(*this);
    const int error = driver_.forget(scope.error() != kSuccess ? scope.error() : symbol(arguments...));
    if (error != kSuccess) [[unlikely]]
      fail(symbol.name, error);
  }

  // Like call, but returns the driver's result code, which may not be an error (kNotReady). Records that the device is
  // lost if the code says so.
  template <class... Parameters, class... Arguments>
  int query(const Symbol<int(Parameters...)>& symbol, Arguments... arguments) const {
    check();
    const int error = invoke(symbol, arguments...);
    if (error != kSuccess && error != kNotReady) note(symbol.name, error);
    return error;
  }

  // For releasing resources, even of a lost device: nothing is called after a fork, and errors are only recorded.
  template <class... Parameters, class... Arguments>
  int tryCall(const Symbol<int(Parameters...)>& symbol, Arguments... arguments) const noexcept {
    if (isCutOffByFork()) return kNoDevice;
    int error = enterAndCall(symbol, arguments...);
    if (error == kNotEntered) error = invoke(symbol, arguments...);  // nothing has been released yet
    if (error != kSuccess && error != kNotReady) note(symbol.name, error);
    return error;
  }

  // The same for functions that may wait for all work of the device: while no host function is queued.
  template <class... Parameters, class... Arguments>
  int tryCallAlone(const Symbol<int(Parameters...)>& symbol, Arguments... arguments) const noexcept {
    if (isCutOffByFork()) return kNoDevice;
    const HostGate::Closed closed(*driver_.hostGate);
    return tryCall(symbol, arguments...);
  }

  // Throws the driver's error.
  [[noreturn]] void fail(const char* function, int error) const;

 private:
  // Makes the context current in this thread and restores the host program's own one.
  class Scope {
   public:
    explicit Scope(const Context& context);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    int error() const { return error_; }

   private:
    const Context& context_;
    void* before_ = nullptr;
    int deviceBefore_ = 0;
    int error_ = kSuccess;
    bool changed_ = false;
  };

  // The driver could not make the context current.
  static constexpr int kNotEntered = -1;

  template <class... Parameters, class... Arguments>
  int enterAndCall(const Symbol<int(Parameters...)>& symbol, Arguments... arguments) const {
    const Scope scope(*this);
    const RelaxedCapture relaxed(driver_);
    return scope.error() != kSuccess ? kNotEntered : driver_.forget(symbol(arguments...));
  }

  template <class... Parameters, class... Arguments>
  int invoke(const Symbol<int(Parameters...)>& symbol, Arguments... arguments) const {
    const Scope scope(*this);
    const RelaxedCapture relaxed(driver_);
    return driver_.forget(scope.error() != kSuccess ? scope.error() : symbol(arguments...));
  }

  void note(const char* function, int error) const noexcept;

  const Driver& driver_;
  int ordinal_;
  int device_ = 0;
  void* handle_ = nullptr;
  std::string displayName_;
  Ref<GatedDevice> gated_;
  mutable std::atomic<bool> lost_{false};
  mutable std::mutex mutex_;
  mutable std::string reason_;  // of the loss
};

}  // namespace max::gpu
