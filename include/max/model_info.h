/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model_info.h
 * What a model file contains, without preparing the model to run.
 *
 * Format, operator sets, operators, inputs and outputs as the file declares
 * them, and a drawing of the graph. Operators that the library does not support are listed; they are not an error.
 *
 *     MaxModelInfo* info = NULL;
 *     int32_t missing = 0;
 *     if (maxModelInfoLoad("model.onnx", &info) == MAX_STATUS_OK &&
 *         maxModelInfoGetUnsupportedCount(info, &missing) == MAX_STATUS_OK && missing == 0) puts("runs here");
 *     maxModelInfoRelease(info);
 */
#ifndef MAX_MODEL_INFO_H
#define MAX_MODEL_INFO_H

#include <stdint.h>

#include "max/status.h"
#include "max/tensor_info.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a model file contains; see maxModelInfoLoad. */
typedef struct MaxModelInfo MaxModelInfo;

/**
 * Reads what a model file contains, without preparing the model to run. Unsupported operators are listed; they are not
 * an error.
 *
 * Thread-safe.
 *
 * @param[in] path  An ONNX file, a compiled model, or a folder that contains model.onnx or model.maxc.
 * @retval MAX_STATUS_NOT_FOUND  The file does not exist; the message says which names were tried.
 * @retval MAX_STATUS_DATA_LOSS  The file is not an ONNX model or is damaged.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoLoad(const char* path, MaxModelInfo** outInfo);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxModelInfoRetain(const MaxModelInfo* info);

/**
 * Drops a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxModelInfoRelease(const MaxModelInfo* info);

/**
 * Gets the version of the file format; 0 for a graph built in code.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetIrVersion(const MaxModelInfo* info, int64_t* outVersion);

/**
 * Gets the name of the program that wrote the file; empty if unknown.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetProducer(const MaxModelInfo* info, const char** outProducer);

/**
 * Gets the total number of elements of all weights.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetParameterCount(const MaxModelInfo* info, int64_t* outCount);

/**
 * Gets the number of operator sets that the model uses.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOpsetCount(const MaxModelInfo* info, int32_t* outCount);

/**
 * Gets the domain of an operator set, "ai.onnx" for ONNX's own.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOpsetDomain(const MaxModelInfo* info, int32_t index,
                                                           const char** outDomain);

/**
 * Gets the version of an operator set.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOpsetVersion(const MaxModelInfo* info, int32_t index,
                                                            int64_t* outVersion);

/**
 * Gets the number of different operators.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOperatorCount(const MaxModelInfo* info, int32_t* outCount);

/**
 * Gets the name of an operator, for example "Conv" or "com.microsoft.Gelu". Names are sorted.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOperatorName(const MaxModelInfo* info, int32_t index,
                                                            const char** outName);

/**
 * Gets the number of nodes that use an operator, including those in subgraphs.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOperatorNodeCount(const MaxModelInfo* info, int32_t index,
                                                                 int64_t* outCount);

/**
 * Gets the number of nodes with unsupported operators.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetUnsupportedCount(const MaxModelInfo* info, int32_t* outCount);

/**
 * Gets the name of a node with an unsupported operator; may be empty.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetUnsupportedNode(const MaxModelInfo* info, int32_t index,
                                                               const char** outName);

/**
 * Gets the operator of an unsupported node, with its domain unless that is ONNX's own.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetUnsupportedOperator(const MaxModelInfo* info, int32_t index,
                                                                   const char** outName);

/**
 * Gets the version of the operator set that an unsupported node uses.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetUnsupportedVersion(const MaxModelInfo* info, int32_t index,
                                                                  int64_t* outVersion);

/**
 * Gets the number of inputs that the file declares, without weights.
 *
 * Thread-safe. Known for models from files, supported or not.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetInputCount(const MaxModelInfo* info, int32_t* outCount);

/**
 * Gets what is known about an input; files do not name devices.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetInput(const MaxModelInfo* info, int32_t index, MaxTensorInfo* outInfo);

/**
 * Gets the number of outputs that the file declares.
 *
 * Thread-safe. Known for models from files, supported or not.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOutputCount(const MaxModelInfo* info, int32_t* outCount);

/**
 * Gets what is known about an output; files do not name devices.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOutput(const MaxModelInfo* info, int32_t index, MaxTensorInfo* outInfo);

/**
 * Gets the number of weights: the named tensors that a load can replace.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetWeightCount(const MaxModelInfo* info, int32_t* outCount);

/**
 * Gets what is known about a weight. Weights are in the order of the file or graph.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such weight.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetWeight(const MaxModelInfo* info, int32_t index, MaxTensorInfo* outInfo);

/**
 * Gets a drawing of the graph as in the file, in the DOT language of Graphviz.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The object is not from maxModelInfoLoad.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetGraph(const MaxModelInfo* info, const char** outDot);

#ifdef __cplusplus
}
#endif

#endif
