// SPDX-License-Identifier: Apache-2.0
//! Kernels: functions of a module that many threads of a device run.

use std::ffi::c_void;
use std::fmt;
use std::ptr;

use max_sys as sys;

use crate::buffer::{Buffer, raw_stream};
use crate::buffer_data::writing;
use crate::element::Element;
use crate::error::{Result, c_count, check, get, get_handle, get_text};
use crate::handle::{handle, options};
use crate::module::Module;
use crate::stream::Stream;

handle!(sync
    /// A function of a module that can be launched: [`launch!`](crate::launch!).
    ///
    /// ```
    /// use max::{Device, Module};
    /// let module = Module::compile(&Device::cpu()?, r#"extern "C" __global__ void nothing() {}"#)?;
    /// let kernel = module.kernel("nothing")?;
    /// drop(module); // the kernel holds it
    /// assert_eq!(kernel.name()?, "nothing");
    /// max::launch!(kernel, max::Launch::new())?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub Kernel: MaxKernel, maxKernelRetain, maxKernelRelease
);

macro_rules! attributes {
    ($($(#[$doc:meta])* $name:ident = $raw:ident,)*) => {
        /// A property of a kernel.
        ///
        /// ```
        /// use max::{Device, KernelAttribute, Module};
        /// let module = Module::compile(&Device::cpu()?, r#"extern "C" __global__ void nothing() {}"#)?;
        /// let kernel = module.kernel("nothing")?;
        /// assert!(kernel.attribute(KernelAttribute::MaxThreadsPerBlock)? > 0);
        /// # Ok::<(), max::Error>(())
        /// ```
        #[non_exhaustive]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum KernelAttribute {
            $($(#[$doc])* $name = sys::MaxKernelAttribute::$raw.0 as isize,)*
        }
    };
}

attributes! {
    /// Most threads in a block.
    MaxThreadsPerBlock = MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    /// Bytes of shared memory that the kernel declares.
    SharedSize = MAX_KERNEL_ATTRIBUTE_SHARED_SIZE,
    /// Bytes of constant memory that the kernel declares.
    ConstantSize = MAX_KERNEL_ATTRIBUTE_CONSTANT_SIZE,
    /// Bytes of local memory per thread.
    LocalSize = MAX_KERNEL_ATTRIBUTE_LOCAL_SIZE,
    /// Registers that a thread uses.
    Registers = MAX_KERNEL_ATTRIBUTE_REGISTERS,
    /// Version of the PTX it was compiled from, 10 * major + minor.
    PtxVersion = MAX_KERNEL_ATTRIBUTE_PTX_VERSION,
    /// Version of the chip it was compiled for, 10 * major + minor.
    BinaryVersion = MAX_KERNEL_ATTRIBUTE_BINARY_VERSION,
    /// Most bytes of dynamic shared memory that a launch may ask for. Can be set.
    MaxDynamicSharedSize = MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE,
    /// Percent of the first-level cache to use as shared memory, -1 = the driver's choice. Can be set: a hint.
    PreferredSharedCarveout = MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT,
    /// Whether clusters may be larger than all chips allow: 0 or 1. Can be set.
    NonPortableClusterSizeAllowed = MAX_KERNEL_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
}

/// How the second-level cache treats a range of memory.
///
/// ```
/// use max::{AccessProperty, Buffer, Launch};
/// let table = Buffer::from_slice(&[1.0f32], &[1])?;
/// let launch = Launch::new().cached(&table, 0.5, AccessProperty::Persisting, AccessProperty::Streaming);
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessProperty {
    /// As any other memory.
    Normal = sys::MaxAccessProperty::MAX_ACCESS_PROPERTY_NORMAL.0 as isize,
    /// Unlikely to be used again.
    Streaming = sys::MaxAccessProperty::MAX_ACCESS_PROPERTY_STREAMING.0 as isize,
    /// To be kept.
    Persisting = sys::MaxAccessProperty::MAX_ACCESS_PROPERTY_PERSISTING.0 as isize,
}

/// Up to three numbers: x, `[x, y]` or `[x, y, z]`.
///
/// ```
/// use max::{Dimensions, Launch};
/// let launch = Launch::new().grid(8).block([16, 16]).cluster([2, 1, 1]);
/// assert_eq!([16, 16].dimensions(), [16, 16, 1]);
/// ```
pub trait Dimensions {
    /// All three; those that are left out are 1. See [`Dimensions`].
    fn dimensions(self) -> [i64; 3];
}

macro_rules! dimensions {
    ($($integer:ty),*) => { $(
        impl Dimensions for $integer {
            fn dimensions(self) -> [i64; 3] {
                [size(self), 1, 1]
            }
        }
        impl Dimensions for [$integer; 2] {
            fn dimensions(self) -> [i64; 3] {
                [size(self[0]), size(self[1]), 1]
            }
        }
        impl Dimensions for [$integer; 3] {
            fn dimensions(self) -> [i64; 3] {
                self.map(size)
            }
        }
    )* };
}

dimensions!(i32, u32, i64, usize);

fn size(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// How a kernel is launched: without more said, one block of one thread on the device's default stream.
///
/// ```
/// use max::{Device, Launch, Stream};
/// let stream = Stream::new(&Device::cpu()?)?;
/// let launch = Launch::new().grid(1000usize.div_ceil(256)).block(256).shared_bytes(1024).stream(&stream);
/// let on_accelerators = launch.cluster(2).cooperative(true).priority(1).programmatic_serialization(true);
/// # Ok::<(), max::Error>(())
/// ```
#[must_use]
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    config: Config,
    stream: Option<&'a Stream>,
    cached: Option<&'a Buffer>,
}

#[derive(Clone, Copy, Debug)]
struct Config(sys::MaxLaunchConfig);

// SAFETY: numbers; the one pointer is set when it is launched.
unsafe impl Send for Config {}
// SAFETY: as above.
unsafe impl Sync for Config {}

impl Default for Launch<'_> {
    fn default() -> Self {
        Self { config: Config(options!(MaxLaunchConfig {})), stream: None, cached: None }
    }
}

/// What the C API cannot say, it refuses as -1.
fn raw_dimensions(dimensions: impl Dimensions) -> [i32; 3] {
    // Zero means 1 there; here it is a mistake.
    dimensions.dimensions().map(|it| i32::try_from(it).ok().filter(|it| *it > 0).unwrap_or(-1))
}

impl<'a> Launch<'a> {
    /// One block of one thread. See [`Launch`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Blocks in x, y and z. See [`Launch`].
    pub fn grid(mut self, blocks: impl Dimensions) -> Self {
        self.config.0.grid = raw_dimensions(blocks);
        self
    }

    /// Threads of a block in x, y and z. See [`Launch`].
    pub fn block(mut self, threads: impl Dimensions) -> Self {
        self.config.0.block = raw_dimensions(threads);
        self
    }

    /// Blocks of a cluster in x, y and z. See [`Launch`].
    pub fn cluster(mut self, blocks: impl Dimensions) -> Self {
        self.config.0.cluster = raw_dimensions(blocks);
        self
    }

    /// All blocks run at the same time, or the launch fails. See [`Launch`].
    pub fn cooperative(mut self, cooperative: bool) -> Self {
        self.config.0.cooperative = i32::from(cooperative);
        self
    }

    /// Bytes of dynamic shared memory of each block. See [`Launch`].
    pub fn shared_bytes(mut self, bytes: usize) -> Self {
        self.config.0.sharedByteCount = bytes;
        self
    }

    /// A hint: kernels of higher priority go first. See [`Launch`].
    pub fn priority(mut self, priority: i32) -> Self {
        self.config.0.priority = priority;
        self
    }

    /// The kernel may start before the one before it on the stream has ended; it waits for it by itself.
    /// See [`Launch`].
    pub fn programmatic_serialization(mut self, on: bool) -> Self {
        self.config.0.programmaticSerialization = i32::from(on);
        self
    }

    /// How the memory of a buffer is cached: a part of the accesses, 0 to 1, as `hit`, the others as `miss`.
    /// See [`AccessProperty`].
    pub fn cached(mut self, buffer: &'a Buffer, part: f32, hit: AccessProperty, miss: AccessProperty) -> Self {
        self.cached = Some(buffer);
        self.config.0.hitRatio = part;
        self.config.0.hitProperty = sys::MaxAccessProperty(hit as i32);
        self.config.0.missProperty = sys::MaxAccessProperty(miss as i32);
        self
    }

    /// The stream; without it the default stream of the kernel's device. See [`Launch`].
    pub fn stream(mut self, stream: &'a Stream) -> Self {
        self.stream = Some(stream);
        self
    }
}

/// An argument of a kernel: `&Buffer`, `&mut Buffer`, a number, or an array of numbers.
///
/// ```
/// use max::{Argument, Buffer};
/// let buffer = Buffer::from_slice(&[1.0f32], &[1])?;
/// let arguments = [Argument::from(&buffer), Argument::from(1i32), Argument::from([1.0f32, 2.0])];
/// # Ok::<(), max::Error>(())
/// ```
#[derive(Debug)]
pub struct Argument<'a>(Kind<'a>);

#[derive(Debug)]
enum Kind<'a> {
    Buffer(&'a Buffer),
    BufferMut(&'a mut Buffer),
    Value(Value),
}

/// Maximum bytes of an argument that is not a buffer.
const VALUE_LIMIT: usize = 128;

#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Value {
    bytes: [u8; VALUE_LIMIT],
    size: usize,
}

impl<'a> From<&'a Buffer> for Argument<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Self(Kind::Buffer(buffer))
    }
}

