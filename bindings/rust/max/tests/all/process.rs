// SPDX-License-Identifier: Apache-2.0
//! A process that ends with objects that are alive: this program again, as a child.

use std::process::Command;

use max::{Buffer, DType, Device, ExecuteOptions, Session, Stream};

use crate::fixture::DIGITS;

const CHILD: &str = "MAX_RUST_TEST_CHILD";

/// Runs a test of this program in a separate process.
fn run_child(test: &str) {
    let program = std::env::current_exe().unwrap();
    let done = Command::new(program).args(["--exact", test, "--nocapture"]).env(CHILD, test).output().unwrap();
    assert!(done.status.success(), "{test}: {}{}", done.status, String::from_utf8_lossy(&done.stderr));
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[test]
fn exit_with_live_objects() {
    if !is_child() {
        return run_child("process::exit_with_live_objects");
    }
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    let model = Session::new().unwrap().load(DIGITS).unwrap();
    let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8]).unwrap();
    let outputs = model.execute_with(&[&image], &ExecuteOptions::new().stream(&stream)).unwrap();
    let _pending = std::mem::ManuallyDrop::new((stream, model, image, outputs));
    std::process::exit(0);
}

#[test]
fn exit_while_threads_run() {
    if !is_child() {
        return run_child("process::exit_while_threads_run");
    }
    let model = Session::new().unwrap().load(DIGITS).unwrap();
    for _ in 0..4 {
        let model = model.clone();
        std::thread::spawn(move || {
            let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8]).unwrap();
            loop {
                model.execute(&[&image]).unwrap();
            }
        });
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    std::process::exit(0);
}

#[test]
fn exit_with_pending_futures() {
    if !is_child() {
        return run_child("process::exit_with_pending_futures");
    }
    let (model, x) = crate::fixture::slow();
    std::mem::forget(model.execute_async(&[&x]));
    std::process::exit(0);
}
