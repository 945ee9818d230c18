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
    #[doc = " The call did what was asked."]
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
    #[doc = " A thing that was to be created exists already."]
    pub const MAX_STATUS_ALREADY_EXISTS: MaxStatus = MaxStatus(6);
}
impl MaxStatus {
    #[doc = " The operating system or the caller's settings forbid it."]
    pub const MAX_STATUS_PERMISSION_DENIED: MaxStatus = MaxStatus(7);
}
impl MaxStatus {
    #[doc = " Memory or another resource has run out; smaller requests may work."]
    pub const MAX_STATUS_RESOURCE_EXHAUSTED: MaxStatus = MaxStatus(8);
}
impl MaxStatus {
    #[doc = " The object is not in the state that the call needs."]
    pub const MAX_STATUS_FAILED_PRECONDITION: MaxStatus = MaxStatus(9);
}
impl MaxStatus {
    #[doc = " The work was given up because of a conflict; it may be tried again."]
    pub const MAX_STATUS_ABORTED: MaxStatus = MaxStatus(10);
}
impl MaxStatus {
    #[doc = " An index or range lies outside its object."]
    pub const MAX_STATUS_OUT_OF_RANGE: MaxStatus = MaxStatus(11);
}
impl MaxStatus {
    #[doc = " This build, version or device does not support it."]
    pub const MAX_STATUS_UNIMPLEMENTED: MaxStatus = MaxStatus(12);
}
impl MaxStatus {
    #[doc = " An error of the library itself; please report it."]
    pub const MAX_STATUS_INTERNAL: MaxStatus = MaxStatus(13);
}
impl MaxStatus {
    #[doc = " A driver, compiler or device is not there."]
    pub const MAX_STATUS_UNAVAILABLE: MaxStatus = MaxStatus(14);
}
impl MaxStatus {
    #[doc = " A file is damaged or truncated."]
    pub const MAX_STATUS_DATA_LOSS: MaxStatus = MaxStatus(15);
}
#[repr(transparent)]
#[doc = " Result of a call: MAX_STATUS_OK (zero) or the reason of its failure."]
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
    #[doc = " Returns the message of this thread's last failed call, UTF-8."]
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
#[doc = " Options of maxDeviceCreate. They hold for the first handle; later ones find the device as it is."]
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct MaxDeviceOptions {
    #[doc = " Size of this structure; set by MAX_DEVICE_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Most bytes of device memory that may be in use; 0 = 99 % of free memory on accelerators, no limit on the host."]
    pub memoryLimit: u64,
    #[doc = " Bytes of device memory to take in advance; accelerators only."]
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
#[doc = " Fields of a MaxDeviceStats that hold a value: a sum of MAX_DEVICE_STATS_* numbers."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxDeviceStatsMask(pub u64);
#[doc = " A report on a device; an unknown field is zero and missing in validMask."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxDeviceStats {
    #[doc = " Size of this structure; set by MAX_DEVICE_STATS_INIT."]
    pub structSize: usize,
    #[doc = " Fields that hold a value."]
    pub validMask: MaxDeviceStatsMask,
    #[doc = " Bytes that can still be allocated, the limits of control groups included."]
    pub freeMemory: u64,
    #[doc = " Bytes of memory the device has, or that a control group grants."]
    pub totalMemory: u64,
    #[doc = " Bytes in buffers of this library on the device."]
    pub allocatedMemory: u64,
    #[doc = " Largest value that allocatedMemory has had."]
    pub peakAllocatedMemory: u64,
    #[doc = " Most bytes that buffers may take."]
    pub memoryLimit: u64,
    #[doc = " Bytes of memory that this process occupies on the device."]
    pub processMemory: u64,
    #[doc = " Busy time of the device in percent."]
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
    #[doc = " Most threads in a block."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: MaxDeviceAttribute = MaxDeviceAttribute(1);
}
impl MaxDeviceAttribute {
    #[doc = " Largest x dimension of a block."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: MaxDeviceAttribute = MaxDeviceAttribute(2);
}
impl MaxDeviceAttribute {
    #[doc = " Largest y dimension of a block."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: MaxDeviceAttribute = MaxDeviceAttribute(3);
}
impl MaxDeviceAttribute {
    #[doc = " Largest z dimension of a block."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: MaxDeviceAttribute = MaxDeviceAttribute(4);
}
impl MaxDeviceAttribute {
    #[doc = " Largest x dimension of a grid."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: MaxDeviceAttribute = MaxDeviceAttribute(5);
}
impl MaxDeviceAttribute {
    #[doc = " Largest y dimension of a grid."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: MaxDeviceAttribute = MaxDeviceAttribute(6);
}
impl MaxDeviceAttribute {
    #[doc = " Largest z dimension of a grid."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: MaxDeviceAttribute = MaxDeviceAttribute(7);
}
impl MaxDeviceAttribute {
    #[doc = " Bytes of shared memory a block may have."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: MaxDeviceAttribute = MaxDeviceAttribute(8);
}
impl MaxDeviceAttribute {
    #[doc = " Threads in a warp."]
    pub const MAX_DEVICE_ATTRIBUTE_WARP_SIZE: MaxDeviceAttribute = MaxDeviceAttribute(10);
}
impl MaxDeviceAttribute {
    #[doc = " Registers a block may have."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: MaxDeviceAttribute = MaxDeviceAttribute(12);
}
impl MaxDeviceAttribute {
    #[doc = " Highest clock frequency in kilohertz."]
    pub const MAX_DEVICE_ATTRIBUTE_CLOCK_RATE: MaxDeviceAttribute = MaxDeviceAttribute(13);
}
impl MaxDeviceAttribute {
    #[doc = " Multiprocessors; on the host, processors this process may use."]
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
    #[doc = " Most threads on a multiprocessor."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: MaxDeviceAttribute = MaxDeviceAttribute(39);
}
impl MaxDeviceAttribute {
    #[doc = " Major number of the compute capability."]
    pub const MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: MaxDeviceAttribute = MaxDeviceAttribute(75);
}
impl MaxDeviceAttribute {
    #[doc = " Minor number of the compute capability."]
    pub const MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: MaxDeviceAttribute = MaxDeviceAttribute(76);
}
impl MaxDeviceAttribute {
    #[doc = " Bytes of shared memory on a multiprocessor."]
    pub const MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: MaxDeviceAttribute = MaxDeviceAttribute(81);
}
#[repr(transparent)]
#[doc = " A number that describes a device; the values are those of CUDA."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxDeviceAttribute(pub i32);
unsafe extern "C" {
    #[doc = " Counts the devices of an API."]
    #[doc = ""]
    #[doc = " Thread-safe. Virtual devices count when they are set; see maxVirtualDeviceSetCount."]
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
    #[doc = " The same API and id give the same device while a handle to it lives; only the"]
    #[doc = " options of the first call count. Thread-safe."]
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
    #[doc = " Thread-safe. The last one of an accelerator waits for its work, or comes after the host function that drops it."]
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
    #[doc = " Thread-safe. Borrowed from the device. Label and id together name a device: \"gpu:0\"."]
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
    #[doc = " Gets the name that the maker gave the device."]
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
    #[doc = " Tells whether the device can reach the memory of another one directly."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceCanAccess(device: *const MaxDevice, peer: *const MaxDevice, outCanAccess: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Lets the device reach the memory of another one directly."]
    #[doc = ""]
    #[doc = " Thread-safe. Does nothing where access exists already."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The devices cannot reach each other."]
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
    #[doc = " Thread-safe. A failure of earlier work is returned once, as by maxStreamSynchronize."]
    #[doc = ""]
    #[doc = " - `timeoutNs`: Most nanoseconds to wait; 0 = no limit."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The work was not done in time; it goes on, and nothing else has happened."]
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
    #[doc = " Fills a report on memory, use and temperature, as far as they are known."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `stats`: Its structSize must be set; see MAX_DEVICE_STATS_INIT."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetStats(device: *const MaxDevice, stats: *mut MaxDeviceStats) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a number that describes the device."]
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
    #[doc = " Gives unused memory back that the library keeps for later on the device, page-locked memory too."]
    #[doc = ""]
    #[doc = " Thread-safe. On accelerators it waits for queued work with that memory."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Called from a host function of a stream of this device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceTrim(device: *const MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Allocates host memory that stays resident (page-locked), for fast transfers to and from the device."]
    #[doc = ""]
    #[doc = " Thread-safe. Aligned to a page. It keeps the device alive until maxHostFree."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `byteCount`: Zero is allowed and gives a pointer that must not be read."]
    #[doc = " - `MAX_STATUS_RESOURCE_EXHAUSTED`: Memory or the operating system's limit on locked memory has run out."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxHostAllocate(
        device: *mut MaxDevice,
        byteCount: usize,
        outPointer: *mut *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Frees memory of maxHostAllocate. Work that uses it must be done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: As given to maxHostAllocate."]
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
    #[doc = " Gets label and id of a device that maxDeviceScan counts."]
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
    #[doc = " Declares accelerators that are not there, to compile for them; 0 ends it."]
    #[doc = ""]
    #[doc = " Thread-safe. For the whole process. They are counted, named and opened like real ones, before which they stand, and"]
    #[doc = " modules can be compiled for them; all that would run on one or take its memory is UNAVAILABLE."]
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
    #[doc = " Thread-safe. For the whole process."]
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
    #[doc = " Thread-safe. For the whole process."]
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
    #[doc = " No type: what a zeroed structure holds."]
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
    #[doc = " 8-bit power of two without sign, the scale type of microscaling formats."]
    pub const MAX_DTYPE_FLOAT8_E8M0FNU: MaxDType = MaxDType(73);
}
impl MaxDType {
    #[doc = " 8-bit float, 4 exponent and 3 mantissa bits, finite and NaN only."]
    pub const MAX_DTYPE_FLOAT8_E4M3FN: MaxDType = MaxDType(75);
}
impl MaxDType {
    #[doc = " As float8_e4m3fn without a negative zero."]
    pub const MAX_DTYPE_FLOAT8_E4M3FNUZ: MaxDType = MaxDType(76);
}
impl MaxDType {
    #[doc = " 8-bit float, 5 exponent and 2 mantissa bits."]
    pub const MAX_DTYPE_FLOAT8_E5M2: MaxDType = MaxDType(77);
}
impl MaxDType {
    #[doc = " As float8_e5m2, finite and NaN only, without a negative zero."]
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
    #[doc = " Finds the type of a name."]
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
    #[doc = " Not 0 = remember the time, for maxEventGetElapsedTime."]
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
    #[doc = " Makes an event for streams of a device."]
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
    #[doc = " Gets the device that the event was made for."]
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
    #[doc = " - `timeoutNs`: Most nanoseconds to wait; 0 = no limit."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The mark was not done in time."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The mark lies on a stream that a fork has cut off."]
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
    #[doc = " Gets the nanoseconds between two events that are done."]
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
#[doc = " Called exactly once, from any thread. It may call functions of this library, but must not wait for its own stream"]
#[doc = " (for accelerators: any of its device) and must not throw. One that waits may hold up those of other streams. What it"]
#[doc = " does with buffers comes after the work in front of it on its stream, not after the work behind it."]
#[doc = " `status`: MAX_STATUS_OK, or the failure of earlier work, whose message maxGetLastErrorMessage returns there."]
#[doc = ""]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxHostFunction =
    ::std::option::Option<unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void, status: MaxStatus)>;
