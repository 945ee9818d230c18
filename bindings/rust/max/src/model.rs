// SPDX-License-Identifier: Apache-2.0
//! Models: loaded once, executed many times, from many threads.

use std::ffi::c_void;
use std::fmt;
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::time::Duration;

use max_sys as sys;

use crate::buffer::{Buffer, raw_stream};
use crate::buffer_data::writing;
use crate::cancellation::Cancellation;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{
    CTexts, Error, Result, Status, c_count, c_path, c_text, c_timeout, check, get, get_count, get_handle, get_text,
};
use crate::execution::Execution;
use crate::handle::{handle, options};
use crate::load::Precision;
use crate::model_info::ModelInfo;
use crate::session::Session;
use crate::stream::Stream;
use crate::tensor_info::TensorInfo;
use crate::value::Value;

/// A model that is ready to run, from any number of threads at the same time.
///
/// ```
/// use max::{Buffer, DType, Session};
/// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
/// let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?;
/// let probabilities = model.execute(&[&image])?[0].to_vec::<f32>()?;
/// assert_eq!(probabilities.len(), 10);
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone)]
pub struct Model {
    handle: Handle,
    /// Asked once, as calls are frequent.
    output_count: usize,
}

handle!(sync
    /// The object of a model.
    pub(crate) Handle: MaxModel, maxModelRetain, maxModelRelease
);

/// Options of a call of a model.
///
/// ```
/// use std::time::Duration;
/// use max::{Buffer, Cancellation, DType, Device, ExecuteOptions, Session, Stream};
/// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
/// let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?;
/// let (stream, cancellation) = (Stream::new(&Device::cpu()?)?, Cancellation::new()?);
/// let options = ExecuteOptions::new().stream(&stream).cancellation(&cancellation).timeout(Duration::from_secs(60));
/// let outputs = model.execute_with(&[&image], &options)?; // queued
/// stream.synchronize(None)?;
/// # Ok::<(), max::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Default)]
pub struct ExecuteOptions<'a> {
    pub(crate) stream: Option<&'a Stream>,
    pub(crate) cancellation: Option<&'a Cancellation>,
    pub(crate) timeout: Option<Duration>,
}

impl<'a> ExecuteOptions<'a> {
    /// The defaults: the call returns when the work is done, whenever that is. See [`ExecuteOptions`].
    pub fn new() -> Self {
        Self::default()
    }

    /// The stream that the call is ordered in: on one that was created, the call returns once the work is queued.
    /// See [`ExecuteOptions`].
    pub fn stream(mut self, stream: &'a Stream) -> Self {
        self.stream = Some(stream);
        self
    }

    /// Stops the call when it is cancelled. See [`ExecuteOptions`].
    pub fn cancellation(mut self, cancellation: &'a Cancellation) -> Self {
        self.cancellation = Some(cancellation);
        self
    }

    /// Time after which the call gives up, the wait in a stream included. See [`ExecuteOptions`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    #[inline]
    fn is_default(&self) -> bool {
        self.stream.is_none() && self.cancellation.is_none() && self.timeout.is_none()
    }

    #[inline]
    fn raw(&self, outputs: *const *mut sys::MaxBuffer) -> sys::MaxModelExecuteOptions {
        options!(MaxModelExecuteOptions {
            stream: raw_stream(self.stream),
            outputs: outputs,
            cancellation: self.cancellation.map_or(ptr::null(), |it| it.as_raw().cast_const()),
            timeoutNs: c_timeout(self.timeout),
        })
    }
}

/// An input that lies in an array of the program.
///
/// ```
/// use max::{HostTensor, Session};
/// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
/// let outputs = model.execute_host(&[HostTensor::new(&[0.0f32; 64], &[1, 1, 8, 8])?])?;
/// assert_eq!(outputs[0].shape(), [1, 10]);
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HostTensor<'a> {
    data: &'a [u8],
    dtype: DType,
    shape: &'a [usize],
}

impl<'a> HostTensor<'a> {
    /// An input of a slice, with as many elements as the shape has. See [`HostTensor`].
    pub fn new<T: Element>(elements: &'a [T], shape: &'a [usize]) -> Result<Self> {
        let product = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        if product != Some(elements.len()) {
            let message = format!("{} elements do not fill the shape {shape:?}", elements.len());
            return Err(Error::new(Status::InvalidArgument, message));
        }
        // SAFETY: elements have no padding.
        let data = unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) };
        Ok(Self { data, dtype: T::DTYPE, shape })
    }
}

