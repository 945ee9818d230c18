/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file value.h
 * Values: inputs and outputs that may be sequences, optionals or maps instead of tensors.
 *
 * Most models only need buffers. For other kinds in MaxTensorInfo, use maxModelExecuteValues, whose inputs and outputs
 * are values. A value never changes; its contents are borrowed from it.
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

/** Kind of a value, or of a model's input or output. */
typedef int32_t MaxValueKind;

/** A tensor. */
#define MAX_VALUE_KIND_TENSOR 0
/** A sequence of values. */
#define MAX_VALUE_KIND_SEQUENCE 1
/** An optional: a value or nothing. */
#define MAX_VALUE_KIND_OPTIONAL 2
/** A map from keys to values. */
#define MAX_VALUE_KIND_MAP 3

/**
 * Creates a value from a buffer, which is retained and must not be written while the value is in use.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueCreateTensor(MaxBuffer* buffer, MaxValue** outValue);

/**
 * Creates a sequence of values, which are retained: contiguous tensors of one element type in host memory, or maps.
 *
 * Thread-safe.
 *
 * @param[in] elements  `count` values; may be NULL if `count` is 0.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The elements differ in type, or one is a sequence or optional.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueCreateSequence(MaxValue* const* elements, int32_t count, MaxValue** outValue);

/**
 * Creates an optional that holds a tensor or a sequence, which is retained, or nothing.
 *
 * Thread-safe.
 *
 * @param[in] element  NULL = nothing.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The element is an optional or a map.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueCreateOptional(MaxValue* element, MaxValue** outValue);

/**
 * Creates a map from two lists of equal length, which are retained.
 *
 * Thread-safe.
 *
 * @param[in] keys  Strings or int64, all different.
 * @param[in] values  The value of each key.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The buffers are not such lists.
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
 * Gets the kind of a value.
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
 * @retval MAX_STATUS_FAILED_PRECONDITION  The value is not a tensor.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueGetBuffer(const MaxValue* value, MaxBuffer** outBuffer);

/**
 * Gets the number of elements of a sequence or of entries of a map; 1 for an optional, or 0 if it holds nothing.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The value is a tensor.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueGetCount(const MaxValue* value, int32_t* outCount);

/**
 * Gets elements of a sequence, or the value in an optional, which is element 0.
 *
 * Thread-safe. Borrowed from the value.
 *
 * @param[out] outElements  Room for `count` values; all NULL on failure.
 * @retval MAX_STATUS_OUT_OF_RANGE  The range is outside the value; the message says how many elements it has.
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
 * @retval MAX_STATUS_FAILED_PRECONDITION  The value is not a map.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueGetMapKeys(const MaxValue* value, MaxBuffer** outKeys);

/**
 * Gets the values of a map, in the order of its keys.
 *
 * Thread-safe. Borrowed from the value.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The value is not a map.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxValueGetMapValues(const MaxValue* value, MaxBuffer** outValues);

#ifdef __cplusplus
}
#endif

#endif
