/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model.h
 * Models: loaded once, executed many times, from any number of threads.
 *
 * A model is read from an ONNX file or compiled from a graph built in code. Its inputs and outputs are buffers, by
 * position; their names and types are metadata. The first call with new input shapes plans the work; later calls reuse
 * the plan. If the shapes of all inputs are known, the load does so.
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

/** Minimum precision of float32 products. If this machine has nothing faster at it, the next higher one is used. */
typedef int32_t MaxPrecision;

/** float32 throughout. */
#define MAX_PRECISION_HIGHEST 0
/** Products of factors in two bfloat16 parts, within 2^-15 of them; of tf32 on accelerators. */
#define MAX_PRECISION_HIGH 1
/** bfloat16 products with float32 sums; products with weights of few bits (MatMulNBits) take bytes. */
#define MAX_PRECISION_MEDIUM 2

/**
 * Reports the progress of a load: `fraction` rises from 0 to 1, and `phase` says what is being done.
 *
 * Called from the loading thread, rarely enough to redraw a progress bar each time. It may call functions of this
 * library and must not throw. `phase` is borrowed until it returns.
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
  /** Buffers that replace them, of equal dtype and shape, used without a copy if dense and in host memory;
      retained by the model, and must no longer be written. */
  MaxBuffer* const* weights;
  /** Number of weights to replace. */
  int32_t weightCount;
  /** Minimum precision of products. */
  MaxPrecision precision;
  /** Not 0 = the file is copied; otherwise a large file is mapped and must not shrink while the model exists. */
  int32_t copyWeights;
  /** Not 0 = ignore weights in weightNames that the model does not have; otherwise the load fails with NOT_FOUND. */
  int32_t ignoreUnknownWeights;
  /** Stops the load when it is cancelled; NULL = none. */
  const MaxCancellation* cancellation;
  /** Time limit of the load in nanoseconds; 0 = no limit. */
  int64_t timeoutNs;
  /** Reports progress; NULL = none. */
  MaxProgressCallback progress;
  /** First argument of `progress`; borrowed until the load is done. */
  void* progressUserData;
  /** Files of extensions to load first; see maxExtensionLoad. NULL = none. */
  const char* const* extensions;
  /** Number of extensions. */
  int32_t extensionCount;
  /** Zero. */
  int32_t reserved;
  /** A file of replacement weights, as maxWeightsLoad reads it; those in `weightNames` take precedence. NULL = none. */
  const char* weightsPath;
} MaxModelLoadOptions;

/** Initial value of a MaxModelLoadOptions. */
#define MAX_MODEL_LOAD_OPTIONS_INIT \
  { sizeof(MaxModelLoadOptions), NULL, NULL, 0, MAX_PRECISION_HIGHEST, 0, 0, NULL, 0, NULL, NULL, NULL, 0, 0, NULL }

/** Options of maxModelExecute. */
typedef struct MaxModelExecuteOptions {
  /** Size of this structure; set by MAX_MODEL_EXECUTE_OPTIONS_INIT. */
  size_t structSize;
  /** Stream of the model's device that the call runs on; NULL = the device's default stream. */
  MaxStream* stream;
  /** One entry per output: a buffer to write to, NULL = allocate one; NULL = allocate all. */
  MaxBuffer* const* outputs;
  /** Stops the call when it is cancelled; retained until the work is done. NULL = none. */
  const MaxCancellation* cancellation;
  /** Time limit of the call in nanoseconds, including time queued on a stream; 0 = no limit. */
  int64_t timeoutNs;
} MaxModelExecuteOptions;

/** Initial value of a MaxModelExecuteOptions. */
#define MAX_MODEL_EXECUTE_OPTIONS_INIT \
  { sizeof(MaxModelExecuteOptions), NULL, NULL, NULL, 0 }

/** Valid fields of a MaxModelMemory: a sum of MAX_MODEL_MEMORY_* values. */
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

/** Memory that a model holds, in bytes; an unknown field is zero and missing in validMask. See maxModelGetMemory. */
typedef struct MaxModelMemory {
  /** Size of this structure; set by MAX_MODEL_MEMORY_INIT. */
  size_t structSize;
  /** Fields that are known. */
  MaxModelMemoryMask validMask;
  /** Weights in mapped files; the system may drop their pages. */
  uint64_t mappedWeights;
  /** Weights and other constants in memory. */
  uint64_t ownedWeights;
  /** Weights packed for their kernels, and other data that nodes prepared at load. */
  uint64_t packedWeights;
  /** Plans for recent input shapes, approximately. */
  uint64_t plans;
  /** Memory for intermediate values, in use or kept for later calls. */
  uint64_t arenas;
  /** Memory of released outputs, kept for later calls. */
  uint64_t outputs;
  /** The sum of the above. */
  uint64_t total;
} MaxModelMemory;

