// SPDX-License-Identifier: Apache-2.0
//! The library's log messages: passed to functions of the program, or dropped.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use max_sys as sys;

use crate::error::{Result, check, get, text_of};

/// How important a message is.
///
/// ```
/// use max::log::Level;
/// assert!(Level::Trace < Level::Warning);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// As a session's level: the default, `Info`. As a listener's: all messages. No message has it.
    NotSet = sys::MaxLogLevel::MAX_LOG_LEVEL_NOTSET.0 as isize,
    /// Every pass of the compiler and every plan.
    Trace = sys::MaxLogLevel::MAX_LOG_LEVEL_TRACE.0 as isize,
    /// What was chosen and why.
    Debug = sys::MaxLogLevel::MAX_LOG_LEVEL_DEBUG.0 as isize,
    /// Loads, and what else happens seldom.
    Info = sys::MaxLogLevel::MAX_LOG_LEVEL_INFO.0 as isize,
    /// What works, but not as the program may expect.
    Warning = sys::MaxLogLevel::MAX_LOG_LEVEL_WARNING.0 as isize,
    /// Loads that fail.
    Error = sys::MaxLogLevel::MAX_LOG_LEVEL_ERROR.0 as isize,
    /// Nothing at all at present.
    Critical = sys::MaxLogLevel::MAX_LOG_LEVEL_CRITICAL.0 as isize,
}

impl Level {
    pub(crate) fn raw(self) -> sys::MaxLogLevel {
        sys::MaxLogLevel(self as i32)
    }

    /// The next less important level that has a name here.
    pub(crate) fn of(level: sys::MaxLogLevel) -> Self {
        let all = [Self::Critical, Self::Error, Self::Warning, Self::Info, Self::Debug, Self::Trace];
        all.into_iter().find(|it| *it as i32 <= level.0).unwrap_or(Self::NotSet)
    }
}

/// A function that listens, until this value is dropped.
///
/// ```
/// let listener = max::log::listen(max::log::Level::Info, |_, _| {})?;
/// listener.leak(); // until the process ends
/// # Ok::<(), max::Error>(())
/// ```
#[must_use = "dropping it ends the listening"]
pub struct Listener {
    token: sys::MaxLogToken,
    function: *mut Function,
}

type Function = Box<dyn Fn(Level, &str) + Send + Sync>;

// SAFETY: the function is both, and tokens belong to no thread.
unsafe impl Send for Listener {}
// SAFETY: as above.
unsafe impl Sync for Listener {}

thread_local! {
    /// How many functions of this binding run in this thread, one within another.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}

/// Has a function called for each message of at least a level, from any thread, from several at the same time.
///
/// It may call this crate; what the library has to say meanwhile is dropped. A panic ends in the function.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use max::{Session, log};
/// let lines = Arc::new(Mutex::new(Vec::new()));
/// let heard = lines.clone();
/// let listener = log::listen(log::Level::Info, move |_, message| heard.lock().unwrap().push(message.to_string()))?;
/// Session::new()?.load("../../../examples/digits/digits.onnx")?;
/// assert!(lines.lock().unwrap().iter().any(|line| line.contains("digits")));
/// # Ok::<(), max::Error>(())
/// ```
pub fn listen(level: Level, function: impl Fn(Level, &str) + Send + Sync + 'static) -> Result<Listener> {
    let function: *mut Function = Box::into_raw(Box::new(Box::new(function)));
    // SAFETY: the function stays until it is removed.
    let token = get(0, |out| unsafe { sys::maxLogAddCallback(Some(call), function.cast(), level.raw(), out) });
    match token {
        Ok(token) => Ok(Listener { token, function }),
        Err(error) => {
            // SAFETY: the call failed, so nothing else has it.
            drop(unsafe { Box::from_raw(function) });
            Err(error)
        }
    }
}

/// Hands all messages to the crate `tracing`, with the target `max`, until the result is dropped.
///
/// ```
/// let listener = max::log::forward_to_tracing(max::log::Level::Warning)?;
/// # Ok::<(), max::Error>(())
/// ```
#[cfg(feature = "tracing")]
pub fn forward_to_tracing(level: Level) -> Result<Listener> {
    listen(level, |level, message| match level {
        Level::NotSet | Level::Trace => tracing::trace!(target: "max", "{message}"),
        Level::Debug => tracing::debug!(target: "max", "{message}"),
        Level::Info => tracing::info!(target: "max", "{message}"),
        Level::Warning => tracing::warn!(target: "max", "{message}"),
        Level::Error | Level::Critical => tracing::error!(target: "max", "{message}"),
    })
}

impl Listener {
    /// Lets the function listen until the process ends. See [`Listener`].
    pub fn leak(self) {
        std::mem::forget(self);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // SAFETY: the token is this listener's.
        let removed = check(unsafe { sys::maxLogRemoveCallback(self.token) });
        // From within a function for messages the call does not wait, so that this one may still run somewhere: it stays.
        if removed.is_ok() && RUNNING.get() == 0 {
            // SAFETY: the function is not running any more and will not be called again.
            drop(unsafe { Box::from_raw(self.function) });
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Listener({})", self.token)
    }
}

unsafe extern "C" fn call(data: *mut c_void, level: sys::MaxLogLevel, message: *const c_char) {
    RUNNING.set(RUNNING.get() + 1);
    // SAFETY: a text with a NUL at its end; the function stays until it is removed.
    let (message, function) = unsafe { (text_of(message).unwrap_or_default(), &*data.cast::<Function>()) };
    // Nothing may unwind into C.
    _ = catch_unwind(AssertUnwindSafe(|| function(Level::of(level), &message)));
    RUNNING.set(RUNNING.get() - 1);
}
