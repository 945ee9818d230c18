// SPDX-License-Identifier: Apache-2.0
//! Graphs built in code: any ONNX operator by name, checked step by step.

use std::fmt;
use std::ptr::{self, NonNull};

use max_sys as sys;

use crate::attributes::Attributes;
use crate::buffer::{Buffer, Shape, raw_device};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Result, c_count, c_text, check, get, get_count, get_handle, get_text};
use crate::handle::{handle, options};
use crate::model::Pointers;
use crate::tensor_info::TensorInfo;
use crate::value::ValueKind;
use crate::weights::Weights;

handle!(
    /// A graph under construction. Clones are the same graph; as the C API promises no threads, it belongs to one.
    ///
    /// ```
    /// use max::{Buffer, DType, Dimension, Graph, Session};
    /// let graph = Graph::new("sum")?;
    /// let a = graph.input("a", DType::FLOAT32, &[Dimension::Named("n")])?;
    /// let b = graph.constant(&Buffer::scalar(0.5f32)?)?;
    /// graph.output(&graph.node("Add", &[&a, &b])?, "sum")?;
    /// let model = Session::new()?.compile(&graph)?;
    /// let outputs = model.execute(&[&Buffer::from_slice(&[1.0f32, 2.0], &[2])?])?;
    /// assert_eq!(*outputs[0].as_slice::<f32>()?, [1.5, 2.5]);
    /// # Ok::<(), max::Error>(())
    /// ```
    ///
    /// It does not go to another thread, nor is it shared:
    ///
    /// ```compile_fail,E0277
    /// fn send<T: Send>(_: T) {}
    /// send(max::Graph::new("graph")?);
    /// # Ok::<(), max::Error>(())
    /// ```
    ///
    /// ```compile_fail,E0277
    /// fn share<T: Sync>(_: T) {}
    /// share(max::Graph::new("graph")?);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Graph: MaxGraph, maxGraphRetain, maxGraphRelease
);

/// A dimension of an input of a graph.
///
/// ```
/// use max::{DType, Dimension, Graph};
/// let graph = Graph::new("graph")?;
/// let x = graph.input("x", DType::FLOAT32, &[Dimension::Named("batch"), 3.into(), Dimension::Dynamic])?;
/// assert_eq!(x.info()?.type_name, "float32[batch, 3, ?]");
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension<'a> {
    /// So many elements.
    Known(usize),
    /// As many as a call has.
    Dynamic,
    /// As many as a call has, and the same wherever the name stands.
    Named(&'a str),
}

impl From<usize> for Dimension<'_> {
    fn from(size: usize) -> Self {
        Self::Known(size)
    }
}

impl From<i32> for Dimension<'_> {
    /// A negative number is `Dynamic`.
    fn from(size: i32) -> Self {
        usize::try_from(size).map_or(Self::Dynamic, Self::Known)
    }
}

impl<'a> From<&'a str> for Dimension<'a> {
    fn from(name: &'a str) -> Self {
        Self::Named(name)
    }
}

/// A tensor of a graph, which holds the graph.
///
/// ```
/// use max::{DType, Graph};
/// let x = Graph::new("graph")?.input("x", DType::INT64, &[2, 3])?;
/// assert_eq!(x.info()?.name, "x");
/// assert_eq!(x.graph().name()?, "graph");
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone)]
pub struct GraphValue {
    raw: NonNull<sys::MaxGraphValue>,
    graph: Graph,
}

/// What a node has besides its operator and inputs.
///
/// ```
/// use max::{Attributes, DType, Graph, NodeOptions};
/// let graph = Graph::new("graph")?;
/// let x = graph.input("x", DType::FLOAT32, &[6, 2])?;
/// let attributes = Attributes::new()?.int("axis", 0)?.int("num_outputs", 3)?;
/// let options = NodeOptions::new().domain("").name("thirds").attributes(&attributes).outputs(3);
/// let parts = graph.node_with("Split", &[Some(&x)], &options)?;
/// assert_eq!(parts[2].info()?.shape, Some(vec![Some(2), Some(2)]));
/// # Ok::<(), max::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct NodeOptions<'a> {
    domain: &'a str,
    name: Option<&'a str>,
    attributes: Option<&'a Attributes>,
    outputs: usize,
}

impl Default for NodeOptions<'_> {
    fn default() -> Self {
        Self { domain: "", name: None, attributes: None, outputs: 1 }
    }
}

impl<'a> NodeOptions<'a> {
    /// The defaults: an operator of ONNX's own without attributes and with one output. See [`NodeOptions`].
    pub fn new() -> Self {
        Self::default()
    }

