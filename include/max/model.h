/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model.h
 * Models: loaded once, executed many times, from many threads.
 *
 * A model is read from an ONNX file or compiled from a graph built in code. It
 * takes and gives buffers by position; names and types are its metadata. The
 * first call with new input shapes plans the work, later ones find the plan.
 *
 *     MaxBuffer* output = NULL;
 *     if (maxModelLoad(session, "model.onnx", NULL, &model) == MAX_STATUS_OK &&
 *         maxModelExecute(model, &input, 1, NULL, &output, 1) == MAX_STATUS_OK) puts("done");
 *     maxBufferRelease(output);
 *     maxModelRelease(model);
 */
#ifndef MAX_MODEL_H
#define MAX_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "max/buffer.h"
#include "max/device.h"
#include "max/dtype.h"
#include "max/graph.h"
#include "max/session.h"
#include "max/status.h"
#include "max/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A model that is ready to run. */
typedef struct MaxModel MaxModel;
/** What a model file holds; see maxModelInfoLoad. */
typedef struct MaxModelInfo MaxModelInfo;

/** What a model takes or gives. */
typedef int32_t MaxValueKind;

/** A tensor. */
#define MAX_VALUE_KIND_TENSOR ((MaxValueKind)0)
/** A sequence of values. */
#define MAX_VALUE_KIND_SEQUENCE ((MaxValueKind)1)
/** A value or nothing. */
#define MAX_VALUE_KIND_OPTIONAL ((MaxValueKind)2)
/** A map from keys to values. */
#define MAX_VALUE_KIND_MAP ((MaxValueKind)3)

/** The least precision that products of float32 may have. Where nothing faster exists, the next higher one is used. */
typedef int32_t MaxPrecision;

/** float32 throughout. */
#define MAX_PRECISION_HIGHEST ((MaxPrecision)0)
/** Products from two or three bfloat16 parts, about 1e-5 relative error. */
#define MAX_PRECISION_HIGH ((MaxPrecision)1)
/** bfloat16 products with float32 sums. */
#define MAX_PRECISION_MEDIUM ((MaxPrecision)2)

/** Options of maxModelLoad, maxModelLoadFromMemory and maxModelCompile. */
typedef struct MaxModelLoadOptions {
  /** Size of this structure; set by MAX_MODEL_LOAD_OPTIONS_INIT. */
  size_t structSize;
  /** Names of weights to replace, `weightCount` of them; NULL = none. */
  const char* const* weightNames;
  /** Host buffers that replace them, of equal dtype and shape; retained by the model, and not to be written any more.
   */
  MaxBuffer* const* weights;
  /** Number of weights to replace. */
  int32_t weightCount;
  /** Least precision of products. */
  MaxPrecision precision;
  /** Not 0 = the file is copied; otherwise a large file is mapped and must not shrink while the model lives. */
  int32_t copyWeights;
  /** Zero. */
  int32_t reserved;
} MaxModelLoadOptions;

/** Initial value of a MaxModelLoadOptions. */
#define MAX_MODEL_LOAD_OPTIONS_INIT \
  { sizeof(MaxModelLoadOptions), NULL, NULL, 0, MAX_PRECISION_HIGHEST, 0, 0 }

/** Options of maxModelExecute. */
typedef struct MaxModelExecuteOptions {
  /** Size of this structure; set by MAX_MODEL_EXECUTE_OPTIONS_INIT. */
  size_t structSize;
  /** Stream of the model's device that the call is ordered in; NULL = the device's default stream. */
  MaxStream* stream;
  /** One entry per output: a buffer to write the output into, NULL = make one; NULL = make all. */
  MaxBuffer* const* outputs;
} MaxModelExecuteOptions;

/** Initial value of a MaxModelExecuteOptions. */
#define MAX_MODEL_EXECUTE_OPTIONS_INIT \
  { sizeof(MaxModelExecuteOptions), NULL, NULL }