/// What a model holds in memory, in bytes.
///
/// ```
/// let model = max::Session::new()?.load("../../../examples/digits/digits.onnx")?;
/// assert!(model.memory()?.total.unwrap() > 0);
/// # Ok::<(), max::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelMemory {
    /// Weights that are parts of mapped files.
    pub mapped_weights: Option<u64>,
    /// Weights and other constants in memory.
    pub owned_weights: Option<u64>,
    /// Weights packed for their kernels, and what else nodes prepared at load.
    pub packed_weights: Option<u64>,
    /// Plans for the input shapes seen lately, about.
    pub plans: Option<u64>,
    /// Memory for intermediate values.
    pub arenas: Option<u64>,
    /// Released outputs whose memory waits for the next call.
    pub outputs: Option<u64>,
    /// The sum of all.
    pub total: Option<u64>,
}

/// What a model holds on one device, in bytes.
///
/// ```
/// let model = max::Session::new()?.load("../../../examples/digits/digits.onnx")?;
/// assert_eq!(model.device_memory(None)?.code, 0); // a CPU has no kernels
/// # Ok::<(), max::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelDeviceMemory {
    /// Weights and what nodes prepared at load.
    pub weights: u64,
    /// Memory for intermediate values.
    pub arenas: u64,
    /// The code of kernels.
    pub code: u64,
    /// The sum of all.
    pub total: u64,
}

/// Inputs or outputs of a usual model.
const FEW: usize = 16;

/// Calls a function with an array of pointers and their number; few of them need no allocation.
#[inline]
fn with_array<T, R>(
    pointers: impl ExactSizeIterator<Item = *mut T>,
    call: impl FnOnce(*mut *mut T, usize) -> Result<R>,
) -> Result<R> {
    let count = pointers.len();
    if count > FEW {
        return call(pointers.collect::<Vec<_>>().as_mut_ptr(), count);
    }
    let mut few = [const { MaybeUninit::uninit() }; FEW];
    for (entry, pointer) in few.iter_mut().zip(pointers) {
        entry.write(pointer);
    }
    call(few.as_mut_ptr().cast(), count)
}

/// Pointers that need no allocation if there are few.
pub(crate) enum Pointers<T> {
    Few([*mut T; FEW], usize),
    Many(Vec<*mut T>),
}

impl<T> Pointers<T> {
    #[inline]
    pub(crate) fn new(pointers: impl ExactSizeIterator<Item = *mut T>) -> Self {
        let count = pointers.len();
        if count > FEW {
            return Self::Many(pointers.collect());
        }
        let mut few = [ptr::null_mut(); FEW];
        few.iter_mut().zip(pointers).for_each(|(entry, pointer)| *entry = pointer);
        Self::Few(few, count)
    }

    #[inline]
    pub(crate) fn nulls(count: usize) -> Self {
        if count > FEW { Self::Many(vec![ptr::null_mut(); count]) } else { Self::Few([ptr::null_mut(); FEW], count) }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[*mut T] {
        match self {
            Self::Few(few, count) => &few[..*count],
            Self::Many(many) => many,
        }
    }

    #[inline]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut *mut T {
        match self {
            Self::Few(few, _) => few.as_mut_ptr(),
            Self::Many(many) => many.as_mut_ptr(),
        }
    }

    /// Handles that a call has given.
    fn into_handles<H>(self, owned: impl Fn(NonNull<T>) -> H) -> Vec<H> {
        self.as_slice().iter().copied().filter_map(NonNull::new).map(owned).collect()
    }
}

pub(crate) fn raw_buffers(buffers: &[&Buffer]) -> Pointers<sys::MaxBuffer> {
    Pointers::new(buffers.iter().map(|buffer| buffer.as_raw()))
}

/// Runs.
impl Model {
    /// Runs the model on one buffer per input, in its order; gives one per output. See [`Model`].
    #[inline]
    pub fn execute(&self, inputs: &[&Buffer]) -> Result<Vec<Buffer>> {
        self.execute_with(inputs, &ExecuteOptions::default())
    }

