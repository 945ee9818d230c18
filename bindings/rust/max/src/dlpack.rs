// SPDX-License-Identifier: Apache-2.0
//! Tensors of other libraries in the same process, without a copy: DLPack.

use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;

use max_sys as sys;

use crate::buffer::{Buffer, raw_stream};
use crate::error::{Result, get_handle};
use crate::handle::options;
use crate::stream::Stream;

/// When the data of a tensor is copied.
///
/// ```
/// use max::dlpack::{Copy, ImportOptions};
/// let options = ImportOptions::new().copy(Copy::Never);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// Only if it must be: its address is not aligned to the element size.
    IfNeeded = sys::MaxDlpackCopy::MAX_DLPACK_COPY_IF_NEEDED.0 as isize,
    /// Always.
    Always = sys::MaxDlpackCopy::MAX_DLPACK_COPY_ALWAYS.0 as isize,
    /// Never: where it would have to be, the import fails.
    Never = sys::MaxDlpackCopy::MAX_DLPACK_COPY_NEVER.0 as isize,
}

/// How a tensor becomes a buffer.
///
/// ```
/// use max::{Device, Stream, dlpack::{Copy, ImportOptions}};
/// let device = Device::cpu()?;
/// let (stream, producer) = (Stream::new(&device)?, Stream::new(&device)?);
/// let options = ImportOptions::new().stream(&stream).producer(&producer).copy(Copy::IfNeeded);
/// # Ok::<(), max::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOptions<'a> {
    stream: Option<&'a Stream>,
    producer: Option<&'a Stream>,
    copy: Option<Copy>,
}

impl<'a> ImportOptions<'a> {
    /// The defaults. See [`ImportOptions`].
    pub fn new() -> Self {
        Self::default()
    }

    /// The stream that the buffer is bound to. See [`ImportOptions`].
    pub fn stream(mut self, stream: &'a Stream) -> Self {
        self.stream = Some(stream);
        self
    }

    /// The stream with work that makes the data, which is waited for. See [`ImportOptions`].
    pub fn producer(mut self, stream: &'a Stream) -> Self {
        self.producer = Some(stream);
        self
    }

    /// Whether the data is copied. See [`ImportOptions`].
    pub fn copy(mut self, copy: Copy) -> Self {
        self.copy = Some(copy);
        self
    }

    fn raw(self) -> sys::MaxDlpackOptions {
        options!(MaxDlpackOptions {
            stream: raw_stream(self.stream),
            copy: sys::MaxDlpackCopy(self.copy.map_or(0, |it| it as i32)),
            producer: raw_stream(self.producer),
        })
    }
}

/// The beginning of DLPack's managed tensor, as far as who hands it on needs it.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut sys::DLManagedTensorVersioned)>,
}

/// DLPack's managed tensor without a version, whole.
#[repr(C)]
struct Unversioned {
    data: *mut c_void,
    device: [i32; 2],
    rank: i32,
    dtype: [u8; 4],
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut sys::DLManagedTensor)>,
}

