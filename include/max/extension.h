/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file extension.h
 * Extensions: custom operators for ONNX models and for graphs built in code.
 *
 * An extension is a shared library with one function, maxExtensionGetTable. It returns a table of operators: their
 * names, their numbers of inputs and outputs, and functions that infer the outputs' shapes and compute the outputs. The
 * library links to libmax. Extensions belong to the process: all sessions and graphs can use their operators, and they
 * stay until the process ends. docs/adding_an_operator_library.md has a complete example.
 *
 *     static const MaxOperator scale = {.structSize = sizeof(MaxOperator), .domain = "example", .name = "Scale",
 *                                       .types = "T->T; T=float32", .attributes = "factor=f", .minInputs = 1,
 *                                       .maxInputs = 1, .minOutputs = 1, .maxOutputs = 1, .infer = inferScale,
 *                                       .execute = executeScale};
 *     if (maxExtensionLoad("libscale.so") == MAX_STATUS_OK) puts("models may use example.Scale");
 */
#ifndef MAX_EXTENSION_H
#define MAX_EXTENSION_H

#include <stddef.h>
#include <stdint.h>

#include "max/device.h"
#include "max/dtype.h"
#include "max/graph.h"
#include "max/status.h"
#include "max/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the interface between this library and extensions; see MaxExtensionTable::abiVersion. */
#define MAX_EXTENSION_ABI_VERSION 1
/** Marks the one function that an extension exports; see maxExtensionGetTable. */
#define MAX_EXTENSION_API MAX_API
/** For MaxOperator::maxInputs and maxOutputs: any number; the last type of the signature repeats. */
#define MAX_OPERATOR_COUNT_ANY -1

/** A node of a graph, as its operator's functions see it; borrowed until they return. */
typedef struct MaxOperatorNode MaxOperatorNode;
/** What is known about a node's inputs, and what its operator sets about the outputs; borrowed like the node. */
typedef struct MaxShapeContext MaxShapeContext;

/** Properties of operators, joined with |. */
typedef int32_t MaxOperatorTraits;

/** Outputs and their shapes depend only on inputs and attributes. */
#define MAX_OPERATOR_TRAITS_NONE 0
/** Equal calls may give different results (random numbers, side effects): never merged or computed at load. */
#define MAX_OPERATOR_TRAITS_RANDOM 1
/** Output shapes are known only at run time: `execute` allocates outputs with maxOperatorCallAllocateOutput. */
#define MAX_OPERATOR_TRAITS_DATA_DEPENDENT 2

/** One run of an operator. All pointers are borrowed until `execute` returns. */
typedef struct MaxOperatorCall {
  /** Size of this structure in the calling library. */
  size_t structSize;
  /** Contents of the inputs, dense and row-major; NULL = omitted, or without elements. */
  const void* const* inputs;
  /** Element types of the inputs; MAX_DTYPE_INVALID = omitted. */
  const MaxDType* inputDTypes;
  /** Numbers of dimensions of the inputs. */
  const int32_t* inputRanks;
  /** Dimensions of the inputs. */
  const int64_t* const* inputShapes;
  /** Numbers of elements of the inputs. */
  const int64_t* inputElementCounts;
  /** Memory of the outputs, to be written completely; NULL = not used, or without elements. */
  void* const* outputs;
  /** Element types of the outputs; MAX_DTYPE_INVALID = not used. */
  const MaxDType* outputDTypes;
  /** Numbers of dimensions of the outputs; MAX_RANK_DYNAMIC = `execute` allocates it. */
  const int32_t* outputRanks;
  /** Dimensions of the outputs. */
  const int64_t* const* outputShapes;
  /** Numbers of elements of the outputs. */
  const int64_t* outputElementCounts;
  /** Number of inputs. */
  int32_t inputCount;
  /** Number of outputs. */
  int32_t outputCount;
  /** Scratch memory that `infer` requested, 64-byte aligned; its contents are undefined. */
  void* scratch;
  /** Bytes of `scratch`. */
  size_t scratchSize;
  /** Maximum number of threads that maxOperatorCallParallelFor uses. */
  int32_t lanes;
  /** Zero. */
  int32_t reserved;
  /** The device that the operator runs on and that holds its inputs and outputs: the host, in this version. */
  MaxDevice* device;
  /**
   * The stream that the operator runs on, for kernels (maxKernelLaunch, with the pointers above as arguments), copies
   * and other calls of a device. Work queued there runs after the inputs are ready and before the outputs are read;
   * `execute` need not wait for it.
   */
  MaxStream* stream;
} MaxOperatorCall;

/** Initial value of a MaxOperatorCall, for tests that call such functions themselves. */
#define MAX_OPERATOR_CALL_INIT                                                                                      \
  {                                                                                                                 \
    sizeof(MaxOperatorCall), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, 0, 0, 0, NULL, \
        NULL                                                                                                        \
  }

