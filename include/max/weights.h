/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file weights.h
 * Files of named tensors: weights for models whose own are missing or should be replaced.
 *
 * The tensors of a .safetensors file or a ".max" checkpoint become read-only host buffers with names, as load options
 * and maxModelReplaceWeights take them. Large files are mapped, not read, and must not shrink while one of their
 * buffers exists.
 *
 *     MaxWeights* weights = NULL;
 *     int32_t index = 0;
 *     MaxBuffer* buffer = NULL;
 *     if (maxWeightsLoad("model.safetensors", &weights) == MAX_STATUS_OK &&
 *         maxWeightsFind(weights, "encoder.weight", &index) == MAX_STATUS_OK &&
 *         maxWeightsGetBuffer(weights, index, &buffer) == MAX_STATUS_OK) puts("found");
 *     maxWeightsRelease(weights);
 */
#ifndef MAX_WEIGHTS_H
#define MAX_WEIGHTS_H

#include <stdint.h>

#include "max/buffer.h"
#include "max/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The tensors of a file, by name. */
typedef struct MaxWeights MaxWeights;

/**
 * Opens a .safetensors file or a ".max" checkpoint.
 *
 * Thread-safe. Models of the same large file share one mapping of it.
 *
 * @retval MAX_STATUS_NOT_FOUND  The file does not exist.
 * @retval MAX_STATUS_DATA_LOSS  The file has neither format, or is damaged; the message names the tensor.
 * @retval MAX_STATUS_UNIMPLEMENTED  A tensor has an element type that this library does not support.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxWeightsLoad(const char* path, MaxWeights** outWeights);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxWeightsRetain(const MaxWeights* weights);

/**
 * Drops a reference; NULL is allowed. Buffers that were retained stay.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxWeightsRelease(const MaxWeights* weights);

/**
 * Gets the number of tensors.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxWeightsGetCount(const MaxWeights* weights, int32_t* outCount);

/**
 * Gets the name of a tensor; names are sorted.
 *
 * Thread-safe. Borrowed from the weights.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such tensor.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxWeightsGetName(const MaxWeights* weights, int32_t index, const char** outName);

/**
 * Gets a tensor as a read-only host buffer that shares the file's memory.
 *
 * Thread-safe. Borrowed from the weights.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such tensor.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxWeightsGetBuffer(const MaxWeights* weights, int32_t index, MaxBuffer** outBuffer);

/**
 * Finds a tensor by name.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_NOT_FOUND  No tensor has this name.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxWeightsFind(const MaxWeights* weights, const char* name, int32_t* outIndex);

#ifdef __cplusplus
}
#endif

#endif
