// SPDX-License-Identifier: Apache-2.0
//! Calls that are kept: a plan, bound to its inputs and outputs.

use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use max_sys as sys;

use crate::buffer::{Buffer, raw_stream};
use crate::buffer_data::writing;
use crate::cancellation::Cancellation;
use crate::error::{Result, c_count, check};
use crate::handle::options;
use crate::model::{Model, Pointers, raw_buffers};
use crate::stream::Stream;

/// A call of a model that was captured: [`Captured::replay`] runs it again without any look-up or allocation.
///
/// ```
/// use max::{Buffer, Captured, DType, Session};
/// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
/// let mut image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?;
/// let mut call = Captured::new(&model, &[&image])?;
/// let empty = call.outputs()[0].to_vec::<f32>()?;
/// image.fill(9.0f32)?;
/// call.replay(None)?;
/// assert_ne!(call.outputs()[0].to_vec::<f32>()?, empty);
/// # Ok::<(), max::Error>(())
/// ```
pub struct Captured {
    model: Model,
    key: u64,
    inputs: Vec<Buffer>,
    outputs: Vec<Buffer>,
}

/// A key is never used again, so that no two calls have the same outputs.
static NEXT_KEY: AtomicU64 = AtomicU64::new(1);

impl Captured {
    /// Runs a model once, in the calling thread, and keeps the call. It shares the inputs' memory: what they hold may change
    /// between replays. See [`Captured`].
    pub fn new(model: &Model, inputs: &[&Buffer]) -> Result<Self> {
        Self::with_cancellation(model, inputs, None)
    }

    /// As [`Captured::new`], stopped when the cancellation is cancelled.
    ///
    /// ```
    /// use max::{Buffer, Cancellation, Captured, DType, Session, Status};
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// let cancellation = Cancellation::new()?;
    /// cancellation.cancel()?;
    /// let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?;
    /// let result = Captured::with_cancellation(&model, &[&image], Some(&cancellation));
    /// assert_eq!(result.unwrap_err().status(), Status::Cancelled);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn with_cancellation(model: &Model, inputs: &[&Buffer], cancellation: Option<&Cancellation>) -> Result<Self> {
        let key = NEXT_KEY.fetch_add(1, Ordering::Relaxed);
        let raw = options!(MaxModelExecuteOptions {
            cancellation: cancellation.map_or(ptr::null(), |it| it.as_raw().cast_const())
        });
        let pointers = raw_buffers(inputs);
        let (pointers, input_count) = (pointers.as_slice().as_ptr(), c_count(inputs.len())?);
        let mut outputs = Pointers::nulls(model.output_count());
        let count = c_count(outputs.as_slice().len())?;
        // SAFETY: the handles are alive, the arrays have so many entries.
        check(unsafe {
            let outputs = outputs.as_mut_ptr();
            sys::maxModelCapture(model.as_raw(), key, pointers, input_count, &raw const raw, outputs, count)
        })?;
        let outputs = outputs.as_slice().iter().copied().filter_map(ptr::NonNull::new).map(Buffer::owned).collect();
        let inputs = inputs.iter().map(|&input| input.clone()).collect();
        Ok(Self { model: model.clone(), key, inputs, outputs })
    }

    /// The outputs, which each replay writes. See [`Captured`].
    pub fn outputs(&self) -> &[Buffer] {
        &self.outputs
    }

    /// Runs the call again: reads the captured inputs, writes the captured outputs. On a created stream it returns once the
    /// work is queued. Weights and settings are those of the capture. See [`Captured`].
    pub fn replay(&mut self, stream: Option<&Stream>) -> Result<()> {
        let raw = options!(MaxModelExecuteOptions { stream: raw_stream(stream) });
        let (inputs, count) = (self.raw_inputs(), c_count(self.inputs.len())?);
        let inputs = inputs.as_slice().as_ptr();
        writing(&self.outputs, || {
            // SAFETY: the handles are alive, the array has `count` entries.
            check(unsafe { sys::maxModelReplay(self.model.as_raw(), self.key, inputs, count, &raw const raw) })
        })?
    }

    /// Runs the model on the inputs and compares the steps with those that were captured; `FailedPrecondition` if they
    /// differ, for example since settings changed. The outputs are left alone.
    ///
    /// ```
    /// use max::{Buffer, Captured, DType, Session};
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// let call = Captured::new(&model, &[&Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?])?;
    /// call.verify()?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn verify(&self) -> Result<()> {
        let (inputs, count) = (self.raw_inputs(), c_count(self.inputs.len())?);
        let inputs = inputs.as_slice().as_ptr();
        // SAFETY: the handles are alive, the array has `count` entries.
        check(unsafe { sys::maxModelVerifyReplay(self.model.as_raw(), self.key, inputs, count, ptr::null()) })
    }

    fn raw_inputs(&self) -> Pointers<sys::MaxBuffer> {
        Pointers::new(self.inputs.iter().map(Buffer::as_raw))
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        // SAFETY: the handle is alive. The key is there, so that nothing can fail.
        _ = unsafe { sys::maxModelForgetCaptured(self.model.as_raw(), self.key) };
    }
}

impl fmt::Debug for Captured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Captured").field("outputs", &self.outputs).finish_non_exhaustive()
    }
}
