// SPDX-License-Identifier: Apache-2.0
use max::dlpack::{Copy, ImportOptions, Tensor};
use max::{Buffer, Device, Status, Stream};

use crate::fixture::{counting, leaks, refused};

#[test]
fn round_trips() {
    let _leaks = leaks();
    let (buffer, options) = (counting(&[2, 3]), ImportOptions::new());
    let same = Buffer::from_dlpack(buffer.to_dlpack(None).unwrap(), &options).unwrap();
    assert_eq!((same.address(), same.shape()), (buffer.address(), buffer.shape()));
    let same = Buffer::from_dlpack_unversioned(buffer.to_dlpack_unversioned(None).unwrap(), &options).unwrap();
    assert_eq!(*same.as_slice::<i32>().unwrap(), [0, 1, 2, 3, 4, 5]);
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    let tensor = buffer.slice((.., 1)).unwrap().to_dlpack(Some(&stream)).unwrap();
    let column = Buffer::from_dlpack(tensor, &options.stream(&stream).producer(&stream).copy(Copy::Always)).unwrap();
    assert_eq!(column.to_vec::<i32>().unwrap(), [1, 4]);
}

#[test]
fn tensors_that_nobody_takes_are_deleted() {
    let _leaks = leaks();
    let buffer = counting(&[4]);
    drop(buffer.to_dlpack(None).unwrap());
    drop(buffer.to_dlpack_unversioned(None).unwrap());
    let raw = buffer.to_dlpack(None).unwrap().into_raw();
    // SAFETY: the tensor of the line above.
    drop(unsafe { Tensor::from_raw(raw) });
}

#[test]
fn what_is_shared_is_not_written() {
    let _leaks = leaks();
    let mut buffer = counting(&[4]);
    let tensor = buffer.to_dlpack(None).unwrap();
    refused(buffer.fill(1), Status::FailedPrecondition, "any more");
    refused(
        Buffer::from_dlpack(tensor, &ImportOptions::new()).unwrap().fill(1),
        Status::FailedPrecondition,
        "any more",
    );
    let strings = Buffer::from_strings(&["a"], &[1]).unwrap();
    refused(strings.to_dlpack(None), Status::Unimplemented, "string");
}
