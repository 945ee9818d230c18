// SPDX-License-Identifier: Apache-2.0
//! Buffers of strings.

use std::ffi::c_char;
use std::ptr;
use std::slice;

use max_sys as sys;

use crate::buffer::{Buffer, Shape};
use crate::error::{Error, Result, Status, check, get_handle};

/// Strings.
impl Buffer {
    /// A read-only buffer of the host with copies of strings, as many as the shape has elements.
    ///
    /// ```
    /// use max::{Buffer, DType};
    /// let buffer = Buffer::from_strings(&["one", "two"], &[2])?;
    /// assert_eq!((buffer.dtype(), buffer.strings()?), (DType::STRING, vec!["one", "two"]));
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn from_strings<S: AsRef<[u8]>>(strings: &[S], shape: &[usize]) -> Result<Self> {
        let product = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        if product != Some(strings.len()) {
            let message = format!("{} strings do not fill the shape {shape:?}", strings.len());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        let shape = Shape::new(shape)?;
        let pointers: Vec<*const c_char> = strings.iter().map(|it| it.as_ref().as_ptr().cast()).collect();
        let lengths: Vec<usize> = strings.iter().map(|it| it.as_ref().len()).collect();
        let (pointers, lengths) = (pointers.as_ptr(), lengths.as_ptr());
        get_handle(|out| {
            // SAFETY: as many strings and lengths as the shape has elements.
            unsafe { sys::maxBufferCreateStrings(ptr::null_mut(), pointers, lengths, shape.rank, shape.as_ptr(), out) }
        })
        .map(Self::owned)
    }

    /// As [`Buffer::from_strings`], of one block of bytes: string i lies from `offsets[i]` to `offsets[i + 1]`.
    ///
    /// ```
    /// let buffer = max::Buffer::from_string_bytes(b"onetwo", &[0, 3, 6], &[2])?;
    /// assert_eq!(buffer.strings()?, ["one", "two"]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn from_string_bytes(bytes: &[u8], offsets: &[i64], shape: &[usize]) -> Result<Self> {
        let product = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        if product.and_then(|count| count.checked_add(1)) != Some(offsets.len()) {
            let message = format!("{} offsets are not one more than the shape {shape:?} has elements", offsets.len());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        let shape = Shape::new(shape)?;
        let data = if bytes.is_empty() { ptr::null() } else { bytes.as_ptr().cast() };
        let (none, count, offsets) = (ptr::null_mut(), bytes.len(), offsets.as_ptr());
        get_handle(|out| {
            // SAFETY: one more offset than the shape has elements; the call checks what they say.
            unsafe { sys::maxBufferCreateStringsFromBytes(none, data, count, offsets, shape.rank, shape.as_ptr(), out) }
        })
        .map(Self::owned)
    }

    /// The strings in row-major order, as they lie in the buffer: any bytes.
    ///
    /// ```
    /// let buffer = max::Buffer::from_strings(&[b"\xff".as_slice(), b"two"], &[2])?;
    /// assert_eq!(buffer.string_bytes()?[0], b"\xff");
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn string_bytes(&self) -> Result<Vec<&[u8]>> {
        let count = self.len();
        let (mut pointers, mut lengths) = (vec![ptr::null(); count], vec![0; count]);
        let asked = i64::try_from(count).unwrap_or(i64::MAX);
        // SAFETY: the handle is alive, and there is room for `count` strings.
        check(unsafe {
            sys::maxBufferGetStrings(self.as_raw(), 0, asked, pointers.as_mut_ptr(), lengths.as_mut_ptr())
        })?;
        // SAFETY: so many bytes each, which never change and live as long as the buffer.
        let bytes_of =
            |(pointer, length): (*const c_char, usize)| unsafe { slice::from_raw_parts(pointer.cast(), length) };
        Ok(pointers.into_iter().zip(lengths).map(bytes_of).collect())
    }

    /// The strings in row-major order; `FailedPrecondition` if one is not UTF-8. See [`Buffer::from_strings`].
    pub fn strings(&self) -> Result<Vec<&str>> {
        self.string_bytes()?
            .into_iter()
            .enumerate()
            .map(|(i, bytes)| {
                std::str::from_utf8(bytes).map_err(|error| {
                    Error::new(Status::FailedPrecondition, format!("String {i} of the buffer is not UTF-8: {error}"))
                })
            })
            .collect()
    }
}
