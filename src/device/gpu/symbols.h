// SPDX-License-Identifier: Apache-2.0
// The functions of accelerators' drivers that the library calls. Each API names its own in its table (SymbolNames).
//
// A row is X(member, parameters). All return an int that is 0 on success and else one of CUDA's numbers; errorText,
// which gives a text, is apart. Addresses of device memory are void*, as are handles of contexts, streams, events,
// modules and functions; devices are ints.
#pragma once

#include <cstddef>

namespace max::gpu {

// A rectangle in memory and where it goes.
struct Copy2d {
  size_t sourceX;
  size_t sourceY;
  int sourceMemoryType;
  const void* sourceHost;
  const void* sourceDevice;
  void* sourceArray;
  size_t sourcePitch;
  size_t targetX;
  size_t targetY;
  int targetMemoryType;
  void* targetHost;
  void* targetDevice;
  void* targetArray;
  size_t targetPitch;
  size_t width;  // in bytes
  size_t height;
};

using HostFunction = void (*)(void* userData);
struct LaunchConfig;  // device/gpu/launch.h

}  // namespace max::gpu

// Every API names these, and a driver that lacks one cannot be used.
#define MAX_GPU_COMMON_SYMBOLS(X)                                                        \
  X(init, (unsigned flags))                                                              \
  X(driverGetVersion, (int* version))                                                    \
  X(deviceGetCount, (int* count))                                                        \
  X(deviceGet, (int* device, int ordinal))                                               \
  X(deviceGetName, (char* name, int size, int device))                                   \
  X(deviceGetAttribute, (int* value, int attribute, int device))                         \
  X(deviceCanAccessPeer, (int* can, int device, int peer))                               \
  X(primaryContextRetain, (void** context, int device))                                  \
  X(primaryContextRelease, (int device))                                                 \
  X(deviceSynchronize, ())                                                               \
  X(priorityRange, (int* least, int* greatest))                                          \
  X(memoryGetInfo, (size_t * free, size_t * total))                                      \
  X(memoryAllocate, (void** address, size_t bytes))                                      \
  X(memoryFree, (void* address))                                                         \
  X(hostAllocate, (void** address, size_t bytes, unsigned flags))                        \
  X(hostFree, (void* address))                                                           \
  X(copyHostToDevice, (void* target, const void* source, size_t bytes, void* stream))    \
  X(copyDeviceToHost, (void* target, const void* source, size_t bytes, void* stream))    \
  X(copyDeviceToDevice, (void* target, const void* source, size_t bytes, void* stream))  \
  X(fill8, (void* target, unsigned char value, size_t count, void* stream))              \
  X(fill16, (void* target, unsigned short value, size_t count, void* stream))            \
  X(fill32, (void* target, unsigned value, size_t count, void* stream))                  \
  X(streamCreate, (void** stream, unsigned flags, int priority))                         \
  X(streamDestroy, (void* stream))                                                       \
  X(streamSynchronize, (void* stream))                                                   \
  X(streamQuery, (void* stream))                                                         \
  X(streamWaitEvent, (void* stream, void* event, unsigned flags))                        \
  X(launchHostFunction, (void* stream, max::gpu::HostFunction function, void* userData)) \
  X(eventCreate, (void** event, unsigned flags))                                         \
  X(eventDestroy, (void* event))                                                         \
  X(eventRecord, (void* event, void* stream))                                            \
  X(eventQuery, (void* event))                                                           \
  X(eventSynchronize, (void* event))                                                     \
  X(eventElapsedTime, (float* milliseconds, void* start, void* end))

// An API names those of one way of two: by context or by device, with a description or with arguments. A driver that
// lacks one of them cannot be used.
#define MAX_GPU_EITHER_SYMBOLS(X)                                                                                   \
  X(contextGetCurrent, (void** context))                                                                            \
  X(contextSetCurrent, (void* context))                                                                             \
  X(deviceGetCurrent, (int* device))                                                                                \
  X(deviceSetCurrent, (int device))                                                                                 \
  X(contextEnablePeer, (void* peerContext, unsigned flags))                                                         \
  X(deviceEnablePeer, (int peerDevice, unsigned flags))                                                             \
  X(contextCopyPeer,                                                                                                \
    (void* target, void* targetContext, const void* source, void* sourceContext, size_t bytes, void* stream))       \
  X(deviceCopyPeer,                                                                                                 \
    (void* target, int targetDevice, const void* source, int sourceDevice, size_t bytes, void* stream))             \
  X(copyRectangle, (const max::gpu::Copy2d* copy, void* stream))                                                    \
  X(copy2d, (void* target, size_t targetPitch, const void* source, size_t sourcePitch, size_t width, size_t height, \
             int kind, void* stream))

