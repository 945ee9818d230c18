// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Makes a cancellation that is not cancelled."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationCreate(outCancellation: *mut *mut MaxCancellation) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationRetain(cancellation: *const MaxCancellation);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Calls hold it until they are done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationRelease(cancellation: *const MaxCancellation);
}
unsafe extern "C" {
    #[doc = " Stops all calls that use the cancellation, those in progress and later ones."]
    #[doc = ""]
    #[doc = " Thread-safe. Returns at once; the calls return when they notice."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationCancel(cancellation: *const MaxCancellation) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Lets later calls run again."]
    #[doc = ""]
    #[doc = " Thread-safe. A call that has not noticed the cancellation yet goes on."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationReset(cancellation: *const MaxCancellation) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether the cancellation has been cancelled."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationIsCancelled(cancellation: *const MaxCancellation, outIsCancelled: *mut i32) -> MaxStatus;
}
