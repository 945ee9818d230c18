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
  int32_t numThreads;
} MaxSessionOptions;

/** Initial value of a MaxSessionOptions. */
#define MAX_SESSION_OPTIONS_INIT \
  { sizeof(MaxSessionOptions), NULL, 0, 0 }

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
MAX_API MAX_NODISCARD MaxStatus maxSessionGetNumThreads(const MaxSession* session, int32_t* outNumThreads);

#ifdef __cplusplus
}
#endif

#endif
