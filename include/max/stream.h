/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file stream.h
 * Streams: queues of work that runs in order.
 *
 * Each device has a default stream; more can be created. Work on one stream runs in order; streams do not wait for each
 * other unless told to or if they use the same buffers (see buffer.h). On the host, the default stream runs work at
 * once, in the calling thread; a created stream is a queue with a worker thread, which starts with the first work.
 *
 * After work on a stream has failed, every call on the stream returns that failure until maxStreamSynchronize has
 * returned it once.
 *
 *     MaxStream* stream = NULL;
 *     if (maxStreamCreate(device, NULL, &stream) == MAX_STATUS_OK &&
 *         maxBufferFill(buffer, &value, sizeof value, stream) == MAX_STATUS_OK &&
 *         maxStreamSynchronize(stream, 0) == MAX_STATUS_OK) puts("filled");
 *     maxStreamRelease(stream);
 */
#ifndef MAX_STREAM_H
#define MAX_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "max/device.h"
#include "max/event.h"
#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Options of maxStreamCreate. */
typedef struct MaxStreamOptions {
  /** Size of this structure; set by MAX_STREAM_OPTIONS_INIT. */
  size_t structSize;
  /** A hint for accelerators: work on streams of higher priority goes first. */
  int32_t priority;
  /** Zero. */
  int32_t reserved;
} MaxStreamOptions;

/** Initial value of a MaxStreamOptions. */
#define MAX_STREAM_OPTIONS_INIT \
  { sizeof(MaxStreamOptions), 0, 0 }

/**
 * A function that runs in stream order.
 *
 * Called exactly once, from any thread. It may call functions of this library, but must not wait for its own stream (on
 * accelerators: any stream of its device) and must not throw. If it waits, it may delay host functions of other
 * streams. Its accesses to buffers come after the work queued before it on its stream, not after later work. `status`:
 * MAX_STATUS_OK, or the failure of earlier work, whose message maxGetLastErrorMessage returns inside the function.
 *
 * @since 0.1
 */
typedef void (*MaxHostFunction)(void* userData, MaxStatus status);

/**
 * Creates a stream on a device.
 *
 * Thread-safe.
 *
 * @param[in] device  NULL = the host.
 * @param[in] options  NULL = defaults.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamCreate(const MaxDevice* device, const MaxStreamOptions* options,
                                                MaxStream** outStream);

/**
 * Wraps a driver's stream (cudaStream_t, hipStream_t), which the caller continues to own.
 *
 * Thread-safe. Borrowed until the last release of the new stream.
 *
 * @param[in] device  NULL = the host, which has no driver streams.
 * @retval MAX_STATUS_UNIMPLEMENTED  The device has no driver streams.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The stream belongs to another device, or is the driver's per-thread default
 *     stream.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamWrap(const MaxDevice* device, void* native, MaxStream** outStream);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe. On a default stream this acts on the device.
 *
 * @since 0.1
 */
MAX_API void maxStreamRetain(const MaxStream* stream);

/**
 * Drops a reference; NULL is allowed. Queued work still runs; the call does not wait for it.
 *
 * Thread-safe. On a default stream this acts on the device.
 *
 * @since 0.1
 */
MAX_API void maxStreamRelease(const MaxStream* stream);

/**
 * Gets the device of the stream.
 *
 * Thread-safe. Borrowed from the stream.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamGetDevice(const MaxStream* stream, MaxDevice** outDevice);

/**
 * Tells whether this is the default stream of its device.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamIsDefault(const MaxStream* stream, int32_t* outIsDefault);

/**
 * Gets the driver's stream (cudaStream_t, hipStream_t).
 *
 * Thread-safe. Borrowed from the stream.
 *
 * @retval MAX_STATUS_UNIMPLEMENTED  The device has no driver streams.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamGetNative(const MaxStream* stream, void** outNative);

/**
 * Waits until all work on the stream is done.
 *
 * Thread-safe. Returns the first failure since the last call, once.
 *
 * @param[in] timeoutNs  Maximum time to wait in nanoseconds; 0 = no limit.
 * @retval MAX_STATUS_DEADLINE_EXCEEDED  The work was not done in time; it continues, and nothing else has changed.
 * @retval MAX_STATUS_FAILED_PRECONDITION  Called from a host function of this stream, a fork has cut the stream off, or
 *     other code is capturing the stream for a graph.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamSynchronize(MaxStream* stream, int64_t timeoutNs);

/**
 * Makes later work on the stream wait for all work now on another stream.
 *
 * Asynchronous. The streams may belong to different devices. Thread-safe. On the host's default stream the call itself
 * waits.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamWaitForStream(MaxStream* stream, MaxStream* other);

/**
 * Makes later work on the stream wait for all work now on a device's default stream.
 *
 * Asynchronous. Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamWaitForDevice(MaxStream* stream, const MaxDevice* device);

/**
 * Makes later work on the stream wait for the newest mark of an event.
 *
 * Asynchronous: the event is retained until then. Thread-safe. On the host's default stream the call itself waits.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamWaitForEvent(MaxStream* stream, const MaxEvent* event);

/**
 * Records an event on the stream: it is done when all work now on the stream is done.
 *
 * Asynchronous: the event is retained until then. Thread-safe.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  Event and stream belong to different devices.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamRecordEvent(MaxStream* stream, MaxEvent* event);

/**
 * Calls a function when all work now on the stream is done.
 *
 * Asynchronous: `userData` is borrowed until the function has been called. Thread-safe. On the host's default stream
 * the function runs before this call returns. It is called exactly once if this call succeeds, else not at all.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  Other code is capturing the stream for a graph, which would repeat the call.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxStreamEnqueueHostFunction(MaxStream* stream, MaxHostFunction function,
                                                             void* userData);

#ifdef __cplusplus
}
#endif

#endif
