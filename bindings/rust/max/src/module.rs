// SPDX-License-Identifier: Apache-2.0
//! Modules: code that is compiled at run time for a device, with kernels and variables in it.

use std::fmt;
use std::ptr;
use std::slice;

use max_sys as sys;

use crate::buffer::raw_stream;
use crate::device::Device;
use crate::element::Element;
use crate::error::{CTexts, Result, c_text, check, get, get_handle};
use crate::handle::{handle, options};
use crate::kernel::Kernel;
use crate::stream::Stream;

handle!(sync
    /// Compiled code on a device, in which kernels are found.
    ///
    /// Source is the dialect of C++ that CUDA made; the same runs on every device. It becomes a part of the program, as C
    /// that a build script compiles does: what its kernels do with the memory they are given is up to who wrote them.
    ///
    /// ```
    /// use max::{Buffer, Device, Launch, Module, launch};
    /// let device = Device::cpu()?;
    /// let source = r#"extern "C" __global__ void twice(float* x, int count) {
    ///     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ///     if (i < count) x[i] *= 2;
    /// }"#;
    /// let twice = Module::compile(&device, source)?.kernel("twice")?;
    /// let mut x = Buffer::from_slice(&[1.0f32, 2.0, 3.0], &[3])?;
    /// launch!(twice, Launch::new().block(3), &mut x, 3)?;
    /// assert_eq!(x.to_vec::<f32>()?, [2.0, 4.0, 6.0]);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Module: MaxModule, maxModuleRetain, maxModuleRelease
);

/// Options of [`Module::compile_with`].
///
/// ```
/// use max::{CompileOptions, Device, Module};
/// let options = CompileOptions::new().name("scale.cu").define("FACTOR", "2.5f").header("size.h", "#define SIZE 16");
/// let source = r#"
///     #include "size.h"
///     extern "C" __global__ void scale(float* x) { if (threadIdx.x < SIZE) x[threadIdx.x] *= FACTOR; }
/// "#;
/// Module::compile_with(&Device::cpu()?, source, &options)?;
/// # Ok::<(), max::Error>(())
/// ```
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    name: Option<String>,
    architecture: Option<String>,
    defines: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    flags: Vec<String>,
    fast_math: bool,
    register_limit: i32,
    line_info: bool,
}

impl CompileOptions {
    /// The defaults. See [`CompileOptions`].
    pub fn new() -> Self {
        Self::default()
    }

    /// What the compiler's log calls the source. See [`CompileOptions`].
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The chip to compile for, as [`Device::architecture_name`] says it; without it the device's own.
    ///
    /// ```
    /// use max::CompileOptions;
    /// let options = CompileOptions::new()
    ///     .architecture("sm_90")
    ///     .flag("--extra-device-vectorization")
    ///     .fast_math(true)
    ///     .register_limit(64)
    ///     .line_info(true);
    /// ```
    pub fn architecture(mut self, name: impl Into<String>) -> Self {
        self.architecture = Some(name.into());
        self
    }

    /// Defines a macro. See [`CompileOptions`].
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.defines.push((name.into(), value.into()));
        self
    }

    /// A text that the source may include. See [`CompileOptions`].
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.headers.push((name.into(), text.into()));
        self
    }

    /// An option of the compiler's own. See [`CompileOptions::architecture`].
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// Faster, less accurate arithmetic. See [`CompileOptions::architecture`].
    pub fn fast_math(mut self, fast_math: bool) -> Self {
        self.fast_math = fast_math;
        self
    }

    /// Most registers a thread may use on accelerators. See [`CompileOptions::architecture`].
    pub fn register_limit(mut self, count: u16) -> Self {
        self.register_limit = i32::from(count);
        self
    }

    /// Line numbers for profilers and debuggers. See [`CompileOptions::architecture`].
    pub fn line_info(mut self, line_info: bool) -> Self {
        self.line_info = line_info;
        self
    }
}

/// A form of compiled code.
///
/// ```
/// use max::{ArtifactKind, Device, Module};
/// let module = Module::compile(&Device::cpu()?, "__global__ void nothing() {}")?;
/// assert!(module.artifact(ArtifactKind::SharedObject)?.starts_with(b"\x7fELF"));
/// # Ok::<(), max::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactKind {
    /// What the compiler said: warnings. Text.
    Log = sys::MaxArtifactKind::MAX_ARTIFACT_KIND_LOG.0 as isize,
    /// PTX (cuda). Text.
    Ptx = sys::MaxArtifactKind::MAX_ARTIFACT_KIND_PTX.0 as isize,
    /// Machine code of a chip (cuda).
    Cubin = sys::MaxArtifactKind::MAX_ARTIFACT_KIND_CUBIN.0 as isize,
    /// Machine code of a chip (hip).
    CodeObject = sys::MaxArtifactKind::MAX_ARTIFACT_KIND_CODE_OBJECT.0 as isize,
    /// A shared library (cpu).
    SharedObject = sys::MaxArtifactKind::MAX_ARTIFACT_KIND_SHARED_OBJECT.0 as isize,
    /// Assembly (hip, cpu). Text.
    Assembly = sys::MaxArtifactKind::MAX_ARTIFACT_KIND_ASSEMBLY.0 as isize,
    /// LLVM's intermediate code (hip, and cpu where the compiler is Clang). Text.
    LlvmIr = sys::MaxArtifactKind::MAX_ARTIFACT_KIND_LLVM_IR.0 as isize,
}