    /// As [`Model::execute`], with options. See [`ExecuteOptions`].
    #[inline]
    pub fn execute_with(&self, inputs: &[&Buffer], options: &ExecuteOptions<'_>) -> Result<Vec<Buffer>> {
        let none = std::iter::repeat_n(ptr::null_mut(), self.output_count);
        // No options are as good as the defaults, and are not looked at.
        let raw = (!options.is_default()).then(|| options.raw(ptr::null()));
        let raw = raw.as_ref().map_or(ptr::null(), ptr::from_ref);
        let inputs = inputs.iter().map(|buffer| buffer.as_raw());
        with_array(inputs, |inputs, input_count| {
            with_array(none, |outputs, count| {
                // SAFETY: the handles are alive, the arrays have so many entries.
                check(unsafe {
                    sys::maxModelExecute(self.as_raw(), inputs, c_count(input_count)?, raw, outputs, c_count(count)?)
                })?;
                let mut buffers = Vec::with_capacity(count);
                // SAFETY: the call has given so many.
                buffers.extend((0..count).map(|i| Buffer::owned(unsafe { NonNull::new_unchecked(*outputs.add(i)) })));
                Ok(buffers)
            })
        })
    }

    /// Runs the model and writes its outputs into buffers of their types and shapes. It allocates nothing.
    ///
    /// ```
    /// use max::{Buffer, DType, ExecuteOptions, Session};
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?;
    /// let mut probabilities = Buffer::zeros(DType::FLOAT32, &[1, 10])?;
    /// for _ in 0..3 {
    ///     model.execute_into(&[&image], &mut [&mut probabilities], &ExecuteOptions::new())?;
    /// }
    /// # Ok::<(), max::Error>(())
    /// ```
    #[inline]
    pub fn execute_into(
        &self,
        inputs: &[&Buffer],
        outputs: &mut [&mut Buffer],
        options: &ExecuteOptions<'_>,
    ) -> Result<()> {
        let (given, written) = (outputs.iter().map(|buffer| buffer.as_raw()), outputs.iter().map(|buffer| &**buffer));
        let none = std::iter::repeat_n(ptr::null_mut(), outputs.len());
        let inputs = inputs.iter().map(|buffer| buffer.as_raw());
        let call = |inputs: *mut _, input_count, given: *mut _, out, count| {
            let raw = options.raw(given);
            // SAFETY: the handles are alive, the arrays have so many entries.
            check(unsafe { sys::maxModelExecute(self.as_raw(), inputs, input_count, &raw const raw, out, count) })
        };
        with_array(inputs, |inputs, input_count| {
            with_array(given, |given, count| {
                with_array(none, |out, _| {
                    let (input_count, c_count) = (c_count(input_count)?, c_count(count)?);
                    writing(written, || call(inputs, input_count, given, out, c_count))??;
                    for i in 0..count {
                        // SAFETY: the same buffers again, with a reference each.
                        unsafe { sys::maxBufferRelease(*out.add(i)) };
                    }
                    Ok(())
                })
            })
        })
    }

    /// Runs the model on arrays of the program, without a buffer for each. See [`HostTensor`].
    pub fn execute_host(&self, inputs: &[HostTensor<'_>]) -> Result<Vec<Buffer>> {
        self.execute_host_with(inputs, &ExecuteOptions::default())
    }

    /// As [`Model::execute_host`], with options; it waits for the work on every stream.
    ///
    /// ```
    /// use std::time::Duration;
    /// use max::{ExecuteOptions, HostTensor, Session};
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// let (image, options) = ([0.0f32; 64], ExecuteOptions::new().timeout(Duration::from_secs(60)));
    /// let outputs = model.execute_host_with(&[HostTensor::new(&image, &[1, 1, 8, 8])?], &options)?;
    /// assert_eq!(outputs[0].shape(), [1, 10]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn execute_host_with(&self, inputs: &[HostTensor<'_>], options: &ExecuteOptions<'_>) -> Result<Vec<Buffer>> {
        let data: Vec<*const c_void> = inputs.iter().map(|it| it.data.as_ptr().cast()).collect();
        let dtypes: Vec<_> = inputs.iter().map(|it| it.dtype.0).collect();
        let ranks = inputs.iter().map(|it| c_count(it.shape.len())).collect::<Result<Vec<_>>>()?;
        // Numbers of 64 bits that are the sizes of arrays, and so not above what an i64 holds.
        let shapes: Vec<*const i64> = inputs.iter().map(|it| it.shape.as_ptr().cast()).collect();
        let (data, dtypes, ranks, shapes) = (data.as_ptr(), dtypes.as_ptr(), ranks.as_ptr(), shapes.as_ptr());
        let (input_count, raw) = (c_count(inputs.len())?, options.raw(ptr::null()));
        let mut outputs = Pointers::nulls(self.output_count);
        let (out, count) = (outputs.as_mut_ptr(), c_count(outputs.as_slice().len())?);
        // SAFETY: the handle is alive, the arrays have so many entries, and the inputs so many elements.
        check(unsafe {
            let (model, raw) = (self.as_raw(), &raw const raw);
            sys::maxModelExecuteHost(model, data, dtypes, ranks, shapes, input_count, raw, out, count)
        })?;
        Ok(outputs.into_handles(Buffer::owned))
    }

