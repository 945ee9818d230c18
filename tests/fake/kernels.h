// SPDX-License-Identifier: Apache-2.0
// Modules and kernels of the fake drivers: code of the host that runs in the order of streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fake {

struct Module;
struct Function;

struct LaunchShape {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
};

// `machine` = whose code it is; see artefact.h. They take the lock.
int loadModule(const void* image, uint16_t machine, Module** module, std::string* log);
int unloadModule(Module* module);
int findFunction(Module* module, const char* name, Function** function);
// Functions of a list may not be loaded yet.
int countFunctions(Module* module, unsigned* count);
int listFunctions(Module* module, unsigned count, Function** functions);
int loadFunction(Function* function);
int findVariable(Module* module, const char* name, uint64_t* address, size_t* bytes);
int functionAttribute(Function* function, int attribute, int* value);
int setFunctionAttribute(Function* function, int attribute, int value);
int parameter(Function* function, size_t index, size_t* offset, size_t* bytes);
int launch(Function* function, const LaunchShape& shape, void* stream, void** arguments);

// FAKE_GPU_EMPTY_LAUNCH: launches do nothing at all, so that their callers can be measured.
bool launchesDoNothing();

}  // namespace fake
