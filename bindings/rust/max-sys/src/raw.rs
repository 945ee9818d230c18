// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

pub const MAX_BUFFER_RANK_LIMIT: u32 = 16;
pub const MAX_SLICE_OMITTED: i64 = -9223372036854775807;
pub const MAX_DIMENSION_DYNAMIC: i32 = -1;
pub const MAX_RANK_DYNAMIC: i32 = -1;
pub const MAX_EXTENSION_ABI_VERSION: u32 = 1;
pub const MAX_OPERATOR_COUNT_ANY: i32 = -1;
pub const MAX_KERNEL_ARGUMENT_BUFFER: u32 = 2147483647;
pub const MAX_VERSION_MAJOR: u32 = 0;
pub const MAX_VERSION_MINOR: u32 = 1;
pub const MAX_VERSION_PATCH: u32 = 0;
pub const MAX_VERSION_STRING: &[u8; 6usize] = b"0.1.0\0";
pub const MAX_ABI_VERSION: u32 = 0;
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
unsafe extern "C" {
    #[doc = " Returns the name of a status code, for example \"INVALID_ARGUMENT\"."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static. An unknown number gives \"UNKNOWN\"."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStatusGetName(status: MaxStatus) -> *const ::std::os::raw::c_char;
}
unsafe extern "C" {
    #[doc = " Returns the message of this thread's last failed call, in UTF-8."]
    #[doc = ""]
    #[doc = " The first line is a summary that names the offending values; a compiler's log"]
    #[doc = " may follow. Empty before the first failure, never NULL. Borrowed until this"]
    #[doc = " thread's next failing call; successful calls and Release leave it alone."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGetLastErrorMessage() -> *const ::std::os::raw::c_char;
}
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxDeviceOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_memoryLimit() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).memoryLimit) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxDeviceOptions), "::", stringify!(memoryLimit))
        );
    }
    test_field_memoryLimit();
    fn test_field_bufferCacheSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).bufferCacheSize) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxDeviceOptions), "::", stringify!(bufferCacheSize))
        );
    }
    test_field_bufferCacheSize();
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_validMask() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).validMask) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(validMask))
        );
    }
    test_field_validMask();
    fn test_field_freeMemory() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).freeMemory) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(freeMemory))
        );
    }
    test_field_freeMemory();
    fn test_field_totalMemory() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).totalMemory) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(totalMemory))
        );
    }
    test_field_totalMemory();
    fn test_field_allocatedMemory() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).allocatedMemory) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(allocatedMemory))
        );
    }
    test_field_allocatedMemory();
    fn test_field_peakAllocatedMemory() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).peakAllocatedMemory) as usize - ptr as usize
            },
            40usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(peakAllocatedMemory))
        );
    }
    test_field_peakAllocatedMemory();
    fn test_field_memoryLimit() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).memoryLimit) as usize - ptr as usize
            },
            48usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(memoryLimit))
        );
    }
    test_field_memoryLimit();
    fn test_field_processMemory() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).processMemory) as usize - ptr as usize
            },
            56usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(processMemory))
        );
    }
    test_field_processMemory();
    fn test_field_utilization() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).utilization) as usize - ptr as usize
            },
            64usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(utilization))
        );
    }
    test_field_utilization();
    fn test_field_temperature() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).temperature) as usize - ptr as usize
            },
            68usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(temperature))
        );
    }
    test_field_temperature();
    fn test_field_power() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDeviceStats>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).power) as usize - ptr as usize
            },
            72usize,
            concat!("Offset of field: ", stringify!(MaxDeviceStats), "::", stringify!(power))
        );
    }
    test_field_power();
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
unsafe extern "C" {
    #[doc = " Counts the devices of an API."]
    #[doc = ""]
    #[doc = " Thread-safe. Includes virtual devices; see maxVirtualDeviceSetCount."]
    #[doc = ""]
    #[doc = " - `api`: \"cpu\", \"cuda\", \"hip\", or \"gpu\" for the accelerators present."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No API has this name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetCount(api: *const ::std::os::raw::c_char, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Opens a device."]
    #[doc = ""]
    #[doc = " The same API and id give the same device while a handle to it exists; only the options of the first call count."]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `api`: \"cpu\", \"cuda\", \"hip\", or \"gpu\" for the accelerators present."]
    #[doc = " - `id`: Number of the device; -1 = the first one."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No API has this name, or the host has no device with this id."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: There is no such accelerator or no driver for it."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The device is virtual and its architecture was not set."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceCreate(
        api: *const ::std::os::raw::c_char,
        id: i32,
        options: *const MaxDeviceOptions,
        outDevice: *mut *mut MaxDevice,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceRetain(device: *const MaxDevice);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe. Dropping the last reference to an accelerator waits for its work; from a host function it takes effect"]
    #[doc = " when the function has returned."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceRelease(device: *const MaxDevice);
}
unsafe extern "C" {
    #[doc = " Gets the API that programs the device: \"cpu\", \"cuda\" or \"hip\"."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the device."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetApi(device: *const MaxDevice, outApi: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the label of the device: \"cpu\" or \"gpu\"."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the device. Label and id together name the device: \"gpu:0\"."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetLabel(device: *const MaxDevice, outLabel: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of the device, from zero; always zero for the host."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetId(device: *const MaxDevice, outId: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the vendor's name for the device."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the device."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetName(device: *const MaxDevice, outName: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the architecture of an accelerator, for example \"sm_90\" or \"gfx942\"."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the device."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device is the host, which has no architecture name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetArchitectureName(
        device: *const MaxDevice,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether the device is the host."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceIsHost(device: *const MaxDevice, outIsHost: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether the library can run models and kernels on the device."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceIsCompatible(device: *const MaxDevice, outIsCompatible: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether the device can access the memory of another device directly."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceCanAccess(device: *const MaxDevice, peer: *const MaxDevice, outCanAccess: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Lets the device access the memory of another device directly."]
    #[doc = ""]
    #[doc = " Thread-safe. Does nothing if access is already enabled."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The devices cannot access each other's memory."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceEnablePeerAccess(device: *const MaxDevice, peer: *const MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the default stream of the device."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the device; Retain and Release on it act on the device. On the host, work on the"]
    #[doc = " default stream runs at once, in the calling thread."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetDefaultStream(device: *const MaxDevice, outStream: *mut *mut MaxStream) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Waits until all work on all streams of the device is done."]
    #[doc = ""]
    #[doc = " Thread-safe. Returns a failure of earlier work once, like maxStreamSynchronize."]
    #[doc = ""]
    #[doc = " - `timeoutNs`: Maximum time to wait in nanoseconds; 0 = no limit."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The work was not done in time; it continues, and nothing else has changed."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Called from a host function of a stream of this device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceSynchronize(device: *const MaxDevice, timeoutNs: i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets free and total memory in bytes; on the host, within the limits of control groups."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetMemoryInfo(device: *const MaxDevice, outFree: *mut u64, outTotal: *mut u64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the device's memory, utilisation, temperature and power, as far as they are known."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `stats`: Its structSize must be set; see MAX_DEVICE_STATS_INIT."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetStats(device: *const MaxDevice, stats: *mut MaxDeviceStats) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets an attribute of the device."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device does not have this attribute."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetAttribute(
        device: *const MaxDevice,
        attribute: MaxDeviceAttribute,
        outValue: *mut i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the version of the driver as 1000 * major + 10 * minor; on the host, of the operating system's kernel."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetDriverVersion(device: *const MaxDevice, outVersion: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Frees unused memory that the library keeps for reuse on the device, including page-locked memory."]
    #[doc = ""]
    #[doc = " Thread-safe. On accelerators, waits for queued work that uses that memory."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Called from a host function of a stream of this device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceTrim(device: *const MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Allocates page-locked host memory, for fast transfers to and from the device."]
    #[doc = ""]
    #[doc = " Thread-safe. The memory is page-aligned and keeps the device alive until maxHostFree."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `byteCount`: Zero is allowed and gives a pointer that must not be read."]
    #[doc = " - `MAX_STATUS_RESOURCE_EXHAUSTED`: Out of memory, or the operating system's limit on locked memory is reached."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxHostAllocate(
        device: *mut MaxDevice,
        byteCount: usize,
        outPointer: *mut *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Frees memory from maxHostAllocate. Work that uses it must be done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: The device passed to maxHostAllocate."]
    #[doc = " - `pointer`: NULL is allowed and does nothing."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The pointer is not from maxHostAllocate with this device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxHostFree(device: *mut MaxDevice, pointer: *mut ::std::os::raw::c_void) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Looks for devices and counts them: all accelerators if there are any, else the host."]
    #[doc = ""]
    #[doc = " Thread-safe. maxDeviceGetScanned names them."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceScan(outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the label and id of a device that maxDeviceScan counts."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The index is not below the count."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetScanned(index: i32, outLabel: *mut *const ::std::os::raw::c_char, outId: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the API of the first accelerator: \"cuda\" or \"hip\"."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: There is no accelerator."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAcceleratorGetApi(outApi: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the architecture of the first accelerator, for example \"sm_90\"."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: There is no accelerator."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAcceleratorGetArchitectureName(outName: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Declares accelerators that do not exist, to compile for them; 0 removes them."]
    #[doc = ""]
    #[doc = " Thread-safe. Applies to the whole process. Virtual devices are counted, named and opened like real ones, which come"]
    #[doc = " after them, and modules can be compiled for them; anything that would run on one or use its memory fails with"]
    #[doc = " UNAVAILABLE."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The count is negative."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxVirtualDeviceSetCount(count: i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of virtual devices; 0 unless set."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxVirtualDeviceGetCount(outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the API of the virtual devices: \"cuda\" (unless set) or \"hip\"."]
    #[doc = ""]
    #[doc = " Thread-safe. Applies to the whole process."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No accelerator API has this name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxVirtualDeviceSetApi(api: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the API of the virtual devices."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxVirtualDeviceGetApi(outApi: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the architecture of the virtual devices, for example \"sm_90\"."]
    #[doc = ""]
    #[doc = " Thread-safe. Applies to the whole process."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The name is empty or longer than 31 characters."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxVirtualDeviceSetArchitectureName(name: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the architecture of the virtual devices; empty unless set."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxVirtualDeviceGetArchitectureName(outName: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
impl MaxDType {
    #[doc = " No type: the value in a zeroed structure."]
    pub const MAX_DTYPE_INVALID: MaxDType = MaxDType(0);
}
impl MaxDType {
    #[doc = " Truth value, one byte: 0 or 1."]
    pub const MAX_DTYPE_BOOL: MaxDType = MaxDType(1);
}
impl MaxDType {
    #[doc = " UTF-8 strings: one block of bytes plus offsets."]
    pub const MAX_DTYPE_STRING: MaxDType = MaxDType(2);
}
impl MaxDType {
    #[doc = " 4-bit float, 2 exponent and 1 mantissa bits, finite only; two in a byte."]
    pub const MAX_DTYPE_FLOAT4_E2M1FN: MaxDType = MaxDType(64);
}
impl MaxDType {
    #[doc = " 6-bit float, 2 exponent and 3 mantissa bits, finite only; four in three bytes, first in the low bits."]
    pub const MAX_DTYPE_FLOAT6_E2M3FN: MaxDType = MaxDType(65);
}
impl MaxDType {
    #[doc = " 6-bit float, 3 exponent and 2 mantissa bits, finite only; four in three bytes, first in the low bits."]
    pub const MAX_DTYPE_FLOAT6_E3M2FN: MaxDType = MaxDType(66);
}
impl MaxDType {
    #[doc = " 8-bit unsigned power of two, the scale type of microscaling formats."]
    pub const MAX_DTYPE_FLOAT8_E8M0FNU: MaxDType = MaxDType(73);
}
impl MaxDType {
    #[doc = " 8-bit float, 4 exponent and 3 mantissa bits, finite and NaN only."]
    pub const MAX_DTYPE_FLOAT8_E4M3FN: MaxDType = MaxDType(75);
}
impl MaxDType {
    #[doc = " Like float8_e4m3fn, without a negative zero."]
    pub const MAX_DTYPE_FLOAT8_E4M3FNUZ: MaxDType = MaxDType(76);
}
impl MaxDType {
    #[doc = " 8-bit float, 5 exponent and 2 mantissa bits."]
    pub const MAX_DTYPE_FLOAT8_E5M2: MaxDType = MaxDType(77);
}
impl MaxDType {
    #[doc = " Like float8_e5m2, finite and NaN only, without a negative zero."]
    pub const MAX_DTYPE_FLOAT8_E5M2FNUZ: MaxDType = MaxDType(78);
}
impl MaxDType {
    #[doc = " IEEE 754 binary16."]
    pub const MAX_DTYPE_FLOAT16: MaxDType = MaxDType(79);
}
impl MaxDType {
    #[doc = " Upper half of a float32."]
    pub const MAX_DTYPE_BFLOAT16: MaxDType = MaxDType(80);
}
impl MaxDType {
    #[doc = " IEEE 754 binary32."]
    pub const MAX_DTYPE_FLOAT32: MaxDType = MaxDType(81);
}
impl MaxDType {
    #[doc = " IEEE 754 binary64."]
    pub const MAX_DTYPE_FLOAT64: MaxDType = MaxDType(82);
}
impl MaxDType {
    #[doc = " Two float32: real and imaginary part."]
    pub const MAX_DTYPE_COMPLEX64: MaxDType = MaxDType(97);
}
impl MaxDType {
    #[doc = " Two float64: real and imaginary part."]
    pub const MAX_DTYPE_COMPLEX128: MaxDType = MaxDType(98);
}
impl MaxDType {
    #[doc = " Unsigned 2-bit integer; four in a byte, first in the low bits."]
    pub const MAX_DTYPE_UINT2: MaxDType = MaxDType(130);
}
impl MaxDType {
    #[doc = " Signed 2-bit integer; four in a byte, first in the low bits."]
    pub const MAX_DTYPE_INT2: MaxDType = MaxDType(131);
}
impl MaxDType {
    #[doc = " Unsigned 4-bit integer; two in a byte, first in the low bits."]
    pub const MAX_DTYPE_UINT4: MaxDType = MaxDType(132);
}
impl MaxDType {
    #[doc = " Signed 4-bit integer; two in a byte, first in the low bits."]
    pub const MAX_DTYPE_INT4: MaxDType = MaxDType(133);
}
impl MaxDType {
    #[doc = " Unsigned 8-bit integer."]
    pub const MAX_DTYPE_UINT8: MaxDType = MaxDType(134);
}
impl MaxDType {
    #[doc = " Signed 8-bit integer."]
    pub const MAX_DTYPE_INT8: MaxDType = MaxDType(135);
}
impl MaxDType {
    #[doc = " Unsigned 16-bit integer."]
    pub const MAX_DTYPE_UINT16: MaxDType = MaxDType(136);
}
impl MaxDType {
    #[doc = " Signed 16-bit integer."]
    pub const MAX_DTYPE_INT16: MaxDType = MaxDType(137);
}
impl MaxDType {
    #[doc = " Unsigned 32-bit integer."]
    pub const MAX_DTYPE_UINT32: MaxDType = MaxDType(138);
}
impl MaxDType {
    #[doc = " Signed 32-bit integer."]
    pub const MAX_DTYPE_INT32: MaxDType = MaxDType(139);
}
impl MaxDType {
    #[doc = " Unsigned 64-bit integer."]
    pub const MAX_DTYPE_UINT64: MaxDType = MaxDType(140);
}
impl MaxDType {
    #[doc = " Signed 64-bit integer."]
    pub const MAX_DTYPE_INT64: MaxDType = MaxDType(141);
}
#[repr(transparent)]
#[doc = " Element type of a buffer or tensor."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxDType(pub i32);
unsafe extern "C" {
    #[doc = " Returns the size of one element in bytes; 1 for types below 8 bits, 0 for"]
    #[doc = " strings and unknown numbers."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDTypeGetSize(dtype: MaxDType) -> usize;
}
unsafe extern "C" {
    #[doc = " Returns the size of one element in bits; 0 for strings and unknown numbers."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDTypeGetBits(dtype: MaxDType) -> usize;
}
unsafe extern "C" {
    #[doc = " Returns the name of a type, for example \"float32\"; \"invalid\" for unknown numbers."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDTypeGetName(dtype: MaxDType) -> *const ::std::os::raw::c_char;
}
unsafe extern "C" {
    #[doc = " Finds a type by name."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `outDType`: MAX_DTYPE_INVALID on failure."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No type has this name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDTypeFromName(name: *const ::std::os::raw::c_char, outDType: *mut MaxDType) -> MaxStatus;
}
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxEventOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxEventOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_timing() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxEventOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).timing) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxEventOptions), "::", stringify!(timing))
        );
    }
    test_field_timing();
    fn test_field_reserved() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxEventOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).reserved) as usize - ptr as usize
            },
            12usize,
            concat!("Offset of field: ", stringify!(MaxEventOptions), "::", stringify!(reserved))
        );
    }
    test_field_reserved();
}
unsafe extern "C" {
    #[doc = " Creates an event for streams of a device."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `options`: NULL = defaults: no timing."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventCreate(
        device: *const MaxDevice,
        options: *const MaxEventOptions,
        outEvent: *mut *mut MaxEvent,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventRetain(event: *const MaxEvent);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventRelease(event: *const MaxEvent);
}
unsafe extern "C" {
    #[doc = " Gets the device that the event was created for."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the event."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventGetDevice(event: *const MaxEvent, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Waits until the event's newest mark is done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `timeoutNs`: Maximum time to wait in nanoseconds; 0 = no limit."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The mark was not done in time."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The mark is on a stream that a fork has cut off."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventSynchronize(event: *const MaxEvent, timeoutNs: i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells, without waiting, whether the event's newest mark is done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventQuery(event: *const MaxEvent, outIsReady: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the time between two events that are done, in nanoseconds."]
    #[doc = ""]
    #[doc = " Thread-safe. Negative if `end` was done first."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: An event has no timing, was never recorded or is not done."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxEventGetElapsedTime(start: *const MaxEvent, end: *const MaxEvent, outNanoseconds: *mut i64) -> MaxStatus;
}
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxStreamOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxStreamOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_priority() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxStreamOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).priority) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxStreamOptions), "::", stringify!(priority))
        );
    }
    test_field_priority();
    fn test_field_reserved() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxStreamOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).reserved) as usize - ptr as usize
            },
            12usize,
            concat!("Offset of field: ", stringify!(MaxStreamOptions), "::", stringify!(reserved))
        );
    }
    test_field_reserved();
}
#[doc = " A function that runs in stream order."]
#[doc = ""]
#[doc = " Called exactly once, from any thread. It may call functions of this library, but must not wait for its own stream (on"]
#[doc = " accelerators: any stream of its device) and must not throw. If it waits, it may delay host functions of other"]
#[doc = " streams. Its accesses to buffers come after the work queued before it on its stream, not after later work. `status`:"]
#[doc = " MAX_STATUS_OK, or the failure of earlier work, whose message maxGetLastErrorMessage returns inside the function."]
#[doc = ""]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxHostFunction =
    ::std::option::Option<unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void, status: MaxStatus)>;
