// SPDX-License-Identifier: Apache-2.0
//! Tests of the binding, named as those in tests/capi. One program, since linking is what they would spend their time on.

mod allocations;
mod buffer;
mod buffer_copy;
mod buffer_mapping;
mod buffer_slice;
mod cancellation;
mod capture;
mod device;
#[cfg(feature = "dlpack")]
mod dlpack;
mod dtype;
mod event;
mod execute;
mod fixture;
mod fork;
mod graph;
mod handles;
mod kernel;
mod log;
mod model;
mod module;
mod process;
mod properties;
mod session;
mod status;
mod stream;
mod threads;
mod value;
mod weights;
