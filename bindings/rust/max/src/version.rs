// SPDX-License-Identifier: Apache-2.0
//! Versions of these bindings and of the library that the program has found.

use std::ffi::CStr;

use max_sys as sys;

/// The version of the loaded library.
///
/// ```
/// assert_eq!(max::version(), env!("CARGO_PKG_VERSION"));
/// ```
pub fn version() -> &'static str {
    // SAFETY: the text is static.
    unsafe { CStr::from_ptr(sys::maxGetVersion()) }.to_str().unwrap_or("")
}

/// The number in the library's file name. A program runs with any later library of the same number.
///
/// ```
/// assert_eq!(max::abi_version(), 0);
/// ```
pub fn abi_version() -> i32 {
    // SAFETY: it takes nothing.
    unsafe { sys::maxGetAbiVersion() }
}
