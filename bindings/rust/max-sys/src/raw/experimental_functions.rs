// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Counts the objects of this process that have not been released: devices,"]
    #[doc = " streams, events, buffers, sessions, models, graphs and host allocations."]
    #[doc = ""]
    #[doc = " Thread-safe. Objects in use by queued work count until the work is done."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExperimentalGetLiveObjectCount(outCount: *mut i64) -> MaxStatus;
}
