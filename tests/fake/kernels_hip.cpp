// SPDX-License-Identifier: Apache-2.0
// Modules and launches of the fake libamdhip64.so.
#include "artefact.h"
#include "fake.h"
#include "kernels.h"

using fake::Function;
using fake::Module;

namespace {

constexpr int kInvalidConfiguration = 9;

// AMD's queues count threads in 32 bits.
bool isTooLarge(uint64_t blocks, uint64_t threads) { return blocks * threads > UINT32_MAX; }

}  // namespace

FAKE_API int hipModuleLoadData(Module** module, const void* image) {
  FAKE_ENTER();
  std::string log;
  return fake::loadModule(image, fake::kAmdMachine, module, &log);
}

FAKE_API int hipModuleLoadDataEx(Module** module, const void* image, unsigned, int*, void**) {
  FAKE_ENTER();
  std::string log;
  return fake::loadModule(image, fake::kAmdMachine, module, &log);
}

FAKE_API int hipModuleUnload(Module* module) {
  const int failed = fake::enter(__func__);
  if (fake::isHostFunctionRunning()) return failed;
  const int result = fake::unloadModule(module);
  return failed ? failed : result;
}

FAKE_API int hipModuleGetFunction(Function** function, Module* module, const char* name) {
  FAKE_ENTER();
  return fake::findFunction(module, name, function);
}

FAKE_API int hipModuleGetGlobal(uint64_t* address, size_t* bytes, Module* module, const char* name) {
  FAKE_ENTER();
  return fake::findVariable(module, name, address, bytes);
}

FAKE_API int hipFuncGetAttribute(int* value, int attribute, Function* function) {
  FAKE_ENTER();
  return fake::functionAttribute(function, attribute, value);
}

FAKE_API int hipModuleLaunchKernel(Function* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, void* stream,
                                   void** arguments, void** extra) {
  if (fake::launchesDoNothing()) return fake::kOk;
  FAKE_ENTER();
  if (extra) return fake::kNotSupported;
  if (isTooLarge(gridX, blockX) || isTooLarge(gridY, blockY) || isTooLarge(gridZ, blockZ)) return kInvalidConfiguration;
  return fake::launch(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes}, stream, arguments);
}
