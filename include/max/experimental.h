/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file experimental.h
 * Functions that may change or disappear in any release.
 *
 * max.h does not include this header. Tests use it to check for leaks:
 *
 *     int64_t count = 0;
 *     if (maxExperimentalGetLiveObjectCount(&count) == MAX_STATUS_OK && count != 0)
 *       printf("%lld objects are still alive\n", (long long)count);
 */
#ifndef MAX_EXPERIMENTAL_H
#define MAX_EXPERIMENTAL_H

#include <stdint.h>

#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Counts the objects of this process that have not been released: devices,
 * streams, events, buffers, sessions, models, graphs and host allocations.
 *
 * Thread-safe. Objects in use by queued work count until the work is done.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxExperimentalGetLiveObjectCount(int64_t* outCount);

#ifdef __cplusplus
}
#endif

#endif
