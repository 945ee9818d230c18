// SPDX-License-Identifier: Apache-2.0
//! Streams: queues whose work runs in order.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::time::Duration;

use max_sys as sys;

use crate::buffer::{Buffer, require_any_bytes};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result, Status, c_timeout, check, get, get_flag, get_handle};
use crate::event::Event;
use crate::handle::{handle, options};

handle!(sync
    /// A queue whose work runs in order.
    ///
    /// Each device has a default stream, which on the host runs work at once in the calling thread; a stream made here has
    /// a worker. When work on a stream has failed, every further call on the stream gives that failure until
    /// [`Stream::synchronize`] has given it once.
    ///
    /// ```
    /// use max::{Buffer, DType, Device, Stream};
    /// let device = Device::cpu()?;
    /// let stream = Stream::new(&device)?;
    /// let mut buffer = Buffer::options().stream(&stream).create(DType::FLOAT32, &[4])?;
    /// buffer.fill(1.5f32)?; // queued
    /// stream.synchronize(None)?;
    /// assert_eq!(*buffer.as_slice::<f32>()?, [1.5; 4]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Stream: MaxStream, maxStreamRetain, maxStreamRelease
);

impl Stream {
    /// A stream on a device. See [`Stream`].
    pub fn new(device: &Device) -> Result<Self> {
        Self::with_priority(device, 0)
    }

