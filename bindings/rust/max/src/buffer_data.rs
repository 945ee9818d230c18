// SPDX-License-Identifier: Apache-2.0
//! What buffers hold: their elements on the host, and work on streams that writes and copies them.

use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use max_sys as sys;

use crate::access::{Elements, ElementsMut};
use crate::buffer::{Buffer, RANK_LIMIT, raw_device, raw_stream};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result, Status, c_count, c_path, c_text, check, get_handle};
use crate::handle::options;
use crate::stream::Stream;

/// Elements on the host.
impl Buffer {
    /// The elements as a slice, after a wait for work with the buffer; see [`Elements`]. The buffer is contiguous.
    pub fn as_slice<T: Element>(&self) -> Result<Elements<'_, T>> {
        self.require_dtype::<T>()?;
        Elements::new(self, self.len())
    }

    /// The elements as a mutable slice, if nothing shares the memory; see [`ElementsMut`].
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<ElementsMut<'_, T>> {
        self.require_dtype::<T>()?;
        let len = self.len();
        ElementsMut::new(self, len)
    }

    /// The bytes of the elements, whatever their type; otherwise as [`Buffer::as_slice`].
    ///
    /// ```
    /// let buffer = max::Buffer::from_slice(&[1i16, 2], &[2])?;
    /// assert_eq!(*buffer.as_bytes()?, [1, 0, 2, 0]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn as_bytes(&self) -> Result<Elements<'_, u8>> {
        Elements::new(self, self.byte_len())
    }

    /// Copies of the elements in row-major order, also of views that are not contiguous.
    ///
    /// ```
    /// use max::{Buffer, Step};
    /// let buffer = Buffer::from_slice(&[1.0f32, 2.0, 3.0], &[3])?;
    /// let backward = buffer.slice(Step::range(None, None, -1))?;
    /// assert_eq!(backward.to_vec::<f32>()?, [3.0, 2.0, 1.0]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.require_dtype::<T>()?;
        if !self.is_contiguous() {
            return self.contiguous()?.to_vec();
        }
        let mut elements = Vec::<T>::with_capacity(self.len());
        let count = self.len();
        self.copy_to_host(&mut elements.spare_capacity_mut()[..count])?;
        // SAFETY: all of them have been written.
        let bytes = unsafe { slice::from_raw_parts(elements.as_ptr().cast::<u8>(), count * size_of::<T>()) };
        if !T::are_valid(bytes) {
            let message = format!("Buffer holds bytes that are not valid {} values", T::DTYPE);
            return Err(Error::new(Status::FailedPrecondition, message));
        }
        // SAFETY: written and valid.
        unsafe { elements.set_len(count) };
        Ok(elements)
    }

    /// Copies all elements of a contiguous buffer into a slice of as many.
    ///
    /// ```
    /// use max::{Buffer, DType};
    /// let mut buffer = Buffer::zeros(DType::FLOAT32, &[2])?;
    /// buffer.copy_from_slice(&[1.0f32, 2.0])?;
    /// let mut elements = [0.0f32; 2];
    /// buffer.copy_to_slice(&mut elements)?;
    /// assert_eq!(elements, [1.0, 2.0]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn copy_to_slice<T: Element>(&self, elements: &mut [T]) -> Result<()> {
        self.require_elements::<T>(elements.len())?;
        if !T::ALL_VALID {
            elements.copy_from_slice(&self.to_vec::<T>()?);
            return Ok(());
        }
        let (data, count) = (elements.as_mut_ptr().cast(), elements.len());
        // SAFETY: any bytes are values of the type.
        self.copy_to_host::<T>(unsafe { slice::from_raw_parts_mut(data, count) })
    }

    fn copy_to_host<T: Element>(&self, elements: &mut [MaybeUninit<T>]) -> Result<()> {
        let (data, bytes) = (elements.as_mut_ptr().cast(), size_of_val(elements));
        // SAFETY: the handle is alive, and there is so much memory.
        check(unsafe { sys::maxBufferCopyToHost(self.as_raw(), 0, data, bytes, ptr::null_mut()) })
    }

    /// Copies a slice of as many elements into a contiguous buffer. It returns when they are there.
    /// See [`Buffer::copy_to_slice`].
    pub fn copy_from_slice<T: Element>(&mut self, elements: &[T]) -> Result<()> {
        self.require_elements::<T>(elements.len())?;
        let (data, bytes) = (elements.as_ptr().cast(), size_of_val(elements));
        // SAFETY: the handle is alive, and there is so much memory.
        self.write_by(|raw| unsafe { sys::maxBufferCopyFromHost(raw, 0, data, bytes, ptr::null_mut()) })
    }

    /// Reads one element; negative indices count from the end.
    ///
    /// ```
    /// use max::{Buffer, DType};
    /// let mut buffer = Buffer::zeros(DType::INT32, &[2, 3])?;
    /// buffer.write(&[1, -1], 7i32)?;
    /// assert_eq!(buffer.read::<i32>(&[1, 2])?, 7);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn read<T: Element>(&self, indices: &[i64]) -> Result<T> {
        self.require_dtype::<T>()?;
        let count = c_count(indices.len())?;
        let mut element = MaybeUninit::<T>::uninit();
        let data = element.as_mut_ptr();
        // SAFETY: the handle is alive, the arrays are so long.
        check(unsafe { sys::maxBufferRead(self.as_raw(), indices.as_ptr(), count, size_of::<T>(), data.cast()) })?;
        // SAFETY: it has been written.
        if !T::are_valid(unsafe { slice::from_raw_parts(data.cast(), size_of::<T>()) }) {
            let message = format!("Buffer holds bytes that are not valid {} values", T::DTYPE);
            return Err(Error::new(Status::FailedPrecondition, message));
        }
        // SAFETY: written and valid.
        Ok(unsafe { element.assume_init() })
    }

    /// Writes one element; negative indices count from the end. See [`Buffer::read`].
    pub fn write<T: Element>(&mut self, indices: &[i64], element: T) -> Result<()> {
        self.require_dtype::<T>()?;
        let (count, data) = (c_count(indices.len())?, (&raw const element).cast());
        // SAFETY: the handle is alive, the arrays are so long.
        self.write_by(|raw| unsafe { sys::maxBufferWrite(raw, indices.as_ptr(), count, data, size_of::<T>()) })
    }

    /// The element of a buffer that has one. See [`Buffer::scalar`].
    pub fn item<T: Element>(&self) -> Result<T> {
        if self.len() != 1 {
            let message = format!("Buffer of shape {:?} does not have exactly one element", self.shape());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        self.read(&[0; RANK_LIMIT][..self.rank()])
    }

    /// A call that writes the memory.
    fn write_by(&mut self, call: impl FnOnce(*mut sys::MaxBuffer) -> sys::MaxStatus) -> Result<()> {
        let raw = self.as_raw();
        writing([&*self], || check(call(raw)))?
    }
}

