/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file log.h
 * What the library has to say: to a function of the program, or to nobody.
 *
 * Without a function the library is silent. A session's level decides which
 * messages of its loads and calls are made at all; see maxSessionSetLogLevel.
 * Messages are one line of UTF-8.
 *
 *     static void print(void* userData, MaxLogLevel level, const char* message) {
 *       fprintf(userData, "max %d: %s\n", (int)level, message);
 *     }
 *     if (maxLogSetCallback(print, stderr) == MAX_STATUS_OK) puts("listening");
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

/** As a session's level: the default, MAX_LOG_LEVEL_INFO. No message has it. */
#define MAX_LOG_LEVEL_NOTSET ((MaxLogLevel)0)
/** Every pass of the compiler and every plan. */
#define MAX_LOG_LEVEL_TRACE ((MaxLogLevel)10)
/** What was chosen and why, for example slow kernels of a plan. */
#define MAX_LOG_LEVEL_DEBUG ((MaxLogLevel)20)
/** Loads, and what else happens seldom. */
#define MAX_LOG_LEVEL_INFO ((MaxLogLevel)30)
/** What works, but not as the program may expect; memory limits that are reached. */
#define MAX_LOG_LEVEL_WARNING ((MaxLogLevel)40)
/** Loads that fail. */
#define MAX_LOG_LEVEL_ERROR ((MaxLogLevel)50)
/** Nothing at all at present. */
#define MAX_LOG_LEVEL_CRITICAL ((MaxLogLevel)60)

/**
 * A function that takes messages.
 *
 * May be called from any thread, from several at the same time. It may call functions of this library except
 * maxLogSetCallback, and must not throw. `message` is borrowed until it returns.
 *
 * @since 0.1
 */
typedef void (*MaxLogCallback)(void* userData, MaxLogLevel level, const char* message);

/**
 * Sets the process's function for messages.
 *
 * Thread-safe. `userData` is borrowed until another function is set; when this call returns, the function before
 * is not running any more and will not be called again.
 *
 * @param[in] callback  NULL = silence.
 * @retval MAX_STATUS_FAILED_PRECONDITION  Called from the function itself.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxLogSetCallback(MaxLogCallback callback, void* userData);

#ifdef __cplusplus
}
#endif

#endif
