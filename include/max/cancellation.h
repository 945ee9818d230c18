/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cancellation.h
 * Cancellations: how one thread stops another thread's calls.
 *
 * The options of loads and executions take a cancellation. Once it is cancelled, calls in progress and later calls that
 * use it fail with MAX_STATUS_CANCELLED until it is reset; models stay usable. A call notices within milliseconds:
 * between steps, and within long ones.
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

/** Stops the calls that use it. */
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
 * Drops a reference; NULL is allowed. Calls hold it until they are done.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxCancellationRelease(const MaxCancellation* cancellation);

/**
 * Stops all calls that use the cancellation, those in progress and later ones.
 *
 * Thread-safe. Returns at once; the calls return when they notice.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxCancellationCancel(const MaxCancellation* cancellation);

/**
 * Lets later calls run again.
 *
 * Thread-safe. A call that has not noticed the cancellation yet goes on.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxCancellationReset(const MaxCancellation* cancellation);

/**
 * Tells whether the cancellation has been cancelled.
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
