// SPDX-License-Identifier: Apache-2.0
//! MAX in Rust: ONNX models, buffers, streams and kernels on the host and on accelerators.
//!
//! ```
//! use max::{Buffer, DType, Session};
//!
//! let model = Session::new()?.load("../../../examples/digits/digits.onnx")?;
//! let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8])?;
//! let outputs = model.execute(&[&image])?;
//! let probabilities = outputs[0].as_slice::<f32>()?;
//! println!("an empty image is a 1 with probability {:.3}", probabilities[1]);
//! # assert_eq!(format!("{:.3}", probabilities[1]), "0.131");
//! # Ok::<(), max::Error>(())
//! ```
//!
//! **Objects** are those of the C API, and count references: a clone is another handle of the same object, and dropping the
//! last one releases it. Objects hold what they need, so every order of dropping is right.
//!
//! **Errors** are [`Error`]: a [`Status`] and a message that names the offending values. Every function whose result is a
//! [`Result`] fails where its counterpart of the C API does. Texts with NUL bytes, shapes that do not fit their elements and
//! slices of the wrong length or type are `InvalidArgument`. Nothing panics but the program's own functions.
//!
//! **Threads.** All types are [`Send`] and [`Sync`] but [`Graph`], [`GraphValue`] and [`Attributes`], for which the C API
//! promises nothing. A [`Model`] is executed by any number of threads at the same time.
//!
//! **Memory.** Slices of a buffer's elements are sound with clones, views, threads and streams: see [`Elements`] and
//! [`ElementsMut`]. Work that borrows memory of the program is queued in a [`Stream::scope`]. Three things are trusted, as
//! other code of the program is: sources of kernels, extensions, and that nothing changes a mapped file of weights.
//!
//! **Features**: `half` (elements `f16` and `bf16`), `ndarray`, `dlpack`, `tracing`; `bundled` and `static` say where the
//! library comes from, see `max_sys`.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod access;
mod attributes;
mod buffer;
mod buffer_data;
mod cancellation;
mod capture;
pub mod device;
#[cfg(feature = "dlpack")]
pub mod dlpack;
mod dtype;
mod element;
mod error;
mod event;
mod execution;
pub mod experimental;
pub mod extension;
mod graph;
mod handle;
mod host_memory;
mod kernel;
mod load;
pub mod log;
mod model;
mod model_info;
mod module;
#[cfg(feature = "ndarray")]
mod ndarray;
mod session;
mod slicing;
pub mod stream;
mod strings;
mod tensor_info;
mod value;
mod version;
mod weights;

pub use access::{Elements, ElementsMut};
pub use attributes::Attributes;
pub use buffer::{Buffer, BufferOptions, MapMode};
pub use cancellation::Cancellation;
pub use capture::Captured;
pub use device::{Device, DeviceAttribute, DeviceOptions, DeviceStats, MemoryInfo};
pub use dtype::DType;
pub use element::Element;
pub use error::{Error, Result, Status};
pub use event::Event;
pub use execution::Execution;
pub use graph::{Dimension, Graph, GraphValue, NodeOptions};
pub use host_memory::HostMemory;
pub use kernel::{AccessProperty, Argument, Dimensions, Kernel, KernelAttribute, Launch};
pub use load::{LoadOptions, Precision};
pub use model::{ExecuteOptions, HostTensor, Model, ModelDeviceMemory, ModelMemory};
pub use model_info::{ModelInfo, UnsupportedNode};
pub use module::{ArtifactKind, CompileOptions, Module};
pub use session::{AssertLevel, ProfilingMode, Session, SessionMemory, SessionOptions};
pub use slicing::{Step, Steps};
pub use stream::{Scope, Stream};
pub use tensor_info::TensorInfo;
pub use value::{Value, ValueKind};
pub use version::{abi_version, version};
pub use weights::Weights;
