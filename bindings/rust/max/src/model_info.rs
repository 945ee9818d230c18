// SPDX-License-Identifier: Apache-2.0
//! What a model file holds, without making it ready to run.

use std::fmt;
use std::path::Path;

use max_sys as sys;

use crate::error::{Result, c_path, get, get_handle, get_text};
use crate::handle::handle;
use crate::tensor_info::TensorInfo;

handle!(sync
    /// Format, operators, inputs and outputs of a model as its file declares them.
    ///
    /// ```
    /// use max::ModelInfo;
    /// let info = ModelInfo::load("../../../examples/digits/digits.onnx")?;
    /// assert!(info.unsupported()?.is_empty());
    /// assert_eq!(info.operators()?[0], ("Conv".to_string(), 3));
    /// println!("{} of IR version {} with opsets {:?}", info.producer()?, info.ir_version()?, info.opsets()?);
    /// println!("{} numbers in {} weights", info.parameter_count()?, info.weights()?.len());
    /// assert_eq!((info.inputs()?.len(), info.outputs()?.len()), (1, 1));
    /// assert!(info.graph()?.starts_with("digraph"));
    /// # Ok::<(), max::Error>(())
    /// ```
    pub ModelInfo: MaxModelInfo, maxModelInfoRetain, maxModelInfoRelease
);

/// A node whose operator is not supported.
///
/// ```
/// # let info = max::ModelInfo::load("../../../examples/digits/digits.onnx")?;
/// for node in info.unsupported()? {
///     println!("{}: {} of opset {}", node.name, node.operator, node.version);
/// }
/// # Ok::<(), max::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedNode {
    /// Its name; may be empty.
    pub name: String,
    /// Its operator, with the domain unless that is ONNX's own.
    pub operator: String,
    /// The version of the operator set that it asks for.
    pub version: i64,
}

/// A getter with an index.
type At<T> = unsafe extern "C" fn(*const sys::MaxModelInfo, i32, *mut T) -> sys::MaxStatus;
/// A getter.
type Get<T> = unsafe extern "C" fn(*const sys::MaxModelInfo, *mut T) -> sys::MaxStatus;

impl ModelInfo {
    /// Reads an ONNX file, a compiled model, or a folder that holds one. See [`ModelInfo`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = c_path(path.as_ref())?;
        // SAFETY: the pointers live through the call.
        get_handle(|out| unsafe { sys::maxModelInfoLoad(path.as_ptr(), out) }).map(Self::owned)
    }

    fn number<T: Copy + Default>(&self, getter: Get<T>) -> Result<T> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get(T::default(), |out| unsafe { getter(self.as_raw(), out) })
    }

    fn number_at(&self, getter: At<i64>, index: i32) -> Result<i64> {
        // SAFETY: as above.
        get(0, |out| unsafe { getter(self.as_raw(), index, out) })
    }

    fn text_at(&self, getter: At<*const std::ffi::c_char>, index: i32) -> Result<String> {
        // SAFETY: as above.
        get_text(|out| unsafe { getter(self.as_raw(), index, out) })
    }

    fn all<T>(&self, count: Get<i32>, entry: impl Fn(i32) -> Result<T>) -> Result<Vec<T>> {
        (0..self.number(count)?).map(entry).collect()
    }

    fn tensors(&self, count: Get<i32>, getter: At<sys::MaxTensorInfo>) -> Result<Vec<TensorInfo>> {
        // SAFETY: as above.
        self.all(count, |index| TensorInfo::get(|out| unsafe { getter(self.as_raw(), index, out) }))
    }

    /// The version of the file format; 0 for a graph built in code. See [`ModelInfo`].
    pub fn ir_version(&self) -> Result<i64> {
        self.number(sys::maxModelInfoGetIrVersion)
    }

    /// The name of the program that wrote the file; empty if it does not say. See [`ModelInfo`].
    pub fn producer(&self) -> Result<String> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_text(|out| unsafe { sys::maxModelInfoGetProducer(self.as_raw(), out) })
    }

    /// The number of elements of all weights. See [`ModelInfo`].
    pub fn parameter_count(&self) -> Result<i64> {
        self.number(sys::maxModelInfoGetParameterCount)
    }

    /// Domains and versions of the operator sets that the model uses. See [`ModelInfo`].
    pub fn opsets(&self) -> Result<Vec<(String, i64)>> {
        self.all(sys::maxModelInfoGetOpsetCount, |index| {
            let domain = self.text_at(sys::maxModelInfoGetOpsetDomain, index)?;
            Ok((domain, self.number_at(sys::maxModelInfoGetOpsetVersion, index)?))
        })
    }

    /// Names of operators, sorted, and how many nodes use each. See [`ModelInfo`].
    pub fn operators(&self) -> Result<Vec<(String, i64)>> {
        self.all(sys::maxModelInfoGetOperatorCount, |index| {
            let name = self.text_at(sys::maxModelInfoGetOperatorName, index)?;
            Ok((name, self.number_at(sys::maxModelInfoGetOperatorNodeCount, index)?))
        })
    }

    /// Nodes whose operators are not supported. See [`UnsupportedNode`].
    pub fn unsupported(&self) -> Result<Vec<UnsupportedNode>> {
        self.all(sys::maxModelInfoGetUnsupportedCount, |index| {
            Ok(UnsupportedNode {
                name: self.text_at(sys::maxModelInfoGetUnsupportedNode, index)?,
                operator: self.text_at(sys::maxModelInfoGetUnsupportedOperator, index)?,
                version: self.number_at(sys::maxModelInfoGetUnsupportedVersion, index)?,
            })
        })
    }

    /// Inputs that the file declares, without those that are weights. See [`ModelInfo`].
    pub fn inputs(&self) -> Result<Vec<TensorInfo>> {
        self.tensors(sys::maxModelInfoGetInputCount, sys::maxModelInfoGetInput)
    }

    /// Outputs that the file declares. See [`ModelInfo`].
    pub fn outputs(&self) -> Result<Vec<TensorInfo>> {
        self.tensors(sys::maxModelInfoGetOutputCount, sys::maxModelInfoGetOutput)
    }

    /// Weights: the named tensors that a load can replace. See [`ModelInfo`].
    pub fn weights(&self) -> Result<Vec<TensorInfo>> {
        self.tensors(sys::maxModelInfoGetWeightCount, sys::maxModelInfoGetWeight)
    }

    /// A drawing of the graph as the file has it, in the DOT language of Graphviz. See [`ModelInfo`].
    pub fn graph(&self) -> Result<String> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_text(|out| unsafe { sys::maxModelInfoGetGraph(self.as_raw(), out) })
    }
}

impl fmt::Debug for ModelInfo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ModelInfo({:p})", self.as_raw())
    }
}
