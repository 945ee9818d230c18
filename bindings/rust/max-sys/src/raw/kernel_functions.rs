// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

unsafe extern "C" {
    #[doc = " Adds a reference to the kernel's module; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelRetain(kernel: *const MaxKernel);
}
unsafe extern "C" {
    #[doc = " Drops a reference to the kernel's module; NULL is allowed."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelRelease(kernel: *const MaxKernel);
}
unsafe extern "C" {
    #[doc = " Gets the module of the kernel."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the kernel."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxKernelGetModule(kernel: *const MaxKernel, outModule: *mut *mut MaxModule) -> MaxStatus;
}
unsafe extern "C" {
    #[doc = " Gets the name of the kernel."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the kernel."]
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
