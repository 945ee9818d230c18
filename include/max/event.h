/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file event.h
 * Events: marks in streams that can be waited for and timed.
 *
 * An event is recorded on a stream and is done when all work queued on the stream before it is done. It can be recorded
 * again; it then refers to the newest mark. An event that was never recorded counts as done.
 *
 *     MaxEvent* event = NULL;
 *     if (maxEventCreate(device, NULL, &event) == MAX_STATUS_OK &&
 *         maxStreamRecordEvent(stream, event) == MAX_STATUS_OK &&
 *         maxEventSynchronize(event, 0) == MAX_STATUS_OK) puts("done");
 *     maxEventRelease(event);
 */
#ifndef MAX_EVENT_H
#define MAX_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "max/device.h"
#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A mark in a stream. */
typedef struct MaxEvent MaxEvent;

/** Options of maxEventCreate. */
typedef struct MaxEventOptions {
  /** Size of this structure; set by MAX_EVENT_OPTIONS_INIT. */
  size_t structSize;
  /** Not 0 = record the time, for maxEventGetElapsedTime. */
  int32_t timing;
  /** Zero. */
  int32_t reserved;
} MaxEventOptions;

/** Initial value of a MaxEventOptions. */
#define MAX_EVENT_OPTIONS_INIT \
  { sizeof(MaxEventOptions), 0, 0 }

/**
 * Creates an event for streams of a device.
 *
 * Thread-safe.
 *
 * @param[in] device  NULL = the host.
 * @param[in] options  NULL = defaults: no timing.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxEventCreate(const MaxDevice* device, const MaxEventOptions* options,
                                               MaxEvent** outEvent);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxEventRetain(const MaxEvent* event);

/**
 * Drops a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxEventRelease(const MaxEvent* event);

/**
 * Gets the device that the event was created for.
 *
 * Thread-safe. Borrowed from the event.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxEventGetDevice(const MaxEvent* event, MaxDevice** outDevice);

/**
 * Waits until the event's newest mark is done.
 *
 * Thread-safe.
 *
 * @param[in] timeoutNs  Maximum time to wait in nanoseconds; 0 = no limit.
 * @retval MAX_STATUS_DEADLINE_EXCEEDED  The mark was not done in time.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The mark is on a stream that a fork has cut off.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxEventSynchronize(const MaxEvent* event, int64_t timeoutNs);

/**
 * Tells, without waiting, whether the event's newest mark is done.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxEventQuery(const MaxEvent* event, int32_t* outIsReady);

/**
 * Gets the time between two events that are done, in nanoseconds.
 *
 * Thread-safe. Negative if `end` was done first.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  An event has no timing, was never recorded or is not done.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxEventGetElapsedTime(const MaxEvent* start, const MaxEvent* end,
                                                       int64_t* outNanoseconds);

#ifdef __cplusplus
}
#endif

#endif
