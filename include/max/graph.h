/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file graph.h
 * Graphs built in code from any ONNX operator, checked at each step.
 *
 * A graph has inputs, constants, weights, nodes and outputs. Each node's inputs,
 * attributes and shapes are checked when it is added. maxModelCompile compiles a graph to a model; the graph can be
 * changed and compiled again afterwards.
 *
 *     MaxGraphValue* inputs[2] = {NULL, NULL};
 *     MaxGraphValue* sum = NULL;
 *     if (maxGraphAddInput(graph, "a", MAX_DTYPE_FLOAT32, 1, shape, NULL, &inputs[0]) == MAX_STATUS_OK &&
 *         maxGraphAddInput(graph, "b", MAX_DTYPE_FLOAT32, 1, shape, NULL, &inputs[1]) == MAX_STATUS_OK &&
 *         maxGraphAddNode(graph, NULL, "Add", NULL, inputs, 2, NULL, &sum, 1) == MAX_STATUS_OK &&
 *         maxGraphAddOutput(graph, sum, "sum") == MAX_STATUS_OK) puts("built");
 */
#ifndef MAX_GRAPH_H
#define MAX_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "max/buffer.h"
#include "max/device.h"
#include "max/dtype.h"
#include "max/status.h"
#include "max/tensor_info.h"
#include "max/value.h"
#include "max/weights.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A graph under construction. */
typedef struct MaxGraph MaxGraph;
/** A tensor of a graph; borrowed, lives as long as its graph. */
typedef struct MaxGraphValue MaxGraphValue;
/** The attributes of a node, by name. */
typedef struct MaxAttributes MaxAttributes;

/**
 * Creates an empty graph.
 *
 * Thread-safe.
 *
 * @param[in] name  For messages; NULL = "graph".
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphCreate(const char* name, MaxGraph** outGraph);

/**
 * Creates an empty subgraph: a branch or body for the operators If, Loop and Scan.
 *
 * Its nodes may use values of `parent`. maxAttributesSetGraph makes it part of a node; it cannot change after that. The
 * subgraph holds its parent.
 *
 * @param[in] name  For messages; NULL = "subgraph".
 * @retval MAX_STATUS_UNIMPLEMENTED  More than 32 levels of subgraphs.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphCreateSubgraph(MaxGraph* parent, const char* name, MaxGraph** outGraph);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxGraphRetain(const MaxGraph* graph);

/**
 * Drops a reference; NULL is allowed. The graph's values are released with it.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxGraphRelease(const MaxGraph* graph);

/**
 * Gets the name of a graph.
 *
 * Borrowed from the graph.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphGetName(const MaxGraph* graph, const char** outName);

/** Options of maxGraphAddInput. */
typedef struct MaxGraphInputOptions {
  /** Size of this structure; set by MAX_GRAPH_INPUT_OPTIONS_INIT. */
  size_t structSize;
  /** Names of dynamic dimensions, one per dimension, NULL entries = none; equal names mean equal dimensions in the
      whole graph. NULL = no names. */
  const char* const* dimensionNames;
  /** Where the input is; NULL = the first device of the session. */
  MaxDevice* device;
} MaxGraphInputOptions;

/** Initial value of a MaxGraphInputOptions. */
#define MAX_GRAPH_INPUT_OPTIONS_INIT \
  { sizeof(MaxGraphInputOptions), NULL, NULL }

