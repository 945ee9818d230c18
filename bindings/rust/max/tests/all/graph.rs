// SPDX-License-Identifier: Apache-2.0
use max::{Attributes, Buffer, DType, Dimension, Graph, NodeOptions, Session, Status, ValueKind, Weights};

use crate::fixture::{TemporaryFile, leaks, refused};

#[test]
fn build_and_run() {
    let _leaks = leaks();
    let graph = Graph::new("clip").unwrap();
    let x = graph.input("x", DType::FLOAT32, &["n".into(), Dimension::Known(2)]).unwrap();
    let low = graph.named_constant("low", &Buffer::scalar(0.0f32).unwrap()).unwrap();
    let options = NodeOptions::new().name("limit");
    let y = graph.node_with("Clip", &[Some(&x), Some(&low), None], &options).unwrap();
    graph.output(&y[0], "y").unwrap();
    assert_eq!((graph.node_count().unwrap(), graph.inputs().unwrap().len()), (1, 1));
    assert_eq!(graph.outputs().unwrap()[0].0, "y");
    assert_eq!(graph.find_value("x").unwrap().info().unwrap().dimension_names[0].as_deref(), Some("n"));
    assert_eq!(format!("{graph:?} {x:?}"), "Graph(clip, 1 nodes) GraphValue(x: float32[n, 2])");
    let model = Session::new().unwrap().compile(&graph).unwrap();
    drop(graph);
    assert_eq!(y[0].graph().name().unwrap(), "clip");
    let x = Buffer::from_slice(&[-1.0f32, 1.0], &[1, 2]).unwrap();
    assert_eq!(model.execute(&[&x]).unwrap()[0].to_vec::<f32>().unwrap(), [0.0, 1.0]);
}

#[test]
fn attributes() {
    let _leaks = leaks();
    let graph = Graph::new("attributes").unwrap();
    let x = graph.input("x", DType::FLOAT32, &[2, 3]).unwrap();
    let node = |operator: &str, attributes: Attributes| {
        graph.node_with(operator, &[Some(&x)], &NodeOptions::new().attributes(&attributes))
    };
    let make = || Attributes::new().unwrap();
    let turned = node("Transpose", make().ints("perm", &[1, 0]).unwrap()).unwrap();
    assert_eq!(turned[0].info().unwrap().shape, Some(vec![Some(3), Some(2)]));
    let cast = node("Cast", make().dtype("to", DType::INT64).unwrap()).unwrap();
    assert_eq!(cast[0].info().unwrap().dtype, Some(DType::INT64));
    node("LeakyRelu", make().float("alpha", 0.5).unwrap()).unwrap();
    node("Gelu", make().string("approximate", "tanh").unwrap()).unwrap();
    let value = Buffer::from_slice(&[1.0f32], &[1]).unwrap();
    let constant = NodeOptions::new();
    let tensor = make().tensor("value", &value).unwrap();
    graph.node_with("Constant", &[], &constant.attributes(&tensor)).unwrap();
    let floats = make().floats("value_floats", &[1.0, 2.0]).unwrap();
    graph.node_with("Constant", &[], &constant.attributes(&floats)).unwrap();
    let words = Buffer::from_strings(&["a"], &[1]).unwrap();
    let tokens = graph.constant(&words).unwrap();
    let stop = make().strings("stopwords", &["a", "b"]).unwrap();
    graph.node_with("StringNormalizer", &[Some(&tokens)], &constant.attributes(&stop)).unwrap();
    refused(make().dtype("to", DType::INVALID), Status::InvalidArgument, "type 0");
    refused(make().int("a\0", 1), Status::InvalidArgument, "NUL");
    refused(make().graph("body", &graph), Status::InvalidArgument, "subgraph");
}

