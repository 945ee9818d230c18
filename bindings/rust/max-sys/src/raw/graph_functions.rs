// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Creates an empty graph."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `name`: For messages; NULL = \"graph\"."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphCreate(name: *const ::std::os::raw::c_char, outGraph: *mut *mut MaxGraph) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates an empty subgraph: a branch or body for the operators If, Loop and Scan."]
    #[doc = ""]
    #[doc = " Its nodes may use values of `parent`. maxAttributesSetGraph makes it part of a node; it cannot change after that. The"]
    #[doc = " subgraph holds its parent."]
    #[doc = ""]
    #[doc = " - `name`: For messages; NULL = \"subgraph\"."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: More than 32 levels of subgraphs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphCreateSubgraph(
        parent: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        outGraph: *mut *mut MaxGraph,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphRetain(graph: *const MaxGraph);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. The graph's values are released with it."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphRelease(graph: *const MaxGraph);
}
unsafe extern "C" {
    #[doc = " Gets the name of a graph."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetName(graph: *const MaxGraph, outName: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds an input."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph."]
    #[doc = " - `rank`: 0 = a scalar; MAX_RANK_DYNAMIC = unknown, only in subgraphs."]
    #[doc = " - `shape`: Dimensions; MAX_DIMENSION_DYNAMIC = each call chooses. NULL if `rank` is at most 0."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The name is taken, or a dimension is below -1, or fixed but named."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddInput(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        options: *const MaxGraphInputOptions,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds an input with the type and device of a value, and with its dimensions as far as they are known."]
    #[doc = ""]
    #[doc = " Useful for a Loop's body, whose loop-carried inputs have the types of their initial values."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph."]
    #[doc = " - `value`: From this graph or its parents."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The name is taken, or the value belongs to another graph."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddInputLike(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        value: *const MaxGraphValue,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds an input that is a sequence or an optional of tensors."]
    #[doc = ""]
    #[doc = " - `kind`: MAX_VALUE_KIND_SEQUENCE or MAX_VALUE_KIND_OPTIONAL."]
    #[doc = " - `dtype`: Element type of the tensors."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The kind or the type is another one, or the name is taken."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddValueInput(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        kind: MaxValueKind,
        dtype: MaxDType,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a constant. Waits for work on the buffer's stream, then copies the contents."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph; NULL = the library chooses one."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddConstant(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        contents: *const MaxBuffer,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a weight: a constant whose contents are passed by name when the graph is compiled."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph."]
    #[doc = " - `shape`: Dimensions, all known. NULL if `rank` is 0."]
    #[doc = " - `device`: Where the weight is used; NULL = the first device of the session."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddWeight(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        device: *mut MaxDevice,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a weight with its contents. They can be replaced by name when the graph is compiled, and in the model."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph."]
    #[doc = " - `contents`: Used without a copy if dense and in host memory; retained by the graph and its models, and must"]
    #[doc = "   no longer be written."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddWeightFromBuffer(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        contents: *const MaxBuffer,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a weight with the contents of a tensor in a weights file. Otherwise like maxGraphAddWeightFromBuffer."]
    #[doc = ""]
    #[doc = " - `name`: Name of the tensor in the file and of the weight in the graph."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file has no tensor of this name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddWeightFromWeights(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        weights: *const MaxWeights,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a node: an operator applied to values, as defined by the newest ONNX operator set."]
    #[doc = ""]
    #[doc = " Checks the number and types of inputs, the attributes and the shapes, and infers the types of the outputs. On failure"]
    #[doc = " the message names node, operator, tensors and shapes, and the graph is unchanged."]
    #[doc = ""]
    #[doc = " Domain \"max\" has one operator for programs: Rebind(value, shape) returns the value with the dimensions in the int64"]
    #[doc = " list `shape`. -1 is any dimension, named by the entry at that place of the attribute \"names\", a list of strings, if"]
    #[doc = " it has one. A call in which the value has another shape fails; its message contains the attribute \"message\"."]
    #[doc = ""]
    #[doc = " - `domain`: NULL or \"\" = ONNX's own operators."]
    #[doc = " - `name`: For messages and profiles; NULL = none."]
    #[doc = " - `inputs`: Values of this graph or its parents. A NULL entry omits an optional input."]
    #[doc = " - `attributes`: Copied. NULL = none."]
    #[doc = " - `outValues`: Filled with `outputCount` values; all NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The node is not valid."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The graph is already part of a node."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: There is no such operator."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddNode(
        graph: *mut MaxGraph,
        domain: *const ::std::os::raw::c_char,
        op: *const ::std::os::raw::c_char,
        name: *const ::std::os::raw::c_char,
        inputs: *const *mut MaxGraphValue,
        inputCount: i32,
        attributes: *const MaxAttributes,
        outValues: *mut *mut MaxGraphValue,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a copy of a value on another device. On the device where it is already, it is the value itself."]
    #[doc = ""]
    #[doc = " Nodes run on the device of the first input that is placed on one: inputs of the graph and weights that name a device,"]
    #[doc = " transfers, and what is computed from them. Inputs of a node that are placed must be on one device. What is not placed"]
    #[doc = " is on the first device of the session; constants are copied to each device that reads them."]
    #[doc = ""]
    #[doc = " A session that compiles the graph must have all accelerators that it names, and one as its first device if it names"]
    #[doc = " any."]
    #[doc = ""]
    #[doc = " - `value`: From this graph or its parents; a tensor of numbers."]
    #[doc = " - `device`: An accelerator or the host; retained."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The value is made of strings, or no tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddTransfer(
        graph: *mut MaxGraph,
        value: *mut MaxGraphValue,
        device: *mut MaxDevice,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes a value the next output of the graph, on the value's device."]
    #[doc = ""]
    #[doc = " - `name`: Unique among the outputs; NULL = the value's name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddOutput(
        graph: *mut MaxGraph,
        value: *mut MaxGraphValue,
        name: *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of inputs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetInputCount(graph: *const MaxGraph, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets an input."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetInput(graph: *const MaxGraph, index: i32, outValue: *mut *mut MaxGraphValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of outputs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetOutputCount(graph: *const MaxGraph, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the value that is an output."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetOutput(graph: *const MaxGraph, index: i32, outValue: *mut *mut MaxGraphValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of an output."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetOutputName(
        graph: *const MaxGraph,
        index: i32,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of nodes, without those in subgraphs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetNodeCount(graph: *const MaxGraph, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Finds a value of this graph by name."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No value has this name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphFindValue(
        graph: *const MaxGraph,
        name: *const ::std::os::raw::c_char,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the graph that a value belongs to."]
    #[doc = ""]
    #[doc = " Borrowed: the call adds no reference to the graph."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphValueGetGraph(value: *const MaxGraphValue, outGraph: *mut *mut MaxGraph) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about a value: name, kind, type, dimensions, and its device: the one set for it, or that of the"]
    #[doc = " values it is computed from."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphValueGetInfo(value: *const MaxGraphValue, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates an empty set of attributes. Setting a name again replaces its value."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesCreate(outAttributes: *mut *mut MaxAttributes) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesRetain(attributes: *const MaxAttributes);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesRelease(attributes: *const MaxAttributes);
}
unsafe extern "C" {
    #[doc = " Sets an attribute to an integer."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetInt(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a list of integers."]
    #[doc = ""]
    #[doc = " - `values`: NULL only if `count` is 0."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetInts(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        values: *const i64,
        count: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to an element type in ONNX's numbering, for example \"to\" of Cast."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: ONNX has no such type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetDType(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: MaxDType,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a floating-point number."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetFloat(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: f32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a list of floating-point numbers."]
    #[doc = ""]
    #[doc = " - `values`: NULL only if `count` is 0."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetFloats(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        values: *const f32,
        count: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a string."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetString(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a list of strings."]
    #[doc = ""]
    #[doc = " - `values`: NULL only if `count` is 0."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetStrings(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        values: *const *const ::std::os::raw::c_char,
        count: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a tensor. Waits for work on the buffer's stream, then copies the contents."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetTensor(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: *const MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a subgraph. The attributes hold it; it cannot change once a node uses them."]
    #[doc = ""]
    #[doc = " - `value`: Created by maxGraphCreateSubgraph for the graph that the node is added to."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The graph is not a subgraph."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetGraph(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: *mut MaxGraph,
    ) -> MaxStatus;
}
