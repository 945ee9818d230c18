/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cancellation.h
 * Cancellations: how one thread stops what another one has asked for.
 *
 * A cancellation is given to loads and executions in their options. Once it is
 * cancelled, those that run and those that begin later fail with
 * MAX_STATUS_CANCELLED, until it is reset; models stay usable. A call notices
 * between two steps and within long ones, in milliseconds.
 *
 *     MaxCancellation* cancellation = NULL;
 *     if (maxCancellationCreate(&cancellation) == MAX_STATUS_OK) {
 *       options.cancellation = cancellation;   // of maxModelExecute, in another thread
 *       (void)maxCancellationCancel(cancellation);
 *     }
 */
#ifndef MAX_CANCELLATION_H
#define MAX_CANCELLATION_H

#include <stdint.h>

#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Stops calls that were given it. */
typedef struct MaxCancellation MaxCancellation;

/**
 * Makes a cancellation that is not cancelled.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxCancellationCreate(MaxCancellation** outCancellation);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxCancellationRetain(const MaxCancellation* cancellation);

/**
 * Drops a reference; NULL is allowed. Calls hold what they were given until they are done.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxCancellationRelease(const MaxCancellation* cancellation);

/**
 * Stops all calls that were given the cancellation, those that run and those that begin later.
 *
 * Thread-safe. Returns at once; the calls return when they notice.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxCancellationCancel(const MaxCancellation* cancellation);

/**
 * Lets calls that begin from now on run again.
 *
 * Thread-safe. A call that has not noticed yet that it was cancelled goes on.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxCancellationReset(const MaxCancellation* cancellation);

/**
 * Tells whether the cancellation is cancelled.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxCancellationIsCancelled(const MaxCancellation* cancellation,
                                                           int32_t* outIsCancelled);

#ifdef __cplusplus
}
#endif

#endif
