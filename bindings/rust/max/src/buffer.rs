// SPDX-License-Identifier: Apache-2.0
//! Buffers: n-dimensional arrays in the memory of a device.

use std::ffi::c_void;
use std::fmt;
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use max_sys as sys;

use crate::access::{Access, Elements, ElementsMut};
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result, Status, c_count, c_path, c_text, check, get, get_handle};
use crate::handle::options;
use crate::slicing::{Step, Steps};
use crate::stream::Stream;

/// Most dimensions a buffer can have.
pub(crate) const RANK_LIMIT: usize = sys::MAX_BUFFER_RANK_LIMIT as usize;

// Shapes are numbers of 64 bits that are not negative, and lie in memory as `usize` does.
const _: () = assert!(size_of::<usize>() == size_of::<i64>(), "libmax is for machines of 64 bits");

/// An n-dimensional array in the memory of a device.
///
/// Clones and views share the memory, as `Arc` does. What writes takes `&mut`; slices of elements are sound whatever shares
/// the memory: while one lives, the library refuses what would write it. What two handles write at the same time from
/// two threads leaves numbers of one or the other.
///
/// ```
/// use max::{Buffer, DType};
/// let mut buffer = Buffer::zeros(DType::FLOAT32, &[2, 3])?;
/// buffer.copy_from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let column = buffer.slice((.., 1))?; // shares the memory
/// assert_eq!(column.to_vec::<f32>()?, [2.0, 5.0]);
/// assert_eq!(buffer.as_slice::<f32>()?[4], 5.0);
/// # Ok::<(), max::Error>(())
/// ```
pub struct Buffer {
    raw: NonNull<sys::MaxBuffer>,
    /// What buffers that share the memory know of each other; made with the first of them.
    access: OnceLock<Arc<Access>>,
}

// SAFETY: the header says "Thread-safe" of what takes `&self`; what it does not say it of takes `&mut self`, and clones in
// other threads reach the same memory only through calls that are ordered by the library (access.rs).
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

/// How a buffer is made: [`Buffer::options`].
///
/// ```
/// use max::{Buffer, DType, Device, Stream};
/// let device = Device::cpu()?;
/// let stream = Stream::new(&device)?;
/// let options = Buffer::options().device(&device).stream(&stream).alignment(4096).pinned(true);
/// let buffer = options.create(DType::UINT8, &[4096])?;
/// assert!(buffer.is_pinned());
/// assert_eq!(buffer.address() % 4096, 0);
/// # Ok::<(), max::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default)]
pub struct BufferOptions<'a> {
    device: Option<&'a Device>,
    stream: Option<&'a Stream>,
    alignment: usize,
    pinned: bool,
}

impl<'a> BufferOptions<'a> {
    /// The device; without it that of the stream, else the host. See [`BufferOptions`].
    pub fn device(mut self, device: &'a Device) -> Self {
        self.device = Some(device);
        self
    }

    /// The stream that the buffer is bound to; without it the device's default stream. See [`BufferOptions`].
    pub fn stream(mut self, stream: &'a Stream) -> Self {
        self.stream = Some(stream);
        self
    }

    /// Bytes that the address is a multiple of, a power of two; 64 unless set. See [`BufferOptions`].
    pub fn alignment(mut self, bytes: usize) -> Self {
        self.alignment = bytes;
        self
    }

    /// Host memory that stays resident (page-locked); on an accelerator, host memory that it can reach.
    /// See [`BufferOptions`].
    pub fn pinned(mut self, pinned: bool) -> Self {
        self.pinned = pinned;
        self
    }

    /// A buffer filled with zeros. See [`BufferOptions`].
    pub fn create(self, dtype: DType, shape: &[usize]) -> Result<Buffer> {
        self.make(dtype, shape, true)
    }

    /// A buffer whose contents are not defined.
    ///
    /// ```
    /// use max::{Buffer, DType};
    /// // SAFETY: all elements are written before any is read.
    /// let mut buffer = unsafe { Buffer::options().create_uninitialized(DType::INT32, &[2])? };
    /// buffer.copy_from_slice(&[1i32, 2])?;
    /// assert_eq!(buffer.to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), max::Error>(())
    /// ```
    ///
    /// # Safety
    /// All elements are written before anything reads them.
    pub unsafe fn create_uninitialized(self, dtype: DType, shape: &[usize]) -> Result<Buffer> {
        self.make(dtype, shape, false)
    }

