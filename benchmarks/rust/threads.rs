// SPDX-License-Identifier: Apache-2.0
//! What threads of Rust that call one model reach of what threads of C reach:
//!
//!     cargo bench --bench threads [-- MODEL [THREADS]]
//!
//! The model takes one float32 tensor; by default `MobileNetV2`. The program in C is made by
//! `cmake --build build --target thread_bench`. Both take turns, so that what else the machine does meets both.
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use max::{Buffer, DType, Model, Result, SessionOptions};

const ROUNDS: usize = 9;
const SECONDS: f64 = 2.0;
const BUILD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../build");

fn call_for_a_while(model: &Model, shape: &[usize], begin: &Barrier) -> Result<u32> {
    let input = Buffer::zeros(DType::FLOAT32, shape)?;
    begin.wait();
    let end = Instant::now() + Duration::from_secs_f64(SECONDS);
    let mut calls = 0;
    while Instant::now() < end {
        model.execute(&[&input])?;
        calls += 1;
    }
    Ok(calls)
}

/// Of all threads together.
fn calls_per_second(model: &Model, shape: &[usize], count: usize) -> Result<f64> {
    let begin = Barrier::new(count);
    let calls = thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(|| call_for_a_while(model, shape, &begin))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum::<Result<u32>>()
    })?;
    Ok(f64::from(calls) / SECONDS)
}

fn calls_in_c(path: &str, count: usize) -> f64 {
    let program = format!("{BUILD}/bin/thread_bench");
    let done = Command::new(program).args([path, &count.to_string(), &SECONDS.to_string()]).output();
    let done = done.expect("cmake --build build --target thread_bench makes the program in C");
    String::from_utf8_lossy(&done.stdout).trim().parse().expect("it prints calls per second")
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let path = arguments.next().unwrap_or(format!("{BUILD}/models/mobilenetv2.onnx"));
    let count = arguments.next().and_then(|it| it.parse().ok()).unwrap_or(8);
    let model = SessionOptions::new().threads(1).create()?.load(&path)?;
    let shape = model.inputs()?.swap_remove(0).shape.unwrap_or_default();
    let shape: Vec<usize> = shape.into_iter().map(|size| size.unwrap_or(1)).collect();
    let (mut own, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (c, rust) = (calls_in_c(&path, count), calls_per_second(&model, &shape, count)?);
        own.push(rust);
        ratios.push(rust / c);
    }
    println!("{path}, {count} threads: {:.1} calls per second, {:.2} of C", median(own), median(ratios));
    Ok(())
}
