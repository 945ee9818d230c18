// SPDX-License-Identifier: Apache-2.0
use std::time::Duration;

use max::{Device, Event, Status, Stream};

use crate::fixture::{leaks, refused};

#[test]
fn never_recorded_counts_as_done() {
    let _leaks = leaks();
    let event = Event::new(&Device::cpu().unwrap()).unwrap();
    assert!(event.is_ready().unwrap());
    event.synchronize(Some(Duration::from_nanos(1))).unwrap();
    assert!(event.device().unwrap().is_host().unwrap());
}

#[test]
fn times() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let (start, end) = (Event::with_timing(&device).unwrap(), Event::with_timing(&device).unwrap());
    let stream = Stream::new(&device).unwrap();
    stream.record(&start).unwrap();
    stream.enqueue(|_| std::thread::sleep(Duration::from_millis(5))).unwrap();
    stream.record(&end).unwrap();
    stream.synchronize(None).unwrap();
    assert!(end.nanoseconds_since(&start).unwrap() >= 5_000_000);
    assert!(start.nanoseconds_since(&end).unwrap() < 0);
}

#[test]
fn times_are_refused() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let (timed, plain) = (Event::with_timing(&device).unwrap(), Event::new(&device).unwrap());
    refused(timed.nanoseconds_since(&timed), Status::FailedPrecondition, "recorded");
    device.default_stream().unwrap().record(&timed).unwrap();
    device.default_stream().unwrap().record(&plain).unwrap();
    refused(timed.nanoseconds_since(&plain), Status::FailedPrecondition, "timing");
}