    fn make(self, dtype: DType, shape: &[usize], zeroed: bool) -> Result<Buffer> {
        let shape = Shape::new(shape)?;
        let options = options!(MaxBufferOptions {
            stream: raw_stream(self.stream),
            alignment: self.alignment,
            pinned: i32::from(self.pinned),
            zeroed: i32::from(zeroed),
        });
        let device = raw_device(self.device);
        get_handle(|out| {
            // SAFETY: the handles are alive, the pointers live through the call.
            unsafe { sys::maxBufferCreate(device, dtype.0, shape.rank, shape.as_ptr(), &raw const options, out) }
        })
        .map(Buffer::owned)
    }
}

/// How a file is mapped; as the modes of `numpy.memmap`.
///
/// ```
/// use max::{Buffer, DType, MapMode};
/// // SAFETY: nobody else has this file.
/// # let path = std::env::temp_dir().join(format!("max_map_{}", std::process::id()));
/// let mut buffer = unsafe { Buffer::map(&path, DType::INT16, &[2], MapMode::Create, 0)? };
/// buffer.copy_from_slice(&[1i16, 2])?;
/// drop(buffer);
/// assert_eq!(std::fs::read(&path).unwrap(), [1, 0, 2, 0]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapMode {
    /// The file is read, the buffer cannot be written.
    Read = sys::MaxMapMode::MAX_MAP_MODE_READ.0 as isize,
    /// The file is read and written, and extended where it is too short.
    ReadWrite = sys::MaxMapMode::MAX_MAP_MODE_READ_WRITE.0 as isize,
    /// As `ReadWrite` on a file that is made or emptied first.
    Create = sys::MaxMapMode::MAX_MAP_MODE_CREATE.0 as isize,
    /// The buffer can be written, the file stays as it is.
    CopyOnWrite = sys::MaxMapMode::MAX_MAP_MODE_COPY_ON_WRITE.0 as isize,
}

/// Dimensions as the C API takes them.
pub(crate) struct Shape {
    dims: [i64; RANK_LIMIT],
    pub(crate) rank: i32,
}

impl Shape {
    pub(crate) fn new(shape: &[usize]) -> Result<Self> {
        if shape.len() > RANK_LIMIT {
            let message = format!("Shape has {} dimensions, more than {RANK_LIMIT}", shape.len());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        let mut dims = [0; RANK_LIMIT];
        for (dim, &size) in dims.iter_mut().zip(shape) {
            *dim = i64::try_from(size).map_err(|_| {
                Error::new(Status::OutOfRange, format!("Dimension {size} of shape {shape:?} is too large"))
            })?;
        }
        Ok(Self { dims, rank: c_count(shape.len())? })
    }

    pub(crate) fn as_ptr(&self) -> *const i64 {
        self.dims.as_ptr()
    }
}

/// That bytes which cannot be looked at first are values of the type.
pub(crate) fn require_any_bytes<T: Element>() -> Result<()> {
    if T::ALL_VALID {
        return Ok(());
    }
    let message = format!("Elements of {} are not copied by streams, since not all bytes are such", T::DTYPE);
    Err(Error::new(Status::Unimplemented, message))
}

/// How many elements a shape has; `InvalidArgument` unless it is as many as there are.
fn require_count(shape: &[usize], count: usize) -> Result<()> {
    let product = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    if product == Some(count) {
        return Ok(());
    }
    Err(Error::new(Status::InvalidArgument, format!("{count} elements do not fill the shape {shape:?}")))
}

pub(crate) fn raw_stream(stream: Option<&Stream>) -> *mut sys::MaxStream {
    stream.map_or(ptr::null_mut(), Stream::as_raw)
}

pub(crate) fn raw_device(device: Option<&Device>) -> *mut sys::MaxDevice {
    device.map_or(ptr::null_mut(), Device::as_raw)
}

/// Makes buffers.
impl Buffer {
    /// How a buffer is made, with defaults to change. See [`BufferOptions`].
    pub fn options<'a>() -> BufferOptions<'a> {
        BufferOptions::default()
    }

    /// A buffer of the host filled with zeros. See [`Buffer`].
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Self> {
        Self::options().create(dtype, shape)
    }

    /// A buffer of the host with copies of elements, as many as the shape has.
    ///
    /// ```
    /// use max::Buffer;
    /// let buffer = Buffer::from_slice(&[1i64, 2, 3, 4], &[2, 2])?;
    /// assert_eq!(buffer.read::<i64>(&[1, 0])?, 3);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn from_slice<T: Element>(elements: &[T], shape: &[usize]) -> Result<Self> {
        require_count(shape, elements.len())?;
        // SAFETY: written below.
        let mut buffer = unsafe { Self::options().create_uninitialized(T::DTYPE, shape) }?;
        buffer.copy_from_slice(elements)?;
        Ok(buffer)
    }

