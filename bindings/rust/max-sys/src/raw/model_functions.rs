// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Loads a model."]
    #[doc = ""]
    #[doc = " Thread-safe. The session is retained."]
    #[doc = ""]
    #[doc = " Models of the same file share the mapped file and its prepared weights, even across sessions."]
    #[doc = ""]
    #[doc = " - `path`: An ONNX file, a compiled model from maxModelSave, or a folder that contains model.onnx or"]
    #[doc = "   model.maxc."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file does not exist; the message says which names were tried. Or the model does not"]
    #[doc = "   have a weight in the options, and ignoreUnknownWeights is 0."]
    #[doc = " - `MAX_STATUS_DATA_LOSS`: The file is not a model, or is damaged."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The model is inconsistent; the message names the node or tensor."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The model uses unsupported operators; the message lists them all."]
    #[doc = " - `MAX_STATUS_CANCELLED`: The load was cancelled through the options."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The time limit in the options passed."]
    #[doc = " - `MAX_STATUS_RESOURCE_EXHAUSTED`: The session's memory limit would be exceeded."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: An extension in the options defines an operator that is already defined."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelLoad(
        session: *const MaxSession,
        path: *const ::std::os::raw::c_char,
        options: *const MaxModelLoadOptions,
        outModel: *mut *mut MaxModel,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Loads a model from the bytes of an ONNX file, which are copied. Weights in external files are rejected."]
    #[doc = ""]
    #[doc = " Thread-safe. The session is retained. Fails like maxModelLoad."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelLoadFromMemory(
        session: *const MaxSession,
        data: *const ::std::os::raw::c_void,
        byteCount: usize,
        options: *const MaxModelLoadOptions,
        outModel: *mut *mut MaxModel,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Compiles a graph built in code to a model. The graph does not change."]
    #[doc = ""]
    #[doc = " The model holds the graph's constants and weights, without a copy, beside what it prepares from them: it can be"]
    #[doc = " saved, and its weights can be replaced."]
    #[doc = ""]
    #[doc = " Thread-safe. The session is retained."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The graph has no outputs, or a weight has no contents."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelCompile(
        session: *const MaxSession,
        graph: *const MaxGraph,
        options: *const MaxModelLoadOptions,
        outModel: *mut *mut MaxModel,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Replaces weights of a loaded model by name, even weights that the compiler has transformed."]
    #[doc = ""]
    #[doc = " All or nothing: each call of maxModelExecute runs with all the old weights or all the new ones. Calls in progress and"]
    #[doc = " captured calls keep the old weights. Weights replaced earlier stay replaced. Prepared data of other weights is kept"]
    #[doc = " if they are in a mapped file. Thread-safe."]
    #[doc = ""]
    #[doc = " - `names`: Names of weights, `count` of them."]
    #[doc = " - `weights`: Buffers of equal dtype and shape; retained by the model, and must no longer be written."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The model has no weight with one of the names; the message says which."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: A buffer does not have the weight's dtype and shape."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The model's own weights were not kept, because they exceed 16 MB and were"]
    #[doc = "   loaded from memory or with copyWeights; or the model's file has changed."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelReplaceWeights(
        model: *mut MaxModel,
        names: *const *const ::std::os::raw::c_char,
        weights: *const *mut MaxBuffer,
        count: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Writes the optimised model with its current weights, as a compiled model that maxModelLoad reads."]
    #[doc = ""]
    #[doc = " The file appears whole or not at all. It works on every CPU; weights are packed at load. Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: The file, which is created or replaced; such files are usually called NAME.maxc."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file's folder does not exist."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The model's weights were not kept; see maxModelReplaceWeights."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelSave(model: *const MaxModel, path: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelRetain(model: *const MaxModel);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Queued work holds the model until it is done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelRelease(model: *const MaxModel);
}
unsafe extern "C" {
    #[doc = " Gets the session that loaded the model."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the model."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetSession(model: *const MaxModel, outSession: *mut *mut MaxSession) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the precision of products: the requested one, or the next higher one that this machine has."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetPrecision(model: *const MaxModel, outPrecision: *mut MaxPrecision) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of inputs."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetInputCount(model: *const MaxModel, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about an input: name, type, dimensions, device."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the model."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetInput(model: *const MaxModel, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Finds an input by name."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No input has this name; the message lists the inputs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelFindInput(
        model: *const MaxModel,
        name: *const ::std::os::raw::c_char,
        outIndex: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of outputs."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetOutputCount(model: *const MaxModel, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about an output: name, type, dimensions, device."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the model."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetOutput(model: *const MaxModel, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Finds an output by name."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No output has this name; the message lists the outputs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelFindOutput(
        model: *const MaxModel,
        name: *const ::std::os::raw::c_char,
        outIndex: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs the model."]
    #[doc = ""]
    #[doc = " On the host's default stream the outputs are complete when the call returns. On a created stream, and on any stream"]
    #[doc = " of an accelerator, the call returns once the work is queued; inputs, outputs and model are retained until it is"]
    #[doc = " done, and a failure stays with the stream. In both cases outputs have their final shapes, so a model whose shapes"]
    #[doc = " depend on values waits inside the call, as does one with steps on both an accelerator and the host. Outputs never"]
    #[doc = " share memory with inputs or each other. Thread-safe."]
    #[doc = ""]
    #[doc = " - `inputs`: One buffer per input, in the model's order, contiguous, on the model's device."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `outOutputs`: Room for one buffer per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The number, type, shape, layout or device of an input or of an output buffer in"]
    #[doc = "   the options is wrong."]
    #[doc = " - `MAX_STATUS_CANCELLED`: The call was cancelled through the options; output buffers in the options may be partly"]
    #[doc = "   written."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The same for the time limit in the options."]
    #[doc = " - `MAX_STATUS_RESOURCE_EXHAUSTED`: The session's memory limit would be exceeded."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelExecute(
        model: *const MaxModel,
        inputs: *const *mut MaxBuffer,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
        outOutputs: *mut *mut MaxBuffer,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs the model on host arrays, without buffers: input i is `data[i]`, with `dtypes[i]`, `ranks[i]` and `shapes[i]`."]
    #[doc = ""]
    #[doc = " Like maxModelExecute. The arrays are borrowed until the call returns, so it waits until the work is done; on a"]
    #[doc = " created stream, after everything queued there. Outputs never share the caller's memory. Thread-safe."]
    #[doc = ""]
    #[doc = " - `data`: Dense, row-major; NULL for an input without elements. Data that is not aligned for its type is"]
    #[doc = "   copied first."]
    #[doc = " - `shapes`: An entry may be NULL if its rank is 0."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `outOutputs`: Room for one buffer per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: As for maxModelExecute; or an input holds strings, which are not arrays of"]
    #[doc = "   bytes."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelExecuteHost(
        model: *const MaxModel,
        data: *const *const ::std::os::raw::c_void,
        dtypes: *const MaxDType,
        ranks: *const i32,
        shapes: *const *const i64,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
        outOutputs: *mut *mut MaxBuffer,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs the model with inputs and outputs by name: all inputs in any order, and the wanted outputs in the order of"]
    #[doc = " `outputNames`. The whole model runs in any case."]
    #[doc = ""]
    #[doc = " Like maxModelExecute. Thread-safe."]
    #[doc = ""]
    #[doc = " - `inputNames`: `inputCount` names, for the entries of `inputs`."]
    #[doc = " - `options`: NULL = defaults; `outputs` has an entry for each of `outputNames`."]
    #[doc = " - `outputNames`: `outputCount` names, for the entries of `outOutputs`."]
    #[doc = " - `outOutputs`: Each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The model has no input or output with one of the names; the message lists them all."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: As for maxModelExecute; or an input is missing, or a name occurs twice."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelExecuteByName(
        model: *const MaxModel,
        inputNames: *const *const ::std::os::raw::c_char,
        inputs: *const *mut MaxBuffer,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
        outputNames: *const *const ::std::os::raw::c_char,
        outOutputs: *mut *mut MaxBuffer,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs the model once and keeps the call under a key: its plan, bound to these inputs and outputs. maxModelReplay then"]
    #[doc = " runs it again without any lookup or allocation; between replays the program changes the contents of the inputs."]
    #[doc = ""]
    #[doc = " On the host the call runs at once, in the calling thread; on a created stream it first waits for the work queued"]
    #[doc = " there. On an accelerator it becomes a graph of the driver, which repeats all of it with one launch, and the first"]
    #[doc = " launch is queued. A key already captured with the same inputs is replayed and gives the same outputs. Inputs and"]
    #[doc = " outputs are retained until maxModelForgetCaptured or the end of the model. Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `outOutputs`: Room for one buffer per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There are no inputs, or as for maxModelExecute."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: The key was captured with other inputs."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: What the model executes depends on values, or a node of a model on an"]
    #[doc = "   accelerator runs on the host or draws new random numbers; the message names the node."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The model has values that are not numbers, or the driver has no graphs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelCapture(
        model: *const MaxModel,
        graphKey: u64,
        inputs: *const *mut MaxBuffer,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
        outOutputs: *mut *mut MaxBuffer,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs a captured call again: reads the captured inputs, writes the captured outputs."]
    #[doc = ""]
    #[doc = " On a created stream, and on an accelerator, the call returns once the work is queued. Weights and settings are those"]
    #[doc = " of the capture."]
    #[doc = " Thread-safe, but one replay of a key runs at a time."]
    #[doc = ""]
    #[doc = " - `inputs`: The captured buffers."]
    #[doc = " - `options`: NULL = defaults; `outputs` must be NULL."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: Nothing was captured with this key."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: An input is not the one that was captured."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Another thread is replaying the key."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelReplay(
        model: *const MaxModel,
        graphKey: u64,
        inputs: *const *mut MaxBuffer,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs the model like maxModelExecute and compares the steps that ran with the captured ones. The captured outputs do"]
    #[doc = " not change."]
    #[doc = ""]
    #[doc = " Waits until the work is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `inputs`: The captured buffers."]
    #[doc = " - `options`: NULL = defaults; `outputs` must be NULL."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: Nothing was captured with this key."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: An input is not the one that was captured."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The steps differ, for example because settings changed; the message names the"]
    #[doc = "   first difference. Or weights were replaced since the capture."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelVerifyReplay(
        model: *const MaxModel,
        graphKey: u64,
        inputs: *const *mut MaxBuffer,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Forgets a captured call. Queued replays still run."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: Nothing was captured with this key."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelForgetCaptured(model: *const MaxModel, graphKey: u64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the memory that the model holds, by category. Weights that several models share count in each."]
    #[doc = ""]
    #[doc = " Thread-safe. maxDeviceTrim frees what is kept for later calls."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetMemory(model: *const MaxModel, outMemory: *mut MaxModelMemory) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the memory that the model holds on one device of its session, or on the host. Weights and code that several"]
    #[doc = " models share count in each."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the first device of the session."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The session does not have the device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetDeviceMemory(
        model: *const MaxModel,
        device: *const MaxDevice,
        outMemory: *mut MaxModelDeviceMemory,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs a model on values, for inputs and outputs that are sequences, optionals or maps as well as tensors."]
    #[doc = ""]
    #[doc = " Like maxModelExecute, but always waits inside the call. For an optional input, the value that it would hold is"]
    #[doc = " accepted too."]
    #[doc = ""]
    #[doc = " - `inputs`: One value per input, in the model's order."]
    #[doc = " - `options`: NULL = defaults. Output buffers can only be set for outputs that are tensors."]
    #[doc = " - `outOutputs`: Room for one value per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The number, type, shape, layout or device of an input or of an output buffer in"]
    #[doc = "   the options is wrong."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelExecuteValues(
        model: *const MaxModel,
        inputs: *const *mut MaxValue,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
        outOutputs: *mut *mut MaxValue,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what the model's file or graph contained."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the model."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetInfo(model: *const MaxModel, outInfo: *mut *mut MaxModelInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a drawing of the graph that a model runs, after the compiler's passes, in the DOT language of Graphviz."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the model; replacing weights does not change the text."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetGraph(model: *const MaxModel, outDot: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