unsafe extern "C" {
    #[doc = " Creates a stream on a device."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamCreate(
        device: *const MaxDevice,
        options: *const MaxStreamOptions,
        outStream: *mut *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Wraps a driver's stream (cudaStream_t, hipStream_t), which the caller continues to own."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed until the last release of the new stream."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host, which has no driver streams."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device has no driver streams."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The stream belongs to another device, or is the driver's per-thread default"]
    #[doc = "   stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamWrap(
        device: *const MaxDevice,
        native: *mut ::std::os::raw::c_void,
        outStream: *mut *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe. On a default stream this acts on the device."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamRetain(stream: *const MaxStream);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Queued work still runs; the call does not wait for it."]
    #[doc = ""]
    #[doc = " Thread-safe. On a default stream this acts on the device."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamRelease(stream: *const MaxStream);
}
unsafe extern "C" {
    #[doc = " Gets the device of the stream."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the stream."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamGetDevice(stream: *const MaxStream, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether this is the default stream of its device."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamIsDefault(stream: *const MaxStream, outIsDefault: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the driver's stream (cudaStream_t, hipStream_t)."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the stream."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device has no driver streams."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamGetNative(stream: *const MaxStream, outNative: *mut *mut ::std::os::raw::c_void) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Waits until all work on the stream is done."]
    #[doc = ""]
    #[doc = " Thread-safe. Returns the first failure since the last call, once."]
    #[doc = ""]
    #[doc = " - `timeoutNs`: Maximum time to wait in nanoseconds; 0 = no limit."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The work was not done in time; it continues, and nothing else has changed."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Called from a host function of this stream, a fork has cut the stream off, or"]
    #[doc = "   other code is capturing the stream for a graph."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamSynchronize(stream: *mut MaxStream, timeoutNs: i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes later work on the stream wait for all work now on another stream."]
    #[doc = ""]
    #[doc = " Asynchronous. The streams may belong to different devices. Thread-safe. On the host's default stream the call itself"]
    #[doc = " waits."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamWaitForStream(stream: *mut MaxStream, other: *mut MaxStream) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes later work on the stream wait for all work now on a device's default stream."]
    #[doc = ""]
    #[doc = " Asynchronous. Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamWaitForDevice(stream: *mut MaxStream, device: *const MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes later work on the stream wait for the newest mark of an event."]
    #[doc = ""]
    #[doc = " Asynchronous: the event is retained until then. Thread-safe. On the host's default stream the call itself waits."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamWaitForEvent(stream: *mut MaxStream, event: *const MaxEvent) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Records an event on the stream: it is done when all work now on the stream is done."]
    #[doc = ""]
    #[doc = " Asynchronous: the event is retained until then. Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: Event and stream belong to different devices."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamRecordEvent(stream: *mut MaxStream, event: *mut MaxEvent) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Calls a function when all work now on the stream is done."]
    #[doc = ""]
    #[doc = " Asynchronous: `userData` is borrowed until the function has been called. Thread-safe. On the host's default stream"]
    #[doc = " the function runs before this call returns. It is called exactly once if this call succeeds, else not at all."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Other code is capturing the stream for a graph, which would repeat the call."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamEnqueueHostFunction(
        stream: *mut MaxStream,
        function: MaxHostFunction,
        userData: *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxBufferOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_stream() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).stream) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxBufferOptions), "::", stringify!(stream))
        );
    }
    test_field_stream();
    fn test_field_alignment() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).alignment) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxBufferOptions), "::", stringify!(alignment))
        );
    }
    test_field_alignment();
    fn test_field_pinned() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).pinned) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxBufferOptions), "::", stringify!(pinned))
        );
    }
    test_field_pinned();
    fn test_field_zeroed() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).zeroed) as usize - ptr as usize
            },
            28usize,
            concat!("Offset of field: ", stringify!(MaxBufferOptions), "::", stringify!(zeroed))
        );
    }
    test_field_zeroed();
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferCopyOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxBufferCopyOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_stream() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferCopyOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).stream) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxBufferCopyOptions), "::", stringify!(stream))
        );
    }
    test_field_stream();
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_validMask() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).validMask) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(validMask))
        );
    }
    test_field_validMask();
    fn test_field_dtype() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).dtype) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(dtype))
        );
    }
    test_field_dtype();
    fn test_field_rank() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).rank) as usize - ptr as usize
            },
            20usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(rank))
        );
    }
    test_field_rank();
    fn test_field_shape() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).shape) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(shape))
        );
    }
    test_field_shape();
    fn test_field_strides() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).strides) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(strides))
        );
    }
    test_field_strides();
    fn test_field_elementCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).elementCount) as usize - ptr as usize
            },
            40usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(elementCount))
        );
    }
    test_field_elementCount();
    fn test_field_byteCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).byteCount) as usize - ptr as usize
            },
            48usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(byteCount))
        );
    }
    test_field_byteCount();
    fn test_field_elementSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).elementSize) as usize - ptr as usize
            },
            56usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(elementSize))
        );
    }
    test_field_elementSize();
    fn test_field_address() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).address) as usize - ptr as usize
            },
            64usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(address))
        );
    }
    test_field_address();
    fn test_field_device() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).device) as usize - ptr as usize
            },
            72usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(device))
        );
    }
    test_field_device();
    fn test_field_stream() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).stream) as usize - ptr as usize
            },
            80usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(stream))
        );
    }
    test_field_stream();
    fn test_field_flags() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).flags) as usize - ptr as usize
            },
            88usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(flags))
        );
    }
    test_field_flags();
    fn test_field_reserved() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).reserved) as usize - ptr as usize
            },
            92usize,
            concat!("Offset of field: ", stringify!(MaxBufferInfo), "::", stringify!(reserved))
        );
    }
    test_field_reserved();
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferWrapOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxBufferWrapOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_stream() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferWrapOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).stream) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxBufferWrapOptions), "::", stringify!(stream))
        );
    }
    test_field_stream();
    fn test_field_strides() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferWrapOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).strides) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxBufferWrapOptions), "::", stringify!(strides))
        );
    }
    test_field_strides();
    fn test_field_release() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferWrapOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).release) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxBufferWrapOptions), "::", stringify!(release))
        );
    }
    test_field_release();
    fn test_field_userData() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferWrapOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).userData) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxBufferWrapOptions), "::", stringify!(userData))
        );
    }
    test_field_userData();
    fn test_field_readOnly() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferWrapOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).readOnly) as usize - ptr as usize
            },
            40usize,
            concat!("Offset of field: ", stringify!(MaxBufferWrapOptions), "::", stringify!(readOnly))
        );
    }
    test_field_readOnly();
    fn test_field_reserved() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxBufferWrapOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).reserved) as usize - ptr as usize
            },
            44usize,
            concat!("Offset of field: ", stringify!(MaxBufferWrapOptions), "::", stringify!(reserved))
        );
    }
    test_field_reserved();
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDlpackOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxDlpackOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_stream() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDlpackOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).stream) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxDlpackOptions), "::", stringify!(stream))
        );
    }
    test_field_stream();
    fn test_field_copy() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDlpackOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).copy) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxDlpackOptions), "::", stringify!(copy))
        );
    }
    test_field_copy();
    fn test_field_reserved() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDlpackOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).reserved) as usize - ptr as usize
            },
            20usize,
            concat!("Offset of field: ", stringify!(MaxDlpackOptions), "::", stringify!(reserved))
        );
    }
    test_field_reserved();
    fn test_field_producer() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDlpackOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).producer) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxDlpackOptions), "::", stringify!(producer))
        );
    }
    test_field_producer();
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDlpackExportOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxDlpackExportOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_stream() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDlpackExportOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).stream) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxDlpackExportOptions), "::", stringify!(stream))
        );
    }
    test_field_stream();
    fn test_field_noWait() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDlpackExportOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).noWait) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxDlpackExportOptions), "::", stringify!(noWait))
        );
    }
    test_field_noWait();
    fn test_field_reserved() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxDlpackExportOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).reserved) as usize - ptr as usize
            },
            20usize,
            concat!("Offset of field: ", stringify!(MaxDlpackExportOptions), "::", stringify!(reserved))
        );
    }
    test_field_reserved();
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
unsafe extern "C" {
    #[doc = " Allocates a buffer. Its contents are undefined unless `options->zeroed` is set."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the device of `options->stream`, else the host."]
    #[doc = " - `rank`: 0 = a scalar; `shape` may then be NULL."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: A dimension is negative or the size overflows."]
    #[doc = " - `MAX_STATUS_RESOURCE_EXHAUSTED`: Memory or the device's memory limit has run out."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The dtype is MAX_DTYPE_STRING."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCreate(
        device: *mut MaxDevice,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        options: *const MaxBufferOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a read-only buffer of strings in host memory; the strings are copied."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `strings`: One per element, in row-major order. They should be UTF-8, but any bytes are allowed."]
    #[doc = " - `lengths`: Length of each string in bytes; NULL = NUL-terminated strings."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device is not the host."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCreateStrings(
        device: *mut MaxDevice,
        strings: *const *const ::std::os::raw::c_char,
        lengths: *const usize,
        rank: i32,
        shape: *const i64,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a buffer of strings that are stored one after another in one block; otherwise like maxBufferCreateStrings."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `bytes`: All strings; copied. NULL if `byteCount` is 0."]
    #[doc = " - `offsets`: One more than there are elements: string i is the bytes from offsets\\[i\\] to offsets\\[i + 1\\]."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An offset is outside the block or smaller than the previous one."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCreateStringsFromBytes(
        device: *mut MaxDevice,
        bytes: *const ::std::os::raw::c_void,
        byteCount: usize,
        offsets: *const i64,
        rank: i32,
        shape: *const i64,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets strings of a buffer of strings."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the buffer."]
    #[doc = ""]
    #[doc = " - `first`: Index of the first element, in row-major order."]
    #[doc = " - `count`: Number of strings; zero is allowed and does nothing."]
    #[doc = " - `outStrings`: `count` strings: their bytes, followed by a NUL."]
    #[doc = " - `outLengths`: `count` lengths in bytes, without the NUL."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer does not hold strings."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The buffer has fewer elements."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetStrings(
        buffer: *const MaxBuffer,
        first: i64,
        count: i64,
        outStrings: *mut *const ::std::os::raw::c_char,
        outLengths: *mut usize,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a buffer over memory that the caller owns."]
    #[doc = ""]
    #[doc = " Borrowed until `options->release` is called; without it, until the buffer and all its views have been released and"]
    #[doc = " all work that uses them is done. If the call fails, the caller keeps the memory and `release` is not called."]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the device of `options->stream`, else the host."]
    #[doc = " - `data`: In the memory of the device, aligned to the element size. NULL only if there are no elements."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferWrap(
        device: *mut MaxDevice,
        data: *mut ::std::os::raw::c_void,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        options: *const MaxBufferWrapOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a buffer from a DLPack tensor (DLPack 1.x)."]
    #[doc = ""]
    #[doc = " On success the buffer owns the tensor: its deleter is called when the memory is no longer in use, or before this"]
    #[doc = " function returns if the data was copied. On failure the caller keeps the tensor and still has to call its deleter."]
    #[doc = " Data is copied if the options say so or if its address is not aligned to the element size (a slice of a packed"]
    #[doc = " record, a mapped file); strides are kept. Page-locked CUDA or ROCm memory becomes a host buffer. Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: A copy is necessary, and the options say never."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: The tensor is on a device that does not exist here."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The tensor's version, type or device is not supported."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferFromDlpack(
        tensor: *mut DLManagedTensorVersioned,
        options: *const MaxDlpackOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a buffer from an unversioned DLPack tensor; otherwise like maxBufferFromDlpack."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferFromDlpackUnversioned(
        tensor: *mut DLManagedTensor,
        options: *const MaxDlpackOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a DLPack tensor (1.x) that shares the buffer's memory."]
    #[doc = ""]
    #[doc = " The tensor holds the memory until its deleter is called and the work then on `options->stream` is done; later"]
    #[doc = " accesses through this library come after that work. Until then the consumer orders its own accesses. A read-only"]
    #[doc = " buffer gives a tensor with the read-only flag. Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults: the call waits for work that uses the buffer."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is mapped to the host."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferToDlpack(
        buffer: *const MaxBuffer,
        options: *const MaxDlpackExportOptions,
        outTensor: *mut *mut DLManagedTensorVersioned,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates an unversioned DLPack tensor; otherwise like maxBufferToDlpack."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is read-only, which such a tensor cannot express."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferToDlpackUnversioned(
        buffer: *const MaxBuffer,
        options: *const MaxDlpackExportOptions,
        outTensor: *mut *mut DLManagedTensor,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Maps part of a file as a host buffer."]
    #[doc = ""]
    #[doc = " The file must not shrink while the buffer exists. With modes \"r\" and \"c\", an offset that is not a multiple of the"]
    #[doc = " element size makes a copy. Thread-safe."]
    #[doc = ""]
    #[doc = " - `offset`: Bytes from the start of the file."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file does not exist."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The file is too short."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferMap(
        path: *const ::std::os::raw::c_char,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        mode: MaxMapMode,
        offset: u64,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Reads a \".max\" checkpoint into a host buffer. Large files are mapped, so they must not shrink."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The file is not a checkpoint."]
    #[doc = " - `MAX_STATUS_DATA_LOSS`: The file is truncated or damaged."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferLoad(path: *const ::std::os::raw::c_char, outBuffer: *mut *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Writes a buffer as a \".max\" checkpoint. The file appears whole or not at all."]
    #[doc = ""]
    #[doc = " Waits for work on the buffer's stream. Thread-safe."]
    #[doc = ""]
    #[doc = " - `key`: Name of the tensor in the file; NULL = \"tensor\"."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferSave(
        buffer: *const MaxBuffer,
        path: *const ::std::os::raw::c_char,
        key: *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferRetain(buffer: *const MaxBuffer);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferRelease(buffer: *const MaxBuffer);
}
unsafe extern "C" {
    #[doc = " Gets a buffer's properties: type, shape, location."]
    #[doc = ""]
    #[doc = " Thread-safe. Pointers in it are borrowed from the buffer."]
    #[doc = ""]
    #[doc = " - `outInfo`: Its structSize must be set; see MAX_BUFFER_INFO_INIT."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetInfo(buffer: *const MaxBuffer, outInfo: *mut MaxBufferInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the address of the first element, for reading. Does not wait for work on the buffer: synchronize first."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the buffer. NULL if there are no elements."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The host cannot access the memory; see maxBufferMapToHost."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetData(buffer: *const MaxBuffer, outData: *mut *const ::std::os::raw::c_void) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the address of the first element, for reading and writing; otherwise like maxBufferGetData."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the buffer."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The host cannot access the memory, or the buffer is read-only."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetMutableData(buffer: *mut MaxBuffer, outData: *mut *mut ::std::os::raw::c_void) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a view of part of the buffer, like numpy's x\\[...\\] with indices, ranges, \"...\" and None."]
    #[doc = ""]
    #[doc = " The view shares the buffer's memory. Dimensions that no step covers are kept whole. Thread-safe."]
    #[doc = ""]
    #[doc = " - `kinds`: Kind of each step."]
    #[doc = " - `starts`: Index, or start of the range, of each step; MAX_SLICE_OMITTED = omitted, negative = from the end."]
    #[doc = "   Not read for other kinds."]
    #[doc = " - `stops`: Stop of each range. NULL = all omitted."]
    #[doc = " - `steps`: Step of each range; MAX_SLICE_OMITTED = 1. NULL = all 1."]
    #[doc = " - `count`: Number of steps."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An index is outside its dimension; the message names it."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There are too many steps, two ellipses, or a step of zero."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The elements have fewer than 8 bits, and the view would not be contiguous or would"]
    #[doc = "   start within a byte."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferSlice(
        buffer: *const MaxBuffer,
        kinds: *const MaxSliceKind,
        starts: *const i64,
        stops: *const i64,
        steps: *const i64,
        count: i32,
        outView: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a view of the same memory with another type and shape."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `rank`: -1 = the shape is deduced: the buffer's, with the last dimension scaled by the ratio of the element"]
    #[doc = "   sizes."]
    #[doc = " - `shape`: One dimension may be -1 and is then deduced. NULL if `rank` is 0 or -1."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is not contiguous."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The sizes do not match, or the address is not aligned for the type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferView(
        buffer: *const MaxBuffer,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        outView: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies the buffer to new, contiguous memory on its own device."]
    #[doc = ""]
    #[doc = " Asynchronous. Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults: the buffer's stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferContiguous(
        buffer: *const MaxBuffer,
        options: *const MaxBufferCopyOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies the buffer to new, contiguous memory on a device."]
    #[doc = ""]
    #[doc = " Asynchronous: the buffer is retained until the copy is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the device of `options->stream`, else of the buffer."]
    #[doc = " - `options`: NULL = defaults: the buffer's stream on its own device, else the default stream of `device`."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferClone(
        buffer: *const MaxBuffer,
        device: *mut MaxDevice,
        options: *const MaxBufferCopyOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the buffer on a device: a new reference if it is there already, else a copy."]
    #[doc = ""]
    #[doc = " Asynchronous: the buffer is retained until the copy is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the device of `options->stream`, else the host."]
    #[doc = " - `options`: NULL = defaults: the default stream of `device`."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferTo(
        buffer: *mut MaxBuffer,
        device: *mut MaxDevice,
        options: *const MaxBufferCopyOptions,
        outBuffer: *mut *mut MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies bytes between two contiguous buffers, in stream order."]
    #[doc = ""]
    #[doc = " Asynchronous, but may wait for pageable host memory: both buffers are retained until it is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `byteCount`: Zero is allowed and does nothing."]
    #[doc = " - `stream`: NULL = the stream of `dst`."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: A range ends past its buffer; the message names it."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The ranges overlap."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: A buffer is not contiguous, or `dst` is read-only."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCopy(
        dst: *mut MaxBuffer,
        dstOffset: usize,
        src: *const MaxBuffer,
        srcOffset: usize,
        byteCount: usize,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies bytes from host memory into a contiguous buffer, in stream order, and waits for the copy."]
    #[doc = ""]
    #[doc = " Thread-safe. The buffer is retained meanwhile."]
    #[doc = ""]
    #[doc = " - `src`: Host memory that does not overlap the buffer's."]
    #[doc = " - `byteCount`: Zero is allowed and does nothing."]
    #[doc = " - `stream`: Of the buffer's device; NULL = the buffer's stream."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The range ends past the buffer."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is not contiguous or read-only, or the call comes from a host"]
    #[doc = "   function of the stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCopyFromHost(
        dst: *mut MaxBuffer,
        dstOffset: usize,
        src: *const ::std::os::raw::c_void,
        byteCount: usize,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies bytes from a contiguous buffer into host memory, in stream order, and waits for the copy."]
    #[doc = ""]
    #[doc = " Thread-safe. The buffer is retained meanwhile. On failure, `dst` may be partly written."]
    #[doc = ""]
    #[doc = " - `dst`: Host memory that does not overlap the buffer's."]
    #[doc = " - `byteCount`: Zero is allowed and does nothing."]
    #[doc = " - `stream`: Of the buffer's device; NULL = the buffer's stream."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The range ends past the buffer."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is not contiguous, or the call comes from a host function of the"]
    #[doc = "   stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferCopyToHost(
        src: *const MaxBuffer,
        srcOffset: usize,
        dst: *mut ::std::os::raw::c_void,
        byteCount: usize,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Copies bytes between two addresses, in stream order."]
    #[doc = ""]
    #[doc = " Asynchronous, but may wait for pageable host memory: both ranges are borrowed until it is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `byteCount`: Zero is allowed and does nothing."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: An address is NULL, the kind is unknown, the ranges overlap, or one exceeds the"]
    #[doc = "   address space."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxMemoryCopy(
        dst: *mut ::std::os::raw::c_void,
        src: *const ::std::os::raw::c_void,
        byteCount: usize,
        kind: MaxCopyKind,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Fills the buffer with a pattern, in stream order."]
    #[doc = ""]
    #[doc = " Asynchronous: the buffer is retained until it is filled. Thread-safe."]
    #[doc = ""]
    #[doc = " - `value`: Copied by the call."]
    #[doc = " - `valueSize`: 1, 2, 4, 8 or 16, and a divisor of the buffer's size in bytes. For a view that is not"]
    #[doc = "   contiguous, it must be the element size."]
    #[doc = " - `stream`: NULL = the buffer's stream."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The pattern has another size, or its size does not divide the buffer's."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is read-only."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferFill(
        buffer: *mut MaxBuffer,
        value: *const ::std::os::raw::c_void,
        valueSize: usize,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gives the host access to the buffer's memory, or to a copy of it, until maxBufferUnmapFromHost."]
    #[doc = ""]
    #[doc = " Waits for work that uses the buffer. While it is mapped, any other write to the memory through this library fails"]
    #[doc = " with FAILED_PRECONDITION, whichever handle it uses; so does any other read while the host may write or has exclusive"]
    #[doc = " access. A buffer can be mapped once at a time, and its memory through several buffers if all of them only read. A"]
    #[doc = " mapping ends with the last reference to its buffer at the latest. Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: An existing mapping of the buffer or its memory forbids it, the buffer is not"]
    #[doc = "   contiguous, it is read-only and `access` includes writing, something else holds the memory and `access` is"]
    #[doc = "   exclusive, or the call comes from a host function of the buffer's stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferMapToHost(
        buffer: *mut MaxBuffer,
        access: MaxHostAccess,
        outData: *mut *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Ends the host's access. What the host wrote reaches the buffer in the order of the buffer's stream. Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is not mapped."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferUnmapFromHost(buffer: *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Reads one element."]
    #[doc = ""]
    #[doc = " Waits for work on the buffer's stream. Thread-safe."]
    #[doc = ""]
    #[doc = " - `indices`: Negative = from the end. NULL if `count` is 0."]
    #[doc = " - `count`: The buffer's rank."]
    #[doc = " - `byteCount`: The element size."]
    #[doc = " - `outElement`: Elements of fewer than 8 bits are in the low bits of a byte."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An index is outside its dimension; the message names it."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferRead(
        buffer: *const MaxBuffer,
        indices: *const i64,
        count: i32,
        byteCount: usize,
        outElement: *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Writes one element."]
    #[doc = ""]
    #[doc = " Waits for work on the buffer's stream."]
    #[doc = ""]
    #[doc = " - `indices`: Negative = from the end. NULL if `count` is 0."]
    #[doc = " - `count`: The buffer's rank."]
    #[doc = " - `element`: Elements of fewer than 8 bits are in the low bits of a byte."]
    #[doc = " - `byteCount`: The element size."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An index is outside its dimension; the message names it."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is read-only."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferWrite(
        buffer: *mut MaxBuffer,
        indices: *const i64,
        count: i32,
        element: *const ::std::os::raw::c_void,
        byteCount: usize,
    ) -> MaxStatus;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxCancellation {
    _unused: [u8; 0],
}
unsafe extern "C" {
    #[doc = " Makes a cancellation that is not cancelled."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationCreate(outCancellation: *mut *mut MaxCancellation) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationRetain(cancellation: *const MaxCancellation);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Calls hold it until they are done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationRelease(cancellation: *const MaxCancellation);
}
unsafe extern "C" {
    #[doc = " Stops all calls that use the cancellation, those in progress and later ones."]
    #[doc = ""]
    #[doc = " Thread-safe. Returns at once; the calls return when they notice."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationCancel(cancellation: *const MaxCancellation) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Lets later calls run again."]
    #[doc = ""]
    #[doc = " Thread-safe. A call that has not noticed the cancellation yet goes on."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationReset(cancellation: *const MaxCancellation) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether the cancellation has been cancelled."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationIsCancelled(cancellation: *const MaxCancellation, outIsCancelled: *mut i32) -> MaxStatus;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxValue {
    _unused: [u8; 0],
}
impl MaxValueKind {
    #[doc = " A tensor."]
    pub const MAX_VALUE_KIND_TENSOR: MaxValueKind = MaxValueKind(0);
}
impl MaxValueKind {
    #[doc = " A sequence of values."]
    pub const MAX_VALUE_KIND_SEQUENCE: MaxValueKind = MaxValueKind(1);
}
impl MaxValueKind {
    #[doc = " An optional: a value or nothing."]
    pub const MAX_VALUE_KIND_OPTIONAL: MaxValueKind = MaxValueKind(2);
}
impl MaxValueKind {
    #[doc = " A map from keys to values."]
    pub const MAX_VALUE_KIND_MAP: MaxValueKind = MaxValueKind(3);
}
#[repr(transparent)]
#[doc = " Kind of a value, or of a model's input or output."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxValueKind(pub i32);
unsafe extern "C" {
    #[doc = " Creates a value from a buffer, which is retained and must not be written while the value is in use."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueCreateTensor(buffer: *mut MaxBuffer, outValue: *mut *mut MaxValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a sequence of values, which are retained: contiguous tensors of one element type in host memory, or maps."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `elements`: `count` values; may be NULL if `count` is 0."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The elements differ in type, or one is a sequence or optional."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueCreateSequence(
        elements: *const *mut MaxValue,
        count: i32,
        outValue: *mut *mut MaxValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates an optional that holds a tensor or a sequence, which is retained, or nothing."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `element`: NULL = nothing."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The element is an optional or a map."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueCreateOptional(element: *mut MaxValue, outValue: *mut *mut MaxValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates a map from two lists of equal length, which are retained."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `keys`: Strings or int64, all different."]
    #[doc = " - `values`: The value of each key."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The buffers are not such lists."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueCreateMap(keys: *mut MaxBuffer, values: *mut MaxBuffer, outValue: *mut *mut MaxValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueRetain(value: *const MaxValue);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueRelease(value: *const MaxValue);
}
unsafe extern "C" {
    #[doc = " Gets the kind of a value."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetKind(value: *const MaxValue, outKind: *mut MaxValueKind) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the buffer of a tensor."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the value."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is not a tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetBuffer(value: *const MaxValue, outBuffer: *mut *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of elements of a sequence or of entries of a map; 1 for an optional, or 0 if it holds nothing."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is a tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetCount(value: *const MaxValue, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets elements of a sequence, or the value in an optional, which is element 0."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the value."]
    #[doc = ""]
    #[doc = " - `outElements`: Room for `count` values; all NULL on failure."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The range is outside the value; the message says how many elements it has."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is a tensor or a map."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetElements(
        value: *const MaxValue,
        first: i32,
        count: i32,
        outElements: *mut *mut MaxValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the keys of a map, a list of strings or int64."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the value."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is not a map."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetMapKeys(value: *const MaxValue, outKeys: *mut *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the values of a map, in the order of its keys."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the value."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is not a map."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetMapValues(value: *const MaxValue, outValues: *mut *mut MaxBuffer) -> MaxStatus;
}
impl MaxTensorInfoMask {
    #[doc = " name is known."]
    pub const MAX_TENSOR_INFO_NAME: MaxTensorInfoMask = MaxTensorInfoMask(1);
}
impl MaxTensorInfoMask {
    #[doc = " typeName is known."]
    pub const MAX_TENSOR_INFO_TYPE_NAME: MaxTensorInfoMask = MaxTensorInfoMask(2);
}
impl MaxTensorInfoMask {
    #[doc = " kind is known."]
    pub const MAX_TENSOR_INFO_KIND: MaxTensorInfoMask = MaxTensorInfoMask(4);
}
impl MaxTensorInfoMask {
    #[doc = " dtype is known."]
    pub const MAX_TENSOR_INFO_DTYPE: MaxTensorInfoMask = MaxTensorInfoMask(8);
}
impl MaxTensorInfoMask {
    #[doc = " rank is known; otherwise it is MAX_RANK_DYNAMIC."]
    pub const MAX_TENSOR_INFO_RANK: MaxTensorInfoMask = MaxTensorInfoMask(16);
}
impl MaxTensorInfoMask {
    #[doc = " shape is known."]
    pub const MAX_TENSOR_INFO_SHAPE: MaxTensorInfoMask = MaxTensorInfoMask(32);
}
impl MaxTensorInfoMask {
    #[doc = " dimensionNames is known."]
    pub const MAX_TENSOR_INFO_DIMENSION_NAMES: MaxTensorInfoMask = MaxTensorInfoMask(64);
}
impl MaxTensorInfoMask {
    #[doc = " device is known."]
    pub const MAX_TENSOR_INFO_DEVICE: MaxTensorInfoMask = MaxTensorInfoMask(128);
}
impl ::std::ops::BitOr<MaxTensorInfoMask> for MaxTensorInfoMask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxTensorInfoMask(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxTensorInfoMask {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxTensorInfoMask) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxTensorInfoMask> for MaxTensorInfoMask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxTensorInfoMask(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxTensorInfoMask {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxTensorInfoMask) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " Valid fields of a MaxTensorInfo: a sum of MAX_TENSOR_INFO_* values."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxTensorInfoMask(pub u64);
#[doc = " A report on an input, output, weight or value; an unknown field is zero or NULL and missing in validMask."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxTensorInfo {
    #[doc = " Size of this structure; set by MAX_TENSOR_INFO_INIT."]
    pub structSize: usize,
    #[doc = " Fields that are known."]
    pub validMask: MaxTensorInfoMask,
    #[doc = " Name."]
    pub name: *const ::std::os::raw::c_char,
    #[doc = " Type as text: \"float32\\[batch, 3\\]\", \"sequence of float32\", \"map from string to int64\"."]
    pub typeName: *const ::std::os::raw::c_char,
    #[doc = " Kind of value."]
    pub kind: MaxValueKind,
    #[doc = " Element type; of the tensors in a sequence or optional, or of the values in a map."]
    pub dtype: MaxDType,
    #[doc = " Number of dimensions, or MAX_RANK_DYNAMIC."]
    pub rank: i32,
    #[doc = " Zero."]
    pub reserved: i32,
    #[doc = " `rank` dimensions, MAX_DIMENSION_DYNAMIC if a call chooses; NULL if there are none."]
    pub shape: *const i64,
    #[doc = " `rank` names of dimensions that a call chooses: \"batch\", or an expression: \"2*batch + 1\"; in graphs, also \"?7\" if"]
    #[doc = " nothing is known. NULL entry = no name. Dimensions with equal names are equal in each call. NULL if there are no"]
    #[doc = " dimensions."]
    pub dimensionNames: *const *const ::std::os::raw::c_char,
    #[doc = " Device; NULL for files, and for values of graphs that are on the first device of their session."]
    pub device: *mut MaxDevice,
}
#[test]
fn bindgen_test_layout_MaxTensorInfo() {
    assert_eq!(::std::mem::size_of::<MaxTensorInfo>(), 72usize, concat!("Size of: ", stringify!(MaxTensorInfo)));
    assert_eq!(::std::mem::align_of::<MaxTensorInfo>(), 8usize, concat!("Alignment of ", stringify!(MaxTensorInfo)));
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_validMask() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).validMask) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(validMask))
        );
    }
    test_field_validMask();
    fn test_field_name() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).name) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(name))
        );
    }
    test_field_name();
    fn test_field_typeName() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).typeName) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(typeName))
        );
    }
    test_field_typeName();
    fn test_field_kind() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).kind) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(kind))
        );
    }
    test_field_kind();
    fn test_field_dtype() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).dtype) as usize - ptr as usize
            },
            36usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(dtype))
        );
    }
    test_field_dtype();
    fn test_field_rank() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).rank) as usize - ptr as usize
            },
            40usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(rank))
        );
    }
    test_field_rank();
    fn test_field_reserved() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).reserved) as usize - ptr as usize
            },
            44usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(reserved))
        );
    }
    test_field_reserved();
    fn test_field_shape() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).shape) as usize - ptr as usize
            },
            48usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(shape))
        );
    }
    test_field_shape();
    fn test_field_dimensionNames() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).dimensionNames) as usize - ptr as usize
            },
            56usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(dimensionNames))
        );
    }
    test_field_dimensionNames();
    fn test_field_device() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxTensorInfo>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).device) as usize - ptr as usize
            },
            64usize,
            concat!("Offset of field: ", stringify!(MaxTensorInfo), "::", stringify!(device))
        );
    }
    test_field_device();
}
impl Default for MaxTensorInfo {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxWeights {
    _unused: [u8; 0],
}
unsafe extern "C" {
    #[doc = " Opens a .safetensors file or a \".max\" checkpoint."]
    #[doc = ""]
    #[doc = " Thread-safe. Models of the same large file share one mapping of it."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file does not exist."]
    #[doc = " - `MAX_STATUS_DATA_LOSS`: The file has neither format, or is damaged; the message names the tensor."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: A tensor has an element type that this library does not support."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsLoad(path: *const ::std::os::raw::c_char, outWeights: *mut *mut MaxWeights) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsRetain(weights: *const MaxWeights);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Buffers that were retained stay."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsRelease(weights: *const MaxWeights);
}
unsafe extern "C" {
    #[doc = " Gets the number of tensors."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsGetCount(weights: *const MaxWeights, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of a tensor; names are sorted."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the weights."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsGetName(
        weights: *const MaxWeights,
        index: i32,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a tensor as a read-only host buffer that shares the file's memory."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the weights."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsGetBuffer(weights: *const MaxWeights, index: i32, outBuffer: *mut *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Finds a tensor by name."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No tensor has this name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxWeightsFind(
        weights: *const MaxWeights,
        name: *const ::std::os::raw::c_char,
        outIndex: *mut i32,
    ) -> MaxStatus;
}
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
unsafe extern "C" {
    #[doc = " Creates an empty graph."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `name`: For messages; NULL = \"graph\"."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphCreate(name: *const ::std::os::raw::c_char, outGraph: *mut *mut MaxGraph) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates an empty subgraph: a branch or body for the operators If, Loop and Scan."]
    #[doc = ""]
    #[doc = " Its nodes may use values of `parent`. maxAttributesSetGraph makes it part of a node; it cannot change after that. The"]
    #[doc = " subgraph holds its parent."]
    #[doc = ""]
    #[doc = " - `name`: For messages; NULL = \"subgraph\"."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: More than 32 levels of subgraphs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphCreateSubgraph(
        parent: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        outGraph: *mut *mut MaxGraph,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphRetain(graph: *const MaxGraph);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. The graph's values are released with it."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphRelease(graph: *const MaxGraph);
}
unsafe extern "C" {
    #[doc = " Gets the name of a graph."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetName(graph: *const MaxGraph, outName: *mut *const ::std::os::raw::c_char) -> MaxStatus;
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxGraphInputOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxGraphInputOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_dimensionNames() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxGraphInputOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).dimensionNames) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxGraphInputOptions), "::", stringify!(dimensionNames))
        );
    }
    test_field_dimensionNames();
    fn test_field_device() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxGraphInputOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).device) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxGraphInputOptions), "::", stringify!(device))
        );
    }
    test_field_device();
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
unsafe extern "C" {
    #[doc = " Adds an input."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph."]
    #[doc = " - `rank`: 0 = a scalar; MAX_RANK_DYNAMIC = unknown, only in subgraphs."]
    #[doc = " - `shape`: Dimensions; MAX_DIMENSION_DYNAMIC = each call chooses. NULL if `rank` is at most 0."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The name is taken, or a dimension is below -1, or fixed but named."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddInput(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        options: *const MaxGraphInputOptions,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds an input with the type and device of a value, and with its dimensions as far as they are known."]
    #[doc = ""]
    #[doc = " Useful for a Loop's body, whose loop-carried inputs have the types of their initial values."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph."]
    #[doc = " - `value`: From this graph or its parents."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The name is taken, or the value belongs to another graph."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddInputLike(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        value: *const MaxGraphValue,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds an input that is a sequence or an optional of tensors."]
    #[doc = ""]
    #[doc = " - `kind`: MAX_VALUE_KIND_SEQUENCE or MAX_VALUE_KIND_OPTIONAL."]
    #[doc = " - `dtype`: Element type of the tensors."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The kind or the type is another one, or the name is taken."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddValueInput(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        kind: MaxValueKind,
        dtype: MaxDType,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a constant. Waits for work on the buffer's stream, then copies the contents."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph; NULL = the library chooses one."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddConstant(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        contents: *const MaxBuffer,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a weight: a constant whose contents are passed by name when the graph is compiled."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph."]
    #[doc = " - `shape`: Dimensions, all known. NULL if `rank` is 0."]
    #[doc = " - `device`: Where the weight is used; NULL = the first device of the session."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddWeight(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        dtype: MaxDType,
        rank: i32,
        shape: *const i64,
        device: *mut MaxDevice,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a weight with its contents. They can be replaced by name when the graph is compiled, and in the model."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph."]
    #[doc = " - `contents`: Used without a copy if dense and in host memory; retained by the graph and its models, and must"]
    #[doc = "   no longer be written."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddWeightFromBuffer(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        contents: *const MaxBuffer,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a weight with the contents of a tensor in a weights file. Otherwise like maxGraphAddWeightFromBuffer."]
    #[doc = ""]
    #[doc = " - `name`: Name of the tensor in the file and of the weight in the graph."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file has no tensor of this name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddWeightFromWeights(
        graph: *mut MaxGraph,
        name: *const ::std::os::raw::c_char,
        weights: *const MaxWeights,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a node: an operator applied to values, as defined by the newest ONNX operator set."]
    #[doc = ""]
    #[doc = " Checks the number and types of inputs, the attributes and the shapes, and infers the types of the outputs. On failure"]
    #[doc = " the message names node, operator, tensors and shapes, and the graph is unchanged."]
    #[doc = ""]
    #[doc = " Domain \"max\" has one operator for programs: Rebind(value, shape) returns the value with the dimensions in the int64"]
    #[doc = " list `shape`. -1 is any dimension, named by the entry at that place of the attribute \"names\", a list of strings, if"]
    #[doc = " it has one. A call in which the value has another shape fails; its message contains the attribute \"message\"."]
    #[doc = ""]
    #[doc = " - `domain`: NULL or \"\" = ONNX's own operators."]
    #[doc = " - `name`: For messages and profiles; NULL = none."]
    #[doc = " - `inputs`: Values of this graph or its parents. A NULL entry omits an optional input."]
    #[doc = " - `attributes`: Copied. NULL = none."]
    #[doc = " - `outValues`: Filled with `outputCount` values; all NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The node is not valid."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The graph is already part of a node."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: There is no such operator."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddNode(
        graph: *mut MaxGraph,
        domain: *const ::std::os::raw::c_char,
        op: *const ::std::os::raw::c_char,
        name: *const ::std::os::raw::c_char,
        inputs: *const *mut MaxGraphValue,
        inputCount: i32,
        attributes: *const MaxAttributes,
        outValues: *mut *mut MaxGraphValue,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a copy of a value on another device. On the device where it is already, it is the value itself."]
    #[doc = ""]
    #[doc = " Nodes run on the device of the first input that is placed on one: inputs of the graph and weights that name a device,"]
    #[doc = " transfers, and what is computed from them. Inputs of a node that are placed must be on one device. What is not placed"]
    #[doc = " is on the first device of the session; constants are copied to each device that reads them."]
    #[doc = ""]
    #[doc = " A session that compiles the graph must have all accelerators that it names, and one as its first device if it names"]
    #[doc = " any."]
    #[doc = ""]
    #[doc = " - `value`: From this graph or its parents; a tensor of numbers."]
    #[doc = " - `device`: An accelerator or the host; retained."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The value is made of strings, or no tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddTransfer(
        graph: *mut MaxGraph,
        value: *mut MaxGraphValue,
        device: *mut MaxDevice,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes a value the next output of the graph, on the value's device."]
    #[doc = ""]
    #[doc = " - `name`: Unique among the outputs; NULL = the value's name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphAddOutput(
        graph: *mut MaxGraph,
        value: *mut MaxGraphValue,
        name: *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of inputs."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetInputCount(graph: *const MaxGraph, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets an input."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetInput(graph: *const MaxGraph, index: i32, outValue: *mut *mut MaxGraphValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of outputs."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetOutputCount(graph: *const MaxGraph, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the value that is an output."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetOutput(graph: *const MaxGraph, index: i32, outValue: *mut *mut MaxGraphValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of an output."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetOutputName(
        graph: *const MaxGraph,
        index: i32,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of nodes, without those in subgraphs."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetNodeCount(graph: *const MaxGraph, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Finds a value of this graph by name."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No value has this name."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphFindValue(
        graph: *const MaxGraph,
        name: *const ::std::os::raw::c_char,
        outValue: *mut *mut MaxGraphValue,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the graph that a value belongs to."]
    #[doc = ""]
    #[doc = " Borrowed: the call adds no reference to the graph."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphValueGetGraph(value: *const MaxGraphValue, outGraph: *mut *mut MaxGraph) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about a value: name, kind, type, dimensions, and its device: the one set for it, or that of the"]
    #[doc = " values it is computed from."]
    #[doc = ""]
    #[doc = " Borrowed from the graph."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphValueGetInfo(value: *const MaxGraphValue, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Creates an empty set of attributes. Setting a name again replaces its value."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesCreate(outAttributes: *mut *mut MaxAttributes) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesRetain(attributes: *const MaxAttributes);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesRelease(attributes: *const MaxAttributes);
}
unsafe extern "C" {
    #[doc = " Sets an attribute to an integer."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetInt(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a list of integers."]
    #[doc = ""]
    #[doc = " - `values`: NULL only if `count` is 0."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetInts(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        values: *const i64,
        count: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to an element type in ONNX's numbering, for example \"to\" of Cast."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: ONNX has no such type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetDType(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: MaxDType,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a floating-point number."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetFloat(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: f32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a list of floating-point numbers."]
    #[doc = ""]
    #[doc = " - `values`: NULL only if `count` is 0."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetFloats(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        values: *const f32,
        count: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a string."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetString(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a list of strings."]
    #[doc = ""]
    #[doc = " - `values`: NULL only if `count` is 0."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetStrings(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        values: *const *const ::std::os::raw::c_char,
        count: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a tensor. Waits for work on the buffer's stream, then copies the contents."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetTensor(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: *const MaxBuffer,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute to a subgraph. The attributes hold it; it cannot change once a node uses them."]
    #[doc = ""]
    #[doc = " - `value`: Created by maxGraphCreateSubgraph for the graph that the node is added to."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The graph is not a subgraph."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxAttributesSetGraph(
        attributes: *mut MaxAttributes,
        name: *const ::std::os::raw::c_char,
        value: *mut MaxGraph,
    ) -> MaxStatus;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxOperatorNode {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxShapeContext {
    _unused: [u8; 0],
}
impl MaxOperatorTraits {
    #[doc = " Outputs and their shapes depend only on inputs and attributes."]
    pub const MAX_OPERATOR_TRAITS_NONE: MaxOperatorTraits = MaxOperatorTraits(0);
}
impl MaxOperatorTraits {
    #[doc = " Equal calls may give different results (random numbers, side effects): never merged or computed at load."]
    pub const MAX_OPERATOR_TRAITS_RANDOM: MaxOperatorTraits = MaxOperatorTraits(1);
}
impl MaxOperatorTraits {
    #[doc = " Output shapes are known only at run time: `execute` allocates outputs with maxOperatorCallAllocateOutput."]
    pub const MAX_OPERATOR_TRAITS_DATA_DEPENDENT: MaxOperatorTraits = MaxOperatorTraits(2);
}
impl ::std::ops::BitOr<MaxOperatorTraits> for MaxOperatorTraits {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        MaxOperatorTraits(self.0 | other.0)
    }
}
impl ::std::ops::BitOrAssign for MaxOperatorTraits {
    #[inline]
    fn bitor_assign(&mut self, rhs: MaxOperatorTraits) {
        self.0 |= rhs.0;
    }
}
impl ::std::ops::BitAnd<MaxOperatorTraits> for MaxOperatorTraits {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        MaxOperatorTraits(self.0 & other.0)
    }
}
impl ::std::ops::BitAndAssign for MaxOperatorTraits {
    #[inline]
    fn bitand_assign(&mut self, rhs: MaxOperatorTraits) {
        self.0 &= rhs.0;
    }
}
#[repr(transparent)]
#[doc = " Properties of operators, joined with |."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxOperatorTraits(pub i32);
#[doc = " One run of an operator. All pointers are borrowed until `execute` returns."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxOperatorCall {
    #[doc = " Size of this structure in the calling library."]
    pub structSize: usize,
    #[doc = " Contents of the inputs, dense and row-major; NULL = omitted, or without elements."]
    pub inputs: *const *const ::std::os::raw::c_void,
    #[doc = " Element types of the inputs; MAX_DTYPE_INVALID = omitted."]
    pub inputDTypes: *const MaxDType,
    #[doc = " Numbers of dimensions of the inputs."]
    pub inputRanks: *const i32,
    #[doc = " Dimensions of the inputs."]
    pub inputShapes: *const *const i64,
    #[doc = " Numbers of elements of the inputs."]
    pub inputElementCounts: *const i64,
    #[doc = " Memory of the outputs, to be written completely; NULL = not used, or without elements."]
    pub outputs: *const *mut ::std::os::raw::c_void,
    #[doc = " Element types of the outputs; MAX_DTYPE_INVALID = not used."]
    pub outputDTypes: *const MaxDType,
    #[doc = " Numbers of dimensions of the outputs; MAX_RANK_DYNAMIC = `execute` allocates it."]
    pub outputRanks: *const i32,
    #[doc = " Dimensions of the outputs."]
    pub outputShapes: *const *const i64,
    #[doc = " Numbers of elements of the outputs."]
    pub outputElementCounts: *const i64,
    #[doc = " Number of inputs."]
    pub inputCount: i32,
    #[doc = " Number of outputs."]
    pub outputCount: i32,
    #[doc = " Scratch memory that `infer` requested, 64-byte aligned; its contents are undefined."]
    pub scratch: *mut ::std::os::raw::c_void,
    #[doc = " Bytes of `scratch`."]
    pub scratchSize: usize,
    #[doc = " Maximum number of threads that maxOperatorCallParallelFor uses."]
    pub lanes: i32,
    #[doc = " Zero."]
    pub reserved: i32,
    #[doc = " The device that the operator runs on and that holds its inputs and outputs: the host, in this version."]
    pub device: *mut MaxDevice,
    #[doc = " The stream that the operator runs on, for kernels (maxKernelLaunch, with the pointers above as arguments), copies"]
    #[doc = " and other calls of a device. Work queued there runs after the inputs are ready and before the outputs are read;"]
    #[doc = " `execute` need not wait for it."]
    pub stream: *mut MaxStream,
}
#[test]
fn bindgen_test_layout_MaxOperatorCall() {
    assert_eq!(::std::mem::size_of::<MaxOperatorCall>(), 136usize, concat!("Size of: ", stringify!(MaxOperatorCall)));
    assert_eq!(
        ::std::mem::align_of::<MaxOperatorCall>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxOperatorCall))
    );
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_inputs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).inputs) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(inputs))
        );
    }
    test_field_inputs();
    fn test_field_inputDTypes() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).inputDTypes) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(inputDTypes))
        );
    }
    test_field_inputDTypes();
    fn test_field_inputRanks() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).inputRanks) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(inputRanks))
        );
    }
    test_field_inputRanks();
    fn test_field_inputShapes() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).inputShapes) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(inputShapes))
        );
    }
    test_field_inputShapes();
    fn test_field_inputElementCounts() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).inputElementCounts) as usize - ptr as usize
            },
            40usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(inputElementCounts))
        );
    }
    test_field_inputElementCounts();
    fn test_field_outputs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).outputs) as usize - ptr as usize
            },
            48usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(outputs))
        );
    }
    test_field_outputs();
    fn test_field_outputDTypes() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).outputDTypes) as usize - ptr as usize
            },
            56usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(outputDTypes))
        );
    }
    test_field_outputDTypes();
    fn test_field_outputRanks() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).outputRanks) as usize - ptr as usize
            },
            64usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(outputRanks))
        );
    }
    test_field_outputRanks();
    fn test_field_outputShapes() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).outputShapes) as usize - ptr as usize
            },
            72usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(outputShapes))
        );
    }
    test_field_outputShapes();
    fn test_field_outputElementCounts() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).outputElementCounts) as usize - ptr as usize
            },
            80usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(outputElementCounts))
        );
    }
    test_field_outputElementCounts();
    fn test_field_inputCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).inputCount) as usize - ptr as usize
            },
            88usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(inputCount))
        );
    }
    test_field_inputCount();
    fn test_field_outputCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).outputCount) as usize - ptr as usize
            },
            92usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(outputCount))
        );
    }
    test_field_outputCount();
    fn test_field_scratch() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).scratch) as usize - ptr as usize
            },
            96usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(scratch))
        );
    }
    test_field_scratch();
    fn test_field_scratchSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).scratchSize) as usize - ptr as usize
            },
            104usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(scratchSize))
        );
    }
    test_field_scratchSize();
    fn test_field_lanes() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).lanes) as usize - ptr as usize
            },
            112usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(lanes))
        );
    }
    test_field_lanes();
    fn test_field_reserved() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).reserved) as usize - ptr as usize
            },
            116usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(reserved))
        );
    }
    test_field_reserved();
    fn test_field_device() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).device) as usize - ptr as usize
            },
            120usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(device))
        );
    }
    test_field_device();
    fn test_field_stream() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperatorCall>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).stream) as usize - ptr as usize
            },
            128usize,
            concat!("Offset of field: ", stringify!(MaxOperatorCall), "::", stringify!(stream))
        );
    }
    test_field_stream();
}
impl Default for MaxOperatorCall {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = " Sets the types and shapes of a node's outputs, as far as they are known, with the functions maxShapeContextSet*."]
#[doc = ""]
#[doc = " Called while a graph is built, when some dimensions may not be known yet, and for each set of input shapes, with all"]
#[doc = " dimensions known; it must then set all dimensions of the outputs. Called from any thread, and from several at a time."]
#[doc = ""]
#[doc = " Returns MAX_STATUS_OK, or an error if the node is not valid; see maxExtensionFail."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorInferFunction = ::std::option::Option<
    unsafe extern "C" fn(
        userData: *mut ::std::os::raw::c_void,
        node: *const MaxOperatorNode,
        context: *mut MaxShapeContext,
    ) -> MaxStatus,
