// SPDX-License-Identifier: Apache-2.0
// Modules and launches of the fake libcuda.so.1.
#include <algorithm>
#include <cstring>

#include "artefact.h"
#include "fake.h"
#include "kernels.h"

using fake::Function;
using fake::Module;

namespace {

constexpr int kErrorLogBuffer = 5;
constexpr int kErrorLogSize = 6;
// Of a device.
constexpr int kProcessors = 16;
constexpr int kThreadsPerProcessor = 39;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

// CUlaunchAttributeID.
constexpr int kKnownAttributes[] = {1, 2, 4, 6, 8};
constexpr int kAccessPolicyWindow = 1;
constexpr int kCooperative = 2;
constexpr int kClusterDimension = 4;
constexpr int kPersisting = 2;
constexpr int kMostWindowBytes = 109;  // of a device
constexpr int kLargeClusters = 14;     // of a function

struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    unsigned dimensions[3];
    int number;
    struct {
      void* base;
      size_t bytes;
      float hitRatio;
      int hitProperty;
      int missProperty;
    } window;
  } value;
};

// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attributeCount;
};

void* optionValue(int wanted, unsigned count, const int* options, void* const* values) {
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == wanted) return values[i];
  return nullptr;
}

void writeLog(const std::string& log, unsigned count, const int* options, void* const* values) {
  auto* target = static_cast<char*>(optionValue(kErrorLogBuffer, count, options, values));
  const auto size = reinterpret_cast<size_t>(optionValue(kErrorLogSize, count, options, values));
  if (target && size > 0) target[log.copy(target, size - 1)] = '\0';
}

// A driver takes CUBINs of chips that the device runs code of, and code of compilers that it knows.
int load(Module** module, const void* image, std::string* log) {
  int major = 0, minor = 0;
  if (const int error = fake::deviceAttribute(kCapabilityMajor, &major)) return error;
  if (const int error = fake::deviceAttribute(kCapabilityMinor, &minor)) return error;
  if (!fake::isForChip(image, 10 * major + minor)) return fake::kNoBinaryForDevice;
  if (!fake::isForDriver(image, fake::settings().cudaVersion)) return fake::kUnsupportedPtxVersion;
  return fake::loadModule(image, fake::kCudaMachine, module, log);
}

bool isPossibleWindow(const LaunchAttribute& attribute) {
  int most = 0;
  return fake::deviceAttribute(kMostWindowBytes, &most) == fake::kOk &&
         attribute.value.window.bytes <= static_cast<size_t>(most) &&
         attribute.value.window.missProperty != kPersisting;
}

unsigned product(const unsigned (&sizes)[3]) { return sizes[0] * sizes[1] * sizes[2]; }

int attributeOfDevice(int attribute) {
  int value = 0;
  return fake::deviceAttribute(attribute, &value) == fake::kOk ? value : 0;
}

// Clusters divide the grid, and have at most 8 blocks, or 16 if the function allows what not all chips have.
int problemOfCluster(const LaunchConfig& config, const unsigned (&sizes)[3], Function* function) {
  int isLargeAllowed = 0;
  if (const int error = fake::functionAttribute(function, kLargeClusters, &isLargeAllowed)) return error;
  for (int d = 0; d < 3; ++d)
    if (sizes[d] == 0 || config.grid[d] % sizes[d] != 0) return fake::kInvalidClusterSize;
  return product(sizes) <= (isLargeAllowed ? 16u : 8u) ? fake::kOk : fake::kInvalidClusterSize;
}

// All blocks of a cooperative launch must be there at the same time.
bool fitsAtOnce(const LaunchConfig& config) {
  const auto threads = static_cast<unsigned>(attributeOfDevice(kThreadsPerProcessor));
  const unsigned inOne = threads / ((product(config.block) + 31) / 32 * 32);
  return product(config.grid) <= inOne * static_cast<unsigned>(attributeOfDevice(kProcessors));
}

int problemOf(const LaunchConfig& config, Function* function) {
  for (unsigned i = 0; i < config.attributeCount; ++i) {
    const LaunchAttribute& attribute = config.attributes[i];
    if (std::ranges::count(kKnownAttributes, attribute.id) == 0) return fake::kInvalidValue;
    if (attribute.id == kAccessPolicyWindow && !isPossibleWindow(attribute)) return fake::kInvalidValue;
    if (attribute.id == kCooperative && !fitsAtOnce(config)) return fake::kCooperativeLaunchTooLarge;
    if (attribute.id != kClusterDimension) continue;
    if (const int problem = problemOfCluster(config, attribute.value.dimensions, function)) return problem;
  }
  return fake::kOk;
}

