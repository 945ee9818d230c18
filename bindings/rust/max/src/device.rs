// SPDX-License-Identifier: Apache-2.0
//! Devices: the host and accelerators.

use std::fmt;
use std::ptr;
use std::time::Duration;

use max_sys as sys;

use crate::error::{Result, c_text, c_timeout, check, get, get_count, get_flag, get_handle, get_text};
use crate::handle::{handle, options};
use crate::stream::Stream;

handle!(sync
    /// A device: the host or an accelerator.
    ///
    /// ```
    /// use max::Device;
    /// let device = Device::cpu()?;
    /// assert!(device.is_host()?);
    /// assert_eq!(device.to_string(), "cpu:0");
    /// assert_eq!(device, Device::new("cpu", None)?); // the same device while a handle to it lives
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Device: MaxDevice, maxDeviceRetain, maxDeviceRelease
);

/// Options of [`Device::with_options`]. Only those of the first handle count; later handles share the device.
///
/// ```
/// use max::{Device, DeviceOptions};
/// let options = DeviceOptions::new().memory_limit(1 << 30).buffer_cache_size(1 << 20);
/// let device = Device::with_options("cpu", None, &options)?;
/// # Ok::<(), max::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct DeviceOptions {
    memory_limit: u64,
    buffer_cache_size: u64,
}

impl DeviceOptions {
    /// The defaults. See [`DeviceOptions`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Most bytes of device memory that may be in use. See [`DeviceOptions`].
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Bytes of device memory to take in advance; accelerators only. See [`DeviceOptions`].
    pub fn buffer_cache_size(mut self, bytes: u64) -> Self {
        self.buffer_cache_size = bytes;
        self
    }
}

/// Free and total memory of a device, in bytes.
///
/// ```
/// let memory = max::Device::cpu()?.memory_info()?;
/// assert!(memory.free <= memory.total);
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that can still be allocated.
    pub free: u64,
    /// Bytes there are.
    pub total: u64,
}

/// A report on a device; what is not known is `None`.
///
/// ```
/// let stats = max::Device::cpu()?.stats()?;
/// println!("{:?} bytes in buffers", stats.allocated_memory);
/// # Ok::<(), max::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceStats {
    /// Bytes that can still be allocated, the limits of control groups included.
    pub free_memory: Option<u64>,
    /// Bytes of memory the device has, or that a control group grants.
    pub total_memory: Option<u64>,
    /// Bytes in buffers of this library on the device.
    pub allocated_memory: Option<u64>,
    /// Largest value that `allocated_memory` has had.
    pub peak_allocated_memory: Option<u64>,
    /// Most bytes that buffers may take.
    pub memory_limit: Option<u64>,
    /// Bytes of memory that this process occupies on the device.
    pub process_memory: Option<u64>,
    /// Busy time of the device in percent.
    pub utilization: Option<u32>,
    /// Temperature in degrees Celsius.
    pub temperature: Option<i32>,
    /// Power in milliwatts.
    pub power: Option<u64>,
}

