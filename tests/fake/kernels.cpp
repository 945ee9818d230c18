// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "artefact.h"
#include "base/error.h"
#include "fake.h"
#include "kernel/cpu_launch.h"
#include "kernel/cpu_library.h"

namespace fake {

struct Function {
  Module* module;
  const MaxCpuKernel* kernel;
  std::string name;
  bool isLoaded = !kPersonality.loadsLate;
  int sharedLimit = 48 << 10;
  int carveout = -1;
  int largeClusters = 0;
};

struct Module {
  Module(Device* on, max::Ref<max::CpuLibrary> code, unsigned laneCount)
      : device(on), lanes(laneCount), library(std::move(code)) {}

  Device* device;
  unsigned lanes;  // of a warp
  max::Ref<max::CpuLibrary> library;
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::vector<uint64_t> variables;                                                   // known to the driver as memory
  std::shared_ptr<std::atomic<int>> queued = std::make_shared<std::atomic<int>>(0);  // launches that have not run
};

namespace {

constexpr int kSharedSize = 1;
constexpr unsigned char kToWritten = 2;  // a kind of pointer
constexpr int kMostSharedOptIn = 97;

// CUfunction_attribute -> value of every kernel.
struct AttributeRow {
  int attribute;
  int value;
};
constexpr AttributeRow kAttributes[] = {{kSharedSize, 0}, {2, 0}, {3, 0}, {4, 16}, {5, 80}, {6, 90}, {7, 0}, {10, 0}};
constexpr int kMaxThreads = 0;
constexpr int kDynamicShared = 8;
constexpr int kCarveout = 9;
constexpr int kLargeClusters = 14;

std::set<Module*>& modules() {
  static auto* all = new std::set<Module*>;
  return *all;
}

std::vector<Module*>& abandonedModules() {
  static auto* all = new std::vector<Module*>;
  return *all;
}

// A place in the function for an attribute that can be set.
int* settable(Function& function, int attribute) {
  switch (attribute) {
    case kDynamicShared:
      return &function.sharedLimit;
    case kCarveout:
      return &function.carveout;
    case kLargeClusters:
      return &function.largeClusters;
    default:
      return nullptr;
  }
}

int threadsOf(const Function& function) {
  return function.kernel->maxThreads > 0 ? function.kernel->maxThreads : static_cast<int>(max::kMaxCpuThreads);
}

// Values of arguments, kept until the kernel has run.
class Values {
 public:
  Values(const MaxCpuKernel& kernel, void** arguments) {
    for (int i = 0; i < kernel.count; ++i) {
      auto value = std::make_shared<std::vector<std::max_align_t>>(kernel.sizes[i] / sizeof(std::max_align_t) + 1);
      std::memcpy(value->data(), arguments[i], kernel.sizes[i]);
      values_.push_back(std::move(value));
      sizes_.push_back(kernel.sizes[i]);
      pointers_.push_back(kernel.pointers[i]);
    }
  }

  std::vector<void*> pointers() const {
    std::vector<void*> all;
    for (const auto& value : values_) all.push_back(value->data());
    return all;
  }

  // A kernel is said to write what is behind a pointer (knownBytes), or to read it, if the pointer is to const; and to
  // read the first byte of what merely looks like an address.
  std::vector<Access> accesses() const {
    std::vector<Access> all;
    for (size_t i = 0; i < values_.size(); ++i) {
      uint64_t address = 0;
      if (sizes_[i] != sizeof address) continue;
      std::memcpy(&address, values_[i]->data(), sizeof address);
      const uint64_t bytes = pointers_[i] ? knownBytes(address) : isKnownRange(address, 1);
      if (bytes > 0) all.push_back({address, bytes, pointers_[i] == kToWritten});
    }
    return all;
  }