>;
#[doc = " Creates state that a node's calls share: tables, packed constants. Called when a model is loaded, and possibly again"]
#[doc = " later, from any thread, and for several nodes at a time."]
#[doc = ""]
#[doc = " - `outState`: Passed to `execute` and finally to `destroy`; may stay NULL."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorPrepareFunction = ::std::option::Option<
    unsafe extern "C" fn(
        userData: *mut ::std::os::raw::c_void,
        node: *const MaxOperatorNode,
        outState: *mut *mut ::std::os::raw::c_void,
    ) -> MaxStatus,
>;
#[doc = " Frees a state that is not NULL. Called when the model is released, from any thread."]
#[doc = ""]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorDestroyFunction = ::std::option::Option<
    unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void, state: *mut ::std::os::raw::c_void),
>;
#[doc = " Computes the outputs of a node. Called from any thread, and from several at a time with the same state."]
#[doc = ""]
#[doc = " - `state`: From `prepare`; NULL if there is none."]
#[doc = " Returns MAX_STATUS_OK, or an error if the call fails; see maxExtensionFail."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorExecuteFunction = ::std::option::Option<
    unsafe extern "C" fn(
        userData: *mut ::std::os::raw::c_void,
        node: *const MaxOperatorNode,
        state: *mut ::std::os::raw::c_void,
        call: *const MaxOperatorCall,
    ) -> MaxStatus,
