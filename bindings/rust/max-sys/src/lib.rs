// SPDX-License-Identifier: Apache-2.0
//! The C API of MAX, as bindgen generates it from the headers, with enumerations as newtypes.
//!
//! Programs use the crate `max-runtime`, which is safe; this one is for what it lacks. Rules of ownership, threads and
//! errors are those of the headers, and in short those of `docs/conventions.md`:
//!
//! ```
//! let name = unsafe { std::ffi::CStr::from_ptr(max_sys::maxStatusGetName(max_sys::MaxStatus::MAX_STATUS_OK)) };
//! assert_eq!(name, c"OK");
//! ```
//!
//! # Finding the library
//!
//! The build script takes the first of these, and never downloads anything:
//!
//! 1. with the feature `bundled`, MAX's sources, built with CMake: those this crate lies in, or in `MAX_SOURCE_DIR`,
//! 2. the folder in the environment variable `MAX_DIR`: where MAX was installed, or one of its build folders,
//! 3. what `pkg-config max` says.
//!
//! The feature `static` (or `MAX_STATIC=1`) takes the library into the program: it needs `libmax.a`, which `bundled`
//! makes, and in a build folder `cmake --build build --target max_static`.
//!
//! Otherwise programs open `libmax.so.0` when they start. `cargo run` and `cargo test` find it where the build did;
//! elsewhere it has to be where the system looks, in `LD_LIBRARY_PATH`, or in a run path that the program is linked with.

/// What bindgen wrote; see the crate's root.
#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unused_imports,
    rustdoc::all,
    clippy::all,
    clippy::pedantic
)]
mod raw;
pub use raw::*;
