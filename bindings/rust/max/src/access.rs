// SPDX-License-Identifier: Apache-2.0
//! How slices of buffers are sound.
//!
//! A slice is a mapping of the C API: while it lives, the library refuses whatever would write the memory, or for a mutable
//! slice use it at all, by whichever handle. Work that is queued on streams is waited for. That leaves calls that are under
//! way in other threads and write at once, without a queue:
//!
//! - through the same handle there are none, since what writes takes `&mut Buffer`;
//! - through other handles of the memory (clones, views) there may be, so buffers that share memory share an [`Access`],
//!   which counts them, and a slice waits until there are none. A buffer that shares nothing has no such object;
//! - a mutable slice asks for exclusive access, which the library grants only if nothing else holds the memory.
//!
//! Contents that the library relies on not to change, as those of weights, are frozen: nothing of this crate writes them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use max_sys as sys;

use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Error, Result, Status, check, get};

/// What buffers that share memory know of each other.
#[derive(Default)]
pub(crate) struct Access {
    writers: Mutex<Writers>,
    changed: Condvar,
    frozen: AtomicBool,
}

/// Calls that write the memory and are under way.
#[derive(Default)]
struct Writers {
    begun: u64,
    /// The number of each among all that have begun, and who it is.
    active: Vec<(u64, u64)>,
}

impl Access {
    fn writers(&self) -> MutexGuard<'_, Writers> {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin_write(&self, writer: u64) -> Result<()> {
        let mut writers = self.writers();
        self.require_writable()?;
        writers.begun += 1;
        let number = writers.begun;
        writers.active.push((number, writer));
        Ok(())
    }

    pub(crate) fn end_write(&self, writer: u64) {
        let mut writers = self.writers();
        if let Some(place) = writers.active.iter().position(|it| it.1 == writer) {
            writers.active.swap_remove(place);
        }
        drop(writers);
        self.changed.notify_all();
    }

    fn require_writable(&self) -> Result<()> {
        if !self.frozen.load(Ordering::Acquire) {
            return Ok(());
        }
        let message = "Buffer holds what a model or value was made of, and cannot be written any more";
        Err(Error::new(Status::FailedPrecondition, message))
    }

    /// Waits for calls that have begun. When the memory is mapped or frozen before, later ones are refused, and need not be
    /// waited for, however many come.
    fn await_writers(&self) {
        let writers = self.writers();
        let last = writers.begun;
        let are_there = |writers: &mut Writers| writers.active.iter().any(|it| it.0 <= last);
        drop(self.changed.wait_while(writers, are_there).unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn freeze(&self) {
        let writers = self.writers();
        self.frozen.store(true, Ordering::Release);
        drop(writers);
        self.await_writers();
    }
}

/// Elements of a buffer, to read: a slice. While it lives, whatever would write the memory is refused.
///
/// ```
/// use max::{Buffer, Status};
/// let buffer = Buffer::from_slice(&[1.0f32, 2.0], &[2])?;
/// let mut clone = buffer.clone();
/// let elements = buffer.as_slice::<f32>()?;
/// assert_eq!(elements.iter().sum::<f32>(), 3.0);
/// assert_eq!(clone.fill(0.0f32).unwrap_err().status(), Status::FailedPrecondition);
/// drop(elements);
/// clone.fill(0.0f32)?;
/// # Ok::<(), max::Error>(())
/// ```
///
/// The same handle cannot write meanwhile at all:
///
/// ```compile_fail,E0502
/// # use max::Buffer;
/// let mut buffer = Buffer::from_slice(&[1.0f32, 2.0], &[2])?;
/// let elements = buffer.as_slice::<f32>()?;
/// buffer.fill(0.0f32)?;
/// println!("{}", elements[0]);
/// # Ok::<(), max::Error>(())
/// ```
pub struct Elements<'a, T> {
    data: NonNull<T>,
    len: usize,
    /// A separate view, since a handle can be mapped only once at a time; none if there are no elements.
    view: Option<Buffer>,
    buffer: PhantomData<&'a Buffer>,
}

/// Elements of a buffer, to read and write: a mutable slice. Nothing else holds the memory while it lives.
///
/// ```
/// use max::{Buffer, DType, Status};
/// let mut buffer = Buffer::zeros(DType::INT32, &[3])?;
/// buffer.as_mut_slice::<i32>()?.copy_from_slice(&[1, 2, 3]);
/// assert_eq!(buffer.to_vec::<i32>()?, [1, 2, 3]);
/// let clone = buffer.clone(); // from now on the memory is shared
/// assert_eq!(buffer.as_mut_slice::<i32>().unwrap_err().status(), Status::FailedPrecondition);
/// # Ok::<(), max::Error>(())
/// ```
///
/// Two at a time do not compile:
///
/// ```compile_fail,E0499
/// # use max::{Buffer, DType};
/// let mut buffer = Buffer::zeros(DType::INT32, &[3])?;
/// let (mut a, mut b) = (buffer.as_mut_slice::<i32>()?, buffer.as_mut_slice::<i32>()?);
/// (a[0], b[0]) = (1, 2);
/// # Ok::<(), max::Error>(())
/// ```
pub struct ElementsMut<'a, T> {
    data: NonNull<T>,
    len: usize,
    /// The buffer that is mapped; none if there are no elements.
    mapped: Option<NonNull<sys::MaxBuffer>>,
    buffer: PhantomData<&'a mut Buffer>,
}