#[test]
fn graphs_refuse() {
    let _leaks = leaks();
    let (graph, other) = (Graph::new("graph").unwrap(), Graph::new("other").unwrap());
    let x = graph.input("x", DType::FLOAT32, &[2]).unwrap();
    let y = other.input("y", DType::FLOAT32, &[2]).unwrap();
    refused(graph.input("x", DType::FLOAT32, &[2]), Status::InvalidArgument, "x");
    refused(graph.node("Add", &[&x, &y]), Status::InvalidArgument, "");
    refused(graph.node("Add", &[&x]), Status::InvalidArgument, "Add");
    refused(graph.node("Subtract", &[&x, &x]), Status::Unimplemented, "Subtract");
    refused(graph.node("Add\0", &[&x, &x]), Status::InvalidArgument, "NUL");
    refused(graph.output(&y, "y"), Status::InvalidArgument, "");
    refused(graph.find_value("z"), Status::NotFound, "z");
    refused(Session::new().unwrap().compile(&graph), Status::FailedPrecondition, "outputs");
    refused(Graph::new("a\0b"), Status::InvalidArgument, "NUL byte at 1");
    refused(graph.input_of_any_rank("any", DType::FLOAT32), Status::InvalidArgument, "");
}

#[test]
fn subgraphs() {
    let _leaks = leaks();
    // x is doubled so often as `count` says.
    let graph = Graph::new("loop").unwrap();
    let count = graph.input::<usize>("count", DType::INT64, &[]).unwrap();
    let x = graph.input("x", DType::FLOAT32, &[1]).unwrap();
    let body = graph.subgraph("body").unwrap();
    body.input::<usize>("iteration", DType::INT64, &[]).unwrap();
    let go_on = body.input::<usize>("condition", DType::BOOL, &[]).unwrap();
    let carried = body.input_like("carried", &x).unwrap();
    body.output(&body.node("Identity", &[&go_on]).unwrap(), "go_on").unwrap();
    body.output(&body.node("Add", &[&carried, &carried]).unwrap(), "doubled").unwrap();
    let attributes = Attributes::new().unwrap().graph("body", &body).unwrap();
    let options = NodeOptions::new().attributes(&attributes);
    let y = graph.node_with("Loop", &[Some(&count), None, Some(&x)], &options).unwrap();
    graph.output(&y[0], "y").unwrap();
    refused(body.node("Neg", &[&carried]), Status::FailedPrecondition, "");
    let model = Session::new().unwrap().compile(&graph).unwrap();
    let inputs = (Buffer::scalar(5i64).unwrap(), Buffer::from_slice(&[1.0f32], &[1]).unwrap());
    assert_eq!(model.execute(&[&inputs.0, &inputs.1]).unwrap()[0].item::<f32>().unwrap(), 32.0);
}

#[test]
fn weights_and_values() {
    let _leaks = leaks();
    let path = TemporaryFile::new(".max");
    Buffer::from_slice(&[3.0f32], &[1]).unwrap().save(&path, Some("factor")).unwrap();
    let weights = Weights::load(&path).unwrap();
    let graph = Graph::new("weights").unwrap();
    let factor = graph.weight_from_weights("factor", &weights).unwrap();
    refused(graph.weight_from_weights("missing", &weights), Status::NotFound, "missing");
    let sequence = graph.value_input("sequence", ValueKind::Sequence, DType::FLOAT32).unwrap();
    assert_eq!(sequence.info().unwrap().kind, ValueKind::Sequence);
    let length = graph.node("SequenceLength", &[&sequence]).unwrap();
    graph.output(&length, "length").unwrap();
    graph.output(&factor, "factor").unwrap();
    let model = Session::new().unwrap().compile(&graph).unwrap();
    let tensor = max::Value::tensor(&Buffer::scalar(1.0f32).unwrap()).unwrap();
    let three = max::Value::sequence(&[tensor.clone(), tensor.clone(), tensor]).unwrap();
    let outputs = model.execute_values(&[&three], &max::ExecuteOptions::new()).unwrap();
    assert_eq!(outputs[0].buffer().unwrap().item::<i64>().unwrap(), 3);
    assert_eq!(outputs[1].buffer().unwrap().item::<f32>().unwrap(), 3.0);
}
