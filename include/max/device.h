/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file device.h
 * Devices: the host ("cpu") and accelerators ("cuda", "hip").
 *
 * A device is found by the API that programs it and a number. The same pair
 * gives the same device while any handle to it lives. Its default stream is
 * made with it. Functions that make something on a device take NULL for the host.
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

/** Options of maxDeviceCreate. They hold for the first handle; later ones find the device as it is. */
typedef struct MaxDeviceOptions {
  /** Size of this structure; set by MAX_DEVICE_OPTIONS_INIT. */
  size_t structSize;
  /** Most bytes of device memory that may be in use; 0 = 99 % of free memory on accelerators, no limit on the host. */
  uint64_t memoryLimit;
  /** Bytes of device memory to take in advance; accelerators only. */
  uint64_t bufferCacheSize;
} MaxDeviceOptions;

/** Initial value of a MaxDeviceOptions. */
#define MAX_DEVICE_OPTIONS_INIT \
  { sizeof(MaxDeviceOptions), 0, 0 }

/** Fields of a MaxDeviceStats that hold a value: a sum of MAX_DEVICE_STATS_* numbers. */
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
  /** Fields that hold a value. */
  MaxDeviceStatsMask validMask;
  /** Bytes that can still be allocated, the limits of control groups included. */
  uint64_t freeMemory;
  /** Bytes of memory the device has, or that a control group grants. */
  uint64_t totalMemory;
  /** Bytes in buffers of this library on the device. */
  uint64_t allocatedMemory;
  /** Largest value that allocatedMemory has had. */
  uint64_t peakAllocatedMemory;
  /** Most bytes that buffers may take. */
  uint64_t memoryLimit;
  /** Bytes of memory that this process occupies on the device. */
  uint64_t processMemory;
  /** Busy time of the device in percent. */
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

/** Most threads in a block. */
#define MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK 1
/** Largest x dimension of a block. */
#define MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X 2
/** Largest y dimension of a block. */
#define MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y 3
/** Largest z dimension of a block. */
#define MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z 4
/** Largest x dimension of a grid. */
#define MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X 5
/** Largest y dimension of a grid. */
#define MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y 6
/** Largest z dimension of a grid. */
#define MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z 7
/** Bytes of shared memory a block may have. */
#define MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK 8
/** Threads in a warp. */
#define MAX_DEVICE_ATTRIBUTE_WARP_SIZE 10
/** Registers a block may have. */
#define MAX_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK 12
/** Highest clock frequency in kilohertz. */
#define MAX_DEVICE_ATTRIBUTE_CLOCK_RATE 13
/** Multiprocessors; on the host, processors this process may use. */
#define MAX_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT 16
/** Whether the device shares the host's memory: 0 or 1. */
#define MAX_DEVICE_ATTRIBUTE_INTEGRATED 18
/** Bytes of the last-level cache. */
#define MAX_DEVICE_ATTRIBUTE_L2_CACHE_SIZE 38
/** Most threads on a multiprocessor. */
#define MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR 39
/** Major number of the compute capability. */
#define MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR 75
/** Minor number of the compute capability. */
#define MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR 76
/** Bytes of shared memory on a multiprocessor. */
#define MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR 81

/**
 * Counts the devices of an API.
 *
 * Thread-safe. Virtual devices count when they are set; see maxVirtualDeviceSetCount.
 *
 * @param[in] api  "cpu", "cuda", "hip", or "gpu" for the accelerators present.
 * @retval MAX_STATUS_NOT_FOUND  No API has this name.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetCount(const char* api, int32_t* outCount);

/**
 * Opens a device.
 *
 * The same API and id give the same device while a handle to it lives; only the
 * options of the first call count. Thread-safe.
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
 * Thread-safe. The last one of an accelerator waits for its work, or comes after the host function that drops it.
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
 * Thread-safe. Borrowed from the device. Label and id together name a device: "gpu:0".
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
 * Gets the name that the maker gave the device.
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
 * Tells whether the device can reach the memory of another one directly.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceCanAccess(const MaxDevice* device, const MaxDevice* peer,
                                                   int32_t* outCanAccess);

/**
 * Lets the device reach the memory of another one directly.
 *
 * Thread-safe. Does nothing where access exists already.
 *
 * @retval MAX_STATUS_UNIMPLEMENTED  The devices cannot reach each other.
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
 * Thread-safe. A failure of earlier work is returned once, as by maxStreamSynchronize.
 *
 * @param[in] timeoutNs  Most nanoseconds to wait; 0 = no limit.
 * @retval MAX_STATUS_DEADLINE_EXCEEDED  The work was not done in time; it goes on, and nothing else has happened.
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
 * Fills a report on memory, use and temperature, as far as they are known.
 *
 * Thread-safe.
 *
 * @param[in,out] stats  Its structSize must be set; see MAX_DEVICE_STATS_INIT.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceGetStats(const MaxDevice* device, MaxDeviceStats* stats);

/**
 * Gets a number that describes the device.
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
 * Gives unused memory back that the library keeps for later on the device, page-locked memory too.
 *
 * Thread-safe. On accelerators it waits for queued work with that memory.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  Called from a host function of a stream of this device.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDeviceTrim(const MaxDevice* device);

/**
 * Allocates host memory that stays resident (page-locked), for fast transfers to and from the device.
 *
 * Thread-safe. Aligned to a page. It keeps the device alive until maxHostFree.
 *
 * @param[in] device  NULL = the host.
 * @param[in] byteCount  Zero is allowed and gives a pointer that must not be read.
 * @retval MAX_STATUS_RESOURCE_EXHAUSTED  Memory or the operating system's limit on locked memory has run out.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxHostAllocate(MaxDevice* device, size_t byteCount, void** outPointer);

/**
 * Frees memory of maxHostAllocate. Work that uses it must be done.
 *
 * Thread-safe.
 *
 * @param[in] device  As given to maxHostAllocate.
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
 * Gets label and id of a device that maxDeviceScan counts.
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
 * Declares accelerators that are not there, to compile for them; 0 ends it.
 *
 * Thread-safe. For the whole process. They are counted, named and opened like real ones, before which they stand, and
 * modules can be compiled for them; all that would run on one or take its memory is UNAVAILABLE.
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
 * Thread-safe. For the whole process.
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
 * Thread-safe. For the whole process.
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
