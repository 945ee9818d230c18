/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file log.h
 * What the library has to say: to functions of the program, or to nobody.
 *
 * Without a function the library is silent. Any number of functions can listen
 * side by side, as those of several languages in one process do; each has a
 * level of its own. A session's level decides which messages of its loads and
 * calls are made at all; see maxSessionSetLogLevel. Messages are one line of
 * UTF-8.
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

/** How important a message is. */
typedef int32_t MaxLogLevel;

/** As a session's level: the default, MAX_LOG_LEVEL_INFO. As a function's: all messages. No message has it. */
#define MAX_LOG_LEVEL_NOTSET 0
/** Every pass of the compiler and every plan. */
#define MAX_LOG_LEVEL_TRACE 10
/** What was chosen and why, for example slow kernels of a plan. */
#define MAX_LOG_LEVEL_DEBUG 20
/** Loads, and what else happens seldom. */
#define MAX_LOG_LEVEL_INFO 30
/** What works, but not as the program may expect; memory limits that are reached. */
#define MAX_LOG_LEVEL_WARNING 40
/** Loads that fail. */
#define MAX_LOG_LEVEL_ERROR 50
/** Nothing at all at present. */
#define MAX_LOG_LEVEL_CRITICAL 60

/** Stands for a function that was added; never zero, and never used again in this process. */
typedef uint64_t MaxLogToken;

/**
 * A function that takes messages.
 *
 * May be called from any thread, from several at the same time. It may call all functions of this library; what they
 * have to say meanwhile is dropped. It must not throw. `message` is borrowed until it returns.
 *
 * @since 0.1
 */
typedef void (*MaxLogCallback)(void* userData, MaxLogLevel level, const char* message);

/**
 * Adds a function for the process's messages.
 *
 * Thread-safe. `userData` is borrowed until the function is removed. A function that is added twice is called twice.
 *
 * @param[in] level  The least important messages that the function gets.
 * @param[out] outToken  What maxLogRemoveCallback takes; 0 on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  There is no such level.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxLogAddCallback(MaxLogCallback callback, void* userData, MaxLogLevel level,
                                                  MaxLogToken* outToken);

/**
 * Removes a function.
 *
 * Thread-safe. When this call returns, the function is not running any more and will not be called again. From within
 * a function for messages the call does not wait, so as not to wait for itself: the function is not called again, but
 * calls that have begun go on.
 *
 * @retval MAX_STATUS_NOT_FOUND  The token was never given out, or its function has been removed.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxLogRemoveCallback(MaxLogToken token);

#ifdef __cplusplus
}
#endif

#endif
