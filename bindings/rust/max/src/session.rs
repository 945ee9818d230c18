// SPDX-License-Identifier: Apache-2.0
//! Sessions: where models are loaded and how they run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr;

use max_sys as sys;

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Result, c_count, c_path, check, get, get_count, get_flag, get_handle};
use crate::graph::Graph;
use crate::handle::{handle, options};
use crate::load::LoadOptions;
use crate::log::Level;
use crate::model::Model;

handle!(sync
    /// Devices and settings that models are loaded with. Models hold their session.
    ///
    /// ```
    /// use max::Session;
    /// let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Session: MaxSession, maxSessionRetain, maxSessionRelease
);

/// How a session is made.
///
/// ```
/// use max::{Device, SessionOptions};
/// let device = Device::cpu()?;
/// let session = SessionOptions::new().device(&device).threads(2).memory_limit(1 << 30).weights_cache_dir("").create()?;
/// assert_eq!(session.thread_count()?, 2);
/// assert_eq!(session.memory()?.limit, Some(1 << 30));
/// # Ok::<(), max::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    devices: Vec<Device>,
    threads: usize,
    memory_limit: u64,
    weights_cache_dir: Option<PathBuf>,
}

impl SessionOptions {
    /// The defaults: the host, all its cores, no limit. See [`SessionOptions`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a device; models run on the first one. See [`SessionOptions`].
    pub fn device(mut self, device: &Device) -> Self {
        self.devices.push(device.clone());
        self
    }

    /// Threads that one call uses at most; 0 = as many as there are cores for the process. See [`SessionOptions`].
    pub fn threads(mut self, count: usize) -> Self {
        self.threads = count;
        self
    }

    /// Bytes that loads and calls of the session's models may hold at a time. See [`SessionOptions`].
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// A folder in which packed weights of models are kept for later loads; an empty path = none. Otherwise that of the
    /// environment variable `MAX_WEIGHTS_CACHE_DIR`, if any. See [`SessionOptions`].
    pub fn weights_cache_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.weights_cache_dir = Some(folder.as_ref().to_owned());
        self
    }

    /// The session. See [`SessionOptions`].
    pub fn create(&self) -> Result<Session> {
        let folder = self.weights_cache_dir.as_deref().map(c_path).transpose()?;
        let options = options!(MaxSessionOptions {
            // A device is its pointer.
            devices: if self.devices.is_empty() { ptr::null() } else { self.devices.as_ptr().cast() },
            deviceCount: c_count(self.devices.len())?,
            threadCount: c_count(self.threads)?,
            memoryLimit: self.memory_limit,
            weightsCacheDir: folder.as_ref().map_or(ptr::null(), |path| path.as_ptr()),
        });
        // SAFETY: the pointers live through the call.
        get_handle(|out| unsafe { sys::maxSessionCreate(&raw const options, out) }).map(Session::owned)
    }
}

/// What a session checks between the steps of its models.
///
/// ```
/// use max::{AssertLevel, Session};
/// let session = Session::new()?;
/// session.set_assert_level(AssertLevel::All)?;
/// assert_eq!(session.assert_level()?, AssertLevel::All);
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssertLevel {
    /// Nothing.
    None = sys::MaxAssertLevel::MAX_ASSERT_LEVEL_NONE.0 as isize,
    /// As `All`, but what is found is only logged.
    Warn = sys::MaxAssertLevel::MAX_ASSERT_LEVEL_WARN.0 as isize,
    /// That no step writes behind its outputs, and that shapes are those promised.
    Safe = sys::MaxAssertLevel::MAX_ASSERT_LEVEL_SAFE.0 as isize,
    /// That too, and that no step makes NaN or infinity out of finite inputs.
    All = sys::MaxAssertLevel::MAX_ASSERT_LEVEL_ALL.0 as isize,
}

/// What a session records of its calls.
///
/// ```
/// use max::{ProfilingMode, Session};
/// let session = Session::new()?;
/// session.set_profiling(ProfilingMode::On)?;
/// assert_eq!(session.profiling()?, ProfilingMode::On);
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfilingMode {
    /// Nothing.
    Off = sys::MaxProfilingMode::MAX_PROFILING_MODE_OFF.0 as isize,
    /// Each call and each step of a model.
    On = sys::MaxProfilingMode::MAX_PROFILING_MODE_ON.0 as isize,
    /// Steps within the iterations of loops too.
    Detailed = sys::MaxProfilingMode::MAX_PROFILING_MODE_DETAILED.0 as isize,
}

/// What a session's models hold in memory, in bytes; known of sessions with a limit.
///
/// ```
/// let memory = max::SessionOptions::new().memory_limit(1 << 20).create()?.memory()?;
/// assert_eq!(memory.used, Some(0));
/// # Ok::<(), max::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionMemory {
    /// What they hold now.
    pub used: Option<u64>,
    /// The most that they have held so far.
    pub peak: Option<u64>,
    /// The limit.
    pub limit: Option<u64>,
}

