// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

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
    #[doc = " Since 0.1."]
    pub fn maxDeviceRetain(device: *const MaxDevice);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe. Dropping the last reference to an accelerator waits for its work; from a host function it takes effect"]
    #[doc = " when the function has returned."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceRelease(device: *const MaxDevice);
}
unsafe extern "C" {
    #[doc = " Gets the API that programs the device: \"cpu\", \"cuda\" or \"hip\"."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the device."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetApi(device: *const MaxDevice, outApi: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the label of the device: \"cpu\" or \"gpu\"."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the device. Label and id together name the device: \"gpu:0\"."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetLabel(device: *const MaxDevice, outLabel: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the number of the device, from zero; always zero for the host."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceGetId(device: *const MaxDevice, outId: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the vendor's name for the device."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the device."]
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
    #[doc = " Since 0.1."]
    pub fn maxDeviceIsHost(device: *const MaxDevice, outIsHost: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether the library can run models and kernels on the device."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxDeviceIsCompatible(device: *const MaxDevice, outIsCompatible: *mut i32) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Tells whether the device can access the memory of another device directly."]
    #[doc = ""]
    #[doc = " Thread-safe."]
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
    #[doc = " Since 0.1."]
    pub fn maxVirtualDeviceGetArchitectureName(outName: *mut *const ::std::os::raw::c_char) -> MaxStatus;
}
