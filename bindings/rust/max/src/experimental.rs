// SPDX-License-Identifier: Apache-2.0
//! Functions without a promise: they may change or vanish in any release.

use max_sys as sys;

use crate::error::{Result, get};

/// Counts the objects of this process that have not been released. Those that queued work uses count until it is done.
///
/// ```
/// let before = max::experimental::live_object_count()?;
/// let session = max::Session::new()?;
/// assert!(max::experimental::live_object_count()? > before);
/// # Ok::<(), max::Error>(())
/// ```
pub fn live_object_count() -> Result<i64> {
    // SAFETY: the pointer lives through the call.
    get(0, |out| unsafe { sys::maxExperimentalGetLiveObjectCount(out) })
}