/** Initial value of a MaxModelMemory. */
#define MAX_MODEL_MEMORY_INIT \
  { sizeof(MaxModelMemory), 0, 0, 0, 0, 0, 0, 0, 0 }

/** Valid fields of a MaxModelDeviceMemory: a sum of MAX_MODEL_DEVICE_MEMORY_* values. */
typedef uint64_t MaxModelDeviceMemoryMask;

/** MaxModelDeviceMemory::weights. */
#define MAX_MODEL_DEVICE_MEMORY_WEIGHTS 1
/** MaxModelDeviceMemory::arenas. */
#define MAX_MODEL_DEVICE_MEMORY_ARENAS 2
/** MaxModelDeviceMemory::code. */
#define MAX_MODEL_DEVICE_MEMORY_CODE 4
/** MaxModelDeviceMemory::total. */
#define MAX_MODEL_DEVICE_MEMORY_TOTAL 8

/** Memory that a model holds on one device, in bytes. See maxModelGetDeviceMemory. */
typedef struct MaxModelDeviceMemory {
  /** Size of this structure; set by MAX_MODEL_DEVICE_MEMORY_INIT. */
  size_t structSize;
  /** Fields that are known. */
  MaxModelDeviceMemoryMask validMask;
  /** Weights, other constants and what nodes prepared at load; on the host those in mapped files, too. */
  uint64_t weights;
  /** Memory for intermediate values, in use or kept for later calls; page-locked memory counts for the host. */
  uint64_t arenas;
  /** Code of the kernels that the model was compiled to; the driver may take more for it. 0 for the host. */
  uint64_t code;
  /** The sum of the above. */
  uint64_t total;
} MaxModelDeviceMemory;

/** Initial value of a MaxModelDeviceMemory. */
#define MAX_MODEL_DEVICE_MEMORY_INIT \
  { sizeof(MaxModelDeviceMemory), 0, 0, 0, 0, 0 }