    /// Runs the model with inputs and outputs by name: all inputs in any order, of the outputs those that are wanted.
    ///
    /// ```
    /// use max::{Buffer, DType, ExecuteOptions, Session};
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?;
    /// let (input, output) = (&model.inputs()?[0].name, &model.outputs()?[0].name);
    /// let outputs = model.execute_by_name(&[(input, &image)], &[output], &ExecuteOptions::new())?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn execute_by_name(
        &self,
        inputs: &[(&str, &Buffer)],
        outputs: &[&str],
        options: &ExecuteOptions<'_>,
    ) -> Result<Vec<Buffer>> {
        let (input_names, output_names) = (CTexts::new(inputs.iter().map(|input| input.0))?, CTexts::new(outputs)?);
        let buffers = Pointers::new(inputs.iter().map(|input| input.1.as_raw()));
        let mut out = Pointers::nulls(outputs.len());
        let (raw, input_count, count) = (options.raw(ptr::null()), input_names.count()?, output_names.count()?);
        // SAFETY: the handles are alive, the arrays have so many entries.
        check(unsafe {
            let (model, raw, buffers) = (self.as_raw(), &raw const raw, buffers.as_slice().as_ptr());
            let (inputs, outputs) = (input_names.as_ptr(), output_names.as_ptr());
            sys::maxModelExecuteByName(model, inputs, buffers, input_count, raw, outputs, out.as_mut_ptr(), count)
        })?;
        Ok(out.into_handles(Buffer::owned))
    }

    /// Runs a model on values, where inputs or outputs are sequences, optionals or maps.
    ///
    /// ```
    /// use max::{Buffer, DType, ExecuteOptions, Session, Value};
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// let image = Value::tensor(&Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?)?;
    /// let outputs = model.execute_values(&[&image], &ExecuteOptions::new())?;
    /// assert_eq!(outputs[0].buffer()?.len(), 10);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn execute_values(&self, inputs: &[&Value], options: &ExecuteOptions<'_>) -> Result<Vec<Value>> {
        let inputs = Pointers::new(inputs.iter().map(|value| value.as_raw()));
        let (inputs, raw) = (inputs.as_slice(), options.raw(ptr::null()));
        let mut outputs = Pointers::nulls(self.output_count);
        let (input_count, count) = (c_count(inputs.len())?, c_count(outputs.as_slice().len())?);
        // SAFETY: the handles are alive, the arrays have so many entries.
        check(unsafe {
            let outputs = outputs.as_mut_ptr();
            sys::maxModelExecuteValues(self.as_raw(), inputs.as_ptr(), input_count, &raw const raw, outputs, count)
        })?;
        Ok(outputs.into_handles(Value::owned))
    }

    /// Starts a run and gives a future of its outputs, for any executor; dropping it stops the run. See [`Execution`].
    pub fn execute_async(&self, inputs: &[&Buffer]) -> Execution {
        Execution::start(self, inputs, &ExecuteOptions::default())
    }

    /// As [`Model::execute_async`], with options. Dropping the future cancels their cancellation, if they have one.
    ///
    /// ```
    /// use max::{Buffer, Cancellation, DType, ExecuteOptions, Session};
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?;
    /// let cancellation = Cancellation::new()?;
    /// let run = model.execute_async_with(&[&image], &ExecuteOptions::new().cancellation(&cancellation));
    /// cancellation.cancel()?; // from whichever thread
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn execute_async_with(&self, inputs: &[&Buffer], options: &ExecuteOptions<'_>) -> Execution {
        Execution::start(self, inputs, options)
    }
}