impl<'a> From<&'a mut Buffer> for Argument<'a> {
    fn from(buffer: &'a mut Buffer) -> Self {
        Self(Kind::BufferMut(buffer))
    }
}

impl<T: Element> From<T> for Argument<'_> {
    fn from(value: T) -> Self {
        Self::from([value])
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Argument<'_> {
    /// As a structure of so many numbers lies in memory. More than 128 bytes do not compile.
    fn from(values: [T; N]) -> Self {
        const { assert!(size_of::<T>() * N <= VALUE_LIMIT, "an argument has at most 128 bytes") };
        let mut bytes = [0; VALUE_LIMIT];
        // SAFETY: numbers without padding, so many bytes.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr().cast(), bytes.as_mut_ptr(), size_of_val(&values)) };
        Self(Kind::Value(Value { bytes, size: size_of_val(&values) }))
    }
}

impl Argument<'_> {
    fn raw(&self) -> (*const c_void, usize) {
        match &self.0 {
            Kind::Buffer(buffer) => (buffer.as_raw().cast_const().cast(), sys::MAX_KERNEL_ARGUMENT_BUFFER as usize),
            Kind::BufferMut(buffer) => (buffer.as_raw().cast_const().cast(), sys::MAX_KERNEL_ARGUMENT_BUFFER as usize),
            Kind::Value(value) => (value.bytes.as_ptr().cast(), value.size),
        }
    }

    fn written(&self) -> Option<&Buffer> {
        if let Kind::BufferMut(buffer) = &self.0 { Some(buffer) } else { None }
    }
}

