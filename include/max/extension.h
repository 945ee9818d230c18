/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file extension.h
 * Extensions: operators of a program's own, for ONNX models and for graphs built in code.
 *
 * An extension is a shared library with one function, maxExtensionGetTable. It returns a table of operators: their
 * names, how many inputs and outputs they have, and functions that tell the outputs' shapes and compute them. The
 * library links to libmax. Extensions belong to the process: all sessions and graphs know their operators, and they
 * stay until the process ends. docs/adding_an_operator_library.md has a whole one.
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

/** Version of the interface between this library and extensions; MaxExtensionTable::abiVersion. */
#define MAX_EXTENSION_ABI_VERSION 1
/** Marks the one function that an extension exports; see maxExtensionGetTable. */
#define MAX_EXTENSION_API MAX_API
/** As MaxOperator::maxInputs or maxOutputs: any number, the last type of the signature repeats. */
#define MAX_OPERATOR_COUNT_ANY -1

/** A node of a graph, as the functions of its operator see it; borrowed until they return. */
typedef struct MaxOperatorNode MaxOperatorNode;
/** What is known of a node's inputs, and what its operator tells of the outputs; borrowed as the node is. */
typedef struct MaxShapeContext MaxShapeContext;

/** Properties of operators, joined with |. */
typedef int32_t MaxOperatorTraits;

/** Outputs follow from inputs and attributes alone, and so do their shapes. */
#define MAX_OPERATOR_TRAITS_NONE 0
/** Two equal calls may differ (random numbers, effects elsewhere): nodes are never merged nor computed at load. */
#define MAX_OPERATOR_TRAITS_RANDOM 1
/** Shapes of outputs are known only after running: `execute` makes them with maxOperatorCallAllocateOutput. */
#define MAX_OPERATOR_TRAITS_DATA_DEPENDENT 2

