// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxDevice {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxStream {
    _unused: [u8; 0],
}
#[doc = " Options of maxDeviceCreate. Only those of the first handle count; later handles share the device as it is."]
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct MaxDeviceOptions {
    #[doc = " Size of this structure; set by MAX_DEVICE_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Maximum bytes of device memory in use; 0 = 99 % of free memory on accelerators, no limit on the host."]
    pub memoryLimit: u64,
    #[doc = " Bytes of device memory to allocate in advance; accelerators only."]
    pub bufferCacheSize: u64,
}
#[test]
fn bindgen_test_layout_MaxDeviceOptions() {
    assert_eq!(::std::mem::size_of::<MaxDeviceOptions>(), 24usize, concat!("Size of: ", stringify!(MaxDeviceOptions)));
    assert_eq!(
        ::std::mem::align_of::<MaxDeviceOptions>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxDeviceOptions))
    );
    assert_eq!(::std::mem::offset_of!(MaxDeviceOptions, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceOptions, memoryLimit), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceOptions, bufferCacheSize), 16usize);
}
impl MaxDeviceStatsMask {
    #[doc = " freeMemory is known."]
    pub const MAX_DEVICE_STATS_FREE_MEMORY: MaxDeviceStatsMask = MaxDeviceStatsMask(1);
}
impl MaxDeviceStatsMask {
    #[doc = " totalMemory is known."]
    pub const MAX_DEVICE_STATS_TOTAL_MEMORY: MaxDeviceStatsMask = MaxDeviceStatsMask(2);
}
impl MaxDeviceStatsMask {
    #[doc = " allocatedMemory is known."]
    pub const MAX_DEVICE_STATS_ALLOCATED_MEMORY: MaxDeviceStatsMask = MaxDeviceStatsMask(4);
}
impl MaxDeviceStatsMask {
    #[doc = " peakAllocatedMemory is known."]
    pub const MAX_DEVICE_STATS_PEAK_ALLOCATED_MEMORY: MaxDeviceStatsMask = MaxDeviceStatsMask(8);
}
impl MaxDeviceStatsMask {
    #[doc = " memoryLimit is known."]
    pub const MAX_DEVICE_STATS_MEMORY_LIMIT: MaxDeviceStatsMask = MaxDeviceStatsMask(16);
}
impl MaxDeviceStatsMask {
    #[doc = " processMemory is known."]
    pub const MAX_DEVICE_STATS_PROCESS_MEMORY: MaxDeviceStatsMask = MaxDeviceStatsMask(32);
}
impl MaxDeviceStatsMask {
    #[doc = " utilization is known."]
    pub const MAX_DEVICE_STATS_UTILIZATION: MaxDeviceStatsMask = MaxDeviceStatsMask(64);
}
impl MaxDeviceStatsMask {
    #[doc = " temperature is known."]
    pub const MAX_DEVICE_STATS_TEMPERATURE: MaxDeviceStatsMask = MaxDeviceStatsMask(128);
}
impl MaxDeviceStatsMask {
    #[doc = " power is known."]
    pub const MAX_DEVICE_STATS_POWER: MaxDeviceStatsMask = MaxDeviceStatsMask(256);
}
impl ::std::ops::BitOr<MaxDeviceStatsMask> for MaxDeviceStatsMask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxDeviceStatsMask(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxDeviceStatsMask {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxDeviceStatsMask) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxDeviceStatsMask> for MaxDeviceStatsMask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxDeviceStatsMask(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxDeviceStatsMask {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxDeviceStatsMask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " Valid fields of a MaxDeviceStats: a sum of MAX_DEVICE_STATS_* values."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxDeviceStatsMask(pub u64);
#[doc = " A report on a device; an unknown field is zero and missing in validMask."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxDeviceStats {
    #[doc = " Size of this structure; set by MAX_DEVICE_STATS_INIT."]
    pub structSize: usize,
    #[doc = " Fields that are known."]
    pub validMask: MaxDeviceStatsMask,
    #[doc = " Bytes that can still be allocated, within the limits of control groups."]
    pub freeMemory: u64,
    #[doc = " Bytes of memory of the device, or that its control group allows."]
    pub totalMemory: u64,
    #[doc = " Bytes in this library's buffers on the device."]
    pub allocatedMemory: u64,
    #[doc = " Highest value of allocatedMemory so far."]
    pub peakAllocatedMemory: u64,
    #[doc = " Maximum bytes that buffers may use."]
    pub memoryLimit: u64,
    #[doc = " Bytes of memory that this process uses on the device."]
    pub processMemory: u64,
    #[doc = " Utilisation of the device in percent."]
    pub utilization: u32,
    #[doc = " Temperature in degrees Celsius."]
    pub temperature: i32,
    #[doc = " Power in milliwatts."]
    pub power: u64,
}
#[test]
fn bindgen_test_layout_MaxDeviceStats() {
    assert_eq!(::std::mem::size_of::<MaxDeviceStats>(), 80usize, concat!("Size of: ", stringify!(MaxDeviceStats)));
    assert_eq!(::std::mem::align_of::<MaxDeviceStats>(), 8usize, concat!("Alignment of ", stringify!(MaxDeviceStats)));
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, structSize), 0usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, validMask), 8usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, freeMemory), 16usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, totalMemory), 24usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, allocatedMemory), 32usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, peakAllocatedMemory), 40usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, memoryLimit), 48usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, processMemory), 56usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, utilization), 64usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, temperature), 68usize);
    assert_eq!(::std::mem::offset_of!(MaxDeviceStats, power), 72usize);
}
impl Default for MaxDeviceStats {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl MaxDeviceAttribute {
    #[doc = " Maximum threads per block."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: MaxDeviceAttribute = MaxDeviceAttribute(1);
}
impl MaxDeviceAttribute {
    #[doc = " Maximum x dimension of a block."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: MaxDeviceAttribute = MaxDeviceAttribute(2);
}
impl MaxDeviceAttribute {
    #[doc = " Maximum y dimension of a block."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: MaxDeviceAttribute = MaxDeviceAttribute(3);
}
impl MaxDeviceAttribute {
    #[doc = " Maximum z dimension of a block."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: MaxDeviceAttribute = MaxDeviceAttribute(4);
}
impl MaxDeviceAttribute {
    #[doc = " Maximum x dimension of a grid."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: MaxDeviceAttribute = MaxDeviceAttribute(5);
}
impl MaxDeviceAttribute {
    #[doc = " Maximum y dimension of a grid."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: MaxDeviceAttribute = MaxDeviceAttribute(6);
}
impl MaxDeviceAttribute {
    #[doc = " Maximum z dimension of a grid."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: MaxDeviceAttribute = MaxDeviceAttribute(7);
}
impl MaxDeviceAttribute {
    #[doc = " Maximum bytes of shared memory per block."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: MaxDeviceAttribute = MaxDeviceAttribute(8);
}
impl MaxDeviceAttribute {
    #[doc = " Threads in a warp."]
    pub const MAX_DEVICE_ATTRIBUTE_WARP_SIZE: MaxDeviceAttribute = MaxDeviceAttribute(10);
}
impl MaxDeviceAttribute {
    #[doc = " Maximum registers per block."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: MaxDeviceAttribute = MaxDeviceAttribute(12);
}
impl MaxDeviceAttribute {
    #[doc = " Maximum clock frequency in kilohertz."]
    pub const MAX_DEVICE_ATTRIBUTE_CLOCK_RATE: MaxDeviceAttribute = MaxDeviceAttribute(13);
}
impl MaxDeviceAttribute {
    #[doc = " Number of multiprocessors; on the host, of processors this process may use."]
    pub const MAX_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: MaxDeviceAttribute = MaxDeviceAttribute(16);
}
impl MaxDeviceAttribute {
    #[doc = " Whether the device shares the host's memory: 0 or 1."]
    pub const MAX_DEVICE_ATTRIBUTE_INTEGRATED: MaxDeviceAttribute = MaxDeviceAttribute(18);
}
impl MaxDeviceAttribute {
    #[doc = " Bytes of the last-level cache."]
    pub const MAX_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: MaxDeviceAttribute = MaxDeviceAttribute(38);
}
impl MaxDeviceAttribute {
    #[doc = " Maximum threads per multiprocessor."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: MaxDeviceAttribute = MaxDeviceAttribute(39);
}
impl MaxDeviceAttribute {
    #[doc = " Major version of the compute capability."]
    pub const MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: MaxDeviceAttribute = MaxDeviceAttribute(75);
}
impl MaxDeviceAttribute {
    #[doc = " Minor version of the compute capability."]
    pub const MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: MaxDeviceAttribute = MaxDeviceAttribute(76);
}
impl MaxDeviceAttribute {
    #[doc = " Bytes of shared memory per multiprocessor."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: MaxDeviceAttribute = MaxDeviceAttribute(81);
}
#[repr(transparent)]
#[doc = " A number that describes a device; the values are those of CUDA."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxDeviceAttribute(pub i32);
