// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

pub const MAX_KERNEL_ARGUMENT_BUFFER: u32 = 2147483647;
impl MaxKernelAttribute {
    #[doc = " Maximum threads per block."]
    pub const MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK: MaxKernelAttribute = MaxKernelAttribute(0);
}
impl MaxKernelAttribute {
    #[doc = " Bytes of shared memory that the kernel declares."]
    pub const MAX_KERNEL_ATTRIBUTE_SHARED_SIZE: MaxKernelAttribute = MaxKernelAttribute(1);
}
impl MaxKernelAttribute {
    #[doc = " Bytes of constant memory that the kernel declares."]
    pub const MAX_KERNEL_ATTRIBUTE_CONSTANT_SIZE: MaxKernelAttribute = MaxKernelAttribute(2);
}
impl MaxKernelAttribute {
    #[doc = " Bytes of local memory per thread."]
    pub const MAX_KERNEL_ATTRIBUTE_LOCAL_SIZE: MaxKernelAttribute = MaxKernelAttribute(3);
}
impl MaxKernelAttribute {
    #[doc = " Registers per thread."]
    pub const MAX_KERNEL_ATTRIBUTE_REGISTERS: MaxKernelAttribute = MaxKernelAttribute(4);
}
impl MaxKernelAttribute {
    #[doc = " Version of the PTX it was compiled from, 10 * major + minor."]
    pub const MAX_KERNEL_ATTRIBUTE_PTX_VERSION: MaxKernelAttribute = MaxKernelAttribute(5);
}
impl MaxKernelAttribute {
    #[doc = " Version of the chip it was compiled for, 10 * major + minor."]
    pub const MAX_KERNEL_ATTRIBUTE_BINARY_VERSION: MaxKernelAttribute = MaxKernelAttribute(6);
}
impl MaxKernelAttribute {
    #[doc = " Maximum bytes of dynamic shared memory per launch. Can be set."]
    pub const MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE: MaxKernelAttribute = MaxKernelAttribute(8);
}
impl MaxKernelAttribute {
    #[doc = " Percent of the L1 cache to use as shared memory, -1 = the driver's choice. Can be set: a hint."]
    pub const MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT: MaxKernelAttribute = MaxKernelAttribute(9);
}
impl MaxKernelAttribute {
    #[doc = " Whether clusters may exceed the size that all chips support: 0 or 1. Can be set."]
    pub const MAX_KERNEL_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: MaxKernelAttribute = MaxKernelAttribute(14);
}
#[repr(transparent)]
#[doc = " An attribute of a kernel; the values are CUDA's."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxKernelAttribute(pub i32);
impl MaxAccessProperty {
    #[doc = " Like any other memory."]
    pub const MAX_ACCESS_PROPERTY_NORMAL: MaxAccessProperty = MaxAccessProperty(0);
}
impl MaxAccessProperty {
    #[doc = " Unlikely to be used again."]
    pub const MAX_ACCESS_PROPERTY_STREAMING: MaxAccessProperty = MaxAccessProperty(1);
}
impl MaxAccessProperty {
    #[doc = " Likely to be used again: kept in the cache."]
    pub const MAX_ACCESS_PROPERTY_PERSISTING: MaxAccessProperty = MaxAccessProperty(2);
}
#[repr(transparent)]
#[doc = " How the L2 cache treats a range of memory."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxAccessProperty(pub i32);
#[doc = " How a kernel is launched."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxLaunchConfig {
    #[doc = " Size of this structure; set by MAX_LAUNCH_CONFIG_INIT."]
    pub structSize: usize,
    #[doc = " Blocks in x, y and z; 0 = 1."]
    pub grid: [i32; 3usize],
    #[doc = " Threads of a block in x, y and z; 0 = 1."]
    pub block: [i32; 3usize],
    #[doc = " Blocks of a cluster in x, y and z; 0 = 1, all zero = no clusters."]
    pub cluster: [i32; 3usize],
    #[doc = " 1 = all blocks run at the same time, or the launch fails."]
    pub cooperative: i32,
    #[doc = " Bytes of dynamic shared memory of each block."]
    pub sharedByteCount: usize,
    #[doc = " Start of the memory whose caching this launch sets; NULL = none."]
    pub accessBase: *mut ::std::os::raw::c_void,
    #[doc = " Bytes of that memory; those beyond the device's maximum are unaffected."]
    pub accessByteCount: usize,
    #[doc = " Fraction of accesses, 0 to 1, that get hitProperty; the others get missProperty."]
    pub hitRatio: f32,
    #[doc = " Treatment of that fraction."]
    pub hitProperty: MaxAccessProperty,
    #[doc = " Treatment of the rest; not MAX_ACCESS_PROPERTY_PERSISTING."]
    pub missProperty: MaxAccessProperty,
    #[doc = " A hint: kernels of higher priority go first; 0 = the stream's priority."]
    pub priority: i32,
    #[doc = " 1 = the kernel may start before the previous one on the stream has ended; it does its own waiting."]
    pub programmaticSerialization: i32,
    #[doc = " Zero."]
    pub reserved: i32,
}
#[test]
fn bindgen_test_layout_MaxLaunchConfig() {
    assert_eq!(::std::mem::size_of::<MaxLaunchConfig>(), 96usize, concat!("Size of: ", stringify!(MaxLaunchConfig)));
    assert_eq!(
        ::std::mem::align_of::<MaxLaunchConfig>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxLaunchConfig))
    );
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, grid), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, block), 20usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, cluster), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, cooperative), 44usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, sharedByteCount), 48usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, accessBase), 56usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, accessByteCount), 64usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, hitRatio), 72usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, hitProperty), 76usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, missProperty), 80usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, priority), 84usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, programmaticSerialization), 88usize);
    assert_eq!(::std::mem::offset_of!(MaxLaunchConfig, reserved), 92usize);
}
impl Default for MaxLaunchConfig {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
