/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file value.h
 * Values: what a model may take or give besides a tensor: sequences, optionals and maps.
 *
 * Most models need buffers only. Where the kind in a MaxTensorInfo says otherwise,
 * maxModelExecuteValues takes and gives values. A value does not change once it is
 * made; what is in it is borrowed from it.
 *
 *     MaxValue* pair[2] = {NULL, NULL};
 *     MaxValue* sequence = NULL;
 *     if (maxValueCreateTensor(a, &pair[0]) == MAX_STATUS_OK && maxValueCreateTensor(b, &pair[1]) == MAX_STATUS_OK &&
 *         maxValueCreateSequence(pair, 2, &sequence) == MAX_STATUS_OK) puts("a sequence of two tensors");
 */
#ifndef MAX_VALUE_H
#define MAX_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "max/buffer.h"
#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A tensor, sequence, optional or map. */
typedef struct MaxValue MaxValue;

/** What a value is; what a model takes or gives. */
typedef int32_t MaxValueKind;

/** A tensor. */
#define MAX_VALUE_KIND_TENSOR 0
/** A sequence of values. */
#define MAX_VALUE_KIND_SEQUENCE 1
/** A value or nothing. */
#define MAX_VALUE_KIND_OPTIONAL 2
/** A map from keys to values. */
#define MAX_VALUE_KIND_MAP 3

/**
 * Makes a value of a buffer, which is retained, and not to be written while the value is in use.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueCreateTensor(MaxBuffer* buffer, MaxValue** outValue);

/**
 * Makes a sequence of values, which are retained: contiguous tensors of one element type in host memory, or maps.
 *
 * Thread-safe.
 *
 * @param[in] elements  `count` of them; NULL is allowed if there are none.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The elements differ in type, or one is a sequence or optional.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueCreateSequence(MaxValue* const* elements, int32_t count, MaxValue** outValue);

/**
 * Makes an optional that holds a tensor or a sequence, which is retained, or nothing.
 *
 * Thread-safe.
 *
 * @param[in] element  NULL = nothing.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The element is an optional or a map.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueCreateOptional(MaxValue* element, MaxValue** outValue);

/**
 * Makes a map from two lists of equal length, which are retained.
 *
 * Thread-safe.
 *
 * @param[in] keys  Strings or int64, all different.
 * @param[in] values  The value of each key.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The buffers are no such lists.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueCreateMap(MaxBuffer* keys, MaxBuffer* values, MaxValue** outValue);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxValueRetain(const MaxValue* value);

/**
 * Drops a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxValueRelease(const MaxValue* value);

/**
 * Gets what a value is.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueGetKind(const MaxValue* value, MaxValueKind* outKind);

/**
 * Gets the buffer of a tensor.
 *
 * Thread-safe. Borrowed from the value.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The value is no tensor.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueGetBuffer(const MaxValue* value, MaxBuffer** outBuffer);

/**
 * Gets how many elements a sequence has, how many entries a map has; of an optional 1 or, if it holds nothing, 0.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The value is a tensor.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueGetCount(const MaxValue* value, int32_t* outCount);

/**
 * Gets elements of a sequence, or what an optional holds: element 0.
 *
 * Thread-safe. Borrowed from the value.
 *
 * @param[out] outElements  Room for `count` values; all NULL on failure.
 * @retval MAX_STATUS_OUT_OF_RANGE  There are no such elements; the message says how many there are.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The value is a tensor or a map.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueGetElements(const MaxValue* value, int32_t first, int32_t count,
                                                    MaxValue** outElements);

/**
 * Gets the keys of a map, a list of strings or int64.
 *
 * Thread-safe. Borrowed from the value.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The value is no map.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueGetMapKeys(const MaxValue* value, MaxBuffer** outKeys);

/**
 * Gets the values of a map, in the order of its keys.
 *
 * Thread-safe. Borrowed from the value.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The value is no map.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueGetMapValues(const MaxValue* value, MaxBuffer** outValues);

#ifdef __cplusplus
}
#endif

#endif