/** One run of an operator. All pointers are borrowed until `execute` returns. */
typedef struct MaxOperatorCall {
  /** Size of this structure in the library that calls. */
  size_t structSize;
  /** Contents of the inputs, dense and row-major; NULL = left out, or without elements. */
  const void* const* inputs;
  /** Element types of the inputs; MAX_DTYPE_INVALID = left out. */
  const MaxDType* inputDTypes;
  /** Numbers of dimensions of the inputs. */
  const int32_t* inputRanks;
  /** Dimensions of the inputs. */
  const int64_t* const* inputShapes;
  /** Numbers of elements of the inputs. */
  const int64_t* inputElementCounts;
  /** Memory of the outputs, to be written whole; NULL = nobody wants it, or it has no elements. */
  void* const* outputs;
  /** Element types of the outputs; MAX_DTYPE_INVALID = nobody wants it. */
  const MaxDType* outputDTypes;
  /** Numbers of dimensions of the outputs; MAX_RANK_DYNAMIC = `execute` makes it. */
  const int32_t* outputRanks;
  /** Dimensions of the outputs. */
  const int64_t* const* outputShapes;
  /** Numbers of elements of the outputs. */
  const int64_t* outputElementCounts;
  /** Number of inputs. */
  int32_t inputCount;
  /** Number of outputs. */
  int32_t outputCount;
  /** Memory to work in, as `infer` asked for it; its contents are not defined, it starts at a multiple of 64. */
  void* scratch;
  /** Bytes of it. */
  size_t scratchSize;
  /** Threads that maxOperatorCallParallelFor uses at most. */
  int32_t lanes;
  /** Zero. */
  int32_t reserved;
  /** The device that the operator runs on and its inputs and outputs lie on: the host's, in this version. */
  MaxDevice* device;
  /**
   * The stream that the operator runs on, for kernels (maxKernelLaunch, with the pointers above as arguments), copies
   * and further calls of a device. What is queued there runs after the inputs are made and before anybody reads the
   * outputs; `execute` need not wait for it.
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
 * Tells types and shapes of a node's outputs, as far as they are known, with the functions maxShapeContextSet*.
 *
 * Called while graphs are built, with dimensions that may not be known yet, and for each set of input shapes, with all
 * dimensions known; then all dimensions of the outputs must be, too. From any thread, several at a time.
 *
 * @return MAX_STATUS_OK; or why the node is not valid, see maxExtensionFail.
 * @since 0.1
 */
typedef MaxStatus (*MaxOperatorInferFunction)(void* userData, const MaxOperatorNode* node, MaxShapeContext* context);

/**
 * Makes what a node's calls share: tables, packed constants. Called when a model is loaded, and perhaps again later,
 * from any thread, for several nodes at a time.
 *
 * @param[out] outState  Handed to `execute` and at last to `destroy`; may stay NULL.
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
 * Computes the outputs of a node. Called from any thread, several at a time with the same state.
 *
 * @param[in] state  From `prepare`; NULL if there is none.
 * @return MAX_STATUS_OK; or why the call fails, see maxExtensionFail.
 * @since 0.1
 */
typedef MaxStatus (*MaxOperatorExecuteFunction)(void* userData, const MaxOperatorNode* node, void* state,
                                                const MaxOperatorCall* call);

/**
 * The body of maxOperatorCallParallelFor: does [begin, end). `lane` differs between bodies that run at the same time
 * and is below MaxOperatorCall::lanes.
 *
 * @since 0.1
 */
typedef void (*MaxOperatorLoopFunction)(void* userData, int64_t begin, int64_t end, int32_t lane);

/** An operator of an extension. Everything it points at stays until the process ends. */
typedef struct MaxOperator {
  /** Size of this structure; set by MAX_OPERATOR_INIT. */
  size_t structSize;
  /** Domain, as models name it, for example "com.example"; not empty, and neither ONNX's own nor "max". */
  const char* domain;
  /** Name, as models write it. */
  const char* name;
  /**
   * Element types as "inputs -> outputs; constraints", for example "T,I->T; T=float32|float16; I=index". A letter
   * stands for the same type everywhere. Classes: any, number (no bool), float, integer, signed, unsigned, bool, index
   * (int32, int64), and each name of maxDTypeGetName, joined by '|'. A trailing "..." repeats the last input or output.
   * "*" among the outputs: `infer` sets the type. NULL = any inputs, and `infer` sets all.
   */
  const char* types;
  /**
   * Names and types of attributes, for example "alpha=f axes=I"; i, f, s, t = int, float, string, tensor; I, F, S =
   * lists of them. Graphs built in code may give no others. NULL = any.
   */
  const char* attributes;
  /** Fewest inputs; they cannot be left out. */
  int32_t minInputs;
  /** Most inputs, or MAX_OPERATOR_COUNT_ANY. */
  int32_t maxInputs;
  /** Fewest outputs. */
  int32_t minOutputs;
  /** Most outputs, or MAX_OPERATOR_COUNT_ANY. */
  int32_t maxOutputs;
  /** Properties. */
  MaxOperatorTraits traits;
  /** Bit i: shapes of outputs depend on the contents of input i, which `infer` gets at the latest when it runs. */
  uint32_t shapeInputs;
  /** Tells types and shapes of outputs; not NULL. */
  MaxOperatorInferFunction infer;
  /** Makes what calls share; NULL = nothing. */
  MaxOperatorPrepareFunction prepare;
  /** Frees it; NULL = nothing to free. */
  MaxOperatorDestroyFunction destroy;
  /** Computes; not NULL. */
  MaxOperatorExecuteFunction execute;
  /** First argument of all functions. */
  void* userData;
} MaxOperator;

/** Initial value of a MaxOperator. */
#define MAX_OPERATOR_INIT \
  { sizeof(MaxOperator), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL }

/** What an extension offers. */
typedef struct MaxExtensionTable {
  /** Size of this structure; set by MAX_EXTENSION_TABLE_INIT. */
  size_t structSize;
  /** MAX_EXTENSION_ABI_VERSION, as the extension was built with it. */
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
 * The function that an extension defines and the library looks for. The library itself has no such function.
 *
 * @param[in] abiVersion  MAX_EXTENSION_ABI_VERSION of the library that asks.
 * @return The table, which stays until the process ends; NULL if the extension has none for this version.
 * @since 0.1
 */
MAX_EXTENSION_API const MaxExtensionTable* maxExtensionGetTable(int32_t abiVersion);

/**
 * Loads a shared library with operators, which all models loaded and graphs built from now on may use.
 *
 * A file whose name ends with .cu or .hip is a kernel source whose comments declare operators; it is compiled.
 * Loading the same file again does nothing. On failure none of its operators is known. Thread-safe.
 *
 * @param[in] path  A file; it is not searched for. Its code runs in this process, so it must be trusted.
 * @retval MAX_STATUS_NOT_FOUND  There is no such file.
 * @retval MAX_STATUS_INVALID_ARGUMENT  It is no shared library that can be loaded, or not an extension, or its table is
 *     not valid; or a source does not compile or declares nothing. The message says what and why.
 * @retval MAX_STATUS_UNAVAILABLE  A source needs a compiler, and none was found.
 * @retval MAX_STATUS_UNIMPLEMENTED  It was made for another version of this interface.
 * @retval MAX_STATUS_ALREADY_EXISTS  An operator is defined already; the message names who defines it.
 * @retval MAX_STATUS_FAILED_PRECONDITION  It is linked to another copy of this library.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxExtensionLoad(const char* path);

/**
 * Adds operators of the program itself, without a library. The functions and what they point at stay until the process
 * ends; the table and the texts in it are copied.
 *
 * Adding the same table again does nothing. On failure none of its operators is known. Thread-safe.
 *
 * @param[in] name  What messages call it.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The table is not valid; the message says why.
 * @retval MAX_STATUS_UNIMPLEMENTED  It was made for another version of this interface.
 * @retval MAX_STATUS_ALREADY_EXISTS  An operator is defined already; the message names who defines it.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxExtensionAdd(const char* name, const MaxExtensionTable* table);

/**
 * Returns `status` and keeps a message for it: what `infer`, `prepare` and `execute` return when they fail.
 *
 * The message becomes part of the failing call's, after node, operator and extension. A failing function of this
 * library leaves its message in the same way. MAX_STATUS_OK becomes MAX_STATUS_UNKNOWN.
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
 * Gets the number of inputs of a node, those left out included.
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
 * @param[in] fallback  If there is none.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetInt(const MaxOperatorNode* node, const char* name, int64_t fallback,
                                                      int64_t* outValue);

/**
 * Gets a floating-point attribute.
 *
 * @param[in] fallback  If there is none.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetFloat(const MaxOperatorNode* node, const char* name, float fallback,
                                                        float* outValue);

/**
 * Gets a string attribute; borrowed.
 *
 * @param[in] fallback  If there is none; may be NULL.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetString(const MaxOperatorNode* node, const char* name,
                                                         const char* fallback, const char** outValue);

/**
 * Gets a list of integers; borrowed. NULL and 0 if there is none.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetInts(const MaxOperatorNode* node, const char* name,
                                                       const int64_t** outValues, int32_t* outCount);

/**
 * Gets a list of floating-point numbers; borrowed. NULL and 0 if there is none.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetFloats(const MaxOperatorNode* node, const char* name,
                                                         const float** outValues, int32_t* outCount);

/**
 * Gets the number of texts in a list of strings; 0 if there is none.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetStringCount(const MaxOperatorNode* node, const char* name,
                                                              int32_t* outCount);

/**
 * Gets a text of a list of strings; borrowed.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such text.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The attribute has another type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetStringAt(const MaxOperatorNode* node, const char* name, int32_t index,
                                                           const char** outValue);

/**
 * Gets a tensor attribute; borrowed. MAX_DTYPE_INVALID, 0, NULL and NULL if there is none.
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
 * constant, and in other functions.
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
 * Gets the device that a node runs on, in `prepare` and `execute`; borrowed. `prepare` compiles kernels for it
 * (maxModuleCompile) and takes memory of it. NULL in `infer`, which knows of no device.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorNodeGetDevice(const MaxOperatorNode* node, MaxDevice** outDevice);

/**
 * Gets the element type of an input; MAX_DTYPE_INVALID if it is left out or not known.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextGetInputDType(const MaxShapeContext* context, int32_t input,
                                                             MaxDType* outDType);

/**
 * Gets the number of dimensions of an input; MAX_RANK_DYNAMIC if it is left out or not known.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextGetInputRank(const MaxShapeContext* context, int32_t input,
                                                            int32_t* outRank);

/**
 * Gets a dimension of an input; MAX_DIMENSION_DYNAMIC if it is not known.
 *
 * @param[in] axis  From 0 on.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input or dimension.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextGetInputDimension(const MaxShapeContext* context, int32_t input,
                                                                 int32_t axis, int64_t* outDimension);

/**
 * Gets the contents of an input, if they are known; borrowed. NULL if not.
 *
 * @param[out] outData  Elements, dense and row-major; the dimensions are known then.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextGetInputData(const MaxShapeContext* context, int32_t input,
                                                            const void** outData);

/**
 * Sets the element type of an output, where MaxOperator::types does not.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  The node has no such output.
 * @retval MAX_STATUS_INVALID_ARGUMENT  Outputs cannot be of this type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetOutputDType(MaxShapeContext* context, int32_t output, MaxDType dtype);

/**
 * Sets the dimensions of an output; MAX_DIMENSION_DYNAMIC = not known yet.
 *
 * @param[in] shape  NULL if `rank` is 0.
 * @retval MAX_STATUS_OUT_OF_RANGE  The node has no such output.
 * @retval MAX_STATUS_INVALID_ARGUMENT  A number is negative or there are too many dimensions.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetOutputShape(MaxShapeContext* context, int32_t output, int32_t rank,
                                                              const int64_t* shape);

/**
 * Says that a dimension of an output, whose shape was set, is that of an input, known or not.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output, input or dimension.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetOutputDimension(MaxShapeContext* context, int32_t output,
                                                                  int32_t axis, int32_t input, int32_t inputAxis);

/**
 * Says that an output has the dimensions of an input, known or not.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output or input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetOutputLike(MaxShapeContext* context, int32_t output, int32_t input);

/**
 * Says that an output has the dimensions that two inputs have when the smaller is repeated, as in Add of ONNX.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output or input.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The shapes do not fit; the message names them.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetOutputBroadcast(MaxShapeContext* context, int32_t output,
                                                                  int32_t inputA, int32_t inputB);

/**
 * Asks for memory that a call works in: MaxOperatorCall::scratch.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  More than 2^60 bytes.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxShapeContextSetScratchSize(MaxShapeContext* context, size_t byteCount);

/**
 * Splits [0, count) into parts of `grain` and runs them on the call's threads; returns when all are done.
 *
 * @param[in] grain  Large enough to take some microseconds; at least 1.
 * @param[in] body  Must not throw.
 * @param[in] userData  Its first argument.
 * @retval MAX_STATUS_CANCELLED  The model's call was stopped; return this.
 * @retval MAX_STATUS_DEADLINE_EXCEEDED  The same for its time limit.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorCallParallelFor(const MaxOperatorCall* call, int64_t count, int64_t grain,
                                                           MaxOperatorLoopFunction body, void* userData);

/**
 * Makes an output whose shape is known only now, for operators with MAX_OPERATOR_TRAITS_DATA_DEPENDENT.
 *
 * @param[in] shape  NULL if `rank` is 0.
 * @param[out] outData  Its memory, to be written whole; NULL if it has no elements or nobody wants it.
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The shape is not the one that `infer` told, or not valid.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The output has been made, or the operator does not make its outputs.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxOperatorCallAllocateOutput(const MaxOperatorCall* call, int32_t output, int32_t rank,
                                                              const int64_t* shape, void** outData);

#ifdef __cplusplus
}
#endif

#endif
