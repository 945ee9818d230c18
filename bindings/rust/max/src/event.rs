// SPDX-License-Identifier: Apache-2.0
//! Events: marks in streams that can be waited for and timed.

use std::fmt;
use std::time::Duration;

use max_sys as sys;

use crate::device::Device;
use crate::error::{Result, c_timeout, check, get, get_flag, get_handle};
use crate::handle::{handle, options};

handle!(sync
    /// A mark in a stream, done when all work before it is done. One that was never recorded counts as done.
    ///
    /// ```
    /// use max::{Device, Event, Stream};
    /// let device = Device::cpu()?;
    /// let (stream, start, end) = (Stream::new(&device)?, Event::with_timing(&device)?, Event::with_timing(&device)?);
    /// stream.record(&start)?;
    /// stream.record(&end)?;
    /// end.synchronize(None)?;
    /// assert!(end.is_ready()?);
    /// assert!(end.nanoseconds_since(&start)? >= 0);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Event: MaxEvent, maxEventRetain, maxEventRelease
);

impl Event {
    /// An event for streams of a device.
    ///
    /// ```
    /// use max::{Device, Event, Stream};
    /// let device = Device::cpu()?;
    /// let (first, second, event) = (Stream::new(&device)?, Stream::new(&device)?, Event::new(&device)?);
    /// first.record(&event)?;
    /// second.wait_for_event(&event)?;
    /// assert_eq!(event.device()?, device);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn new(device: &Device) -> Result<Self> {
        Self::make(device, false)
    }

    /// An event that remembers the time. See [`Event`].
    pub fn with_timing(device: &Device) -> Result<Self> {
        Self::make(device, true)
    }

    fn make(device: &Device, timing: bool) -> Result<Self> {
        let options = options!(MaxEventOptions { timing: i32::from(timing) });
        // SAFETY: the handle is alive, the pointers live through the call.
        get_handle(|out| unsafe { sys::maxEventCreate(device.as_raw(), &raw const options, out) }).map(Self::owned)
    }

    /// The device that the event was made for. See [`Event::new`].
    pub fn device(&self) -> Result<Device> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxEventGetDevice(self.as_raw(), out) }).map(Device::borrowed)
    }

    /// Waits until the event's newest mark is done, or gives up with `DeadlineExceeded` after the timeout.
    /// See [`Event`].
    pub fn synchronize(&self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxEventSynchronize(self.as_raw(), c_timeout(timeout)) })
    }

    /// Whether the event's newest mark is done. See [`Event`].
    pub fn is_ready(&self) -> Result<bool> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_flag(|out| unsafe { sys::maxEventQuery(self.as_raw(), out) })
    }

    /// Nanoseconds from another event to this one, negative if this one was done first. Both have timing and are done.
    /// See [`Event`].
    pub fn nanoseconds_since(&self, start: &Event) -> Result<i64> {
        // SAFETY: as above.
        get(0, |out| unsafe { sys::maxEventGetElapsedTime(start.as_raw(), self.as_raw(), out) })
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Event({:p})", self.as_raw())
    }
}
