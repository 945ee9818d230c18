// SPDX-License-Identifier: Apache-2.0
//! Cancellations: how one thread stops what another one has asked for.

use std::fmt;

use max_sys as sys;

use crate::error::{Result, check, get_flag, get_handle};
use crate::handle::handle;

handle!(sync
    /// Stops loads and executions that were given it, those that run and those that begin later.
    ///
    /// ```
    /// use max::{Cancellation, LoadOptions, Session, Status};
    /// let cancellation = Cancellation::new()?;
    /// cancellation.cancel()?; // from whichever thread
    /// assert!(cancellation.is_cancelled()?);
    /// let options = LoadOptions::new().cancellation(&cancellation);
    /// let result = Session::new()?.load_with("../../../examples/digits/digits.onnx", options);
    /// assert_eq!(result.unwrap_err().status(), Status::Cancelled);
    /// cancellation.reset()?; // later calls run again
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Cancellation: MaxCancellation, maxCancellationRetain, maxCancellationRelease
);

impl Cancellation {
    /// One that is not cancelled. See [`Cancellation`].
    pub fn new() -> Result<Self> {
        // SAFETY: the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxCancellationCreate(out) }).map(Self::owned)
    }

    /// Stops all calls that were given it. They return when they notice, within milliseconds. See [`Cancellation`].
    pub fn cancel(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxCancellationCancel(self.as_raw()) })
    }

    /// Lets calls that begin from now on run again. See [`Cancellation`].
    pub fn reset(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxCancellationReset(self.as_raw()) })
    }

    /// Whether it is cancelled. See [`Cancellation`].
    pub fn is_cancelled(&self) -> Result<bool> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_flag(|out| unsafe { sys::maxCancellationIsCancelled(self.as_raw(), out) })
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Cancellation({:p})", self.as_raw())
    }
}