    /// A buffer of the host that takes a vector over, without a copy.
    ///
    /// ```
    /// use max::Buffer;
    /// let buffer = Buffer::from_vec(vec![1u8, 2, 3, 4], &[2, 2])?;
    /// assert_eq!(buffer.shape(), [2, 2]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn from_vec<T: Element>(elements: Vec<T>, shape: &[usize]) -> Result<Self> {
        require_count(shape, elements.len())?;
        let mut elements = Box::new(elements);
        let data = if elements.is_empty() { ptr::null_mut() } else { elements.as_mut_ptr() };
        let owner = Box::into_raw(elements);
        let options = options!(MaxBufferWrapOptions { release: Some(drop_vec::<T>), userData: owner.cast() });
        // SAFETY: the memory lives until `drop_vec` is called, which is once if this succeeds.
        unsafe { Self::wrap(data, T::DTYPE, shape, &options) }.inspect_err(|_| {
            // SAFETY: the call failed, so that nobody else has it.
            drop(unsafe { Box::from_raw(owner) });
        })
    }

    /// A scalar of the host: a buffer of rank 0.
    ///
    /// ```
    /// use max::Buffer;
    /// let half = Buffer::scalar(0.5f32)?;
    /// assert_eq!((half.rank(), half.item::<f32>()?), (0, 0.5));
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn scalar<T: Element>(element: T) -> Result<Self> {
        Self::from_slice(&[element], &[])
    }

    /// Memory of the host that stays somebody else's.
    ///
    /// # Safety
    /// It has so many elements, which nothing else writes, nor reads unless it is `read_only`, until work with the buffer
    /// is done.
    pub(crate) unsafe fn lend<T: Element>(data: *mut T, count: usize, read_only: bool) -> Result<Self> {
        let options = options!(MaxBufferWrapOptions { readOnly: i32::from(read_only) });
        let data = if count == 0 { ptr::null_mut() } else { data };
        // SAFETY: as the caller promises.
        unsafe { Self::wrap(data, T::DTYPE, &[count], &options) }
    }

    unsafe fn wrap<T>(
        data: *mut T,
        dtype: DType,
        shape: &[usize],
        options: &sys::MaxBufferWrapOptions,
    ) -> Result<Self> {
        let shape = Shape::new(shape)?;
        get_handle(|out| {
            // SAFETY: the pointers live through the call, the memory as the caller promises.
            unsafe {
                sys::maxBufferWrap(ptr::null_mut(), data.cast(), dtype.0, shape.rank, shape.as_ptr(), options, out)
            }
        })
        .map(Self::owned)
    }

    /// Reads a `.max` checkpoint into a buffer of the host. Large files are mapped: nothing may change one while the buffer
    /// lives. See [`Buffer::save`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = c_path(path.as_ref())?;
        // SAFETY: the pointers live through the call.
        get_handle(|out| unsafe { sys::maxBufferLoad(path.as_ptr(), out) }).map(Self::owned)
    }

    /// A buffer of the host that is a part of a file, from an offset in bytes on. See [`MapMode`].
    ///
    /// # Safety
    /// Nothing else writes that part of the file or makes the file shorter while the buffer or a view of it lives.
    pub unsafe fn map(
        path: impl AsRef<Path>,
        dtype: DType,
        shape: &[usize],
        mode: MapMode,
        offset: u64,
    ) -> Result<Self> {
        let (path, shape) = (c_path(path.as_ref())?, Shape::new(shape)?);
        let mode = sys::MaxMapMode(mode as i32);
        get_handle(|out| {
            // SAFETY: the pointers live through the call.
            unsafe { sys::maxBufferMap(path.as_ptr(), dtype.0, shape.rank, shape.as_ptr(), mode, offset, out) }
        })
        .map(Self::owned)
    }

    /// Takes over a reference. Nothing of this binding shares the memory.
    pub(crate) fn owned(raw: NonNull<sys::MaxBuffer>) -> Self {
        Self { raw, access: OnceLock::new() }
    }

    /// A buffer that something of the library holds, and relies on not to change.
    pub(crate) fn borrowed_frozen(raw: NonNull<sys::MaxBuffer>) -> Self {
        // SAFETY: the buffer is alive: what it was borrowed from is.
        unsafe { sys::maxBufferRetain(raw.as_ptr()) };
        let buffer = Self::owned(raw);
        buffer.freeze();
        buffer
    }

    /// A buffer that shares the memory of this one.
    fn sharing(&self, raw: NonNull<sys::MaxBuffer>) -> Self {
        Self { raw, access: OnceLock::from(self.shared_access()) }
    }

    fn shared_access(&self) -> Arc<Access> {
        self.access.get_or_init(Arc::default).clone()
    }

    pub(crate) fn raw(&self) -> NonNull<sys::MaxBuffer> {
        self.raw
    }

    pub(crate) fn access(&self) -> Option<&Access> {
        self.access.get().map(|access| &**access)
    }

    /// Nothing of this binding writes the contents any more.
    pub(crate) fn freeze(&self) {
        self.shared_access().freeze();
    }

    /// The buffer as the C API takes it. It is borrowed from this value; see `max_sys::MaxBuffer`.
    ///
    /// What is done with it must leave alone what slices of this crate show.
    ///
    /// ```
    /// use max_sys::{MaxStatus, maxBufferGetData};
    /// let buffer = max::Buffer::scalar(1.0f32)?;
    /// let mut data = std::ptr::null();
    /// // SAFETY: the handle is alive, the pointer lives through the call.
    /// let status = unsafe { maxBufferGetData(buffer.as_raw(), &mut data) };
    /// assert_eq!((status, data), (MaxStatus::MAX_STATUS_OK, buffer.as_ptr()?));
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn as_raw(&self) -> *mut sys::MaxBuffer {
        self.raw.as_ptr()
    }

    /// Takes over a reference to a buffer of the C API.
    ///
    /// ```
    /// use std::ptr::NonNull;
    /// use max::Buffer;
    /// let buffer = Buffer::scalar(1.0f32)?;
    /// let raw = NonNull::new(buffer.as_raw()).unwrap();
    /// // SAFETY: the new buffer gets a reference of its own, and nothing writes the memory.
    /// let other = unsafe {
    ///     max_sys::maxBufferRetain(raw.as_ptr());
    ///     Buffer::from_raw(raw)
    /// };
    /// assert_eq!(other.item::<f32>()?, 1.0);
    /// # Ok::<(), max::Error>(())
    /// ```
    ///
    /// # Safety
    /// The caller has the reference, the memory is initialised, and what else writes it does so neither while slices of
    /// this crate show it nor in calls that are then under way.
    pub unsafe fn from_raw(raw: NonNull<sys::MaxBuffer>) -> Self {
        Self::owned(raw)
    }
}