/**
 * Adds an input.
 *
 * @param[in] name  Unique in the graph.
 * @param[in] rank  0 = a scalar; MAX_RANK_DYNAMIC = unknown, only in subgraphs.
 * @param[in] shape  Dimensions; MAX_DIMENSION_DYNAMIC = each call chooses. NULL if `rank` is at most 0.
 * @param[in] options  NULL = defaults.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The name is taken, or a dimension is below -1, or fixed but named.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphAddInput(MaxGraph* graph, const char* name, MaxDType dtype, int32_t rank,
                                                 const int64_t* shape, const MaxGraphInputOptions* options,
                                                 MaxGraphValue** outValue);

/**
 * Adds an input with the type and device of a value, and with its dimensions as far as they are known.
 *
 * Useful for a Loop's body, whose loop-carried inputs have the types of their initial values.
 *
 * @param[in] name  Unique in the graph.
 * @param[in] value  From this graph or its parents.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The name is taken, or the value belongs to another graph.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphAddInputLike(MaxGraph* graph, const char* name, const MaxGraphValue* value,
                                                     MaxGraphValue** outValue);

/**
 * Adds an input that is a sequence or an optional of tensors.
 *
 * @param[in] kind  MAX_VALUE_KIND_SEQUENCE or MAX_VALUE_KIND_OPTIONAL.
 * @param[in] dtype  Element type of the tensors.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The kind or the type is another one, or the name is taken.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphAddValueInput(MaxGraph* graph, const char* name, MaxValueKind kind,
                                                      MaxDType dtype, MaxGraphValue** outValue);

/**
 * Adds a constant. Waits for work on the buffer's stream, then copies the contents.
 *
 * @param[in] name  Unique in the graph; NULL = the library chooses one.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphAddConstant(MaxGraph* graph, const char* name, const MaxBuffer* contents,
                                                    MaxGraphValue** outValue);

/**
 * Adds a weight: a constant whose contents are passed by name when the graph is compiled.
 *
 * @param[in] name  Unique in the graph.
 * @param[in] shape  Dimensions, all known. NULL if `rank` is 0.
 * @param[in] device  Where the weight is used; NULL = the first device of the session.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphAddWeight(MaxGraph* graph, const char* name, MaxDType dtype, int32_t rank,
                                                  const int64_t* shape, MaxDevice* device, MaxGraphValue** outValue);

/**
 * Adds a weight with its contents. They can be replaced by name when the graph is compiled, and in the model.
 *
 * @param[in] name  Unique in the graph.
 * @param[in] contents  Used without a copy if dense and in host memory; retained by the graph and its models, and must
 *     no longer be written.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphAddWeightFromBuffer(MaxGraph* graph, const char* name,
                                                            const MaxBuffer* contents, MaxGraphValue** outValue);

/**
 * Adds a weight with the contents of a tensor in a weights file. Otherwise like maxGraphAddWeightFromBuffer.
 *
 * @param[in] name  Name of the tensor in the file and of the weight in the graph.
 * @retval MAX_STATUS_NOT_FOUND  The file has no tensor of this name.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphAddWeightFromWeights(MaxGraph* graph, const char* name,
                                                             const MaxWeights* weights, MaxGraphValue** outValue);

/**
 * Adds a node: an operator applied to values, as defined by the newest ONNX operator set.
 *
 * Checks the number and types of inputs, the attributes and the shapes, and infers the types of the outputs. On failure
 * the message names node, operator, tensors and shapes, and the graph is unchanged.
 *
 * Domain "max" has one operator for programs: Rebind(value, shape) returns the value with the dimensions in the int64
 * list `shape`. -1 is any dimension, named by the entry at that place of the attribute "names", a list of strings, if
 * it has one. A call in which the value has another shape fails; its message contains the attribute "message".
 *
 * @param[in] domain  NULL or "" = ONNX's own operators.
 * @param[in] name  For messages and profiles; NULL = none.
 * @param[in] inputs  Values of this graph or its parents. A NULL entry omits an optional input.
 * @param[in] attributes  Copied. NULL = none.
 * @param[out] outValues  Filled with `outputCount` values; all NULL on failure.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The node is not valid.
 * @retval MAX_STATUS_FAILED_PRECONDITION  The graph is already part of a node.
 * @retval MAX_STATUS_UNIMPLEMENTED  There is no such operator.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphAddNode(MaxGraph* graph, const char* domain, const char* op, const char* name,
                                                MaxGraphValue* const* inputs, int32_t inputCount,
                                                const MaxAttributes* attributes, MaxGraphValue** outValues,
                                                int32_t outputCount);

/**
 * Adds a copy of a value on another device. On the device where it is already, it is the value itself.
 *
 * Nodes run on the device of the first input that is placed on one: inputs of the graph and weights that name a device,
 * transfers, and what is computed from them. Inputs of a node that are placed must be on one device. What is not placed
 * is on the first device of the session; constants are copied to each device that reads them.
 *
 * A session that compiles the graph must have all accelerators that it names, and one as its first device if it names
 * any.
 *
 * @param[in] value  From this graph or its parents; a tensor of numbers.
 * @param[in] device  An accelerator or the host; retained.
 * @retval MAX_STATUS_UNIMPLEMENTED  The value is made of strings, or no tensor.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphAddTransfer(MaxGraph* graph, MaxGraphValue* value, MaxDevice* device,
                                                    MaxGraphValue** outValue);

/**
 * Makes a value the next output of the graph, on the value's device.
 *
 * @param[in] name  Unique among the outputs; NULL = the value's name.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphAddOutput(MaxGraph* graph, MaxGraphValue* value, const char* name);

/**
 * Gets the number of inputs.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphGetInputCount(const MaxGraph* graph, int32_t* outCount);

/**
 * Gets an input.
 *
 * Borrowed from the graph.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such input.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphGetInput(const MaxGraph* graph, int32_t index, MaxGraphValue** outValue);

/**
 * Gets the number of outputs.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphGetOutputCount(const MaxGraph* graph, int32_t* outCount);

/**
 * Gets the value that is an output.
 *
 * Borrowed from the graph.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphGetOutput(const MaxGraph* graph, int32_t index, MaxGraphValue** outValue);

/**
 * Gets the name of an output.
 *
 * Borrowed from the graph.
 *
 * @retval MAX_STATUS_OUT_OF_RANGE  There is no such output.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphGetOutputName(const MaxGraph* graph, int32_t index, const char** outName);

/**
 * Gets the number of nodes, without those in subgraphs.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphGetNodeCount(const MaxGraph* graph, int32_t* outCount);

/**
 * Finds a value of this graph by name.
 *
 * Borrowed from the graph.
 *
 * @retval MAX_STATUS_NOT_FOUND  No value has this name.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphFindValue(const MaxGraph* graph, const char* name, MaxGraphValue** outValue);

/**
 * Gets the graph that a value belongs to.
 *
 * Borrowed: the call adds no reference to the graph.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphValueGetGraph(const MaxGraphValue* value, MaxGraph** outGraph);

/**
 * Gets what is known about a value: name, kind, type, dimensions, and its device: the one set for it, or that of the
 * values it is computed from.
 *
 * Borrowed from the graph.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxGraphValueGetInfo(const MaxGraphValue* value, MaxTensorInfo* outInfo);

/**
 * Creates an empty set of attributes. Setting a name again replaces its value.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAttributesCreate(MaxAttributes** outAttributes);

/**
 * Adds a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxAttributesRetain(const MaxAttributes* attributes);

/**
 * Drops a reference; NULL is allowed.
 *
 * Thread-safe.
 *
 * @since 0.1
 */