 private:
  std::vector<std::shared_ptr<std::vector<std::max_align_t>>> values_;
  std::vector<uint64_t> sizes_;
  std::vector<unsigned char> pointers_;
};

bool isPossible(const Function& function, const LaunchShape& shape) {
  uint64_t threads = 1;
  for (const unsigned size : shape.block) threads *= size;
  const bool hasBlocks = std::ranges::count(shape.grid, 0u) == 0;
  return hasBlocks && threads > 0 && threads <= static_cast<uint64_t>(threadsOf(function)) &&
         shape.sharedBytes <= static_cast<unsigned>(function.sharedLimit);
}

// With the lock held.
Function& functionOf(Module& module, const std::string& name, const MaxCpuKernel* kernel) {
  std::unique_ptr<Function>& place = module.functions[name];
  if (!place) place.reset(new Function{.module = &module, .kernel = kernel, .name = name});
  return *place;
}

bool isAtWork(const Device& device) {
  return std::ranges::any_of(state().streams, [&](const auto& entry) {
    return entry.second->device == &device && entry.second->completed < entry.second->enqueued;
  });
}

int run(const MaxCpuKernel* kernel, const std::string& name, unsigned lanes, const LaunchShape& shape,
        const Values& values) {
  const KernelAccess access;
  const std::vector<void*> pointers = values.pointers();
  max::CpuLaunch launch;
  launch.kernel = kernel;
  launch.name = name.c_str();
  launch.arguments = pointers.data();
  std::ranges::copy(shape.grid, launch.grid);
  std::ranges::copy(shape.block, launch.block);
  launch.sharedBytes = shape.sharedBytes;
  launch.lanes = lanes;
  try {
    max::runOnCpu(launch, 1);
    return kOk;
  } catch (const std::exception&) {
    return kLaunchFailed;
  }
}

}  // namespace

bool launchesDoNothing() {
  static const bool nothing = getenv("FAKE_GPU_EMPTY_LAUNCH") != nullptr;
  return nothing;
}

int loadModule(const void* image, uint16_t machine, Module** module, std::string* log) {
  const std::string object = objectOf(image, machine);
  if (object.empty()) {
    *log = "the fake driver loads what the fake compilers make";
    return kInvalidImage;
  }
  try {
    auto made = std::make_unique<Module>(currentDevice(), max::CpuLibrary::load(object), lanesOf(image, machine));
    const Lock lock(state().mutex);
    ++state().modules;
    modules().insert(made.get());
    *module = made.release();
    return kOk;
  } catch (const max::Error& error) {
    *log = error.message();
    return kInvalidImage;
  }
}

int unloadModule(Module* module) {
  Lock lock(state().mutex);
  if (modules().erase(module) == 0) {
    violation("a module is unloaded that is not loaded");
    return kInvalidHandle;
  }
  --state().modules;
  if (*module->queued > 0 && !module->device->lost) violation("a module is unloaded while its kernels are queued");
  waitForAll(lock, module->device);
  for (const uint64_t address : module->variables) unregisterHost(reinterpret_cast<void*>(address));
  if (module->device->lost)
    abandonedModules().push_back(module);  // a stream may be in the middle of its work
  else
    delete module;
  return kOk;
}

int findFunction(Module* module, const char* name, Function** function) {
  const Lock lock(state().mutex);
  if (!modules().contains(module)) return kInvalidHandle;
  const MaxCpuKernel* kernel = module->library->find(name);
  if (!kernel) return kNotFound;
  Function& found = functionOf(*module, name, kernel);
  // A driver waits for the device here.
  if (!found.isLoaded && isAtWork(*module->device)) violation("function '" + found.name + "' is loaded amid work");
  found.isLoaded = true;
  *function = &found;
  return kOk;
}

int countFunctions(Module* module, unsigned* count) {
  const Lock lock(state().mutex);
  if (!modules().contains(module)) return kInvalidHandle;
  *count = static_cast<unsigned>(module->library->kernels().size());
  return kOk;
}

int listFunctions(Module* module, unsigned count, Function** functions) {
  const Lock lock(state().mutex);
  if (!modules().contains(module)) return kInvalidHandle;
  const auto& kernels = module->library->kernels();
  for (size_t i = 0; i < std::min<size_t>(count, kernels.size()); ++i)
    functions[i] = &functionOf(*module, kernels[i].first, kernels[i].second);
  return kOk;
}

int loadFunction(Function* function) {
  const Lock lock(state().mutex);
  if (!modules().contains(function->module)) return kInvalidHandle;
  function->isLoaded = true;
  return kOk;
}

int findVariable(Module* module, const char* name, uint64_t* address, size_t* bytes) {
  const Lock lock(state().mutex);
  if (!modules().contains(module)) return kInvalidHandle;
  const max::CpuVariable variable = module->library->variable(name);
  if (!variable.address) return kNotFound;
  *address = reinterpret_cast<uint64_t>(variable.address);
  *bytes = variable.size;
  if (registerHost(variable.address, variable.size) == kOk) module->variables.push_back(*address);
  return kOk;
}

int functionAttribute(Function* function, int attribute, int* value) {
  const Lock lock(state().mutex);
  if (attribute == kMaxThreads) {
    *value = threadsOf(*function);
    return kOk;
  }
  if (const int* place = settable(*function, attribute)) {
    *value = *place;
    return kOk;
  }
  const auto* row = std::ranges::find(kAttributes, attribute, &AttributeRow::attribute);
  if (row == std::end(kAttributes)) return kInvalidValue;
  *value = row->value;
  return kOk;
}

int setFunctionAttribute(Function* function, int attribute, int value) {
  int most = 0;
  if (const int error = deviceAttribute(kMostSharedOptIn, &most)) return error;
  const Lock lock(state().mutex);
  int* place = settable(*function, attribute);
  if (!place || (attribute == kDynamicShared && (value < 0 || value > most))) return kInvalidValue;
  *place = value;
  return kOk;
}

int parameter(Function* function, size_t index, size_t* offset, size_t* bytes) {
  const MaxCpuKernel& kernel = *function->kernel;
  if (index >= static_cast<size_t>(kernel.count)) return kInvalidValue;
  *offset = 0;
  for (size_t i = 0; i < index; ++i) *offset += (kernel.sizes[i] + 7) / 8 * 8;
  *bytes = kernel.sizes[index];
  return kOk;
}

// The code stays until the kernel has run, whatever becomes of the module.
int launch(Function* function, const LaunchShape& shape, void* handle, void** arguments) {
  const Lock lock(state().mutex);
  const auto stream = findStream(handle);
  if (!stream || !modules().contains(function->module) || stream->device != function->module->device)
    return kInvalidHandle;
  if (!isPossible(*function, shape)) return kInvalidValue;
  ++state().counts[FAKE_GPU_LAUNCHES];
  const Values values(*function->kernel, arguments);
  // It counts until the work is done, or the graph that has it is gone.
  const std::shared_ptr<std::atomic<int>> all = function->module->queued;
  ++*all;
  const std::shared_ptr<void> counted(all.get(), [all](void*) { --*all; });
  const auto work = [kernel = function->kernel, name = function->name, code = function->module->library, counted,
                     lanes = function->module->lanes, shape,
                     values] { return run(kernel, name, lanes, shape, values); };
  return enqueue(stream, work, values.accesses());
}

}  // namespace fake
