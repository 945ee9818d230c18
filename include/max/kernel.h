/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file kernel.h
 * Kernels: functions of a module that many threads of a device execute.
 *
 * A launch specifies the blocks of the grid, the threads of a block and the arguments: handles of buffers, addresses of
 * values. It is work on a stream like any other. On the host the same kernels run on the library's threads. A complete
 * program:
 *
 *     #include <max/max.h>
 *     #include <stdio.h>
 *
 *     static const char source[] =
 *         "extern \"C\" __global__ void scale(float* x, float factor, int count) {\n"
 *         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
 *         "  if (i < count) x[i] *= factor;\n"
 *         "}\n";
 *
 *     static MaxStatus launch(const MaxKernel* kernel, MaxBuffer* x, float factor, int32_t count) {
 *       const void* const arguments[] = {x, &factor, &count};
 *       const size_t sizes[] = {MAX_KERNEL_ARGUMENT_BUFFER, sizeof factor, sizeof count};
 *       MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
 *       config.grid[0] = (count + 255) / 256;
 *       config.block[0] = 256;
 *       return maxKernelLaunch(kernel, &config, arguments, sizes, 3, NULL);
 *     }
 *
 *     int main(void) {
 *       const int64_t shape[] = {1000}, last[] = {999};
 *       const float four = 4.0f;
 *       float result = 0.0f;
 *       MaxDevice* device = NULL;
 *       MaxBuffer* x = NULL;
 *       MaxModule* module = NULL;
 *       MaxKernel* kernel = NULL; // belongs to the module
 *       if (maxDeviceCreate("cpu", 0, NULL, &device) || maxModuleCompile(device, source, "scale.cu", NULL, &module) ||
 *           maxModuleGetKernel(module, "scale", &kernel) ||
 *           maxBufferCreate(device, MAX_DTYPE_FLOAT32, 1, shape, NULL, &x) ||
 *           maxBufferFill(x, &four, sizeof four, NULL) || launch(kernel, x, 2.5f, 1000) ||
 *           maxBufferRead(x, last, 1, sizeof result, &result))
 *         fprintf(stderr, "%s\n", maxGetLastErrorMessage());
 *       maxBufferRelease(x);
 *       maxModuleRelease(module);
 *       maxDeviceRelease(device);
 *       return result == 10.0f ? 0 : 1;
 *     }
 */
#ifndef MAX_KERNEL_H
#define MAX_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "max/module.h"
#include "max/status.h"
#include "max/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An attribute of a kernel; the values are CUDA's. */
typedef int32_t MaxKernelAttribute;

/** Maximum threads per block. */
#define MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK 0
/** Bytes of shared memory that the kernel declares. */
#define MAX_KERNEL_ATTRIBUTE_SHARED_SIZE 1
/** Bytes of constant memory that the kernel declares. */
#define MAX_KERNEL_ATTRIBUTE_CONSTANT_SIZE 2
/** Bytes of local memory per thread. */
#define MAX_KERNEL_ATTRIBUTE_LOCAL_SIZE 3
/** Registers per thread. */
#define MAX_KERNEL_ATTRIBUTE_REGISTERS 4
/** Version of the PTX it was compiled from, 10 * major + minor. */
#define MAX_KERNEL_ATTRIBUTE_PTX_VERSION 5
/** Version of the chip it was compiled for, 10 * major + minor. */
#define MAX_KERNEL_ATTRIBUTE_BINARY_VERSION 6
/** Maximum bytes of dynamic shared memory per launch. Can be set. */
#define MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE 8
/** Percent of the L1 cache to use as shared memory, -1 = the driver's choice. Can be set: a hint. */
#define MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT 9
/** Whether clusters may exceed the size that all chips support: 0 or 1. Can be set. */
#define MAX_KERNEL_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED 14

/** How the L2 cache treats a range of memory. */
typedef int32_t MaxAccessProperty;

/** Like any other memory. */
#define MAX_ACCESS_PROPERTY_NORMAL 0
/** Unlikely to be used again. */
#define MAX_ACCESS_PROPERTY_STREAMING 1
/** Likely to be used again: kept in the cache. */
#define MAX_ACCESS_PROPERTY_PERSISTING 2