// How attributes are named where a number says all.
struct NumberName {
  int id;
  const char* name;
};
constexpr NumberName kNumberNames[] = {{kCooperative, "cooperative"}, {6, "programmatic"}, {8, "priority"}};

std::string describe(const LaunchAttribute& attribute) {
  const auto& value = attribute.value;
  if (attribute.id == kAccessPolicyWindow) return "window " + std::to_string(value.window.bytes) + ";";
  if (attribute.id == kClusterDimension)
    return "cluster " + std::to_string(value.dimensions[0]) + " " + std::to_string(value.dimensions[1]) + " " +
           std::to_string(value.dimensions[2]) + ";";
  const auto* row = std::ranges::find(kNumberNames, attribute.id, &NumberName::id);
  return std::string(row->name) + " " + std::to_string(value.number) + ";";
}

// Of the thread's last launch with a configuration.
thread_local std::string lastAttributes;

}  // namespace

FAKE_API const char* fakeGpuDescribeLaunch(void) { return lastAttributes.c_str(); }

FAKE_API int cuModuleLoadDataEx(Module** module, const void* image, unsigned optionCount, int* options, void** values) {
  FAKE_ENTER();
  std::string log;
  const int result = load(module, image, &log);
  writeLog(log, optionCount, options, values);
  return result;
}

FAKE_API int cuModuleLoadData(Module** module, const void* image) {
  FAKE_ENTER();
  std::string log;
  return load(module, image, &log);
}

FAKE_API int cuModuleUnload(Module* module) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning()) return failed;
  const int result = fake::unloadModule(module);
  return failed ? failed : result;
}

FAKE_API int cuModuleGetFunction(Function** function, Module* module, const char* name) {
  FAKE_ENTER();
  return fake::findFunction(module, name, function);
}

FAKE_API int cuModuleGetFunctionCount(unsigned* count, Module* module) {
  FAKE_ENTER();
  return fake::countFunctions(module, count);
}

FAKE_API int cuModuleEnumerateFunctions(Function** functions, unsigned count, Module* module) {
  FAKE_ENTER();
  return fake::listFunctions(module, count, functions);
}

FAKE_API int cuFuncLoad(Function* function) {
  FAKE_ENTER();
  return fake::loadFunction(function);
}

FAKE_API int cuModuleGetGlobal_v2(uint64_t* address, size_t* bytes, Module* module, const char* name) {
  FAKE_ENTER();
  return fake::findVariable(module, name, address, bytes);
}

FAKE_API int cuFuncGetAttribute(int* value, int attribute, Function* function) {
  FAKE_ENTER();
  return fake::functionAttribute(function, attribute, value);
}

FAKE_API int cuFuncSetAttribute(Function* function, int attribute, int value) {
  FAKE_ENTER();
  return fake::setFunctionAttribute(function, attribute, value);
}

FAKE_API int cuFuncGetParamInfo(Function* function, size_t index, size_t* offset, size_t* bytes) {
  FAKE_ENTER();
  return fake::parameter(function, index, offset, bytes);
}

FAKE_API int cuLaunchKernel(Function* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                            unsigned blockY, unsigned blockZ, unsigned sharedBytes, void* stream, void** arguments,
                            void** extra) {
  if (fake::launchesDoNothing()) return fake::kOk;
  FAKE_ENTER();
  if (extra) return fake::kNotSupported;
  lastAttributes.clear();
  return fake::launch(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes}, stream, arguments);
}

FAKE_API int cuLaunchKernelEx(const LaunchConfig* config, Function* function, void** arguments, void** extra) {
  if (fake::launchesDoNothing()) return fake::kOk;
  FAKE_ENTER();
  if (extra) return fake::kNotSupported;
  if (const int problem = problemOf(*config, function)) return problem;
  lastAttributes.clear();
  for (unsigned i = 0; i < config->attributeCount; ++i) lastAttributes += describe(config->attributes[i]);
  fake::LaunchShape shape{};
  std::ranges::copy(config->grid, shape.grid);
  std::ranges::copy(config->block, shape.block);
  shape.sharedBytes = config->sharedBytes;
  return fake::launch(function, shape, config->stream, arguments);
}