/**
 * Sets the types and shapes of a node's outputs, as far as they are known, with the functions maxShapeContextSet*.
 *
 * Called while a graph is built, when some dimensions may not be known yet, and for each set of input shapes, with all
 * dimensions known; it must then set all dimensions of the outputs. Called from any thread, and from several at a time.
 *
 * @return MAX_STATUS_OK, or an error if the node is not valid; see maxExtensionFail.
 * @since 0.1
 */
typedef MaxStatus (*MaxOperatorInferFunction)(void* userData, const MaxOperatorNode* node, MaxShapeContext* context);

/**
 * Creates state that a node's calls share: tables, packed constants. Called when a model is loaded, and possibly again
 * later, from any thread, and for several nodes at a time.
 *
 * @param[out] outState  Passed to `execute` and finally to `destroy`; may stay NULL.
 * @since 0.1
 */
typedef MaxStatus (*MaxOperatorPrepareFunction)(void* userData, const MaxOperatorNode* node, void** outState);

/**
 * Frees a state that is not NULL. Called when the model is released, from any thread.
 *
 * @since 0.1
 */
typedef void (*MaxOperatorDestroyFunction)(void* userData, void* state);

/**
 * Computes the outputs of a node. Called from any thread, and from several at a time with the same state.
 *
 * @param[in] state  From `prepare`; NULL if there is none.
 * @return MAX_STATUS_OK, or an error if the call fails; see maxExtensionFail.
 * @since 0.1
 */
typedef MaxStatus (*MaxOperatorExecuteFunction)(void* userData, const MaxOperatorNode* node, void* state,
                                                const MaxOperatorCall* call);

/**
 * The body of maxOperatorCallParallelFor: processes [begin, end). `lane` is below MaxOperatorCall::lanes and differs
 * between bodies that run at the same time.
 *
 * @since 0.1
 */
typedef void (*MaxOperatorLoopFunction)(void* userData, int64_t begin, int64_t end, int32_t lane);

/** An operator of an extension. Everything it points to must stay valid until the process ends. */
typedef struct MaxOperator {
  /** Size of this structure; set by MAX_OPERATOR_INIT. */
  size_t structSize;
  /** Domain, as written in models, for example "com.example"; not empty, nor one of ONNX's, nor "max". */
  const char* domain;
  /** Name, as written in models. */
  const char* name;
  /**
   * Element types as "inputs -> outputs; constraints", for example "T,I->T; T=float32|float16; I=index". A letter
   * stands for the same type everywhere. Classes: any, number (no bool), float, integer, signed, unsigned, bool, index
   * (int32, int64), and each name of maxDTypeGetName, joined by '|'. A trailing "..." repeats the last input or output.
   * "*" as an output: `infer` sets the type. NULL = any inputs, and `infer` sets all output types.
   */
  const char* types;
  /**
   * Names and types of attributes, for example "alpha=f axes=I"; i, f, s, t = int, float, string, tensor; I, F, S =
   * lists of int, float, string. Graphs built in code must not set others. NULL = any.
   */
  const char* attributes;
  /** Minimum number of inputs; these cannot be omitted. */
  int32_t minInputs;
  /** Maximum number of inputs, or MAX_OPERATOR_COUNT_ANY. */
  int32_t maxInputs;
  /** Minimum number of outputs. */
  int32_t minOutputs;
  /** Maximum number of outputs, or MAX_OPERATOR_COUNT_ANY. */
  int32_t maxOutputs;
  /** Properties. */
  MaxOperatorTraits traits;
  /** Bit i: output shapes depend on the contents of input i, which `infer` gets at run time at the latest. */
  uint32_t shapeInputs;
  /** Infers types and shapes of outputs; not NULL. */
  MaxOperatorInferFunction infer;
  /** Creates the state that calls share; NULL = none. */
  MaxOperatorPrepareFunction prepare;
  /** Frees the state; NULL = nothing to free. */
  MaxOperatorDestroyFunction destroy;
  /** Computes the outputs; not NULL. */
  MaxOperatorExecuteFunction execute;
  /** First argument of all these functions. */
  void* userData;
} MaxOperator;

/** Initial value of a MaxOperator. */
#define MAX_OPERATOR_INIT \
  { sizeof(MaxOperator), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL }

/** What an extension offers. */
typedef struct MaxExtensionTable {
  /** Size of this structure; set by MAX_EXTENSION_TABLE_INIT. */
  size_t structSize;
  /** MAX_EXTENSION_ABI_VERSION that the extension was built with. */
  int32_t abiVersion;
  /** Number of operators. */
  int32_t operatorCount;
  /** The operators. */
  const MaxOperator* const* operators;
} MaxExtensionTable;

