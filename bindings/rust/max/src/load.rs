// SPDX-License-Identifier: Apache-2.0
//! How models are loaded.

use std::any::Any;
use std::ffi::{c_char, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

use max_sys as sys;

use crate::buffer::Buffer;
use crate::cancellation::Cancellation;
use crate::error::{CTexts, Result, c_path, c_timeout, get_handle, text_of};
use crate::handle::options;
use crate::model::Model;

/// The least precision that products of float32 may have.
///
/// ```
/// use max::{LoadOptions, Precision};
/// let options = LoadOptions::new().precision(Precision::High);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// float32 throughout.
    Highest = sys::MaxPrecision::MAX_PRECISION_HIGHEST.0 as isize,
    /// Products of factors in two bfloat16 parts, within 2^-15 of them; of tf32 on accelerators.
    High = sys::MaxPrecision::MAX_PRECISION_HIGH.0 as isize,
    /// bfloat16 products with float32 sums.
    Medium = sys::MaxPrecision::MAX_PRECISION_MEDIUM.0 as isize,
}

/// Options of loads and of [`Session::compile_with`](crate::Session::compile_with).
///
/// ```
/// use std::time::Duration;
/// use max::{LoadOptions, Session};
/// let mut phases = Vec::new();
/// let options = LoadOptions::new()
///     .timeout(Duration::from_secs(60))
///     .progress(|fraction, phase| phases.push(format!("{:.0} % {phase}", 100.0 * fraction)));
/// Session::new()?.load_with("../../../examples/digits/digits.onnx", options)?;
/// assert!(phases.last().unwrap().starts_with("100 %"));
/// # Ok::<(), max::Error>(())
/// ```
#[must_use]
#[derive(Default)]
pub struct LoadOptions<'a> {
    weights: Vec<(&'a str, &'a Buffer)>,
    weights_path: Option<PathBuf>,
    precision: Option<Precision>,
    copy_weights: bool,
    ignore_unknown_weights: bool,
    cancellation: Option<&'a Cancellation>,
    timeout: Option<Duration>,
    progress: Option<Progress<'a>>,
    extensions: Vec<PathBuf>,
}

type Progress<'a> = Box<dyn FnMut(f64, &str) + 'a>;

/// What the progress function gets as its first argument.
struct Told<'a> {
    function: Progress<'a>,
    panic: Option<Box<dyn Any + Send>>,
}

impl<'a> LoadOptions<'a> {
    /// The defaults. See [`LoadOptions`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces a weight by a buffer of equal type and shape, which from then on cannot be written.
    /// See [`Graph::weight`](crate::Graph::weight).
    pub fn weight(mut self, name: &'a str, buffer: &'a Buffer) -> Self {
        self.weights.push((name, buffer));
        self
    }

    /// Replaces weights by those of a file that [`Weights`](crate::Weights) reads.
    ///
    /// ```
    /// use max::{Buffer, LoadOptions, Session};
    /// # let path = std::env::temp_dir().join(format!("load_{}.max", std::process::id()));
    /// Buffer::scalar(1.0f32)?.save(&path, Some("other"))?;
    /// let options = LoadOptions::new().weights_path(&path).ignore_unknown_weights(true);
    /// let model = Session::new()?.load_with("../../../examples/digits/digits.onnx", options)?;
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn weights_path(mut self, path: impl AsRef<Path>) -> Self {
        self.weights_path = Some(path.as_ref().to_path_buf());
        self
    }