macro_rules! attributes {
    ($($(#[$doc:meta])* $name:ident = $raw:ident,)*) => {
        /// A number that describes a device.
        ///
        /// ```
        /// use max::{Device, DeviceAttribute};
        /// assert!(Device::cpu()?.attribute(DeviceAttribute::MultiprocessorCount)? > 0);
        /// # Ok::<(), max::Error>(())
        /// ```
        #[non_exhaustive]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum DeviceAttribute {
            $($(#[$doc])* $name = sys::MaxDeviceAttribute::$raw.0 as isize,)*
        }
    };
}

attributes! {
    /// Most threads in a block.
    MaxThreadsPerBlock = MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    /// Largest x dimension of a block.
    MaxBlockDimX = MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
    /// Largest y dimension of a block.
    MaxBlockDimY = MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
    /// Largest z dimension of a block.
    MaxBlockDimZ = MAX_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
    /// Largest x dimension of a grid.
    MaxGridDimX = MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
    /// Largest y dimension of a grid.
    MaxGridDimY = MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
    /// Largest z dimension of a grid.
    MaxGridDimZ = MAX_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
    /// Bytes of shared memory a block may have.
    MaxSharedMemoryPerBlock = MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
    /// Threads in a warp.
    WarpSize = MAX_DEVICE_ATTRIBUTE_WARP_SIZE,
    /// Registers a block may have.
    MaxRegistersPerBlock = MAX_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
    /// Highest clock frequency in kilohertz.
    ClockRate = MAX_DEVICE_ATTRIBUTE_CLOCK_RATE,
    /// Multiprocessors; on the host, processors this process may use.
    MultiprocessorCount = MAX_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
    /// Whether the device shares the host's memory: 0 or 1.
    Integrated = MAX_DEVICE_ATTRIBUTE_INTEGRATED,
    /// Bytes of the last-level cache.
    L2CacheSize = MAX_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
    /// Most threads on a multiprocessor.
    MaxThreadsPerMultiprocessor = MAX_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
    /// Major number of the compute capability.
    ComputeCapabilityMajor = MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
    /// Minor number of the compute capability.
    ComputeCapabilityMinor = MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    /// Bytes of shared memory on a multiprocessor.
    MaxSharedMemoryPerMultiprocessor = MAX_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
}

impl Device {
    /// The host. See [`Device`].
    pub fn cpu() -> Result<Self> {
        Self::new("cpu", None)
    }

    /// An accelerator of whichever API there is; `Unavailable` if there is none.
    ///
    /// ```
    /// use max::{Device, Status};
    /// match Device::accelerator(0) {
    ///     Ok(device) => println!("{}", device.name()?),
    ///     Err(error) => assert_eq!(error.status(), Status::Unavailable),
    /// }
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn accelerator(id: usize) -> Result<Self> {
        Self::new("gpu", Some(id))
    }

    /// A device of an API: `"cpu"`, `"cuda"`, `"hip"`, or `"gpu"` for the accelerators present; `None` is the first one.
    /// See [`Device`].
    pub fn new(api: &str, id: Option<usize>) -> Result<Self> {
        Self::with_options(api, id, &DeviceOptions::default())
    }

    /// As [`Device::new`], with options. See [`DeviceOptions`].
    pub fn with_options(api: &str, id: Option<usize>, options: &DeviceOptions) -> Result<Self> {
        let api = c_text(api)?;
        let id = id.map_or(-1, |id| i32::try_from(id).unwrap_or(i32::MAX));
        let options = options!(MaxDeviceOptions {
            memoryLimit: options.memory_limit,
            bufferCacheSize: options.buffer_cache_size,
        });
        // SAFETY: all pointers live through the call.
        get_handle(|out| unsafe { sys::maxDeviceCreate(api.as_ptr(), id, &raw const options, out) }).map(Self::owned)
    }

    /// Counts the devices of an API.
    ///
    /// ```
    /// use max::Device;
    /// assert_eq!(Device::count("cpu")?, 1);
    /// println!("{} accelerators", Device::count("gpu")?);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn count(api: &str) -> Result<usize> {
        let api = c_text(api)?;
        // SAFETY: both pointers live through the call.
        get_count(|out| unsafe { sys::maxDeviceGetCount(api.as_ptr(), out) })
    }

    /// Labels and ids of all accelerators, or of the host if there are none: `[("cpu", 0)]`.
    ///
    /// ```
    /// for (label, id) in max::Device::scan()? {
    ///     println!("{label}:{id}");
    /// }
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn scan() -> Result<Vec<(String, usize)>> {
        // SAFETY: the pointer lives through the call.
        let count = get(0, |out| unsafe { sys::maxDeviceScan(out) })?;
        (0..count)
            .map(|index| {
                let mut id = 0;
                // SAFETY: all pointers live through the call.
                let label = get_text(|out| unsafe { sys::maxDeviceGetScanned(index, out, &raw mut id) })?;
                Ok((label, usize::try_from(id).unwrap_or(0)))
            })
            .collect()
    }

    /// The API of the first accelerator: `"cuda"` or `"hip"`.
    ///
    /// ```
    /// use max::Device;
    /// if Device::count("gpu")? > 0 {
    ///     println!("{} {}", Device::accelerator_api()?, Device::accelerator_architecture_name()?);
    /// }
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn accelerator_api() -> Result<String> {
        // SAFETY: the pointer lives through the call.
        get_text(|out| unsafe { sys::maxAcceleratorGetApi(out) })
    }

    /// The architecture of the first accelerator, for example `"sm_90"`. See [`Device::accelerator_api`].
    pub fn accelerator_architecture_name() -> Result<String> {
        // SAFETY: the pointer lives through the call.
        get_text(|out| unsafe { sys::maxAcceleratorGetArchitectureName(out) })
    }

    /// The API that programs the device: `"cpu"`, `"cuda"` or `"hip"`.
    ///
    /// ```
    /// let device = max::Device::cpu()?;
    /// assert_eq!((device.api()?, device.label()?, device.id()?), ("cpu".to_string(), "cpu".to_string(), 0));
    /// println!("{}, driver {}", device.name()?, device.driver_version()?);
    /// assert!(device.is_compatible()?);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn api(&self) -> Result<String> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_text(|out| unsafe { sys::maxDeviceGetApi(self.as_raw(), out) })
    }

    /// The label of the device: `"cpu"` or `"gpu"`. See [`Device::api`].
    pub fn label(&self) -> Result<String> {
        // SAFETY: as above.
        get_text(|out| unsafe { sys::maxDeviceGetLabel(self.as_raw(), out) })
    }

    /// The number of the device, from zero; always zero for the host. See [`Device::api`].
    pub fn id(&self) -> Result<usize> {
        // SAFETY: as above.
        get_count(|out| unsafe { sys::maxDeviceGetId(self.as_raw(), out) })
    }

    /// The name that the maker gave the device. See [`Device::api`].
    pub fn name(&self) -> Result<String> {
        // SAFETY: as above.
        get_text(|out| unsafe { sys::maxDeviceGetName(self.as_raw(), out) })
    }

    /// The architecture of an accelerator, for example `"sm_90"` or `"gfx942"`; the host has none: `Unimplemented`.
    ///
    /// ```
    /// use max::{Device, Status};
    /// assert_eq!(Device::cpu()?.architecture_name().unwrap_err().status(), Status::Unimplemented);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn architecture_name(&self) -> Result<String> {
        // SAFETY: as above.
        get_text(|out| unsafe { sys::maxDeviceGetArchitectureName(self.as_raw(), out) })
    }

    /// Whether the device is the host. See [`Device`].
    pub fn is_host(&self) -> Result<bool> {
        // SAFETY: as above.
        get_flag(|out| unsafe { sys::maxDeviceIsHost(self.as_raw(), out) })
    }

    /// Whether the library can run models and kernels on the device. See [`Device::api`].
    pub fn is_compatible(&self) -> Result<bool> {
        // SAFETY: as above.
        get_flag(|out| unsafe { sys::maxDeviceIsCompatible(self.as_raw(), out) })
    }

    /// Whether the device can reach the memory of another one directly.
    ///
    /// ```
    /// use max::Device;
    /// let devices = (0..Device::count("gpu")?).map(Device::accelerator).collect::<max::Result<Vec<_>>>()?;
    /// if let [a, b, ..] = &devices[..] {
    ///     if a.can_access(b)? {
    ///         a.enable_peer_access(b)?;
    ///     }
    /// }
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn can_access(&self, peer: &Device) -> Result<bool> {
        // SAFETY: as above.
        get_flag(|out| unsafe { sys::maxDeviceCanAccess(self.as_raw(), peer.as_raw(), out) })
    }

    /// Lets the device reach the memory of another one directly. See [`Device::can_access`].
    pub fn enable_peer_access(&self, peer: &Device) -> Result<()> {
        // SAFETY: both handles are alive.
        check(unsafe { sys::maxDeviceEnablePeerAccess(self.as_raw(), peer.as_raw()) })
    }

    /// The default stream of the device. On the host, work on it runs at once, in the calling thread.
    ///
    /// ```
    /// use std::time::Duration;
    /// use max::Device;
    /// let device = Device::cpu()?;
    /// assert!(device.default_stream()?.is_default()?);
    /// device.synchronize(Some(Duration::from_secs(60)))?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn default_stream(&self) -> Result<Stream> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxDeviceGetDefaultStream(self.as_raw(), out) }).map(Stream::borrowed)
    }

    /// Waits until all work on all streams of the device is done. A failure of earlier work is returned once.
    /// See [`Device::default_stream`].
    ///
    /// After the timeout, if there is one, it gives up with `DeadlineExceeded`, and nothing else has happened.
    pub fn synchronize(&self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxDeviceSynchronize(self.as_raw(), c_timeout(timeout)) })
    }

    /// Free and total memory; on the host, within the limits of control groups. See [`MemoryInfo`].
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        let mut total = 0;
        // SAFETY: the handle is alive, the pointers live through the call.
        let free = get(0, |out| unsafe { sys::maxDeviceGetMemoryInfo(self.as_raw(), out, &raw mut total) })?;
        Ok(MemoryInfo { free, total })
    }

    /// Memory, use and temperature, as far as they are known. See [`DeviceStats`].
    pub fn stats(&self) -> Result<DeviceStats> {
        use sys::MaxDeviceStatsMask as Mask;
        let initial = options!(MaxDeviceStats {});
        // SAFETY: the handle is alive, the structure knows its size.
        let stats = get(initial, |out| unsafe { sys::maxDeviceGetStats(self.as_raw(), out) })?;
        let is = |mask: Mask| stats.validMask & mask == mask;
        Ok(DeviceStats {
            free_memory: is(Mask::MAX_DEVICE_STATS_FREE_MEMORY).then_some(stats.freeMemory),
            total_memory: is(Mask::MAX_DEVICE_STATS_TOTAL_MEMORY).then_some(stats.totalMemory),
            allocated_memory: is(Mask::MAX_DEVICE_STATS_ALLOCATED_MEMORY).then_some(stats.allocatedMemory),
            peak_allocated_memory: is(Mask::MAX_DEVICE_STATS_PEAK_ALLOCATED_MEMORY)
                .then_some(stats.peakAllocatedMemory),
            memory_limit: is(Mask::MAX_DEVICE_STATS_MEMORY_LIMIT).then_some(stats.memoryLimit),
            process_memory: is(Mask::MAX_DEVICE_STATS_PROCESS_MEMORY).then_some(stats.processMemory),
            utilization: is(Mask::MAX_DEVICE_STATS_UTILIZATION).then_some(stats.utilization),
            temperature: is(Mask::MAX_DEVICE_STATS_TEMPERATURE).then_some(stats.temperature),
            power: is(Mask::MAX_DEVICE_STATS_POWER).then_some(stats.power),
        })
    }

    /// A number that describes the device; `Unimplemented` if it has none such. See [`DeviceAttribute`].
    pub fn attribute(&self, attribute: DeviceAttribute) -> Result<i64> {
        let attribute = sys::MaxDeviceAttribute(attribute as i32);
        // SAFETY: the handle is alive, the pointer lives through the call.
        get(0, |out| unsafe { sys::maxDeviceGetAttribute(self.as_raw(), attribute, out) })
    }

    /// The version of the driver as 1000 * major + 10 * minor; on the host, of the operating system's kernel.
    /// See [`Device::api`].
    pub fn driver_version(&self) -> Result<i64> {
        // SAFETY: as above.
        get(0, |out| unsafe { sys::maxDeviceGetDriverVersion(self.as_raw(), out) })
    }

    /// Gives unused memory back that the library keeps for later on the device.
    ///
    /// ```
    /// use max::{Buffer, DType, Device};
    /// drop(Buffer::zeros(DType::UINT8, &[1 << 20])?);
    /// Device::cpu()?.trim()?; // the memory goes back to the system
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn trim(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxDeviceTrim(self.as_raw()) })
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.as_raw(), other.as_raw())
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (label, id) = (self.label().map_err(|_| fmt::Error)?, self.id().map_err(|_| fmt::Error)?);
        write!(formatter, "{label}:{id}")
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Device({self})")
    }
}