/// Launches a kernel: `launch!(kernel, Launch::new().grid(8).block(256), &a, &mut b, 1.5f32)`.
///
/// Arguments are what [`Argument`] can be made of; how many there are and how large each is are compared with the kernel's
/// parameters. The kernel reads what it gets as `&Buffer` and may write what it gets as `&mut Buffer`, within the buffers:
/// its source has to see to that, as any code of the program has to.
///
/// ```
/// use max::{Buffer, Device, Launch, Module, Status, launch};
/// let source = r#"extern "C" __global__ void add(const float* a, float* b, float c) { b[threadIdx.x] += a[threadIdx.x] + c; }"#;
/// let add = Module::compile(&Device::cpu()?, source)?.kernel("add")?;
/// let (a, mut b) = (Buffer::from_slice(&[1.0f32, 2.0], &[2])?, Buffer::from_slice(&[3.0f32, 4.0], &[2])?);
/// launch!(add, Launch::new().block(2), &a, &mut b, 0.5f32)?;
/// assert_eq!(*b.as_slice::<f32>()?, [4.5, 6.5]);
/// let error = launch!(add, Launch::new().block(2), &a, &mut b, 0.5f64).unwrap_err();
/// assert_eq!(error.status(), Status::InvalidArgument);
/// # Ok::<(), max::Error>(())
/// ```
#[macro_export]
macro_rules! launch {
    ($kernel:expr, $launch:expr $(, $argument:expr)* $(,)?) => {
        $kernel.launch(&$launch, &[$($crate::Argument::from($argument)),*])
    };
}