/** Initial value of a MaxExtensionTable. */
#define MAX_EXTENSION_TABLE_INIT \
  { sizeof(MaxExtensionTable), 0, 0, NULL }

/**
 * The function that an extension defines and the library looks up. The library itself does not define it.
 *
 * @param[in] abiVersion  MAX_EXTENSION_ABI_VERSION of the calling library.
 * @return The table, which must stay valid until the process ends; NULL if the extension does not support this version.
 * @since 0.1
 */
MAX_EXTENSION_API const MaxExtensionTable* maxExtensionGetTable(int32_t abiVersion);

/**
 * Loads a shared library of operators, for all models loaded and graphs built from now on.
 *
 * A .cu or .hip file is a kernel source whose comments declare operators; it is compiled. Loading the same file again
 * does nothing. On failure none of its operators is registered. Thread-safe.
 *
 * @param[in] path  The file; no search path is used. Its code runs in this process, so load only files that you trust.
 * @retval MAX_STATUS_NOT_FOUND  The file does not exist.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The file is not a loadable shared library or not an extension, or its table is
 *     not valid; or a source does not compile or declares nothing. The message says why.
 * @retval MAX_STATUS_UNAVAILABLE  The file is a source, and no compiler was found.
 * @retval MAX_STATUS_UNIMPLEMENTED  The extension was built for another version of this interface.
 * @retval MAX_STATUS_ALREADY_EXISTS  An operator is already defined; the message says where.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The extension is linked to another copy of this library.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxExtensionLoad(const char* path);

/**
 * Adds operators from the program itself, without a library. The functions and what they use must stay valid until the
 * process ends; the table and its strings are copied.
 *
 * Adding the same table again does nothing. On failure none of its operators is registered. Thread-safe.
 *
 * @param[in] name  Name of the extension in messages.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The table is not valid; the message says why.
 * @retval MAX_STATUS_UNIMPLEMENTED  The extension was built for another version of this interface.
 * @retval MAX_STATUS_ALREADY_EXISTS  An operator is already defined; the message says where.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxExtensionAdd(const char* name, const MaxExtensionTable* table);

/**
 * Stores an error message and returns `status`, for `infer`, `prepare` and `execute` to return when they fail.
 *
 * The message becomes part of the failing call's message, after node, operator and extension. Failing functions of this
 * library store theirs in the same way. MAX_STATUS_OK becomes MAX_STATUS_UNKNOWN.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxExtensionFail(MaxStatus status, const char* message);

/**
 * Gets the name of a node; "" if it has none.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetName(const MaxOperatorNode* node, const char** outName);

/**
 * Gets the number of inputs of a node, including omitted ones.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetInputCount(const MaxOperatorNode* node, int32_t* outCount);

/**
 * Gets the number of outputs of a node.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetOutputCount(const MaxOperatorNode* node, int32_t* outCount);

/**
 * Tells whether a node has an attribute; 1 or 0.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeHasAttribute(const MaxOperatorNode* node, const char* name,
                                                            int32_t* outHas);

/**
 * Gets an integer attribute.
 *
 * @param[in] fallback  Value if the attribute is missing.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetInt(const MaxOperatorNode* node, const char* name, int64_t fallback,
                                                      int64_t* outValue);

/**
 * Gets a floating-point attribute.
 *
 * @param[in] fallback  Value if the attribute is missing.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetFloat(const MaxOperatorNode* node, const char* name, float fallback,
                                                        float* outValue);

/**
 * Gets a string attribute; borrowed.
 *
 * @param[in] fallback  Value if the attribute is missing; may be NULL.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetString(const MaxOperatorNode* node, const char* name,
                                                         const char* fallback, const char** outValue);

/**
 * Gets a list of integers; borrowed. NULL and 0 if the attribute is missing.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetInts(const MaxOperatorNode* node, const char* name,
                                                       const int64_t** outValues, int32_t* outCount);

/**
 * Gets a list of floating-point numbers; borrowed. NULL and 0 if the attribute is missing.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetFloats(const MaxOperatorNode* node, const char* name,
                                                         const float** outValues, int32_t* outCount);

/**
 * Gets the length of a list of strings; 0 if the attribute is missing.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetStringCount(const MaxOperatorNode* node, const char* name,
                                                              int32_t* outCount);

/**
 * Gets a string of a list of strings; borrowed.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such string.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetStringAt(const MaxOperatorNode* node, const char* name, int32_t index,
                                                           const char** outValue);

/**
 * Gets a tensor attribute; borrowed. MAX_DTYPE_INVALID, 0, NULL and NULL if the attribute is missing.
 *
 * @param[out] outShape  Dimensions.
 * @param[out] outData  Elements, dense and row-major.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetTensor(const MaxOperatorNode* node, const char* name,
                                                         MaxDType* outDType, int32_t* outRank, const int64_t** outShape,
                                                         const void** outData);

/**
 * Gets a constant input of a node, in `prepare`; borrowed. MAX_DTYPE_INVALID, 0, NULL and NULL if the input is not
 * constant, and outside `prepare`.
 *
 * @param[out] outShape  Dimensions.
 * @param[out] outData  Elements, dense and row-major.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetConstant(const MaxOperatorNode* node, int32_t input,
                                                           MaxDType* outDType, int32_t* outRank,
                                                           const int64_t** outShape, const void** outData);

/**
 * Gets the device that a node runs on, in `prepare` and `execute`; borrowed. `prepare` can compile kernels for it
 * (maxModuleCompile) and allocate memory on it. NULL in `infer`, which does not depend on a device.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetDevice(const MaxOperatorNode* node, MaxDevice** outDevice);

/**
 * Gets the element type of an input; MAX_DTYPE_INVALID if it is omitted or unknown.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextGetInputDType(const MaxShapeContext* context, int32_t input,
                                                             MaxDType* outDType);

/**
 * Gets the number of dimensions of an input; MAX_RANK_DYNAMIC if it is omitted or unknown.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextGetInputRank(const MaxShapeContext* context, int32_t input,
                                                            int32_t* outRank);

/**
 * Gets a dimension of an input; MAX_DIMENSION_DYNAMIC if it is unknown.
 *
 * @param[in] axis  Index of the dimension, from 0.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input or dimension.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextGetInputDimension(const MaxShapeContext* context, int32_t input,
                                                                 int32_t axis, int64_t* outDimension);

/**
 * Gets the contents of an input; borrowed. NULL if they are unknown.
 *
 * @param[out] outData  Elements, dense and row-major; the dimensions are then known.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextGetInputData(const MaxShapeContext* context, int32_t input,
                                                            const void** outData);

/**
 * Sets the element type of an output, if MaxOperator::types does not.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  The node has no such output.
 * @retval MAX_STATUS_INVALID_ARGUMENT  Outputs cannot have this type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetOutputDType(MaxShapeContext* context, int32_t output, MaxDType dtype);

/**
 * Sets the dimensions of an output; MAX_DIMENSION_DYNAMIC = unknown.
 *
 * @param[in] shape  NULL if `rank` is 0.
 * @retval MAX_STATUS_OUT_OF_RANGE  The node has no such output.
 * @retval MAX_STATUS_INVALID_ARGUMENT  A dimension is negative, or there are too many dimensions.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetOutputShape(MaxShapeContext* context, int32_t output, int32_t rank,
                                                              const int64_t* shape);

/**
 * Sets a dimension of an output to that of an input, known or not. The output's shape must have been set.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output, input or dimension.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetOutputDimension(MaxShapeContext* context, int32_t output,
                                                                  int32_t axis, int32_t input, int32_t inputAxis);

/**
 * Sets the dimensions of an output to those of an input, known or not.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output or input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetOutputLike(MaxShapeContext* context, int32_t output, int32_t input);

/**
 * Sets the dimensions of an output to those of two inputs broadcast together, as in ONNX's Add.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output or input.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The shapes cannot be broadcast; the message names them.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetOutputBroadcast(MaxShapeContext* context, int32_t output,
                                                                  int32_t inputA, int32_t inputB);

/**
 * Requests scratch memory for each call: MaxOperatorCall::scratch.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  More than 2^60 bytes.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetScratchSize(MaxShapeContext* context, size_t byteCount);

/**
 * Splits [0, count) into parts of `grain` and runs them on the call's threads; returns when all parts are done.
 *
 * @param[in] grain  At least 1; large enough that a part takes some microseconds.
 * @param[in] body  Must not throw.
 * @param[in] userData  First argument of `body`.
 * @retval MAX_STATUS_CANCELLED  The model's call was cancelled; return this status.
 * @retval MAX_STATUS_DEADLINE_EXCEEDED  The model's call ran out of time; return this status.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorCallParallelFor(const MaxOperatorCall* call, int64_t count, int64_t grain,
                                                           MaxOperatorLoopFunction body, void* userData);

/**
 * Allocates an output whose shape is known only at run time, for operators with MAX_OPERATOR_TRAITS_DATA_DEPENDENT.
 *
 * @param[in] shape  NULL if `rank` is 0.
 * @param[out] outData  Memory of the output, to be written completely; NULL if it has no elements or is not used.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The shape contradicts `infer`, or is not valid.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The output is already allocated, or the operator does not have that trait.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorCallAllocateOutput(const MaxOperatorCall* call, int32_t output, int32_t rank,
                                                              const int64_t* shape, void** outData);

#ifdef __cplusplus
}
#endif

#endif
