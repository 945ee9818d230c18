// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Loads a shared library of operators, for all models loaded and graphs built from now on."]
    #[doc = ""]
    #[doc = " A .cu or .hip file is a kernel source whose comments declare operators; it is compiled. Loading the same file again"]
    #[doc = " does nothing. On failure none of its operators is registered. Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: The file; no search path is used. Its code runs in this process, so load only files that you trust."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file does not exist."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The file is not a loadable shared library or not an extension, or its table is"]
    #[doc = "   not valid; or a source does not compile or declares nothing. The message says why."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: The file is a source, and no compiler was found."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The extension was built for another version of this interface."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: An operator is already defined; the message says where."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The extension is linked to another copy of this library."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExtensionLoad(path: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds operators from the program itself, without a library. The functions and what they use must stay valid until the"]
    #[doc = " process ends; the table and its strings are copied."]
    #[doc = ""]
    #[doc = " Adding the same table again does nothing. On failure none of its operators is registered. Thread-safe."]
    #[doc = ""]
    #[doc = " - `name`: Name of the extension in messages."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The table is not valid; the message says why."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The extension was built for another version of this interface."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: An operator is already defined; the message says where."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExtensionAdd(name: *const ::std::os::raw::c_char, table: *const MaxExtensionTable) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Stores an error message and returns `status`, for `infer`, `prepare` and `execute` to return when they fail."]
    #[doc = ""]
    #[doc = " The message becomes part of the failing call's message, after node, operator and extension. Failing functions of this"]
    #[doc = " library store theirs in the same way. MAX_STATUS_OK becomes MAX_STATUS_UNKNOWN."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExtensionFail(status: MaxStatus, message: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of a node; \"\" if it has none."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetName(
        node: *const MaxOperatorNode,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of inputs of a node, including omitted ones."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetInputCount(node: *const MaxOperatorNode, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of outputs of a node."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetOutputCount(node: *const MaxOperatorNode, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether a node has an attribute; 1 or 0."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeHasAttribute(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        outHas: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets an integer attribute."]
    #[doc = ""]
    #[doc = " - `fallback`: Value if the attribute is missing."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetInt(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        fallback: i64,
        outValue: *mut i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a floating-point attribute."]
    #[doc = ""]
    #[doc = " - `fallback`: Value if the attribute is missing."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetFloat(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        fallback: f32,
        outValue: *mut f32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a string attribute; borrowed."]
    #[doc = ""]
    #[doc = " - `fallback`: Value if the attribute is missing; may be NULL."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetString(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        fallback: *const ::std::os::raw::c_char,
        outValue: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a list of integers; borrowed. NULL and 0 if the attribute is missing."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetInts(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        outValues: *mut *const i64,
        outCount: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a list of floating-point numbers; borrowed. NULL and 0 if the attribute is missing."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetFloats(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        outValues: *mut *const f32,
        outCount: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the length of a list of strings; 0 if the attribute is missing."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetStringCount(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        outCount: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a string of a list of strings; borrowed."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such string."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetStringAt(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        index: i32,
        outValue: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a tensor attribute; borrowed. MAX_DTYPE_INVALID, 0, NULL and NULL if the attribute is missing."]
    #[doc = ""]
    #[doc = " - `outShape`: Dimensions."]
    #[doc = " - `outData`: Elements, dense and row-major."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetTensor(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        outDType: *mut MaxDType,
        outRank: *mut i32,
        outShape: *mut *const i64,
        outData: *mut *const ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a constant input of a node, in `prepare`; borrowed. MAX_DTYPE_INVALID, 0, NULL and NULL if the input is not"]
    #[doc = " constant, and outside `prepare`."]
    #[doc = ""]
    #[doc = " - `outShape`: Dimensions."]
    #[doc = " - `outData`: Elements, dense and row-major."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetConstant(
        node: *const MaxOperatorNode,
        input: i32,
        outDType: *mut MaxDType,
        outRank: *mut i32,
        outShape: *mut *const i64,
        outData: *mut *const ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the device that a node runs on, in `prepare` and `execute`; borrowed. `prepare` can compile kernels for it"]
    #[doc = " (maxModuleCompile) and allocate memory on it. NULL in `infer`, which does not depend on a device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetDevice(node: *const MaxOperatorNode, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the element type of an input; MAX_DTYPE_INVALID if it is omitted or unknown."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextGetInputDType(
        context: *const MaxShapeContext,
        input: i32,
        outDType: *mut MaxDType,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of dimensions of an input; MAX_RANK_DYNAMIC if it is omitted or unknown."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextGetInputRank(context: *const MaxShapeContext, input: i32, outRank: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a dimension of an input; MAX_DIMENSION_DYNAMIC if it is unknown."]
    #[doc = ""]
    #[doc = " - `axis`: Index of the dimension, from 0."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input or dimension."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextGetInputDimension(
        context: *const MaxShapeContext,
        input: i32,
        axis: i32,
        outDimension: *mut i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the contents of an input; borrowed. NULL if they are unknown."]
    #[doc = ""]
    #[doc = " - `outData`: Elements, dense and row-major; the dimensions are then known."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextGetInputData(
        context: *const MaxShapeContext,
        input: i32,
        outData: *mut *const ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the element type of an output, if MaxOperator::types does not."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The node has no such output."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: Outputs cannot have this type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputDType(context: *mut MaxShapeContext, output: i32, dtype: MaxDType) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the dimensions of an output; MAX_DIMENSION_DYNAMIC = unknown."]
    #[doc = ""]
    #[doc = " - `shape`: NULL if `rank` is 0."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The node has no such output."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: A dimension is negative, or there are too many dimensions."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputShape(
        context: *mut MaxShapeContext,
        output: i32,
        rank: i32,
        shape: *const i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets a dimension of an output to that of an input, known or not. The output's shape must have been set."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output, input or dimension."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputDimension(
        context: *mut MaxShapeContext,
        output: i32,
        axis: i32,
        input: i32,
        inputAxis: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the dimensions of an output to those of an input, known or not."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output or input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputLike(context: *mut MaxShapeContext, output: i32, input: i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the dimensions of an output to those of two inputs broadcast together, as in ONNX's Add."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output or input."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The shapes cannot be broadcast; the message names them."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputBroadcast(
        context: *mut MaxShapeContext,
        output: i32,
        inputA: i32,
        inputB: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Requests scratch memory for each call: MaxOperatorCall::scratch."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: More than 2^60 bytes."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetScratchSize(context: *mut MaxShapeContext, byteCount: usize) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Splits \\[0, count) into parts of `grain` and runs them on the call's threads; returns when all parts are done."]
    #[doc = ""]
    #[doc = " - `grain`: At least 1; large enough that a part takes some microseconds."]
    #[doc = " - `body`: Must not throw."]
    #[doc = " - `userData`: First argument of `body`."]
    #[doc = " - `MAX_STATUS_CANCELLED`: The model's call was cancelled; return this status."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The model's call ran out of time; return this status."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorCallParallelFor(
        call: *const MaxOperatorCall,
        count: i64,
        grain: i64,
        body: MaxOperatorLoopFunction,
        userData: *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Allocates an output whose shape is known only at run time, for operators with MAX_OPERATOR_TRAITS_DATA_DEPENDENT."]
    #[doc = ""]
    #[doc = " - `shape`: NULL if `rank` is 0."]
    #[doc = " - `outData`: Memory of the output, to be written completely; NULL if it has no elements or is not used."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The shape contradicts `infer`, or is not valid."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The output is already allocated, or the operator does not have that trait."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorCallAllocateOutput(
        call: *const MaxOperatorCall,
        output: i32,
        rank: i32,
        shape: *const i64,
        outData: *mut *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
