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
#include "max/cancellation.h"
#include "max/device.h"
#include "max/dtype.h"
#include "max/graph.h"
#include "max/model_info.h"
#include "max/session.h"
#include "max/status.h"
#include "max/stream.h"
#include "max/tensor_info.h"
#include "max/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A model that is ready to run. */
typedef struct MaxModel MaxModel;

/** The least precision that products of float32 may have. Where nothing faster exists, the next higher one is used. */
typedef int32_t MaxPrecision;

/** float32 throughout. */
#define MAX_PRECISION_HIGHEST 0
/** Products from two or three bfloat16 parts, about 1e-5 relative error. */
#define MAX_PRECISION_HIGH 1
/** bfloat16 products with float32 sums. */
#define MAX_PRECISION_MEDIUM 2

/**
 * Told how far a load is: `fraction` of the whole from 0 to 1, never falling, and what is being done.
 *
 * Called from the thread that loads, seldom enough to be drawn. It may call functions of this library, and must not
 * throw. `phase` is borrowed until it returns.
 *
 * @since 0.1
 */
typedef void (*MaxProgressCallback)(void* userData, double fraction, const char* phase);

/** Options of maxModelLoad, maxModelLoadFromMemory and maxModelCompile. */
typedef struct MaxModelLoadOptions {
  /** Size of this structure; set by MAX_MODEL_LOAD_OPTIONS_INIT. */
  size_t structSize;
  /** Names of weights to replace, `weightCount` of them; NULL = none. Their own data is not read, and may be missing.
   */
  const char* const* weightNames;
  /** Buffers that replace them, of equal dtype and shape, used where they lie if they are dense and in host memory;
      retained by the model, and not to be written any more. */
  MaxBuffer* const* weights;
  /** Number of weights to replace. */
  int32_t weightCount;
  /** Least precision of products. */
  MaxPrecision precision;
  /** Not 0 = the file is copied; otherwise a large file is mapped and must not shrink while the model lives. */
  int32_t copyWeights;
  /** Not 0 = names of weights to replace that the model does not have are ignored; otherwise they are NOT_FOUND. */
  int32_t ignoreUnknownWeights;
  /** Stops the load when it is cancelled; NULL = nothing does. */
  const MaxCancellation* cancellation;
  /** Nanoseconds from now on after which the load gives up; 0 = never. */
  int64_t timeoutNs;
  /** Told how far the load is; NULL = nobody. */
  MaxProgressCallback progress;
  /** Borrowed until the load is done. */
  void* progressUserData;
  /** Files of extensions to load before; see maxExtensionLoad. NULL = none. */
  const char* const* extensions;
  /** Number of extensions. */
  int32_t extensionCount;
  /** Zero. */
  int32_t reserved;
  /** A file of weights to replace, as maxWeightsLoad reads it; those in `weightNames` come first. NULL = none. */
  const char* weightsPath;
} MaxModelLoadOptions;

/** Initial value of a MaxModelLoadOptions. */
#define MAX_MODEL_LOAD_OPTIONS_INIT \
  { sizeof(MaxModelLoadOptions), NULL, NULL, 0, MAX_PRECISION_HIGHEST, 0, 0, NULL, 0, NULL, NULL, NULL, 0, 0, NULL }

/** Options of maxModelExecute. */
typedef struct MaxModelExecuteOptions {
  /** Size of this structure; set by MAX_MODEL_EXECUTE_OPTIONS_INIT. */
  size_t structSize;
  /** Stream of the model's device that the call is ordered in; NULL = the device's default stream. */
  MaxStream* stream;
  /** One entry per output: a buffer to write the output into, NULL = make one; NULL = make all. */
  MaxBuffer* const* outputs;
  /** Stops the call when it is cancelled; held until the work is done. NULL = nothing does. */
  const MaxCancellation* cancellation;
  /** Nanoseconds from now on after which the call gives up, the wait in a stream included; 0 = never. */
  int64_t timeoutNs;
} MaxModelExecuteOptions;