impl Module {
    /// Compiles source text for a device, or finds what it was compiled to before. See [`Module`].
    ///
    /// If the source does not compile, the compiler's log follows the first line of the message.
    pub fn compile(device: &Device, source: &str) -> Result<Self> {
        Self::compile_with(device, source, &CompileOptions::default())
    }

    /// As [`Module::compile`], with options. See [`CompileOptions`].
    pub fn compile_with(device: &Device, source: &str, options: &CompileOptions) -> Result<Self> {
        let names = |pairs: &[(String, String)]| CTexts::new(pairs.iter().map(|pair| &pair.0));
        let values = |pairs: &[(String, String)]| CTexts::new(pairs.iter().map(|pair| &pair.1));
        let source = c_text(source)?;
        let name = options.name.as_ref().map(c_text).transpose()?;
        let architecture = options.architecture.as_ref().map(c_text).transpose()?;
        let (define_names, define_values) = (names(&options.defines)?, values(&options.defines)?);
        let (header_names, header_texts) = (names(&options.headers)?, values(&options.headers)?);
        let flags = CTexts::new(&options.flags)?;
        let raw = options!(MaxModuleOptions {
            architecture: architecture.as_ref().map_or(ptr::null(), |it| it.as_ptr()),
            defineNames: define_names.as_ptr(),
            defineValues: define_values.as_ptr(),
            headerNames: header_names.as_ptr(),
            headerTexts: header_texts.as_ptr(),
            flags: flags.as_ptr(),
            defineCount: define_names.count()?,
            headerCount: header_names.count()?,
            flagCount: flags.count()?,
            fastMath: i32::from(options.fast_math),
            registerLimit: options.register_limit,
            lineInfo: i32::from(options.line_info),
        });
        let name = name.as_ref().map_or(ptr::null(), |it| it.as_ptr());
        // SAFETY: the handle is alive, all pointers live through the call.
        get_handle(|out| unsafe { sys::maxModuleCompile(device.as_raw(), source.as_ptr(), name, &raw const raw, out) })
            .map(Self::owned)
    }

    /// Loads compiled code: PTX or a CUBIN on cuda, a code object on hip, a shared object on cpu.
    ///
    /// ```
    /// use max::{ArtifactKind, Device, Module};
    /// let device = Device::cpu()?;
    /// let source = r#"extern "C" __global__ void nothing() {}"#;
    /// let code = Module::compile(&device, source)?.artifact(ArtifactKind::SharedObject)?;
    /// // SAFETY: this is what the source was compiled to.
    /// let module = unsafe { Module::load(&device, &code)? };
    /// assert_eq!(module.kernel("nothing")?.name()?, "nothing");
    /// assert_eq!(module.device()?, device);
    /// # Ok::<(), max::Error>(())
    /// ```
    ///
    /// # Safety
    /// A shared object is code that runs in this process: it must be sound.
    pub unsafe fn load(device: &Device, code: &[u8]) -> Result<Self> {
        let (data, bytes) = (code.as_ptr().cast(), code.len());
        // SAFETY: as the caller promises; the bytes are copied.
        get_handle(|out| unsafe { sys::maxModuleLoadFromMemory(device.as_raw(), data, bytes, out) }).map(Self::owned)
    }

    /// The device that the module was made for. See [`Module::load`].
    pub fn device(&self) -> Result<Device> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxModuleGetDevice(self.as_raw(), out) }).map(Device::borrowed)
    }

    /// A form of the module's code, compiled once more where needed. See [`ArtifactKind`].
    pub fn artifact(&self, kind: ArtifactKind) -> Result<Vec<u8>> {
        let (kind, mut bytes) = (sys::MaxArtifactKind(kind as i32), 0);
        // SAFETY: as above.
        let data =
            get(ptr::null(), |out| unsafe { sys::maxModuleGetArtifact(self.as_raw(), kind, out, &raw mut bytes) })?;
        if data.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: so many bytes that the module holds.
        Ok(unsafe { slice::from_raw_parts(data.cast::<u8>(), bytes) }.to_vec())
    }

    /// Finds a kernel by its name; `NotFound` if there is none. It holds the module. See [`Module`].
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let name = c_text(name)?;
        // SAFETY: as above.
        get_handle(|out| unsafe { sys::maxModuleGetKernel(self.as_raw(), name.as_ptr(), out) }).map(Kernel::borrowed)
    }

    /// Writes a variable of the module (`__constant__` or `__device__`) from its beginning, in the order of a stream,
    /// without one of the device's default stream.
    ///
    /// ```
    /// use max::{Device, Module};
    /// let module = Module::compile(&Device::cpu()?, "__constant__ float factors[4];")?;
    /// module.set_constant("factors", &[1.0f32, 2.0, 3.0, 4.0], None)?;
    /// assert_eq!(module.set_constant("other", &[1.0f32], None).unwrap_err().status(), max::Status::NotFound);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn set_constant<T: Element>(&self, name: &str, elements: &[T], stream: Option<&Stream>) -> Result<()> {
        let (name, data, bytes) = (c_text(name)?, elements.as_ptr().cast(), size_of_val(elements));
        // SAFETY: the handles are alive, the bytes are copied before the call returns.
        check(unsafe { sys::maxModuleSetConstant(self.as_raw(), name.as_ptr(), data, bytes, raw_stream(stream)) })
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Module({:p})", self.as_raw())
    }
}
