// SPDX-License-Identifier: Apache-2.0
//! Extensions: libraries with operators for models and graphs.

use std::path::Path;

use max_sys as sys;

use crate::error::{Result, c_path, check};

/// Loads a shared library with operators, or a kernel source (`.cu`, `.hip`) whose comments declare them. All models loaded
/// and graphs built from now on may use them, until the process ends.
///
/// ```
/// // SAFETY: there is no such file, so that no code of it runs.
/// let error = unsafe { max::extension::load("missing.so") }.unwrap_err();
/// assert_eq!(error.status(), max::Status::NotFound);
/// ```
///
/// # Safety
/// The file's code runs in this process: it must be sound, and made for the interface that its table names.
pub unsafe fn load(path: impl AsRef<Path>) -> Result<()> {
    let path = c_path(path.as_ref())?;
    // SAFETY: as the caller promises.
    check(unsafe { sys::maxExtensionLoad(path.as_ptr()) })
}