    /// Least precision of products. See [`Precision`].
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = Some(precision);
        self
    }

    /// The file is copied; otherwise a large file is mapped, and nothing may change it while the model lives.
    ///
    /// ```
    /// use max::{LoadOptions, Session};
    /// let options = LoadOptions::new().copy_weights(true);
    /// let model = Session::new()?.load_with("../../../examples/digits/digits.onnx", options)?;
    /// assert_eq!(model.memory()?.mapped_weights, Some(0));
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn copy_weights(mut self, copy: bool) -> Self {
        self.copy_weights = copy;
        self
    }

    /// Names of weights to replace that the model does not have are ignored; otherwise they are `NotFound`.
    /// See [`LoadOptions::weights_path`].
    pub fn ignore_unknown_weights(mut self, ignore: bool) -> Self {
        self.ignore_unknown_weights = ignore;
        self
    }

    /// Stops the load when it is cancelled. See [`Cancellation`].
    pub fn cancellation(mut self, cancellation: &'a Cancellation) -> Self {
        self.cancellation = Some(cancellation);
        self
    }

    /// Time after which the load gives up. See [`LoadOptions`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Told how far the load is, from 0 to 1, and what is being done. A panic goes on when the load has ended.
    /// See [`LoadOptions`].
    pub fn progress(mut self, function: impl FnMut(f64, &str) + 'a) -> Self {
        self.progress = Some(Box::new(function));
        self
    }

    /// Loads an extension before.
    ///
    /// ```
    /// use max::{LoadOptions, Session, Status};
    /// // SAFETY: there is no such file, so that no code of it runs.
    /// let options = unsafe { LoadOptions::new().extension("missing.so") };
    /// let result = Session::new()?.load_with("../../../examples/digits/digits.onnx", options);
    /// assert_eq!(result.unwrap_err().status(), Status::NotFound);
    /// # Ok::<(), max::Error>(())
    /// ```
    ///
    /// # Safety
    /// As of [`extension::load`](crate::extension::load).
    pub unsafe fn extension(mut self, path: impl AsRef<Path>) -> Self {
        self.extensions.push(path.as_ref().to_path_buf());
        self
    }

    /// Loads with these options.
    pub(crate) fn load(
        self,
        call: impl FnOnce(*const sys::MaxModelLoadOptions, *mut *mut sys::MaxModel) -> sys::MaxStatus,
    ) -> Result<Model> {
        let names = CTexts::new(self.weights.iter().map(|weight| weight.0))?;
        let buffers: Vec<_> = self.weights.iter().map(|weight| weight.1.as_raw()).collect();
        let paths = self.extensions.iter().map(|path| c_path(path)).collect::<Result<Vec<_>>>()?;
        let extensions: Vec<_> = paths.iter().map(|path| path.as_ptr()).collect();
        let weights_path = self.weights_path.as_deref().map(c_path).transpose()?;
        let mut told = self.progress.map(|function| Told { function, panic: None });
        // From now on, since the model may use the memory as soon as it has it.
        for weight in &self.weights {
            weight.1.freeze();
        }
        let raw = options!(MaxModelLoadOptions {
            weightNames: names.as_ptr(),
            weights: buffers.as_ptr(),
            weightCount: names.count()?,
            precision: sys::MaxPrecision(self.precision.map_or(0, |it| it as i32)),
            copyWeights: i32::from(self.copy_weights),
            ignoreUnknownWeights: i32::from(self.ignore_unknown_weights),
            cancellation: self.cancellation.map_or(ptr::null(), |it| it.as_raw().cast_const()),
            timeoutNs: c_timeout(self.timeout),
            progress: told.is_some().then_some(tell as _),
            progressUserData: told.as_mut().map_or(ptr::null_mut(), |it| ptr::from_mut(it).cast()),
            extensions: if extensions.is_empty() { ptr::null() } else { extensions.as_ptr() },
            extensionCount: crate::error::c_count(extensions.len())?,
            weightsPath: weights_path.as_ref().map_or(ptr::null(), |it| it.as_ptr()),
        });
        let model = get_handle(|out| call(&raw const raw, out)).and_then(Model::owned);
        if let Some(panic) = told.and_then(|told| told.panic) {
            resume_unwind(panic);
        }
        model
    }
}

unsafe extern "C" fn tell(data: *mut c_void, fraction: f64, phase: *const c_char) {
    // SAFETY: called from the thread that loads, in the call of `load`, which has borrowed it.
    let told = unsafe { &mut *data.cast::<Told<'_>>() };
    if told.panic.is_some() {
        return;
    }
    // SAFETY: a text with a NUL at its end.
    let phase = unsafe { text_of(phase) }.unwrap_or_default();
    // Nothing may unwind into C.
    told.panic = catch_unwind(AssertUnwindSafe(|| (told.function)(fraction, &phase))).err();
}

impl fmt::Debug for LoadOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.weights.iter().map(|weight| weight.0).collect();
        formatter
            .debug_struct("LoadOptions")
            .field("weights", &names)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