impl Session {
    /// A session with the defaults. See [`Session`].
    pub fn new() -> Result<Self> {
        SessionOptions::default().create()
    }

    /// Loads an ONNX file, a compiled model, or a folder that holds one. See [`Session`].
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Model> {
        self.load_with(path, LoadOptions::default())
    }

    /// As [`Session::load`], with options. See [`LoadOptions`].
    pub fn load_with(&self, path: impl AsRef<Path>, options: LoadOptions<'_>) -> Result<Model> {
        let path = c_path(path.as_ref())?;
        options.load(|raw, out| {
            // SAFETY: the handle is alive, the pointers live through the call.
            unsafe { sys::maxModelLoad(self.as_raw(), path.as_ptr(), raw, out) }
        })
    }

    /// Loads a model from the bytes of an ONNX file, which are copied.
    ///
    /// ```
    /// let bytes = std::fs::read("../../../examples/digits/digits.onnx").unwrap();
    /// let model = max::Session::new()?.load_from_memory(&bytes, max::LoadOptions::new())?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn load_from_memory(&self, bytes: &[u8], options: LoadOptions<'_>) -> Result<Model> {
        options.load(|raw, out| {
            // SAFETY: as above.
            unsafe { sys::maxModelLoadFromMemory(self.as_raw(), bytes.as_ptr().cast(), bytes.len(), raw, out) }
        })
    }

    /// Makes a model of a graph built in code; the graph does not change. See [`Graph`].
    pub fn compile(&self, graph: &Graph) -> Result<Model> {
        self.compile_with(graph, LoadOptions::default())
    }

    /// As [`Session::compile`], with options.
    ///
    /// ```
    /// use max::{DType, Graph, LoadOptions, Precision, Session};
    /// let graph = Graph::new("square")?;
    /// let x = graph.input("x", DType::FLOAT32, &[8, 8])?;
    /// graph.output(&graph.node("MatMul", &[&x, &x])?, "y")?;
    /// let model = Session::new()?.compile_with(&graph, LoadOptions::new().precision(Precision::Highest))?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn compile_with(&self, graph: &Graph, options: LoadOptions<'_>) -> Result<Model> {
        options.load(|raw, out| {
            // SAFETY: as above.
            unsafe { sys::maxModelCompile(self.as_raw(), graph.as_raw(), raw, out) }
        })
    }

    /// The devices, the one that models run on first.
    ///
    /// ```
    /// use max::{Device, Session};
    /// assert_eq!(Session::new()?.devices()?, [Device::cpu()?]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn devices(&self) -> Result<Vec<Device>> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        let count = get(0, |out| unsafe { sys::maxSessionGetDeviceCount(self.as_raw(), out) })?;
        (0..count).map(|index| self.device(index)).collect()
    }

    pub(crate) fn device(&self, index: i32) -> Result<Device> {
        // SAFETY: as above.
        get_handle(|out| unsafe { sys::maxSessionGetDevice(self.as_raw(), index, out) }).map(Device::borrowed)
    }

    /// Threads that one call uses at most. See [`SessionOptions`].
    pub fn thread_count(&self) -> Result<usize> {
        // SAFETY: as above.
        get_count(|out| unsafe { sys::maxSessionGetThreadCount(self.as_raw(), out) })
    }

    /// Sets how important messages of the session's loads and calls must be.
    ///
    /// ```
    /// use max::{Session, log::Level};
    /// let session = Session::new()?;
    /// session.set_log_level(Level::Warning)?;
    /// assert_eq!(session.log_level()?, Level::Warning);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn set_log_level(&self, level: Level) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxSessionSetLogLevel(self.as_raw(), level.raw()) })
    }

    /// How important messages of the session's loads and calls must be. See [`Session::set_log_level`].
    pub fn log_level(&self) -> Result<Level> {
        let none = sys::MaxLogLevel(0);
        // SAFETY: the handle is alive, the pointer lives through the call.
        get(none, |out| unsafe { sys::maxSessionGetLogLevel(self.as_raw(), out) }).map(Level::of)
    }

    /// Sets what is checked between the steps of models. See [`AssertLevel`].
    pub fn set_assert_level(&self, level: AssertLevel) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxSessionSetAssertLevel(self.as_raw(), sys::MaxAssertLevel(level as i32)) })
    }

    /// What is checked between the steps of models. See [`AssertLevel`].
    pub fn assert_level(&self) -> Result<AssertLevel> {
        let none = sys::MaxAssertLevel(0);
        // SAFETY: the handle is alive, the pointer lives through the call.
        let level = get(none, |out| unsafe { sys::maxSessionGetAssertLevel(self.as_raw(), out) })?;
        Ok(match level {
            sys::MaxAssertLevel::MAX_ASSERT_LEVEL_NONE => AssertLevel::None,
            sys::MaxAssertLevel::MAX_ASSERT_LEVEL_WARN => AssertLevel::Warn,
            sys::MaxAssertLevel::MAX_ASSERT_LEVEL_SAFE => AssertLevel::Safe,
            _ => AssertLevel::All,
        })
    }

    /// Sets the type in which the parts of long float32 products are added up: float32, float64, float16 or bfloat16.
    ///
    /// ```
    /// use max::{DType, Session};
    /// let session = Session::new()?;
    /// session.set_split_k_reduction_precision(DType::FLOAT64)?;
    /// assert_eq!(session.split_k_reduction_precision()?, DType::FLOAT64);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn set_split_k_reduction_precision(&self, dtype: DType) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxSessionSetSplitKReductionPrecision(self.as_raw(), dtype.0) })
    }

    /// The type in which the parts of long products are added up. See [`Session::set_split_k_reduction_precision`].
    pub fn split_k_reduction_precision(&self) -> Result<DType> {
        let none = sys::MaxDType(0);
        // SAFETY: the handle is alive, the pointer lives through the call.
        get(none, |out| unsafe { sys::maxSessionGetSplitKReductionPrecision(self.as_raw(), out) }).map(DType)
    }

    /// Chooses how `TopK` works: it sorts whole lines, or it selects, which is the default.
    ///
    /// ```
    /// let session = max::Session::new()?;
    /// session.set_use_old_top_k(true)?;
    /// assert!(session.use_old_top_k()?);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn set_use_old_top_k(&self, on: bool) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxSessionSetUseOldTopK(self.as_raw(), i32::from(on)) })
    }

    /// Whether `TopK` sorts whole lines. See [`Session::set_use_old_top_k`].
    pub fn use_old_top_k(&self) -> Result<bool> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_flag(|out| unsafe { sys::maxSessionGetUseOldTopK(self.as_raw(), out) })
    }

    /// Sets what is recorded of the calls of the session's models. See [`ProfilingMode`].
    pub fn set_profiling(&self, mode: ProfilingMode) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxSessionSetProfiling(self.as_raw(), sys::MaxProfilingMode(mode as i32)) })
    }

    /// What is recorded of the calls of the session's models. See [`ProfilingMode`].
    pub fn profiling(&self) -> Result<ProfilingMode> {
        let none = sys::MaxProfilingMode(0);
        // SAFETY: the handle is alive, the pointer lives through the call.
        let mode = get(none, |out| unsafe { sys::maxSessionGetProfiling(self.as_raw(), out) })?;
        Ok(match mode {
            sys::MaxProfilingMode::MAX_PROFILING_MODE_OFF => ProfilingMode::Off,
            sys::MaxProfilingMode::MAX_PROFILING_MODE_ON => ProfilingMode::On,
            _ => ProfilingMode::Detailed,
        })
    }

    /// Writes what was recorded as a trace in Chrome's JSON format.
    ///
    /// ```
    /// use max::{Buffer, DType, ProfilingMode, Session};
    /// # let path = std::env::temp_dir().join(format!("profile_{}.json", std::process::id()));
    /// let session = Session::new()?;
    /// session.set_profiling(ProfilingMode::On)?;
    /// let model = session.load("../../../examples/digits/digits.onnx")?;
    /// model.execute(&[&Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?])?;
    /// session.write_profile(&path)?; // for chrome://tracing or Perfetto
    /// session.clear_profile()?;
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn write_profile(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = c_path(path.as_ref())?;
        // SAFETY: the handle is alive, the pointer lives through the call.
        check(unsafe { sys::maxSessionWriteProfile(self.as_raw(), path.as_ptr()) })
    }

    /// Forgets what was recorded. See [`Session::write_profile`].
    pub fn clear_profile(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxSessionClearProfile(self.as_raw()) })
    }

    /// How much memory the session's models hold, if it has a limit. See [`SessionMemory`].
    pub fn memory(&self) -> Result<SessionMemory> {
        use sys::MaxSessionMemoryMask as Mask;
        // SAFETY: the handle is alive, the structure knows its size.
        let memory = get(options!(MaxSessionMemory {}), |out| unsafe { sys::maxSessionGetMemory(self.as_raw(), out) })?;
        let is = |mask: Mask| memory.validMask & mask == mask;
        Ok(SessionMemory {
            used: is(Mask::MAX_SESSION_MEMORY_USED).then_some(memory.used),
            peak: is(Mask::MAX_SESSION_MEMORY_PEAK).then_some(memory.peak),
            limit: is(Mask::MAX_SESSION_MEMORY_LIMIT).then_some(memory.limit),
        })
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Session({:?})", self.devices().map_err(|_| fmt::Error)?)
    }
}