/** How a kernel is launched. */
typedef struct MaxLaunchConfig {
  /** Size of this structure; set by MAX_LAUNCH_CONFIG_INIT. */
  size_t structSize;
  /** Blocks in x, y and z; 0 = 1. */
  int32_t grid[3];
  /** Threads of a block in x, y and z; 0 = 1. */
  int32_t block[3];
  /** Blocks of a cluster in x, y and z; 0 = 1, all zero = no clusters. */
  int32_t cluster[3];
  /** 1 = all blocks run at the same time, or the launch fails. */
  int32_t cooperative;
  /** Bytes of dynamic shared memory of each block. */
  size_t sharedByteCount;
  /** Start of the memory whose caching this launch sets; NULL = none. */
  void* accessBase;
  /** Bytes of that memory; those beyond the device's maximum are unaffected. */
  size_t accessByteCount;
  /** Fraction of accesses, 0 to 1, that get hitProperty; the others get missProperty. */
  float hitRatio;
  /** Treatment of that fraction. */
  MaxAccessProperty hitProperty;
  /** Treatment of the rest; not MAX_ACCESS_PROPERTY_PERSISTING. */
  MaxAccessProperty missProperty;
  /** A hint: kernels of higher priority go first; 0 = the stream's priority. */
  int32_t priority;
  /** 1 = the kernel may start before the previous one on the stream has ended; it does its own waiting. */
  int32_t programmaticSerialization;
  /** Zero. */
  int32_t reserved;
} MaxLaunchConfig;

/** Initial value of a MaxLaunchConfig: one thread. */
#define MAX_LAUNCH_CONFIG_INIT \
  { sizeof(MaxLaunchConfig), {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0, NULL, 0, 0.0f, 0, 0, 0, 0, 0 }

/** In place of an argument's size: the argument is a MaxBuffer, and the kernel gets its address. */
#define MAX_KERNEL_ARGUMENT_BUFFER 0x7fffffff

/**
 * Adds a reference to the kernel's module; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxKernelRetain(const MaxKernel* kernel);

/**
 * Drops a reference to the kernel's module; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxKernelRelease(const MaxKernel* kernel);

/**
 * Gets the module of the kernel.
 *
 * Thread-safe. Borrowed from the kernel.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxKernelGetModule(const MaxKernel* kernel, MaxModule** outModule);

/**
 * Gets the name of the kernel.
 *
 * Thread-safe. Borrowed from the kernel.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxKernelGetName(const MaxKernel* kernel, const char** outName);

/**
 * Gets an attribute of the kernel.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_UNIMPLEMENTED  The device does not have this attribute.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxKernelGetAttribute(const MaxKernel* kernel, MaxKernelAttribute attribute,
                                                      int64_t* outValue);

/**
 * Sets an attribute of the kernel for all later launches.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The value is outside the device's limits; the message names them.
 * @retval MAX_STATUS_UNIMPLEMENTED  The attribute cannot be set.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxKernelSetAttribute(const MaxKernel* kernel, MaxKernelAttribute attribute,
                                                      int64_t value);

/**
 * Launches a kernel.
 *
 * Asynchronous. Thread-safe. An argument is the address of a value, which is copied before the call returns, or, if its
 * size is MAX_KERNEL_ARGUMENT_BUFFER, a MaxBuffer: the kernel gets the address of its first element, and its memory is
 * retained until the kernel has run. Memory passed as a plain address is borrowed until then. The kernel must not write
 * read-only buffers.
 *
 * @param[in] arguments  One per parameter of the kernel.
 * @param[in] sizes      Bytes of each value, checked against the parameters if the compiler reports them; NULL = all
 *     are values and none is checked; a MaxBuffer is rejected.
 * @param[in] stream     NULL = the default stream of the kernel's device.
 * @retval MAX_STATUS_INVALID_ARGUMENT  Wrong number or size of arguments, the address of a MaxBuffer handle instead of
 *     the handle, dimensions or shared memory outside the limits, or a stream or buffer of another device; the message
 *     names the values.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxKernelLaunch(const MaxKernel* kernel, const MaxLaunchConfig* config,
                                                const void* const* arguments, const size_t* sizes,
                                                int32_t argumentCount, MaxStream* stream);

#ifdef __cplusplus
}
#endif

#endif