// SAFETY: slices of elements, which may be sent and shared; the C API lets any thread end a mapping.
unsafe impl<T: Element> Send for Elements<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for Elements<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Send for ElementsMut<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for ElementsMut<'_, T> {}

/// Maps a buffer and looks at what is there.
fn map<T: Element>(buffer: NonNull<sys::MaxBuffer>, access: sys::MaxHostAccess) -> Result<NonNull<T>> {
    let none = std::ptr::null_mut();
    // SAFETY: the handle is alive, the pointer lives through the call.
    let data = get(none, |out| unsafe { sys::maxBufferMapToHost(buffer.as_ptr(), access, out) })?;
    if let Some(data) = NonNull::new(data.cast::<T>()).filter(|data| data.is_aligned()) {
        return Ok(data);
    }
    unmap(buffer)?;
    let message = format!("Address {data:p} of the buffer is not aligned for {}", T::DTYPE);
    Err(Error::new(Status::FailedPrecondition, message))
}

fn unmap(buffer: NonNull<sys::MaxBuffer>) -> Result<()> {
    // SAFETY: the handle is alive, and mapped by this binding.
    check(unsafe { sys::maxBufferUnmapFromHost(buffer.as_ptr()) })
}

fn require_valid<T: Element>(data: NonNull<T>, len: usize) -> Result<()> {
    // SAFETY: as many bytes are mapped.
    let bytes = unsafe { slice::from_raw_parts(data.as_ptr().cast::<u8>(), len * size_of::<T>()) };
    if T::are_valid(bytes) {
        return Ok(());
    }
    Err(Error::new(Status::FailedPrecondition, format!("Buffer holds bytes that are not valid {} values", T::DTYPE)))
}

impl<'a, T: Element> Elements<'a, T> {
    pub(crate) fn new(buffer: &'a Buffer, len: usize) -> Result<Self> {
        if len == 0 {
            return Ok(Self { data: NonNull::dangling(), len, view: None, buffer: PhantomData });
        }
        let view = buffer.whole()?;
        let data = map::<T>(view.raw(), sys::MaxHostAccess::MAX_HOST_ACCESS_READ)?;
        if let Some(access) = buffer.access() {
            access.await_writers();
        }
        // From here on the view's mapping ends with it.
        let elements = Self { data, len, view: Some(view), buffer: PhantomData };
        require_valid(data, len)?;
        Ok(elements)
    }
}

impl<'a, T: Element> ElementsMut<'a, T> {
    pub(crate) fn new(buffer: &'a mut Buffer, len: usize) -> Result<Self> {
        use sys::MaxHostAccess as Host;
        buffer.access().map_or(Ok(()), Access::require_writable)?;
        if len == 0 {
            return Ok(Self { data: NonNull::dangling(), len, mapped: None, buffer: PhantomData });
        }
        let both = Host::MAX_HOST_ACCESS_READ | Host::MAX_HOST_ACCESS_WRITE | Host::MAX_HOST_ACCESS_EXCLUSIVE;
        let data = map::<T>(buffer.raw(), both)?;
        let elements = Self { data, len, mapped: Some(buffer.raw()), buffer: PhantomData };
        require_valid(data, len)?;
        Ok(elements)
    }

    /// Hands the elements to the buffer's device. Dropping does so, too, and says nothing of a failure.
    ///
    /// ```
    /// use max::{Buffer, DType};
    /// let mut buffer = Buffer::zeros(DType::INT32, &[2])?;
    /// let mut elements = buffer.as_mut_slice::<i32>()?;
    /// elements[1] = 7;
    /// elements.finish()?;
    /// assert_eq!(buffer.to_vec::<i32>()?, [0, 7]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn finish(mut self) -> Result<()> {
        self.mapped.take().map_or(Ok(()), unmap)
    }
}

impl<T> Deref for Elements<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: mapped, valid and not written while this lives.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl<T> Deref for ElementsMut<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: mapped, valid and not used elsewhere while this lives.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for ElementsMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

impl<T> Drop for Elements<'_, T> {
    fn drop(&mut self) {
        if let Some(view) = &self.view {
            _ = unmap(view.raw());
        }
    }
}

impl<T> Drop for ElementsMut<'_, T> {
    fn drop(&mut self) {
        if let Some(buffer) = self.mapped.take() {
            _ = unmap(buffer);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Elements<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl<T: fmt::Debug> fmt::Debug for ElementsMut<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}
