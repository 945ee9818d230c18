/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tensor_info.h
 * What is known of a tensor before there is one: of inputs, outputs and weights of models, and of values of graphs.
 *
 * One report in place of a function for each property. What it points at is
 * borrowed from the object that was asked.
 *
 *     MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
 *     if (maxModelGetInput(model, 0, &info) == MAX_STATUS_OK) printf("%s: %s\n", info.name, info.typeName);
 */
#ifndef MAX_TENSOR_INFO_H
#define MAX_TENSOR_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "max/device.h"
#include "max/dtype.h"
#include "max/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A dimension that each call may choose. */
#define MAX_DIMENSION_DYNAMIC -1
/** The number of dimensions is not known before a call. */
#define MAX_RANK_DYNAMIC -1

/** Fields of a MaxTensorInfo that hold a value: a sum of MAX_TENSOR_INFO_* numbers. */
typedef uint64_t MaxTensorInfoMask;

/** name is known. */
#define MAX_TENSOR_INFO_NAME 1
/** typeName is known. */
#define MAX_TENSOR_INFO_TYPE_NAME 2
/** kind is known. */
#define MAX_TENSOR_INFO_KIND 4
/** dtype is known. */
#define MAX_TENSOR_INFO_DTYPE 8
/** rank is known; otherwise it is MAX_RANK_DYNAMIC. */
#define MAX_TENSOR_INFO_RANK 16
/** shape is known. */
#define MAX_TENSOR_INFO_SHAPE 32
/** dimensionNames are known. */
#define MAX_TENSOR_INFO_DIMENSION_NAMES 64
/** device is known. */
#define MAX_TENSOR_INFO_DEVICE 128

/** A report on an input, output, weight or value; what is not known is zero or NULL and missing in validMask. */
typedef struct MaxTensorInfo {
  /** Size of this structure; set by MAX_TENSOR_INFO_INIT. */
  size_t structSize;
  /** Fields that hold a value. */
  MaxTensorInfoMask validMask;
  /** Its name. */
  const char* name;
  /** The type in words: "float32[batch, 3]", "sequence of float32", "map from string to int64". */
  const char* typeName;
  /** What kind of value it is. */
  MaxValueKind kind;
  /** Element type; of a sequence or optional that of the tensors in it, of a map that of its values. */
  MaxDType dtype;
  /** Number of dimensions, or MAX_RANK_DYNAMIC. */
  int32_t rank;
  /** Zero. */
  int32_t reserved;
  /** `rank` numbers of elements, MAX_DIMENSION_DYNAMIC where a call chooses; NULL if there are none. */
  const int64_t* shape;
  /** `rank` names of dimensions that a call chooses: "batch", or what is known of one: "2*batch + 1". A NULL entry has
      none; values of graphs have names for what nothing is known of, too: "?7". Dimensions of equal name are equal in
      each call. NULL if there are no dimensions. */
  const char* const* dimensionNames;
  /** Where it is; NULL for files, and for values of graphs that are on the first device of their session. */
  MaxDevice* device;
} MaxTensorInfo;

/** Initial value of a MaxTensorInfo. */
#define MAX_TENSOR_INFO_INIT \
  { sizeof(MaxTensorInfo), 0, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL }

#ifdef __cplusplus
}
#endif

#endif
