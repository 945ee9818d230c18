/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file version.h
 * Version of the headers (macros) and of the loaded library (functions).
 *
 * The ABI version is the number in the library's file name, libmax.so.N. A
 * program built with older headers runs with any later library of the same ABI
 * version.
 *
 *     printf("built with %s, running %s, ABI %d\n",
 *            MAX_VERSION_STRING, maxGetVersion(), (int)maxGetAbiVersion());
 */
#ifndef MAX_VERSION_H
#define MAX_VERSION_H

#include <stdint.h>

#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Major version of these headers. */
#define MAX_VERSION_MAJOR 0
/** Minor version of these headers. */
#define MAX_VERSION_MINOR 1
/** Patch version of these headers. */
#define MAX_VERSION_PATCH 0
/** Version of these headers as a string. */
#define MAX_VERSION_STRING "0.1.0"
/** ABI version of these headers. */
#define MAX_ABI_VERSION 0

/**
 * Returns the version of the loaded library, for example "0.1.0".
 *
 * Thread-safe. The string is static.
 *
 * @since 0.1
 */
MAX_API const char* maxGetVersion(void);

/**
 * Returns the ABI version of the loaded library.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API int32_t maxGetAbiVersion(void);

#ifdef __cplusplus
}
#endif

#endif