    /// The operator's domain; `""` is ONNX's own. See [`NodeOptions`].
    pub fn domain(mut self, domain: &'a str) -> Self {
        self.domain = domain;
        self
    }

    /// The node's name, for messages and profiles. See [`NodeOptions`].
    pub fn name(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    /// The node's attributes, which are copied. See [`NodeOptions`].
    pub fn attributes(mut self, attributes: &'a Attributes) -> Self {
        self.attributes = Some(attributes);
        self
    }

    /// How many outputs the node has. See [`NodeOptions`].
    pub fn outputs(mut self, count: usize) -> Self {
        self.outputs = count;
        self
    }
}

/// Dimensions as the C API takes them.
struct Dimensions {
    sizes: Vec<i64>,
    names: Vec<Option<std::ffi::CString>>,
}

impl Dimensions {
    fn new<'a, D: Into<Dimension<'a>> + Copy>(shape: &[D]) -> Result<Self> {
        let dynamic = i64::from(sys::MAX_DIMENSION_DYNAMIC);
        let (mut sizes, mut names) = (Vec::with_capacity(shape.len()), Vec::with_capacity(shape.len()));
        for &dimension in shape {
            let (size, name) = match dimension.into() {
                Dimension::Known(size) => (i64::try_from(size).unwrap_or(i64::MAX), None),
                Dimension::Dynamic => (dynamic, None),
                Dimension::Named(name) => (dynamic, Some(c_text(name)?)),
            };
            sizes.push(size);
            names.push(name);
        }
        Ok(Self { sizes, names })
    }
}

impl Graph {
    /// An empty graph. See [`Graph`].
    pub fn new(name: &str) -> Result<Self> {
        let name = c_text(name)?;
        // SAFETY: the pointers live through the call.
        get_handle(|out| unsafe { sys::maxGraphCreate(name.as_ptr(), out) }).map(Self::owned)
    }

    /// An empty subgraph, a branch or body for the operators If, Loop and Scan. Its nodes may use values of this graph.
    ///
    /// ```
    /// use max::{Attributes, Buffer, DType, Graph, NodeOptions, Session};
    /// let graph = Graph::new("choice")?;
    /// let (condition, x) = (graph.input::<usize>("condition", DType::BOOL, &[])?, graph.input("x", DType::FLOAT32, &[2])?);
    /// let mut attributes = Attributes::new()?;
    /// for (branch, operator) in [("then_branch", "Neg"), ("else_branch", "Abs")] {
    ///     let subgraph = graph.subgraph(branch)?;
    ///     subgraph.output(&subgraph.node(operator, &[&x])?, "y")?;
    ///     attributes = attributes.graph(branch, &subgraph)?;
    /// }
    /// let y = graph.node_with("If", &[Some(&condition)], &NodeOptions::new().attributes(&attributes))?;
    /// graph.output(&y[0], "y")?;
    /// let model = Session::new()?.compile(&graph)?;
    /// let x = Buffer::from_slice(&[1.0f32, -2.0], &[2])?;
    /// assert_eq!(model.execute(&[&Buffer::scalar(true)?, &x])?[0].to_vec::<f32>()?, [-1.0, 2.0]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn subgraph(&self, name: &str) -> Result<Self> {
        let name = c_text(name)?;
        // SAFETY: the handle is alive, the pointers live through the call.
        get_handle(|out| unsafe { sys::maxGraphCreateSubgraph(self.as_raw(), name.as_ptr(), out) }).map(Self::owned)
    }

