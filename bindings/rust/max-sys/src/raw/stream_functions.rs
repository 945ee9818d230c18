// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Creates a stream on a device."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamCreate(
        device: *const MaxDevice,
        options: *const MaxStreamOptions,
        outStream: *mut *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Wraps a driver's stream (cudaStream_t, hipStream_t), which the caller continues to own."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed until the last release of the new stream."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host, which has no driver streams."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device has no driver streams."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The stream belongs to another device, or is the driver's per-thread default"]
    #[doc = "   stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamWrap(
        device: *const MaxDevice,
        native: *mut ::std::os::raw::c_void,
        outStream: *mut *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe. On a default stream this acts on the device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamRetain(stream: *const MaxStream);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Queued work still runs; the call does not wait for it."]
    #[doc = ""]
    #[doc = " Thread-safe. On a default stream this acts on the device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamRelease(stream: *const MaxStream);
}
unsafe extern "C" {
    #[doc = " Gets the device of the stream."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamGetDevice(stream: *const MaxStream, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether this is the default stream of its device."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamIsDefault(stream: *const MaxStream, outIsDefault: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the driver's stream (cudaStream_t, hipStream_t)."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the stream."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device has no driver streams."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamGetNative(stream: *const MaxStream, outNative: *mut *mut ::std::os::raw::c_void) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Waits until all work on the stream is done."]
    #[doc = ""]
    #[doc = " Thread-safe. Returns the first failure since the last call, once."]
    #[doc = ""]
    #[doc = " - `timeoutNs`: Maximum time to wait in nanoseconds; 0 = no limit."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The work was not done in time; it continues, and nothing else has changed."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Called from a host function of this stream, a fork has cut the stream off, or"]
    #[doc = "   other code is capturing the stream for a graph."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamSynchronize(stream: *mut MaxStream, timeoutNs: i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes later work on the stream wait for all work now on another stream."]
    #[doc = ""]
    #[doc = " Asynchronous. The streams may belong to different devices. Thread-safe. On the host's default stream the call itself"]
    #[doc = " waits."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamWaitForStream(stream: *mut MaxStream, other: *mut MaxStream) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes later work on the stream wait for all work now on a device's default stream."]
    #[doc = ""]
    #[doc = " Asynchronous. Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamWaitForDevice(stream: *mut MaxStream, device: *const MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes later work on the stream wait for the newest mark of an event."]
    #[doc = ""]
    #[doc = " Asynchronous: the event is retained until then. Thread-safe. On the host's default stream the call itself waits."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamWaitForEvent(stream: *mut MaxStream, event: *const MaxEvent) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Records an event on the stream: it is done when all work now on the stream is done."]
    #[doc = ""]
    #[doc = " Asynchronous: the event is retained until then. Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: Event and stream belong to different devices."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamRecordEvent(stream: *mut MaxStream, event: *mut MaxEvent) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Calls a function when all work now on the stream is done."]
    #[doc = ""]
    #[doc = " Asynchronous: `userData` is borrowed until the function has been called. Thread-safe. On the host's default stream"]
    #[doc = " the function runs before this call returns. It is called exactly once if this call succeeds, else not at all."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Other code is capturing the stream for a graph, which would repeat the call."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamEnqueueHostFunction(
        stream: *mut MaxStream,
        function: MaxHostFunction,
        userData: *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
