/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file log.h
 * Log messages, for callbacks of the program.
 *
 * Without a callback the library logs nothing. Several callbacks can be added, for example one for each language in a
 * process; each has its own level. A session's level decides which messages its loads and calls produce; see
 * maxSessionSetLogLevel. Messages are one line of UTF-8.
 *
 *     static void print(void* userData, MaxLogLevel level, const char* message) {
 *       fprintf(userData, "max %d: %s\n", (int)level, message);
 *     }
 *     MaxLogToken token = 0;
 *     if (maxLogAddCallback(print, stderr, MAX_LOG_LEVEL_WARNING, &token) == MAX_STATUS_OK) puts("listening");
 */
#ifndef MAX_LOG_H
#define MAX_LOG_H

#include <stdint.h>

#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Severity of a message. */
typedef int32_t MaxLogLevel;

/** For a session: the default, MAX_LOG_LEVEL_INFO. For a callback: all messages. No message has this level. */
#define MAX_LOG_LEVEL_NOTSET 0
/** Every pass of the compiler and every plan. */
#define MAX_LOG_LEVEL_TRACE 10
/** Decisions and their reasons, for example slow kernels of a plan. */
#define MAX_LOG_LEVEL_DEBUG 20
/** Loads and other rare events. */
#define MAX_LOG_LEVEL_INFO 30
/** What works, but perhaps not as expected; memory limits reached. */
#define MAX_LOG_LEVEL_WARNING 40
/** Failed loads. */
#define MAX_LOG_LEVEL_ERROR 50
/** Not used at present. */
#define MAX_LOG_LEVEL_CRITICAL 60

/** Identifies an added callback; never zero, and never reused in this process. */
typedef uint64_t MaxLogToken;

/**
 * A function that receives messages.
 *
 * May be called from any thread, and from several at the same time. It may call all functions of this library; their
 * messages are dropped meanwhile. It must not throw. `message` is borrowed until it returns.
 *
 * @since 0.1
 */
typedef void (*MaxLogCallback)(void* userData, MaxLogLevel level, const char* message);

/**
 * Adds a callback for the messages of the process.
 *
 * Thread-safe. `userData` is borrowed until the callback is removed. A callback added twice is called twice.
 *
 * @param[in] level  Lowest level of messages for this callback.
 * @param[out] outToken  For maxLogRemoveCallback; 0 on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  There is no such level.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxLogAddCallback(MaxLogCallback callback, void* userData, MaxLogLevel level,
                                                  MaxLogToken* outToken);

/**
 * Removes a callback.
 *
 * Thread-safe. When this function returns, the callback is no longer running and will not be called again. Called from
 * within a callback, it does not wait, since it could wait for itself: the callback is not called again, but calls in
 * progress go on.
 *
 * @retval MAX_STATUS_NOT_FOUND  The token was never issued, or its callback was already removed.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxLogRemoveCallback(MaxLogToken token);

#ifdef __cplusplus
}
#endif

#endif
