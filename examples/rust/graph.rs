// SPDX-License-Identifier: Apache-2.0
//! A graph built in code: a network of two layers that computes the exclusive or.
//!
//!     cargo run --example graph
use max::{Buffer, DType, Dimension, Graph, GraphValue, LoadOptions, Result, Session};

/// x times a matrix plus a bias: weights by name, whose contents come when the graph is compiled.
fn layer(graph: &Graph, name: &str, x: &GraphValue, inputs: usize, outputs: usize) -> Result<GraphValue> {
    let matrix = graph.weight(&format!("{name}.matrix"), DType::FLOAT32, &[inputs, outputs], None)?;
    let bias = graph.weight(&format!("{name}.bias"), DType::FLOAT32, &[outputs], None)?;
    graph.node("Add", &[&graph.node("MatMul", &[x, &matrix])?, &bias])
}

fn main() -> Result<()> {
    let graph = Graph::new("exclusive_or")?;
    let x = graph.input("x", DType::FLOAT32, &[Dimension::Named("batch"), Dimension::Known(2)])?;
    let hidden = graph.node("Relu", &[&layer(&graph, "hidden", &x, 2, 2)?])?;
    graph.output(&layer(&graph, "output", &hidden, 2, 1)?, "y")?;

    let weights = [
        ("hidden.matrix", Buffer::from_slice(&[1.0f32, 1.0, 1.0, 1.0], &[2, 2])?),
        ("hidden.bias", Buffer::from_slice(&[0.0f32, -1.0], &[2])?),
        ("output.matrix", Buffer::from_slice(&[1.0f32, -2.0], &[2, 1])?),
        ("output.bias", Buffer::from_slice(&[0.0f32], &[1])?),
    ];
    let options = weights.iter().fold(LoadOptions::new(), |options, (name, buffer)| options.weight(name, buffer));
    let model = Session::new()?.compile_with(&graph, options)?;

    let pairs = [[0.0f32, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let outputs = model.execute(&[&Buffer::from_slice(pairs.as_flattened(), &[4, 2])?])?;
    for ([a, b], result) in pairs.iter().zip(&*outputs[0].as_slice::<f32>()?) {
        println!("{a:.0} xor {b:.0} = {result:.0}");
    }
    Ok(())
}
