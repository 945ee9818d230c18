// SPDX-License-Identifier: Apache-2.0
//! Attributes of nodes.

use std::fmt;
use std::ptr;

use max_sys as sys;

use crate::buffer::Buffer;
use crate::dtype::DType;
use crate::error::{CTexts, Result, c_count, c_text, check, get_handle};
use crate::graph::Graph;
use crate::handle::handle;

handle!(
    /// The attributes of a node, by name. Setting a name again replaces its value. Clones are the same set.
    ///
    /// ```
    /// use max::{Attributes, Buffer, DType};
    /// let attributes = Attributes::new()?
    ///     .int("axis", -1)?
    ///     .ints("pads", &[0, 1])?
    ///     .float("alpha", 0.5)?
    ///     .floats("scales", &[1.0, 2.0])?
    ///     .string("mode", "linear")?
    ///     .strings("classes", &["cat", "dog"])?
    ///     .dtype("to", DType::FLOAT16)?
    ///     .tensor("value", &Buffer::scalar(1i64)?)?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Attributes: MaxAttributes, maxAttributesRetain, maxAttributesRelease
);

/// Null if there is nothing.
fn pointer<T>(values: &[T]) -> *const T {
    if values.is_empty() { ptr::null() } else { values.as_ptr() }
}

impl Attributes {
    /// An empty set. See [`Attributes`].
    pub fn new() -> Result<Self> {
        // SAFETY: the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxAttributesCreate(out) }).map(Self::owned)
    }

    fn set(
        self,
        name: &str,
        call: impl FnOnce(*mut sys::MaxAttributes, *const std::ffi::c_char) -> sys::MaxStatus,
    ) -> Result<Self> {
        let name = c_text(name)?;
        check(call(self.as_raw(), name.as_ptr()))?;
        Ok(self)
    }

    /// Sets a number. See [`Attributes`].
    pub fn int(self, name: &str, value: i64) -> Result<Self> {
        // SAFETY: the handle is alive, the name lives through the call.
        self.set(name, |raw, name| unsafe { sys::maxAttributesSetInt(raw, name, value) })
    }

    /// Sets a list of numbers. See [`Attributes`].
    pub fn ints(self, name: &str, values: &[i64]) -> Result<Self> {
        let count = c_count(values.len())?;
        // SAFETY: as above; so many values.
        self.set(name, |raw, name| unsafe { sys::maxAttributesSetInts(raw, name, pointer(values), count) })
    }

    /// Sets an element type, for example `to` of Cast. See [`Attributes`].
    pub fn dtype(self, name: &str, value: DType) -> Result<Self> {
        // SAFETY: as above.
        self.set(name, |raw, name| unsafe { sys::maxAttributesSetDType(raw, name, value.0) })
    }

    /// Sets a real number. See [`Attributes`].
    pub fn float(self, name: &str, value: f32) -> Result<Self> {
        // SAFETY: as above.
        self.set(name, |raw, name| unsafe { sys::maxAttributesSetFloat(raw, name, value) })
    }

    /// Sets a list of real numbers. See [`Attributes`].
    pub fn floats(self, name: &str, values: &[f32]) -> Result<Self> {
        let count = c_count(values.len())?;
        // SAFETY: as above; so many values.
        self.set(name, |raw, name| unsafe { sys::maxAttributesSetFloats(raw, name, pointer(values), count) })
    }

    /// Sets a string. See [`Attributes`].
    pub fn string(self, name: &str, value: &str) -> Result<Self> {
        let value = c_text(value)?;
        // SAFETY: as above.
        self.set(name, |raw, name| unsafe { sys::maxAttributesSetString(raw, name, value.as_ptr()) })
    }

    /// Sets a list of strings. See [`Attributes`].
    pub fn strings(self, name: &str, values: &[&str]) -> Result<Self> {
        let values = CTexts::new(values)?;
        let count = values.count()?;
        // SAFETY: as above; so many values.
        self.set(name, |raw, name| unsafe { sys::maxAttributesSetStrings(raw, name, values.as_ptr(), count) })
    }

    /// Sets a tensor, whose contents are copied. See [`Attributes`].
    pub fn tensor(self, name: &str, value: &Buffer) -> Result<Self> {
        // SAFETY: as above.
        self.set(name, |raw, name| unsafe { sys::maxAttributesSetTensor(raw, name, value.as_raw()) })
    }

    /// Sets a subgraph, which cannot change any more once a node uses it. See [`Graph::subgraph`].
    pub fn graph(self, name: &str, value: &Graph) -> Result<Self> {
        // SAFETY: as above.
        self.set(name, |raw, name| unsafe { sys::maxAttributesSetGraph(raw, name, value.as_raw()) })
    }
}

impl fmt::Debug for Attributes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Attributes({:p})", self.as_raw())
    }
}
