// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxModule {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxKernel {
    _unused: [u8; 0],
}
#[doc = " Options of maxModuleCompile."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxModuleOptions {
    #[doc = " Size of this structure; set by MAX_MODULE_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " The architecture to compile for, as maxDeviceGetArchitectureName names it (\"sm_90\", \"gfx90a\"), or for the host a"]
    #[doc = " value of the compiler's option -march; NULL = the device's own."]
    pub architecture: *const ::std::os::raw::c_char,
    #[doc = " Names of macros to define."]
    pub defineNames: *const *const ::std::os::raw::c_char,
    #[doc = " Values of those macros; NULL, or a NULL entry = 1."]
    pub defineValues: *const *const ::std::os::raw::c_char,
    #[doc = " Names of headers that the source may include."]
    pub headerNames: *const *const ::std::os::raw::c_char,
    #[doc = " Contents of those headers."]
    pub headerTexts: *const *const ::std::os::raw::c_char,
    #[doc = " More options for the compiler; see its documentation."]
    pub flags: *const *const ::std::os::raw::c_char,
    #[doc = " Number of macros."]
    pub defineCount: i32,
    #[doc = " Number of headers."]
    pub headerCount: i32,
    #[doc = " Number of flags."]
    pub flagCount: i32,
    #[doc = " 1 = faster and less exact arithmetic."]
    pub fastMath: i32,
    #[doc = " Maximum registers per thread on accelerators; 0 = the compiler's choice."]
    pub registerLimit: i32,
    #[doc = " 1 = include line numbers for profilers and debuggers."]
    pub lineInfo: i32,
}
#[test]
fn bindgen_test_layout_MaxModuleOptions() {
    assert_eq!(::std::mem::size_of::<MaxModuleOptions>(), 80usize, concat!("Size of: ", stringify!(MaxModuleOptions)));
    assert_eq!(
        ::std::mem::align_of::<MaxModuleOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxModuleOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, architecture), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, defineNames), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, defineValues), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, headerNames), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, headerTexts), 40usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, flags), 48usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, defineCount), 56usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, headerCount), 60usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, flagCount), 64usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, fastMath), 68usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, registerLimit), 72usize);
    assert_eq!(::std::mem::offset_of!(MaxModuleOptions, lineInfo), 76usize);
}
impl Default for MaxModuleOptions {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl MaxArtifactKind {
    #[doc = " The compiler's log: warnings. Text."]
    pub const MAX_ARTIFACT_KIND_LOG: MaxArtifactKind = MaxArtifactKind(1);
}
impl MaxArtifactKind {
    #[doc = " PTX (cuda). Text."]
    pub const MAX_ARTIFACT_KIND_PTX: MaxArtifactKind = MaxArtifactKind(2);
}
impl MaxArtifactKind {
    #[doc = " Machine code of an NVIDIA architecture (cuda)."]
    pub const MAX_ARTIFACT_KIND_CUBIN: MaxArtifactKind = MaxArtifactKind(3);
}
impl MaxArtifactKind {
    #[doc = " Machine code of an AMD architecture (hip)."]
    pub const MAX_ARTIFACT_KIND_CODE_OBJECT: MaxArtifactKind = MaxArtifactKind(4);
}
impl MaxArtifactKind {
    #[doc = " A shared library (cpu)."]
    pub const MAX_ARTIFACT_KIND_SHARED_OBJECT: MaxArtifactKind = MaxArtifactKind(5);
}
impl MaxArtifactKind {
    #[doc = " Assembly (hip, cpu). Text."]
    pub const MAX_ARTIFACT_KIND_ASSEMBLY: MaxArtifactKind = MaxArtifactKind(6);
}
impl MaxArtifactKind {
    #[doc = " LLVM IR (hip, and cpu if the compiler is Clang). Text."]
    pub const MAX_ARTIFACT_KIND_LLVM_IR: MaxArtifactKind = MaxArtifactKind(7);
}
#[repr(transparent)]
#[doc = " A form of compiled code."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxArtifactKind(pub i32);
