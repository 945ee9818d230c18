// SPDX-License-Identifier: Apache-2.0
//! What calls fail with.

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::ptr::{self, NonNull};

use max_sys as sys;

/// What a call of this crate gives: a value, or why there is none.
///
/// ```
/// fn count() -> max::Result<usize> {
///     max::Device::count("cpu")
/// }
/// assert_eq!(count()?, 1);
/// # Ok::<(), max::Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $raw:ident,)*) => {
        /// The kind of a failure; names and numbers are those of gRPC.
        ///
        /// ```
        /// use max::{Device, Status};
        /// assert_eq!(Device::new("abacus", None).unwrap_err().status(), Status::NotFound);
        /// ```
        #[non_exhaustive]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Status {
            $($(#[$doc])* $name = sys::MaxStatus::$raw.0 as isize,)*
        }

        impl Status {
            /// Of a number of the C API; those that are not known here are `Unknown`.
            pub(crate) fn of(status: sys::MaxStatus) -> Self {
                match status {
                    $(sys::MaxStatus::$raw => Self::$name,)*
                    _ => Self::Unknown,
                }
            }
        }
    };
}

statuses! {
    /// The caller cancelled the work.
    Cancelled = MAX_STATUS_CANCELLED,
    /// An error that fits no other kind.
    Unknown = MAX_STATUS_UNKNOWN,
    /// An argument is wrong, whatever the state of the system.
    InvalidArgument = MAX_STATUS_INVALID_ARGUMENT,
    /// A deadline passed before the work was done.
    DeadlineExceeded = MAX_STATUS_DEADLINE_EXCEEDED,
    /// A named thing (file, device, input) does not exist.
    NotFound = MAX_STATUS_NOT_FOUND,
    /// A thing that was to be created exists already.
    AlreadyExists = MAX_STATUS_ALREADY_EXISTS,
    /// The operating system or the caller's settings forbid it.
    PermissionDenied = MAX_STATUS_PERMISSION_DENIED,
    /// Memory or another resource has run out; smaller requests may work.
    ResourceExhausted = MAX_STATUS_RESOURCE_EXHAUSTED,
    /// The object is not in the state that the call needs.
    FailedPrecondition = MAX_STATUS_FAILED_PRECONDITION,
    /// The work was given up because of a conflict; it may be tried again.
    Aborted = MAX_STATUS_ABORTED,
    /// An index or range lies outside its object.
    OutOfRange = MAX_STATUS_OUT_OF_RANGE,
    /// This build, version or device does not support it.
    Unimplemented = MAX_STATUS_UNIMPLEMENTED,
    /// An error of the library itself; please report it.
    Internal = MAX_STATUS_INTERNAL,
    /// A driver, compiler or device is not there.
    Unavailable = MAX_STATUS_UNAVAILABLE,
    /// A file is damaged or truncated.
    DataLoss = MAX_STATUS_DATA_LOSS,
}

impl Status {
    /// The name of the kind, for example `"INVALID_ARGUMENT"`.
    ///
    /// ```
    /// assert_eq!(max::Status::InvalidArgument.name(), "INVALID_ARGUMENT");
    /// ```
    pub fn name(self) -> &'static str {
        // SAFETY: any number is allowed, and the text is static.
        unsafe { CStr::from_ptr(sys::maxStatusGetName(sys::MaxStatus(self as i32))) }.to_str().unwrap_or("UNKNOWN")
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Why a call failed: a status and a message, whose first line names the offending values.
///
/// ```
/// use max::{Buffer, DType, Status};
/// let error = Buffer::zeros(DType::FLOAT32, &[2, 3])?.reshape(&[4]).unwrap_err();
/// assert_eq!(error.status(), Status::InvalidArgument);
/// assert!(error.message().contains("[4]"), "{error}");
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Error {
    status: Status,
    message: Box<str>,
}

impl Error {
    /// An error with a status and a message.
    ///
    /// ```
    /// use max::{Error, Status};
    /// let error = Error::new(Status::NotFound, "There is no such word");
    /// assert_eq!(error.to_string(), "NOT_FOUND: There is no such word");
    /// ```
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into().into_boxed_str() }
    }

    /// The kind of the failure. See [`Error`].
    pub fn status(&self) -> Status {
        self.status
    }

    /// What was wrong: a line that names the offending values; a compiler's log may follow. See [`Error`].
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Of a call that has just failed in this thread. The one place that reads messages.
    #[cold]
    pub(crate) fn last(status: sys::MaxStatus) -> Self {
        // SAFETY: never null; borrowed until this thread's next failing call.
        let message = unsafe { CStr::from_ptr(sys::maxGetLastErrorMessage()) };
        Self::new(Status::of(status), message.to_string_lossy())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.status, self.message)
    }
}

