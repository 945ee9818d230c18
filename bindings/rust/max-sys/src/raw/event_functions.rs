// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Creates an event for streams of a device."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `options`: NULL = defaults: no timing."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventCreate(
        device: *const MaxDevice,
        options: *const MaxEventOptions,
        outEvent: *mut *mut MaxEvent,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventRetain(event: *const MaxEvent);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventRelease(event: *const MaxEvent);
}
unsafe extern "C" {
    #[doc = " Gets the device that the event was created for."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the event."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventGetDevice(event: *const MaxEvent, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Waits until the event's newest mark is done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `timeoutNs`: Maximum time to wait in nanoseconds; 0 = no limit."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The mark was not done in time."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The mark is on a stream that a fork has cut off."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventSynchronize(event: *const MaxEvent, timeoutNs: i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells, without waiting, whether the event's newest mark is done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventQuery(event: *const MaxEvent, outIsReady: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the time between two events that are done, in nanoseconds."]
    #[doc = ""]
    #[doc = " Thread-safe. Negative if `end` was done first."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: An event has no timing, was never recorded or is not done."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventGetElapsedTime(start: *const MaxEvent, end: *const MaxEvent, outNanoseconds: *mut i64) -> MaxStatus;
}
