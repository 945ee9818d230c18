/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file status.h
 * Status codes and the thread's last error message.
 *
 * Every function that can fail returns a MaxStatus. A failing call also stores a message for its thread; the message's
 * first line names the offending values:
 *
 *     if (maxDeviceCreate("cpu", -1, NULL, &device) != MAX_STATUS_OK)
 *       fprintf(stderr, "%s\n", maxGetLastErrorMessage());
 *
 * The codes and their numbers are those of gRPC.
 */
#ifndef MAX_STATUS_H
#define MAX_STATUS_H

#include <stdint.h>

#if defined(__GNUC__)
/** Marks a function that the library exports. */
#define MAX_API __attribute__((visibility("default")))
/** Marks a function whose result must not be ignored. */
#define MAX_NODISCARD __attribute__((warn_unused_result))
#else
#define MAX_API
#define MAX_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Result of a call: MAX_STATUS_OK (zero) or the reason for its failure. */
typedef int32_t MaxStatus;

/** The call succeeded. */
#define MAX_STATUS_OK 0
/** The caller cancelled the work. */
#define MAX_STATUS_CANCELLED 1
/** An error that fits no other code. */
#define MAX_STATUS_UNKNOWN 2
/** An argument is wrong, whatever the state of the system. */
#define MAX_STATUS_INVALID_ARGUMENT 3
/** A deadline passed before the work was done. */
#define MAX_STATUS_DEADLINE_EXCEEDED 4
/** A named thing (file, device, input) does not exist. */
#define MAX_STATUS_NOT_FOUND 5
/** The thing to be created already exists. */
#define MAX_STATUS_ALREADY_EXISTS 6
/** The operating system or the caller's settings forbid it. */
#define MAX_STATUS_PERMISSION_DENIED 7
/** Out of memory or another resource; smaller requests may succeed. */
#define MAX_STATUS_RESOURCE_EXHAUSTED 8
/** The object is not in the required state. */
#define MAX_STATUS_FAILED_PRECONDITION 9
/** The work was aborted because of a conflict; it can be retried. */
#define MAX_STATUS_ABORTED 10
/** An index or range is outside its object. */
#define MAX_STATUS_OUT_OF_RANGE 11
/** This build, version or device does not support it. */
#define MAX_STATUS_UNIMPLEMENTED 12
/** A bug in the library; please report it. */
#define MAX_STATUS_INTERNAL 13
/** A driver, compiler or device is not available. */
#define MAX_STATUS_UNAVAILABLE 14
/** A file is damaged or truncated. */
#define MAX_STATUS_DATA_LOSS 15

/**
 * Returns the name of a status code, for example "INVALID_ARGUMENT".
 *
 * Thread-safe. The string is static. An unknown number gives "UNKNOWN".
 *
 * @since 0.1
 */
MAX_API const char* maxStatusGetName(MaxStatus status);

/**
 * Returns the message of this thread's last failed call, in UTF-8.
 *
 * The first line is a summary that names the offending values; a compiler's log
 * may follow. Empty before the first failure, never NULL. Borrowed until this
 * thread's next failing call; successful calls and Release leave it alone.
 *
 * @since 0.1
 */
MAX_API const char* maxGetLastErrorMessage(void);

#ifdef __cplusplus
}
#endif

#endif