/**
 * Loads a model.
 *
 * Thread-safe. The session is retained.
 *
 * Models of the same file share the mapped file and its prepared weights, even across sessions.
 *
 * @param[in] path  An ONNX file, a compiled model from maxModelSave, or a folder that contains model.onnx or
 *     model.maxc.
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_NOT_FOUND  The file does not exist; the message says which names were tried. Or the model does not
 *     have a weight in the options, and ignoreUnknownWeights is 0.
 * @retval MAX_STATUS_DATA_LOSS  The file is not a model, or is damaged.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The model is inconsistent; the message names the node or tensor.
 * @retval MAX_STATUS_UNIMPLEMENTED  The model uses unsupported operators; the message lists them all.
 * @retval MAX_STATUS_CANCELLED  The load was cancelled through the options.
 * @retval MAX_STATUS_DEADLINE_EXCEEDED  The time limit in the options passed.
 * @retval MAX_STATUS_RESOURCE_EXHAUSTED  The session's memory limit would be exceeded.
 * @retval MAX_STATUS_ALREADY_EXISTS  An extension in the options defines an operator that is already defined.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelLoad(const MaxSession* session, const char* path,
                                             const MaxModelLoadOptions* options, MaxModel** outModel);

/**
 * Loads a model from the bytes of an ONNX file, which are copied. Weights in external files are rejected.
 *
 * Thread-safe. The session is retained. Fails like maxModelLoad.
 *
 * @param[in] options  NULL = defaults.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelLoadFromMemory(const MaxSession* session, const void* data, size_t byteCount,
                                                       const MaxModelLoadOptions* options, MaxModel** outModel);

/**
 * Compiles a graph built in code to a model. The graph does not change.
 *
 * The model holds the graph's constants and weights, without a copy, beside what it prepares from them: it can be
 * saved, and its weights can be replaced.
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
 * Replaces weights of a loaded model by name, even weights that the compiler has transformed.
 *
 * All or nothing: each call of maxModelExecute runs with all the old weights or all the new ones. Calls in progress and
 * captured calls keep the old weights. Weights replaced earlier stay replaced. Prepared data of other weights is kept
 * if they are in a mapped file. Thread-safe.
 *
 * @param[in] names  Names of weights, `count` of them.
 * @param[in] weights  Buffers of equal dtype and shape; retained by the model, and must no longer be written.
 * @retval MAX_STATUS_NOT_FOUND  The model has no weight with one of the names; the message says which.
 * @retval MAX_STATUS_INVALID_ARGUMENT  A buffer does not have the weight's dtype and shape.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The model's own weights were not kept, because they exceed 16 MB and were
 *     loaded from memory or with copyWeights; or the model's file has changed.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelReplaceWeights(MaxModel* model, const char* const* names,
                                                       MaxBuffer* const* weights, int32_t count);

/**
 * Writes the optimised model with its current weights, as a compiled model that maxModelLoad reads.
 *
 * The file appears whole or not at all. It works on every CPU; weights are packed at load. Thread-safe.
 *
 * @param[in] path  The file, which is created or replaced; such files are usually called NAME.maxc.
 * @retval MAX_STATUS_NOT_FOUND  The file's folder does not exist.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The model's weights were not kept; see maxModelReplaceWeights.
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
 * Drops a reference; NULL is allowed. Queued work holds the model until it is done.
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
 * Gets the precision of products: the requested one, or the next higher one that this machine has.
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
 * Gets what is known about an input: name, type, dimensions, device.
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
 * @retval MAX_STATUS_NOT_FOUND  No input has this name; the message lists the inputs.
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
 * Gets what is known about an output: name, type, dimensions, device.
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
 * @retval MAX_STATUS_NOT_FOUND  No output has this name; the message lists the outputs.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelFindOutput(const MaxModel* model, const char* name, int32_t* outIndex);

/**
 * Runs the model.
 *
 * On the host's default stream the outputs are complete when the call returns. On a created stream, and on any stream
 * of an accelerator, the call returns once the work is queued; inputs, outputs and model are retained until it is
 * done, and a failure stays with the stream. In both cases outputs have their final shapes, so a model whose shapes
 * depend on values waits inside the call, as does one with steps on both an accelerator and the host. Outputs never
 * share memory with inputs or each other. Thread-safe.
 *
 * @param[in] inputs  One buffer per input, in the model's order, contiguous, on the model's device.
 * @param[in] options  NULL = defaults.
 * @param[out] outOutputs  Room for one buffer per output; each is a new reference. All NULL on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The number, type, shape, layout or device of an input or of an output buffer in
 *     the options is wrong.
 * @retval MAX_STATUS_CANCELLED  The call was cancelled through the options; output buffers in the options may be partly
 *     written.
 * @retval MAX_STATUS_DEADLINE_EXCEEDED  The same for the time limit in the options.
 * @retval MAX_STATUS_RESOURCE_EXHAUSTED  The session's memory limit would be exceeded.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelExecute(const MaxModel* model, MaxBuffer* const* inputs, int32_t inputCount,
                                                const MaxModelExecuteOptions* options, MaxBuffer** outOutputs,
                                                int32_t outputCount);

/**
 * Runs the model on host arrays, without buffers: input i is `data[i]`, with `dtypes[i]`, `ranks[i]` and `shapes[i]`.
 *
 * Like maxModelExecute. The arrays are borrowed until the call returns, so it waits until the work is done; on a
 * created stream, after everything queued there. Outputs never share the caller's memory. Thread-safe.
 *
 * @param[in] data  Dense, row-major; NULL for an input without elements. Data that is not aligned for its type is
 *     copied first.
 * @param[in] shapes  An entry may be NULL if its rank is 0.
 * @param[in] options  NULL = defaults.
 * @param[out] outOutputs  Room for one buffer per output; each is a new reference. All NULL on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  As for maxModelExecute; or an input holds strings, which are not arrays of
 *     bytes.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelExecuteHost(const MaxModel* model, const void* const* data,
                                                    const MaxDType* dtypes, const int32_t* ranks,
                                                    const int64_t* const* shapes, int32_t inputCount,
                                                    const MaxModelExecuteOptions* options, MaxBuffer** outOutputs,
                                                    int32_t outputCount);

/**
 * Runs the model with inputs and outputs by name: all inputs in any order, and the wanted outputs in the order of
 * `outputNames`. The whole model runs in any case.
 *
 * Like maxModelExecute. Thread-safe.
 *
 * @param[in] inputNames  `inputCount` names, for the entries of `inputs`.
 * @param[in] options  NULL = defaults; `outputs` has an entry for each of `outputNames`.
 * @param[in] outputNames  `outputCount` names, for the entries of `outOutputs`.
 * @param[out] outOutputs  Each is a new reference. All NULL on failure.
 * @retval MAX_STATUS_NOT_FOUND  The model has no input or output with one of the names; the message lists them all.
 * @retval MAX_STATUS_INVALID_ARGUMENT  As for maxModelExecute; or an input is missing, or a name occurs twice.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelExecuteByName(const MaxModel* model, const char* const* inputNames,
                                                      MaxBuffer* const* inputs, int32_t inputCount,
                                                      const MaxModelExecuteOptions* options,
                                                      const char* const* outputNames, MaxBuffer** outOutputs,
                                                      int32_t outputCount);

/**
 * Runs the model once and keeps the call under a key: its plan, bound to these inputs and outputs. maxModelReplay then
 * runs it again without any lookup or allocation; between replays the program changes the contents of the inputs.
 *
 * On the host the call runs at once, in the calling thread; on a created stream it first waits for the work queued
 * there. On an accelerator it becomes a graph of the driver, which repeats all of it with one launch, and the first
 * launch is queued. A key already captured with the same inputs is replayed and gives the same outputs. Inputs and
 * outputs are retained until maxModelForgetCaptured or the end of the model. Thread-safe.
 *
 * @param[in] options  NULL = defaults.
 * @param[out] outOutputs  Room for one buffer per output; each is a new reference. All NULL on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  There are no inputs, or as for maxModelExecute.
 * @retval MAX_STATUS_ALREADY_EXISTS  The key was captured with other inputs.
 * @retval MAX_STATUS_FAILED_PRECONDITION  What the model executes depends on values, or a node of a model on an
 *     accelerator runs on the host or draws new random numbers; the message names the node.
 * @retval MAX_STATUS_UNIMPLEMENTED  The model has values that are not numbers, or the driver has no graphs.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelCapture(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs,
                                                int32_t inputCount, const MaxModelExecuteOptions* options,
                                                MaxBuffer** outOutputs, int32_t outputCount);

/**
 * Runs a captured call again: reads the captured inputs, writes the captured outputs.
 *
 * On a created stream, and on an accelerator, the call returns once the work is queued. Weights and settings are those
 * of the capture.
 * Thread-safe, but one replay of a key runs at a time.
 *
 * @param[in] inputs  The captured buffers.
 * @param[in] options  NULL = defaults; `outputs` must be NULL.
 * @retval MAX_STATUS_NOT_FOUND  Nothing was captured with this key.
 * @retval MAX_STATUS_INVALID_ARGUMENT  An input is not the one that was captured.
 * @retval MAX_STATUS_FAILED_PRECONDITION  Another thread is replaying the key.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelReplay(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs,
                                               int32_t inputCount, const MaxModelExecuteOptions* options);

/**
 * Runs the model like maxModelExecute and compares the steps that ran with the captured ones. The captured outputs do
 * not change.
 *
 * Waits until the work is done. Thread-safe.
 *
 * @param[in] inputs  The captured buffers.
 * @param[in] options  NULL = defaults; `outputs` must be NULL.
 * @retval MAX_STATUS_NOT_FOUND  Nothing was captured with this key.
 * @retval MAX_STATUS_INVALID_ARGUMENT  An input is not the one that was captured.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The steps differ, for example because settings changed; the message names the
 *     first difference. Or weights were replaced since the capture.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelVerifyReplay(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs,
                                                     int32_t inputCount, const MaxModelExecuteOptions* options);

/**
 * Forgets a captured call. Queued replays still run.
 *
 * Thread-safe.
 *
 * @retval MAX_STATUS_NOT_FOUND  Nothing was captured with this key.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelForgetCaptured(const MaxModel* model, uint64_t graphKey);

/**
 * Gets the memory that the model holds, by category. Weights that several models share count in each.
 *
 * Thread-safe. maxDeviceTrim frees what is kept for later calls.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetMemory(const MaxModel* model, MaxModelMemory* outMemory);

/**
 * Gets the memory that the model holds on one device of its session, or on the host. Weights and code that several
 * models share count in each.
 *
 * Thread-safe.
 *
 * @param[in] device  NULL = the first device of the session.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The session does not have the device.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetDeviceMemory(const MaxModel* model, const MaxDevice* device,
                                                        MaxModelDeviceMemory* outMemory);

/**
 * Runs a model on values, for inputs and outputs that are sequences, optionals or maps as well as tensors.
 *
 * Like maxModelExecute, but always waits inside the call. For an optional input, the value that it would hold is
 * accepted too.
 *
 * @param[in] inputs  One value per input, in the model's order.
 * @param[in] options  NULL = defaults. Output buffers can only be set for outputs that are tensors.
 * @param[out] outOutputs  Room for one value per output; each is a new reference. All NULL on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The number, type, shape, layout or device of an input or of an output buffer in
 *     the options is wrong.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelExecuteValues(const MaxModel* model, MaxValue* const* inputs,
                                                      int32_t inputCount, const MaxModelExecuteOptions* options,
                                                      MaxValue** outOutputs, int32_t outputCount);

/**
 * Gets what the model's file or graph contained.
 *
 * Thread-safe. Borrowed from the model.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetInfo(const MaxModel* model, MaxModelInfo** outInfo);

/**
 * Gets a drawing of the graph that a model runs, after the compiler's passes, in the DOT language of Graphviz.
 *
 * Thread-safe. Borrowed from the model; replacing weights does not change the text.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxModelGetGraph(const MaxModel* model, const char** outDot);

#ifdef __cplusplus
}
#endif

#endif