/// Accelerators that are not there, declared to compile for them.
///
/// ```
/// use max::{Device, device::virtual_devices};
/// # let _alone = ();
/// virtual_devices::set_api("cuda")?;
/// virtual_devices::set_architecture_name("sm_90")?;
/// virtual_devices::set_count(1)?;
/// assert_eq!((virtual_devices::count()?, virtual_devices::api()?), (1, "cuda".to_string()));
/// assert_eq!(Device::accelerator(0)?.architecture_name()?, virtual_devices::architecture_name()?);
/// virtual_devices::set_count(0)?;
/// # Ok::<(), max::Error>(())
/// ```
pub mod virtual_devices {
    use super::{Result, c_text, check, get_count, get_text, sys};

    /// Declares so many devices for the whole process; 0 ends it.
    /// See [`virtual_devices`](crate::device::virtual_devices).
    pub fn set_count(count: usize) -> Result<()> {
        // SAFETY: a number.
        check(unsafe { sys::maxVirtualDeviceSetCount(i32::try_from(count).unwrap_or(i32::MAX)) })
    }

    /// The number of virtual devices. See [`virtual_devices`](crate::device::virtual_devices).
    pub fn count() -> Result<usize> {
        // SAFETY: the pointer lives through the call.
        get_count(|out| unsafe { sys::maxVirtualDeviceGetCount(out) })
    }