// An API need not name these, and older drivers may lack them: test them before a call.
#define MAX_GPU_OPTIONAL_SYMBOLS(X)                                                                               \
  X(getErrorName, (int error, const char** name))                                                                 \
  X(deviceGetBusId, (char* text, int size, int device))                                                           \
  X(streamGetContext, (void* stream, void** context))                                                             \
  X(clearLastError, ())                                                                                           \
  X(streamGetDevice, (void* stream, int* device))                                                                 \
  X(streamIsCapturing, (void* stream, int* status))                                                               \
  X(exchangeCaptureMode, (int* mode))                                                                             \
  X(streamBeginCapture, (void* stream, int mode))                                                                 \
  X(streamEndCapture, (void* stream, void** graph))                                                               \
  X(graphInstantiate, (void** executable, void* graph, unsigned long long flags))                                 \
  X(graphInstantiateWithLog, (void** executable, void* graph, void** node, char* log, size_t logSize))            \
  X(graphLaunch, (void* executable, void* stream))                                                                \
  X(graphExecutableDestroy, (void* executable))                                                                   \
  X(graphDestroy, (void* graph))                                                                                  \
  X(deviceGetProperties, (void* properties, int device))                                                          \
  X(deviceGetNewProperties, (void* properties, int device))                                                       \
  X(moduleLoad, (void** module, const void* image, unsigned optionCount, int* options, void** values))            \
  X(moduleUnload, (void* module))                                                                                 \
  X(moduleGetFunction, (void** function, void* module, const char* name))                                         \
  X(moduleGetFunctionCount, (unsigned* count, void* module))                                                      \
  X(moduleListFunctions, (void** functions, unsigned count, void* module))                                        \
  X(functionLoad, (void* function))                                                                               \
  X(moduleGetGlobal, (void** address, size_t* bytes, void* module, const char* name))                             \
  X(functionGetAttribute, (int* value, int attribute, void* function))                                            \
  X(functionSetAttribute, (void* function, int attribute, int value))                                             \
  X(functionGetParameter, (void* function, size_t index, size_t* offset, size_t* bytes))                          \
  X(launch, (void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,    \
             unsigned blockZ, unsigned sharedBytes, void* stream, void** arguments, void** extra))                \
  X(launchWithAttributes, (const max::gpu::LaunchConfig* config, void* function, void** arguments, void** extra)) \
  X(launchCooperative, (void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,          \
                        unsigned blockY, unsigned blockZ, unsigned sharedBytes, void* stream, void** arguments))

#define MAX_GPU_SYMBOLS(X)  \
  MAX_GPU_COMMON_SYMBOLS(X) \
  MAX_GPU_EITHER_SYMBOLS(X) \
  MAX_GPU_OPTIONAL_SYMBOLS(X)

namespace max::gpu {

// What an API calls these functions; NULL = it has none.
struct SymbolNames {
#define MAX_GPU_NAME(member, parameters) const char* member = nullptr;
  MAX_GPU_SYMBOLS(MAX_GPU_NAME)
#undef MAX_GPU_NAME
  const char* errorText = nullptr;  // the name of an error as the result
};

// Whether a table names what the library cannot do without.
constexpr bool isComplete(const SymbolNames& names) {
#define MAX_GPU_IS_NAMED(member, parameters) &&names.member
  const bool hasCommon = true MAX_GPU_COMMON_SYMBOLS(MAX_GPU_IS_NAMED);
#undef MAX_GPU_IS_NAMED
  const bool hasCurrent =
      (names.contextGetCurrent && names.contextSetCurrent) || (names.deviceGetCurrent && names.deviceSetCurrent);
  return hasCommon && hasCurrent && (names.contextEnablePeer || names.deviceEnablePeer) &&
         (names.contextCopyPeer || names.deviceCopyPeer) && (names.copyRectangle || names.copy2d);
}

}  // namespace max::gpu