/** Initial value of a MaxModelExecuteOptions. */
#define MAX_MODEL_EXECUTE_OPTIONS_INIT \
  { sizeof(MaxModelExecuteOptions), NULL, NULL, NULL, 0 }

/** Fields of a MaxModelMemory that hold a value: a sum of MAX_MODEL_MEMORY_* numbers. */
typedef uint64_t MaxModelMemoryMask;

/** mappedWeights is known. */
#define MAX_MODEL_MEMORY_MAPPED_WEIGHTS 1
/** ownedWeights is known. */
#define MAX_MODEL_MEMORY_OWNED_WEIGHTS 2
/** packedWeights is known. */
#define MAX_MODEL_MEMORY_PACKED_WEIGHTS 4
/** plans is known. */
#define MAX_MODEL_MEMORY_PLANS 8
/** arenas is known. */
#define MAX_MODEL_MEMORY_ARENAS 16
/** outputs is known. */
#define MAX_MODEL_MEMORY_OUTPUTS 32
/** total is known. */
#define MAX_MODEL_MEMORY_TOTAL 64

/** What a model holds in memory, in bytes; an unknown field is zero and missing in validMask. See maxModelGetMemory. */
typedef struct MaxModelMemory {
  /** Size of this structure; set by MAX_MODEL_MEMORY_INIT. */
  size_t structSize;
  /** Fields that hold a value. */
  MaxModelMemoryMask validMask;
  /** Weights that are parts of mapped files; the system may drop their pages. */
  uint64_t mappedWeights;
  /** Weights and other constants in memory. */
  uint64_t ownedWeights;
  /** Weights packed for their kernels, and what else nodes prepared at load. */
  uint64_t packedWeights;
  /** Plans for the input shapes seen lately, about. */
  uint64_t plans;
  /** Memory for intermediate values, of calls that run and kept for the next ones. */
  uint64_t arenas;
  /** Released outputs whose memory waits for the next call. */
  uint64_t outputs;
  /** The sum of all. */
  uint64_t total;
} MaxModelMemory;