/// Arguments that need no allocation.
const FEW: usize = 16;

impl Kernel {
    /// Launches the kernel; [`launch!`](crate::launch!) makes the arguments. It is work on a stream like any other.
    ///
    /// ```
    /// use max::{Argument, Buffer, Device, Launch, Module};
    /// let source = r#"extern "C" __global__ void set(float* x) { x[0] = 7; }"#;
    /// let set = Module::compile(&Device::cpu()?, source)?.kernel("set")?;
    /// let mut x = Buffer::scalar(0.0f32)?;
    /// set.launch(&Launch::new(), &[Argument::from(&mut x)])?;
    /// assert_eq!(x.item::<f32>()?, 7.0);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn launch(&self, launch: &Launch<'_>, arguments: &[Argument<'_>]) -> Result<()> {
        let count = c_count(arguments.len())?;
        let mut config = launch.config.0;
        if let Some(buffer) = launch.cached {
            config.accessBase = ptr::with_exposed_provenance_mut(usize::try_from(buffer.address()).unwrap_or(0));
            config.accessByteCount = buffer.byte_len();
        }
        let mut few = ([ptr::null(); FEW], [0; FEW]);
        let mut many;
        let (addresses, sizes) = if arguments.len() <= FEW {
            (&mut few.0[..], &mut few.1[..])
        } else {
            many = (vec![ptr::null(); arguments.len()], vec![0; arguments.len()]);
            (&mut many.0[..], &mut many.1[..])
        };
        for (i, argument) in arguments.iter().enumerate() {
            (addresses[i], sizes[i]) = argument.raw();
        }
        let (addresses, sizes, stream) = (addresses.as_ptr(), sizes.as_ptr(), raw_stream(launch.stream));
        writing(arguments.iter().filter_map(Argument::written), || {
            // SAFETY: the handles are alive, the arrays have `count` entries, and the kernel keeps to its arguments.
            check(unsafe { sys::maxKernelLaunch(self.as_raw(), &raw const config, addresses, sizes, count, stream) })
        })?
    }

    /// The module of the kernel.
    ///
    /// ```
    /// use max::{Device, Module};
    /// let source = r#"extern "C" __global__ void first() {} extern "C" __global__ void second() {}"#;
    /// let first = Module::compile(&Device::cpu()?, source)?.kernel("first")?;
    /// let second = first.module()?.kernel("second")?;
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn module(&self) -> Result<Module> {
        // SAFETY: the handle is alive, the pointer lives through the call.
        get_handle(|out| unsafe { sys::maxKernelGetModule(self.as_raw(), out) }).map(Module::borrowed)
    }

    /// The name of the kernel. See [`Kernel`].
    pub fn name(&self) -> Result<String> {
        // SAFETY: as above.
        get_text(|out| unsafe { sys::maxKernelGetName(self.as_raw(), out) })
    }

    /// A property of the kernel; `Unimplemented` where the device does not know it. See [`KernelAttribute`].
    pub fn attribute(&self, attribute: KernelAttribute) -> Result<i64> {
        let attribute = sys::MaxKernelAttribute(attribute as i32);
        // SAFETY: as above.
        get(0, |out| unsafe { sys::maxKernelGetAttribute(self.as_raw(), attribute, out) })
    }

    /// Sets a property of the kernel for all later launches.
    ///
    /// ```
    /// use max::{Device, KernelAttribute, Module};
    /// let module = Module::compile(&Device::cpu()?, r#"extern "C" __global__ void nothing() {}"#)?;
    /// let kernel = module.kernel("nothing")?;
    /// kernel.set_attribute(KernelAttribute::MaxDynamicSharedSize, 32 << 10)?;
    /// assert_eq!(kernel.attribute(KernelAttribute::MaxDynamicSharedSize)?, 32 << 10);
    /// # Ok::<(), max::Error>(())
    /// ```
    pub fn set_attribute(&self, attribute: KernelAttribute, value: i64) -> Result<()> {
        let attribute = sys::MaxKernelAttribute(attribute as i32);
        // SAFETY: the handle is alive.
        check(unsafe { sys::maxKernelSetAttribute(self.as_raw(), attribute, value) })
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Kernel({})", self.name().map_err(|_| fmt::Error)?)
    }
}
