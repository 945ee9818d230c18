// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxModel {
    _unused: [u8; 0],
}
impl MaxPrecision {
    #[doc = " float32 throughout."]
    pub const MAX_PRECISION_HIGHEST: MaxPrecision = MaxPrecision(0);
}
impl MaxPrecision {
    #[doc = " Products of factors in two bfloat16 parts, within 2^-15 of them; of tf32 on accelerators."]
    pub const MAX_PRECISION_HIGH: MaxPrecision = MaxPrecision(1);
}
impl MaxPrecision {
    #[doc = " bfloat16 products with float32 sums; products with weights of few bits (MatMulNBits) take bytes."]
    pub const MAX_PRECISION_MEDIUM: MaxPrecision = MaxPrecision(2);
}
#[repr(transparent)]
#[doc = " Minimum precision of float32 products. If this machine has nothing faster at it, the next higher one is used."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxPrecision(pub i32);
#[doc = " Reports the progress of a load: `fraction` rises from 0 to 1, and `phase` says what is being done."]
#[doc = ""]
#[doc = " Called from the loading thread, rarely enough to redraw a progress bar each time. It may call functions of this"]
#[doc = " library and must not throw. `phase` is borrowed until it returns."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxProgressCallback = ::std::option::Option<
    unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void, fraction: f64, phase: *const ::std::os::raw::c_char),