    /// A stream with a priority, a hint for accelerators: work on streams of higher priority goes first.
    ///
    /// ```
    /// use max::{Device, Stream};
    /// let device = Device::cpu()?;
    /// let (urgent, other) = (Stream::with_priority(&device, 1)?, Stream::new(&device)?);
    /// urgent.wait_for_stream(&other)?;
    /// urgent.wait_for_device(&device)?;
    /// assert_eq!(urgent.device()?, device);
    /// assert!(!urgent.is_default()?);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn with_priority(device: &Device, priority: i32) -> Result<Self> {
        let options = options!(MaxStreamOptions { priority: priority });
        // SAFETY: the handle is alive, the pointers live through the call.
        get_handle(|out| unsafe { sys::maxStreamCreate(device.as_raw(), &raw const options, out) }).map(Self::owned)
    }

    /// A stream of the driver's (`cudaStream_t`, `hipStream_t`), which stays the caller's. See [`Stream::native`].
    ///
    /// # Safety
    /// `native` is such a stream and lives until the last handle of the result has gone.
    pub unsafe fn wrap(device: &Device, native: *mut c_void) -> Result<Self> {
        // SAFETY: as the caller promises.
        get_handle(|out| unsafe { sys::maxStreamWrap(device.as_raw(), native, out) }).map(Self::owned)
    }

    /// The device of the stream. See [`Stream::with_priority`].
    pub fn device(&self) -> Result<Device> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxStreamGetDevice(self.as_raw(), out) }).map(Device::borrowed)
    }

    /// Whether this is the default stream of its device. See [`Stream::with_priority`].
    pub fn is_default(&self) -> Result<bool> {
        // SAFETY: as above.
        get_flag(|out| unsafe { sys::maxStreamIsDefault(self.as_raw(), out) })
    }

    /// The driver's stream, borrowed from this one; `Unimplemented` where the device has none.
    ///
    /// ```
    /// use max::{Device, Status, Stream};
    /// let stream = Stream::new(&Device::accelerator(0).or_else(|_| Device::cpu())?)?;
    /// match stream.native() {
    ///     // SAFETY: the driver's stream lives as long as `stream`, which outlives the other.
    ///     Ok(native) => drop(unsafe { Stream::wrap(&stream.device()?, native)? }),
    ///     Err(error) => assert_eq!(error.status(), Status::Unimplemented), // the host has no driver
    /// }
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn native(&self) -> Result<*mut c_void> {
        // SAFETY: as above.
        get(ptr::null_mut(), |out| unsafe { sys::maxStreamGetNative(self.as_raw(), out) })
    }

    /// Waits until all work on the stream is done. Gives the failure of the first work that failed since the last call.
    /// See [`Stream`].
    ///
    /// After the timeout, if there is one, it gives up with `DeadlineExceeded`; the work goes on.
    pub fn synchronize(&self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxStreamSynchronize(self.as_raw(), c_timeout(timeout)) })
    }

    /// Makes later work on the stream wait for all work that is now on another stream. See [`Stream::with_priority`].
    pub fn wait_for_stream(&self, other: &Stream) -> Result<()> {
        // SAFETY: both handles are alive.
        check(unsafe { sys::maxStreamWaitForStream(self.as_raw(), other.as_raw()) })
    }

    /// Makes later work on the stream wait for all work that is now on a device's default stream.
    /// See [`Stream::with_priority`].
    pub fn wait_for_device(&self, device: &Device) -> Result<()> {
        // SAFETY: both handles are alive.
        check(unsafe { sys::maxStreamWaitForDevice(self.as_raw(), device.as_raw()) })
    }

    /// Makes later work on the stream wait for the newest mark of an event. See [`Event::new`].
    pub fn wait_for_event(&self, event: &Event) -> Result<()> {
        // SAFETY: both handles are alive.
        check(unsafe { sys::maxStreamWaitForEvent(self.as_raw(), event.as_raw()) })
    }

    /// Records an event on the stream: it is done when all work now on the stream is done. See [`Event::new`].
    pub fn record(&self, event: &Event) -> Result<()> {
        // SAFETY: both handles are alive.
        check(unsafe { sys::maxStreamRecordEvent(self.as_raw(), event.as_raw()) })
    }

    /// Calls a function when all work now on the stream is done, with the failure of earlier work if there was one.
    ///
    /// It runs in any thread, once; on the host's default stream before this call returns. It may call this crate, but must
    /// not wait for its own stream (for accelerators: any of its device), which is refused with `FailedPrecondition`. A
    /// panic ends there, after the panic hook has told of it.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use max::{Device, Stream};
    /// let stream = Stream::new(&Device::cpu()?)?;
    /// let (sender, receiver) = mpsc::channel();
    /// stream.enqueue(move |result| sender.send(result.is_ok()).unwrap())?;
    /// assert!(receiver.recv().unwrap());
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn enqueue(&self, function: impl FnOnce(Result<()>) + Send + 'static) -> Result<()> {
        // A box of a box, since a trait object's pointer is two words.
        let function: Box<HostFunction> = Box::new(Box::new(function));
        let data = Box::into_raw(function);
        // SAFETY: the function is called once if this succeeds and then owns the data.
        let status = unsafe { sys::maxStreamEnqueueHostFunction(self.as_raw(), Some(call_host_function), data.cast()) };
        check(status).inspect_err(|_| {
            // SAFETY: the call failed, so nothing else has the data.
            drop(unsafe { Box::from_raw(data) });
        })
    }

    /// Lets work on the stream borrow memory of the caller's: copies are queued by the [`Scope`] that the function gets,
    /// and this call returns when all work on the stream is done, also when the function panics.
    ///
    /// The function gets a failure of earlier work as its own; one of its copies is returned.
    ///
    /// ```
    /// use max::{Buffer, DType, Device, Stream};
    /// let stream = Stream::new(&Device::cpu()?)?;
    /// let mut buffer = Buffer::options().stream(&stream).create(DType::INT32, &[3])?;
    /// let (numbers, mut copy) = ([1, 2, 3], [0; 3]);
    /// stream.scope(|scope| {
    ///     scope.copy_from_slice(&mut buffer, &numbers)?;
    ///     scope.copy_to_slice(&buffer, &mut copy)
    /// })?;
    /// assert_eq!(copy, numbers);
    /// # Ok::<(), max::Error>(())
    /// ```
    ///
    /// What work borrows outlives the scope:
    ///
    /// ```compile_fail,E0597
    /// # use max::{Buffer, DType, Device, Stream};
    /// # let stream = Stream::new(&Device::cpu()?)?;
    /// # let mut buffer = Buffer::zeros(DType::INT32, &[3])?;
    /// stream.scope(|scope| {
    ///     let numbers = [1, 2, 3];
    ///     scope.copy_from_slice(&mut buffer, &numbers)
    /// })?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn scope<'env, T>(
        &'env self,
        function: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<T>,
    ) -> Result<T> {
        // Refused where the end of the scope could not wait: in a host function of this stream.
        match self.synchronize(Some(Duration::from_nanos(1))) {
            Err(error) if error.status() != Status::DeadlineExceeded => return Err(error),
            _ => {}
        }
        let scope = Scope { stream: self, borrowed: PhantomData, env: PhantomData };
        let wait = WaitOnDrop(self);
        let value = function(&scope);
        std::mem::forget(wait);
        let done = self.synchronize(None);
        value.and_then(|value| done.map(|()| value))
    }

    /// Copies bytes between two addresses, in stream order. See [`CopyKind`].
    ///
    /// # Safety
    /// Both ranges are memory of the kind that `kind` says, stay so until the work is done, and nothing else uses them
    /// meanwhile.
    pub unsafe fn copy_memory(&self, dst: *mut c_void, src: *const c_void, bytes: usize, kind: CopyKind) -> Result<()> {
        // SAFETY: as the caller promises.
        check(unsafe { sys::maxMemoryCopy(dst, src, bytes, sys::MaxCopyKind(kind as i32), self.as_raw()) })
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.as_raw(), other.as_raw())
    }
}