unsafe extern "C" fn drop_vec<T>(owner: *mut c_void) {
    // SAFETY: made by `from_vec`, and called once.
    drop(unsafe { Box::from_raw(owner.cast::<Vec<T>>()) });
}

/// What a buffer is.
impl Buffer {
    #[inline]
    fn info(&self) -> sys::MaxBufferInfo {
        let mut info = options!(MaxBufferInfo {});
        // SAFETY: the handle is alive, the structure knows its size. Nothing can fail.
        _ = unsafe { sys::maxBufferGetInfo(self.as_raw(), &raw mut info) };
        info
    }

    fn has(&self, flag: sys::MaxBufferFlags) -> bool {
        self.info().flags & flag == flag
    }

    /// Element type.
    ///
    /// ```
    /// use max::{Buffer, DType};
    /// let buffer = Buffer::zeros(DType::FLOAT32, &[2, 3])?;
    /// assert_eq!((buffer.dtype(), buffer.rank(), buffer.shape()), (DType::FLOAT32, 2, &[2, 3][..]));
    /// assert_eq!((buffer.len(), buffer.byte_len(), buffer.is_empty()), (6, 24, false));
    /// let column = buffer.slice((.., 1))?;
    /// assert_eq!((column.strides(), column.is_contiguous()), (&[3][..], false));
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        DType(self.info().dtype)
    }

    /// Dimensions. See [`Buffer::dtype`].
    pub fn shape(&self) -> &[usize] {
        let info = self.info();
        if info.rank <= 0 {
            return &[];
        }
        // SAFETY: so many numbers that are not negative, and that stay as they are while the buffer lives.
        unsafe { slice::from_raw_parts(info.shape.cast(), usize::try_from(info.rank).unwrap_or(0)) }
    }

    /// Distances between elements along each dimension, in elements. See [`Buffer::dtype`].
    pub fn strides(&self) -> &[isize] {
        let info = self.info();
        if info.rank <= 0 {
            return &[];
        }
        // SAFETY: as above; they may be negative.
        unsafe { slice::from_raw_parts(info.strides.cast(), usize::try_from(info.rank).unwrap_or(0)) }
    }

    /// Number of dimensions. See [`Buffer::dtype`].
    pub fn rank(&self) -> usize {
        usize::try_from(self.info().rank).unwrap_or(0)
    }

    /// Number of elements; 1 for a scalar. See [`Buffer::dtype`].
    pub fn len(&self) -> usize {
        usize::try_from(self.info().elementCount).unwrap_or(0)
    }

    /// Whether there are no elements. See [`Buffer::dtype`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that the elements take without gaps. See [`Buffer::dtype`].
    pub fn byte_len(&self) -> usize {
        self.info().byteCount
    }

    /// The device that holds the buffer.
    ///
    /// ```
    /// use max::{Buffer, DType, Device, Stream};
    /// let device = Device::cpu()?;
    /// let stream = Stream::new(&device)?;
    /// let buffer = Buffer::options().stream(&stream).create(DType::INT8, &[4])?;
    /// assert_eq!((buffer.device(), buffer.stream()), (device, stream));
    /// assert!(buffer.is_host() && !buffer.is_pinned() && !buffer.is_read_only());
    /// println!("{buffer:?} at {:#x}", buffer.address());
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn device(&self) -> Device {
        // SAFETY: every buffer has one, and holds it.
        Device::borrowed(unsafe { NonNull::new_unchecked(self.info().device) })
    }

    /// The stream that the buffer is bound to. See [`Buffer::device`].
    pub fn stream(&self) -> Stream {
        // SAFETY: as above.
        Stream::borrowed(unsafe { NonNull::new_unchecked(self.info().stream) })
    }

    /// The address of the first element on its device, for messages and other libraries. See [`Buffer::device`].
    pub fn address(&self) -> u64 {
        self.info().address
    }

    /// Whether the elements lie without gaps in row-major order. See [`Buffer::dtype`].
    pub fn is_contiguous(&self) -> bool {
        self.has(sys::MaxBufferFlags::MAX_BUFFER_FLAG_CONTIGUOUS)
    }

    /// Whether the buffer belongs to the host. See [`Buffer::device`].
    pub fn is_host(&self) -> bool {
        self.has(sys::MaxBufferFlags::MAX_BUFFER_FLAG_HOST)
    }

    /// Whether the memory is page-locked. See [`Buffer::device`].
    pub fn is_pinned(&self) -> bool {
        self.has(sys::MaxBufferFlags::MAX_BUFFER_FLAG_PINNED)
    }

    /// Whether the buffer cannot be written through this library. See [`Buffer::device`].
    pub fn is_read_only(&self) -> bool {
        self.has(sys::MaxBufferFlags::MAX_BUFFER_FLAG_READ_ONLY)
    }

    /// The address of the first element where the host can reach it; null if there are no elements. It does not wait.
    ///
    /// ```
    /// let buffer = max::Buffer::from_slice(&[1u8, 2], &[2])?;
    /// assert_eq!(buffer.as_ptr()? as u64, buffer.address());
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn as_ptr(&self) -> Result<*const c_void> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get(ptr::null(), |out| unsafe { sys::maxBufferGetData(self.as_raw(), out) })
    }

    /// As [`Buffer::as_ptr`], for writing, too.
    ///
    /// ```
    /// use max::{Buffer, DType};
    /// let mut buffer = Buffer::zeros(DType::UINT8, &[2])?;
    /// let bytes = buffer.as_mut_ptr()?.cast::<u8>();
    /// // SAFETY: there are two bytes, which nothing else uses now.
    /// unsafe { bytes.add(1).write(7) };
    /// assert_eq!(buffer.to_vec::<u8>()?, [0, 7]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn as_mut_ptr(&mut self) -> Result<*mut c_void> {
        // SAFETY: as above.
        get(ptr::null_mut(), |out| unsafe { sys::maxBufferGetMutableData(self.as_raw(), out) })
    }

    fn require_dtype<T: Element>(&self) -> Result<()> {
        let dtype = self.dtype();
        if dtype == T::DTYPE {
            return Ok(());
        }
        Err(Error::new(Status::InvalidArgument, format!("Buffer holds {dtype}, not {}", T::DTYPE)))
    }

    /// That a slice has the buffer's elements, as many and of the type.
    pub(crate) fn require_elements<T: Element>(&self, count: usize) -> Result<()> {
        self.require_dtype::<T>()?;
        if self.len() == count {
            return Ok(());
        }
        let message = format!("Slice of {count} elements does not fit a buffer of shape {:?}", self.shape());
        Err(Error::new(Status::InvalidArgument, message))
    }
}