/// Asks.
impl Model {
    /// Takes over a reference.
    pub(crate) fn owned(raw: NonNull<sys::MaxModel>) -> Result<Self> {
        let handle = Handle::owned(raw);
        // SAFETY: the handle is alive, the pointer lives through the call.
        let output_count = get_count(|out| unsafe { sys::maxModelGetOutputCount(handle.as_raw(), out) })?;
        Ok(Self { handle, output_count })
    }

    /// The model as the C API takes it. It is borrowed from this value. See `max_sys::MaxModel`.
    /// See [`Buffer::as_raw`].
    pub fn as_raw(&self) -> *mut sys::MaxModel {
        self.handle.as_raw()
    }

    pub(crate) fn output_count(&self) -> usize {
        self.output_count
    }

    /// What is known of the inputs, in their order.
    ///
    /// ```
    /// use max::Session;
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// let (inputs, outputs) = (model.inputs()?, model.outputs()?);
    /// println!("{} -> {}", inputs[0].type_name, outputs[0].type_name);
    /// assert_eq!(model.find_input(&inputs[0].name)?, 0);
    /// assert_eq!(model.find_output(&outputs[0].name)?, 0);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn inputs(&self) -> Result<Vec<TensorInfo>> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        let count = get(0, |out| unsafe { sys::maxModelGetInputCount(self.as_raw(), out) })?;
        (0..count)
            // SAFETY: as above.
            .map(|index| TensorInfo::get(|out| unsafe { sys::maxModelGetInput(self.as_raw(), index, out) }))
            .collect()
    }

    /// What is known of the outputs, in their order. See [`Model::inputs`].
    pub fn outputs(&self) -> Result<Vec<TensorInfo>> {
        (0..c_count(self.output_count)?)
            // SAFETY: as above.
            .map(|index| TensorInfo::get(|out| unsafe { sys::maxModelGetOutput(self.as_raw(), index, out) }))
            .collect()
    }

    /// The place of an input; `NotFound` if none has the name, with a message that lists those there are.
    /// See [`Model::inputs`].
    pub fn find_input(&self, name: &str) -> Result<usize> {
        let name = c_text(name)?;
        // SAFETY: as above.
        let index = get(0, |out| unsafe { sys::maxModelFindInput(self.as_raw(), name.as_ptr(), out) })?;
        Ok(usize::try_from(index).unwrap_or(0))
    }

    /// The place of an output; otherwise as [`Model::find_input`]. See [`Model::inputs`].
    pub fn find_output(&self, name: &str) -> Result<usize> {
        let name = c_text(name)?;
        // SAFETY: as above.
        let index = get(0, |out| unsafe { sys::maxModelFindOutput(self.as_raw(), name.as_ptr(), out) })?;
        Ok(usize::try_from(index).unwrap_or(0))
    }

    /// The session that loaded the model.
    ///
    /// ```
    /// use max::SessionOptions;
    /// let model = SessionOptions::new().threads(2).create()?.load("../../../examples/digits/digits.onnx")?;
    /// assert_eq!(model.session()?.thread_count()?, 2);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn session(&self) -> Result<Session> {
        // SAFETY: as above.
        get_handle(|out| unsafe { sys::maxModelGetSession(self.as_raw(), out) }).map(Session::borrowed)
    }

    /// The precision that products have: the one asked for, or the next higher one that this machine has.
    ///
    /// ```
    /// use max::{Precision, Session};
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// assert_eq!(model.precision()?, Precision::Highest);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn precision(&self) -> Result<Precision> {
        let none = sys::MaxPrecision(0);
        // SAFETY: as above.
        Ok(match get(none, |out| unsafe { sys::maxModelGetPrecision(self.as_raw(), out) })? {
            sys::MaxPrecision::MAX_PRECISION_HIGHEST => Precision::Highest,
            sys::MaxPrecision::MAX_PRECISION_HIGH => Precision::High,
            _ => Precision::Medium,
        })
    }

    /// What the model's file or graph held.
    ///
    /// ```
    /// use max::Session;
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// assert_eq!(model.info()?.operators()?[0].0, "Conv");
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn info(&self) -> Result<ModelInfo> {
        // SAFETY: as above.
        get_handle(|out| unsafe { sys::maxModelGetInfo(self.as_raw(), out) }).map(ModelInfo::borrowed)
    }

    /// A drawing of the graph that the model runs, after the compiler's passes, in the DOT language of Graphviz.
    ///
    /// ```
    /// use max::Session;
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// assert!(model.graph()?.starts_with("digraph"));
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn graph(&self) -> Result<String> {
        // SAFETY: as above.
        get_text(|out| unsafe { sys::maxModelGetGraph(self.as_raw(), out) })
    }

    /// What the model holds in memory, by category. Weights that several models share count in each.
    /// See [`ModelMemory`].
    pub fn memory(&self) -> Result<ModelMemory> {
        use sys::MaxModelMemoryMask as Mask;
        // SAFETY: the handle is alive, the structure knows its size.
        let memory = get(options!(MaxModelMemory {}), |out| unsafe { sys::maxModelGetMemory(self.as_raw(), out) })?;
        let is = |mask: Mask| memory.validMask & mask == mask;
        Ok(ModelMemory {
            mapped_weights: is(Mask::MAX_MODEL_MEMORY_MAPPED_WEIGHTS).then_some(memory.mappedWeights),
            owned_weights: is(Mask::MAX_MODEL_MEMORY_OWNED_WEIGHTS).then_some(memory.ownedWeights),
            packed_weights: is(Mask::MAX_MODEL_MEMORY_PACKED_WEIGHTS).then_some(memory.packedWeights),
            plans: is(Mask::MAX_MODEL_MEMORY_PLANS).then_some(memory.plans),
            arenas: is(Mask::MAX_MODEL_MEMORY_ARENAS).then_some(memory.arenas),
            outputs: is(Mask::MAX_MODEL_MEMORY_OUTPUTS).then_some(memory.outputs),
            total: is(Mask::MAX_MODEL_MEMORY_TOTAL).then_some(memory.total),
        })
    }

    /// What the model holds on a device of its session; `None` is the session's first.
    /// See [`ModelDeviceMemory`].
    pub fn device_memory(&self, device: Option<&Device>) -> Result<ModelDeviceMemory> {
        let device = device.map_or(ptr::null(), |it| it.as_raw().cast_const());
        // SAFETY: the handles are alive, the structure knows its size.
        let memory = get(options!(MaxModelDeviceMemory {}), |out| unsafe {
            sys::maxModelGetDeviceMemory(self.as_raw(), device, out)
        })?;
        Ok(ModelDeviceMemory { weights: memory.weights, arenas: memory.arenas, code: memory.code, total: memory.total })
    }

    /// Writes the model, optimised, with its present weights, as a compiled model; such files are called `NAME.maxc`.
    ///
    /// ```
    /// use max::Session;
    /// # let path = std::env::temp_dir().join(format!("model_{}.maxc", std::process::id()));
    /// let session = Session::new()?;
    /// session.load("../../../examples/digits/digits.onnx")?.save(&path)?;
    /// let model = session.load(&path)?; // optimised already
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = c_path(path.as_ref())?;
        // SAFETY: the handle is alive, the pointer lives through the call.
        check(unsafe { sys::maxModelSave(self.as_raw(), path.as_ptr()) })
    }

    /// Replaces weights by name, all or nothing: each run has the weights from before or all of the new ones. The buffers
    /// cannot be written from then on.
    ///
    /// ```
    /// use max::{Buffer, DType, Graph, Session};
    /// let mut graph = Graph::new("scale")?;
    /// let x = graph.input("x", DType::FLOAT32, &[1])?;
    /// let factor = graph.weight_from_buffer("factor", &Buffer::from_slice(&[2.0f32], &[1])?)?;
    /// let y = graph.node("Mul", &[&x, &factor])?;
    /// graph.output(&y, "y")?;
    /// let model = Session::new()?.compile(&graph)?;
    /// model.replace_weights(&[("factor", &Buffer::from_slice(&[3.0f32], &[1])?)])?;
    /// let x = Buffer::from_slice(&[5.0f32], &[1])?;
    /// assert_eq!(model.execute(&[&x])?[0].item::<f32>()?, 15.0);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn replace_weights(&self, weights: &[(&str, &Buffer)]) -> Result<()> {
        let names = CTexts::new(weights.iter().map(|weight| weight.0))?;
        let buffers = Pointers::new(weights.iter().map(|weight| weight.1.as_raw()));
        for weight in weights {
            weight.1.freeze();
        }
        let count = names.count()?;
        // SAFETY: the handles are alive, the arrays have `count` entries.
        check(unsafe { sys::maxModelReplaceWeights(self.as_raw(), names.as_ptr(), buffers.as_slice().as_ptr(), count) })
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Model({:p})", self.as_raw())
    }
}