    /// The name of the graph. See [`GraphValue`].
    pub fn name(&self) -> Result<String> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_text(|out| unsafe { sys::maxGraphGetName(self.as_raw(), out) })
    }

    fn value(&self, raw: NonNull<sys::MaxGraphValue>) -> GraphValue {
        GraphValue { raw, graph: self.clone() }
    }

    fn add(&self, call: impl FnOnce(*mut *mut sys::MaxGraphValue) -> sys::MaxStatus) -> Result<GraphValue> {
        get_handle(call).map(|raw| self.value(raw))
    }

    /// Adds a named input on the first device of the session. See [`Graph`].
    pub fn input<'a, D: Into<Dimension<'a>> + Copy>(
        &self,
        name: &str,
        dtype: DType,
        shape: &[D],
    ) -> Result<GraphValue> {
        self.input_on(name, dtype, shape, None)
    }

    /// As [`Graph::input`], on a device.
    ///
    /// ```
    /// use max::{DType, Device, Graph};
    /// let device = Device::cpu()?;
    /// let x = Graph::new("graph")?.input_on("x", DType::FLOAT32, &[2, 3], Some(&device))?;
    /// assert_eq!(x.info()?.device, Some(device));
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn input_on<'a, D: Into<Dimension<'a>> + Copy>(
        &self,
        name: &str,
        dtype: DType,
        shape: &[D],
        device: Option<&Device>,
    ) -> Result<GraphValue> {
        let (name, dimensions) = (c_text(name)?, Dimensions::new(shape)?);
        let names: Vec<_> =
            dimensions.names.iter().map(|it| it.as_ref().map_or(ptr::null(), |it| it.as_ptr())).collect();
        let options = options!(MaxGraphInputOptions { dimensionNames: names.as_ptr(), device: raw_device(device) });
        let (rank, sizes) = (c_count(shape.len())?, dimensions.sizes.as_ptr());
        // SAFETY: the handles are alive, the arrays have `rank` entries.
        self.add(|out| unsafe {
            sys::maxGraphAddInput(self.as_raw(), name.as_ptr(), dtype.0, rank, sizes, &raw const options, out)
        })
    }

    /// Adds an input of which not even the rank is known; for subgraphs.
    ///
    /// ```
    /// use max::{DType, Graph};
    /// let body = Graph::new("graph")?.subgraph("body")?;
    /// let x = body.input_of_any_rank("x", DType::FLOAT32)?;
    /// assert_eq!(x.info()?.shape, None);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn input_of_any_rank(&self, name: &str, dtype: DType) -> Result<GraphValue> {
        let (name, any) = (c_text(name)?, sys::MAX_RANK_DYNAMIC);
        let none = (ptr::null(), ptr::null());
        // SAFETY: the handle is alive, the pointers live through the call.
        self.add(|out| unsafe {
            sys::maxGraphAddInput(self.as_raw(), name.as_ptr(), dtype.0, any, none.0, none.1, out)
        })
    }

    /// Adds an input with the type and the device of a value of this graph or of its parents.
    ///
    /// ```
    /// use max::{DType, Graph};
    /// let graph = Graph::new("graph")?;
    /// let x = graph.input("x", DType::FLOAT32, &[2, 3])?;
    /// let y = graph.subgraph("body")?.input_like("y", &x)?;
    /// assert_eq!(y.info()?.shape, x.info()?.shape);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn input_like(&self, name: &str, value: &GraphValue) -> Result<GraphValue> {
        let name = c_text(name)?;
        // SAFETY: the handles are alive, the pointers live through the call.
        self.add(|out| unsafe { sys::maxGraphAddInputLike(self.as_raw(), name.as_ptr(), value.raw.as_ptr(), out) })
    }

    /// Adds a copy of a value on another device of the session that will compile the graph. Nodes run on the device of
    /// their inputs that are placed on one: inputs of the graph that name it, transfers, and what is computed from them.
    ///
    /// ```
    /// use max::{DType, Device, Graph};
    /// let graph = Graph::new("graph")?;
    /// let x = graph.input("x", DType::FLOAT32, &[2])?;
    /// let there = graph.transfer(&x, &Device::cpu()?)?;
    /// assert_eq!(there.info()?.shape, x.info()?.shape);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn transfer(&self, value: &GraphValue, device: &Device) -> Result<GraphValue> {
        // SAFETY: the handles are alive.
        self.add(|out| unsafe { sys::maxGraphAddTransfer(self.as_raw(), value.raw.as_ptr(), device.as_raw(), out) })
    }

    /// Adds an input that is a sequence or an optional of tensors.
    ///
    /// ```
    /// use max::{DType, Graph, ValueKind};
    /// let x = Graph::new("graph")?.value_input("x", ValueKind::Sequence, DType::FLOAT32)?;
    /// assert_eq!(x.info()?.kind, ValueKind::Sequence);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn value_input(&self, name: &str, kind: ValueKind, dtype: DType) -> Result<GraphValue> {
        let (name, kind) = (c_text(name)?, sys::MaxValueKind(kind as i32));
        // SAFETY: the handle is alive, the pointers live through the call.
        self.add(|out| unsafe { sys::maxGraphAddValueInput(self.as_raw(), name.as_ptr(), kind, dtype.0, out) })
    }

    /// Adds a constant, whose contents are copied. See [`Graph`].
    pub fn constant(&self, contents: &Buffer) -> Result<GraphValue> {
        // SAFETY: the handles are alive, the pointer lives through the call.
        self.add(|out| unsafe { sys::maxGraphAddConstant(self.as_raw(), ptr::null(), contents.as_raw(), out) })
    }

    /// Adds a named constant.
    ///
    /// ```
    /// use max::{Buffer, Graph};
    /// let graph = Graph::new("graph")?;
    /// graph.named_constant("half", &Buffer::scalar(0.5f32)?)?;
    /// assert_eq!(graph.find_value("half")?.info()?.name, "half");
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn named_constant(&self, name: &str, contents: &Buffer) -> Result<GraphValue> {
        let name = c_text(name)?;
        // SAFETY: the handles are alive, the pointers live through the call.
        self.add(|out| unsafe { sys::maxGraphAddConstant(self.as_raw(), name.as_ptr(), contents.as_raw(), out) })
    }

    /// Adds a weight: a constant whose contents are given by name when the graph is compiled.
    ///
    /// ```
    /// use max::{Buffer, DType, Graph, LoadOptions, Session};
    /// let graph = Graph::new("scale")?;
    /// let x = graph.input("x", DType::FLOAT32, &[1])?;
    /// let factor = graph.weight("factor", DType::FLOAT32, &[1], None)?;
    /// graph.output(&graph.node("Mul", &[&x, &factor])?, "y")?;
    /// let three = Buffer::from_slice(&[3.0f32], &[1])?;
    /// let model = Session::new()?.compile_with(&graph, LoadOptions::new().weight("factor", &three))?;
    /// assert_eq!(model.execute(&[&Buffer::from_slice(&[5.0f32], &[1])?])?[0].item::<f32>()?, 15.0);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn weight(&self, name: &str, dtype: DType, shape: &[usize], device: Option<&Device>) -> Result<GraphValue> {
        let (name, shape) = (c_text(name)?, Shape::new(shape)?);
        let (device, dims) = (raw_device(device), shape.as_ptr());
        // SAFETY: the handles are alive, the pointers live through the call.
        self.add(|out| unsafe {
            sys::maxGraphAddWeight(self.as_raw(), name.as_ptr(), dtype.0, shape.rank, dims, device, out)
        })
    }

    /// Adds a weight with its contents, which are used where they lie and cannot be written from then on.
    ///
    /// ```
    /// use max::{Buffer, Graph, Status};
    /// let mut bias = Buffer::from_slice(&[1.0f32, 2.0], &[2])?;
    /// Graph::new("graph")?.weight_from_buffer("bias", &bias)?;
    /// assert_eq!(bias.fill(0.0f32).unwrap_err().status(), Status::FailedPrecondition);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn weight_from_buffer(&self, name: &str, contents: &Buffer) -> Result<GraphValue> {
        let name = c_text(name)?;
        contents.freeze();
        // SAFETY: the handles are alive, the pointers live through the call.
        self.add(|out| unsafe {
            sys::maxGraphAddWeightFromBuffer(self.as_raw(), name.as_ptr(), contents.as_raw(), out)
        })
    }

    /// Adds a weight with the contents that a file of weights has under its name.
    ///
    /// ```
    /// use max::{Buffer, Graph, Weights};
    /// # let path = std::env::temp_dir().join(format!("graph_{}.max", std::process::id()));
    /// Buffer::from_slice(&[1.0f32, 2.0], &[2])?.save(&path, Some("bias"))?;
    /// let bias = Graph::new("graph")?.weight_from_weights("bias", &Weights::load(&path)?)?;
    /// assert_eq!(bias.info()?.shape, Some(vec![Some(2)]));
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn weight_from_weights(&self, name: &str, weights: &Weights) -> Result<GraphValue> {
        let name = c_text(name)?;
        // SAFETY: the handles are alive, the pointers live through the call.
        self.add(|out| unsafe {
            sys::maxGraphAddWeightFromWeights(self.as_raw(), name.as_ptr(), weights.as_raw(), out)
        })
    }

    /// Adds a node of one of ONNX's operators, with one output. Inputs are values of this graph or of its parents.
    /// See [`Graph`].
    pub fn node(&self, operator: &str, inputs: &[&GraphValue]) -> Result<GraphValue> {
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        let mut values = self.node_with(operator, &inputs, &NodeOptions::default())?;
        Ok(values.swap_remove(0))
    }

    /// As [`Graph::node`], with options. An optional input is left out by `None`. See [`NodeOptions`].
    pub fn node_with(
        &self,
        operator: &str,
        inputs: &[Option<&GraphValue>],
        options: &NodeOptions<'_>,
    ) -> Result<Vec<GraphValue>> {
        let (domain, operator) = (c_text(options.domain)?, c_text(operator)?);
        let name = options.name.map(c_text).transpose()?;
        let name = name.as_ref().map_or(ptr::null(), |it| it.as_ptr());
        let inputs = Pointers::new(inputs.iter().map(|it| it.map_or(ptr::null_mut(), |it| it.raw.as_ptr())));
        let (inputs, mut outputs) = (inputs.as_slice(), vec![ptr::null_mut(); options.outputs]);
        let attributes = options.attributes.map_or(ptr::null(), |it| it.as_raw().cast_const());
        let (input_count, count) = (c_count(inputs.len())?, c_count(options.outputs)?);
        // SAFETY: the handles are alive, the arrays have so many entries.
        check(unsafe {
            let (graph, domain, operator) = (self.as_raw(), domain.as_ptr(), operator.as_ptr());
            let (inputs, outputs) = (inputs.as_ptr(), outputs.as_mut_ptr());
            sys::maxGraphAddNode(graph, domain, operator, name, inputs, input_count, attributes, outputs, count)
        })?;
        Ok(outputs.into_iter().filter_map(NonNull::new).map(|raw| self.value(raw)).collect())
    }

    /// Makes a value the next output of the graph, with a name that is unique among the outputs. See [`Graph`].
    pub fn output(&self, value: &GraphValue, name: &str) -> Result<()> {
        let name = c_text(name)?;
        // SAFETY: the handles are alive, the pointer lives through the call.
        check(unsafe { sys::maxGraphAddOutput(self.as_raw(), value.raw.as_ptr(), name.as_ptr()) })
    }

    /// The inputs.
    ///
    /// ```
    /// use max::{DType, Graph};
    /// let graph = Graph::new("graph")?;
    /// let x = graph.input("x", DType::FLOAT32, &[2])?;
    /// graph.output(&graph.node("Neg", &[&x])?, "y")?;
    /// assert_eq!(graph.inputs()?[0].info()?.name, "x");
    /// assert_eq!(graph.outputs()?[0].0, "y");
    /// assert_eq!(graph.node_count()?, 1);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn inputs(&self) -> Result<Vec<GraphValue>> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        let count = get(0, |out| unsafe { sys::maxGraphGetInputCount(self.as_raw(), out) })?;
        // SAFETY: as above.
        (0..count).map(|i| self.add(|out| unsafe { sys::maxGraphGetInput(self.as_raw(), i, out) })).collect()
    }

    /// Names of the outputs and their values. See [`Graph::inputs`].
    pub fn outputs(&self) -> Result<Vec<(String, GraphValue)>> {
        // SAFETY: as above.
        let count = get(0, |out| unsafe { sys::maxGraphGetOutputCount(self.as_raw(), out) })?;
        (0..count)
            .map(|index| {
                // SAFETY: as above.
                let name = get_text(|out| unsafe { sys::maxGraphGetOutputName(self.as_raw(), index, out) })?;
                // SAFETY: as above.
                Ok((name, self.add(|out| unsafe { sys::maxGraphGetOutput(self.as_raw(), index, out) })?))
            })
            .collect()
    }

    /// Number of nodes, those of subgraphs not included. See [`Graph::inputs`].
    pub fn node_count(&self) -> Result<usize> {
        // SAFETY: as above.
        get_count(|out| unsafe { sys::maxGraphGetNodeCount(self.as_raw(), out) })
    }

    /// The value of a name; `NotFound` if the graph has none. See [`Graph::named_constant`].
    pub fn find_value(&self, name: &str) -> Result<GraphValue> {
        let name = c_text(name)?;
        // SAFETY: as above.
        self.add(|out| unsafe { sys::maxGraphFindValue(self.as_raw(), name.as_ptr(), out) })
    }
}

impl GraphValue {
    /// The graph that the value belongs to. See [`GraphValue`].
    pub fn graph(&self) -> Graph {
        // SAFETY: the value is alive, the pointer lives through the call.
        let graph = get_handle(|out| unsafe { sys::maxGraphValueGetGraph(self.raw.as_ptr(), out) });
        graph.map_or_else(|_| self.graph.clone(), Graph::borrowed)
    }

    /// What is known of the value. See [`GraphValue`].
    pub fn info(&self) -> Result<TensorInfo> {
        // SAFETY: as above.
        TensorInfo::get(|out| unsafe { sys::maxGraphValueGetInfo(self.raw.as_ptr(), out) })
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, nodes) = (self.name().map_err(|_| fmt::Error)?, self.node_count().map_err(|_| fmt::Error)?);
        write!(formatter, "Graph({name}, {nodes} nodes)")
    }
}

impl fmt::Debug for GraphValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info().map_err(|_| fmt::Error)?;
        write!(formatter, "GraphValue({}: {})", info.name, info.type_name)
    }
}
