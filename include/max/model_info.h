/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model_info.h
 * What a model file holds, without making it ready to run.
 *
 * Format, operator sets, operators, inputs and outputs as the file declares
 * them, and a drawing of the graph. Operators that the library does not support
 * are listed, not refused.
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

#include "max/dtype.h"
#include "max/status.h"
#include "max/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a model file holds; see maxModelInfoLoad. */
typedef struct MaxModelInfo MaxModelInfo;

/**
 * Reads what a model file holds without making it ready to run. Operators that are not supported are listed, not
 * refused.
 *
 * Thread-safe.
 *
 * @param[in] path  An ONNX file, or a folder that holds model.onnx.
 * @retval MAX_STATUS_NOT_FOUND  No file is there; the message says what was looked for.
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
 * Gets the name of the program that wrote the file; empty if it does not say.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetProducer(const MaxModelInfo* info, const char** outProducer);

/**
 * Gets the number of elements of all weights.
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
 * Gets the number of nodes that use an operator, those of subgraphs included.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOperatorNodeCount(const MaxModelInfo* info, int32_t index,
                                                                 int64_t* outCount);

/**
 * Gets the number of nodes whose operators are not supported.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetUnsupportedCount(const MaxModelInfo* info, int32_t* outCount);

/**
 * Gets the name of a node whose operator is not supported; may be empty.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetUnsupportedNode(const MaxModelInfo* info, int32_t index,
                                                               const char** outName);

/**
 * Gets the operator of a node that is not supported, with its domain unless it is ONNX's own.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetUnsupportedOperator(const MaxModelInfo* info, int32_t index,
                                                                   const char** outName);

/**
 * Gets the version of the operator set that a node that is not supported asks for.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such entry.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetUnsupportedVersion(const MaxModelInfo* info, int32_t index,
                                                                  int64_t* outVersion);

/**
 * Gets the number of inputs that the file declares, without those that are weights.
 *
 * Thread-safe. Known for models of files, supported or not.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetInputCount(const MaxModelInfo* info, int32_t* outCount);

/**
 * Gets the name of an input.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetInputName(const MaxModelInfo* info, int32_t index, const char** outName);

/**
 * Gets what kind of value an input is.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetInputKind(const MaxModelInfo* info, int32_t index,
                                                         MaxValueKind* outKind);

/**
 * Gets the element type of an input; MAX_DTYPE_INVALID if it is not known.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetInputDType(const MaxModelInfo* info, int32_t index, MaxDType* outDType);

/**
 * Gets the number of dimensions of an input, or MAX_RANK_DYNAMIC.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetInputRank(const MaxModelInfo* info, int32_t index, int32_t* outRank);

/**
 * Gets the dimensions of an input, as many as its rank; a dynamic one is MAX_DIMENSION_DYNAMIC.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetInputShape(const MaxModelInfo* info, int32_t index,
                                                          const int64_t** outShape);

/**
 * Gets the symbol name of a dynamic dimension of an input, for example "batch".
 *
 * Thread-safe. Borrowed from the object.
 *
 * @param[out] outName  NULL if the dimension has no name.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input or dimension.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetInputDimensionName(const MaxModelInfo* info, int32_t index,
                                                                  int32_t dimension, const char** outName);

/**
 * Gets the number of outputs that the file declares.
 *
 * Thread-safe. Known for models of files, supported or not.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOutputCount(const MaxModelInfo* info, int32_t* outCount);

/**
 * Gets the name of an output.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOutputName(const MaxModelInfo* info, int32_t index,
                                                          const char** outName);

/**
 * Gets what kind of value an output is.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOutputKind(const MaxModelInfo* info, int32_t index,
                                                          MaxValueKind* outKind);

/**
 * Gets the element type of an output; MAX_DTYPE_INVALID if it is not known.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOutputDType(const MaxModelInfo* info, int32_t index, MaxDType* outDType);

/**
 * Gets the number of dimensions of an output, or MAX_RANK_DYNAMIC.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOutputRank(const MaxModelInfo* info, int32_t index, int32_t* outRank);

/**
 * Gets the dimensions of an output, as many as its rank; a dynamic one is MAX_DIMENSION_DYNAMIC.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOutputShape(const MaxModelInfo* info, int32_t index,
                                                           const int64_t** outShape);

/**
 * Gets the symbol name of a dynamic dimension of an output, for example "batch".
 *
 * Thread-safe. Borrowed from the object.
 *
 * @param[out] outName  NULL if the dimension has no name.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output or dimension.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetOutputDimensionName(const MaxModelInfo* info, int32_t index,
                                                                   int32_t dimension, const char** outName);

/**
 * Gets a drawing of the graph as the file has it, in the DOT language of Graphviz.
 *
 * Thread-safe. Borrowed from the object.
 *
 * @retval MAX_STATUS_FAILED_PRECONDITION  The object is not one of maxModelInfoLoad.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelInfoGetGraph(const MaxModelInfo* info, const char** outDot);

#ifdef __cplusplus
}
#endif

#endif
