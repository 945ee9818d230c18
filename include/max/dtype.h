/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dtype.h
 * Element types of buffers and tensors.
 *
 * The meaning of a MaxDType value never changes. Types that the ".max" checkpoint format supports have the value that
 * the format stores for them.
 *
 *     MaxDType dtype = MAX_DTYPE_INVALID;
 *     if (maxDTypeFromName("float32", &dtype) == MAX_STATUS_OK)
 *       printf("%zu bytes\n", maxDTypeGetSize(dtype));
 */
#ifndef MAX_DTYPE_H
#define MAX_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Element type of a buffer or tensor. */
typedef int32_t MaxDType;

/** No type: the value in a zeroed structure. */
#define MAX_DTYPE_INVALID 0
/** Truth value, one byte: 0 or 1. */
#define MAX_DTYPE_BOOL 1
/** UTF-8 strings: one block of bytes plus offsets. */
#define MAX_DTYPE_STRING 2
/** 4-bit float, 2 exponent and 1 mantissa bits, finite only; two in a byte. */
#define MAX_DTYPE_FLOAT4_E2M1FN 64
/** 6-bit float, 2 exponent and 3 mantissa bits, finite only; four in three bytes, first in the low bits. */
#define MAX_DTYPE_FLOAT6_E2M3FN 65
/** 6-bit float, 3 exponent and 2 mantissa bits, finite only; four in three bytes, first in the low bits. */
#define MAX_DTYPE_FLOAT6_E3M2FN 66
/** 8-bit unsigned power of two, the scale type of microscaling formats. */
#define MAX_DTYPE_FLOAT8_E8M0FNU 73
/** 8-bit float, 4 exponent and 3 mantissa bits, finite and NaN only. */
#define MAX_DTYPE_FLOAT8_E4M3FN 75
/** Like float8_e4m3fn, without a negative zero. */
#define MAX_DTYPE_FLOAT8_E4M3FNUZ 76
/** 8-bit float, 5 exponent and 2 mantissa bits. */
#define MAX_DTYPE_FLOAT8_E5M2 77
/** Like float8_e5m2, finite and NaN only, without a negative zero. */
#define MAX_DTYPE_FLOAT8_E5M2FNUZ 78
/** IEEE 754 binary16. */
#define MAX_DTYPE_FLOAT16 79
/** Upper half of a float32. */
#define MAX_DTYPE_BFLOAT16 80
/** IEEE 754 binary32. */
#define MAX_DTYPE_FLOAT32 81
/** IEEE 754 binary64. */
#define MAX_DTYPE_FLOAT64 82
/** Two float32: real and imaginary part. */
#define MAX_DTYPE_COMPLEX64 97
/** Two float64: real and imaginary part. */
#define MAX_DTYPE_COMPLEX128 98
/** Unsigned 2-bit integer; four in a byte, first in the low bits. */
#define MAX_DTYPE_UINT2 130
/** Signed 2-bit integer; four in a byte, first in the low bits. */
#define MAX_DTYPE_INT2 131
/** Unsigned 4-bit integer; two in a byte, first in the low bits. */
#define MAX_DTYPE_UINT4 132
/** Signed 4-bit integer; two in a byte, first in the low bits. */
#define MAX_DTYPE_INT4 133
/** Unsigned 8-bit integer. */
#define MAX_DTYPE_UINT8 134
/** Signed 8-bit integer. */
#define MAX_DTYPE_INT8 135
/** Unsigned 16-bit integer. */
#define MAX_DTYPE_UINT16 136
/** Signed 16-bit integer. */
#define MAX_DTYPE_INT16 137
/** Unsigned 32-bit integer. */
#define MAX_DTYPE_UINT32 138
/** Signed 32-bit integer. */
#define MAX_DTYPE_INT32 139
/** Unsigned 64-bit integer. */
#define MAX_DTYPE_UINT64 140
/** Signed 64-bit integer. */
#define MAX_DTYPE_INT64 141

/**
 * Returns the size of one element in bytes; 1 for types below 8 bits, 0 for
 * strings and unknown numbers.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API size_t maxDTypeGetSize(MaxDType dtype);

/**
 * Returns the size of one element in bits; 0 for strings and unknown numbers.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API size_t maxDTypeGetBits(MaxDType dtype);

/**
 * Returns the name of a type, for example "float32"; "invalid" for unknown numbers.
 *
 * Thread-safe. The string is static.
 *
 * @since 0.1
 */
MAX_API const char* maxDTypeGetName(MaxDType dtype);

/**
 * Finds a type by name.
 *
 * Thread-safe.
 *
 * @param[out] outDType  MAX_DTYPE_INVALID on failure.
 * @retval MAX_STATUS_NOT_FOUND  No type has this name.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxDTypeFromName(const char* name, MaxDType* outDType);

#ifdef __cplusplus
}
#endif

#endif
