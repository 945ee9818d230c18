// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxGraph {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxGraphValue {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxAttributes {
    _unused: [u8; 0],
}
#[doc = " Options of maxGraphAddInput."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxGraphInputOptions {
    #[doc = " Size of this structure; set by MAX_GRAPH_INPUT_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Names of dynamic dimensions, one per dimension, NULL entries = none; equal names mean equal dimensions in the"]
    #[doc = " whole graph. NULL = no names."]
    pub dimensionNames: *const *const ::std::os::raw::c_char,
    #[doc = " Where the input is; NULL = the first device of the session."]
    pub device: *mut MaxDevice,
}
#[test]
fn bindgen_test_layout_MaxGraphInputOptions() {
    assert_eq!(
        ::std::mem::size_of::<MaxGraphInputOptions>(),
        24usize,
        concat!("Size of: ", stringify!(MaxGraphInputOptions))
    );
    assert_eq!(
        ::std::mem::align_of::<MaxGraphInputOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxGraphInputOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxGraphInputOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxGraphInputOptions, dimensionNames), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxGraphInputOptions, device), 16usize);
}
impl Default for MaxGraphInputOptions {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