macro_rules! tensor {
    ($(#[$doc:meta])* $name:ident: $raw:ident, $layout:ident) => {
        $(#[$doc])*
        pub struct $name(NonNull<sys::$raw>);

        // SAFETY: nothing in this crate relies on exclusive use of the memory, and any thread may call the deleter.
        unsafe impl Send for $name {}

        impl $name {
            /// Takes over a tensor of another library.
            ///
            /// ```
            /// use max::{Buffer, dlpack::Tensor};
            /// let raw = Buffer::scalar(1.0f32)?.to_dlpack(None)?.into_raw(); // for another library
            /// // SAFETY: it follows DLPack, is initialised, and has no other owner.
            /// drop(unsafe { Tensor::from_raw(raw) });
            /// # Ok::<(), max::Error>(())
            /// ```
            ///
            /// # Safety
            /// It is a tensor that follows DLPack, its contents are initialised, and it is the caller's.
            pub unsafe fn from_raw(raw: NonNull<sys::$raw>) -> Self {
                Self(raw)
            }

            /// The tensor for another library, which calls its deleter when it is done. See [`Tensor::from_raw`].
            pub fn into_raw(self) -> NonNull<sys::$raw> {
                let raw = self.0;
                std::mem::forget(self);
                raw
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: laid out as DLPack says; this value has it.
                unsafe {
                    if let Some(deleter) = (*self.0.as_ptr().cast::<$layout>()).deleter {
                        deleter(self.0.as_ptr());
                    }
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!(stringify!($name), "({:p})"), self.0)
            }
        }
    };
}

tensor!(
    /// A DLPack tensor with a version (1.0 and later), which is deleted when it is dropped.
    ///
    /// ```
    /// use max::{Buffer, dlpack::ImportOptions};
    /// let tensor = Buffer::from_slice(&[1.0f32, 2.0], &[2])?.to_dlpack(None)?;
    /// let buffer = Buffer::from_dlpack(tensor, &ImportOptions::new())?; // the same memory
    /// assert_eq!(buffer.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), max::Error>(())
    /// ```
    Tensor: DLManagedTensorVersioned, Versioned
);

tensor!(
    /// A DLPack tensor without a version, which is deleted when it is dropped.
    ///
    /// ```
    /// use max::{Buffer, dlpack::ImportOptions};
    /// let tensor = Buffer::from_slice(&[1.0f32, 2.0], &[2])?.to_dlpack_unversioned(None)?;
    /// let buffer = Buffer::from_dlpack_unversioned(tensor, &ImportOptions::new())?;
    /// assert_eq!(buffer.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), max::Error>(())
    /// ```
    UnversionedTensor: DLManagedTensor, Unversioned
);

/// DLPack.
///
/// Who else holds the memory has promised ([`Tensor::from_raw`]) or must see to it ([`Tensor::into_raw`]) that it is not
/// written while slices of this crate show it. What this crate itself imports again counts as the same memory only for the
/// library: it is frozen on both sides.
impl Buffer {
    /// A tensor that shares the buffer's memory, which from then on cannot be written by this crate. The consumer's stream
    /// waits for work with the buffer; without one this call does. See [`Tensor`].
    pub fn to_dlpack(&self, consumer: Option<&Stream>) -> Result<Tensor> {
        let options = options!(MaxDlpackExportOptions { stream: raw_stream(consumer) });
        self.freeze();
        // SAFETY: the handles are alive, the pointers live through the call.
        get_handle(|out| unsafe { sys::maxBufferToDlpack(self.as_raw(), &raw const options, out) }).map(Tensor)
    }

    /// As [`Buffer::to_dlpack`], for older libraries; `FailedPrecondition` if the buffer is read-only.
    /// See [`UnversionedTensor`].
    pub fn to_dlpack_unversioned(&self, consumer: Option<&Stream>) -> Result<UnversionedTensor> {
        let options = options!(MaxDlpackExportOptions { stream: raw_stream(consumer) });
        self.freeze();
        // SAFETY: as above.
        get_handle(|out| unsafe { sys::maxBufferToDlpackUnversioned(self.as_raw(), &raw const options, out) })
            .map(UnversionedTensor)
    }

    /// A buffer that shares a tensor's memory, to read. See [`Tensor`].
    pub fn from_dlpack(tensor: Tensor, options: &ImportOptions<'_>) -> Result<Self> {
        let options = options.raw();
        // SAFETY: the tensor is valid; it goes to the library only if the call succeeds.
        let raw = get_handle(|out| unsafe { sys::maxBufferFromDlpack(tensor.0.as_ptr(), &raw const options, out) })?;
        _ = tensor.into_raw();
        Ok(Self::frozen(raw))
    }

    /// As [`Buffer::from_dlpack`], of older libraries. See [`UnversionedTensor`].
    pub fn from_dlpack_unversioned(tensor: UnversionedTensor, options: &ImportOptions<'_>) -> Result<Self> {
        let options = options.raw();
        let data = tensor.0.as_ptr();
        // SAFETY: as above.
        let raw = get_handle(|out| unsafe { sys::maxBufferFromDlpackUnversioned(data, &raw const options, out) })?;
        _ = tensor.into_raw();
        Ok(Self::frozen(raw))
    }

    fn frozen(raw: NonNull<sys::MaxBuffer>) -> Self {
        let buffer = Self::owned(raw);
        buffer.freeze();
        buffer
    }
}