unsafe extern "C" {
    #[doc = " Makes a stream on a device."]
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
    #[doc = " Makes a stream from one of the driver (cudaStream_t, hipStream_t), which stays the caller's."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed until the last release of the new stream."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host, which has no such streams."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device has no driver streams."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: It belongs to another device, or is the driver's per-thread default stream."]
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
    #[doc = " Thread-safe. On a default stream it acts on the device."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamRetain(stream: *const MaxStream);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Work on the stream is still done; nothing waits."]
    #[doc = ""]
    #[doc = " Thread-safe. On a default stream it acts on the device."]
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
    #[doc = " Thread-safe. Returns the failure of the first work that failed since the last call, once."]
    #[doc = ""]
    #[doc = " - `timeoutNs`: Most nanoseconds to wait; 0 = no limit."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The work was not done in time; it goes on, and nothing else has happened."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Called from a host function of this stream, or the stream was cut off by"]
    #[doc = "   a fork."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamSynchronize(stream: *mut MaxStream, timeoutNs: i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes later work on the stream wait for all work that is now on another stream."]
    #[doc = ""]
    #[doc = " Asynchronous: both may belong to different devices. Thread-safe. On the host's default stream the call itself waits."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamWaitForStream(stream: *mut MaxStream, other: *mut MaxStream) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes later work on the stream wait for all work that is now on a device's default stream."]
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
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxStreamEnqueueHostFunction(
        stream: *mut MaxStream,
        function: MaxHostFunction,
        userData: *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
#[doc = " DLPack's managed tensor with a version (DLPack 1.0 and later). It is declared in dlpack.h of the DLPack project"]
#[doc = " (github.com/dmlc/dlpack), one header without dependencies; this library needs its name alone."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct DLManagedTensorVersioned {
    _unused: [u8; 0],
}
#[doc = " DLPack's managed tensor without a version; older versions of dlpack.h, such as Debian's 0.6, have this one alone."]
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
    #[doc = " Stream that the buffer is bound to; NULL = the device's default stream."]
    pub stream: *mut MaxStream,
    #[doc = " Bytes that the address is a multiple of, a power of two; 0 = 64."]
    pub alignment: usize,
    #[doc = " Not 0 = host memory that stays resident (page-locked); on an accelerator, host memory that it can reach."]
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
    #[doc = " Stream that copies and that the result is bound to; NULL = see the function."]
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
    #[doc = " The elements lie without gaps in row-major order."]
    pub const MAX_BUFFER_FLAG_CONTIGUOUS: MaxBufferFlags = MaxBufferFlags(1);
}
impl MaxBufferFlags {
    #[doc = " The buffer belongs to the host."]
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
#[doc = " What holds for a buffer: a sum of MAX_BUFFER_FLAG_* numbers."]
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
    #[doc = " byteCount and elementSize are known: all but strings."]
    pub const MAX_BUFFER_INFO_BYTES: MaxBufferInfoMask = MaxBufferInfoMask(16);
}
impl MaxBufferInfoMask {
    #[doc = " address is known: all but strings."]
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
#[doc = " Fields of a MaxBufferInfo that hold a value: a sum of MAX_BUFFER_INFO_* numbers."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxBufferInfoMask(pub u64);
#[doc = " A report on a buffer; an unknown field is zero and missing in validMask."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxBufferInfo {
    #[doc = " Size of this structure; set by MAX_BUFFER_INFO_INIT."]
    pub structSize: usize,
    #[doc = " Fields that hold a value."]
    pub validMask: MaxBufferInfoMask,
    #[doc = " Element type."]
    pub dtype: MaxDType,
    #[doc = " Number of dimensions."]
    pub rank: i32,
    #[doc = " Dimensions, as many as `rank`."]
    pub shape: *const i64,
    #[doc = " Distances between elements along each dimension, in elements."]
    pub strides: *const i64,
    #[doc = " Number of elements; 1 for a scalar."]
    pub elementCount: i64,
    #[doc = " Bytes that the elements take without gaps."]
    pub byteCount: usize,
    #[doc = " Bytes of one element; 1 for types below 8 bits."]
    pub elementSize: usize,
    #[doc = " Address of the first element, for maxMemoryCopy and kernels; what the host may reach, maxBufferGetData gives."]
    pub address: u64,
    #[doc = " Device that holds the buffer."]
    pub device: *mut MaxDevice,
    #[doc = " Stream that the buffer is bound to."]
    pub stream: *mut MaxStream,
    #[doc = " What holds for the buffer."]
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
#[doc = " Tells the owner of borrowed memory that it is no longer used."]
pub type MaxBufferReleaseFunction = ::std::option::Option<unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void)>;
#[doc = " Options of maxBufferWrap."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxBufferWrapOptions {
    #[doc = " Size of this structure; set by MAX_BUFFER_WRAP_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Stream that the buffer is bound to; NULL = the device's default stream."]
    pub stream: *mut MaxStream,
    #[doc = " Distance between elements along each dimension, in elements; NULL = dense, last dimension first."]
    pub strides: *const i64,
    #[doc = " Called once when the memory is no longer used, from any thread; NULL = nothing is called."]
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
    #[doc = " Only if it must be: its address is not aligned to the element size."]
    pub const MAX_DLPACK_COPY_IF_NEEDED: MaxDlpackCopy = MaxDlpackCopy(0);
}
impl MaxDlpackCopy {
    #[doc = " Always."]
    pub const MAX_DLPACK_COPY_ALWAYS: MaxDlpackCopy = MaxDlpackCopy(1);
}
impl MaxDlpackCopy {
    #[doc = " Never: where it would have to be, the import fails."]
    pub const MAX_DLPACK_COPY_NEVER: MaxDlpackCopy = MaxDlpackCopy(2);
}
#[repr(transparent)]
#[doc = " When the data of a DLPack tensor is copied."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxDlpackCopy(pub i32);
#[doc = " Options of maxBufferFromDlpack and maxBufferFromDlpackUnversioned."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxDlpackOptions {
    #[doc = " Size of this structure; set by MAX_DLPACK_OPTIONS_INIT."]
    pub structSize: usize,
    #[doc = " Stream that the buffer is bound to; NULL = the default stream of the tensor's device."]
    pub stream: *mut MaxStream,
    #[doc = " Whether the data is copied."]
    pub copy: MaxDlpackCopy,
    #[doc = " Zero."]
    pub reserved: i32,
    #[doc = " Stream with work that makes the data, which is waited for; NULL = the data is there."]
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
    #[doc = " Not 0 = neither waits: the consumer knows how to order its work."]
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
    #[doc = " \"r\": the file is read, the buffer cannot be written."]
    pub const MAX_MAP_MODE_READ: MaxMapMode = MaxMapMode(0);
}
impl MaxMapMode {
    #[doc = " \"r+\": the file is read and written, and extended where it is too short."]
    pub const MAX_MAP_MODE_READ_WRITE: MaxMapMode = MaxMapMode(1);
}
impl MaxMapMode {
    #[doc = " \"w+\": as \"r+\" on a file that is made or emptied first."]
    pub const MAX_MAP_MODE_CREATE: MaxMapMode = MaxMapMode(2);
}
impl MaxMapMode {
    #[doc = " \"c\": the buffer can be written, the file stays as it is."]
    pub const MAX_MAP_MODE_COPY_ON_WRITE: MaxMapMode = MaxMapMode(3);
}
#[repr(transparent)]
#[doc = " How a file is mapped; as the modes of numpy.memmap."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxMapMode(pub i32);
impl MaxHostAccess {
    #[doc = " The host reads."]
    pub const MAX_HOST_ACCESS_READ: MaxHostAccess = MaxHostAccess(1);
}
impl MaxHostAccess {
    #[doc = " The host writes; what it does not write keeps its value only if it reads too."]
    pub const MAX_HOST_ACCESS_WRITE: MaxHostAccess = MaxHostAccess(2);
}
impl MaxHostAccess {
    #[doc = " With READ or WRITE: nothing else may hold the memory, neither a reference, a view, an export nor queued work."]
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
#[doc = " What the host does with mapped memory: a sum of MAX_HOST_ACCESS_* numbers."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxHostAccess(pub i32);
impl MaxSliceKind {
    #[doc = " An index: `start` picks one element and the dimension goes away."]
    pub const MAX_SLICE_KIND_INDEX: MaxSliceKind = MaxSliceKind(0);
}
impl MaxSliceKind {
    #[doc = " A range start:stop:step; ends that lie outside are clamped."]
    pub const MAX_SLICE_KIND_RANGE: MaxSliceKind = MaxSliceKind(1);
}
impl MaxSliceKind {
    #[doc = " \"...\": all dimensions that no other step names; at most once."]
    pub const MAX_SLICE_KIND_ELLIPSIS: MaxSliceKind = MaxSliceKind(2);
}
impl MaxSliceKind {
    #[doc = " None: a new dimension of size 1."]
    pub const MAX_SLICE_KIND_NEW_AXIS: MaxSliceKind = MaxSliceKind(3);
}
#[repr(transparent)]
#[doc = " One step of slicing, as between the brackets of numpy."]
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
    #[doc = " Allocates a buffer. Its content is undefined unless the options say `zeroed`."]
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
    #[doc = " Creates a buffer of strings in host memory; they are copied. The buffer is read-only."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `strings`: As many as the shape has elements, in row-major order; their bytes may be any, UTF-8 is meant."]
    #[doc = " - `lengths`: Bytes of each string; NULL = they end with a NUL."]
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
    #[doc = " Creates a buffer of strings that lie one after another in one block; otherwise as maxBufferCreateStrings."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `bytes`: All strings; copied. NULL if `byteCount` is 0."]
    #[doc = " - `offsets`: One more than the shape has elements: string i is what lies from offsets\\[i\\] to offsets\\[i + 1\\]."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An offset lies outside the block or before the one in front of it."]
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
    #[doc = " - `first`: Element to begin with, in row-major order."]
    #[doc = " - `count`: Number of strings; zero is allowed and does nothing."]
    #[doc = " - `outStrings`: `count` strings: their bytes, followed by a NUL."]
    #[doc = " - `outLengths`: `count` numbers of bytes, without the NUL."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer holds no strings."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There are fewer elements."]
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
    #[doc = " Makes a buffer of memory that the caller owns."]
    #[doc = ""]
    #[doc = " Borrowed until `options->release` is called; without it, until the last release of the buffer and of all views of"]
    #[doc = " it, and the end of all work with them. If the call fails, the memory is the caller's as before and `release` is not"]
    #[doc = " called. Thread-safe."]
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
    #[doc = " Makes a buffer of a DLPack tensor (DLPack 1.x)."]
    #[doc = ""]
    #[doc = " On success the buffer owns the tensor: its deleter is called when the memory is no longer used, or before this"]
    #[doc = " function returns if the data was copied. On failure it stays with the caller, who still has to call its deleter."]
    #[doc = " Data is copied if the options say so or if its address is not aligned to the element size (a slice of a packed"]
    #[doc = " record, a mapped file); strides are kept. Page-locked memory of CUDA and ROCm becomes a buffer of the host."]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The data would have to be copied, and the options say never."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: The tensor is on a device that is not there."]
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
    #[doc = " Makes a buffer of a DLPack tensor without a version; otherwise as maxBufferFromDlpack."]
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
    #[doc = " Makes a DLPack tensor (1.x) that shares the buffer's memory."]
    #[doc = ""]
    #[doc = " The tensor holds the memory until its deleter is called and the work is done that `options->stream` has then; later"]
    #[doc = " accesses through this library come after that work. What the consumer does before, it orders itself. A read-only"]
    #[doc = " buffer gives a tensor with the read-only flag. Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults: the call waits for work with the buffer."]
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
    #[doc = " Makes a DLPack tensor without a version; otherwise as maxBufferToDlpack."]
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
    #[doc = " Makes a host buffer of a part of a file."]
    #[doc = ""]
    #[doc = " The file is mapped, so it must not shrink while the buffer lives. With modes \"r\" and \"c\" an offset that is not a"]
    #[doc = " multiple of the element size gives a copy. Thread-safe."]
    #[doc = ""]
    #[doc = " - `offset`: Bytes from the start of the file."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: There is no such file."]
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
    #[doc = " Fills a report on a buffer: type, shape, where it lies."]
    #[doc = ""]
    #[doc = " Thread-safe. Pointers in it are borrowed from the buffer."]
    #[doc = ""]
    #[doc = " - `outInfo`: Its structSize must be set; see MAX_BUFFER_INFO_INIT."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetInfo(buffer: *const MaxBuffer, outInfo: *mut MaxBufferInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the address of the first element, for reading. It does not wait for work on the buffer: synchronize first."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the buffer. NULL if there are no elements."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The host cannot reach the memory; see maxBufferMapToHost."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetData(buffer: *const MaxBuffer, outData: *mut *const ::std::os::raw::c_void) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the address of the first element, for writing too; otherwise as maxBufferGetData."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the buffer."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The host cannot reach the memory, or the buffer is read-only."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferGetMutableData(buffer: *mut MaxBuffer, outData: *mut *mut ::std::os::raw::c_void) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes a view of a part of the buffer, as numpy's x\\[...\\] does with indices, ranges, \"...\" and None."]
    #[doc = ""]
    #[doc = " The view shares the buffer's memory. Dimensions that are not named are taken whole. Thread-safe."]
    #[doc = ""]
    #[doc = " - `kinds`: What each step is."]
    #[doc = " - `starts`: Index, or start of the range, of each step; MAX_SLICE_OMITTED = left out, negative = from the"]
    #[doc = "   end. Not read for other kinds."]
    #[doc = " - `stops`: Stop of each range. NULL = all left out."]
    #[doc = " - `steps`: Step of each range; MAX_SLICE_OMITTED = 1. NULL = all 1."]
    #[doc = " - `count`: Number of steps."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An index lies outside its dimension; the message names it."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There are too many steps, two ellipses, or a step of zero."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The elements have fewer than 8 bits and the view would not be contiguous or start"]
    #[doc = "   within a byte."]
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
    #[doc = " Makes a view of the same memory with another type and shape."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `rank`: -1 = the shape is deduced: the buffer's, with the last dimension scaled by the ratio of the element"]
    #[doc = "   sizes."]
    #[doc = " - `shape`: One dimension may be -1 and is then deduced. NULL if `rank` is 0 or -1."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer is not contiguous."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The sizes do not fit, or the address is not aligned for the type."]
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
    #[doc = " Makes a contiguous copy of the buffer on its own device. It is always new memory."]
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
    #[doc = " Makes a contiguous copy of the buffer on a device. It is always new memory."]
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
    #[doc = " Gives a buffer on a device: a new reference to this one if it is there already, else a copy."]
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
    #[doc = " Asynchronous, but pageable host memory may make it wait: both buffers are retained until it is done. Thread-safe."]
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
    #[doc = " Copies bytes from host memory into a contiguous buffer, in stream order, and returns when they are there."]
    #[doc = ""]
    #[doc = " Thread-safe. The buffer is held meanwhile."]
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
    #[doc = " Copies bytes from a contiguous buffer into host memory, in stream order, and returns when they are there."]
    #[doc = ""]
    #[doc = " Thread-safe. The buffer is held meanwhile. On failure parts may have been written."]
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
    #[doc = " Asynchronous, but pageable host memory may make it wait: both ranges are borrowed until it is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `byteCount`: Zero is allowed and does nothing."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: An address is NULL, the kind is unknown, the ranges overlap or one has no end."]
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
    #[doc = " - `valueSize`: 1, 2, 4, 8 or 16; it divides the buffer's bytes. A view that is not contiguous can be filled if"]
    #[doc = "   this is its element size."]
    #[doc = " - `stream`: NULL = the buffer's stream."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The pattern has another size, or does not divide the buffer's bytes."]
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
    #[doc = " Waits for work with the buffer. Meanwhile whatever else would write the memory through this library is refused with"]
    #[doc = " FAILED_PRECONDITION, whichever handle it comes by; while the host may write or has exclusive access, whatever would"]
    #[doc = " read it too. A buffer can be mapped once at a time, and its memory by several buffers if all only read. A mapping"]
    #[doc = " ends with the last reference of its buffer at the latest. Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The buffer or its memory is mapped in a way that forbids it, the buffer is"]
    #[doc = " not contiguous, it is read-only and `access` says that the host writes, something else holds the memory and `access`"]
    #[doc = " is exclusive, or the call comes from a host function of the buffer's stream."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxBufferMapToHost(
        buffer: *mut MaxBuffer,
        access: MaxHostAccess,
        outData: *mut *mut ::std::os::raw::c_void,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Ends the host's access; what it wrote is then in the buffer, in the order of the buffer's stream. Thread-safe."]
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
    #[doc = " - `outElement`: Elements below 8 bits are in the low bits of a byte."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An index lies outside its dimension; the message names it."]
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
    #[doc = " - `element`: Elements below 8 bits are in the low bits of a byte."]
    #[doc = " - `byteCount`: The element size."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: An index lies outside its dimension; the message names it."]
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
    #[doc = " Drops a reference; NULL is allowed. Calls hold what they were given until they are done."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationRelease(cancellation: *const MaxCancellation);
}
unsafe extern "C" {
    #[doc = " Stops all calls that were given the cancellation, those that run and those that begin later."]
    #[doc = ""]
    #[doc = " Thread-safe. Returns at once; the calls return when they notice."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationCancel(cancellation: *const MaxCancellation) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Lets calls that begin from now on run again."]
    #[doc = ""]
    #[doc = " Thread-safe. A call that has not noticed yet that it was cancelled goes on."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxCancellationReset(cancellation: *const MaxCancellation) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether the cancellation is cancelled."]
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
    #[doc = " A value or nothing."]
    pub const MAX_VALUE_KIND_OPTIONAL: MaxValueKind = MaxValueKind(2);
}
impl MaxValueKind {
    #[doc = " A map from keys to values."]
    pub const MAX_VALUE_KIND_MAP: MaxValueKind = MaxValueKind(3);
}
#[repr(transparent)]
#[doc = " What a value is; what a model takes or gives."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxValueKind(pub i32);
unsafe extern "C" {
    #[doc = " Makes a value of a buffer, which is retained, and not to be written while the value is in use."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueCreateTensor(buffer: *mut MaxBuffer, outValue: *mut *mut MaxValue) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Makes a sequence of values, which are retained: contiguous tensors of one element type in host memory, or maps."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `elements`: `count` of them; NULL is allowed if there are none."]
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
    #[doc = " Makes an optional that holds a tensor or a sequence, which is retained, or nothing."]
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
    #[doc = " Makes a map from two lists of equal length, which are retained."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `keys`: Strings or int64, all different."]
    #[doc = " - `values`: The value of each key."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The buffers are no such lists."]
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
    #[doc = " Gets what a value is."]
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
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is no tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetBuffer(value: *const MaxValue, outBuffer: *mut *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets how many elements a sequence has, how many entries a map has; of an optional 1 or, if it holds nothing, 0."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is a tensor."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetCount(value: *const MaxValue, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets elements of a sequence, or what an optional holds: element 0."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the value."]
    #[doc = ""]
    #[doc = " - `outElements`: Room for `count` values; all NULL on failure."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There are no such elements; the message says how many there are."]
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
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is no map."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxValueGetMapKeys(value: *const MaxValue, outKeys: *mut *mut MaxBuffer) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the values of a map, in the order of its keys."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the value."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The value is no map."]
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
    #[doc = " dimensionNames are known."]
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
#[doc = " Fields of a MaxTensorInfo that hold a value: a sum of MAX_TENSOR_INFO_* numbers."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxTensorInfoMask(pub u64);
#[doc = " A report on an input, output, weight or value; what is not known is zero or NULL and missing in validMask."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxTensorInfo {
    #[doc = " Size of this structure; set by MAX_TENSOR_INFO_INIT."]
    pub structSize: usize,
    #[doc = " Fields that hold a value."]
    pub validMask: MaxTensorInfoMask,
    #[doc = " Its name."]
    pub name: *const ::std::os::raw::c_char,
    #[doc = " The type in words: \"float32\\[batch, 3\\]\", \"sequence of float32\", \"map from string to int64\"."]
    pub typeName: *const ::std::os::raw::c_char,
    #[doc = " What kind of value it is."]
    pub kind: MaxValueKind,
    #[doc = " Element type; of a sequence or optional that of the tensors in it, of a map that of its values."]
    pub dtype: MaxDType,
    #[doc = " Number of dimensions, or MAX_RANK_DYNAMIC."]
    pub rank: i32,
    #[doc = " Zero."]
    pub reserved: i32,
    #[doc = " `rank` numbers of elements, MAX_DIMENSION_DYNAMIC where a call chooses; NULL if there are none."]
    pub shape: *const i64,
    #[doc = " `rank` names of dimensions that a call chooses: \"batch\", or what is known of one: \"2*batch + 1\". A NULL entry has"]
    #[doc = " none; values of graphs have names for what nothing is known of, too: \"?7\". Dimensions of equal name are equal in"]
    #[doc = " each call. NULL if there are no dimensions."]
    pub dimensionNames: *const *const ::std::os::raw::c_char,
    #[doc = " Where it is; NULL for files, and for values of graphs that are on the first device of their session."]
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
    #[doc = " - `MAX_STATUS_NOT_FOUND`: There is no such file."]
    #[doc = " - `MAX_STATUS_DATA_LOSS`: The file is neither, or damaged; the message names the tensor."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: A tensor has an element type that this library does not know."]
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
    #[doc = " Drops a reference; NULL is allowed. Buffers that somebody retained stay."]
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
    #[doc = " Gets the name of a tensor; names come in rising order."]
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
    #[doc = " Its nodes may use values of `parent`. It becomes part of a node through maxAttributesSetGraph and cannot change"]
    #[doc = " after that. The subgraph holds its parent."]
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
    #[doc = " Drops a reference; NULL is allowed. The values go with the graph."]
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
    #[doc = " Names of dynamic dimensions, as many as the rank, NULL entries = none; equal names stand for equal dimensions in"]
    #[doc = " the whole graph. NULL = no names."]
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
    #[doc = " - `rank`: 0 = a scalar; MAX_RANK_DYNAMIC = not known, possible in subgraphs only."]
    #[doc = " - `shape`: Numbers of elements; MAX_DIMENSION_DYNAMIC = chosen by each call. NULL if `rank` is at most 0."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The name is taken, or a dimension is below -1 or named though it is a number."]
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
    #[doc = " Adds an input with the type and the device of a value, whatever is known of its dimensions."]
    #[doc = ""]
    #[doc = " What a Loop carries into its body is as its initial value is."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph."]
    #[doc = " - `value`: Of this graph or of its parents."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The name is taken, or the value is of another graph."]
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
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The kind or the type is none of these, or the name is taken."]
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
    #[doc = " Adds a constant. The contents are copied, after a wait for work on the buffer's stream."]
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
    #[doc = " Adds a weight: a constant whose contents are given by name when the graph is compiled."]
    #[doc = ""]
    #[doc = " - `name`: Unique in the graph."]
    #[doc = " - `shape`: All dimensions are known. NULL if `rank` is 0."]
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
    #[doc = " - `contents`: Used where they lie if they are dense and in host memory; retained by the graph and its models,"]
    #[doc = "   and not to be written any more."]
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
    #[doc = " Adds a weight with the contents that a file of weights has under this name. As maxGraphAddWeightFromBuffer."]
    #[doc = ""]
    #[doc = " - `name`: Of the tensor in the file and of the weight in the graph."]
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
    #[doc = " Adds a node: an operator on values, with the meaning of the newest ONNX operator set."]
    #[doc = ""]
    #[doc = " Numbers and types of inputs, attributes and shapes are checked, and the types of the outputs are inferred; the"]
    #[doc = " message of a failure names node, operator, tensors and shapes, and the graph is as it was."]
    #[doc = ""]
    #[doc = " Of the domain \"max\" there is one operator for programs: Rebind(value, shape) is the value, with the dimensions that"]
    #[doc = " the int64 list `shape` has; -1 is any, with a name of its own if the attribute \"names\", a list of strings, has one"]
    #[doc = " at that place. A call in which the value has another shape fails; its message has the attribute \"message\"."]
    #[doc = ""]
    #[doc = " - `domain`: NULL or \"\" = ONNX's own operators."]
    #[doc = " - `name`: For messages and profiles; NULL = none."]
    #[doc = " - `inputs`: Values of this graph or of its parents. A NULL entry leaves an optional input out."]
    #[doc = " - `attributes`: Copied. NULL = none."]
    #[doc = " - `outValues`: Filled with `outputCount` values; all NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The node is not valid."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The graph is part of a node already."]
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
    #[doc = " Makes a value the next output of the graph."]
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
    #[doc = " Gets the number of nodes, subgraphs not included."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphGetNodeCount(graph: *const MaxGraph, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Finds a value of this graph by its name."]
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
    #[doc = " Borrowed: the caller's references to the graph are untouched."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxGraphValueGetGraph(value: *const MaxGraphValue, outGraph: *mut *mut MaxGraph) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known of a value: name, kind, type, dimensions and the device that it was given, or that what it is"]
    #[doc = " computed from is on."]
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
    #[doc = " Sets an attribute to a number."]
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
    #[doc = " Sets an attribute to a list of numbers."]
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
    #[doc = " Sets an attribute to an element type, for example \"to\" of Cast, in ONNX's numbers."]
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
    #[doc = " Sets an attribute to a real number."]
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
    #[doc = " Sets an attribute to a list of real numbers."]
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
    #[doc = " Sets an attribute to a tensor. The contents are copied, after a wait for work on the buffer's stream."]
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
    #[doc = " Sets an attribute to a subgraph. The attributes hold it; it is fixed once a node uses them."]
    #[doc = ""]
    #[doc = " - `value`: Made by maxGraphCreateSubgraph for the graph that gets the node."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The graph is no subgraph."]
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
    #[doc = " Outputs follow from inputs and attributes alone, and so do their shapes."]
    pub const MAX_OPERATOR_TRAITS_NONE: MaxOperatorTraits = MaxOperatorTraits(0);
}
impl MaxOperatorTraits {
    #[doc = " Two equal calls may differ (random numbers, effects elsewhere): nodes are never merged nor computed at load."]
    pub const MAX_OPERATOR_TRAITS_RANDOM: MaxOperatorTraits = MaxOperatorTraits(1);
}
impl MaxOperatorTraits {
    #[doc = " Shapes of outputs are known only after running: `execute` makes them with maxOperatorCallAllocateOutput."]
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
    #[doc = " Size of this structure in the library that calls."]
    pub structSize: usize,
    #[doc = " Contents of the inputs, dense and row-major; NULL = left out, or without elements."]
    pub inputs: *const *const ::std::os::raw::c_void,
    #[doc = " Element types of the inputs; MAX_DTYPE_INVALID = left out."]
    pub inputDTypes: *const MaxDType,
    #[doc = " Numbers of dimensions of the inputs."]
    pub inputRanks: *const i32,
    #[doc = " Dimensions of the inputs."]
    pub inputShapes: *const *const i64,
    #[doc = " Numbers of elements of the inputs."]
    pub inputElementCounts: *const i64,
    #[doc = " Memory of the outputs, to be written whole; NULL = nobody wants it, or it has no elements."]
    pub outputs: *const *mut ::std::os::raw::c_void,
    #[doc = " Element types of the outputs; MAX_DTYPE_INVALID = nobody wants it."]
    pub outputDTypes: *const MaxDType,
    #[doc = " Numbers of dimensions of the outputs; MAX_RANK_DYNAMIC = `execute` makes it."]
    pub outputRanks: *const i32,
    #[doc = " Dimensions of the outputs."]
    pub outputShapes: *const *const i64,
    #[doc = " Numbers of elements of the outputs."]
    pub outputElementCounts: *const i64,
    #[doc = " Number of inputs."]
    pub inputCount: i32,
    #[doc = " Number of outputs."]
    pub outputCount: i32,
    #[doc = " Memory to work in, as `infer` asked for it; its contents are not defined, it starts at a multiple of 64."]
    pub scratch: *mut ::std::os::raw::c_void,
    #[doc = " Bytes of it."]
    pub scratchSize: usize,
    #[doc = " Threads that maxOperatorCallParallelFor uses at most."]
    pub lanes: i32,
    #[doc = " Zero."]
    pub reserved: i32,
    #[doc = " The device that the operator runs on and its inputs and outputs lie on: the host's, in this version."]
    pub device: *mut MaxDevice,
    #[doc = " The stream that the operator runs on, for kernels (maxKernelLaunch, with the pointers above as arguments), copies"]
    #[doc = " and further calls of a device. What is queued there runs after the inputs are made and before anybody reads the"]
    #[doc = " outputs; `execute` need not wait for it."]
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
#[doc = " Tells types and shapes of a node's outputs, as far as they are known, with the functions maxShapeContextSet*."]
#[doc = ""]
#[doc = " Called while graphs are built, with dimensions that may not be known yet, and for each set of input shapes, with all"]
#[doc = " dimensions known; then all dimensions of the outputs must be, too. From any thread, several at a time."]
#[doc = ""]
#[doc = " Returns MAX_STATUS_OK; or why the node is not valid, see maxExtensionFail."]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorInferFunction = ::std::option::Option<
    unsafe extern "C" fn(
        userData: *mut ::std::os::raw::c_void,
        node: *const MaxOperatorNode,
        context: *mut MaxShapeContext,
    ) -> MaxStatus,
>;
#[doc = " Makes what a node's calls share: tables, packed constants. Called when a model is loaded, and perhaps again later,"]
#[doc = " from any thread, for several nodes at a time."]
#[doc = ""]
#[doc = " - `outState`: Handed to `execute` and at last to `destroy`; may stay NULL."]
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
#[doc = " Computes the outputs of a node. Called from any thread, several at a time with the same state."]
#[doc = ""]
#[doc = " - `state`: From `prepare`; NULL if there is none."]
#[doc = " Returns MAX_STATUS_OK; or why the call fails, see maxExtensionFail."]
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
#[doc = " The body of maxOperatorCallParallelFor: does \\[begin, end). `lane` differs between bodies that run at the same time"]
#[doc = " and is below MaxOperatorCall::lanes."]
#[doc = ""]
#[doc = ""]
#[doc = " Since 0.1."]
pub type MaxOperatorLoopFunction =
    ::std::option::Option<unsafe extern "C" fn(userData: *mut ::std::os::raw::c_void, begin: i64, end: i64, lane: i32)>;
#[doc = " An operator of an extension. Everything it points at stays until the process ends."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxOperator {
    #[doc = " Size of this structure; set by MAX_OPERATOR_INIT."]
    pub structSize: usize,
    #[doc = " Domain, as models name it, for example \"com.example\"; not empty, and neither ONNX's own nor \"max\"."]
    pub domain: *const ::std::os::raw::c_char,
    #[doc = " Name, as models write it."]
    pub name: *const ::std::os::raw::c_char,
    #[doc = " Element types as \"inputs -\\> outputs; constraints\", for example \"T,I-\\>T; T=float32|float16; I=index\". A letter"]
    #[doc = " stands for the same type everywhere. Classes: any, number (no bool), float, integer, signed, unsigned, bool, index"]
    #[doc = " (int32, int64), and each name of maxDTypeGetName, joined by '|'. A trailing \"...\" repeats the last input or output."]
    #[doc = " \"*\" among the outputs: `infer` sets the type. NULL = any inputs, and `infer` sets all."]
    pub types: *const ::std::os::raw::c_char,
    #[doc = " Names and types of attributes, for example \"alpha=f axes=I\"; i, f, s, t = int, float, string, tensor; I, F, S ="]
    #[doc = " lists of them. Graphs built in code may give no others. NULL = any."]
    pub attributes: *const ::std::os::raw::c_char,
    #[doc = " Fewest inputs; they cannot be left out."]
    pub minInputs: i32,
    #[doc = " Most inputs, or MAX_OPERATOR_COUNT_ANY."]
    pub maxInputs: i32,
    #[doc = " Fewest outputs."]
    pub minOutputs: i32,
    #[doc = " Most outputs, or MAX_OPERATOR_COUNT_ANY."]
    pub maxOutputs: i32,
    #[doc = " Properties."]
    pub traits: MaxOperatorTraits,
    #[doc = " Bit i: shapes of outputs depend on the contents of input i, which `infer` gets at the latest when it runs."]
    pub shapeInputs: u32,
    #[doc = " Tells types and shapes of outputs; not NULL."]
    pub infer: MaxOperatorInferFunction,
    #[doc = " Makes what calls share; NULL = nothing."]
    pub prepare: MaxOperatorPrepareFunction,
    #[doc = " Frees it; NULL = nothing to free."]
    pub destroy: MaxOperatorDestroyFunction,
    #[doc = " Computes; not NULL."]
    pub execute: MaxOperatorExecuteFunction,
    #[doc = " First argument of all functions."]
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
    #[doc = " MAX_EXTENSION_ABI_VERSION, as the extension was built with it."]
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
    #[doc = " Loads a shared library with operators, which all models loaded and graphs built from now on may use."]
    #[doc = ""]
    #[doc = " A file whose name ends with .cu or .hip is a kernel source whose comments declare operators; it is compiled."]
    #[doc = " Loading the same file again does nothing. On failure none of its operators is known. Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: A file; it is not searched for. Its code runs in this process, so it must be trusted."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: There is no such file."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: It is no shared library that can be loaded, or not an extension, or its table is"]
    #[doc = "   not valid; or a source does not compile or declares nothing. The message says what and why."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: A source needs a compiler, and none was found."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: It was made for another version of this interface."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: An operator is defined already; the message names who defines it."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: It is linked to another copy of this library."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExtensionLoad(path: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Adds operators of the program itself, without a library. The functions and what they point at stay until the process"]
    #[doc = " ends; the table and the texts in it are copied."]
    #[doc = ""]
    #[doc = " Adding the same table again does nothing. On failure none of its operators is known. Thread-safe."]
    #[doc = ""]
    #[doc = " - `name`: What messages call it."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The table is not valid; the message says why."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: It was made for another version of this interface."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: An operator is defined already; the message names who defines it."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExtensionAdd(name: *const ::std::os::raw::c_char, table: *const MaxExtensionTable) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Returns `status` and keeps a message for it: what `infer`, `prepare` and `execute` return when they fail."]
    #[doc = ""]
    #[doc = " The message becomes part of the failing call's, after node, operator and extension. A failing function of this"]
    #[doc = " library leaves its message in the same way. MAX_STATUS_OK becomes MAX_STATUS_UNKNOWN."]
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
    #[doc = " Gets the number of inputs of a node, those left out included."]
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
    #[doc = " - `fallback`: If there is none."]
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
    #[doc = " - `fallback`: If there is none."]
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
    #[doc = " - `fallback`: If there is none; may be NULL."]
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
    #[doc = " Gets a list of integers; borrowed. NULL and 0 if there is none."]
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
    #[doc = " Gets a list of floating-point numbers; borrowed. NULL and 0 if there is none."]
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
    #[doc = " Gets the number of texts in a list of strings; 0 if there is none."]
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
    #[doc = " Gets a text of a list of strings; borrowed."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such text."]
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
    #[doc = " Gets a tensor attribute; borrowed. MAX_DTYPE_INVALID, 0, NULL and NULL if there is none."]
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
    #[doc = " constant, and in other functions."]
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
    #[doc = " Gets the device that a node runs on, in `prepare` and `execute`; borrowed. `prepare` compiles kernels for it"]
    #[doc = " (maxModuleCompile) and takes memory of it. NULL in `infer`, which knows of no device."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxOperatorNodeGetDevice(node: *const MaxOperatorNode, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the element type of an input; MAX_DTYPE_INVALID if it is left out or not known."]
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
    #[doc = " Gets the number of dimensions of an input; MAX_RANK_DYNAMIC if it is left out or not known."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextGetInputRank(context: *const MaxShapeContext, input: i32, outRank: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a dimension of an input; MAX_DIMENSION_DYNAMIC if it is not known."]
    #[doc = ""]
    #[doc = " - `axis`: From 0 on."]
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
    #[doc = " Gets the contents of an input, if they are known; borrowed. NULL if not."]
    #[doc = ""]
    #[doc = " - `outData`: Elements, dense and row-major; the dimensions are known then."]
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
    #[doc = " Sets the element type of an output, where MaxOperator::types does not."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The node has no such output."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: Outputs cannot be of this type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputDType(context: *mut MaxShapeContext, output: i32, dtype: MaxDType) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets the dimensions of an output; MAX_DIMENSION_DYNAMIC = not known yet."]
    #[doc = ""]
    #[doc = " - `shape`: NULL if `rank` is 0."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: The node has no such output."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: A number is negative or there are too many dimensions."]
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
    #[doc = " Says that a dimension of an output, whose shape was set, is that of an input, known or not."]
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
    #[doc = " Says that an output has the dimensions of an input, known or not."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output or input."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetOutputLike(context: *mut MaxShapeContext, output: i32, input: i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Says that an output has the dimensions that two inputs have when the smaller is repeated, as in Add of ONNX."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output or input."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The shapes do not fit; the message names them."]
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
    #[doc = " Asks for memory that a call works in: MaxOperatorCall::scratch."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: More than 2^60 bytes."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxShapeContextSetScratchSize(context: *mut MaxShapeContext, byteCount: usize) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Splits \\[0, count) into parts of `grain` and runs them on the call's threads; returns when all are done."]
    #[doc = ""]
    #[doc = " - `grain`: Large enough to take some microseconds; at least 1."]
    #[doc = " - `body`: Must not throw."]
    #[doc = " - `userData`: Its first argument."]
    #[doc = " - `MAX_STATUS_CANCELLED`: The model's call was stopped; return this."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The same for its time limit."]
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
    #[doc = " Makes an output whose shape is known only now, for operators with MAX_OPERATOR_TRAITS_DATA_DEPENDENT."]
    #[doc = ""]
    #[doc = " - `shape`: NULL if `rank` is 0."]
    #[doc = " - `outData`: Its memory, to be written whole; NULL if it has no elements or nobody wants it."]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such output."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The shape is not the one that `infer` told, or not valid."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The output has been made, or the operator does not make its outputs."]
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
    #[doc = " The chip to compile for, as maxDeviceGetArchitectureName names it (\"sm_90\", \"gfx90a\"), or for the host what the"]
    #[doc = " compiler's option -march takes; NULL = the device's own."]
    pub architecture: *const ::std::os::raw::c_char,
    #[doc = " Names of macros to define."]
    pub defineNames: *const *const ::std::os::raw::c_char,
    #[doc = " Values of those macros; NULL, or a NULL entry = 1."]
    pub defineValues: *const *const ::std::os::raw::c_char,
    #[doc = " Names that the source may include."]
    pub headerNames: *const *const ::std::os::raw::c_char,
    #[doc = " Texts of those headers."]
    pub headerTexts: *const *const ::std::os::raw::c_char,
    #[doc = " More options for the compiler, as its own documentation has them."]
    pub flags: *const *const ::std::os::raw::c_char,
    #[doc = " Number of macros."]
    pub defineCount: i32,
    #[doc = " Number of headers."]
    pub headerCount: i32,
    #[doc = " Number of flags."]
    pub flagCount: i32,
    #[doc = " 1 = faster and less exact arithmetic."]
    pub fastMath: i32,
    #[doc = " Most registers a thread may use on accelerators; 0 = the compiler's choice."]
    pub registerLimit: i32,
    #[doc = " 1 = with line numbers for profilers and debuggers."]
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
    #[doc = " What the compiler said: warnings. Text."]
    pub const MAX_ARTIFACT_KIND_LOG: MaxArtifactKind = MaxArtifactKind(1);
}
impl MaxArtifactKind {
    #[doc = " PTX (cuda). Text."]
    pub const MAX_ARTIFACT_KIND_PTX: MaxArtifactKind = MaxArtifactKind(2);
}
impl MaxArtifactKind {
    #[doc = " Machine code of a chip (cuda)."]
    pub const MAX_ARTIFACT_KIND_CUBIN: MaxArtifactKind = MaxArtifactKind(3);
}
impl MaxArtifactKind {
    #[doc = " Machine code of a chip (hip)."]
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
    #[doc = " LLVM's intermediate code (hip, and cpu where the compiler is Clang). Text."]
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
    #[doc = " - `name`: What the log calls the source; NULL = \"kernel.cu\"."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The source does not compile."]
    #[doc = " - `MAX_STATUS_UNAVAILABLE`: No compiler was found; the message names what was tried."]
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
    #[doc = " Thread-safe. The bytes are copied. A shared object is code that runs in this process: load only what you trust."]
    #[doc = ""]
    #[doc = " - `device`: NULL = the host."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The bytes are not code for the device."]
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
    #[doc = " Gets the device that the module was made for."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the module."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModuleGetDevice(module: *const MaxModule, outDevice: *mut *mut MaxDevice) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a form of the module's code, compiling once more where needed."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the module. A zero byte follows the bytes, so text can be used as a string."]
    #[doc = ""]
    #[doc = " - `outByteCount`: The zero byte not counted."]
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
    #[doc = " Thread-safe. Borrowed from the module: the same kernel for the same name."]
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
    #[doc = " Writes a variable of the module (`__constant__` or `__device__`), from its beginning."]
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
    #[doc = " Most threads in a block."]
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
    #[doc = " Bytes of memory of its own that a thread uses."]
    pub const MAX_KERNEL_ATTRIBUTE_LOCAL_SIZE: MaxKernelAttribute = MaxKernelAttribute(3);
}
impl MaxKernelAttribute {
    #[doc = " Registers that a thread uses."]
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
    #[doc = " Most bytes of dynamic shared memory that a launch may ask for. Can be set."]
    pub const MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE: MaxKernelAttribute = MaxKernelAttribute(8);
}
impl MaxKernelAttribute {
    #[doc = " Percent of the first-level cache to use as shared memory, -1 = the driver's choice. Can be set: a hint."]
    pub const MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT: MaxKernelAttribute = MaxKernelAttribute(9);
}
impl MaxKernelAttribute {
    #[doc = " Whether clusters may be larger than all chips allow: 0 or 1. Can be set."]
    pub const MAX_KERNEL_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: MaxKernelAttribute = MaxKernelAttribute(14);
}
#[repr(transparent)]
#[doc = " A property of a kernel; the values are those of CUDA."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxKernelAttribute(pub i32);
impl MaxAccessProperty {
    #[doc = " As any other memory."]
    pub const MAX_ACCESS_PROPERTY_NORMAL: MaxAccessProperty = MaxAccessProperty(0);
}
impl MaxAccessProperty {
    #[doc = " Unlikely to be used again."]
    pub const MAX_ACCESS_PROPERTY_STREAMING: MaxAccessProperty = MaxAccessProperty(1);
}
impl MaxAccessProperty {
    #[doc = " To be kept."]
    pub const MAX_ACCESS_PROPERTY_PERSISTING: MaxAccessProperty = MaxAccessProperty(2);
}
#[repr(transparent)]
#[doc = " How the second-level cache treats a range of memory."]
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
    #[doc = " Start of memory whose caching is set for this launch; NULL = none."]
    pub accessBase: *mut ::std::os::raw::c_void,
    #[doc = " Bytes of that memory; more than the device can set are left as they are."]
    pub accessByteCount: usize,
    #[doc = " Part of the accesses, 0 to 1, that hitProperty holds for; missProperty holds for the others."]
    pub hitRatio: f32,
    #[doc = " Treatment of that part."]
    pub hitProperty: MaxAccessProperty,
    #[doc = " Treatment of the rest; not MAX_ACCESS_PROPERTY_PERSISTING."]
    pub missProperty: MaxAccessProperty,
    #[doc = " A hint: kernels of higher priority go first; 0 = as the stream's."]
    pub priority: i32,
    #[doc = " 1 = the kernel may start before the one before it on the stream has ended; it waits for it by itself."]
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
    #[doc = " Gets a property of the kernel."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The device does not know it."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelGetAttribute(
        kernel: *const MaxKernel,
        attribute: MaxKernelAttribute,
        outValue: *mut i64,
    ) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets a property of the kernel for later launches, whoever launches it."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The value lies outside what the device allows; the message says what it does."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The attribute cannot be set."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelSetAttribute(kernel: *const MaxKernel, attribute: MaxKernelAttribute, value: i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Launches a kernel."]
    #[doc = ""]
    #[doc = " Asynchronous. Thread-safe. An argument is the address of a value, which is copied before the call returns, or, where"]
    #[doc = " its size is MAX_KERNEL_ARGUMENT_BUFFER, a MaxBuffer: the kernel gets the address of its first element, and its memory"]
    #[doc = " is kept until the kernel has run. Memory that is passed as a plain address is borrowed until then. The kernel must"]
    #[doc = " only read buffers that are read-only."]
    #[doc = ""]
    #[doc = " - `arguments`: One per parameter of the kernel."]
    #[doc = " - `sizes`: Bytes of each value, compared with the parameters where the compiler tells about them; NULL ="]
    #[doc = "   all are values and none is compared; a MaxBuffer is refused."]
    #[doc = " - `stream`: NULL = the default stream of the kernel's device."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: Wrong number or size of arguments, a MaxBuffer's address in place of the"]
    #[doc = "   MaxBuffer, dimensions or shared memory outside the limits, a stream or buffer of another device; the message"]
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
    #[doc = " As a session's level: the default, MAX_LOG_LEVEL_INFO. As a function's: all messages. No message has it."]
    pub const MAX_LOG_LEVEL_NOTSET: MaxLogLevel = MaxLogLevel(0);
}
impl MaxLogLevel {
    #[doc = " Every pass of the compiler and every plan."]
    pub const MAX_LOG_LEVEL_TRACE: MaxLogLevel = MaxLogLevel(10);
}
impl MaxLogLevel {
    #[doc = " What was chosen and why, for example slow kernels of a plan."]
    pub const MAX_LOG_LEVEL_DEBUG: MaxLogLevel = MaxLogLevel(20);
}
impl MaxLogLevel {
    #[doc = " Loads, and what else happens seldom."]
    pub const MAX_LOG_LEVEL_INFO: MaxLogLevel = MaxLogLevel(30);
}
impl MaxLogLevel {
    #[doc = " What works, but not as the program may expect; memory limits that are reached."]
    pub const MAX_LOG_LEVEL_WARNING: MaxLogLevel = MaxLogLevel(40);
}
impl MaxLogLevel {
    #[doc = " Loads that fail."]
    pub const MAX_LOG_LEVEL_ERROR: MaxLogLevel = MaxLogLevel(50);
}
impl MaxLogLevel {
    #[doc = " Nothing at all at present."]
    pub const MAX_LOG_LEVEL_CRITICAL: MaxLogLevel = MaxLogLevel(60);
}
#[repr(transparent)]
#[doc = " How important a message is."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxLogLevel(pub i32);
#[doc = " Stands for a function that was added; never zero, and never used again in this process."]
pub type MaxLogToken = u64;
#[doc = " A function that takes messages."]
#[doc = ""]
#[doc = " May be called from any thread, from several at the same time. It may call all functions of this library; what they"]
#[doc = " have to say meanwhile is dropped. It must not throw. `message` is borrowed until it returns."]
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
    #[doc = " Adds a function for the process's messages."]
    #[doc = ""]
    #[doc = " Thread-safe. `userData` is borrowed until the function is removed. A function that is added twice is called twice."]
    #[doc = ""]
    #[doc = " - `level`: The least important messages that the function gets."]
    #[doc = " - `outToken`: What maxLogRemoveCallback takes; 0 on failure."]
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
    #[doc = " Removes a function."]
    #[doc = ""]
    #[doc = " Thread-safe. When this call returns, the function is not running any more and will not be called again. From within"]
    #[doc = " a function for messages the call does not wait, so as not to wait for itself: the function is not called again, but"]
    #[doc = " calls that have begun go on."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The token was never given out, or its function has been removed."]
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
    #[doc = " Reads what a model file holds without making it ready to run. Operators that are not supported are listed, not"]
    #[doc = " refused."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: An ONNX file, a compiled model, or a folder that holds model.onnx or model.maxc."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No file is there; the message says what was looked for."]
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
    #[doc = " Gets the name of the program that wrote the file; empty if it does not say."]
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
    #[doc = " Gets the number of elements of all weights."]
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
    #[doc = " Gets the number of nodes that use an operator, those of subgraphs included."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOperatorNodeCount(info: *const MaxModelInfo, index: i32, outCount: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of nodes whose operators are not supported."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetUnsupportedCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of a node whose operator is not supported; may be empty."]
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
    #[doc = " Gets the operator of a node that is not supported, with its domain unless it is ONNX's own."]
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
    #[doc = " Gets the version of the operator set that a node that is not supported asks for."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such entry."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetUnsupportedVersion(info: *const MaxModelInfo, index: i32, outVersion: *mut i64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of inputs that the file declares, without those that are weights."]
    #[doc = ""]
    #[doc = " Thread-safe. Known for models of files, supported or not."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetInputCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known of an input; no file names a device."]
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
    #[doc = " Thread-safe. Known for models of files, supported or not."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetOutputCount(info: *const MaxModelInfo, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is known of an output; no file names a device."]
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
    #[doc = " Gets what is known of a weight. They come in the order of the file or graph."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_OUT_OF_RANGE`: There is no such weight."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelInfoGetWeight(info: *const MaxModelInfo, index: i32, outInfo: *mut MaxTensorInfo) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets a drawing of the graph as the file has it, in the DOT language of Graphviz."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the object."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The object is not one of maxModelInfoLoad."]
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
    #[doc = " Threads that one call uses at most; 0 = as many as physical cores within affinity mask and CPU quota."]
    pub threadCount: i32,
    #[doc = " Bytes that loads and calls of the session's models may hold at a time; 0 = no limit. See maxSessionGetMemory."]
    pub memoryLimit: u64,
}
#[test]
fn bindgen_test_layout_MaxSessionOptions() {
    assert_eq!(
        ::std::mem::size_of::<MaxSessionOptions>(),
        32usize,
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
#[doc = " Which fields of a MaxSessionMemory are known, joined with |."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxSessionMemoryMask(pub u64);
#[doc = " What a session's models hold in memory, in bytes; an unknown field is zero and missing in validMask."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxSessionMemory {
    #[doc = " Size of this structure; set by MAX_SESSION_MEMORY_INIT."]
    pub structSize: usize,
    #[doc = " Fields that are known: all of a session with a limit, none of another one."]
    pub validMask: MaxSessionMemoryMask,
    #[doc = " What they hold now."]
    pub used: u64,
    #[doc = " The most that they have held so far."]
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
    #[doc = " As MAX_ASSERT_LEVEL_ALL, but what is found is only logged, as warnings."]
    pub const MAX_ASSERT_LEVEL_WARN: MaxAssertLevel = MaxAssertLevel(1);
}
impl MaxAssertLevel {
    #[doc = " That no step writes behind its outputs, those of the model included, and that shapes are those promised. Calls fail"]
    #[doc = " otherwise: with MAX_STATUS_OUT_OF_RANGE if an operator of an extension is at fault, which the message names."]
    pub const MAX_ASSERT_LEVEL_SAFE: MaxAssertLevel = MaxAssertLevel(2);
}
impl MaxAssertLevel {
    #[doc = " That too, and that no step makes NaN or infinity out of finite inputs; calls fail otherwise."]
    pub const MAX_ASSERT_LEVEL_ALL: MaxAssertLevel = MaxAssertLevel(3);
}
#[repr(transparent)]
#[doc = " What a session checks between the steps of its models."]
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
    #[doc = " Steps within the iterations of loops too."]
    pub const MAX_PROFILING_MODE_DETAILED: MaxProfilingMode = MaxProfilingMode(2);
}
#[repr(transparent)]
#[doc = " What a session records of its calls."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxProfilingMode(pub i32);
unsafe extern "C" {
    #[doc = " Makes a session."]
    #[doc = ""]
    #[doc = " Thread-safe. The devices are retained."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: A device is NULL, or a number is negative."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: Models cannot run on the first device."]
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
    #[doc = " Gets the number of threads that one call uses at most."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetThreadCount(session: *const MaxSession, outCount: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets how important messages of the session's loads and calls must be; see maxLogAddCallback."]
    #[doc = ""]
    #[doc = " Thread-safe. Holds from the next call on, for models that are loaded too."]
    #[doc = ""]
    #[doc = " - `level`: MAX_LOG_LEVEL_NOTSET = the default, MAX_LOG_LEVEL_INFO."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There is no such level."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetLogLevel(session: *mut MaxSession, level: MaxLogLevel) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets how important messages of the session's loads and calls must be."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetLogLevel(session: *const MaxSession, outLevel: *mut MaxLogLevel) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets what is checked between the steps of models. Checks cost time; they are for finding faults."]
    #[doc = ""]
    #[doc = " Thread-safe. Holds from the next call on, for models that are loaded too."]
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
    #[doc = " Sets the type in which the sums of the parts of long float32 matrix products are added up."]
    #[doc = ""]
    #[doc = " Products over more than some hundred elements are made in parts. MAX_DTYPE_FLOAT32 is the default and the fastest;"]
    #[doc = " MAX_DTYPE_FLOAT64 is more exact; MAX_DTYPE_FLOAT16 and MAX_DTYPE_BFLOAT16 round after each part, as accelerators do"]
    #[doc = " that keep such sums in their outputs' type. Thread-safe. Holds from the next call on, for models that are loaded too."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: Sums cannot be kept in this type."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetSplitKReductionPrecision(session: *mut MaxSession, dtype: MaxDType) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the type in which the sums of the parts of long matrix products are added up."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetSplitKReductionPrecision(session: *const MaxSession, outDType: *mut MaxDType) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Chooses how TopK works: not 0 = it sorts whole lines, 0 = it selects, which is the default."]
    #[doc = ""]
    #[doc = " Both give the same elements in the same order. Thread-safe. Holds from the next call on, for models that are loaded"]
    #[doc = " too."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetUseOldTopK(session: *mut MaxSession, useOldTopK: i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether TopK sorts whole lines."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetUseOldTopK(session: *const MaxSession, outUseOldTopK: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Sets what is recorded of the calls of the session's models."]
    #[doc = ""]
    #[doc = " A new session follows the environment variables MAX_ENABLE_PROFILING and MODULAR_ENABLE_PROFILING (off, on or"]
    #[doc = " detailed); this call overrides them. What was recorded stays. The newest records are dropped when a million steps"]
    #[doc = " are held. Thread-safe. Holds from the next call on, for models that are loaded too."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There is no such mode."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionSetProfiling(session: *mut MaxSession, mode: MaxProfilingMode) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what is recorded of the calls of the session's models."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionGetProfiling(session: *const MaxSession, outMode: *mut MaxProfilingMode) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Writes what was recorded as a trace in Chrome's JSON format, which Perfetto and chrome://tracing show."]
    #[doc = ""]
    #[doc = " Each step has its name, start, duration and thread; its arguments are the operator, the implementation that ran, the"]
    #[doc = " types of its inputs and outputs, and the model's nodes that it came from. Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: The file, which is made or replaced."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file's folder does not exist."]
    #[doc = " - `MAX_STATUS_PERMISSION_DENIED`: The file cannot be written."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxSessionWriteProfile(session: *const MaxSession, path: *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Forgets what was recorded."]
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
    #[doc = " Counted are weights in memory (not those in mapped files), packed weights, intermediate values and what kernels hold"]
    #[doc = " beside them, outputs that the library made and have not been released, and what loads need for a while; not counted"]
    #[doc = " are buffers that the program made, and blocks below 16 KB."]
    #[doc = " Only a session with a limit counts. Thread-safe."]
    #[doc = ""]
    #[doc = " - `outMemory`: Its structSize says which version of the structure it is."]
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
    #[doc = " Products from two or three bfloat16 parts, about 1e-5 relative error."]
    pub const MAX_PRECISION_HIGH: MaxPrecision = MaxPrecision(1);
}
impl MaxPrecision {
    #[doc = " bfloat16 products with float32 sums."]
    pub const MAX_PRECISION_MEDIUM: MaxPrecision = MaxPrecision(2);
}
#[repr(transparent)]
#[doc = " The least precision that products of float32 may have. Where nothing faster exists, the next higher one is used."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxPrecision(pub i32);
#[doc = " Told how far a load is: `fraction` of the whole from 0 to 1, never falling, and what is being done."]
#[doc = ""]
#[doc = " Called from the thread that loads, seldom enough to be drawn. It may call functions of this library, and must not"]
#[doc = " throw. `phase` is borrowed until it returns."]
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
    #[doc = " Buffers that replace them, of equal dtype and shape, used where they lie if they are dense and in host memory;"]
    #[doc = " retained by the model, and not to be written any more."]
    pub weights: *const *mut MaxBuffer,
    #[doc = " Number of weights to replace."]
    pub weightCount: i32,
    #[doc = " Least precision of products."]
    pub precision: MaxPrecision,
    #[doc = " Not 0 = the file is copied; otherwise a large file is mapped and must not shrink while the model lives."]
    pub copyWeights: i32,
    #[doc = " Not 0 = names of weights to replace that the model does not have are ignored; otherwise they are NOT_FOUND."]
    pub ignoreUnknownWeights: i32,
    #[doc = " Stops the load when it is cancelled; NULL = nothing does."]
    pub cancellation: *const MaxCancellation,
    #[doc = " Nanoseconds from now on after which the load gives up; 0 = never."]
    pub timeoutNs: i64,
    #[doc = " Told how far the load is; NULL = nobody."]
    pub progress: MaxProgressCallback,
    #[doc = " Borrowed until the load is done."]
    pub progressUserData: *mut ::std::os::raw::c_void,
    #[doc = " Files of extensions to load before; see maxExtensionLoad. NULL = none."]
    pub extensions: *const *const ::std::os::raw::c_char,
    #[doc = " Number of extensions."]
    pub extensionCount: i32,
    #[doc = " Zero."]
    pub reserved: i32,
    #[doc = " A file of weights to replace, as maxWeightsLoad reads it; those in `weightNames` come first. NULL = none."]
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
    #[doc = " Stream of the model's device that the call is ordered in; NULL = the device's default stream."]
    pub stream: *mut MaxStream,
    #[doc = " One entry per output: a buffer to write the output into, NULL = make one; NULL = make all."]
    pub outputs: *const *mut MaxBuffer,
    #[doc = " Stops the call when it is cancelled; held until the work is done. NULL = nothing does."]
    pub cancellation: *const MaxCancellation,
    #[doc = " Nanoseconds from now on after which the call gives up, the wait in a stream included; 0 = never."]
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
#[doc = " Fields of a MaxModelMemory that hold a value: a sum of MAX_MODEL_MEMORY_* numbers."]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct MaxModelMemoryMask(pub u64);
#[doc = " What a model holds in memory, in bytes; an unknown field is zero and missing in validMask. See maxModelGetMemory."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct MaxModelMemory {
    #[doc = " Size of this structure; set by MAX_MODEL_MEMORY_INIT."]
    pub structSize: usize,
    #[doc = " Fields that hold a value."]
    pub validMask: MaxModelMemoryMask,
    #[doc = " Weights that are parts of mapped files; the system may drop their pages."]
    pub mappedWeights: u64,
    #[doc = " Weights and other constants in memory."]
    pub ownedWeights: u64,
    #[doc = " Weights packed for their kernels, and what else nodes prepared at load."]
    pub packedWeights: u64,
    #[doc = " Plans for the input shapes seen lately, about."]
    pub plans: u64,
    #[doc = " Memory for intermediate values, of calls that run and kept for the next ones."]
    pub arenas: u64,
    #[doc = " Released outputs whose memory waits for the next call."]
    pub outputs: u64,
    #[doc = " The sum of all."]
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
unsafe extern "C" {
    #[doc = " Loads a model."]
    #[doc = ""]
    #[doc = " Thread-safe. The session is retained."]
    #[doc = ""]
    #[doc = " Models of one file share the mapped file and what is made of its weights, whatever their sessions."]
    #[doc = ""]
    #[doc = " - `path`: An ONNX file, a compiled model of maxModelSave, or a folder that holds model.onnx or model.maxc."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No file is there, the message says what was looked for; or the model has no weight of a"]
    #[doc = "   name in the options, and ignoreUnknownWeights is 0."]
    #[doc = " - `MAX_STATUS_DATA_LOSS`: The file is not a model or is damaged."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The model contradicts itself; the message names the node or tensor."]
    #[doc = " - `MAX_STATUS_UNIMPLEMENTED`: The model uses operators that are not supported; the message lists all of them."]
    #[doc = " - `MAX_STATUS_CANCELLED`: The options' cancellation stopped the load."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The options' time passed."]
    #[doc = " - `MAX_STATUS_RESOURCE_EXHAUSTED`: The session's memory limit would be passed."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: An extension in the options defines an operator that is defined already."]
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
    #[doc = " Loads a model from the bytes of an ONNX file, which are copied. Weights in other files are refused."]
    #[doc = ""]
    #[doc = " Thread-safe. The session is retained. Errors are those of maxModelLoad."]
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
    #[doc = " Makes a model from a graph built in code. The graph stays as it is."]
    #[doc = ""]
    #[doc = " The model holds the graph's constants and weights, without a copy, beside what it makes of them: it can be saved, and"]
    #[doc = " its weights replaced."]
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
    #[doc = " Replaces weights of a loaded model by name, whatever the compiler has made of them."]
    #[doc = ""]
    #[doc = " All or nothing: each call of maxModelExecute runs with the weights from before or with all of the new ones. Calls"]
    #[doc = " that are under way keep the old ones, and so do captured calls. Weights replaced earlier stay replaced. What was"]
    #[doc = " prepared of other weights is kept where they lie in a mapped file. Thread-safe."]
    #[doc = ""]
    #[doc = " - `names`: Names of weights, `count` of them."]
    #[doc = " - `weights`: Buffers of equal dtype and shape; retained by the model, and not to be written any more."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The model has no weight of a name; the message names it."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: A buffer is not of the weight's dtype and shape."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The model's own weights are not kept: more than 16 MB that were loaded from"]
    #[doc = "   memory or copied by copyWeights; or the model's file has changed."]
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
    #[doc = " Writes the model, optimised, with its present weights, as a compiled model that maxModelLoad reads."]
    #[doc = ""]
    #[doc = " The file appears whole or not at all. It suits every CPU; weights are packed when it is loaded. Thread-safe."]
    #[doc = ""]
    #[doc = " - `path`: The file, which is made or replaced; such files are called NAME.maxc."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The file's folder does not exist."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The model's weights are not kept; see maxModelReplaceWeights."]
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
    #[doc = " Drops a reference; NULL is allowed. Work on streams holds the model until it is done."]
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
    #[doc = " Gets the precision that products have: the one asked for, or the next higher one that this machine has."]
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
    #[doc = " Gets what is known of an input: name, type, dimensions, device."]
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
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No input has this name; the message lists those there are."]
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
    #[doc = " Gets what is known of an output: name, type, dimensions, device."]
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
    #[doc = " - `MAX_STATUS_NOT_FOUND`: No output has this name; the message lists those there are."]
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
    #[doc = " On the default stream the outputs are complete when the call returns. On a created stream the call returns once the"]
    #[doc = " work is queued; inputs, outputs and model are retained until it is done, and a failure stays with the stream. Outputs"]
    #[doc = " have their final shapes in either case, so a model whose shapes depend on values waits inside the call. Outputs never"]
    #[doc = " share memory with inputs or each other. Thread-safe."]
    #[doc = ""]
    #[doc = " - `inputs`: One buffer per input, in the model's order, contiguous, on the model's device."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `outOutputs`: Room for one buffer per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The number, type, shape, layout or device of an input or of a given output is"]
    #[doc = " wrong."]
    #[doc = " - `MAX_STATUS_CANCELLED`: The options' cancellation stopped the call; given outputs may be half written."]
    #[doc = " - `MAX_STATUS_DEADLINE_EXCEEDED`: The same for the options' time."]
    #[doc = " - `MAX_STATUS_RESOURCE_EXHAUSTED`: The session's memory limit would be passed."]
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
    #[doc = " Runs the model on arrays of the host, without a buffer for each: input i is `data[i]`, of `dtypes[i]`, `ranks[i]` and"]
    #[doc = " `shapes[i]`."]
    #[doc = ""]
    #[doc = " As maxModelExecute. The arrays are borrowed until the call returns, so it waits until the work is done, on a created"]
    #[doc = " stream after all that is queued there. Outputs never share the caller's memory. Thread-safe."]
    #[doc = ""]
    #[doc = " - `data`: Dense, first element first; NULL for an input without elements. What is not aligned for its type is"]
    #[doc = "   copied first."]
    #[doc = " - `shapes`: NULL entries are allowed where the rank is 0."]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `outOutputs`: Room for one buffer per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: As maxModelExecute; or an input holds strings, which have no bytes."]
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
    #[doc = " Runs the model with inputs and outputs by name: all inputs in any order, of the outputs those that are wanted, in the"]
    #[doc = " order of their names. The whole model runs all the same."]
    #[doc = ""]
    #[doc = " As maxModelExecute. Thread-safe."]
    #[doc = ""]
    #[doc = " - `inputNames`: `inputCount` of them, for the entries of `inputs`."]
    #[doc = " - `options`: NULL = defaults; `outputs` has an entry for each of `outputNames`."]
    #[doc = " - `outputNames`: `outputCount` of them, for the entries of `outOutputs`."]
    #[doc = " - `outOutputs`: Each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: The model has no input or output of a name; the message lists those there are."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: As maxModelExecute; or an input is missing, or a name is there twice."]
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
    #[doc = " runs it again without any look-up or allocation; the program changes the contents of the inputs in between."]
    #[doc = ""]
    #[doc = " The call runs at once, in the calling thread; on a created stream it waits for what is queued there. A key that is"]
    #[doc = " captured with the same inputs already is replayed, and gives the same outputs. Inputs and outputs are retained until"]
    #[doc = " maxModelForgetCaptured or the model's end. Thread-safe."]
    #[doc = ""]
    #[doc = " - `options`: NULL = defaults."]
    #[doc = " - `outOutputs`: Room for one buffer per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: There are no inputs, or as maxModelExecute."]
    #[doc = " - `MAX_STATUS_ALREADY_EXISTS`: The key was captured with other inputs."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: What the model does depends on values; the message names the node."]
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
    #[doc = " On a created stream the call returns once the work is queued. Weights and settings are those of the capture."]
    #[doc = " Thread-safe, but one replay of a key runs at a time."]
    #[doc = ""]
    #[doc = " - `inputs`: The buffers that were captured."]
    #[doc = " - `options`: NULL = defaults; `outputs` must be NULL."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: Nothing was captured with this key."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: An input is not the one that was captured."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: Another thread replays the key."]
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
    #[doc = " Runs the model as maxModelExecute does and compares the steps that ran with those that were captured. The captured"]
    #[doc = " outputs are left alone."]
    #[doc = ""]
    #[doc = " Waits until the work is done. Thread-safe."]
    #[doc = ""]
    #[doc = " - `inputs`: The buffers that were captured."]
    #[doc = " - `options`: NULL = defaults; `outputs` must be NULL."]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: Nothing was captured with this key."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: An input is not the one that was captured."]
    #[doc = " - `MAX_STATUS_FAILED_PRECONDITION`: The steps differ, for example since settings changed; the message names the"]
    #[doc = "   first that does. Or weights were replaced since."]
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
    #[doc = " Forgets a captured call. Replays that are queued still run."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " - `MAX_STATUS_NOT_FOUND`: Nothing was captured with this key."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelForgetCaptured(model: *const MaxModel, graphKey: u64) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets what the model holds in memory, by category. Weights that several models share count in each."]
    #[doc = ""]
    #[doc = " Thread-safe. maxDeviceTrim gives back what is kept for later calls."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModelGetMemory(model: *const MaxModel, outMemory: *mut MaxModelMemory) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Runs a model on values: for inputs and outputs that are sequences, optionals or maps, beside tensors."]
    #[doc = ""]
    #[doc = " As maxModelExecute; it waits inside the call. An optional input takes what it would hold, too."]
    #[doc = ""]
    #[doc = " - `inputs`: One value per input, in the model's order."]
    #[doc = " - `options`: NULL = defaults. Given output buffers are for outputs that are tensors."]
    #[doc = " - `outOutputs`: Room for one value per output; each is a new reference. All NULL on failure."]
    #[doc = " - `MAX_STATUS_INVALID_ARGUMENT`: The number, type, shape, layout or device of an input or of a given output is"]
    #[doc = " wrong."]
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
    #[doc = " Gets what the model's file or graph held."]
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
    #[doc = " Thread-safe. Borrowed from the model; the text stays the same when weights are replaced."]
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
    #[doc = " Thread-safe. Objects that queued work still uses count until the work is done."]
    #[doc = ""]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxExperimentalGetLiveObjectCount(outCount: *mut i64) -> MaxStatus;
}