>;
#[doc = " Options of maxModelLoad, maxModelLoadFromMemory and maxModelCompile."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxModelLoadOptions {
    #[doc = " Size of this structure; set by MAX_MODEL_LOAD_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Names of weights to replace, `weightCount` of them; NULL = none. Their own data is not read, and may be missing."]
    pub weightNames: *const *const ::std::os::raw::c_char,
    #[doc = " Buffers that replace them, of equal dtype and shape, used without a copy if dense and in host memory;"]
    #[doc = " retained by the model, and must no longer be written."]
    pub weights: *const *mut MaxBuffer,
    #[doc = " Number of weights to replace."]
    pub weightCount: i32,
    #[doc = " Minimum precision of products."]
    pub precision: MaxPrecision,
    #[doc = " Not 0 = the file is copied; otherwise a large file is mapped and must not shrink while the model exists."]
    pub copyWeights: i32,
    #[doc = " Not 0 = ignore weights in weightNames that the model does not have; otherwise the load fails with NOT_FOUND."]
    pub ignoreUnknownWeights: i32,
    #[doc = " Stops the load when it is cancelled; NULL = none."]
    pub cancellation: *const MaxCancellation,
    #[doc = " Time limit of the load in nanoseconds; 0 = no limit."]
    pub timeoutNs: i64,
    #[doc = " Reports progress; NULL = none."]
    pub progress: MaxProgressCallback,
    #[doc = " First argument of `progress`; borrowed until the load is done."]
    pub progressUserData: *mut ::std::os::raw::c_void,
    #[doc = " Files of extensions to load first; see maxExtensionLoad. NULL = none."]
    pub extensions: *const *const ::std::os::raw::c_char,
    #[doc = " Number of extensions."]
    pub extensionCount: i32,
    #[doc = " Zero."]
    pub reserved: i32,
    #[doc = " A file of replacement weights, as maxWeightsLoad reads it; those in `weightNames` take precedence. NULL = none."]
    pub weightsPath: *const ::std::os::raw::c_char,
}
#[test]
fn bindgen_test_layout_MaxModelLoadOptions() {
    assert_eq!(
        ::std::mem::size_of::<MaxModelLoadOptions>(),
        96usize,
        concat!("Size of: ", stringify!(MaxModelLoadOptions))
    );
    assert_eq!(
        ::std::mem::align_of::<MaxModelLoadOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxModelLoadOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, weightNames), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, weights), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, weightCount), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, precision), 28usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, copyWeights), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, ignoreUnknownWeights), 36usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, cancellation), 40usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, timeoutNs), 48usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, progress), 56usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, progressUserData), 64usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, extensions), 72usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, extensionCount), 80usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, reserved), 84usize);
    assert_eq!(::std::mem::offset_of!(MaxModelLoadOptions, weightsPath), 88usize);
}
impl Default for MaxModelLoadOptions {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = " Options of maxModelExecute."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxModelExecuteOptions {
    #[doc = " Size of this structure; set by MAX_MODEL_EXECUTE_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Stream of the model's device that the call runs on; NULL = the device's default stream."]
    pub stream: *mut MaxStream,
    #[doc = " One entry per output: a buffer to write to, NULL = allocate one; NULL = allocate all."]
    pub outputs: *const *mut MaxBuffer,
    #[doc = " Stops the call when it is cancelled; retained until the work is done. NULL = none."]
    pub cancellation: *const MaxCancellation,
    #[doc = " Time limit of the call in nanoseconds, including time queued on a stream; 0 = no limit."]
    pub timeoutNs: i64,
}
#[test]
fn bindgen_test_layout_MaxModelExecuteOptions() {
    assert_eq!(
        ::std::mem::size_of::<MaxModelExecuteOptions>(),
        40usize,
        concat!("Size of: ", stringify!(MaxModelExecuteOptions))
    );
    assert_eq!(
        ::std::mem::align_of::<MaxModelExecuteOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxModelExecuteOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxModelExecuteOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxModelExecuteOptions, stream), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxModelExecuteOptions, outputs), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxModelExecuteOptions, cancellation), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxModelExecuteOptions, timeoutNs), 32usize);
}
impl Default for MaxModelExecuteOptions {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl MaxModelMemoryMask {
    #[doc = " mappedWeights is known."]
    pub const MAX_MODEL_MEMORY_MAPPED_WEIGHTS: MaxModelMemoryMask = MaxModelMemoryMask(1);
}
impl MaxModelMemoryMask {
    #[doc = " ownedWeights is known."]
    pub const MAX_MODEL_MEMORY_OWNED_WEIGHTS: MaxModelMemoryMask = MaxModelMemoryMask(2);
}
impl MaxModelMemoryMask {
    #[doc = " packedWeights is known."]
    pub const MAX_MODEL_MEMORY_PACKED_WEIGHTS: MaxModelMemoryMask = MaxModelMemoryMask(4);
}
impl MaxModelMemoryMask {
    #[doc = " plans is known."]
    pub const MAX_MODEL_MEMORY_PLANS: MaxModelMemoryMask = MaxModelMemoryMask(8);
}
impl MaxModelMemoryMask {
    #[doc = " arenas is known."]
    pub const MAX_MODEL_MEMORY_ARENAS: MaxModelMemoryMask = MaxModelMemoryMask(16);
}
impl MaxModelMemoryMask {
    #[doc = " outputs is known."]
    pub const MAX_MODEL_MEMORY_OUTPUTS: MaxModelMemoryMask = MaxModelMemoryMask(32);
}
impl MaxModelMemoryMask {
    #[doc = " total is known."]
    pub const MAX_MODEL_MEMORY_TOTAL: MaxModelMemoryMask = MaxModelMemoryMask(64);
}
impl ::std::ops::BitOr<MaxModelMemoryMask> for MaxModelMemoryMask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxModelMemoryMask(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxModelMemoryMask {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxModelMemoryMask) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxModelMemoryMask> for MaxModelMemoryMask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxModelMemoryMask(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxModelMemoryMask {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxModelMemoryMask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " Valid fields of a MaxModelMemory: a sum of MAX_MODEL_MEMORY_* values."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxModelMemoryMask(pub u64);
#[doc = " Memory that a model holds, in bytes; an unknown field is zero and missing in validMask. See maxModelGetMemory."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxModelMemory {
    #[doc = " Size of this structure; set by MAX_MODEL_MEMORY_INIT."]
    pub structSize: usize,
    #[doc = " Fields that are known."]
    pub validMask: MaxModelMemoryMask,
    #[doc = " Weights in mapped files; the system may drop their pages."]
    pub mappedWeights: u64,
    #[doc = " Weights and other constants in memory."]
    pub ownedWeights: u64,
    #[doc = " Weights packed for their kernels, and other data that nodes prepared at load."]
    pub packedWeights: u64,
    #[doc = " Plans for recent input shapes, approximately."]
    pub plans: u64,
    #[doc = " Memory for intermediate values, in use or kept for later calls."]
    pub arenas: u64,
    #[doc = " Memory of released outputs, kept for later calls."]
    pub outputs: u64,
    #[doc = " The sum of the above."]
    pub total: u64,
}
#[test]
fn bindgen_test_layout_MaxModelMemory() {
    assert_eq!(::std::mem::size_of::<MaxModelMemory>(), 72usize, concat!("Size of: ", stringify!(MaxModelMemory)));
    assert_eq!(::std::mem::align_of::<MaxModelMemory>(), 8usize, concat!("Alignment of ", stringify!(MaxModelMemory)));
    assert_eq!(::std::mem::offset_of!(MaxModelMemory, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxModelMemory, validMask), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxModelMemory, mappedWeights), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxModelMemory, ownedWeights), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxModelMemory, packedWeights), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxModelMemory, plans), 40usize);
    assert_eq!(::std::mem::offset_of!(MaxModelMemory, arenas), 48usize);
    assert_eq!(::std::mem::offset_of!(MaxModelMemory, outputs), 56usize);
    assert_eq!(::std::mem::offset_of!(MaxModelMemory, total), 64usize);
}
impl Default for MaxModelMemory {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl MaxModelDeviceMemoryMask {
    #[doc = " MaxModelDeviceMemory::weights."]
    pub const MAX_MODEL_DEVICE_MEMORY_WEIGHTS: MaxModelDeviceMemoryMask = MaxModelDeviceMemoryMask(1);
}
impl MaxModelDeviceMemoryMask {
    #[doc = " MaxModelDeviceMemory::arenas."]
    pub const MAX_MODEL_DEVICE_MEMORY_ARENAS: MaxModelDeviceMemoryMask = MaxModelDeviceMemoryMask(2);
}
impl MaxModelDeviceMemoryMask {
    #[doc = " MaxModelDeviceMemory::code."]
    pub const MAX_MODEL_DEVICE_MEMORY_CODE: MaxModelDeviceMemoryMask = MaxModelDeviceMemoryMask(4);
}
impl MaxModelDeviceMemoryMask {
    #[doc = " MaxModelDeviceMemory::total."]
    pub const MAX_MODEL_DEVICE_MEMORY_TOTAL: MaxModelDeviceMemoryMask = MaxModelDeviceMemoryMask(8);
}
impl ::std::ops::BitOr<MaxModelDeviceMemoryMask> for MaxModelDeviceMemoryMask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxModelDeviceMemoryMask(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxModelDeviceMemoryMask {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxModelDeviceMemoryMask) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxModelDeviceMemoryMask> for MaxModelDeviceMemoryMask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxModelDeviceMemoryMask(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxModelDeviceMemoryMask {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxModelDeviceMemoryMask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " Valid fields of a MaxModelDeviceMemory: a sum of MAX_MODEL_DEVICE_MEMORY_* values."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxModelDeviceMemoryMask(pub u64);
#[doc = " Memory that a model holds on one device, in bytes. See maxModelGetDeviceMemory."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxModelDeviceMemory {
    #[doc = " Size of this structure; set by MAX_MODEL_DEVICE_MEMORY_INIT."]
    pub structSize: usize,
    #[doc = " Fields that are known."]
    pub validMask: MaxModelDeviceMemoryMask,
    #[doc = " Weights, other constants and what nodes prepared at load; on the host those in mapped files, too."]
    pub weights: u64,
    #[doc = " Memory for intermediate values, in use or kept for later calls; page-locked memory counts for the host."]
    pub arenas: u64,
    #[doc = " Code of the kernels that the model was compiled to; the driver may take more for it. 0 for the host."]
    pub code: u64,
    #[doc = " The sum of the above."]
    pub total: u64,
}
#[test]
fn bindgen_test_layout_MaxModelDeviceMemory() {
    assert_eq!(
        ::std::mem::size_of::<MaxModelDeviceMemory>(),
        48usize,
        concat!("Size of: ", stringify!(MaxModelDeviceMemory))
    );
    assert_eq!(
        ::std::mem::align_of::<MaxModelDeviceMemory>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxModelDeviceMemory))
    );
    assert_eq!(::std::mem::offset_of!(MaxModelDeviceMemory, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxModelDeviceMemory, validMask), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxModelDeviceMemory, weights), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxModelDeviceMemory, arenas), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxModelDeviceMemory, code), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxModelDeviceMemory, total), 40usize);
}
impl Default for MaxModelDeviceMemory {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