    /// Sets their API: `"cuda"` or `"hip"`. See [`virtual_devices`](crate::device::virtual_devices).
    pub fn set_api(api: &str) -> Result<()> {
        let api = c_text(api)?;
        // SAFETY: the pointer lives through the call.
        check(unsafe { sys::maxVirtualDeviceSetApi(api.as_ptr()) })
    }

    /// Their API. See [`virtual_devices`](crate::device::virtual_devices).
    pub fn api() -> Result<String> {
        // SAFETY: the pointer lives through the call.
        get_text(|out| unsafe { sys::maxVirtualDeviceGetApi(out) })
    }

    /// Sets their architecture, for example `"sm_90"`. See [`virtual_devices`](crate::device::virtual_devices).
    pub fn set_architecture_name(name: &str) -> Result<()> {
        let name = c_text(name)?;
        // SAFETY: the pointer lives through the call.
        check(unsafe { sys::maxVirtualDeviceSetArchitectureName(name.as_ptr()) })
    }

    /// Their architecture; empty unless set. See [`virtual_devices`](crate::device::virtual_devices).
    pub fn architecture_name() -> Result<String> {
        // SAFETY: the pointer lives through the call.
        get_text(|out| unsafe { sys::maxVirtualDeviceGetArchitectureName(out) })
    }
}