/// A call that writes the memory of buffers. The error is that of one that must not be written.
pub(crate) fn writing<'a, R>(
    buffers: impl IntoIterator<Item = &'a Buffer, IntoIter: Clone>,
    call: impl FnOnce() -> R,
) -> Result<R> {
    // The usual ones share nothing. None can begin to while its writer has it.
    let shared = buffers.into_iter().filter_map(Buffer::access);
    if shared.clone().next().is_none() {
        return Ok(call());
    }
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let writer = NEXT.fetch_add(1, Ordering::Relaxed);
    for (i, access) in shared.clone().enumerate() {
        if let Err(error) = access.begin_write(writer) {
            shared.take(i).for_each(|access| access.end_write(writer));
            return Err(error);
        }
    }
    let result = call();
    shared.for_each(|access| access.end_write(writer));
    Ok(result)
}

/// Work on streams.
impl Buffer {
    /// Fills the buffer with a value, in the order of its stream.
    ///
    /// ```
    /// use max::{Buffer, DType, Device, Stream};
    /// let stream = Stream::new(&Device::cpu()?)?;
    /// let mut buffer = Buffer::zeros(DType::FLOAT32, &[2])?;
    /// buffer.fill(0.5f32)?;
    /// buffer.fill_on(1.5f32, Some(&stream))?;
    /// stream.synchronize(None)?;
    /// assert_eq!(buffer.to_vec::<f32>()?, [1.5, 1.5]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn fill<T: Element>(&mut self, value: T) -> Result<()> {
        self.fill_on(value, None)
    }

    /// As [`Buffer::fill`], on a stream.
    pub fn fill_on<T: Element>(&mut self, value: T, stream: Option<&Stream>) -> Result<()> {
        self.require_dtype::<T>()?;
        let (data, stream) = ((&raw const value).cast(), raw_stream(stream));
        // SAFETY: the handles are alive, the value is copied by the call.
        self.write_by(|raw| unsafe { sys::maxBufferFill(raw, data, size_of::<T>(), stream) })
    }

    /// Copies all bytes of another contiguous buffer of the same size, in the order of this buffer's stream.
    ///
    /// ```
    /// use max::{Buffer, DType};
    /// let source = Buffer::from_slice(&[1u8, 2, 3], &[3])?;
    /// let mut target = Buffer::zeros(DType::UINT8, &[3])?;
    /// target.copy_from(&source)?;
    /// target.copy_range(0, &source, 1, 2, None)?; // from byte 1 of the source, two bytes
    /// assert_eq!(target.to_vec::<u8>()?, [2, 3, 3]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn copy_from(&mut self, source: &Buffer) -> Result<()> {
        if self.byte_len() != source.byte_len() {
            let message = format!("{} bytes do not fit a buffer of {} bytes", source.byte_len(), self.byte_len());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        self.copy_range(0, source, 0, source.byte_len(), None)
    }

    /// Copies bytes between two contiguous buffers, in stream order; without a stream that of this buffer.
    /// See [`Buffer::copy_from`].
    pub fn copy_range(
        &mut self,
        offset: usize,
        source: &Buffer,
        source_offset: usize,
        bytes: usize,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let (source, stream) = (source.as_raw(), raw_stream(stream));
        // SAFETY: the handles are alive.
        self.write_by(|raw| unsafe { sys::maxBufferCopy(raw, offset, source, source_offset, bytes, stream) })
    }

    /// A contiguous copy on the buffer's own device.
    ///
    /// ```
    /// let buffer = max::Buffer::from_slice(&[1, 2, 3, 4], &[2, 2])?;
    /// let column = buffer.slice((.., 0))?.contiguous()?;
    /// assert_eq!(*column.as_slice::<i32>()?, [1, 3]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn contiguous(&self) -> Result<Self> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxBufferContiguous(self.as_raw(), ptr::null(), out) }).map(Self::owned)
    }

    /// A contiguous copy on a device; without one that of the stream, else of the buffer.
    ///
    /// ```
    /// use max::Buffer;
    /// let buffer = Buffer::from_slice(&[1i32, 2], &[2])?;
    /// let mut copy = buffer.copy_to(None, None)?;
    /// copy.fill(0i32)?;
    /// assert_eq!(buffer.to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn copy_to(&self, device: Option<&Device>, stream: Option<&Stream>) -> Result<Self> {
        let options = options!(MaxBufferCopyOptions { stream: raw_stream(stream) });
        let device = raw_device(device);
        // SAFETY: the handles are alive, the pointers live through the call.
        get_handle(|out| unsafe { sys::maxBufferClone(self.as_raw(), device, &raw const options, out) })
            .map(Self::owned)
    }

    /// The buffer on a device: a clone if it is there already, else a copy.
    ///
    /// ```
    /// use max::{Buffer, Device};
    /// let device = Device::accelerator(0).or_else(|_| Device::cpu())?;
    /// let buffer = Buffer::from_slice(&[1i32, 2], &[2])?.to(&device)?;
    /// assert_eq!(buffer.to(&Device::cpu()?)?.to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn to(&self, device: &Device) -> Result<Self> {
        let out = |out| {
            // SAFETY: the handles are alive, the pointer lives through the call.
            unsafe { sys::maxBufferTo(self.as_raw(), device.as_raw(), ptr::null(), out) }
        };
        let raw = get_handle(out)?;
        Ok(if raw == self.raw() { self.sharing(raw) } else { Self::owned(raw) })
    }

    /// Writes the buffer as a `.max` checkpoint; the file appears whole or not at all.
    ///
    /// ```
    /// use max::Buffer;
    /// # let path = std::env::temp_dir().join(format!("save_{}.max", std::process::id()));
    /// Buffer::from_slice(&[1.0f32, 2.0], &[2])?.save(&path, None)?;
    /// assert_eq!(Buffer::load(&path)?.to_vec::<f32>()?, [1.0, 2.0]);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>, key: Option<&str>) -> Result<()> {
        let (path, key) = (c_path(path.as_ref())?, key.map(c_text).transpose()?);
        let key = key.as_ref().map_or(ptr::null(), |key| key.as_ptr());
        // SAFETY: the handle is alive, the pointers live through the call.
        check(unsafe { sys::maxBufferSave(self.as_raw(), path.as_ptr(), key) })
    }
}