/**
 * Loads a model.
 *
 * Thread-safe. The session is retained.
 *
 * @param[in] path  An ONNX file, or a folder that holds model.onnx.
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_NOT_FOUND  No file is there, the message says what was looked for; or the model has no weight of a
 *     name in the options.
 * @retval MAX_STATUS_DATA_LOSS  The file is not an ONNX model or is damaged.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The model contradicts itself; the message names the node or tensor.
 * @retval MAX_STATUS_UNIMPLEMENTED  The model uses operators that are not supported; the message lists all of them.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelLoad(const MaxSession* session, const char* path,
                                             const MaxModelLoadOptions* options, MaxModel** outModel);

/**
 * Loads a model from the bytes of an ONNX file, which are copied. Weights in other files are refused.
 *
 * Thread-safe. The session is retained. Errors are those of maxModelLoad.
 *
 * @param[in] options  NULL = defaults.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelLoadFromMemory(const MaxSession* session, const void* data, size_t size,
                                                       const MaxModelLoadOptions* options, MaxModel** outModel);

/**
 * Makes a model from a graph built in code. The graph stays as it is.
 *
 * Thread-safe. The session is retained.
 *
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The graph has no outputs, or a weight has no contents.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelCompile(const MaxSession* session, const MaxGraph* graph,
                                                const MaxModelLoadOptions* options, MaxModel** outModel);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxModelRetain(const MaxModel* model);

/**
 * Drops a reference; NULL is allowed. Work on streams holds the model until it is done.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxModelRelease(const MaxModel* model);

/**
 * Gets the session that loaded the model.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetSession(const MaxModel* model, MaxSession** outSession);

/**
 * Gets the precision that products have: the one asked for, or the next higher one that this machine has.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetPrecision(const MaxModel* model, MaxPrecision* outPrecision);

/**
 * Gets the number of inputs.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInputCount(const MaxModel* model, int32_t* outCount);

/**
 * Gets the name of an input.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInputName(const MaxModel* model, int32_t index, const char** outName);

/**
 * Gets what kind of value an input is.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInputKind(const MaxModel* model, int32_t index, MaxValueKind* outKind);

/**
 * Gets the element type of an input.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInputDType(const MaxModel* model, int32_t index, MaxDType* outDType);

/**
 * Gets the number of dimensions of an input, or MAX_RANK_DYNAMIC.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInputRank(const MaxModel* model, int32_t index, int32_t* outRank);

/**
 * Gets the dimensions of an input, as many as its rank; a dynamic one is MAX_DIMENSION_DYNAMIC.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInputShape(const MaxModel* model, int32_t index, const int64_t** outShape);

/**
 * Gets the symbol name of a dynamic dimension of an input, for example "batch".
 *
 * Dimensions of equal name are equal in each call. Thread-safe. Borrowed from the model.
 *
 * @param[out] outName  NULL if the dimension has no name.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input or dimension.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInputDimensionName(const MaxModel* model, int32_t index, int32_t dimension,
                                                              const char** outName);

/**
 * Gets the device that an input must be on.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInputDevice(const MaxModel* model, int32_t index, MaxDevice** outDevice);

/**
 * Finds an input by name.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_NOT_FOUND  No input has this name; the message lists those there are.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelFindInput(const MaxModel* model, const char* name, int32_t* outIndex);

/**
 * Gets the number of outputs.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetOutputCount(const MaxModel* model, int32_t* outCount);

/**
 * Gets the name of an output.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetOutputName(const MaxModel* model, int32_t index, const char** outName);

/**
 * Gets what kind of value an output is.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetOutputKind(const MaxModel* model, int32_t index, MaxValueKind* outKind);

/**
 * Gets the element type of an output.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetOutputDType(const MaxModel* model, int32_t index, MaxDType* outDType);

/**
 * Gets the number of dimensions of an output, or MAX_RANK_DYNAMIC.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetOutputRank(const MaxModel* model, int32_t index, int32_t* outRank);

/**
 * Gets the dimensions of an output, as many as its rank; a dynamic one is MAX_DIMENSION_DYNAMIC.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetOutputShape(const MaxModel* model, int32_t index, const int64_t** outShape);

/**
 * Gets the symbol name of a dynamic dimension of an output, for example "batch".
 *
 * Dimensions of equal name are equal in each call. Thread-safe. Borrowed from the model.
 *
 * @param[out] outName  NULL if the dimension has no name.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output or dimension.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetOutputDimensionName(const MaxModel* model, int32_t index, int32_t dimension,
                                                               const char** outName);

/**
 * Gets the device that an output is on.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetOutputDevice(const MaxModel* model, int32_t index, MaxDevice** outDevice);

/**
 * Finds an output by name.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_NOT_FOUND  No output has this name; the message lists those there are.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelFindOutput(const MaxModel* model, const char* name, int32_t* outIndex);

/**
 * Runs the model.
 *
 * On the default stream the outputs are complete when the call returns. On a created stream the call returns once the
 * work is queued; inputs, outputs and model are retained until it is done, and a failure stays with the stream. Outputs
 * have their final shapes in either case, so a model whose shapes depend on values waits inside the call. Outputs never
 * share memory with inputs or each other. Thread-safe.
 *
 * @param[in] inputs  One buffer per input, in the model's order, contiguous, on the model's device.
 * @param[in] options  NULL = defaults.
 * @param[out] outOutputs  Room for one buffer per output; each is a new reference. All NULL on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The number, type, shape, layout or device of an input or of a given output is
 * wrong.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelExecute(const MaxModel* model, MaxBuffer* const* inputs, int32_t inputCount,
                                                const MaxModelExecuteOptions* options, MaxBuffer** outOutputs,
                                                int32_t outputCount);

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
 * Gets what the model's file or graph held.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInfo(const MaxModel* model, MaxModelInfo** outInfo);

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

#ifdef __cplusplus
}
#endif

#endif
