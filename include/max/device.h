/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file device.h
 * Devices: the host ("cpu") and accelerators ("cuda", "hip").
 *
 * A device is identified by the API that programs it and a number. The same pair gives the same device while any handle
 * to it exists. Its default stream is created with it. Functions that create something on a device take NULL for the
 * host.
 *
 *     MaxDevice* device = NULL;
 *     const char* name = NULL;
 *     if (maxDeviceCreate("cpu", -1, NULL, &device) == MAX_STATUS_OK &&
 *         maxDeviceGetName(device, &name) == MAX_STATUS_OK) printf("%s\n", name);
 *     maxDeviceRelease(device);
 */
#ifndef MAX_DEVICE_H
#define MAX_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A device: the host or an accelerator. */
typedef struct MaxDevice MaxDevice;
/** A queue of work on a device; see stream.h. */
typedef struct MaxStream MaxStream;

/** Options of maxDeviceCreate. Only those of the first handle count; later handles share the device as it is. */
typedef struct MaxDeviceOptions {
  /** Size of this structure; set by MAX_DEVICE_OPTIONS_INIT. */
  size_t structSize;
  /** Maximum bytes of device memory in use; 0 = 99 % of free memory on accelerators, no limit on the host. */
  uint64_t memoryLimit;
  /** Bytes of device memory to allocate in advance; accelerators only. */
  uint64_t bufferCacheSize;
} MaxDeviceOptions;

/** Initial value of a MaxDeviceOptions. */
#define MAX_DEVICE_OPTIONS_INIT \
  { sizeof(MaxDeviceOptions), 0, 0 }

/** Valid fields of a MaxDeviceStats: a sum of MAX_DEVICE_STATS_* values. */
typedef uint64_t MaxDeviceStatsMask;

/** freeMemory is known. */
#define MAX_DEVICE_STATS_FREE_MEMORY 1
/** totalMemory is known. */
#define MAX_DEVICE_STATS_TOTAL_MEMORY 2
/** allocatedMemory is known. */
#define MAX_DEVICE_STATS_ALLOCATED_MEMORY 4
/** peakAllocatedMemory is known. */
#define MAX_DEVICE_STATS_PEAK_ALLOCATED_MEMORY 8
/** memoryLimit is known. */
#define MAX_DEVICE_STATS_MEMORY_LIMIT 16
/** processMemory is known. */
#define MAX_DEVICE_STATS_PROCESS_MEMORY 32
/** utilization is known. */
#define MAX_DEVICE_STATS_UTILIZATION 64
/** temperature is known. */
#define MAX_DEVICE_STATS_TEMPERATURE 128
/** power is known. */
#define MAX_DEVICE_STATS_POWER 256

/** A report on a device; an unknown field is zero and missing in validMask. */
typedef struct MaxDeviceStats {
  /** Size of this structure; set by MAX_DEVICE_STATS_INIT. */
  size_t structSize;
  /** Fields that are known. */
  MaxDeviceStatsMask validMask;
  /** Bytes that can still be allocated, within the limits of control groups. */
  uint64_t freeMemory;
  /** Bytes of memory of the device, or that its control group allows. */
  uint64_t totalMemory;
  /** Bytes in this library's buffers on the device. */
  uint64_t allocatedMemory;
  /** Highest value of allocatedMemory so far. */
  uint64_t peakAllocatedMemory;
  /** Maximum bytes that buffers may use. */
  uint64_t memoryLimit;
  /** Bytes of memory that this process uses on the device. */
  uint64_t processMemory;
  /** Utilisation of the device in percent. */
  uint32_t utilization;
  /** Temperature in degrees Celsius. */
  int32_t temperature;
  /** Power in milliwatts. */
  uint64_t power;
} MaxDeviceStats;

