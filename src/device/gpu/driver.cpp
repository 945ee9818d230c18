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

constexpr const char* kCudaLibraries[] = {"libcuda.so.1"};
constexpr const char* kHipLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};

struct ApiRow {
  const char* name;
  const char* vendor;
  const char* variable;
  std::span<const char* const> libraries;
};
// In the order of Api.
constexpr ApiRow kApis[] = {{"cuda", "NVIDIA", "MAX_CUDA_LIBRARY", kCudaLibraries},
                            {"hip", "AMD", "MAX_HIP_LIBRARY", kHipLibraries}};

const ApiRow& rowOf(Api api) { return kApis[static_cast<size_t>(api)]; }

// The generation of the process that loaded a driver with devices; 0 = none.
std::atomic<uint64_t> driverGeneration{0};

uint64_t thisGeneration() { return uint64_t{forkGeneration()} + 1; }

template <class Signature>
struct FunctionOf;
template <class Result, class... Parameters>
struct FunctionOf<Result (*)(Parameters...)> {
  static auto* cast(void* address) { return reinterpret_cast<Result (*)(Parameters...)>(address); }
};

// Names of symbols that are missing.
class Loader {
 public:
  Loader(const Library& library, Api api) : library_(library), api_(api) {}

  template <class Signature>
  void load(Symbol<Signature>& symbol, const char* cudaName, const char* hipName, bool required) {
    const char* name = api_ == Api::Cuda ? cudaName : hipName;
    if (!name) return;
    symbol.name = name;
    symbol.function = FunctionOf<decltype(symbol.function)>::cast(library_.symbol(name));
    if (required && !symbol.function) missing_ += concat(missing_.empty() ? "" : ", ", name);
  }
  const std::string& missing() const { return missing_; }

 private:
  const Library& library_;
  Api api_;
  std::string missing_;
};

std::string loadSymbols(Driver& driver, const Library& library) {
  Loader loader(library, driver.api);
#define MAX_GPU_LOAD(member, cudaName, hipName, parameters) loader.load(driver.member, cudaName, hipName, true);
  MAX_GPU_REQUIRED_SYMBOLS(MAX_GPU_LOAD)
#undef MAX_GPU_LOAD
#define MAX_GPU_LOAD(member, cudaName, hipName, parameters) loader.load(driver.member, cudaName, hipName, false);
  MAX_GPU_OPTIONAL_SYMBOLS(MAX_GPU_LOAD)
#undef MAX_GPU_LOAD
  if (driver.api == Api::Hip)
    driver.hipGetErrorName = reinterpret_cast<const char* (*)(int)>(library.symbol("hipGetErrorName"));
  return loader.missing();
}

// HIP's driver says 10000000 * major + 100000 * minor + patch.
int versionOf(Api api, int version) {
  if (api == Api::Cuda || version < 1000000) return version;
  return version / 10000000 * 1000 + version / 100000 % 100 * 10;
}

std::string problemOf(const Driver& driver, const char* function, int error) {
  if (error == kNoDevice) return concat("its driver finds no device (", function, ": ", driver.errorName(error), ")");
  return concat("its driver does not work (", function, ": ", driver.errorName(error), ")");
}

// Empty on success.
std::string start(Driver& driver, const Library& library) {
  if (!library.isOpen()) return concat("its driver library could not be opened: ", library.problem());
  const std::string missing = loadSymbols(driver, library);
  if (!missing.empty()) return concat("its driver library '", library.name(), "' lacks ", missing);
  if (const int error = driver.init(0); error != kSuccess) return problemOf(driver, driver.init.name, error);
  int version = 0;
  if (const int error = driver.driverGetVersion(&version); error != kSuccess)
    return problemOf(driver, driver.driverGetVersion.name, error);
  driver.version = versionOf(driver.api, version);
  int count = 0;
  if (const int error = driver.deviceGetCount(&count); error != kSuccess)
    return problemOf(driver, driver.deviceGetCount.name, error);
  if (count <= 0) return problemOf(driver, driver.deviceGetCount.name, kNoDevice);
  driver.deviceCount = count;
  return "";
}

// AMD's library takes tens of milliseconds to open, and is useless without the kernel driver.
bool hasKernelDriver(const ApiRow& row, Api api) {
  if (api != Api::Hip || secure_getenv(row.variable)) return true;
  return access("/dev/kfd", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

std::string openAndStart(Driver& driver) {
  const ApiRow& row = rowOf(driver.api);
  if (!hasKernelDriver(row, driver.api))
    return concat("its kernel driver is not there (neither /dev/kfd nor /dev/dxg); ", row.libraries[0],
                  " was not opened; ", row.variable, " can name another library");
  return start(driver, Library(row.variable, row.libraries));
}

Driver* loadDriver(Api api) {
  auto* driver = new Driver;  // never destroyed: threads may use it while the process exits
  driver->api = api;
  driver->problem = openAndStart(*driver);
  if (driver->deviceCount > 0) driverGeneration.store(thisGeneration(), std::memory_order_release);
  return driver;
}

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

const char* nameOf(Api api) { return rowOf(api).name; }

std::string Driver::errorName(int error) const {
  const char* name = nullptr;
  if (hipGetErrorName) name = hipGetErrorName(error);
  if (cudaGetErrorName && cudaGetErrorName(error, &name) != kSuccess) name = nullptr;
  return name ? name : concat("error ", error);
}

const Driver& driverOf(Api api) {
  static_cast<void>(forkGeneration());  // from here on forks count
  if (api == Api::Cuda) {
    static const Driver& cuda = *loadDriver(Api::Cuda);
    return cuda;
  }
  static const Driver& hip = *loadDriver(Api::Hip);
  return hip;
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
    : driver_(driver), ordinal_(ordinal), displayName_(concat(nameOf(driver.api), ':', ordinal)) {
  if (const int error = driver.deviceGet(&device_, ordinal); error != kSuccess) fail(driver.deviceGet.name, error);
  if (const int error = driver.primaryContextRetain(&handle_, device_); error != kSuccess)
    fail(driver.primaryContextRetain.name, error);
}

Context::~Context() {
  if (!isCutOffByFork()) static_cast<void>(driver_.primaryContextRelease(device_));
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
}

void Context::fail(const char* function, int error) const {
  note(function, error);
  if (isFatal(error)) check();
  max::fail(statusOf(error), function, ": ", driver_.errorName(error), " on ", displayName_);
}

Context::Scope::Scope(const Context& context) : context_(context) {
  const Driver& driver = context.driver_;
  if (driver.api == Api::Cuda) {
    error_ = driver.cudaGetCurrent(&before_);
    if (error_ != kSuccess || before_ == context.handle_) return;
    error_ = driver.cudaSetCurrent(context.handle_);
  } else {
    error_ = driver.hipGetDevice(&deviceBefore_);
    if (error_ != kSuccess || deviceBefore_ == context.ordinal_) return;
    error_ = driver.hipSetDevice(context.ordinal_);
  }
  changed_ = error_ == kSuccess;
}

Context::Scope::~Scope() {
  if (!changed_) return;
  const Driver& driver = context_.driver_;
  if (driver.api == Api::Cuda)
    static_cast<void>(driver.cudaSetCurrent(before_));
  else
    static_cast<void>(driver.hipSetDevice(deviceBefore_));
}

}  // namespace max::gpu
