// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

pub const MAX_BUFFER_RANK_LIMIT: u32 = 16;
pub const MAX_SLICE_OMITTED: i64 = -9223372036854775807;
#[doc = " DLPack's versioned managed tensor (DLPack 1.0 and later). It is declared in dlpack.h of the DLPack project"]
#[doc = " (github.com/dmlc/dlpack), one header without dependencies; this library needs only its name."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct DLManagedTensorVersioned {
    _unused: [u8; 0],
}
#[doc = " DLPack's unversioned managed tensor; older versions of dlpack.h, such as Debian's 0.6, have only this one."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct DLManagedTensor {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxBuffer {
    _unused: [u8; 0],
}
#[doc = " Options of maxBufferCreate."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxBufferOptions {
    #[doc = " Size of this structure; set by MAX_BUFFER_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Stream to bind the buffer to; NULL = the device's default stream."]
    pub stream: *mut MaxStream,
    #[doc = " Alignment in bytes, a power of two; 0 = 64."]
    pub alignment: usize,
    #[doc = " Not 0 = page-locked host memory; on an accelerator, host memory that it can access."]
    pub pinned: i32,
    #[doc = " Not 0 = filled with zeros."]
    pub zeroed: i32,
}
#[test]
fn bindgen_test_layout_MaxBufferOptions() {
    assert_eq!(::std::mem::size_of::<MaxBufferOptions>(), 32usize, concat!("Size of: ", stringify!(MaxBufferOptions)));
    assert_eq!(
        ::std::mem::align_of::<MaxBufferOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxBufferOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxBufferOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferOptions, stream), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferOptions, alignment), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferOptions, pinned), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferOptions, zeroed), 28usize);
}
impl Default for MaxBufferOptions {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = " Options of functions that copy a buffer: maxBufferClone, maxBufferTo, maxBufferContiguous."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxBufferCopyOptions {
    #[doc = " Size of this structure; set by MAX_BUFFER_COPY_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Stream that copies, and to which the result is bound; NULL = see the function."]
    pub stream: *mut MaxStream,
}
#[test]
fn bindgen_test_layout_MaxBufferCopyOptions() {
    assert_eq!(
        ::std::mem::size_of::<MaxBufferCopyOptions>(),
        16usize,
        concat!("Size of: ", stringify!(MaxBufferCopyOptions))
    );
    assert_eq!(
        ::std::mem::align_of::<MaxBufferCopyOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxBufferCopyOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxBufferCopyOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferCopyOptions, stream), 8usize);
}
impl Default for MaxBufferCopyOptions {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl MaxBufferFlags {
    #[doc = " The elements are stored without gaps in row-major order."]
    pub const MAX_BUFFER_FLAG_CONTIGUOUS: MaxBufferFlags = MaxBufferFlags(1);
}
impl MaxBufferFlags {
    #[doc = " The buffer is on the host."]
    pub const MAX_BUFFER_FLAG_HOST: MaxBufferFlags = MaxBufferFlags(2);
}
impl MaxBufferFlags {
    #[doc = " The memory is page-locked."]
    pub const MAX_BUFFER_FLAG_PINNED: MaxBufferFlags = MaxBufferFlags(4);
}
impl MaxBufferFlags {
    #[doc = " The buffer cannot be written through this library."]
    pub const MAX_BUFFER_FLAG_READ_ONLY: MaxBufferFlags = MaxBufferFlags(8);
}
impl ::std::ops::BitOr<MaxBufferFlags> for MaxBufferFlags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxBufferFlags(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxBufferFlags {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxBufferFlags) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxBufferFlags> for MaxBufferFlags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxBufferFlags(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxBufferFlags {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxBufferFlags) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " Properties of a buffer: a sum of MAX_BUFFER_FLAG_* values."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxBufferFlags(pub i32);
impl MaxBufferInfoMask {
    #[doc = " dtype is known."]
    pub const MAX_BUFFER_INFO_DTYPE: MaxBufferInfoMask = MaxBufferInfoMask(1);
}
impl MaxBufferInfoMask {
    #[doc = " rank and shape are known."]
    pub const MAX_BUFFER_INFO_SHAPE: MaxBufferInfoMask = MaxBufferInfoMask(2);
}
impl MaxBufferInfoMask {
    #[doc = " strides is known."]
    pub const MAX_BUFFER_INFO_STRIDES: MaxBufferInfoMask = MaxBufferInfoMask(4);
}
impl MaxBufferInfoMask {
    #[doc = " elementCount is known."]
    pub const MAX_BUFFER_INFO_ELEMENT_COUNT: MaxBufferInfoMask = MaxBufferInfoMask(8);
}
impl MaxBufferInfoMask {
    #[doc = " byteCount and elementSize are known: all types except strings."]
    pub const MAX_BUFFER_INFO_BYTES: MaxBufferInfoMask = MaxBufferInfoMask(16);
}
impl MaxBufferInfoMask {
    #[doc = " address is known: all types except strings."]
    pub const MAX_BUFFER_INFO_ADDRESS: MaxBufferInfoMask = MaxBufferInfoMask(32);
}
impl MaxBufferInfoMask {
    #[doc = " device is known."]
    pub const MAX_BUFFER_INFO_DEVICE: MaxBufferInfoMask = MaxBufferInfoMask(64);
}
impl MaxBufferInfoMask {
    #[doc = " stream is known."]
    pub const MAX_BUFFER_INFO_STREAM: MaxBufferInfoMask = MaxBufferInfoMask(128);
}
impl MaxBufferInfoMask {
    #[doc = " flags is known."]
    pub const MAX_BUFFER_INFO_FLAGS: MaxBufferInfoMask = MaxBufferInfoMask(256);
}
impl ::std::ops::BitOr<MaxBufferInfoMask> for MaxBufferInfoMask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxBufferInfoMask(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxBufferInfoMask {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxBufferInfoMask) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxBufferInfoMask> for MaxBufferInfoMask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxBufferInfoMask(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxBufferInfoMask {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxBufferInfoMask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " Valid fields of a MaxBufferInfo: a sum of MAX_BUFFER_INFO_* values."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxBufferInfoMask(pub u64);
#[doc = " A report on a buffer; an unknown field is zero and missing in validMask."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxBufferInfo {
    #[doc = " Size of this structure; set by MAX_BUFFER_INFO_INIT."]
    pub structSize: usize,
    #[doc = " Fields that are known."]
    pub validMask: MaxBufferInfoMask,
    #[doc = " Element type."]
    pub dtype: MaxDType,
    #[doc = " Number of dimensions."]
    pub rank: i32,
    #[doc = " Dimensions, as many as `rank`."]
    pub shape: *const i64,
    #[doc = " Strides of each dimension, in elements."]
    pub strides: *const i64,
    #[doc = " Number of elements; 1 for a scalar."]
    pub elementCount: i64,
    #[doc = " Bytes of the elements without gaps."]
    pub byteCount: usize,
    #[doc = " Bytes of one element; 1 for types below 8 bits."]
    pub elementSize: usize,
    #[doc = " Address of the first element, for maxMemoryCopy and kernels; for host access use maxBufferGetData."]
    pub address: u64,
    #[doc = " Device that holds the buffer."]
    pub device: *mut MaxDevice,
    #[doc = " Stream that the buffer is bound to."]
    pub stream: *mut MaxStream,
    #[doc = " Properties of the buffer."]
    pub flags: MaxBufferFlags,
    #[doc = " Zero."]
    pub reserved: i32,
}
#[test]
fn bindgen_test_layout_MaxBufferInfo() {
    assert_eq!(::std::mem::size_of::<MaxBufferInfo>(), 96usize, concat!("Size of: ", stringify!(MaxBufferInfo)));
    assert_eq!(::std::mem::align_of::<MaxBufferInfo>(), 8usize, concat!("Alignment of ", stringify!(MaxBufferInfo)));
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, validMask), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, dtype), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, rank), 20usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, shape), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, strides), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, elementCount), 40usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, byteCount), 48usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, elementSize), 56usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, address), 64usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, device), 72usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, stream), 80usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, flags), 88usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferInfo, reserved), 92usize);
}
impl Default for MaxBufferInfo {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = " Tells the owner of borrowed memory that it is no longer in use."]
pub type MaxBufferReleaseFunction = ::std::option::Option<unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void)>;
#[doc = " Options of maxBufferWrap."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxBufferWrapOptions {
    #[doc = " Size of this structure; set by MAX_BUFFER_WRAP_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Stream to bind the buffer to; NULL = the device's default stream."]
    pub stream: *mut MaxStream,
    #[doc = " Strides of each dimension, in elements; NULL = dense, row-major."]
    pub strides: *const i64,
    #[doc = " Called once, from any thread, when the memory is no longer in use; NULL = not called."]
    pub release: MaxBufferReleaseFunction,
    #[doc = " First argument of `release`."]
    pub userData: *mut ::std::os::raw::c_void,
    #[doc = " Not 0 = the buffer cannot be written through this library."]
    pub readOnly: i32,
    #[doc = " Zero."]
    pub reserved: i32,
}
#[test]
fn bindgen_test_layout_MaxBufferWrapOptions() {
    assert_eq!(
        ::std::mem::size_of::<MaxBufferWrapOptions>(),
        48usize,
        concat!("Size of: ", stringify!(MaxBufferWrapOptions))
    );
    assert_eq!(
        ::std::mem::align_of::<MaxBufferWrapOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxBufferWrapOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxBufferWrapOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferWrapOptions, stream), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferWrapOptions, strides), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferWrapOptions, release), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferWrapOptions, userData), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferWrapOptions, readOnly), 40usize);
    assert_eq!(::std::mem::offset_of!(MaxBufferWrapOptions, reserved), 44usize);
}
impl Default for MaxBufferWrapOptions {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl MaxDlpackCopy {
    #[doc = " Only if necessary: its address is not aligned to the element size."]
    pub const MAX_DLPACK_COPY_IF_NEEDED: MaxDlpackCopy = MaxDlpackCopy(0);
}
impl MaxDlpackCopy {
    #[doc = " Always."]
    pub const MAX_DLPACK_COPY_ALWAYS: MaxDlpackCopy = MaxDlpackCopy(1);
}
impl MaxDlpackCopy {
    #[doc = " Never: the import fails if a copy is necessary."]
    pub const MAX_DLPACK_COPY_NEVER: MaxDlpackCopy = MaxDlpackCopy(2);
}
#[repr(transparent)]
#[doc = " When to copy the data of a DLPack tensor."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxDlpackCopy(pub i32);
#[doc = " Options of maxBufferFromDlpack and maxBufferFromDlpackUnversioned."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxDlpackOptions {
    #[doc = " Size of this structure; set by MAX_DLPACK_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Stream to bind the buffer to; NULL = the default stream of the tensor's device."]
    pub stream: *mut MaxStream,
    #[doc = " Whether to copy the data."]
    pub copy: MaxDlpackCopy,
    #[doc = " Zero."]
    pub reserved: i32,
    #[doc = " Stream whose work produces the data; the import waits for it. NULL = the data is ready."]
    pub producer: *mut MaxStream,
}
#[test]
fn bindgen_test_layout_MaxDlpackOptions() {
    assert_eq!(::std::mem::size_of::<MaxDlpackOptions>(), 32usize, concat!("Size of: ", stringify!(MaxDlpackOptions)));
    assert_eq!(
        ::std::mem::align_of::<MaxDlpackOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxDlpackOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxDlpackOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxDlpackOptions, stream), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxDlpackOptions, copy), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxDlpackOptions, reserved), 20usize);
    assert_eq!(::std::mem::offset_of!(MaxDlpackOptions, producer), 24usize);
}
impl Default for MaxDlpackOptions {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = " Options of maxBufferToDlpack and maxBufferToDlpackUnversioned."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxDlpackExportOptions {
    #[doc = " Size of this structure; set by MAX_DLPACK_EXPORT_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " The consumer's stream: its later work waits for work with the buffer. NULL = the call waits."]
    pub stream: *mut MaxStream,
    #[doc = " Not 0 = neither waits: the consumer orders its work itself."]
    pub noWait: i32,
    #[doc = " Zero."]
    pub reserved: i32,
}
#[test]
fn bindgen_test_layout_MaxDlpackExportOptions() {
    assert_eq!(
        ::std::mem::size_of::<MaxDlpackExportOptions>(),
        24usize,
        concat!("Size of: ", stringify!(MaxDlpackExportOptions))
    );
    assert_eq!(
        ::std::mem::align_of::<MaxDlpackExportOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxDlpackExportOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxDlpackExportOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxDlpackExportOptions, stream), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxDlpackExportOptions, noWait), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxDlpackExportOptions, reserved), 20usize);
}
impl Default for MaxDlpackExportOptions {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl MaxMapMode {
    #[doc = " \"r\": the file is read; the buffer is read-only."]
    pub const MAX_MAP_MODE_READ: MaxMapMode = MaxMapMode(0);
}
impl MaxMapMode {
    #[doc = " \"r+\": the file is read and written, and extended if it is too short."]
    pub const MAX_MAP_MODE_READ_WRITE: MaxMapMode = MaxMapMode(1);
}
impl MaxMapMode {
    #[doc = " \"w+\": like \"r+\", but the file is created or truncated first."]
    pub const MAX_MAP_MODE_CREATE: MaxMapMode = MaxMapMode(2);
}
impl MaxMapMode {
    #[doc = " \"c\": the buffer can be written; the file does not change."]
    pub const MAX_MAP_MODE_COPY_ON_WRITE: MaxMapMode = MaxMapMode(3);
}
#[repr(transparent)]
#[doc = " How to map a file, like the modes of numpy.memmap."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxMapMode(pub i32);
impl MaxHostAccess {
    #[doc = " The host reads."]
    pub const MAX_HOST_ACCESS_READ: MaxHostAccess = MaxHostAccess(1);
}
impl MaxHostAccess {
    #[doc = " The host writes; bytes that it does not write keep their values only with READ."]
    pub const MAX_HOST_ACCESS_WRITE: MaxHostAccess = MaxHostAccess(2);
}
impl MaxHostAccess {
    #[doc = " With READ or WRITE: nothing else may hold the memory: no other reference, view, export or queued work."]
    pub const MAX_HOST_ACCESS_EXCLUSIVE: MaxHostAccess = MaxHostAccess(4);
}
impl ::std::ops::BitOr<MaxHostAccess> for MaxHostAccess {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxHostAccess(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxHostAccess {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxHostAccess) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxHostAccess> for MaxHostAccess {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxHostAccess(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxHostAccess {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxHostAccess) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " What the host does with mapped memory: a sum of MAX_HOST_ACCESS_* values."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxHostAccess(pub i32);
impl MaxSliceKind {
    #[doc = " An index: `start` picks one element and removes the dimension."]
    pub const MAX_SLICE_KIND_INDEX: MaxSliceKind = MaxSliceKind(0);
}
impl MaxSliceKind {
    #[doc = " A range start:stop:step; ends out of range are clamped."]
    pub const MAX_SLICE_KIND_RANGE: MaxSliceKind = MaxSliceKind(1);
}
impl MaxSliceKind {
    #[doc = " \"...\": all dimensions that no other step covers; at most once."]
    pub const MAX_SLICE_KIND_ELLIPSIS: MaxSliceKind = MaxSliceKind(2);
}
impl MaxSliceKind {
    #[doc = " None: a new dimension of size 1."]
    pub const MAX_SLICE_KIND_NEW_AXIS: MaxSliceKind = MaxSliceKind(3);
}
#[repr(transparent)]
#[doc = " One step of slicing, like one item between numpy's brackets."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxSliceKind(pub i32);
impl MaxCopyKind {
    #[doc = " From host memory to host memory."]
    pub const MAX_COPY_KIND_HOST_TO_HOST: MaxCopyKind = MaxCopyKind(0);
}
impl MaxCopyKind {
    #[doc = " From host memory to device memory."]
    pub const MAX_COPY_KIND_HOST_TO_DEVICE: MaxCopyKind = MaxCopyKind(1);
}
impl MaxCopyKind {
    #[doc = " From device memory to host memory."]
    pub const MAX_COPY_KIND_DEVICE_TO_HOST: MaxCopyKind = MaxCopyKind(2);
}
impl MaxCopyKind {
    #[doc = " From device memory to device memory."]
    pub const MAX_COPY_KIND_DEVICE_TO_DEVICE: MaxCopyKind = MaxCopyKind(3);
}
#[repr(transparent)]
#[doc = " Direction of maxMemoryCopy."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxCopyKind(pub i32);