/// Views of the same memory.
impl Buffer {
    /// A view of a part, as numpy's `x[...]` gives: `buffer.slice((1..3, .., -1))`.
    ///
    /// Ends of ranges that lie outside are clamped; an index that does is `OutOfRange`.
    ///
    /// ```
    /// use max::Buffer;
    /// let buffer = Buffer::from_slice(&[0, 1, 2, 3, 4, 5], &[2, 3])?;
    /// assert_eq!(buffer.slice((.., 1..))?.shape(), [2, 2]);
    /// assert_eq!(buffer.slice((1, -1))?.item::<i32>()?, 5);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn slice(&self, steps: impl Steps) -> Result<Self> {
        let steps = steps.steps();
        let steps: &[Step] = steps.as_ref();
        if steps.len() > 2 * RANK_LIMIT {
            let message = format!("{} steps are more than a buffer of shape {:?} takes", steps.len(), self.shape());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        let mut kinds = [sys::MaxSliceKind::MAX_SLICE_KIND_INDEX; 2 * RANK_LIMIT];
        let mut numbers = [[0; 2 * RANK_LIMIT]; 3];
        for (i, step) in steps.iter().enumerate() {
            (kinds[i], numbers[0][i], numbers[1][i], numbers[2][i]) = step.raw();
        }
        let [starts, stops, strides] = &numbers;
        let (starts, stops, strides) = (starts.as_ptr(), stops.as_ptr(), strides.as_ptr());
        let (kinds, count) = (kinds.as_ptr(), c_count(steps.len())?);
        // SAFETY: the handle is alive, the arrays have `count` entries.
        get_handle(|out| unsafe { sys::maxBufferSlice(self.as_raw(), kinds, starts, stops, strides, count, out) })
            .map(|raw| self.sharing(raw))
    }

