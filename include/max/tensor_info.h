/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tensor_info.h
 * What is known about a tensor before it exists: inputs, outputs and weights of models, and values of graphs.
 *
 * One report instead of a function for each property. Its pointers are borrowed from the object that filled it.
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

/** A dimension that each call chooses. */
#define MAX_DIMENSION_DYNAMIC -1
/** The number of dimensions is unknown before a call. */
#define MAX_RANK_DYNAMIC -1

/** Valid fields of a MaxTensorInfo: a sum of MAX_TENSOR_INFO_* values. */
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
/** dimensionNames is known. */
#define MAX_TENSOR_INFO_DIMENSION_NAMES 64
/** device is known. */
#define MAX_TENSOR_INFO_DEVICE 128

/** A report on an input, output, weight or value; an unknown field is zero or NULL and missing in validMask. */
typedef struct MaxTensorInfo {
  /** Size of this structure; set by MAX_TENSOR_INFO_INIT. */
  size_t structSize;
  /** Fields that are known. */
  MaxTensorInfoMask validMask;
  /** Name. */
  const char* name;
  /** Type as text: "float32[batch, 3]", "sequence of float32", "map from string to int64". */
  const char* typeName;
  /** Kind of value. */
  MaxValueKind kind;
  /** Element type; of the tensors in a sequence or optional, or of the values in a map. */
  MaxDType dtype;
  /** Number of dimensions, or MAX_RANK_DYNAMIC. */
  int32_t rank;
  /** Zero. */
  int32_t reserved;
  /** `rank` dimensions, MAX_DIMENSION_DYNAMIC if a call chooses; NULL if there are none. */
  const int64_t* shape;
  /** `rank` names of dimensions that a call chooses: "batch", or an expression: "2*batch + 1"; in graphs, also "?7" if
      nothing is known. NULL entry = no name. Dimensions with equal names are equal in each call. NULL if there are no
      dimensions. */
  const char* const* dimensionNames;
  /** Device; NULL for files, and for values of graphs that are on the first device of their session. */
  MaxDevice* device;
} MaxTensorInfo;

/** Initial value of a MaxTensorInfo. */
#define MAX_TENSOR_INFO_INIT \
  { sizeof(MaxTensorInfo), 0, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL }

#ifdef __cplusplus
}
#endif

#endif
