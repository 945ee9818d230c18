// SPDX-License-Identifier: Apache-2.0
//! What a call of a model costs from Rust, beside the same call of the C API in the same process: `Identity` on one number.
//!
//!     cargo bench --bench calls     prints the fastest of many rounds that take turns, in nanoseconds per call
use std::ptr;
use std::time::Instant;

use max::{Buffer, Captured, DType, ExecuteOptions, Graph, Model, Result, Session};

const CALLS: u32 = 10_000;
const ROUNDS: usize = 100;

fn identity() -> Result<Model> {
    let graph = Graph::new("identity")?;
    let x = graph.input("x", DType::FLOAT32, &[1])?;
    graph.output(&graph.node("Identity", &[&x])?, "y")?;
    Session::new()?.compile(&graph)
}

/// As a program in C does it.
fn execute_in_c(model: &Model, input: &Buffer, given: Option<&Buffer>) {
    let (input, mut output) = (input.as_raw(), ptr::null_mut());
    let outputs = given.map_or(ptr::null_mut(), Buffer::as_raw);
    let options = max_sys::MaxModelExecuteOptions {
        structSize: size_of::<max_sys::MaxModelExecuteOptions>(),
        outputs: if given.is_some() { &raw const outputs } else { ptr::null() },
        ..Default::default()
    };
    let options = if given.is_some() { &raw const options } else { ptr::null() };
    // SAFETY: the handles are alive, the pointers live through the call, the output is released once.
    unsafe {
        let status = max_sys::maxModelExecute(model.as_raw(), &raw const input, 1, options, &raw mut output, 1);
        assert_eq!(status, max_sys::MaxStatus::MAX_STATUS_OK);
        max_sys::maxBufferRelease(output);
    }
}

fn main() -> Result<()> {
    let (model, input) = (identity()?, Buffer::from_slice(&[1.0f32], &[1])?);
    let (mut given, mut captured) = (Buffer::zeros(DType::FLOAT32, &[1])?, Captured::new(&model, &[&input])?);
    let other = Buffer::zeros(DType::FLOAT32, &[1])?;
    let options = ExecuteOptions::new();
    let mut calls: [(&str, &mut dyn FnMut()); 5] = [
        ("C: maxModelExecute", &mut || execute_in_c(&model, &input, None)),
        ("execute", &mut || drop(model.execute(&[&input]).unwrap())),
        ("C: maxModelExecute into a given output", &mut || execute_in_c(&model, &input, Some(&other))),
        ("execute_into", &mut || model.execute_into(&[&input], &mut [&mut given], &options).unwrap()),
        ("Captured::replay", &mut || captured.replay(None).unwrap()),
    ];
    let mut best = [f64::MAX; 5];
    for _ in 0..ROUNDS {
        for (best, call) in best.iter_mut().zip(&mut calls) {
            let begin = Instant::now();
            (0..CALLS).for_each(|_| (call.1)());
            *best = best.min(1e9 * begin.elapsed().as_secs_f64() / f64::from(CALLS));
        }
    }
    for (i, (name, _)) in calls.iter().enumerate() {
        println!("{name:40} {:6.0} ns", best[i]);
    }
    println!("{:40} {:6.2}", "Rust over C, outputs that are made", best[1] / best[0]);
    println!("{:40} {:6.2}", "Rust over C, given outputs", best[3] / best[2]);
    Ok(())
}
