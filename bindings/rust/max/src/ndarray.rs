// SPDX-License-Identifier: Apache-2.0
//! Arrays of the crate `ndarray` in and out of buffers.

use ndarray::{ArrayBase, ArrayD, ArrayViewD, Data, Dimension, IxDyn};

use crate::access::Elements;
use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Error, Result, Status};

/// Arrays of `ndarray`.
impl Buffer {
    /// A buffer of the host with copies of an array's elements.
    ///
    /// ```
    /// use max::Buffer;
    /// let array = ndarray::array![[1.0f32, 2.0], [3.0, 4.0]];
    /// let buffer = Buffer::from_ndarray(&array.t())?;
    /// assert_eq!(buffer.to_vec::<f32>()?, [1.0, 3.0, 2.0, 4.0]);
    /// assert_eq!(buffer.to_ndarray::<f32>()?, array.t().into_dyn());
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn from_ndarray<S: Data<Elem: Element>, D: Dimension>(array: &ArrayBase<S, D>) -> Result<Self> {
        match array.as_slice() {
            Some(elements) => Self::from_slice(elements, array.shape()),
            None => Self::from_vec(array.iter().copied().collect::<Vec<S::Elem>>(), array.shape()),
        }
    }

    /// An array with copies of the elements. See [`Buffer::from_ndarray`].
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        ArrayD::from_shape_vec(IxDyn(self.shape()), self.to_vec()?).map_err(|error| wrong_shape(&error))
    }
}

/// Arrays of `ndarray`.
impl<T: Element> Elements<'_, T> {
    /// The elements as an array of a shape.
    ///
    /// ```
    /// let buffer = max::Buffer::from_slice(&[1, 2, 3, 4], &[2, 2])?;
    /// let elements = buffer.as_slice::<i32>()?;
    /// assert_eq!(elements.as_ndarray(buffer.shape())?[[1, 0]], 3);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn as_ndarray(&self, shape: &[usize]) -> Result<ArrayViewD<'_, T>> {
        ArrayViewD::from_shape(IxDyn(shape), self).map_err(|error| wrong_shape(&error))
    }
}

fn wrong_shape(error: &ndarray::ShapeError) -> Error {
    Error::new(Status::InvalidArgument, error.to_string())
}