impl Eq for Stream {}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Stream({:p})", self.as_raw())
    }
}

/// The direction of [`Stream::copy_memory`].
///
/// ```
/// use max::{Device, stream::CopyKind};
/// let stream = Device::cpu()?.default_stream()?;
/// let (source, mut target) = ([1u8, 2, 3], [0u8; 3]);
/// // SAFETY: both are host memory, and on the host's default stream the copy is done when the call returns.
/// unsafe { stream.copy_memory(target.as_mut_ptr().cast(), source.as_ptr().cast(), 3, CopyKind::HostToHost)? };
/// assert_eq!(target, source);
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// From host memory to host memory.
    HostToHost = sys::MaxCopyKind::MAX_COPY_KIND_HOST_TO_HOST.0 as isize,
    /// From host memory to device memory.
    HostToDevice = sys::MaxCopyKind::MAX_COPY_KIND_HOST_TO_DEVICE.0 as isize,
    /// From device memory to host memory.
    DeviceToHost = sys::MaxCopyKind::MAX_COPY_KIND_DEVICE_TO_HOST.0 as isize,
    /// From device memory to device memory.
    DeviceToDevice = sys::MaxCopyKind::MAX_COPY_KIND_DEVICE_TO_DEVICE.0 as isize,
}

/// Queues copies that borrow memory; see [`Stream::scope`].
///
/// ```
/// use max::{Buffer, Device, Stream};
/// let stream = Stream::new(&Device::cpu()?)?;
/// let buffer = Buffer::from_slice(&[1u8, 2], &[2])?;
/// let mut bytes = [0u8; 2];
/// stream.scope(|scope| scope.copy_to_slice(&buffer, &mut bytes))?;
/// assert_eq!(bytes, [1, 2]);
/// # Ok::<(), max::Error>(())
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    stream: &'env Stream,
    // Invariant, as in std::thread::Scope.
    borrowed: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope> Scope<'scope, '_> {
    /// Queues a copy of elements into a whole buffer. See [`Stream::scope`].
    pub fn copy_from_slice<T: Element>(&'scope self, buffer: &mut Buffer, elements: &'scope [T]) -> Result<()> {
        buffer.require_elements::<T>(elements.len())?;
        // SAFETY: the memory is only read, and borrowed until the scope's end has waited for the stream.
        let lent = unsafe { Buffer::lend(elements.as_ptr().cast_mut(), elements.len(), true) }?;
        buffer.copy_range(0, &lent, 0, size_of_val(elements), Some(self.stream))
    }

    /// Queues a copy of a whole buffer's elements. See [`Stream::scope`].
    pub fn copy_to_slice<T: Element>(&'scope self, buffer: &Buffer, elements: &'scope mut [T]) -> Result<()> {
        buffer.require_elements::<T>(elements.len())?;
        require_any_bytes::<T>()?;
        // SAFETY: borrowed exclusively until the scope's end has waited for the stream.
        let mut lent = unsafe { Buffer::lend(elements.as_mut_ptr(), elements.len(), false) }?;
        lent.copy_range(0, buffer, 0, size_of_val(elements), Some(self.stream))
    }

    /// The stream of the scope.
    ///
    /// ```
    /// use max::{Device, Stream};
    /// let stream = Stream::new(&Device::cpu()?)?;
    /// stream.scope(|scope| {
    ///     assert_eq!(scope.stream(), &stream);
    ///     Ok(())
    /// })?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn stream(&self) -> &Stream {
        self.stream
    }
}

/// Waits for a stream when a scope's function panics.
struct WaitOnDrop<'a>(&'a Stream);

impl Drop for WaitOnDrop<'_> {
    fn drop(&mut self) {
        _ = self.0.synchronize(None);
    }
}

type HostFunction = Box<dyn FnOnce(Result<()>) + Send>;

unsafe extern "C" fn call_host_function(data: *mut c_void, status: sys::MaxStatus) {
    // The message is that of this thread, so it is read before anything else is called.
    let result = if status == sys::MaxStatus::MAX_STATUS_OK { Ok(()) } else { Err(Error::last(status)) };
    // SAFETY: made by `enqueue`, and called once.
    let function = unsafe { Box::from_raw(data.cast::<HostFunction>()) };
    // Nothing may unwind into C.
    _ = catch_unwind(AssertUnwindSafe(|| function(result)));
}