/** Initial value of a MaxModelMemory. */
#define MAX_MODEL_MEMORY_INIT \
  { sizeof(MaxModelMemory), 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Loads a model.
 *
 * Thread-safe. The session is retained.
 *
 * Models of one file share the mapped file and what is made of its weights, whatever their sessions.
 *
 * @param[in] path  An ONNX file, a compiled model of maxModelSave, or a folder that holds model.onnx or model.maxc.
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_NOT_FOUND  No file is there, the message says what was looked for; or the model has no weight of a
 *     name in the options, and ignoreUnknownWeights is 0.
 * @retval MAX_STATUS_DATA_LOSS  The file is not a model or is damaged.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The model contradicts itself; the message names the node or tensor.
 * @retval MAX_STATUS_UNIMPLEMENTED  The model uses operators that are not supported; the message lists all of them.
 * @retval MAX_STATUS_CANCELLED  The options' cancellation stopped the load.
 * @retval MAX_STATUS_DEADLINE_EXCEEDED  The options' time passed.
 * @retval MAX_STATUS_RESOURCE_EXHAUSTED  The session's memory limit would be passed.
 * @retval MAX_STATUS_ALREADY_EXISTS  An extension in the options defines an operator that is defined already.
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
MAX_API MAX_NODISCARD MaxStatus maxModelLoadFromMemory(const MaxSession* session, const void* data, size_t byteCount,
                                                       const MaxModelLoadOptions* options, MaxModel** outModel);

/**
 * Makes a model from a graph built in code. The graph stays as it is.
 *
 * The model holds the graph's constants and weights, without a copy, beside what it makes of them: it can be saved, and
 * its weights replaced.
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
 * Replaces weights of a loaded model by name, whatever the compiler has made of them.
 *
 * All or nothing: each call of maxModelExecute runs with the weights from before or with all of the new ones. Calls
 * that are under way keep the old ones, and so do captured calls. Weights replaced earlier stay replaced. What was
 * prepared of other weights is kept where they lie in a mapped file. Thread-safe.
 *
 * @param[in] names  Names of weights, `count` of them.
 * @param[in] weights  Buffers of equal dtype and shape; retained by the model, and not to be written any more.
 * @retval MAX_STATUS_NOT_FOUND  The model has no weight of a name; the message names it.
 * @retval MAX_STATUS_INVALID_ARGUMENT  A buffer is not of the weight's dtype and shape.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The model's own weights are not kept: more than 16 MB that were loaded from
 *     memory or copied by copyWeights; or the model's file has changed.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelReplaceWeights(MaxModel* model, const char* const* names,
                                                       MaxBuffer* const* weights, int32_t count);

/**
 * Writes the model, optimised, with its present weights, as a compiled model that maxModelLoad reads.
 *
 * The file appears whole or not at all. It suits every CPU; weights are packed when it is loaded. Thread-safe.
 *
 * @param[in] path  The file, which is made or replaced; such files are called NAME.maxc.
 * @retval MAX_STATUS_NOT_FOUND  The file's folder does not exist.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The model's weights are not kept; see maxModelReplaceWeights.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelSave(const MaxModel* model, const char* path);

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
 * Gets what is known of an input: name, type, dimensions, device.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInput(const MaxModel* model, int32_t index, MaxTensorInfo* outInfo);

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
 * Gets what is known of an output: name, type, dimensions, device.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetOutput(const MaxModel* model, int32_t index, MaxTensorInfo* outInfo);

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
 * @retval MAX_STATUS_CANCELLED  The options' cancellation stopped the call; given outputs may be half written.
 * @retval MAX_STATUS_DEADLINE_EXCEEDED  The same for the options' time.
 * @retval MAX_STATUS_RESOURCE_EXHAUSTED  The session's memory limit would be passed.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelExecute(const MaxModel* model, MaxBuffer* const* inputs, int32_t inputCount,
                                                const MaxModelExecuteOptions* options, MaxBuffer** outOutputs,
                                                int32_t outputCount);

/**
 * Runs the model on arrays of the host, without a buffer for each: input i is `data[i]`, of `dtypes[i]`, `ranks[i]` and
 * `shapes[i]`.
 *
 * As maxModelExecute. The arrays are borrowed until the call returns, so it waits until the work is done, on a created
 * stream after all that is queued there. Outputs never share the caller's memory. Thread-safe.
 *
 * @param[in] data  Dense, first element first; NULL for an input without elements. What is not aligned for its type is
 *     copied first.
 * @param[in] shapes  NULL entries are allowed where the rank is 0.
 * @param[in] options  NULL = defaults.
 * @param[out] outOutputs  Room for one buffer per output; each is a new reference. All NULL on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  As maxModelExecute; or an input holds strings, which have no bytes.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelExecuteHost(const MaxModel* model, const void* const* data,
                                                    const MaxDType* dtypes, const int32_t* ranks,
                                                    const int64_t* const* shapes, int32_t inputCount,
                                                    const MaxModelExecuteOptions* options, MaxBuffer** outOutputs,
                                                    int32_t outputCount);

/**
 * Runs the model with inputs and outputs by name: all inputs in any order, of the outputs those that are wanted, in the
 * order of their names. The whole model runs all the same.
 *
 * As maxModelExecute. Thread-safe.
 *
 * @param[in] inputNames  `inputCount` of them, for the entries of `inputs`.
 * @param[in] options  NULL = defaults; `outputs` has an entry for each of `outputNames`.
 * @param[in] outputNames  `outputCount` of them, for the entries of `outOutputs`.
 * @param[out] outOutputs  Each is a new reference. All NULL on failure.
 * @retval MAX_STATUS_NOT_FOUND  The model has no input or output of a name; the message lists those there are.
 * @retval MAX_STATUS_INVALID_ARGUMENT  As maxModelExecute; or an input is missing, or a name is there twice.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelExecuteByName(const MaxModel* model, const char* const* inputNames,
                                                      MaxBuffer* const* inputs, int32_t inputCount,
                                                      const MaxModelExecuteOptions* options,
                                                      const char* const* outputNames, MaxBuffer** outOutputs,
                                                      int32_t outputCount);

/**
 * Runs the model once and keeps the call under a key: its plan, bound to these inputs and outputs. maxModelReplay then
 * runs it again without any look-up or allocation; the program changes the contents of the inputs in between.
 *
 * The call runs at once, in the calling thread; on a created stream it waits for what is queued there. A key that is
 * captured with the same inputs already is replayed, and gives the same outputs. Inputs and outputs are retained until
 * maxModelForgetCaptured or the model's end. Thread-safe.
 *
 * @param[in] options  NULL = defaults.
 * @param[out] outOutputs  Room for one buffer per output; each is a new reference. All NULL on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  There are no inputs, or as maxModelExecute.
 * @retval MAX_STATUS_ALREADY_EXISTS  The key was captured with other inputs.
 * @retval MAX_STATUS_FAILED_PRECONDITION  What the model does depends on values; the message names the node.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelCapture(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs,
                                                int32_t inputCount, const MaxModelExecuteOptions* options,
                                                MaxBuffer** outOutputs, int32_t outputCount);

/**
 * Runs a captured call again: reads the captured inputs, writes the captured outputs.
 *
 * On a created stream the call returns once the work is queued. Weights and settings are those of the capture.
 * Thread-safe, but one replay of a key runs at a time.
 *
 * @param[in] inputs  The buffers that were captured.
 * @param[in] options  NULL = defaults; `outputs` must be NULL.
 * @retval MAX_STATUS_NOT_FOUND  Nothing was captured with this key.
 * @retval MAX_STATUS_INVALID_ARGUMENT  An input is not the one that was captured.
 * @retval MAX_STATUS_FAILED_PRECONDITION  Another thread replays the key.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelReplay(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs,
                                               int32_t inputCount, const MaxModelExecuteOptions* options);

/**
 * Runs the model as maxModelExecute does and compares the steps that ran with those that were captured. The captured
 * outputs are left alone.
 *
 * Waits until the work is done. Thread-safe.
 *
 * @param[in] inputs  The buffers that were captured.
 * @param[in] options  NULL = defaults; `outputs` must be NULL.
 * @retval MAX_STATUS_NOT_FOUND  Nothing was captured with this key.
 * @retval MAX_STATUS_INVALID_ARGUMENT  An input is not the one that was captured.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The steps differ, for example since settings changed; the message names the
 *     first that does. Or weights were replaced since.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelVerifyReplay(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs,
                                                     int32_t inputCount, const MaxModelExecuteOptions* options);

/**
 * Forgets a captured call. Replays that are queued still run.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_NOT_FOUND  Nothing was captured with this key.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelForgetCaptured(const MaxModel* model, uint64_t graphKey);

/**
 * Gets what the model holds in memory, by category. Weights that several models share count in each.
 *
 * Thread-safe. maxDeviceTrim gives back what is kept for later calls.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetMemory(const MaxModel* model, MaxModelMemory* outMemory);

/**
 * Runs a model on values: for inputs and outputs that are sequences, optionals or maps, beside tensors.
 *
 * As maxModelExecute; it waits inside the call. An optional input takes what it would hold, too.
 *
 * @param[in] inputs  One value per input, in the model's order.
 * @param[in] options  NULL = defaults. Given output buffers are for outputs that are tensors.
 * @param[out] outOutputs  Room for one value per output; each is a new reference. All NULL on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The number, type, shape, layout or device of an input or of a given output is
 * wrong.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelExecuteValues(const MaxModel* model, MaxValue* const* inputs,
                                                      int32_t inputCount, const MaxModelExecuteOptions* options,
                                                      MaxValue** outOutputs, int32_t outputCount);

/**
 * Gets what the model's file or graph held.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInfo(const MaxModel* model, MaxModelInfo** outInfo);

/**
 * Gets a drawing of the graph that a model runs, after the compiler's passes, in the DOT language of Graphviz.
 *
 * Thread-safe. Borrowed from the model; the text stays the same when weights are replaced.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetGraph(const MaxModel* model, const char** outDot);

#ifdef __cplusplus
}
#endif

#endif