/** Initial value of a MaxDeviceStats. */
#define MAX_DEVICE_STATS_INIT \
  { sizeof(MaxDeviceStats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** A number that describes a device; the values are those of CUDA. */
typedef int32_t MaxDeviceAttribute;

/** Maximum threads per block. */
#define MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK 1
/** Maximum x dimension of a block. */
#define MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X 2
/** Maximum y dimension of a block. */
#define MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y 3
/** Maximum z dimension of a block. */
#define MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z 4
/** Maximum x dimension of a grid. */
#define MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X 5
/** Maximum y dimension of a grid. */
#define MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y 6
/** Maximum z dimension of a grid. */
#define MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z 7
/** Maximum bytes of shared memory per block. */
#define MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK 8
/** Threads in a warp. */
#define MAX_DEVICE_ATTRIBUTE_WARP_SIZE 10
/** Maximum registers per block. */
#define MAX_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK 12
/** Maximum clock frequency in kilohertz. */
#define MAX_DEVICE_ATTRIBUTE_CLOCK_RATE 13
/** Number of multiprocessors; on the host, of processors this process may use. */
#define MAX_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT 16
/** Whether the device shares the host's memory: 0 or 1. */
#define MAX_DEVICE_ATTRIBUTE_INTEGRATED 18
/** Bytes of the last-level cache. */
#define MAX_DEVICE_ATTRIBUTE_L2_CACHE_SIZE 38
/** Maximum threads per multiprocessor. */
#define MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR 39
/** Major version of the compute capability. */
#define MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR 75
/** Minor version of the compute capability. */
#define MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR 76
/** Bytes of shared memory per multiprocessor. */
#define MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR 81

/**
 * Counts the devices of an API.
 *
 * Thread-safe. Includes virtual devices; see maxVirtualDeviceSetCount.
 *
 * @param[in] api  "cpu", "cuda", "hip", or "gpu" for the accelerators present.
 * @retval MAX_STATUS_NOT_FOUND  No API has this name.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetCount(const char* api, int32_t* outCount);

/**
 * Opens a device.
 *
 * The same API and id give the same device while a handle to it exists; only the options of the first call count.
 * Thread-safe.
 *
 * @param[in] api  "cpu", "cuda", "hip", or "gpu" for the accelerators present.
 * @param[in] id  Number of the device; -1 = the first one.
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_NOT_FOUND  No API has this name, or the host has no device with this id.
 * @retval MAX_STATUS_UNAVAILABLE  There is no such accelerator or no driver for it.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The device is virtual and its architecture was not set.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceCreate(const char* api, int32_t id, const MaxDeviceOptions* options,
                                                MaxDevice** outDevice);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxDeviceRetain(const MaxDevice* device);

/**
 * Drops a reference; NULL is allowed.
 *
 * Thread-safe. Dropping the last reference to an accelerator waits for its work; from a host function it takes effect
 * when the function has returned.
 *
 * @since 0.1
 */
MAX_API void maxDeviceRelease(const MaxDevice* device);

/**
 * Gets the API that programs the device: "cpu", "cuda" or "hip".
 *
 * Thread-safe. Borrowed from the device.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetApi(const MaxDevice* device, const char** outApi);

/**
 * Gets the label of the device: "cpu" or "gpu".
 *
 * Thread-safe. Borrowed from the device. Label and id together name the device: "gpu:0".
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetLabel(const MaxDevice* device, const char** outLabel);

/**
 * Gets the number of the device, from zero; always zero for the host.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetId(const MaxDevice* device, int32_t* outId);

/**
 * Gets the vendor's name for the device.
 *
 * Thread-safe. Borrowed from the device.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetName(const MaxDevice* device, const char** outName);

/**
 * Gets the architecture of an accelerator, for example "sm_90" or "gfx942".
 *
 * Thread-safe. Borrowed from the device.
 *
 * @retval MAX_STATUS_UNIMPLEMENTED  The device is the host, which has no architecture name.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetArchitectureName(const MaxDevice* device, const char** outName);

/**
 * Tells whether the device is the host.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceIsHost(const MaxDevice* device, int32_t* outIsHost);

/**
 * Tells whether the library can run models and kernels on the device.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceIsCompatible(const MaxDevice* device, int32_t* outIsCompatible);

/**
 * Tells whether the device can access the memory of another device directly.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceCanAccess(const MaxDevice* device, const MaxDevice* peer,
                                                   int32_t* outCanAccess);

/**
 * Lets the device access the memory of another device directly.
 *
 * Thread-safe. Does nothing if access is already enabled.
 *
 * @retval MAX_STATUS_UNIMPLEMENTED  The devices cannot access each other's memory.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceEnablePeerAccess(const MaxDevice* device, const MaxDevice* peer);

/**
 * Gets the default stream of the device.
 *
 * Thread-safe. Borrowed from the device; Retain and Release on it act on the device. On the host, work on the
 * default stream runs at once, in the calling thread.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetDefaultStream(const MaxDevice* device, MaxStream** outStream);

/**
 * Waits until all work on all streams of the device is done.
 *
 * Thread-safe. Returns a failure of earlier work once, like maxStreamSynchronize.
 *
 * @param[in] timeoutNs  Maximum time to wait in nanoseconds; 0 = no limit.
 * @retval MAX_STATUS_DEADLINE_EXCEEDED  The work was not done in time; it continues, and nothing else has changed.
 * @retval MAX_STATUS_FAILED_PRECONDITION  Called from a host function of a stream of this device.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceSynchronize(const MaxDevice* device, int64_t timeoutNs);

/**
 * Gets free and total memory in bytes; on the host, within the limits of control groups.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetMemoryInfo(const MaxDevice* device, uint64_t* outFree, uint64_t* outTotal);

/**
 * Gets the device's memory, utilisation, temperature and power, as far as they are known.
 *
 * Thread-safe.
 *
 * @param[in,out] stats  Its structSize must be set; see MAX_DEVICE_STATS_INIT.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetStats(const MaxDevice* device, MaxDeviceStats* stats);

/**
 * Gets an attribute of the device.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_UNIMPLEMENTED  The device does not have this attribute.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetAttribute(const MaxDevice* device, MaxDeviceAttribute attribute,
                                                      int64_t* outValue);

/**
 * Gets the version of the driver as 1000 * major + 10 * minor; on the host, of the operating system's kernel.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetDriverVersion(const MaxDevice* device, int64_t* outVersion);

/**
 * Frees unused memory that the library keeps for reuse on the device, including page-locked memory.
 *
 * Thread-safe. On accelerators, waits for queued work that uses that memory.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  Called from a host function of a stream of this device.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceTrim(const MaxDevice* device);

/**
 * Allocates page-locked host memory, for fast transfers to and from the device.
 *
 * Thread-safe. The memory is page-aligned and keeps the device alive until maxHostFree.
 *
 * @param[in] device  NULL = the host.
 * @param[in] byteCount  Zero is allowed and gives a pointer that must not be read.
 * @retval MAX_STATUS_RESOURCE_EXHAUSTED  Out of memory, or the operating system's limit on locked memory is reached.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxHostAllocate(MaxDevice* device, size_t byteCount, void** outPointer);

/**
 * Frees memory from maxHostAllocate. Work that uses it must be done.
 *
 * Thread-safe.
 *
 * @param[in] device  The device passed to maxHostAllocate.
 * @param[in] pointer  NULL is allowed and does nothing.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The pointer is not from maxHostAllocate with this device.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxHostFree(MaxDevice* device, void* pointer);

/**
 * Looks for devices and counts them: all accelerators if there are any, else the host.
 *
 * Thread-safe. maxDeviceGetScanned names them.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceScan(int32_t* outCount);

/**
 * Gets the label and id of a device that maxDeviceScan counts.
 *
 * Thread-safe. The string is static.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  The index is not below the count.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetScanned(int32_t index, const char** outLabel, int32_t* outId);

/**
 * Gets the API of the first accelerator: "cuda" or "hip".
 *
 * Thread-safe. The string is static.
 *
 * @retval MAX_STATUS_UNAVAILABLE  There is no accelerator.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAcceleratorGetApi(const char** outApi);

/**
 * Gets the architecture of the first accelerator, for example "sm_90".
 *
 * Thread-safe. The string is static.
 *
 * @retval MAX_STATUS_UNAVAILABLE  There is no accelerator.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAcceleratorGetArchitectureName(const char** outName);

/**
 * Declares accelerators that do not exist, to compile for them; 0 removes them.
 *
 * Thread-safe. Applies to the whole process. Virtual devices are counted, named and opened like real ones, which come
 * after them, and modules can be compiled for them; anything that would run on one or use its memory fails with
 * UNAVAILABLE.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The count is negative.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxVirtualDeviceSetCount(int32_t count);

/**
 * Gets the number of virtual devices; 0 unless set.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxVirtualDeviceGetCount(int32_t* outCount);

/**
 * Sets the API of the virtual devices: "cuda" (unless set) or "hip".
 *
 * Thread-safe. Applies to the whole process.
 *
 * @retval MAX_STATUS_NOT_FOUND  No accelerator API has this name.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxVirtualDeviceSetApi(const char* api);

/**
 * Gets the API of the virtual devices.
 *
 * Thread-safe. The string is static.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxVirtualDeviceGetApi(const char** outApi);

/**
 * Sets the architecture of the virtual devices, for example "sm_90".
 *
 * Thread-safe. Applies to the whole process.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The name is empty or longer than 31 characters.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxVirtualDeviceSetArchitectureName(const char* name);

/**
 * Gets the architecture of the virtual devices; empty unless set.
 *
 * Thread-safe. The string is static.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxVirtualDeviceGetArchitectureName(const char** outName);

#ifdef __cplusplus
}
#endif

#endif
