// SPDX-License-Identifier: Apache-2.0
use max::{Buffer, Captured, Device, Status, Stream};

use crate::fixture::{adder, leaks, refused};

#[test]
fn replays() {
    let _leaks = leaks();
    let model = adder();
    let (mut a, b) = (Buffer::from_slice(&[1.0f32], &[1]).unwrap(), Buffer::from_slice(&[2.0f32], &[1]).unwrap());
    let mut first = Captured::new(&model, &[&a, &b]).unwrap();
    let mut second = Captured::new(&model, &[&a, &b]).unwrap();
    a.fill(5.0f32).unwrap();
    first.replay(None).unwrap();
    assert_eq!(first.outputs()[0].item::<f32>().unwrap(), 7.0);
    assert_eq!(second.outputs()[0].item::<f32>().unwrap(), 3.0);
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    second.replay(Some(&stream)).unwrap();
    assert_eq!(*second.outputs()[0].as_slice::<f32>().unwrap(), [7.0]);
    first.verify().unwrap();
    drop((model, a, b));
    first.replay(None).unwrap();
}

#[test]
fn captures_refuse() {
    let _leaks = leaks();
    let a = Buffer::from_slice(&[1.0f32], &[1]).unwrap();
    refused(Captured::new(&adder(), &[]), Status::InvalidArgument, "");
    refused(Captured::new(&adder(), &[&a]), Status::InvalidArgument, "1");
    refused(Captured::new(&adder(), &[&a, &Buffer::scalar(1u8).unwrap()]), Status::InvalidArgument, "uint8");
}
