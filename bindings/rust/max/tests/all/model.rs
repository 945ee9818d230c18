// SPDX-License-Identifier: Apache-2.0
use std::time::Duration;

use max::{Buffer, DType, Graph, LoadOptions, ModelInfo, Precision, Session, SessionOptions, Status};

use crate::fixture::{DIGITS, TemporaryFile, adder, leaks, refused};

#[test]
fn metadata() {
    let _leaks = leaks();
    let model = Session::new().unwrap().load(DIGITS).unwrap();
    let (inputs, outputs) = (model.inputs().unwrap(), model.outputs().unwrap());
    assert_eq!(inputs[0].shape, Some(vec![None, Some(1), Some(8), Some(8)]));
    assert_eq!((outputs.len(), outputs[0].dtype), (1, Some(DType::FLOAT32)));
    assert_eq!(model.find_input(&inputs[0].name).unwrap(), 0);
    assert_eq!(model.find_output(&outputs[0].name).unwrap(), 0);
    assert!(inputs[0].device.as_ref().unwrap().is_host().unwrap());
    refused(model.find_input("nothing"), Status::NotFound, &inputs[0].name);
    refused(model.find_output("no\0thing"), Status::InvalidArgument, "NUL byte at 2");
    assert!(model.graph().unwrap().starts_with("digraph"));
    assert_eq!(model.precision().unwrap(), Precision::Highest);
    assert!(model.memory().unwrap().total.unwrap() > 0 && model.session().unwrap().thread_count().unwrap() > 0);
}

#[test]
fn info() {
    let _leaks = leaks();
    let info = ModelInfo::load(DIGITS).unwrap();
    assert!(info.ir_version().unwrap() > 0 && info.parameter_count().unwrap() > 1000);
    assert_eq!(info.opsets().unwrap()[0].0, "ai.onnx");
    assert_eq!(info.operators().unwrap().len(), 7);
    assert!(info.unsupported().unwrap().is_empty() && !info.weights().unwrap().is_empty());
    assert!(info.graph().unwrap().contains("Conv") && info.producer().is_ok());
    assert_eq!((info.inputs().unwrap().len(), info.outputs().unwrap().len()), (1, 1));
    let held = Session::new().unwrap().load(DIGITS).unwrap().info().unwrap();
    assert_eq!(held.operators().unwrap(), info.operators().unwrap());
}

#[test]
fn loads_refuse() {
    let _leaks = leaks();
    let session = Session::new().unwrap();
    refused(session.load("missing.onnx"), Status::NotFound, "missing.onnx");
    refused(session.load("a\0b"), Status::InvalidArgument, "NUL byte at 1");
    refused(session.load_from_memory(b"nonsense", LoadOptions::new()), Status::DataLoss, "");
    refused(session.load_from_memory(b"", LoadOptions::new()), Status::DataLoss, "");
    let buffer = Buffer::zeros(DType::FLOAT32, &[1]).unwrap();
    refused(session.load_with(DIGITS, LoadOptions::new().weight("nothing", &buffer)), Status::NotFound, "nothing");
    session.load_with(DIGITS, LoadOptions::new().weight("nothing", &buffer).ignore_unknown_weights(true)).unwrap();
    refused(
        session.load_with(DIGITS, LoadOptions::new().timeout(Duration::from_nanos(1))),
        Status::DeadlineExceeded,
        "",
    );
    refused(session.load_with(DIGITS, LoadOptions::new().weights_path("missing")), Status::NotFound, "missing");
    let small = SessionOptions::new().memory_limit(1000).create().unwrap();
    refused(small.load(DIGITS), Status::ResourceExhausted, "");
    // SAFETY: there is no such file.
    let options = unsafe { LoadOptions::new().extension("missing.so") };
    refused(session.load_with(DIGITS, options), Status::NotFound, "missing.so");
}

#[test]
fn progress() {
    let _leaks = leaks();
    let session = Session::new().unwrap();
    let mut fractions = Vec::new();
    session.load_with(DIGITS, LoadOptions::new().progress(|fraction, _| fractions.push(fraction))).unwrap();
    assert!(fractions.is_sorted() && fractions.last() == Some(&1.0));
    let panic = std::panic::catch_unwind(|| {
        let fail = |_, _: &str| std::panic::resume_unwind(Box::new("on purpose"));
        session.load_with(DIGITS, LoadOptions::new().progress(fail).copy_weights(true)).map(drop)
    });
    assert_eq!(*panic.unwrap_err().downcast::<&str>().unwrap(), "on purpose");
}

#[test]
fn saved_models() {
    let _leaks = leaks();
    let path = TemporaryFile::new(".maxc");
    adder().save(&path).unwrap();
    let model = Session::new().unwrap().load_with(&path, LoadOptions::new().precision(Precision::High)).unwrap();
    let x = Buffer::from_slice(&[1.0f32, 2.0], &[2]).unwrap();
    assert_eq!(model.execute(&[&x, &x]).unwrap()[0].to_vec::<f32>().unwrap(), [2.0, 4.0]);
    refused(model.save("/nowhere/model.maxc"), Status::NotFound, "/nowhere");
}

/// What a model was given as weights is not written any more, whichever way it came.
#[test]
fn weights_are_frozen() {
    let _leaks = leaks();
    let one = |value: f32| Buffer::from_slice(&[value], &[1]).unwrap();
    let (mut loaded, mut built, mut replaced) = (one(2.0), one(3.0), one(4.0));
    let graph = Graph::new("weights").unwrap();
    let x = graph.input("x", DType::FLOAT32, &[1]).unwrap();
    let a = graph.weight("a", DType::FLOAT32, &[1], None).unwrap();
    let b = graph.weight_from_buffer("b", &built).unwrap();
    let y = graph.node("Add", &[&graph.node("Mul", &[&x, &a]).unwrap(), &b]).unwrap();
    graph.output(&y, "y").unwrap();
    let model = Session::new().unwrap().compile_with(&graph, LoadOptions::new().weight("a", &loaded)).unwrap();
    assert_eq!(model.execute(&[&one(10.0)]).unwrap()[0].item::<f32>().unwrap(), 23.0);
    model.replace_weights(&[("b", &replaced)]).unwrap();
    assert_eq!(model.execute(&[&one(10.0)]).unwrap()[0].item::<f32>().unwrap(), 24.0);
    for buffer in [&mut loaded, &mut built, &mut replaced] {
        refused(buffer.fill(0.0f32), Status::FailedPrecondition, "cannot be written any more");
        refused(buffer.clone().write(&[0], 0.0f32), Status::FailedPrecondition, "cannot be written any more");
        refused(buffer.as_mut_slice::<f32>(), Status::FailedPrecondition, "cannot be written any more");
    }
    refused(model.replace_weights(&[("c", &one(1.0))]), Status::NotFound, "'c'");
    refused(model.replace_weights(&[("a", &Buffer::scalar(1i64).unwrap())]), Status::InvalidArgument, "");
}
