// SPDX-License-Identifier: Apache-2.0
use std::ffi::c_int;

use max::{Buffer, DType, Device, Session, Status, Stream};

use crate::fixture::{DIGITS, leaks};

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// Whether a function says true in a child process.
fn in_child(function: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child calls this library, which allows it, and ends without running what others registered.
    unsafe {
        match fork() {
            0 => _exit(c_int::from(!function())),
            child => {
                let mut status = -1;
                assert_eq!(waitpid(child, &raw mut status, 0), child);
                status == 0
            }
        }
    }
}

#[test]
fn models_and_buffers_work_in_a_child() {
    let _leaks = leaks();
    let model = Session::new().unwrap().load(DIGITS).unwrap();
    let mut image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8]).unwrap();
    model.execute(&[&image]).unwrap();
    assert!(in_child(|| {
        image.fill(1.0f32).is_ok()
            && model.execute(&[&image]).is_ok_and(|outputs| outputs[0].as_slice::<f32>().is_ok_and(|it| it.len() == 10))
            && Session::new().and_then(|session| session.load(DIGITS)).is_ok()
    }));
}

#[test]
fn streams_are_cut_off_in_a_child() {
    let _leaks = leaks();
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    let mut buffer = Buffer::options().stream(&stream).create(DType::FLOAT32, &[16]).unwrap();
    buffer.fill(1.0f32).unwrap();
    stream.synchronize(None).unwrap();
    let (gate, opened) = std::sync::mpsc::channel::<()>();
    stream.enqueue(move |_| opened.recv().unwrap()).unwrap();
    assert!(in_child(|| {
        // The scope cannot wait, and does not begin.
        let mut copy = [0.0f32; 16];
        let result = stream.scope(|scope| scope.copy_to_slice(&buffer, &mut copy));
        result.is_err_and(|error| error.status() == Status::FailedPrecondition)
    }));
    gate.send(()).unwrap();
    assert_eq!(*buffer.as_slice::<f32>().unwrap(), [1.0; 16]);
}