    /// A view of all, which nobody else has.
    pub(crate) fn whole(&self) -> Result<Self> {
        let none = ptr::null();
        // SAFETY: the handle is alive; there are no steps to read.
        get_handle(|out| unsafe { sys::maxBufferSlice(self.as_raw(), ptr::null(), none, none, none, 0, out) })
            .map(Self::owned)
    }

    /// A view with another type and shape of as many bytes; the buffer is contiguous.
    ///
    /// ```
    /// use max::{Buffer, DType};
    /// let buffer = Buffer::from_slice(&[1.0f32, 2.0], &[2])?;
    /// let bits = buffer.view(DType::UINT32, &[2])?;
    /// assert_eq!(bits.to_vec::<u32>()?, [1.0f32.to_bits(), 2.0f32.to_bits()]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn view(&self, dtype: DType, shape: &[usize]) -> Result<Self> {
        let shape = Shape::new(shape)?;
        // SAFETY: the handle is alive, the pointers live through the call.
        get_handle(|out| unsafe { sys::maxBufferView(self.as_raw(), dtype.0, shape.rank, shape.as_ptr(), out) })
            .map(|raw| self.sharing(raw))
    }

    /// A view with another shape of as many elements; the buffer is contiguous.
    ///
    /// ```
    /// use max::{Buffer, DType};
    /// let buffer = Buffer::zeros(DType::FLOAT32, &[2, 6])?;
    /// assert_eq!(buffer.reshape(&[3, 4])?.shape(), [3, 4]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        self.view(self.dtype(), shape)
    }
}

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
            let message = format!("Buffer holds bytes that are no values of {}", T::DTYPE);
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
            let message = format!("Buffer holds bytes that are no values of {}", T::DTYPE);
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
            let message = format!("Buffer of shape {:?} has more or less than one element", self.shape());
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
    let shared = buffers.into_iter().filter_map(|buffer: &Buffer| buffer.access.get());
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
        Ok(if raw == self.raw { self.sharing(raw) } else { Self::owned(raw) })
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

impl Clone for Buffer {
    /// Another handle of the same memory; a copy is [`Buffer::copy_to`].
    fn clone(&self) -> Self {
        // SAFETY: this value has a reference.
        unsafe { sys::maxBufferRetain(self.as_raw()) };
        self.sharing(self.raw)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: this value has a reference.
        unsafe { sys::maxBufferRelease(self.as_raw()) }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Buffer({}{:?} on {})", self.dtype(), self.shape(), self.device())
    }
}
