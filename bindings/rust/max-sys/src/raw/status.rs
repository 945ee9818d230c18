// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

impl MaxStatus {
    #[doc = " The call succeeded."]
    pub const MAX_STATUS_OK: MaxStatus = MaxStatus(0);
}
impl MaxStatus {
    #[doc = " The caller cancelled the work."]
    pub const MAX_STATUS_CANCELLED: MaxStatus = MaxStatus(1);
}
impl MaxStatus {
    #[doc = " An error that fits no other code."]
    pub const MAX_STATUS_UNKNOWN: MaxStatus = MaxStatus(2);
}
impl MaxStatus {
    #[doc = " An argument is wrong, whatever the state of the system."]
    pub const MAX_STATUS_INVALID_ARGUMENT: MaxStatus = MaxStatus(3);
}
impl MaxStatus {
    #[doc = " A deadline passed before the work was done."]
    pub const MAX_STATUS_DEADLINE_EXCEEDED: MaxStatus = MaxStatus(4);
}
impl MaxStatus {
    #[doc = " A named thing (file, device, input) does not exist."]
    pub const MAX_STATUS_NOT_FOUND: MaxStatus = MaxStatus(5);
}
impl MaxStatus {
    #[doc = " The thing to be created already exists."]
    pub const MAX_STATUS_ALREADY_EXISTS: MaxStatus = MaxStatus(6);
}
impl MaxStatus {
    #[doc = " The operating system or the caller's settings forbid it."]
    pub const MAX_STATUS_PERMISSION_DENIED: MaxStatus = MaxStatus(7);
}
impl MaxStatus {
    #[doc = " Out of memory or another resource; smaller requests may succeed."]
    pub const MAX_STATUS_RESOURCE_EXHAUSTED: MaxStatus = MaxStatus(8);
}
impl MaxStatus {
    #[doc = " The object is not in the required state."]
    pub const MAX_STATUS_FAILED_PRECONDITION: MaxStatus = MaxStatus(9);
}
impl MaxStatus {
    #[doc = " The work was aborted because of a conflict; it can be retried."]
    pub const MAX_STATUS_ABORTED: MaxStatus = MaxStatus(10);
}
impl MaxStatus {
    #[doc = " An index or range is outside its object."]
    pub const MAX_STATUS_OUT_OF_RANGE: MaxStatus = MaxStatus(11);
}
impl MaxStatus {
    #[doc = " This build, version or device does not support it."]
    pub const MAX_STATUS_UNIMPLEMENTED: MaxStatus = MaxStatus(12);
}
impl MaxStatus {
    #[doc = " A bug in the library; please report it."]
    pub const MAX_STATUS_INTERNAL: MaxStatus = MaxStatus(13);
}
impl MaxStatus {
    #[doc = " A driver, compiler or device is not available."]
    pub const MAX_STATUS_UNAVAILABLE: MaxStatus = MaxStatus(14);
}
impl MaxStatus {
    #[doc = " A file is damaged or truncated."]
    pub const MAX_STATUS_DATA_LOSS: MaxStatus = MaxStatus(15);
}
#[repr(transparent)]
#[doc = " Result of a call: MAX_STATUS_OK (zero) or the reason for its failure."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxStatus(pub i32);
