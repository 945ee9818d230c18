// SPDX-License-Identifier: Apache-2.0
//! Runs of a model as futures.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::buffer::Buffer;
use crate::cancellation::Cancellation;
use crate::error::{Error, Result, Status};
use crate::model::{ExecuteOptions, Model};
use crate::stream::Stream;

/// A run of a model: a future of its outputs, which needs no executor of a kind.
///
/// The run has begun when [`Model::execute_async`] returns, on a separate stream unless the options name one; a model
/// whose shapes depend on values runs in that call. Dropping the future stops the run, in milliseconds. A run that
/// fails on the options' stream leaves its failure there, too, until that is synchronized.
///
/// ```
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     struct Unpark(std::thread::Thread);
/// #     impl std::task::Wake for Unpark { fn wake(self: std::sync::Arc<Self>) { self.0.unpark() } }
/// #     let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
/// #     let mut future = std::pin::pin!(future);
/// #     loop {
/// #         match future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
/// #             std::task::Poll::Ready(value) => return value,
/// #             std::task::Poll::Pending => std::thread::park(),
/// #         }
/// #     }
/// # }
/// use max::{Buffer, DType, Session};
/// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
/// let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?;
/// let outputs = block_on(async { model.execute_async(&[&image]).await })?;
/// assert_eq!(outputs[0].shape(), [1, 10]);
/// # Ok::<(), max::Error>(())
/// ```
#[must_use = "dropping it stops the run"]
pub struct Execution {
    cancellation: Option<Cancellation>,
    outputs: Option<Result<Vec<Buffer>>>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    result: Option<Result<()>>,
    waker: Option<Waker>,
}

impl Execution {
    pub(crate) fn start(model: &Model, inputs: &[&Buffer], options: &ExecuteOptions<'_>) -> Self {
        let state = Arc::<Mutex<State>>::default();
        let started = Self::queue(model, inputs, options, &state);
        let (cancellation, outputs) = match started {
            Ok((cancellation, outputs)) => (Some(cancellation), Ok(outputs)),
            Err(error) => {
                lock(&state).result = Some(Ok(()));
                (None, Err(error))
            }
        };
        Self { cancellation, outputs: Some(outputs), state }
    }

    fn queue(
        model: &Model,
        inputs: &[&Buffer],
        options: &ExecuteOptions<'_>,
        state: &Arc<Mutex<State>>,
    ) -> Result<(Cancellation, Vec<Buffer>)> {
        let cancellation = options.cancellation.map_or_else(Cancellation::new, |it| Ok(it.clone()))?;
        let stream = match options.stream {
            Some(stream) => stream.clone(),
            None => Stream::new(&model.session()?.device(0)?)?,
        };
        let outputs = model.execute_with(inputs, &options.stream(&stream).cancellation(&cancellation))?;
        let told = state.clone();
        stream.enqueue(move |result| {
            let mut state = lock(&told);
            state.result = Some(result);
            let waker = state.waker.take();
            drop(state);
            waker.into_iter().for_each(Waker::wake);
        })?;
        Ok((cancellation, outputs))
    }

    /// Whether the run is done: polling gives its result then.
    ///
    /// ```
    /// use max::{Buffer, DType, Session};
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// let run = model.execute_async(&[&Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?]);
    /// while !run.is_done() {
    ///     std::thread::yield_now();
    /// }
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn is_done(&self) -> bool {
        lock(&self.state).result.is_some()
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Future for Execution {
    type Output = Result<Vec<Buffer>>;

    /// A future that is polled after it was ready gives `FailedPrecondition`.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = lock(&self.state);
        let Some(result) = state.result.clone() else {
            match &mut state.waker {
                Some(waker) => waker.clone_from(context.waker()),
                none => *none = Some(context.waker().clone()),
            }
            return Poll::Pending;
        };
        drop(state);
        let taken = || Err(Error::new(Status::FailedPrecondition, "The outputs of this run have been taken"));
        let outputs = self.outputs.take().unwrap_or_else(taken);
        Poll::Ready(result.and(outputs))
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        if let Some(cancellation) = self.cancellation.as_ref().filter(|_| !self.is_done()) {
            _ = cancellation.cancel();
        }
    }
}

impl fmt::Debug for Execution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Execution").field("is_done", &self.is_done()).finish_non_exhaustive()
    }
}
