// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

#[doc = " Options of maxStreamCreate."]
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct MaxStreamOptions {
    #[doc = " Size of this structure; set by MAX_STREAM_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " A hint for accelerators: work on streams of higher priority goes first."]
    pub priority: i32,
    #[doc = " Zero."]
    pub reserved: i32,
}
#[test]
fn bindgen_test_layout_MaxStreamOptions() {
    assert_eq!(::std::mem::size_of::<MaxStreamOptions>(), 16usize, concat!("Size of: ", stringify!(MaxStreamOptions)));
    assert_eq!(
        ::std::mem::align_of::<MaxStreamOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxStreamOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxStreamOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxStreamOptions, priority), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxStreamOptions, reserved), 12usize);
}
#[doc = " A function that runs in stream order."]
#[doc = ""]
#[doc = " Called exactly once, from any thread. It may call functions of this library, but must not wait for its own stream (on"]
#[doc = " accelerators: any stream of its device) and must not throw. If it waits, it may delay host functions of other"]
#[doc = " streams. Its accesses to buffers come after the work queued before it on its stream, not after later work. `status`:"]
#[doc = " MAX_STATUS_OK, or the failure of earlier work, whose message maxGetLastErrorMessage returns inside the function."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxHostFunction =
    ::std::option::Option<unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void, status: MaxStatus)>;