impl std::error::Error for Error {}

/// The result of a call of the C API.
#[inline]
pub(crate) fn check(status: sys::MaxStatus) -> Result<()> {
    if status == sys::MaxStatus::MAX_STATUS_OK { Ok(()) } else { Err(Error::last(status)) }
}

/// What a call writes to its output pointer.
#[inline]
pub(crate) fn get<T: Copy>(initial: T, call: impl FnOnce(*mut T) -> sys::MaxStatus) -> Result<T> {
    let mut value = initial;
    check(call(&raw mut value))?;
    Ok(value)
}

/// The handle that a call writes to its output pointer.
#[inline]
pub(crate) fn get_handle<T>(call: impl FnOnce(*mut *mut T) -> sys::MaxStatus) -> Result<NonNull<T>> {
    let raw = get(ptr::null_mut(), call)?;
    NonNull::new(raw).ok_or_else(|| Error::new(Status::Internal, "A successful call returned no object"))
}

/// The text that a call points its output pointer at.
pub(crate) fn get_text(call: impl FnOnce(*mut *const c_char) -> sys::MaxStatus) -> Result<String> {
    let text = get(ptr::null(), call)?;
    // SAFETY: texts of the C API end with a NUL; they stay at least until the object changes, and so during this call.
    Ok(unsafe { text_of(text) }.unwrap_or_default())
}

/// A flag that a call writes.
pub(crate) fn get_flag(call: impl FnOnce(*mut i32) -> sys::MaxStatus) -> Result<bool> {
    Ok(get(0, call)? != 0)
}

/// A number of things that a call writes.
pub(crate) fn get_count(call: impl FnOnce(*mut i32) -> sys::MaxStatus) -> Result<usize> {
    Ok(usize::try_from(get(0, call)?).unwrap_or(0))
}

/// A copy of a text; nothing of a null pointer.
///
/// # Safety
/// The pointer is null or at a text with a NUL at its end.
pub(crate) unsafe fn text_of(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller promises.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A text as C takes it. One with a NUL in it is refused, since C would read a part of it.
pub(crate) fn c_text(text: impl AsRef<str>) -> Result<CString> {
    CString::new(text.as_ref()).map_err(|error| {
        let text = String::from_utf8_lossy(&error.clone().into_vec()).escape_default().to_string();
        let message = format!("Text \"{text}\" has a NUL byte at {}", error.nul_position());
        Error::new(Status::InvalidArgument, message)
    })
}

/// A path as C takes it.
pub(crate) fn c_path(path: &std::path::Path) -> Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).map_err(|error| {
        let message = format!("Path \"{}\" has a NUL byte at {}", path.display(), error.nul_position());
        Error::new(Status::InvalidArgument, message)
    })
}

/// A number of things as C counts them.
pub(crate) fn c_count(count: usize) -> Result<i32> {
    i32::try_from(count).map_err(|_| Error::new(Status::OutOfRange, format!("A count of {count} is too large")))
}

/// A time limit as C takes it: 0 = none.
pub(crate) fn c_timeout(timeout: Option<std::time::Duration>) -> i64 {
    timeout.map_or(0, |it| i64::try_from(it.as_nanos()).unwrap_or(i64::MAX).max(1))
}

/// Several texts as C takes them. What it points at lives as long as this.
pub(crate) struct CTexts {
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl CTexts {
    pub(crate) fn new<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self> {
        let texts = texts.into_iter().map(c_text).collect::<Result<Vec<_>>>()?;
        let pointers = texts.iter().map(|text| text.as_ptr()).collect();
        Ok(Self { _texts: texts, pointers })
    }

    /// Null if there are none.
    pub(crate) fn as_ptr(&self) -> *const *const c_char {
        if self.pointers.is_empty() { ptr::null() } else { self.pointers.as_ptr() }
    }

    pub(crate) fn count(&self) -> Result<i32> {
        c_count(self.pointers.len())
    }
}
