// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Adds a callback for the messages of the process."]
    #[doc = ""]
    #[doc = " Thread-safe. `userData` is borrowed until the callback is removed. A callback added twice is called twice."]
    #[doc = ""]
    #[doc = " - `level`: Lowest level of messages for this callback."]
    #[doc = " - `outToken`: For maxLogRemoveCallback; 0 on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There is no such level."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxLogAddCallback(
        callback: MaxLogCallback,
        userData: *mut ::std::os::raw::c_void,
        level: MaxLogLevel,
        outToken: *mut MaxLogToken,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Removes a callback."]
    #[doc = ""]
    #[doc = " Thread-safe. When this function returns, the callback is no longer running and will not be called again. Called from"]
    #[doc = " within a callback, it does not wait, since it could wait for itself: the callback is not called again, but calls in"]
    #[doc = " progress go on."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The token was never issued, or its callback was already removed."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxLogRemoveCallback(token: MaxLogToken) -> MaxStatus;
}
