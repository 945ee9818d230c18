// SPDX-License-Identifier: Apache-2.0
//! Buffers: n-dimensional arrays in the memory of a device.

use std::ffi::c_void;
use std::fmt;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::{Arc, OnceLock};

use max_sys as sys;

use crate::access::Access;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result, Status, c_count, c_path, get, get_handle};
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
/// // SAFETY: no other code uses this file.
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
    /// The buffer can be written; the file does not change.
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
    let message = format!("Elements of {} cannot be copied by streams, since not all bytes are valid values", T::DTYPE);
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
            // SAFETY: the call failed, so nothing else has it.
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

    /// Host memory that the buffer does not own.
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
    pub(crate) fn sharing(&self, raw: NonNull<sys::MaxBuffer>) -> Self {
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
    /// // SAFETY: the new buffer gets its own reference, and nothing writes the memory.
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

    /// Like [`Buffer::as_ptr`], also for writing.
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

    pub(crate) fn require_dtype<T: Element>(&self) -> Result<()> {
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
            let message = format!("{} steps are too many for a buffer of shape {:?}", steps.len(), self.shape());
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

    /// A view of all elements with no other owner.
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