>;
#[doc = " The body of maxOperatorCallParallelFor: processes \\[begin, end). `lane` is below MaxOperatorCall::lanes and differs"]
#[doc = " between bodies that run at the same time."]
#[doc = ""]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorLoopFunction =
    ::std::option::Option<unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void, begin: i64, end: i64, lane: i32)>;
#[doc = " An operator of an extension. Everything it points to must stay valid until the process ends."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxOperator {
    #[doc = " Size of this structure; set by MAX_OPERATOR_INIT."]
    pub structSize: usize,
    #[doc = " Domain, as written in models, for example \"com.example\"; not empty, nor one of ONNX's, nor \"max\"."]
    pub domain: *const ::std::os::raw::c_char,
    #[doc = " Name, as written in models."]
    pub name: *const ::std::os::raw::c_char,
    #[doc = " Element types as \"inputs -\\> outputs; constraints\", for example \"T,I-\\>T; T=float32|float16; I=index\". A letter"]
    #[doc = " stands for the same type everywhere. Classes: any, number (no bool), float, integer, signed, unsigned, bool, index"]
    #[doc = " (int32, int64), and each name of maxDTypeGetName, joined by '|'. A trailing \"...\" repeats the last input or output."]
    #[doc = " \"*\" as an output: `infer` sets the type. NULL = any inputs, and `infer` sets all output types."]
    pub types: *const ::std::os::raw::c_char,
    #[doc = " Names and types of attributes, for example \"alpha=f axes=I\"; i, f, s, t = int, float, string, tensor; I, F, S ="]
    #[doc = " lists of int, float, string. Graphs built in code must not set others. NULL = any."]
    pub attributes: *const ::std::os::raw::c_char,
    #[doc = " Minimum number of inputs; these cannot be omitted."]
    pub minInputs: i32,
    #[doc = " Maximum number of inputs, or MAX_OPERATOR_COUNT_ANY."]
    pub maxInputs: i32,
    #[doc = " Minimum number of outputs."]
    pub minOutputs: i32,
    #[doc = " Maximum number of outputs, or MAX_OPERATOR_COUNT_ANY."]
    pub maxOutputs: i32,
    #[doc = " Properties."]
    pub traits: MaxOperatorTraits,
    #[doc = " Bit i: output shapes depend on the contents of input i, which `infer` gets at run time at the latest."]
    pub shapeInputs: u32,
    #[doc = " Infers types and shapes of outputs; not NULL."]
    pub infer: MaxOperatorInferFunction,
    #[doc = " Creates the state that calls share; NULL = none."]
    pub prepare: MaxOperatorPrepareFunction,
    #[doc = " Frees the state; NULL = nothing to free."]
    pub destroy: MaxOperatorDestroyFunction,
    #[doc = " Computes the outputs; not NULL."]
    pub execute: MaxOperatorExecuteFunction,
    #[doc = " First argument of all these functions."]
    pub userData: *mut ::std::os::raw::c_void,
}
#[test]
fn bindgen_test_layout_MaxOperator() {
    assert_eq!(::std::mem::size_of::<MaxOperator>(), 104usize, concat!("Size of: ", stringify!(MaxOperator)));
    assert_eq!(::std::mem::align_of::<MaxOperator>(), 8usize, concat!("Alignment of ", stringify!(MaxOperator)));
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_domain() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).domain) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(domain))
        );
    }
    test_field_domain();
    fn test_field_name() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).name) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(name))
        );
    }
    test_field_name();
    fn test_field_types() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).types) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(types))
        );
    }
    test_field_types();
    fn test_field_attributes() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).attributes) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(attributes))
        );
    }
    test_field_attributes();
    fn test_field_minInputs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).minInputs) as usize - ptr as usize
            },
            40usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(minInputs))
        );
    }
    test_field_minInputs();
    fn test_field_maxInputs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).maxInputs) as usize - ptr as usize
            },
            44usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(maxInputs))
        );
    }
    test_field_maxInputs();
    fn test_field_minOutputs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).minOutputs) as usize - ptr as usize
            },
            48usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(minOutputs))
        );
    }
    test_field_minOutputs();
    fn test_field_maxOutputs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).maxOutputs) as usize - ptr as usize
            },
            52usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(maxOutputs))
        );
    }
    test_field_maxOutputs();
    fn test_field_traits() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).traits) as usize - ptr as usize
            },
            56usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(traits))
        );
    }
    test_field_traits();
    fn test_field_shapeInputs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).shapeInputs) as usize - ptr as usize
            },
            60usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(shapeInputs))
        );
    }
    test_field_shapeInputs();
    fn test_field_infer() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).infer) as usize - ptr as usize
            },
            64usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(infer))
        );
    }
    test_field_infer();
    fn test_field_prepare() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).prepare) as usize - ptr as usize
            },
            72usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(prepare))
        );
    }
    test_field_prepare();
    fn test_field_destroy() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).destroy) as usize - ptr as usize
            },
            80usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(destroy))
        );
    }
    test_field_destroy();
    fn test_field_execute() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).execute) as usize - ptr as usize
            },
            88usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(execute))
        );
    }
    test_field_execute();
    fn test_field_userData() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxOperator>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).userData) as usize - ptr as usize
            },
            96usize,
            concat!("Offset of field: ", stringify!(MaxOperator), "::", stringify!(userData))
        );
    }
    test_field_userData();
}
impl Default for MaxOperator {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[doc = " What an extension offers."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxExtensionTable {
    #[doc = " Size of this structure; set by MAX_EXTENSION_TABLE_INIT."]
    pub structSize: usize,
    #[doc = " MAX_EXTENSION_ABI_VERSION that the extension was built with."]
    pub abiVersion: i32,
    #[doc = " Number of operators."]
    pub operatorCount: i32,
    #[doc = " The operators."]
    pub operators: *const *const MaxOperator,
}
#[test]
fn bindgen_test_layout_MaxExtensionTable() {
    assert_eq!(
        ::std::mem::size_of::<MaxExtensionTable>(),
        24usize,
        concat!("Size of: ", stringify!(MaxExtensionTable))
    );
    assert_eq!(
        ::std::mem::align_of::<MaxExtensionTable>(),
        8usize,
        concat!("Alignment of ", stringify!(MaxExtensionTable))
    );
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxExtensionTable>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxExtensionTable), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_abiVersion() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxExtensionTable>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).abiVersion) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxExtensionTable), "::", stringify!(abiVersion))
        );
    }
    test_field_abiVersion();
    fn test_field_operatorCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxExtensionTable>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).operatorCount) as usize - ptr as usize
            },
            12usize,
            concat!("Offset of field: ", stringify!(MaxExtensionTable), "::", stringify!(operatorCount))
        );
    }
    test_field_operatorCount();
    fn test_field_operators() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxExtensionTable>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).operators) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxExtensionTable), "::", stringify!(operators))
        );
    }
    test_field_operators();
}
impl Default for MaxExtensionTable {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    #[doc = " Loads a shared library of operators, for all models loaded and graphs built from now on."]
    #[doc = ""]
    #[doc = " A .cu or .hip file is a kernel source whose comments declare operators; it is compiled. Loading the same file again"]
    #[doc = " does nothing. On failure none of its operators is registered. Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: The file; no search path is used. Its code runs in this process, so load only files that you trust."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file does not exist."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The file is not a loadable shared library or not an extension, or its table is"]
    #[doc = "   not valid; or a source does not compile or declares nothing. The message says why."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: The file is a source, and no compiler was found."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The extension was built for another version of this interface."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: An operator is already defined; the message says where."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The extension is linked to another copy of this library."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExtensionLoad(path: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds operators from the program itself, without a library. The functions and what they use must stay valid until the"]
    #[doc = " process ends; the table and its strings are copied."]
    #[doc = ""]
    #[doc = " Adding the same table again does nothing. On failure none of its operators is registered. Thread-safe."]
    #[doc = ""]
    #[doc = " - `name`: Name of the extension in messages."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The table is not valid; the message says why."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The extension was built for another version of this interface."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: An operator is already defined; the message says where."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExtensionAdd(name: *const ::std::os::raw::c_char, table: *const MaxExtensionTable) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Stores an error message and returns `status`, for `infer`, `prepare` and `execute` to return when they fail."]
    #[doc = ""]
    #[doc = " The message becomes part of the failing call's message, after node, operator and extension. Failing functions of this"]
    #[doc = " library store theirs in the same way. MAX_STATUS_OK becomes MAX_STATUS_UNKNOWN."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExtensionFail(status: MaxStatus, message: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of a node; \"\" if it has none."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetName(
        node: *const MaxOperatorNode,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of inputs of a node, including omitted ones."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetInputCount(node: *const MaxOperatorNode, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of outputs of a node."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetOutputCount(node: *const MaxOperatorNode, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether a node has an attribute; 1 or 0."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeHasAttribute(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        outHas: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets an integer attribute."]
    #[doc = ""]
    #[doc = " - `fallback`: Value if the attribute is missing."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetInt(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        fallback: i64,
        outValue: *mut i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a floating-point attribute."]
    #[doc = ""]
    #[doc = " - `fallback`: Value if the attribute is missing."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetFloat(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        fallback: f32,
        outValue: *mut f32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a string attribute; borrowed."]
    #[doc = ""]
    #[doc = " - `fallback`: Value if the attribute is missing; may be NULL."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetString(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        fallback: *const ::std::os::raw::c_char,
        outValue: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a list of integers; borrowed. NULL and 0 if the attribute is missing."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetInts(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        outValues: *mut *const i64,
        outCount: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a list of floating-point numbers; borrowed. NULL and 0 if the attribute is missing."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetFloats(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        outValues: *mut *const f32,
        outCount: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the length of a list of strings; 0 if the attribute is missing."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetStringCount(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        outCount: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a string of a list of strings; borrowed."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such string."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetStringAt(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        index: i32,
        outValue: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a tensor attribute; borrowed. MAX_DTYPE_INVALID, 0, NULL and NULL if the attribute is missing."]
    #[doc = ""]
    #[doc = " - `outShape`: Dimensions."]
    #[doc = " - `outData`: Elements, dense and row-major."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The attribute has another type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetTensor(
        node: *const MaxOperatorNode,
        name: *const ::std::os::raw::c_char,
        outDType: *mut MaxDType,
        outRank: *mut i32,
        outShape: *mut *const i64,
        outData: *mut *const ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a constant input of a node, in `prepare`; borrowed. MAX_DTYPE_INVALID, 0, NULL and NULL if the input is not"]
    #[doc = " constant, and outside `prepare`."]
    #[doc = ""]
    #[doc = " - `outShape`: Dimensions."]
    #[doc = " - `outData`: Elements, dense and row-major."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetConstant(
        node: *const MaxOperatorNode,
        input: i32,
        outDType: *mut MaxDType,
        outRank: *mut i32,
        outShape: *mut *const i64,
        outData: *mut *const ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the device that a node runs on, in `prepare` and `execute`; borrowed. `prepare` can compile kernels for it"]
    #[doc = " (maxModuleCompile) and allocate memory on it. NULL in `infer`, which does not depend on a device."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetDevice(node: *const MaxOperatorNode, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the element type of an input; MAX_DTYPE_INVALID if it is omitted or unknown."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextGetInputDType(
        context: *const MaxShapeContext,
        input: i32,
        outDType: *mut MaxDType,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of dimensions of an input; MAX_RANK_DYNAMIC if it is omitted or unknown."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextGetInputRank(context: *const MaxShapeContext, input: i32, outRank: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a dimension of an input; MAX_DIMENSION_DYNAMIC if it is unknown."]
    #[doc = ""]
    #[doc = " - `axis`: Index of the dimension, from 0."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input or dimension."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextGetInputDimension(
        context: *const MaxShapeContext,
        input: i32,
        axis: i32,
        outDimension: *mut i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the contents of an input; borrowed. NULL if they are unknown."]
    #[doc = ""]
    #[doc = " - `outData`: Elements, dense and row-major; the dimensions are then known."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextGetInputData(
        context: *const MaxShapeContext,
        input: i32,
        outData: *mut *const ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the element type of an output, if MaxOperator::types does not."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The node has no such output."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: Outputs cannot have this type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputDType(context: *mut MaxShapeContext, output: i32, dtype: MaxDType) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the dimensions of an output; MAX_DIMENSION_DYNAMIC = unknown."]
    #[doc = ""]
    #[doc = " - `shape`: NULL if `rank` is 0."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The node has no such output."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: A dimension is negative, or there are too many dimensions."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputShape(
        context: *mut MaxShapeContext,
        output: i32,
        rank: i32,
        shape: *const i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets a dimension of an output to that of an input, known or not. The output's shape must have been set."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output, input or dimension."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputDimension(
        context: *mut MaxShapeContext,
        output: i32,
        axis: i32,
        input: i32,
        inputAxis: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the dimensions of an output to those of an input, known or not."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output or input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputLike(context: *mut MaxShapeContext, output: i32, input: i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the dimensions of an output to those of two inputs broadcast together, as in ONNX's Add."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output or input."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The shapes cannot be broadcast; the message names them."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputBroadcast(
        context: *mut MaxShapeContext,
        output: i32,
        inputA: i32,
        inputB: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Requests scratch memory for each call: MaxOperatorCall::scratch."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: More than 2^60 bytes."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetScratchSize(context: *mut MaxShapeContext, byteCount: usize) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Splits \\[0, count) into parts of `grain` and runs them on the call's threads; returns when all parts are done."]
    #[doc = ""]
    #[doc = " - `grain`: At least 1; large enough that a part takes some microseconds."]
    #[doc = " - `body`: Must not throw."]
    #[doc = " - `userData`: First argument of `body`."]
    #[doc = " - `MAX_STATUS_CANCELLED`: The model's call was cancelled; return this status."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The model's call ran out of time; return this status."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorCallParallelFor(
        call: *const MaxOperatorCall,
        count: i64,
        grain: i64,
        body: MaxOperatorLoopFunction,
        userData: *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Allocates an output whose shape is known only at run time, for operators with MAX_OPERATOR_TRAITS_DATA_DEPENDENT."]
    #[doc = ""]
    #[doc = " - `shape`: NULL if `rank` is 0."]
    #[doc = " - `outData`: Memory of the output, to be written completely; NULL if it has no elements or is not used."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The shape contradicts `infer`, or is not valid."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The output is already allocated, or the operator does not have that trait."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorCallAllocateOutput(
        call: *const MaxOperatorCall,
        output: i32,
        rank: i32,
        shape: *const i64,
        outData: *mut *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_architecture() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).architecture) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(architecture))
        );
    }
    test_field_architecture();
    fn test_field_defineNames() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).defineNames) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(defineNames))
        );
    }
    test_field_defineNames();
    fn test_field_defineValues() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).defineValues) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(defineValues))
        );
    }
    test_field_defineValues();
    fn test_field_headerNames() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).headerNames) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(headerNames))
        );
    }
    test_field_headerNames();
    fn test_field_headerTexts() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).headerTexts) as usize - ptr as usize
            },
            40usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(headerTexts))
        );
    }
    test_field_headerTexts();
    fn test_field_flags() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).flags) as usize - ptr as usize
            },
            48usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(flags))
        );
    }
    test_field_flags();
    fn test_field_defineCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).defineCount) as usize - ptr as usize
            },
            56usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(defineCount))
        );
    }
    test_field_defineCount();
    fn test_field_headerCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).headerCount) as usize - ptr as usize
            },
            60usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(headerCount))
        );
    }
    test_field_headerCount();
    fn test_field_flagCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).flagCount) as usize - ptr as usize
            },
            64usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(flagCount))
        );
    }
    test_field_flagCount();
    fn test_field_fastMath() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).fastMath) as usize - ptr as usize
            },
            68usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(fastMath))
        );
    }
    test_field_fastMath();
    fn test_field_registerLimit() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).registerLimit) as usize - ptr as usize
            },
            72usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(registerLimit))
        );
    }
    test_field_registerLimit();
    fn test_field_lineInfo() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModuleOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).lineInfo) as usize - ptr as usize
            },
            76usize,
            concat!("Offset of field: ", stringify!(MaxModuleOptions), "::", stringify!(lineInfo))
        );
    }
    test_field_lineInfo();
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
unsafe extern "C" {
    #[doc = " Compiles source text for a device."]
    #[doc = ""]
    #[doc = " Thread-safe. Compiled code is cached, also on disk. If the source does not compile, the compiler's log follows the"]
    #[doc = " first line of the message, with the line numbers of the source."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `name`: Name of the source in the log; NULL = \"kernel.cu\"."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The source does not compile."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: No compiler was found, and the message lists what was tried, or only one that is too"]
    #[doc = "   new for the driver."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModuleCompile(
        device: *const MaxDevice,
        source: *const ::std::os::raw::c_char,
        name: *const ::std::os::raw::c_char,
        options: *const MaxModuleOptions,
        outModule: *mut *mut MaxModule,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Loads compiled code: PTX or a CUBIN on cuda, a code object on hip, a shared object on cpu."]
    #[doc = ""]
    #[doc = " Thread-safe. The bytes are copied. A shared object's code runs in this process: load only what you trust."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The bytes are not code for the device."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: The driver is too old for the compiler that made the code."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModuleLoadFromMemory(
        device: *const MaxDevice,
        data: *const ::std::os::raw::c_void,
        byteCount: usize,
        outModule: *mut *mut MaxModule,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModuleRetain(module: *const MaxModule);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Queued launches keep what they need."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModuleRelease(module: *const MaxModule);
}
unsafe extern "C" {
    #[doc = " Gets the device that the module was created for."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the module."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModuleGetDevice(module: *const MaxModule, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a form of the module's code, compiling again if necessary."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the module. A NUL follows the bytes, so text can be used as a string."]
    #[doc = ""]
    #[doc = " - `outByteCount`: Number of bytes, without the NUL."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device's compiler has no such form."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The module was loaded in another form."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModuleGetArtifact(
        module: *const MaxModule,
        kind: MaxArtifactKind,
        outData: *mut *const ::std::os::raw::c_void,
        outByteCount: *mut usize,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Finds a kernel by name."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the module: the same name gives the same kernel."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The module has no such kernel."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModuleGetKernel(
        module: *const MaxModule,
        name: *const ::std::os::raw::c_char,
        outKernel: *mut *mut MaxKernel,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Writes to a variable of the module (`__constant__` or `__device__`), from its start."]
    #[doc = ""]
    #[doc = " Asynchronous: in stream order; the bytes are copied before the call returns. Thread-safe."]
    #[doc = ""]
    #[doc = " - `stream`: NULL = the default stream of the module's device."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The module has no such variable."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The variable is smaller."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModuleSetConstant(
        module: *const MaxModule,
        name: *const ::std::os::raw::c_char,
        data: *const ::std::os::raw::c_void,
        byteCount: usize,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_grid() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).grid) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(grid))
        );
    }
    test_field_grid();
    fn test_field_block() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).block) as usize - ptr as usize
            },
            20usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(block))
        );
    }
    test_field_block();
    fn test_field_cluster() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).cluster) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(cluster))
        );
    }
    test_field_cluster();
    fn test_field_cooperative() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).cooperative) as usize - ptr as usize
            },
            44usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(cooperative))
        );
    }
    test_field_cooperative();
    fn test_field_sharedByteCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).sharedByteCount) as usize - ptr as usize
            },
            48usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(sharedByteCount))
        );
    }
    test_field_sharedByteCount();
    fn test_field_accessBase() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).accessBase) as usize - ptr as usize
            },
            56usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(accessBase))
        );
    }
    test_field_accessBase();
    fn test_field_accessByteCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).accessByteCount) as usize - ptr as usize
            },
            64usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(accessByteCount))
        );
    }
    test_field_accessByteCount();
    fn test_field_hitRatio() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).hitRatio) as usize - ptr as usize
            },
            72usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(hitRatio))
        );
    }
    test_field_hitRatio();
    fn test_field_hitProperty() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).hitProperty) as usize - ptr as usize
            },
            76usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(hitProperty))
        );
    }
    test_field_hitProperty();
    fn test_field_missProperty() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).missProperty) as usize - ptr as usize
            },
            80usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(missProperty))
        );
    }
    test_field_missProperty();
    fn test_field_priority() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).priority) as usize - ptr as usize
            },
            84usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(priority))
        );
    }
    test_field_priority();
    fn test_field_programmaticSerialization() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).programmaticSerialization) as usize - ptr as usize
            },
            88usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(programmaticSerialization))
        );
    }
    test_field_programmaticSerialization();
    fn test_field_reserved() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxLaunchConfig>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).reserved) as usize - ptr as usize
            },
            92usize,
            concat!("Offset of field: ", stringify!(MaxLaunchConfig), "::", stringify!(reserved))
        );
    }
    test_field_reserved();
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
unsafe extern "C" {
    #[doc = " Adds a reference to the kernel's module; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelRetain(kernel: *const MaxKernel);
}
unsafe extern "C" {
    #[doc = " Drops a reference to the kernel's module; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelRelease(kernel: *const MaxKernel);
}
unsafe extern "C" {
    #[doc = " Gets the module of the kernel."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the kernel."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelGetModule(kernel: *const MaxKernel, outModule: *mut *mut MaxModule) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of the kernel."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the kernel."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelGetName(kernel: *const MaxKernel, outName: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets an attribute of the kernel."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device does not have this attribute."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelGetAttribute(
        kernel: *const MaxKernel,
        attribute: MaxKernelAttribute,
        outValue: *mut i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets an attribute of the kernel for all later launches."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The value is outside the device's limits; the message names them."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The attribute cannot be set."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelSetAttribute(kernel: *const MaxKernel, attribute: MaxKernelAttribute, value: i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Launches a kernel."]
    #[doc = ""]
    #[doc = " Asynchronous. Thread-safe. An argument is the address of a value, which is copied before the call returns, or, if its"]
    #[doc = " size is MAX_KERNEL_ARGUMENT_BUFFER, a MaxBuffer: the kernel gets the address of its first element, and its memory is"]
    #[doc = " retained until the kernel has run. Memory passed as a plain address is borrowed until then. The kernel must not write"]
    #[doc = " read-only buffers."]
    #[doc = ""]
    #[doc = " - `arguments`: One per parameter of the kernel."]
    #[doc = " - `sizes`: Bytes of each value, checked against the parameters if the compiler reports them; NULL = all"]
    #[doc = "   are values and none is checked; a MaxBuffer is rejected."]
    #[doc = " - `stream`: NULL = the default stream of the kernel's device."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: Wrong number or size of arguments, the address of a MaxBuffer handle instead of"]
    #[doc = "   the handle, dimensions or shared memory outside the limits, or a stream or buffer of another device; the message"]
    #[doc = "   names the values."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelLaunch(
        kernel: *const MaxKernel,
        config: *const MaxLaunchConfig,
        arguments: *const *const ::std::os::raw::c_void,
        sizes: *const usize,
        argumentCount: i32,
        stream: *mut MaxStream,
    ) -> MaxStatus;
}
impl MaxLogLevel {
    #[doc = " For a session: the default, MAX_LOG_LEVEL_INFO. For a callback: all messages. No message has this level."]
    pub const MAX_LOG_LEVEL_NOTSET: MaxLogLevel = MaxLogLevel(0);
}
impl MaxLogLevel {
    #[doc = " Every pass of the compiler and every plan."]
    pub const MAX_LOG_LEVEL_TRACE: MaxLogLevel = MaxLogLevel(10);
}
impl MaxLogLevel {
    #[doc = " Decisions and their reasons, for example slow kernels of a plan."]
    pub const MAX_LOG_LEVEL_DEBUG: MaxLogLevel = MaxLogLevel(20);
}
impl MaxLogLevel {
    #[doc = " Loads and other rare events."]
    pub const MAX_LOG_LEVEL_INFO: MaxLogLevel = MaxLogLevel(30);
}
impl MaxLogLevel {
    #[doc = " What works, but perhaps not as expected; memory limits reached."]
    pub const MAX_LOG_LEVEL_WARNING: MaxLogLevel = MaxLogLevel(40);
}
impl MaxLogLevel {
    #[doc = " Failed loads."]
    pub const MAX_LOG_LEVEL_ERROR: MaxLogLevel = MaxLogLevel(50);
}
impl MaxLogLevel {
    #[doc = " Not used at present."]
    pub const MAX_LOG_LEVEL_CRITICAL: MaxLogLevel = MaxLogLevel(60);
}
#[repr(transparent)]
#[doc = " Severity of a message."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxLogLevel(pub i32);
#[doc = " Identifies an added callback; never zero, and never reused in this process."]
pub type MaxLogToken = u64;
#[doc = " A function that receives messages."]
#[doc = ""]
#[doc = " May be called from any thread, and from several at the same time. It may call all functions of this library; their"]
#[doc = " messages are dropped meanwhile. It must not throw. `message` is borrowed until it returns."]
#[doc = ""]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxLogCallback = ::std::option::Option<
    unsafe extern "C" fn(
        userData: *mut ::std::os::raw::c_void,
        level: MaxLogLevel,
        message: *const ::std::os::raw::c_char,
    ),
