/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session.h
 * Sessions: where models are loaded and how they run.
 *
 * A session holds devices and settings. Models that it loads run on its first device, except for what a graph built in
 * code places on the others. All sessions of a process share one thread pool; a session's thread count limits how many
 * of its threads one call uses.
 *
 *     MaxSession* session = NULL;
 *     MaxModel* model = NULL;
 *     if (maxSessionCreate(NULL, &session) == MAX_STATUS_OK &&
 *         maxModelLoad(session, "model.onnx", NULL, &model) == MAX_STATUS_OK) puts("loaded");
 *     maxModelRelease(model);
 *     maxSessionRelease(session);
 */
#ifndef MAX_SESSION_H
#define MAX_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "max/device.h"
#include "max/dtype.h"
#include "max/log.h"
#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Devices and settings that models are loaded with. */
typedef struct MaxSession MaxSession;

/** Options of maxSessionCreate. */
typedef struct MaxSessionOptions {
  /** Size of this structure; set by MAX_SESSION_OPTIONS_INIT. */
  size_t structSize;
  /** Devices, the one that models run on first; NULL = the host. */
  MaxDevice* const* devices;
  /** Number of devices; 0 = the host alone. */
  int32_t deviceCount;
  /**
   * Maximum threads per call or load; 0 = the number of physical cores within the affinity mask and CPU quota. Calls
   * that run at the same time share the cores, so that each may use fewer.
   */
  int32_t threadCount;
  /** Maximum bytes held by loads and calls of the session's models; 0 = no limit. See maxSessionGetMemory. */
  uint64_t memoryLimit;
  /**
   * Folder in whose `weights` packed weights of mapped models are kept, which later loads of any process map instead of
   * packing them again; made when it is first needed. NULL = that of MAX_WEIGHTS_CACHE_DIR, if any; "" = none. A folder
   * that cannot be used, or that others can write to, is ignored.
   */
  const char* weightsCacheDir;
} MaxSessionOptions;

/** Initial value of a MaxSessionOptions. */
#define MAX_SESSION_OPTIONS_INIT \
  { sizeof(MaxSessionOptions), NULL, 0, 0, 0, NULL }

/** Valid fields of a MaxSessionMemory: a sum of MAX_SESSION_MEMORY_* values. */
typedef uint64_t MaxSessionMemoryMask;

/** MaxSessionMemory::used. */
#define MAX_SESSION_MEMORY_USED 1
/** MaxSessionMemory::peak. */
#define MAX_SESSION_MEMORY_PEAK 2
/** MaxSessionMemory::limit. */
#define MAX_SESSION_MEMORY_LIMIT 4

/** Memory that a session's models hold, in bytes; an unknown field is zero and missing in validMask. */
typedef struct MaxSessionMemory {
  /** Size of this structure; set by MAX_SESSION_MEMORY_INIT. */
  size_t structSize;
  /** Fields that are known: all if the session has a limit, otherwise none. */
  MaxSessionMemoryMask validMask;
  /** Bytes held now. */
  uint64_t used;
  /** Most bytes held so far. */
  uint64_t peak;
  /** MaxSessionOptions::memoryLimit. */
  uint64_t limit;
} MaxSessionMemory;

/** Initial value of a MaxSessionMemory. */
#define MAX_SESSION_MEMORY_INIT \
  { sizeof(MaxSessionMemory), 0, 0, 0, 0 }

/** What to check between the steps of a session's models. */
typedef int32_t MaxAssertLevel;

/** Nothing. */
#define MAX_ASSERT_LEVEL_NONE 0
/** Like MAX_ASSERT_LEVEL_ALL, but faults are only logged, as warnings. */
#define MAX_ASSERT_LEVEL_WARN 1
/**
 * That no step writes past the end of its outputs, including the model's, and that shapes are as inferred. Otherwise
 * calls fail; with MAX_STATUS_OUT_OF_RANGE and a message that names the operator if an extension is at fault.
 */
#define MAX_ASSERT_LEVEL_SAFE 2
/** Like MAX_ASSERT_LEVEL_SAFE, and that no step produces NaN or infinity from finite inputs; otherwise calls fail. */
#define MAX_ASSERT_LEVEL_ALL 3

/** What a session records about its calls. */
typedef int32_t MaxProfilingMode;

/** Nothing. */
#define MAX_PROFILING_MODE_OFF 0
/** Each call and each step of a model. */
#define MAX_PROFILING_MODE_ON 1
/** Also each step of each loop iteration. */
#define MAX_PROFILING_MODE_DETAILED 2

