// SPDX-License-Identifier: Apache-2.0
// Made of include/max by tools/make_rust.py; not to be edited.

use super::*;

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
    #[doc = " Since 0.1."]
    pub fn maxModuleRetain(module: *const MaxModule);
}
unsafe extern "C" {
    #[doc = " Drops a reference; NULL is allowed. Queued launches keep what they need."]
    #[doc = ""]
    #[doc = " Thread-safe."]
    #[doc = ""]
    #[doc = " Since 0.1."]
    pub fn maxModuleRelease(module: *const MaxModule);
}
unsafe extern "C" {
    #[doc = " Gets the device that the module was created for."]
    #[doc = ""]
    #[doc = " Thread-safe. Borrowed from the module."]
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
