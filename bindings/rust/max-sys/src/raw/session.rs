// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxSession {
    _unused: [u8; 0],
}
#[doc = " Options of maxSessionCreate."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxSessionOptions {
    #[doc = " Size of this structure; set by MAX_SESSION_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Devices, the one that models run on first; NULL = the host."]
    pub devices: *const *mut MaxDevice,
    #[doc = " Number of devices; 0 = the host alone."]
    pub deviceCount: i32,
    #[doc = " Maximum threads per call or load; 0 = the number of physical cores within the affinity mask and CPU quota. Calls"]
    #[doc = " that run at the same time share the cores, so that each may use fewer."]
    pub threadCount: i32,
    #[doc = " Maximum bytes held by loads and calls of the session's models; 0 = no limit. See maxSessionGetMemory."]
    pub memoryLimit: u64,
    #[doc = " Folder in whose `weights` packed weights of mapped models are kept, which later loads of any process map instead of"]
    #[doc = " packing them again; made when it is first needed. NULL = that of MAX_WEIGHTS_CACHE_DIR, if any; \"\" = none. A folder"]
    #[doc = " that cannot be used, or that others can write to, is ignored."]
    pub weightsCacheDir: *const ::std::os::raw::c_char,
}
#[test]
fn bindgen_test_layout_MaxSessionOptions() {
    assert_eq!(
        ::std::mem::size_of::<MaxSessionOptions>(),
        40usize,
        concat!("Size of: ", stringify!(MaxSessionOptions))
    );
    assert_eq!(
        ::std::mem::align_of::<MaxSessionOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxSessionOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxSessionOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxSessionOptions, devices), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxSessionOptions, deviceCount), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxSessionOptions, threadCount), 20usize);
    assert_eq!(::std::mem::offset_of!(MaxSessionOptions, memoryLimit), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxSessionOptions, weightsCacheDir), 32usize);
}
impl Default for MaxSessionOptions {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl MaxSessionMemoryMask {
    #[doc = " MaxSessionMemory::used."]
    pub const MAX_SESSION_MEMORY_USED: MaxSessionMemoryMask = MaxSessionMemoryMask(1);
}
impl MaxSessionMemoryMask {
    #[doc = " MaxSessionMemory::peak."]
    pub const MAX_SESSION_MEMORY_PEAK: MaxSessionMemoryMask = MaxSessionMemoryMask(2);
}
impl MaxSessionMemoryMask {
    #[doc = " MaxSessionMemory::limit."]
    pub const MAX_SESSION_MEMORY_LIMIT: MaxSessionMemoryMask = MaxSessionMemoryMask(4);
}
impl ::std::ops::BitOr<MaxSessionMemoryMask> for MaxSessionMemoryMask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxSessionMemoryMask(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxSessionMemoryMask {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxSessionMemoryMask) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxSessionMemoryMask> for MaxSessionMemoryMask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxSessionMemoryMask(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxSessionMemoryMask {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxSessionMemoryMask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " Valid fields of a MaxSessionMemory: a sum of MAX_SESSION_MEMORY_* values."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxSessionMemoryMask(pub u64);
#[doc = " Memory that a session's models hold, in bytes; an unknown field is zero and missing in validMask."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxSessionMemory {
    #[doc = " Size of this structure; set by MAX_SESSION_MEMORY_INIT."]
    pub structSize: usize,
    #[doc = " Fields that are known: all if the session has a limit, otherwise none."]
    pub validMask: MaxSessionMemoryMask,
    #[doc = " Bytes held now."]
    pub used: u64,
    #[doc = " Most bytes held so far."]
    pub peak: u64,
    #[doc = " MaxSessionOptions::memoryLimit."]
    pub limit: u64,
}
#[test]
fn bindgen_test_layout_MaxSessionMemory() {
    assert_eq!(::std::mem::size_of::<MaxSessionMemory>(), 40usize, concat!("Size of: ", stringify!(MaxSessionMemory)));
    assert_eq!(
        ::std::mem::align_of::<MaxSessionMemory>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxSessionMemory))
    );
    assert_eq!(::std::mem::offset_of!(MaxSessionMemory, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxSessionMemory, validMask), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxSessionMemory, used), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxSessionMemory, peak), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxSessionMemory, limit), 32usize);
}
impl Default for MaxSessionMemory {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl MaxAssertLevel {
    #[doc = " Nothing."]
    pub const MAX_ASSERT_LEVEL_NONE: MaxAssertLevel = MaxAssertLevel(0);
}
impl MaxAssertLevel {
    #[doc = " Like MAX_ASSERT_LEVEL_ALL, but faults are only logged, as warnings."]
    pub const MAX_ASSERT_LEVEL_WARN: MaxAssertLevel = MaxAssertLevel(1);
}
impl MaxAssertLevel {
    #[doc = " That no step writes past the end of its outputs, including the model's, and that shapes are as inferred. Otherwise"]
    #[doc = " calls fail; with MAX_STATUS_OUT_OF_RANGE and a message that names the operator if an extension is at fault."]
    pub const MAX_ASSERT_LEVEL_SAFE: MaxAssertLevel = MaxAssertLevel(2);
}
impl MaxAssertLevel {
    #[doc = " Like MAX_ASSERT_LEVEL_SAFE, and that no step produces NaN or infinity from finite inputs; otherwise calls fail."]
    pub const MAX_ASSERT_LEVEL_ALL: MaxAssertLevel = MaxAssertLevel(3);
}
#[repr(transparent)]
#[doc = " What to check between the steps of a session's models."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxAssertLevel(pub i32);
impl MaxProfilingMode {
    #[doc = " Nothing."]
    pub const MAX_PROFILING_MODE_OFF: MaxProfilingMode = MaxProfilingMode(0);
}
impl MaxProfilingMode {
    #[doc = " Each call and each step of a model."]
    pub const MAX_PROFILING_MODE_ON: MaxProfilingMode = MaxProfilingMode(1);
}
impl MaxProfilingMode {
    #[doc = " Also each step of each loop iteration."]
    pub const MAX_PROFILING_MODE_DETAILED: MaxProfilingMode = MaxProfilingMode(2);
}
#[repr(transparent)]
#[doc = " What a session records about its calls."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxProfilingMode(pub i32);
