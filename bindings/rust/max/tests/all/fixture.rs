// SPDX-License-Identifier: Apache-2.0
//! What tests share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use max::experimental::live_object_count;
use max::{Buffer, DType, Error, Graph, Model, Result, Session, Status};

pub(crate) const DIGITS: &str = "../../../examples/digits/digits.onnx";

static ALONE: Mutex<()> = Mutex::new(());

/// Nothing else runs while it lives; afterwards all objects made meanwhile are gone.
pub(crate) struct Leaks {
    before: i64,
    _alone: MutexGuard<'static, ()>,
}

/// Nothing else runs while it lives.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn leaks() -> Leaks {
    let alone = alone();
    Leaks { before: live_object_count().unwrap(), _alone: alone }
}

impl Leaks {
    /// Workers of streams may hold what they are done with for a moment.
    pub(crate) fn wait(&self) {
        let end = Instant::now() + Duration::from_secs(20);
        while live_object_count().unwrap() != self.before && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Leaks {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.wait();
        assert_eq!(live_object_count().unwrap(), self.before, "objects are left");
    }
}

/// The error that a call gave, which must have a status and name something.
#[track_caller]
pub(crate) fn refused<T>(result: Result<T>, status: Status, names: &str) -> Error {
    let error = result.err().expect("the call is to be refused");
    assert_eq!(error.status(), status, "{error}");
    assert!(error.message().contains(names), "\"{names}\" is not in: {error}");
    error
}

/// A path for a file that is removed in the end.
pub(crate) struct TemporaryFile(PathBuf);

impl TemporaryFile {
    pub(crate) fn new(suffix: &str) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("max_rust_{}_{number}{suffix}", std::process::id())))
    }
}

impl AsRef<Path> for TemporaryFile {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

/// Gives its input, one number.
pub(crate) fn identity() -> Model {
    let graph = Graph::new("identity").unwrap();
    let x = graph.input("x", DType::FLOAT32, &[1]).unwrap();
    graph.output(&graph.node("Identity", &[&x]).unwrap(), "y").unwrap();
    Session::new().unwrap().compile(&graph).unwrap()
}

/// Adds two vectors of any equal length.
pub(crate) fn adder() -> Model {
    let graph = Graph::new("adder").unwrap();
    let (a, b) = (graph.input("a", DType::FLOAT32, &["n"]).unwrap(), graph.input("b", DType::FLOAT32, &["n"]).unwrap());
    graph.output(&graph.node("Add", &[&a, &b]).unwrap(), "sum").unwrap();
    Session::new().unwrap().compile(&graph).unwrap()
}

/// Takes many seconds: a matrix to the power of many.
pub(crate) fn slow() -> (Model, Buffer) {
    let graph = Graph::new("slow").unwrap();
    let mut x = graph.input("x", DType::FLOAT32, &[768, 768]).unwrap();
    let input = x.clone();
    for _ in 0..1600 {
        x = graph.node("MatMul", &[&x, &input]).unwrap();
    }
    graph.output(&x, "y").unwrap();
    let model = Session::new().unwrap().compile(&graph).unwrap();
    (model, Buffer::zeros(DType::FLOAT32, &[768, 768]).unwrap())
}

/// Numbers from 0 on.
pub(crate) fn counting(shape: &[usize]) -> Buffer {
    let numbers: Vec<i32> = (0..i32::try_from(shape.iter().product::<usize>()).unwrap()).collect();
    Buffer::from_vec(numbers, shape).unwrap()
}