/**
 * Creates a session.
 *
 * Thread-safe. The devices are retained.
 *
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_INVALID_ARGUMENT  A device is NULL, or a count is negative.
 * @retval MAX_STATUS_UNAVAILABLE  The first device is virtual.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionCreate(const MaxSessionOptions* options, MaxSession** outSession);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxSessionRetain(const MaxSession* session);

/**
 * Drops a reference; NULL is allowed. Models hold their session.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxSessionRelease(const MaxSession* session);

/**
 * Gets the number of devices.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetDeviceCount(const MaxSession* session, int32_t* outCount);

/**
 * Gets a device.
 *
 * Thread-safe. Borrowed from the session.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such device.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetDevice(const MaxSession* session, int32_t index, MaxDevice** outDevice);

/**
 * Gets the maximum number of threads per call or load.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetThreadCount(const MaxSession* session, int32_t* outCount);

/**
 * Sets the lowest level of messages from the session's loads and calls; see maxLogAddCallback.
 *
 * Thread-safe. Takes effect from the next call on, also for loaded models.
 *
 * @param[in] level  MAX_LOG_LEVEL_NOTSET = the default, MAX_LOG_LEVEL_INFO.
 * @retval MAX_STATUS_INVALID_ARGUMENT  There is no such level.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionSetLogLevel(MaxSession* session, MaxLogLevel level);

/**
 * Gets the lowest level of messages from the session's loads and calls.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetLogLevel(const MaxSession* session, MaxLogLevel* outLevel);

/**
 * Sets what to check between the steps of models. Checks cost time; they are for debugging.
 *
 * Thread-safe. Takes effect from the next call on, also for loaded models.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  There is no such level.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionSetAssertLevel(MaxSession* session, MaxAssertLevel level);

/**
 * Gets what is checked between the steps of models.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetAssertLevel(const MaxSession* session, MaxAssertLevel* outLevel);

/**
 * Sets the type in which partial sums of long float32 matrix products are accumulated.
 *
 * Products over more than a few hundred elements are computed in parts. MAX_DTYPE_FLOAT32 is the default and the
 * fastest; MAX_DTYPE_FLOAT64 is more accurate; MAX_DTYPE_FLOAT16 and MAX_DTYPE_BFLOAT16 round after each part, like
 * accelerators that keep such sums in their outputs' type. Thread-safe. Takes effect from the next call on, also for
 * loaded models.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  Sums cannot be accumulated in this type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionSetSplitKReductionPrecision(MaxSession* session, MaxDType dtype);

/**
 * Gets the type in which partial sums of long float32 matrix products are accumulated.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetSplitKReductionPrecision(const MaxSession* session, MaxDType* outDType);

/**
 * Chooses the algorithm of TopK: not 0 = sort whole rows, 0 = select, which is the default.
 *
 * Both give the same elements in the same order. Thread-safe. Takes effect from the next call on, also for loaded
 * models.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionSetUseOldTopK(MaxSession* session, int32_t useOldTopK);

/**
 * Tells whether TopK sorts whole rows.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetUseOldTopK(const MaxSession* session, int32_t* outUseOldTopK);

/**
 * Sets what to record about calls of the session's models.
 *
 * A new session follows the environment variables MAX_ENABLE_PROFILING and MODULAR_ENABLE_PROFILING (off, on or
 * detailed); this call overrides them. Existing records are kept. Beyond a million steps, new records are dropped.
 * Steps on an accelerator have the times of the device, for which calls then wait. Thread-safe. Takes effect from the
 * next call on, also for loaded models.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  There is no such mode.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionSetProfiling(MaxSession* session, MaxProfilingMode mode);

/**
 * Gets what is recorded about calls of the session's models.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetProfiling(const MaxSession* session, MaxProfilingMode* outMode);

/**
 * Writes the recorded calls as a trace in Chrome's JSON format, for Perfetto and chrome://tracing.
 *
 * Each step has its name, start, duration and thread; its arguments are the operator, the implementation that ran, the
 * types of its inputs and outputs, its position among the nodes, the multiplications of a convolution or product of
 * matrices, the bytes that it reads and writes, and the nodes of the model that it came from. A node without a name is
 * called by its operator, position and first output. Thread-safe.
 *
 * @param[in] path  The file, which is created or replaced.
 * @retval MAX_STATUS_NOT_FOUND  The file's folder does not exist.
 * @retval MAX_STATUS_PERMISSION_DENIED  The file cannot be written.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionWriteProfile(const MaxSession* session, const char* path);

/**
 * Deletes the records.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionClearProfile(MaxSession* session);

/**
 * Reports how much memory the session's models hold.
 *
 * This includes weights in memory (not in mapped files), packed weights, intermediate values and kernels' scratch
 * memory, outputs that the library allocated and that have not been released, and temporary memory of loads. It
 * excludes buffers that the program created, and blocks below 16 KB. Only sessions with a limit keep count.
 * Thread-safe.
 *
 * @param[in,out] outMemory  Its structSize must be set; see MAX_SESSION_MEMORY_INIT.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetMemory(const MaxSession* session, MaxSessionMemory* outMemory);

#ifdef __cplusplus
}
#endif

#endif
