// SPDX-License-Identifier: Apache-2.0
//! Slices of elements, and what cannot happen to them.

use std::sync::atomic::{AtomicBool, Ordering};

use max::{Buffer, Captured, DType, Device, ExecuteOptions, Launch, Module, Status, Stream, launch};

use crate::fixture::{alone, counting, identity, leaks, refused};

#[test]
fn several_can_read() {
    let _leaks = leaks();
    let buffer = counting(&[4]);
    let (a, b) = (buffer.as_slice::<i32>().unwrap(), buffer.as_slice::<i32>().unwrap());
    let half = buffer.slice(2..).unwrap();
    assert_eq!((*half.as_slice::<i32>().unwrap()).to_vec(), a[2..]);
    assert_eq!(*a, *b);
    assert_eq!(buffer.copy_to(None, None).unwrap().to_vec::<i32>().unwrap(), *a);
}

/// Whatever writes memory that a slice shows is refused, whichever handle it comes by.
#[test]
fn nothing_writes_what_a_slice_shows() {
    let _leaks = leaks();
    let model = identity();
    let buffer = Buffer::from_slice(&[1.0f32], &[1]).unwrap();
    let source = "extern \"C\" __global__ void set(float* x) { x[0] = 7; }";
    let set = Module::compile(&Device::cpu().unwrap(), source).unwrap().kernel("set").unwrap();
    let (mut clone, mut view) = (buffer.clone(), buffer.slice(..).unwrap());
    let input = Buffer::from_slice(&[2.0f32], &[1]).unwrap();
    let elements = buffer.as_slice::<f32>().unwrap();
    let mapped = "mapped to the host for reading";
    refused(clone.fill(2.0f32), Status::FailedPrecondition, mapped);
    refused(view.copy_from_slice(&[2.0f32]), Status::FailedPrecondition, mapped);
    refused(clone.copy_from(&input), Status::FailedPrecondition, mapped);
    refused(view.write(&[0], 2.0f32), Status::FailedPrecondition, mapped);
    refused(view.as_mut_slice::<f32>(), Status::FailedPrecondition, "");
    refused(
        model.execute_into(&[&input], &mut [&mut clone], &ExecuteOptions::new()),
        Status::FailedPrecondition,
        mapped,
    );
    refused(launch!(set, Launch::new(), &mut view), Status::FailedPrecondition, mapped);
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    refused(clone.fill_on(2.0f32, Some(&stream)), Status::FailedPrecondition, mapped);
    assert_eq!(*elements, [1.0]);
    drop(elements);
    clone.fill(2.0f32).unwrap();
    assert_eq!(buffer.item::<f32>().unwrap(), 2.0);
}

#[test]
fn replays_do_not_write_what_a_slice_shows() {
    let _leaks = leaks();
    let input = Buffer::from_slice(&[2.0f32], &[1]).unwrap();
    let mut call = Captured::new(&identity(), &[&input]).unwrap();
    let output = call.outputs()[0].clone();
    let elements = output.as_slice::<f32>().unwrap();
    refused(call.replay(None), Status::FailedPrecondition, "mapped");
    drop(elements);
    call.replay(None).unwrap();
}

#[test]
fn exclusive_access() {
    let _leaks = leaks();
    let mut buffer = counting(&[3]);
    buffer.as_mut_slice::<i32>().unwrap()[1] = 10;
    let view = buffer.slice(..2).unwrap();
    refused(buffer.as_mut_slice::<i32>(), Status::FailedPrecondition, "exclusive");
    drop(view);
    let clone = buffer.clone();
    refused(buffer.as_mut_slice::<i32>(), Status::FailedPrecondition, "exclusive");
    drop(clone);
    let elements = buffer.as_mut_slice::<i32>().unwrap();
    elements.finish().unwrap();
    assert_eq!(buffer.to_vec::<i32>().unwrap(), [0, 10, 2]);
}

#[test]
fn work_on_streams_is_waited_for() {
    let _leaks = leaks();
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    let mut buffer = Buffer::options().stream(&stream).create(DType::INT32, &[1 << 17]).unwrap();
    for round in 0..20 {
        buffer.fill(round).unwrap();
        if round % 2 == 0 {
            assert!(buffer.as_slice::<i32>().unwrap().iter().all(|&it| it == round));
        } else {
            assert!(buffer.as_mut_slice::<i32>().unwrap().iter().all(|&it| it == round));
        }
    }
}

#[test]
fn a_forgotten_slice_keeps_the_memory_readable() {
    // What it holds stays for ever.
    let _alone = alone();
    let mut buffer = counting(&[3]);
    let view = buffer.slice(..).unwrap();
    std::mem::forget(view.as_slice::<i32>().unwrap());
    refused(buffer.fill(1i32), Status::FailedPrecondition, "mapped");
    assert_eq!(*buffer.as_slice::<i32>().unwrap(), [0, 1, 2]);
    let mut buffer = counting(&[3]);
    std::mem::forget(buffer.as_mut_slice::<i32>().unwrap());
    refused(buffer.as_slice::<i32>(), Status::FailedPrecondition, "mapped");
    refused(buffer.as_mut_slice::<i32>(), Status::FailedPrecondition, "mapped");
}

/// A thread that writes at once through another handle is done before a slice is there.
#[test]
fn slices_do_not_change_under_threads() {
    const COUNT: usize = 1 << 19;
    let _leaks = leaks();
    let buffer = Buffer::from_vec(vec![0i32; COUNT], &[COUNT]).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for kind in 0..3 {
            let (mut clone, stop) = (buffer.clone(), &stop);
            scope.spawn(move || {
                let numbers = [vec![0i32; COUNT], vec![1; COUNT]];
                let sources = numbers.clone().map(|it| Buffer::from_vec(it, &[COUNT]).unwrap());
                for round in (0..2).cycle() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    // Refused while there is a slice.
                    _ = match kind {
                        0 => clone.fill(i32::try_from(round).unwrap()),
                        1 => clone.copy_from_slice(&numbers[round]),
                        _ => clone.copy_from(&sources[round]),
                    };
                }
            });
        }
        let changed = (0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_micros(200));
            let elements = buffer.as_slice::<i32>().unwrap();
            let copy = elements.to_vec();
            std::thread::yield_now();
            *elements != copy
        });
        stop.store(true, Ordering::Relaxed);
        assert!(!changed);
    });
}