MAX_API void maxAttributesRelease(const MaxAttributes* attributes);

/**
 * Sets an attribute to an integer.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAttributesSetInt(MaxAttributes* attributes, const char* name, int64_t value);

/**
 * Sets an attribute to a list of integers.
 *
 * @param[in] values  NULL only if `count` is 0.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAttributesSetInts(MaxAttributes* attributes, const char* name, const int64_t* values,
                                                     int32_t count);

/**
 * Sets an attribute to an element type in ONNX's numbering, for example "to" of Cast.
 *
 * @retval MAX_STATUS_INVALID_ARGUMENT  ONNX has no such type.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAttributesSetDType(MaxAttributes* attributes, const char* name, MaxDType value);

/**
 * Sets an attribute to a floating-point number.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAttributesSetFloat(MaxAttributes* attributes, const char* name, float value);

/**
 * Sets an attribute to a list of floating-point numbers.
 *
 * @param[in] values  NULL only if `count` is 0.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAttributesSetFloats(MaxAttributes* attributes, const char* name, const float* values,
                                                       int32_t count);

/**
 * Sets an attribute to a string.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAttributesSetString(MaxAttributes* attributes, const char* name, const char* value);

/**
 * Sets an attribute to a list of strings.
 *
 * @param[in] values  NULL only if `count` is 0.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAttributesSetStrings(MaxAttributes* attributes, const char* name,
                                                        const char* const* values, int32_t count);

/**
 * Sets an attribute to a tensor. Waits for work on the buffer's stream, then copies the contents.
 *
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAttributesSetTensor(MaxAttributes* attributes, const char* name,
                                                       const MaxBuffer* value);

/**
 * Sets an attribute to a subgraph. The attributes hold it; it cannot change once a node uses them.
 *
 * @param[in] value  Created by maxGraphCreateSubgraph for the graph that the node is added to.
 * @retval MAX_STATUS_INVALID_ARGUMENT  The graph is not a subgraph.
 * @since 0.1
 */
MAX_API MAX_NODISCARD MaxStatus maxAttributesSetGraph(MaxAttributes* attributes, const char* name, MaxGraph* value);

#ifdef __cplusplus
}
#endif

#endif
