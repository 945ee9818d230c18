/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session.h
 * Sessions: where models are loaded and how they run.
 *
 * A session holds devices and settings. Models that it loads run on its first
 * device. All sessions of a process share one pool of threads; the number of
 * threads of a session is how many of them one call may use.
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
  /** Threads that one call uses at most; 0 = as many as physical cores within affinity mask and CPU quota. */
  int32_t threadCount;
  /** Bytes that loads and calls of the session's models may hold at a time; 0 = no limit. See maxSessionGetMemory. */
  uint64_t memoryLimit;
} MaxSessionOptions;

/** Initial value of a MaxSessionOptions. */
#define MAX_SESSION_OPTIONS_INIT \
  { sizeof(MaxSessionOptions), NULL, 0, 0, 0 }

/** Which fields of a MaxSessionMemory are known, joined with |. */
typedef uint64_t MaxSessionMemoryMask;

/** MaxSessionMemory::used. */
#define MAX_SESSION_MEMORY_USED 1
/** MaxSessionMemory::peak. */
#define MAX_SESSION_MEMORY_PEAK 2
/** MaxSessionMemory::limit. */
#define MAX_SESSION_MEMORY_LIMIT 4

/** What a session's models hold in memory, in bytes; an unknown field is zero and missing in validMask. */
typedef struct MaxSessionMemory {
  /** Size of this structure; set by MAX_SESSION_MEMORY_INIT. */
  size_t structSize;
  /** Fields that are known: all of a session with a limit, none of another one. */
  MaxSessionMemoryMask validMask;
  /** What they hold now. */
  uint64_t used;
  /** The most that they have held so far. */
  uint64_t peak;
  /** MaxSessionOptions::memoryLimit. */
  uint64_t limit;
} MaxSessionMemory;

/** Initial value of a MaxSessionMemory. */
#define MAX_SESSION_MEMORY_INIT \
  { sizeof(MaxSessionMemory), 0, 0, 0, 0 }

/** What a session checks between the steps of its models. */
typedef int32_t MaxAssertLevel;

/** Nothing. */
#define MAX_ASSERT_LEVEL_NONE 0
/** As MAX_ASSERT_LEVEL_ALL, but what is found is only logged, as warnings. */
#define MAX_ASSERT_LEVEL_WARN 1
/**
 * That no step writes behind its outputs, those of the model included, and that shapes are those promised. Calls fail
 * otherwise: with MAX_STATUS_OUT_OF_RANGE if an operator of an extension is at fault, which the message names.
 */
#define MAX_ASSERT_LEVEL_SAFE 2
/** That too, and that no step makes NaN or infinity out of finite inputs; calls fail otherwise. */
#define MAX_ASSERT_LEVEL_ALL 3

/** What a session records of its calls. */
typedef int32_t MaxProfilingMode;

/** Nothing. */
#define MAX_PROFILING_MODE_OFF 0
/** Each call and each step of a model. */
#define MAX_PROFILING_MODE_ON 1
/** Steps within the iterations of loops too. */
#define MAX_PROFILING_MODE_DETAILED 2

/**
 * Makes a session.
 *
 * Thread-safe. The devices are retained.
 *
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_INVALID_ARGUMENT  A device is NULL, or a number is negative.
 * @retval MAX_STATUS_UNIMPLEMENTED  Models cannot run on the first device.
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
 * Gets the number of threads that one call uses at most.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetThreadCount(const MaxSession* session, int32_t* outCount);

/**
 * Sets how important messages of the session's loads and calls must be; see maxLogAddCallback.
 *
 * Thread-safe. Holds from the next call on, for models that are loaded too.
 *
 * @param[in] level  MAX_LOG_LEVEL_NOTSET = the default, MAX_LOG_LEVEL_INFO.
 * @retval MAX_STATUS_INVALID_ARGUMENT  There is no such level.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionSetLogLevel(MaxSession* session, MaxLogLevel level);

/**
 * Gets how important messages of the session's loads and calls must be.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetLogLevel(const MaxSession* session, MaxLogLevel* outLevel);

/**
 * Sets what is checked between the steps of models. Checks cost time; they are for finding faults.
 *
 * Thread-safe. Holds from the next call on, for models that are loaded too.
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
 * Sets the type in which the sums of the parts of long float32 matrix products are added up.
 *
 * Products over more than some hundred elements are made in parts. MAX_DTYPE_FLOAT32 is the default and the fastest;
 * MAX_DTYPE_FLOAT64 is more exact; MAX_DTYPE_FLOAT16 and MAX_DTYPE_BFLOAT16 round after each part, as accelerators do
 * that keep such sums in their outputs' type. Thread-safe. Holds from the next call on, for models that are loaded too.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  Sums cannot be kept in this type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionSetSplitKReductionPrecision(MaxSession* session, MaxDType dtype);

/**
 * Gets the type in which the sums of the parts of long matrix products are added up.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetSplitKReductionPrecision(const MaxSession* session, MaxDType* outDType);

/**
 * Chooses how TopK works: not 0 = it sorts whole lines, 0 = it selects, which is the default.
 *
 * Both give the same elements in the same order. Thread-safe. Holds from the next call on, for models that are loaded
 * too.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionSetUseOldTopK(MaxSession* session, int32_t useOldTopK);

/**
 * Tells whether TopK sorts whole lines.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetUseOldTopK(const MaxSession* session, int32_t* outUseOldTopK);

/**
 * Sets what is recorded of the calls of the session's models.
 *
 * A new session follows the environment variables MAX_ENABLE_PROFILING and MODULAR_ENABLE_PROFILING (off, on or
 * detailed); this call overrides them. What was recorded stays. The newest records are dropped when a million steps
 * are held. Thread-safe. Holds from the next call on, for models that are loaded too.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  There is no such mode.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionSetProfiling(MaxSession* session, MaxProfilingMode mode);

/**
 * Gets what is recorded of the calls of the session's models.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetProfiling(const MaxSession* session, MaxProfilingMode* outMode);

/**
 * Writes what was recorded as a trace in Chrome's JSON format, which Perfetto and chrome://tracing show.
 *
 * Each step has its name, start, duration and thread; its arguments are the operator, the implementation that ran, the
 * types of its inputs and outputs, and the model's nodes that it came from. Thread-safe.
 *
 * @param[in] path  The file, which is made or replaced.
 * @retval MAX_STATUS_NOT_FOUND  The file's folder does not exist.
 * @retval MAX_STATUS_PERMISSION_DENIED  The file cannot be written.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionWriteProfile(const MaxSession* session, const char* path);

/**
 * Forgets what was recorded.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionClearProfile(MaxSession* session);

/**
 * Reports how much memory the session's models hold.
 *
 * Counted are weights in memory (not those in mapped files), packed weights, intermediate values and what kernels hold
 * beside them, outputs that the library made and have not been released, and what loads need for a while; not counted
 * are buffers that the program made, and blocks below 16 KB.
 * Only a session with a limit counts. Thread-safe.
 *
 * @param[in,out] outMemory  Its structSize says which version of the structure it is.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxSessionGetMemory(const MaxSession* session, MaxSessionMemory* outMemory);

#ifdef __cplusplus
}
#endif

#endif
