// SPDX-License-Identifier: Apache-2.0
//! Host memory that stays resident, for fast transfers to and from a device.

use std::ffi::c_void;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::slice;

use max_sys as sys;

use crate::device::Device;
use crate::error::{Result, get};

/// Page-locked bytes, zero at first. Buffers have such memory with [`BufferOptions::pinned`](crate::BufferOptions::pinned).
///
/// ```
/// use max::{Device, HostMemory};
/// let device = Device::cpu()?;
/// let mut memory = HostMemory::new(&device, 4096)?;
/// memory[7] = 1;
/// assert_eq!(memory.iter().sum::<u8>(), 1);
/// assert_eq!(memory.device(), &device);
/// # Ok::<(), max::Error>(())
/// ```
pub struct HostMemory {
    device: Device,
    data: NonNull<u8>,
    len: usize,
}

// SAFETY: bytes that this value owns, and a device, which may be shared.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Allocates bytes for transfers to and from a device. See [`HostMemory`].
    pub fn new(device: &Device, len: usize) -> Result<Self> {
        let none: *mut c_void = ptr::null_mut();
        // SAFETY: the handle is alive, the pointer lives through the call.
        let data = get(none, |out| unsafe { sys::maxHostAllocate(device.as_raw(), len, out) })?;
        let data = NonNull::new(data.cast::<u8>()).unwrap_or(NonNull::dangling());
        // SAFETY: so many bytes, with no other owner.
        unsafe { data.as_ptr().write_bytes(0, len) };
        Ok(Self { device: device.clone(), data, len })
    }

    /// The device that the memory was allocated for. See [`HostMemory`].
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl Deref for HostMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: initialised bytes that this value owns.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl DerefMut for HostMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: allocated with this device; work borrows such memory in scopes only, which are over. An error can only be
        // that the pointer is another, so there is nothing to tell.
        _ = unsafe { sys::maxHostFree(self.device.as_raw(), self.data.as_ptr().cast()) };
    }
}

impl fmt::Debug for HostMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HostMemory({} bytes for {})", self.len, self.device)
    }
}
