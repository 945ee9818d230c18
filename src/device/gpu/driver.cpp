// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/fork.h"
#include "device/gpu/library.h"

namespace max::gpu {

namespace {

// The generation of the process that loaded a driver with devices; 0 = none.
std::atomic<uint64_t> driverGeneration{0};

uint64_t thisGeneration() { return uint64_t{forkGeneration()} + 1; }

// Names of symbols that are missing.
class Loader {
 public:
  explicit Loader(const Library& library) : library_(library) {}

  template <class Signature>
  void load(Symbol<Signature>& symbol, const char* name, bool required) {
    if (!name) return;
    symbol.name = name;
    library_.bind(name, symbol.function);
    if (required && !symbol) missing_ += concat(missing_.empty() ? "" : ", ", name);
  }
  const std::string& missing() const { return missing_; }

 private:
  const Library& library_;
  std::string missing_;
};

std::string loadSymbols(Driver& driver, const Library& library) {
  Loader loader(library);
  const SymbolNames& names = driver.api->symbols;
#define MAX_GPU_LOAD(member, parameters) loader.load(driver.member, names.member, true);
  MAX_GPU_COMMON_SYMBOLS(MAX_GPU_LOAD)
  MAX_GPU_EITHER_SYMBOLS(MAX_GPU_LOAD)
#undef MAX_GPU_LOAD
#define MAX_GPU_LOAD(member, parameters) loader.load(driver.member, names.member, false);
  MAX_GPU_OPTIONAL_SYMBOLS(MAX_GPU_LOAD)
#undef MAX_GPU_LOAD
  loader.load(driver.errorText, names.errorText, false);
  return loader.missing();
}

int versionOf(const Api& api, int version) {
  const int major = version / api.majorUnit;
  return major * 1000 + version % api.majorUnit / api.minorUnit * 10;
}

// Drivers that are too old, too new or half installed, by what their first calls answer.
struct AdviceRow {
  int error;
  const char* advice;
};
constexpr AdviceRow kAdvice[] = {
    {35, "; a newer kernel driver would do"},
    {803,
     "; the library and the kernel driver are of different versions: restart after an update, or install one driver "
     "whole"},
    {804,
     "; the library is of a compatibility package that does not work on this chip: use the driver's own, or a newer "
     "driver"},
};

const char* adviceFor(int error) {
  const auto* row = std::ranges::find(kAdvice, error, &AdviceRow::error);
  return row == std::end(kAdvice) ? "" : row->advice;
}

std::string problemOf(const Driver& driver, const char* function, int error) {
  if (error == kNoDevice) return concat("its driver finds no device (", function, ": ", driver.errorName(error), ")");
  return concat("its driver does not work (", function, ": ", driver.errorName(error), ")", adviceFor(error));
}

// Empty on success.
std::string start(Driver& driver, const Library& library) {
  if (!library.isOpen()) return concat("its driver library could not be opened: ", library.problem());
  const std::string missing = loadSymbols(driver, library);
  if (!missing.empty())
    return concat("its driver library '", library.name(), "' lacks ", missing,
                  "; a newer driver, or a complete one, would do");
  if (const int error = driver.init(0); error != kSuccess) return problemOf(driver, driver.init.name, error);
  int version = 0;
  if (const int error = driver.driverGetVersion(&version); error != kSuccess)
    return problemOf(driver, driver.driverGetVersion.name, error);
  driver.version = versionOf(*driver.api, version);
  int count = 0;
  if (const int error = driver.deviceGetCount(&count); error != kSuccess)
    return problemOf(driver, driver.deviceGetCount.name, error);
  if (count <= 0) return problemOf(driver, driver.deviceGetCount.name, kNoDevice);
  driver.deviceCount = count;
  return "";
}

bool hasKernelDriver(const Api& api) {
  if (api.kernelDrivers.empty() || secure_getenv(api.libraryVariable)) return true;
  return std::ranges::any_of(api.kernelDrivers, [](const char* file) { return access(file, F_OK) == 0; });
}

// "neither /dev/kfd nor /dev/dxg"
std::string noneOf(std::span<const char* const> files) {
  std::string text;
  for (const char* file : files) text += concat(text.empty() ? "neither " : " nor ", file);
  return text;
}

std::string openAndStart(Driver& driver) {
  const Api& api = *driver.api;
  if (!hasKernelDriver(api))
    return concat("its kernel driver is not there (", noneOf(api.kernelDrivers), "); ", api.libraries[0],
                  " was not opened; ", api.libraryVariable, " can name another library");
  return start(driver, Library(api.libraryVariable, api.libraries));
}

void loadDriver(Driver& driver, const Api& api) {
  driver.api = &api;
  driver.problem = openAndStart(driver);
  if (driver.deviceCount > 0) driverGeneration.store(thisGeneration(), std::memory_order_release);
}

// The driver of a row of apis(), once it has been asked for.
struct LoadedDriver {
  std::once_flag once;
  Driver driver;
};

// After these errors a context is unusable.
constexpr int kFatalErrors[] = {4, 46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810};

bool isFatal(int error) { return std::ranges::find(kFatalErrors, error) != std::end(kFatalErrors); }

struct StatusRow {
  int error;
  MaxStatus status;
};
constexpr StatusRow kStatuses[] = {
    {kInvalidValue, MAX_STATUS_INVALID_ARGUMENT},
    {kOutOfMemory, MAX_STATUS_RESOURCE_EXHAUSTED},
    {9, MAX_STATUS_INVALID_ARGUMENT},
    {46, MAX_STATUS_UNAVAILABLE},
    {kNoDevice, MAX_STATUS_UNAVAILABLE},
    {101, MAX_STATUS_UNAVAILABLE},
    {400, MAX_STATUS_INVALID_ARGUMENT},
    {500, MAX_STATUS_NOT_FOUND},
    {701, MAX_STATUS_RESOURCE_EXHAUSTED},
    {217, MAX_STATUS_UNIMPLEMENTED},
    {711, MAX_STATUS_RESOURCE_EXHAUSTED},
    {720, MAX_STATUS_INVALID_ARGUMENT},
    {800, MAX_STATUS_FAILED_PRECONDITION},
    {801, MAX_STATUS_UNIMPLEMENTED},
    {912, MAX_STATUS_INVALID_ARGUMENT},
};
// Errors of calls not allowed during stream capture.
constexpr int kFirstCaptureError = 900;
constexpr int kLastCaptureError = 908;

}  // namespace

std::string Driver::errorName(int error) const {
  const char* name = nullptr;
  if (errorText) name = errorText(error);
  if (getErrorName && getErrorName(error, &name) != kSuccess) name = nullptr;
  return name ? name : concat("error ", error);
}

const Driver& driverOf(const Api& api) {
  static_cast<void>(forkGeneration());  // from here on forks count
  // Never destroyed: threads may use a driver while the process exits.
  static auto* const drivers = new LoadedDriver[apis().size()];
  LoadedDriver& loaded = drivers[std::ranges::find(apis(), &api) - apis().begin()];
  std::call_once(loaded.once, [&] { loadDriver(loaded.driver, api); });
  return loaded.driver;
}

bool isCutOffByFork() {
  const uint64_t generation = driverGeneration.load(std::memory_order_acquire);
  return generation != 0 && generation != thisGeneration();
}

MaxStatus statusOf(int error) {
  if (error >= kFirstCaptureError && error <= kLastCaptureError) return MAX_STATUS_FAILED_PRECONDITION;
  const auto* row = std::ranges::find(kStatuses, error, &StatusRow::error);
  return row == std::end(kStatuses) ? MAX_STATUS_INTERNAL : row->status;
}

Context::Context(const Driver& driver, int ordinal)
    : driver_(driver),
      ordinal_(ordinal),
      displayName_(concat(driver.api->name, ':', ordinal)),
      gated_(makeRef<GatedDevice>(driver.hostGate)) {
  const RelaxedCapture relaxed(driver);
  if (const int error = driver.deviceGet(&device_, ordinal); error != kSuccess) fail(driver.deviceGet.name, error);
  if (const int error = driver.primaryContextRetain(&handle_, device_); error != kSuccess)
    fail(driver.primaryContextRetain.name, error);
}

Context::~Context() {
  if (isCutOffByFork()) return;
  const RelaxedCapture relaxed(driver_);
  static_cast<void>(driver_.primaryContextRelease(device_));
}

void Context::check() const {
  require(!isCutOffByFork(), MAX_STATUS_FAILED_PRECONDITION, "Device ", displayName_,
          " belongs to the parent process: forked");
  if (!lost_.load(std::memory_order_acquire)) [[likely]]
    return;
  const std::lock_guard lock(mutex_);
  max::fail(MAX_STATUS_UNAVAILABLE, "Device ", displayName_, " is lost: ", reason_);
}

void Context::note(const char* function, int error) const noexcept {
  if (!isFatal(error)) return;
  const std::lock_guard lock(mutex_);
  if (lost_.load(std::memory_order_relaxed)) return;
  try {
    reason_ = concat(function, ": ", driver_.errorName(error));
  } catch (...) {
    reason_.clear();
  }
  lost_.store(true, std::memory_order_release);
  gated_->noteLost();
}

void Context::fail(const char* function, int error) const {
  note(function, error);
  if (isFatal(error)) check();
  max::fail(statusOf(error), function, ": ", driver_.errorName(error), " on ", displayName_);
}

Context::Scope::Scope(const Context& context) : context_(context) {
  const Driver& driver = context.driver_;
  if (driver.contextSetCurrent) {
    error_ = driver.contextGetCurrent(&before_);
    if (error_ != kSuccess || before_ == context.handle_) return;
    error_ = driver.contextSetCurrent(context.handle_);
  } else {
    error_ = driver.deviceGetCurrent(&deviceBefore_);
    if (error_ != kSuccess || deviceBefore_ == context.ordinal_) return;
    error_ = driver.deviceSetCurrent(context.ordinal_);
  }
  changed_ = error_ == kSuccess;
}

Context::Scope::~Scope() {
  if (!changed_) return;
  const Driver& driver = context_.driver_;
  if (driver.contextSetCurrent)
    static_cast<void>(driver.contextSetCurrent(before_));
  else
    static_cast<void>(driver.deviceSetCurrent(deviceBefore_));
}

}  // namespace max::gpu
