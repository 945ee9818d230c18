// SPDX-License-Identifier: Apache-2.0
use std::sync::mpsc;
use std::time::Duration;

use max::{Buffer, DType, Device, Event, Status, Stream};

use crate::fixture::{leaks, refused};

#[test]
fn default_stream() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let stream = device.default_stream().unwrap();
    assert!(stream.is_default().unwrap() && !Stream::new(&device).unwrap().is_default().unwrap());
    assert_eq!(stream, device.default_stream().unwrap());
    assert_eq!(stream.device().unwrap(), device);
    refused(stream.native(), Status::Unimplemented, "cpu");
    drop(device);
    stream.synchronize(None).unwrap();
}

#[test]
fn work_runs_in_order() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let (a, b) = (Stream::new(&device).unwrap(), Stream::with_priority(&device, 1).unwrap());
    let (sender, receiver) = mpsc::channel();
    for number in 0..10 {
        let (stream, sender) = (if number % 2 == 0 { &a } else { &b }, sender.clone());
        stream.enqueue(move |_| sender.send(number).unwrap()).unwrap();
        let other = if number % 2 == 0 { &b } else { &a };
        other.wait_for_stream(stream).unwrap();
    }
    device.synchronize(None).unwrap();
    a.wait_for_device(&device).unwrap();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}

#[test]
fn events_order_streams() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let (a, b, event) = (Stream::new(&device).unwrap(), Stream::new(&device).unwrap(), Event::new(&device).unwrap());
    let (gate, opened) = mpsc::channel::<()>();
    a.enqueue(move |_| opened.recv().unwrap()).unwrap();
    a.record(&event).unwrap();
    b.wait_for_event(&event).unwrap();
    refused(b.synchronize(Some(Duration::from_millis(1))), Status::DeadlineExceeded, "");
    refused(device.synchronize(Some(Duration::from_millis(1))), Status::DeadlineExceeded, "");
    gate.send(()).unwrap();
    b.synchronize(None).unwrap();
    assert!(event.is_ready().unwrap());
}

#[test]
fn host_functions() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let stream = Stream::new(&device).unwrap();
    let (sender, receiver) = mpsc::channel();
    // It may use the library, but not wait for itself; a panic ends in it.
    let (same, at_once) = (stream.clone(), sender.clone());
    stream.enqueue(move |_| sender.send(same.synchronize(None).unwrap_err().status()).unwrap()).unwrap();
    stream.enqueue(|_| std::panic::resume_unwind(Box::new("on purpose"))).unwrap();
    stream.synchronize(None).unwrap();
    assert_eq!(receiver.recv().unwrap(), Status::FailedPrecondition);
    device
        .default_stream()
        .unwrap()
        .enqueue(move |result| at_once.send(result.unwrap_err().status()).unwrap_or(()))
        .ok();
}

#[test]
fn functions_that_are_never_called_are_dropped() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let stream = Stream::new(&device).unwrap();
    let alive = std::sync::Arc::new(());
    let held = alive.clone();
    stream.enqueue(move |_| drop(held)).unwrap();
    drop(stream);
    device.synchronize(None).unwrap();
    while std::sync::Arc::strong_count(&alive) > 1 {
        std::thread::yield_now();
    }
}

#[test]
fn dropped_streams_finish_their_work() {
    let _leaks = leaks();
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    let mut buffer = Buffer::options().stream(&stream).create(DType::INT32, &[1 << 18]).unwrap();
    buffer.fill(3).unwrap();
    drop(stream);
    assert!(buffer.as_slice::<i32>().unwrap().iter().all(|&it| it == 3));
}
