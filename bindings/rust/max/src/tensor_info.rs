// SPDX-License-Identifier: Apache-2.0
//! What is known of a tensor before there is one.

use std::ptr::NonNull;
use std::slice;

use max_sys as sys;

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Result, get, text_of};
use crate::handle::options;
use crate::value::ValueKind;

/// An input, output or weight of a model, or a value of a graph.
///
/// ```
/// use max::{DType, Session};
/// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
/// let image = &model.inputs()?[0];
/// assert_eq!(image.dtype, Some(DType::FLOAT32));
/// assert_eq!(image.shape.as_deref(), Some(&[None, Some(1), Some(8), Some(8)][..])); // each call chooses the batch
/// # Ok::<(), max::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct TensorInfo {
    /// Its name; empty if it has none.
    pub name: String,
    /// The type in words: `"float32[batch, 3]"`, `"sequence of float32"`.
    pub type_name: String,
    /// What kind of value it is.
    pub kind: ValueKind,
    /// Element type; of a sequence or optional that of the tensors in it, of a map that of its values.
    pub dtype: Option<DType>,
    /// Dimensions, `None` where a call chooses; `None` if not even their number is known.
    pub shape: Option<Vec<Option<usize>>>,
    /// Names of dimensions that a call chooses; those of equal name are equal in each call.
    pub dimension_names: Vec<Option<String>>,
    /// Where it is, if that is known.
    pub device: Option<Device>,
}

impl TensorInfo {
    /// What a call of the C API reports.
    pub(crate) fn get(call: impl FnOnce(*mut sys::MaxTensorInfo) -> sys::MaxStatus) -> Result<Self> {
        let info = get(options!(MaxTensorInfo {}), call)?;
        // SAFETY: what it points at is borrowed from an object that the caller holds.
        Ok(unsafe { Self::copied(&info) })
    }

    /// # Safety
    /// The report's object is alive.
    unsafe fn copied(info: &sys::MaxTensorInfo) -> Self {
        use sys::MaxTensorInfoMask as Mask;
        let is = |mask: Mask| info.validMask & mask == mask;
        let rank = usize::try_from(info.rank).ok().filter(|_| is(Mask::MAX_TENSOR_INFO_RANK));
        let count = rank.unwrap_or(0);
        let dims: &[i64] = if count == 0 || info.shape.is_null() {
            &[]
        } else {
            // SAFETY: as many as the rank.
            unsafe { slice::from_raw_parts(info.shape, count) }
        };
        let names = if count == 0 || info.dimensionNames.is_null() {
            Vec::new()
        } else {
            // SAFETY: as many as the rank, each null or a text.
            let names = unsafe { slice::from_raw_parts(info.dimensionNames, count) };
            // SAFETY: as above.
            names.iter().map(|&name| unsafe { text_of(name) }).collect()
        };
        Self {
            // SAFETY: null or texts.
            name: unsafe { text_of(info.name) }.unwrap_or_default(),
            // SAFETY: as above.
            type_name: unsafe { text_of(info.typeName) }.unwrap_or_default(),
            kind: ValueKind::of(info.kind),
            dtype: is(Mask::MAX_TENSOR_INFO_DTYPE).then_some(DType(info.dtype)),
            shape: rank.map(|_| dims.iter().map(|&dim| usize::try_from(dim).ok()).collect()),
            dimension_names: names,
            device: NonNull::new(info.device).map(Device::borrowed),
        }
    }
}
