// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxEvent {
    _unused: [u8; 0],
}
#[doc = " Options of maxEventCreate."]
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct MaxEventOptions {
    #[doc = " Size of this structure; set by MAX_EVENT_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Not 0 = record the time, for maxEventGetElapsedTime."]
    pub timing: i32,
    #[doc = " Zero."]
    pub reserved: i32,
}
#[test]
fn bindgen_test_layout_MaxEventOptions() {
    assert_eq!(::std::mem::size_of::<MaxEventOptions>(), 16usize, concat!("Size of: ", stringify!(MaxEventOptions)));
    assert_eq!(
        ::std::mem::align_of::<MaxEventOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxEventOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxEventOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxEventOptions, timing), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxEventOptions, reserved), 12usize);
}
