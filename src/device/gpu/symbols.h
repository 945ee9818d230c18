// SPDX-License-Identifier: Apache-2.0
// The functions of CUDA's and HIP's drivers that the library calls: one source, two tables.
//
// A row is X(member, name in CUDA, name in HIP, parameters); nullptr where an API has no such function. All return an
// int that is 0 on success, with CUDA's numbers in both APIs; hipGetErrorName, which returns a string, is separate.
// Addresses of device memory are void*, as are handles of contexts, streams, events, modules and functions; devices are
// ints.
#pragma once

#include <cstddef>

namespace max::gpu {

// CUDA_MEMCPY2D.
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

// Required functions.
#define MAX_GPU_REQUIRED_SYMBOLS(X)                                                                                    \
  X(init, "cuInit", "hipInit", (unsigned flags))                                                                       \
  X(driverGetVersion, "cuDriverGetVersion", "hipDriverGetVersion", (int* version))                                     \
  X(deviceGetCount, "cuDeviceGetCount", "hipGetDeviceCount", (int* count))                                             \
  X(deviceGet, "cuDeviceGet", "hipDeviceGet", (int* device, int ordinal))                                              \
  X(deviceGetName, "cuDeviceGetName", "hipDeviceGetName", (char* name, int size, int device))                          \
  X(deviceGetAttribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute", (int* value, int attribute, int device))      \
  X(deviceCanAccessPeer, "cuDeviceCanAccessPeer", "hipDeviceCanAccessPeer", (int* can, int device, int peer))          \
  X(primaryContextRetain, "cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain", (void** context, int device))       \
  X(primaryContextRelease, "cuDevicePrimaryCtxRelease_v2", "hipDevicePrimaryCtxRelease", (int device))                 \
  X(cudaGetCurrent, "cuCtxGetCurrent", nullptr, (void** context))                                                      \
  X(cudaSetCurrent, "cuCtxSetCurrent", nullptr, (void* context))                                                       \
  X(hipGetDevice, nullptr, "hipGetDevice", (int* device))                                                              \
  X(hipSetDevice, nullptr, "hipSetDevice", (int device))                                                               \
  X(deviceSynchronize, "cuCtxSynchronize", "hipDeviceSynchronize", ())                                                 \
  X(priorityRange, "cuCtxGetStreamPriorityRange", "hipDeviceGetStreamPriorityRange", (int* least, int* greatest))      \
  X(cudaEnablePeerAccess, "cuCtxEnablePeerAccess", nullptr, (void* peerContext, unsigned flags))                       \
  X(hipEnablePeerAccess, nullptr, "hipDeviceEnablePeerAccess", (int peerDevice, unsigned flags))                       \
  X(memoryGetInfo, "cuMemGetInfo_v2", "hipMemGetInfo", (size_t * free, size_t * total))                                \
  X(memoryAllocate, "cuMemAlloc_v2", "hipMalloc", (void** address, size_t bytes))                                      \
  X(memoryFree, "cuMemFree_v2", "hipFree", (void* address))                                                            \
  X(hostAllocate, "cuMemHostAlloc", "hipHostMalloc", (void** address, size_t bytes, unsigned flags))                   \
  X(hostFree, "cuMemFreeHost", "hipHostFree", (void* address))                                                         \
  X(copyHostToDevice, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync",                                                    \
    (void* target, const void* source, size_t bytes, void* stream))                                                    \
  X(copyDeviceToHost, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync",                                                    \
    (void* target, const void* source, size_t bytes, void* stream))                                                    \
  X(copyDeviceToDevice, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync",                                                  \
    (void* target, const void* source, size_t bytes, void* stream))                                                    \
  X(cudaCopyPeer, "cuMemcpyPeerAsync", nullptr,                                                                        \
    (void* target, void* targetContext, const void* source, void* sourceContext, size_t bytes, void* stream))          \
  X(hipCopyPeer, nullptr, "hipMemcpyPeerAsync",                                                                        \
    (void* target, int targetDevice, const void* source, int sourceDevice, size_t bytes, void* stream))                \
  X(cudaCopy2d, "cuMemcpy2DAsync_v2", nullptr, (const max::gpu::Copy2d* copy, void* stream))                           \
  X(hipCopy2d, nullptr, "hipMemcpy2DAsync",                                                                            \
    (void* target, size_t targetPitch, const void* source, size_t sourcePitch, size_t width, size_t height, int kind,  \
     void* stream))                                                                                                    \
  X(fill8, "cuMemsetD8Async", "hipMemsetD8Async", (void* target, unsigned char value, size_t count, void* stream))     \
  X(fill16, "cuMemsetD16Async", "hipMemsetD16Async", (void* target, unsigned short value, size_t count, void* stream)) \
  X(fill32, "cuMemsetD32Async", "hipMemsetD32Async", (void* target, unsigned value, size_t count, void* stream))       \
  X(streamCreate, "cuStreamCreateWithPriority", "hipStreamCreateWithPriority",                                         \
    (void** stream, unsigned flags, int priority))                                                                     \
  X(streamDestroy, "cuStreamDestroy_v2", "hipStreamDestroy", (void* stream))                                           \
  X(streamSynchronize, "cuStreamSynchronize", "hipStreamSynchronize", (void* stream))                                  \
  X(streamQuery, "cuStreamQuery", "hipStreamQuery", (void* stream))                                                    \
  X(streamWaitEvent, "cuStreamWaitEvent", "hipStreamWaitEvent", (void* stream, void* event, unsigned flags))           \
  X(launchHostFunction, "cuLaunchHostFunc", "hipLaunchHostFunc",                                                       \
    (void* stream, max::gpu::HostFunction function, void* userData))                                                   \
  X(eventCreate, "cuEventCreate", "hipEventCreateWithFlags", (void** event, unsigned flags))                           \
  X(eventDestroy, "cuEventDestroy_v2", "hipEventDestroy", (void* event))                                               \
  X(eventRecord, "cuEventRecord", "hipEventRecord", (void* event, void* stream))                                       \
  X(eventQuery, "cuEventQuery", "hipEventQuery", (void* event))                                                        \
  X(eventSynchronize, "cuEventSynchronize", "hipEventSynchronize", (void* event))                                      \
  X(eventElapsedTime, "cuEventElapsedTime", "hipEventElapsedTime", (float* milliseconds, void* start, void* end))

// These may be missing in older drivers: check before a call.
#define MAX_GPU_OPTIONAL_SYMBOLS(X)                                                                    \
  X(cudaGetErrorName, "cuGetErrorName", nullptr, (int error, const char** name))                       \
  X(deviceGetBusId, "cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId", (char* text, int size, int device)) \
  X(cudaStreamGetContext, "cuStreamGetCtx", nullptr, (void* stream, void** context))                   \
  X(hipGetLastError, nullptr, "hipGetLastError", ())                                                   \
  X(hipStreamGetDevice, nullptr, "hipStreamGetDevice", (void* stream, int* device))                    \
  X(hipGetProperties5, nullptr, "hipGetDeviceProperties", (void* properties, int device))              \
  X(hipGetProperties6, nullptr, "hipGetDevicePropertiesR0600", (void* properties, int device))         \
  MAX_GPU_MODULE_SYMBOLS(X)

// Modules and launches.
#define MAX_GPU_MODULE_SYMBOLS(X)                                                                                   \
  X(moduleLoad, "cuModuleLoadDataEx", "hipModuleLoadDataEx",                                                        \
    (void** module, const void* image, unsigned optionCount, int* options, void** values))                          \
  X(moduleUnload, "cuModuleUnload", "hipModuleUnload", (void* module))                                              \
  X(moduleGetFunction, "cuModuleGetFunction", "hipModuleGetFunction",                                               \
    (void** function, void* module, const char* name))                                                              \
  X(moduleGetGlobal, "cuModuleGetGlobal_v2", "hipModuleGetGlobal",                                                  \
    (void** address, size_t* bytes, void* module, const char* name))                                                \
  X(functionGetAttribute, "cuFuncGetAttribute", "hipFuncGetAttribute", (int* value, int attribute, void* function)) \
  X(cudaFunctionSetAttribute, "cuFuncSetAttribute", nullptr, (void* function, int attribute, int value))            \
  X(cudaFunctionGetParameter, "cuFuncGetParamInfo", nullptr,                                                        \
    (void* function, size_t index, size_t* offset, size_t* bytes))                                                  \
  X(launch, "cuLaunchKernel", "hipModuleLaunchKernel",                                                              \
    (void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,              \
     unsigned blockZ, unsigned sharedBytes, void* stream, void** arguments, void** extra))                          \
  X(cudaLaunchEx, "cuLaunchKernelEx", nullptr,                                                                      \
    (const max::gpu::LaunchConfig* config, void* function, void** arguments, void** extra))                         \
  X(launchCooperative, "cuLaunchCooperativeKernel", "hipModuleLaunchCooperativeKernel",                             \
    (void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,              \
     unsigned blockZ, unsigned sharedBytes, void* stream, void** arguments))