>;
unsafe extern "C" {
    #[doc = " Adds a callback for the messages of the process."]
    #[doc = ""]
    #[doc = " Thread-safe. `userData` is borrowed until the callback is removed. A callback added twice is called twice."]
    #[doc = ""]
    #[doc = " - `level`: Lowest level of messages for this callback."]
    #[doc = " - `outToken`: For maxLogRemoveCallback; 0 on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There is no such level."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxLogAddCallback(
        callback: MaxLogCallback,
        userData: *mut ::std::os::raw::c_void,
        level: MaxLogLevel,
        outToken: *mut MaxLogToken,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Removes a callback."]
    #[doc = ""]
    #[doc = " Thread-safe. When this function returns, the callback is no longer running and will not be called again. Called from"]
    #[doc = " within a callback, it does not wait, since it could wait for itself: the callback is not called again, but calls in"]
    #[doc = " progress go on."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The token was never issued, or its callback was already removed."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxLogRemoveCallback(token: MaxLogToken) -> MaxStatus;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxModelInfo {
    _unused: [u8; 0],
}
unsafe extern "C" {
    #[doc = " Reads what a model file contains, without preparing the model to run. Unsupported operators are listed; they are not"]
    #[doc = " an error."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: An ONNX file, a compiled model, or a folder that contains model.onnx or model.maxc."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file does not exist; the message says which names were tried."]
    #[doc = " - `MAX_STATUS_DATA_LOSS`: The file is not an ONNX model or is damaged."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoLoad(path: *const ::std::os::raw::c_char, outInfo: *mut *mut MaxModelInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoRetain(info: *const MaxModelInfo);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoRelease(info: *const MaxModelInfo);
}
unsafe extern "C" {
    #[doc = " Gets the version of the file format; 0 for a graph built in code."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetIrVersion(info: *const MaxModelInfo, outVersion: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of the program that wrote the file; empty if unknown."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetProducer(
        info: *const MaxModelInfo,
        outProducer: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the total number of elements of all weights."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetParameterCount(info: *const MaxModelInfo, outCount: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of operator sets that the model uses."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOpsetCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the domain of an operator set, \"ai.onnx\" for ONNX's own."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOpsetDomain(
        info: *const MaxModelInfo,
        index: i32,
        outDomain: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the version of an operator set."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOpsetVersion(info: *const MaxModelInfo, index: i32, outVersion: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of different operators."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOperatorCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of an operator, for example \"Conv\" or \"com.microsoft.Gelu\". Names are sorted."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOperatorName(
        info: *const MaxModelInfo,
        index: i32,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of nodes that use an operator, including those in subgraphs."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOperatorNodeCount(info: *const MaxModelInfo, index: i32, outCount: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of nodes with unsupported operators."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetUnsupportedCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of a node with an unsupported operator; may be empty."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetUnsupportedNode(
        info: *const MaxModelInfo,
        index: i32,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the operator of an unsupported node, with its domain unless that is ONNX's own."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetUnsupportedOperator(
        info: *const MaxModelInfo,
        index: i32,
        outName: *mut *const ::std::os::raw::c_char,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the version of the operator set that an unsupported node uses."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetUnsupportedVersion(info: *const MaxModelInfo, index: i32, outVersion: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of inputs that the file declares, without weights."]
    #[doc = ""]
    #[doc = " Thread-safe. Known for models from files, supported or not."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetInputCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about an input; files do not name devices."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetInput(info: *const MaxModelInfo, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of outputs that the file declares."]
    #[doc = ""]
    #[doc = " Thread-safe. Known for models from files, supported or not."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOutputCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about an output; files do not name devices."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOutput(info: *const MaxModelInfo, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of weights: the named tensors that a load can replace."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetWeightCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about a weight. Weights are in the order of the file or graph."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such weight."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetWeight(info: *const MaxModelInfo, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a drawing of the graph as in the file, in the DOT language of Graphviz."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The object is not from maxModelInfoLoad."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetGraph(info: *const MaxModelInfo, outDot: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
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
    #[doc = " Maximum threads per call; 0 = the number of physical cores within the affinity mask and CPU quota. Calls that run"]
    #[doc = " at the same time share the cores, so that each may use fewer."]
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxSessionOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_devices() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).devices) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxSessionOptions), "::", stringify!(devices))
        );
    }
    test_field_devices();
    fn test_field_deviceCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).deviceCount) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxSessionOptions), "::", stringify!(deviceCount))
        );
    }
    test_field_deviceCount();
    fn test_field_threadCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).threadCount) as usize - ptr as usize
            },
            20usize,
            concat!("Offset of field: ", stringify!(MaxSessionOptions), "::", stringify!(threadCount))
        );
    }
    test_field_threadCount();
    fn test_field_memoryLimit() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).memoryLimit) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxSessionOptions), "::", stringify!(memoryLimit))
        );
    }
    test_field_memoryLimit();
    fn test_field_weightsCacheDir() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).weightsCacheDir) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxSessionOptions), "::", stringify!(weightsCacheDir))
        );
    }
    test_field_weightsCacheDir();
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxSessionMemory), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_validMask() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).validMask) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxSessionMemory), "::", stringify!(validMask))
        );
    }
    test_field_validMask();
    fn test_field_used() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).used) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxSessionMemory), "::", stringify!(used))
        );
    }
    test_field_used();
    fn test_field_peak() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).peak) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxSessionMemory), "::", stringify!(peak))
        );
    }
    test_field_peak();
    fn test_field_limit() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxSessionMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).limit) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxSessionMemory), "::", stringify!(limit))
        );
    }
    test_field_limit();
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
unsafe extern "C" {
    #[doc = " Creates a session."]
    #[doc = ""]
    #[doc = " Thread-safe. The devices are retained."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: A device is NULL, or a count is negative."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: The first device is virtual."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionCreate(options: *const MaxSessionOptions, outSession: *mut *mut MaxSession) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionRetain(session: *const MaxSession);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Models hold their session."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionRelease(session: *const MaxSession);
}
unsafe extern "C" {
    #[doc = " Gets the number of devices."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetDeviceCount(session: *const MaxSession, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a device."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the session."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetDevice(session: *const MaxSession, index: i32, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the maximum number of threads per call."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetThreadCount(session: *const MaxSession, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the lowest level of messages from the session's loads and calls; see maxLogAddCallback."]
    #[doc = ""]
    #[doc = " Thread-safe. Takes effect from the next call on, also for loaded models."]
    #[doc = ""]
    #[doc = " - `level`: MAX_LOG_LEVEL_NOTSET = the default, MAX_LOG_LEVEL_INFO."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There is no such level."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetLogLevel(session: *mut MaxSession, level: MaxLogLevel) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the lowest level of messages from the session's loads and calls."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetLogLevel(session: *const MaxSession, outLevel: *mut MaxLogLevel) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets what to check between the steps of models. Checks cost time; they are for debugging."]
    #[doc = ""]
    #[doc = " Thread-safe. Takes effect from the next call on, also for loaded models."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There is no such level."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetAssertLevel(session: *mut MaxSession, level: MaxAssertLevel) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is checked between the steps of models."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetAssertLevel(session: *const MaxSession, outLevel: *mut MaxAssertLevel) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the type in which partial sums of long float32 matrix products are accumulated."]
    #[doc = ""]
    #[doc = " Products over more than a few hundred elements are computed in parts. MAX_DTYPE_FLOAT32 is the default and the"]
    #[doc = " fastest; MAX_DTYPE_FLOAT64 is more accurate; MAX_DTYPE_FLOAT16 and MAX_DTYPE_BFLOAT16 round after each part, like"]
    #[doc = " accelerators that keep such sums in their outputs' type. Thread-safe. Takes effect from the next call on, also for"]
    #[doc = " loaded models."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: Sums cannot be accumulated in this type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetSplitKReductionPrecision(session: *mut MaxSession, dtype: MaxDType) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the type in which partial sums of long float32 matrix products are accumulated."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetSplitKReductionPrecision(session: *const MaxSession, outDType: *mut MaxDType) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Chooses the algorithm of TopK: not 0 = sort whole rows, 0 = select, which is the default."]
    #[doc = ""]
    #[doc = " Both give the same elements in the same order. Thread-safe. Takes effect from the next call on, also for loaded"]
    #[doc = " models."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetUseOldTopK(session: *mut MaxSession, useOldTopK: i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether TopK sorts whole rows."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetUseOldTopK(session: *const MaxSession, outUseOldTopK: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets what to record about calls of the session's models."]
    #[doc = ""]
    #[doc = " A new session follows the environment variables MAX_ENABLE_PROFILING and MODULAR_ENABLE_PROFILING (off, on or"]
    #[doc = " detailed); this call overrides them. Existing records are kept. Beyond a million steps, new records are dropped."]
    #[doc = " Steps on an accelerator have the times of the device, for which calls then wait. Thread-safe. Takes effect from the"]
    #[doc = " next call on, also for loaded models."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There is no such mode."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetProfiling(session: *mut MaxSession, mode: MaxProfilingMode) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is recorded about calls of the session's models."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetProfiling(session: *const MaxSession, outMode: *mut MaxProfilingMode) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Writes the recorded calls as a trace in Chrome's JSON format, for Perfetto and chrome://tracing."]
    #[doc = ""]
    #[doc = " Each step has its name, start, duration and thread; its arguments are the operator, the implementation that ran, the"]
    #[doc = " types of its inputs and outputs, its position among the nodes, the multiplications of a convolution or product of"]
    #[doc = " matrices, the bytes that it reads and writes, and the nodes of the model that it came from. A node without a name is"]
    #[doc = " called by its operator, position and first output. Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: The file, which is created or replaced."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file's folder does not exist."]
    #[doc = " - `MAX_STATUS_PERMISSION_DENIED`: The file cannot be written."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionWriteProfile(session: *const MaxSession, path: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Deletes the records."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionClearProfile(session: *mut MaxSession) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Reports how much memory the session's models hold."]
    #[doc = ""]
    #[doc = " This includes weights in memory (not in mapped files), packed weights, intermediate values and kernels' scratch"]
    #[doc = " memory, outputs that the library allocated and that have not been released, and temporary memory of loads. It"]
    #[doc = " excludes buffers that the program created, and blocks below 16 KB. Only sessions with a limit keep count."]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `outMemory`: Its structSize must be set; see MAX_SESSION_MEMORY_INIT."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetMemory(session: *const MaxSession, outMemory: *mut MaxSessionMemory) -> MaxStatus;
}
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
    #[doc = " bfloat16 products with float32 sums."]
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_weightNames() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).weightNames) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(weightNames))
        );
    }
    test_field_weightNames();
    fn test_field_weights() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).weights) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(weights))
        );
    }
    test_field_weights();
    fn test_field_weightCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).weightCount) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(weightCount))
        );
    }
    test_field_weightCount();
    fn test_field_precision() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).precision) as usize - ptr as usize
            },
            28usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(precision))
        );
    }
    test_field_precision();
    fn test_field_copyWeights() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).copyWeights) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(copyWeights))
        );
    }
    test_field_copyWeights();
    fn test_field_ignoreUnknownWeights() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).ignoreUnknownWeights) as usize - ptr as usize
            },
            36usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(ignoreUnknownWeights))
        );
    }
    test_field_ignoreUnknownWeights();
    fn test_field_cancellation() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).cancellation) as usize - ptr as usize
            },
            40usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(cancellation))
        );
    }
    test_field_cancellation();
    fn test_field_timeoutNs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).timeoutNs) as usize - ptr as usize
            },
            48usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(timeoutNs))
        );
    }
    test_field_timeoutNs();
    fn test_field_progress() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).progress) as usize - ptr as usize
            },
            56usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(progress))
        );
    }
    test_field_progress();
    fn test_field_progressUserData() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).progressUserData) as usize - ptr as usize
            },
            64usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(progressUserData))
        );
    }
    test_field_progressUserData();
    fn test_field_extensions() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).extensions) as usize - ptr as usize
            },
            72usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(extensions))
        );
    }
    test_field_extensions();
    fn test_field_extensionCount() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).extensionCount) as usize - ptr as usize
            },
            80usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(extensionCount))
        );
    }
    test_field_extensionCount();
    fn test_field_reserved() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).reserved) as usize - ptr as usize
            },
            84usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(reserved))
        );
    }
    test_field_reserved();
    fn test_field_weightsPath() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelLoadOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).weightsPath) as usize - ptr as usize
            },
            88usize,
            concat!("Offset of field: ", stringify!(MaxModelLoadOptions), "::", stringify!(weightsPath))
        );
    }
    test_field_weightsPath();
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelExecuteOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxModelExecuteOptions), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_stream() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelExecuteOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).stream) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxModelExecuteOptions), "::", stringify!(stream))
        );
    }
    test_field_stream();
    fn test_field_outputs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelExecuteOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).outputs) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxModelExecuteOptions), "::", stringify!(outputs))
        );
    }
    test_field_outputs();
    fn test_field_cancellation() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelExecuteOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).cancellation) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxModelExecuteOptions), "::", stringify!(cancellation))
        );
    }
    test_field_cancellation();
    fn test_field_timeoutNs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelExecuteOptions>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).timeoutNs) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxModelExecuteOptions), "::", stringify!(timeoutNs))
        );
    }
    test_field_timeoutNs();
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxModelMemory), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_validMask() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).validMask) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxModelMemory), "::", stringify!(validMask))
        );
    }
    test_field_validMask();
    fn test_field_mappedWeights() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).mappedWeights) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxModelMemory), "::", stringify!(mappedWeights))
        );
    }
    test_field_mappedWeights();
    fn test_field_ownedWeights() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).ownedWeights) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxModelMemory), "::", stringify!(ownedWeights))
        );
    }
    test_field_ownedWeights();
    fn test_field_packedWeights() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).packedWeights) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxModelMemory), "::", stringify!(packedWeights))
        );
    }
    test_field_packedWeights();
    fn test_field_plans() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).plans) as usize - ptr as usize
            },
            40usize,
            concat!("Offset of field: ", stringify!(MaxModelMemory), "::", stringify!(plans))
        );
    }
    test_field_plans();
    fn test_field_arenas() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).arenas) as usize - ptr as usize
            },
            48usize,
            concat!("Offset of field: ", stringify!(MaxModelMemory), "::", stringify!(arenas))
        );
    }
    test_field_arenas();
    fn test_field_outputs() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).outputs) as usize - ptr as usize
            },
            56usize,
            concat!("Offset of field: ", stringify!(MaxModelMemory), "::", stringify!(outputs))
        );
    }
    test_field_outputs();
    fn test_field_total() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).total) as usize - ptr as usize
            },
            64usize,
            concat!("Offset of field: ", stringify!(MaxModelMemory), "::", stringify!(total))
        );
    }
    test_field_total();
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
    fn test_field_structSize() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelDeviceMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).structSize) as usize - ptr as usize
            },
            0usize,
            concat!("Offset of field: ", stringify!(MaxModelDeviceMemory), "::", stringify!(structSize))
        );
    }
    test_field_structSize();
    fn test_field_validMask() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelDeviceMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).validMask) as usize - ptr as usize
            },
            8usize,
            concat!("Offset of field: ", stringify!(MaxModelDeviceMemory), "::", stringify!(validMask))
        );
    }
    test_field_validMask();
    fn test_field_weights() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelDeviceMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).weights) as usize - ptr as usize
            },
            16usize,
            concat!("Offset of field: ", stringify!(MaxModelDeviceMemory), "::", stringify!(weights))
        );
    }
    test_field_weights();
    fn test_field_arenas() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelDeviceMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).arenas) as usize - ptr as usize
            },
            24usize,
            concat!("Offset of field: ", stringify!(MaxModelDeviceMemory), "::", stringify!(arenas))
        );
    }
    test_field_arenas();
    fn test_field_code() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelDeviceMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).code) as usize - ptr as usize
            },
            32usize,
            concat!("Offset of field: ", stringify!(MaxModelDeviceMemory), "::", stringify!(code))
        );
    }
    test_field_code();
    fn test_field_total() {
        assert_eq!(
            unsafe {
                let uninit = ::std::mem::MaybeUninit::<MaxModelDeviceMemory>::uninit();
                let ptr = uninit.as_ptr();
                ::std::ptr::addr_of!((*ptr).total) as usize - ptr as usize
            },
            40usize,
            concat!("Offset of field: ", stringify!(MaxModelDeviceMemory), "::", stringify!(total))
        );
    }
    test_field_total();
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
unsafe extern "C" {
    #[doc = " Loads a model."]
    #[doc = ""]
    #[doc = " Thread-safe. The session is retained."]
    #[doc = ""]
    #[doc = " Models of the same file share the mapped file and its prepared weights, even across sessions."]
    #[doc = ""]
    #[doc = " - `path`: An ONNX file, a compiled model from maxModelSave, or a folder that contains model.onnx or"]
    #[doc = "   model.maxc."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file does not exist; the message says which names were tried. Or the model does not"]
    #[doc = "   have a weight in the options, and ignoreUnknownWeights is 0."]
    #[doc = " - `MAX_STATUS_DATA_LOSS`: The file is not a model, or is damaged."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The model is inconsistent; the message names the node or tensor."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The model uses unsupported operators; the message lists them all."]
    #[doc = " - `MAX_STATUS_CANCELLED`: The load was cancelled through the options."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The time limit in the options passed."]
    #[doc = " - `MAX_STATUS_RESOURCE_EXHAUSTED`: The session's memory limit would be exceeded."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: An extension in the options defines an operator that is already defined."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelLoad(
        session: *const MaxSession,
        path: *const ::std::os::raw::c_char,
        options: *const MaxModelLoadOptions,
        outModel: *mut *mut MaxModel,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Loads a model from the bytes of an ONNX file, which are copied. Weights in external files are rejected."]
    #[doc = ""]
    #[doc = " Thread-safe. The session is retained. Fails like maxModelLoad."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelLoadFromMemory(
        session: *const MaxSession,
        data: *const ::std::os::raw::c_void,
        byteCount: usize,
        options: *const MaxModelLoadOptions,
        outModel: *mut *mut MaxModel,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Compiles a graph built in code to a model. The graph does not change."]
    #[doc = ""]
    #[doc = " The model holds the graph's constants and weights, without a copy, beside what it prepares from them: it can be"]
    #[doc = " saved, and its weights can be replaced."]
    #[doc = ""]
    #[doc = " Thread-safe. The session is retained."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The graph has no outputs, or a weight has no contents."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelCompile(
        session: *const MaxSession,
        graph: *const MaxGraph,
        options: *const MaxModelLoadOptions,
        outModel: *mut *mut MaxModel,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Replaces weights of a loaded model by name, even weights that the compiler has transformed."]
    #[doc = ""]
    #[doc = " All or nothing: each call of maxModelExecute runs with all the old weights or all the new ones. Calls in progress and"]
    #[doc = " captured calls keep the old weights. Weights replaced earlier stay replaced. Prepared data of other weights is kept"]
    #[doc = " if they are in a mapped file. Thread-safe."]
    #[doc = ""]
    #[doc = " - `names`: Names of weights, `count` of them."]
    #[doc = " - `weights`: Buffers of equal dtype and shape; retained by the model, and must no longer be written."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The model has no weight with one of the names; the message says which."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: A buffer does not have the weight's dtype and shape."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The model's own weights were not kept, because they exceed 16 MB and were"]
    #[doc = "   loaded from memory or with copyWeights; or the model's file has changed."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelReplaceWeights(
        model: *mut MaxModel,
        names: *const *const ::std::os::raw::c_char,
        weights: *const *mut MaxBuffer,
        count: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Writes the optimised model with its current weights, as a compiled model that maxModelLoad reads."]
    #[doc = ""]
    #[doc = " The file appears whole or not at all. It works on every CPU; weights are packed at load. Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: The file, which is created or replaced; such files are usually called NAME.maxc."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file's folder does not exist."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The model's weights were not kept; see maxModelReplaceWeights."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelSave(model: *const MaxModel, path: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelRetain(model: *const MaxModel);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Queued work holds the model until it is done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelRelease(model: *const MaxModel);
}
unsafe extern "C" {
    #[doc = " Gets the session that loaded the model."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the model."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetSession(model: *const MaxModel, outSession: *mut *mut MaxSession) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the precision of products: the requested one, or the next higher one that this machine has."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetPrecision(model: *const MaxModel, outPrecision: *mut MaxPrecision) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of inputs."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetInputCount(model: *const MaxModel, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about an input: name, type, dimensions, device."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the model."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetInput(model: *const MaxModel, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Finds an input by name."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No input has this name; the message lists the inputs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelFindInput(
        model: *const MaxModel,
        name: *const ::std::os::raw::c_char,
        outIndex: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of outputs."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetOutputCount(model: *const MaxModel, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known about an output: name, type, dimensions, device."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the model."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetOutput(model: *const MaxModel, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Finds an output by name."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No output has this name; the message lists the outputs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelFindOutput(
        model: *const MaxModel,
        name: *const ::std::os::raw::c_char,
        outIndex: *mut i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs the model."]
    #[doc = ""]
    #[doc = " On the host's default stream the outputs are complete when the call returns. On a created stream, and on any stream"]
    #[doc = " of an accelerator, the call returns once the work is queued; inputs, outputs and model are retained until it is"]
    #[doc = " done, and a failure stays with the stream. In both cases outputs have their final shapes, so a model whose shapes"]
    #[doc = " depend on values waits inside the call, as does one with steps on both an accelerator and the host. Outputs never"]
    #[doc = " share memory with inputs or each other. Thread-safe."]
    #[doc = ""]
    #[doc = " - `inputs`: One buffer per input, in the model's order, contiguous, on the model's device."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `outOutputs`: Room for one buffer per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The number, type, shape, layout or device of an input or of an output buffer in"]
    #[doc = "   the options is wrong."]
    #[doc = " - `MAX_STATUS_CANCELLED`: The call was cancelled through the options; output buffers in the options may be partly"]
    #[doc = "   written."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The same for the time limit in the options."]
    #[doc = " - `MAX_STATUS_RESOURCE_EXHAUSTED`: The session's memory limit would be exceeded."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelExecute(
        model: *const MaxModel,
        inputs: *const *mut MaxBuffer,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
        outOutputs: *mut *mut MaxBuffer,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs the model on host arrays, without buffers: input i is `data[i]`, with `dtypes[i]`, `ranks[i]` and `shapes[i]`."]
    #[doc = ""]
    #[doc = " Like maxModelExecute. The arrays are borrowed until the call returns, so it waits until the work is done; on a"]
    #[doc = " created stream, after everything queued there. Outputs never share the caller's memory. Thread-safe."]
    #[doc = ""]
    #[doc = " - `data`: Dense, row-major; NULL for an input without elements. Data that is not aligned for its type is"]
    #[doc = "   copied first."]
    #[doc = " - `shapes`: An entry may be NULL if its rank is 0."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `outOutputs`: Room for one buffer per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: As for maxModelExecute; or an input holds strings, which are not arrays of"]
    #[doc = "   bytes."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelExecuteHost(
        model: *const MaxModel,
        data: *const *const ::std::os::raw::c_void,
        dtypes: *const MaxDType,
        ranks: *const i32,
        shapes: *const *const i64,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
        outOutputs: *mut *mut MaxBuffer,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs the model with inputs and outputs by name: all inputs in any order, and the wanted outputs in the order of"]
    #[doc = " `outputNames`. The whole model runs in any case."]
    #[doc = ""]
    #[doc = " Like maxModelExecute. Thread-safe."]
    #[doc = ""]
    #[doc = " - `inputNames`: `inputCount` names, for the entries of `inputs`."]
    #[doc = " - `options`: NULL = defaults; `outputs` has an entry for each of `outputNames`."]
    #[doc = " - `outputNames`: `outputCount` names, for the entries of `outOutputs`."]
    #[doc = " - `outOutputs`: Each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The model has no input or output with one of the names; the message lists them all."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: As for maxModelExecute; or an input is missing, or a name occurs twice."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelExecuteByName(
        model: *const MaxModel,
        inputNames: *const *const ::std::os::raw::c_char,
        inputs: *const *mut MaxBuffer,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
        outputNames: *const *const ::std::os::raw::c_char,
        outOutputs: *mut *mut MaxBuffer,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs the model once and keeps the call under a key: its plan, bound to these inputs and outputs. maxModelReplay then"]
    #[doc = " runs it again without any lookup or allocation; between replays the program changes the contents of the inputs."]
    #[doc = ""]
    #[doc = " On the host the call runs at once, in the calling thread; on a created stream it first waits for the work queued"]
    #[doc = " there. On an accelerator it becomes a graph of the driver, which repeats all of it with one launch, and the first"]
    #[doc = " launch is queued. A key already captured with the same inputs is replayed and gives the same outputs. Inputs and"]
    #[doc = " outputs are retained until maxModelForgetCaptured or the end of the model. Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `outOutputs`: Room for one buffer per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There are no inputs, or as for maxModelExecute."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: The key was captured with other inputs."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: What the model executes depends on values, or a node of a model on an"]
    #[doc = "   accelerator runs on the host or draws new random numbers; the message names the node."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The model has values that are not numbers, or the driver has no graphs."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelCapture(
        model: *const MaxModel,
        graphKey: u64,
        inputs: *const *mut MaxBuffer,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
        outOutputs: *mut *mut MaxBuffer,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs a captured call again: reads the captured inputs, writes the captured outputs."]
    #[doc = ""]
    #[doc = " On a created stream, and on an accelerator, the call returns once the work is queued. Weights and settings are those"]
    #[doc = " of the capture."]
    #[doc = " Thread-safe, but one replay of a key runs at a time."]
    #[doc = ""]
    #[doc = " - `inputs`: The captured buffers."]
    #[doc = " - `options`: NULL = defaults; `outputs` must be NULL."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: Nothing was captured with this key."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: An input is not the one that was captured."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Another thread is replaying the key."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelReplay(
        model: *const MaxModel,
        graphKey: u64,
        inputs: *const *mut MaxBuffer,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs the model like maxModelExecute and compares the steps that ran with the captured ones. The captured outputs do"]
    #[doc = " not change."]
    #[doc = ""]
    #[doc = " Waits until the work is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `inputs`: The captured buffers."]
    #[doc = " - `options`: NULL = defaults; `outputs` must be NULL."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: Nothing was captured with this key."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: An input is not the one that was captured."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The steps differ, for example because settings changed; the message names the"]
    #[doc = "   first difference. Or weights were replaced since the capture."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelVerifyReplay(
        model: *const MaxModel,
        graphKey: u64,
        inputs: *const *mut MaxBuffer,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Forgets a captured call. Queued replays still run."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: Nothing was captured with this key."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelForgetCaptured(model: *const MaxModel, graphKey: u64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the memory that the model holds, by category. Weights that several models share count in each."]
    #[doc = ""]
    #[doc = " Thread-safe. maxDeviceTrim frees what is kept for later calls."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetMemory(model: *const MaxModel, outMemory: *mut MaxModelMemory) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the memory that the model holds on one device of its session, or on the host. Weights and code that several"]
    #[doc = " models share count in each."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the first device of the session."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The session does not have the device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetDeviceMemory(
        model: *const MaxModel,
        device: *const MaxDevice,
        outMemory: *mut MaxModelDeviceMemory,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs a model on values, for inputs and outputs that are sequences, optionals or maps as well as tensors."]
    #[doc = ""]
    #[doc = " Like maxModelExecute, but always waits inside the call. For an optional input, the value that it would hold is"]
    #[doc = " accepted too."]
    #[doc = ""]
    #[doc = " - `inputs`: One value per input, in the model's order."]
    #[doc = " - `options`: NULL = defaults. Output buffers can only be set for outputs that are tensors."]
    #[doc = " - `outOutputs`: Room for one value per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The number, type, shape, layout or device of an input or of an output buffer in"]
    #[doc = "   the options is wrong."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelExecuteValues(
        model: *const MaxModel,
        inputs: *const *mut MaxValue,
        inputCount: i32,
        options: *const MaxModelExecuteOptions,
        outOutputs: *mut *mut MaxValue,
        outputCount: i32,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what the model's file or graph contained."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the model."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetInfo(model: *const MaxModel, outInfo: *mut *mut MaxModelInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a drawing of the graph that a model runs, after the compiler's passes, in the DOT language of Graphviz."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the model; replacing weights does not change the text."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetGraph(model: *const MaxModel, outDot: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Returns the version of the loaded library, for example \"0.1.0\"."]
    #[doc = ""]
    #[doc = " Thread-safe. The string is static."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGetVersion() -> *const ::std::os::raw::c_char;
}
unsafe extern "C" {
    #[doc = " Returns the ABI version of the loaded library."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGetAbiVersion() -> i32;
}
unsafe extern "C" {
    #[doc = " Counts the objects of this process that have not been released: devices,"]
    #[doc = " streams, events, buffers, sessions, models, graphs and host allocations."]
    #[doc = ""]
    #[doc = " Thread-safe. Objects in use by queued work count until the work is done."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExperimentalGetLiveObjectCount(outCount: *mut i64) -> MaxStatus;
}
