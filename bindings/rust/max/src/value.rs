// SPDX-License-Identifier: Apache-2.0
//! Values: what a model may take or give besides a tensor.

use std::fmt;
use std::ptr;

use max_sys as sys;

use crate::buffer::Buffer;
use crate::error::{Result, c_count, check, get, get_count, get_handle};
use crate::handle::handle;

handle!(sync
    /// A tensor, sequence, optional or map. It does not change once it is made, nor do the buffers that it was made of:
    /// from then on writing them is `FailedPrecondition`.
    ///
    /// ```
    /// use max::{Buffer, Value, ValueKind};
    /// let (a, b) = (Buffer::scalar(1.0f32)?, Buffer::scalar(2.0f32)?);
    /// let sequence = Value::sequence(&[Value::tensor(&a)?, Value::tensor(&b)?])?;
    /// assert_eq!((sequence.kind()?, sequence.len()?), (ValueKind::Sequence, 2));
    /// assert_eq!(sequence.elements()?[1].buffer()?.item::<f32>()?, 2.0);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Value: MaxValue, maxValueRetain, maxValueRelease
);

/// What a value is; what a model takes or gives.
///
/// ```
/// use max::{Value, ValueKind};
/// assert_eq!(Value::optional(None)?.kind()?, ValueKind::Optional);
/// # Ok::<(), max::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// A tensor.
    Tensor = sys::MaxValueKind::MAX_VALUE_KIND_TENSOR.0 as isize,
    /// A sequence of values.
    Sequence = sys::MaxValueKind::MAX_VALUE_KIND_SEQUENCE.0 as isize,
    /// A value or nothing.
    Optional = sys::MaxValueKind::MAX_VALUE_KIND_OPTIONAL.0 as isize,
    /// A map from keys to values.
    Map = sys::MaxValueKind::MAX_VALUE_KIND_MAP.0 as isize,
}

impl ValueKind {
    pub(crate) fn of(kind: sys::MaxValueKind) -> Self {
        match kind {
            sys::MaxValueKind::MAX_VALUE_KIND_SEQUENCE => Self::Sequence,
            sys::MaxValueKind::MAX_VALUE_KIND_OPTIONAL => Self::Optional,
            sys::MaxValueKind::MAX_VALUE_KIND_MAP => Self::Map,
            _ => Self::Tensor,
        }
    }
}

impl Value {
    /// A value of a buffer, which it shares. See [`Value`].
    pub fn tensor(buffer: &Buffer) -> Result<Self> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        let value = get_handle(|out| unsafe { sys::maxValueCreateTensor(buffer.as_raw(), out) }).map(Self::owned)?;
        buffer.freeze();
        Ok(value)
    }

    /// A sequence of values: tensors of one element type, or maps. See [`Value`].
    pub fn sequence(elements: &[Value]) -> Result<Self> {
        let count = c_count(elements.len())?;
        // A value is its pointer.
        let elements = elements.as_ptr().cast::<*mut sys::MaxValue>();
        // SAFETY: so many handles that are alive, the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxValueCreateSequence(elements, count, out) }).map(Self::owned)
    }

    /// An optional that holds a tensor or a sequence, or nothing.
    ///
    /// ```
    /// use max::{Buffer, Value};
    /// assert!(Value::optional(None)?.is_empty()?);
    /// let value = Value::optional(Some(&Value::tensor(&Buffer::scalar(1.0f32)?)?))?;
    /// assert_eq!(value.elements()?[0].buffer()?.item::<f32>()?, 1.0);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn optional(element: Option<&Value>) -> Result<Self> {
        let element = element.map_or(ptr::null_mut(), Value::as_raw);
        // SAFETY: the handle is alive or null, the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxValueCreateOptional(element, out) }).map(Self::owned)
    }

    /// A map from keys, strings or int64, to values: two lists of equal length.
    ///
    /// ```
    /// use max::{Buffer, Value};
    /// let map = Value::map(&Buffer::from_strings(&["a", "b"], &[2])?, &Buffer::from_slice(&[1.0f32, 2.0], &[2])?)?;
    /// assert_eq!(map.map_keys()?.strings()?, ["a", "b"]);
    /// assert_eq!(map.map_values()?.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn map(keys: &Buffer, values: &Buffer) -> Result<Self> {
        // SAFETY: the handles are alive, the pointer lives through the call.
        let value = get_handle(|out| unsafe { sys::maxValueCreateMap(keys.as_raw(), values.as_raw(), out) });
        let value = value.map(Self::owned)?;
        keys.freeze();
        values.freeze();
        Ok(value)
    }

    /// What the value is. See [`Value`].
    pub fn kind(&self) -> Result<ValueKind> {
        let none = sys::MaxValueKind(0);
        // SAFETY: the handle is alive, the pointer lives through the call.
        get(none, |out| unsafe { sys::maxValueGetKind(self.as_raw(), out) }).map(ValueKind::of)
    }

    /// The buffer of a tensor, to read. See [`Value`].
    pub fn buffer(&self) -> Result<Buffer> {
        // SAFETY: as above.
        get_handle(|out| unsafe { sys::maxValueGetBuffer(self.as_raw(), out) }).map(Buffer::borrowed_frozen)
    }

    /// How many elements a sequence or entries a map has; of an optional 1 or, if it holds nothing, 0. See [`Value`].
    pub fn len(&self) -> Result<usize> {
        // SAFETY: as above.
        get_count(|out| unsafe { sys::maxValueGetCount(self.as_raw(), out) })
    }

    /// Whether there are none. See [`Value::optional`].
    pub fn is_empty(&self) -> Result<bool> {
        self.len().map(|len| len == 0)
    }

    /// The elements of a sequence, or what an optional holds. See [`Value`].
    pub fn elements(&self) -> Result<Vec<Value>> {
        let mut elements = vec![ptr::null_mut(); self.len()?];
        let count = c_count(elements.len())?;
        // SAFETY: the handle is alive, there is room for `count` elements.
        check(unsafe { sys::maxValueGetElements(self.as_raw(), 0, count, elements.as_mut_ptr()) })?;
        Ok(elements.into_iter().filter_map(ptr::NonNull::new).map(Value::borrowed).collect())
    }

    /// The keys of a map, to read: a list of strings or int64. See [`Value::map`].
    pub fn map_keys(&self) -> Result<Buffer> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxValueGetMapKeys(self.as_raw(), out) }).map(Buffer::borrowed_frozen)
    }

    /// The values of a map, to read, in the order of its keys. See [`Value::map`].
    pub fn map_values(&self) -> Result<Buffer> {
        // SAFETY: as above.
        get_handle(|out| unsafe { sys::maxValueGetMapValues(self.as_raw(), out) }).map(Buffer::borrowed_frozen)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Value({:?})", self.kind().map_err(|_| fmt::Error)?)
    }
}
