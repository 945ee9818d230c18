// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Creates a session."]
    #[doc = ""]
    #[doc = " Thread-safe. The devices are retained."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: A device is NULL, or a count is negative."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: The first device is virtual."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionCreate(options: *const MaxSessionOptions, outSession: *mut *mut MaxSession) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionRetain(session: *const MaxSession);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Models hold their session."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionRelease(session: *const MaxSession);
}
unsafe extern "C" {
    #[doc = " Gets the number of devices."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetDeviceCount(session: *const MaxSession, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a device."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the session."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetDevice(session: *const MaxSession, index: i32, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the maximum number of threads per call or load."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetThreadCount(session: *const MaxSession, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the lowest level of messages from the session's loads and calls; see maxLogAddCallback."]
    #[doc = ""]
    #[doc = " Thread-safe. Takes effect from the next call on, also for loaded models."]
    #[doc = ""]
    #[doc = " - `level`: MAX_LOG_LEVEL_NOTSET = the default, MAX_LOG_LEVEL_INFO."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There is no such level."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetLogLevel(session: *mut MaxSession, level: MaxLogLevel) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the lowest level of messages from the session's loads and calls."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetLogLevel(session: *const MaxSession, outLevel: *mut MaxLogLevel) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets what to check between the steps of models. Checks cost time; they are for debugging."]
    #[doc = ""]
    #[doc = " Thread-safe. Takes effect from the next call on, also for loaded models."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There is no such level."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetAssertLevel(session: *mut MaxSession, level: MaxAssertLevel) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is checked between the steps of models."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetAssertLevel(session: *const MaxSession, outLevel: *mut MaxAssertLevel) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the type in which partial sums of long float32 matrix products are accumulated."]
    #[doc = ""]
    #[doc = " Products over more than a few hundred elements are computed in parts. MAX_DTYPE_FLOAT32 is the default and the"]
    #[doc = " fastest; MAX_DTYPE_FLOAT64 is more accurate; MAX_DTYPE_FLOAT16 and MAX_DTYPE_BFLOAT16 round after each part, like"]
    #[doc = " accelerators that keep such sums in their outputs' type. Thread-safe. Takes effect from the next call on, also for"]
    #[doc = " loaded models."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: Sums cannot be accumulated in this type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetSplitKReductionPrecision(session: *mut MaxSession, dtype: MaxDType) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the type in which partial sums of long float32 matrix products are accumulated."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetSplitKReductionPrecision(session: *const MaxSession, outDType: *mut MaxDType) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Chooses the algorithm of TopK: not 0 = sort whole rows, 0 = select, which is the default."]
    #[doc = ""]
    #[doc = " Both give the same elements in the same order. Thread-safe. Takes effect from the next call on, also for loaded"]
    #[doc = " models."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetUseOldTopK(session: *mut MaxSession, useOldTopK: i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether TopK sorts whole rows."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetUseOldTopK(session: *const MaxSession, outUseOldTopK: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets what to record about calls of the session's models."]
    #[doc = ""]
    #[doc = " A new session follows the environment variables MAX_ENABLE_PROFILING and MODULAR_ENABLE_PROFILING (off, on or"]
    #[doc = " detailed); this call overrides them. Existing records are kept. Beyond a million steps, new records are dropped."]
    #[doc = " Steps on an accelerator have the times of the device, for which calls then wait. Thread-safe. Takes effect from the"]
    #[doc = " next call on, also for loaded models."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There is no such mode."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetProfiling(session: *mut MaxSession, mode: MaxProfilingMode) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is recorded about calls of the session's models."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetProfiling(session: *const MaxSession, outMode: *mut MaxProfilingMode) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Writes the recorded calls as a trace in Chrome's JSON format, for Perfetto and chrome://tracing."]
    #[doc = ""]
    #[doc = " Each step has its name, start, duration and thread; its arguments are the operator, the implementation that ran, the"]
    #[doc = " types of its inputs and outputs, its position among the nodes, the multiplications of a convolution or product of"]
    #[doc = " matrices, the bytes that it reads and writes, and the nodes of the model that it came from. A node without a name is"]
    #[doc = " called by its operator, position and first output. Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: The file, which is created or replaced."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file's folder does not exist."]
    #[doc = " - `MAX_STATUS_PERMISSION_DENIED`: The file cannot be written."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionWriteProfile(session: *const MaxSession, path: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Deletes the records."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionClearProfile(session: *mut MaxSession) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Reports how much memory the session's models hold."]
    #[doc = ""]
    #[doc = " This includes weights in memory (not in mapped files), packed weights, intermediate values and kernels' scratch"]
    #[doc = " memory, outputs that the library allocated and that have not been released, and temporary memory of loads. It"]
    #[doc = " excludes buffers that the program created, and blocks below 16 KB. Only sessions with a limit keep count."]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `outMemory`: Its structSize must be set; see MAX_SESSION_MEMORY_INIT."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetMemory(session: *const MaxSession, outMemory: *mut MaxSessionMemory) -> MaxStatus;
}
