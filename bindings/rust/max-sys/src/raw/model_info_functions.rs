// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Reads what a model file contains, without preparing the model to run. Unsupported operators are listed; they are not"]
    #[doc = " an error."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: An ONNX file, a compiled model, or a folder that contains model.onnx or model.maxc."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file does not exist; the message says which names were tried."]
    #[doc = " - `MAX_STATUS_DATA_LOSS`: The file is not an ONNX model or is damaged."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoLoad(path: *const ::std::os::raw::c_char, outInfo: *mut *mut MaxModelInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoRetain(info: *const MaxModelInfo);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoRelease(info: *const MaxModelInfo);
}
unsafe extern "C" {
    #[doc = " Gets the version of the file format; 0 for a graph built in code."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetIrVersion(info: *const MaxModelInfo, outVersion: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of the program that wrote the file; empty if unknown."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetProducer(
        info: *const MaxModelInfo,
        outProducer: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the total number of elements of all weights."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetParameterCount(info: *const MaxModelInfo, outCount: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of operator sets that the model uses."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOpsetCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the domain of an operator set, \"ai.onnx\" for ONNX's own."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOpsetDomain(
        info: *const MaxModelInfo,
        index: i32,
        outDomain: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the version of an operator set."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOpsetVersion(info: *const MaxModelInfo, index: i32, outVersion: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of different operators."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOperatorCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of an operator, for example \"Conv\" or \"com.microsoft.Gelu\". Names are sorted."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOperatorName(
        info: *const MaxModelInfo,
        index: i32,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of nodes that use an operator, including those in subgraphs."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOperatorNodeCount(info: *const MaxModelInfo, index: i32, outCount: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of nodes with unsupported operators."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetUnsupportedCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of a node with an unsupported operator; may be empty."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetUnsupportedNode(
        info: *const MaxModelInfo,
        index: i32,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the operator of an unsupported node, with its domain unless that is ONNX's own."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetUnsupportedOperator(
        info: *const MaxModelInfo,
        index: i32,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the version of the operator set that an unsupported node uses."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetUnsupportedVersion(info: *const MaxModelInfo, index: i32, outVersion: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of inputs that the file declares, without weights."]
    #[doc = ""]
    #[doc = " Thread-safe. Known for models from files, supported or not."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetInputCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about an input; files do not name devices."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetInput(info: *const MaxModelInfo, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of outputs that the file declares."]
    #[doc = ""]
    #[doc = " Thread-safe. Known for models from files, supported or not."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOutputCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about an output; files do not name devices."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOutput(info: *const MaxModelInfo, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of weights: the named tensors that a load can replace."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetWeightCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about a weight. Weights are in the order of the file or graph."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such weight."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetWeight(info: *const MaxModelInfo, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a drawing of the graph as in the file, in the DOT language of Graphviz."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The object is not from maxModelInfoLoad."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetGraph(info: *const MaxModelInfo, outDot: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
