// SPDX-License-Identifier: Apache-2.0
use max::{Status, Step};

use crate::fixture::{counting, leaks, refused};

#[test]
fn ranges() {
    let _leaks = leaks();
    let x = counting(&[4, 5]);
    let at = |view: max::Result<max::Buffer>| view.unwrap().to_vec::<i32>().unwrap();
    assert_eq!(at(x.slice((1..3, 2))), [7, 12]);
    assert_eq!(at(x.slice((1..=2, 2..=2))), [7, 12]);
    assert_eq!(at(x.slice((-1, 3..))), [18, 19]);
    assert_eq!(at(x.slice((-1, ..2))), [15, 16]);
    assert_eq!(at(x.slice((-1, ..=-1))), [15, 16, 17, 18, 19]);
    assert_eq!(at(x.slice((-1, ..=-2))), [15, 16, 17, 18]);
    assert_eq!(at(x.slice((.., Step::range(None, None, -4)))), [4, 0, 9, 5, 14, 10, 19, 15]);
    assert_eq!(at(x.slice((3usize, 1i64..4))), [16, 17, 18]);
    assert!(at(x.slice((Step::range(2, 1, 1), ..))).is_empty());
    assert_eq!(x.slice((0..100, 7..)).unwrap().shape(), [4, 0]);
}

#[test]
fn ellipsis_and_new_axis() {
    let _leaks = leaks();
    let x = counting(&[2, 3, 4]);
    assert_eq!(x.slice((Step::Ellipsis, 1)).unwrap().shape(), [2, 3]);
    assert_eq!(x.slice((0, Step::NewAxis, Step::Ellipsis, 1..3)).unwrap().shape(), [1, 3, 2]);
    assert_eq!(x.slice(..).unwrap().shape(), [2, 3, 4]);
    assert_eq!(x.slice([Step::Index(1); 3]).unwrap().item::<i32>().unwrap(), 17);
    assert_eq!(x.slice(&[] as &[Step]).unwrap().shape(), [2, 3, 4]);
}

#[test]
fn slices_refuse() {
    let _leaks = leaks();
    let x = counting(&[2, 3]);
    refused(x.slice(2), Status::OutOfRange, "Index 2");
    refused(x.slice((0, -4)), Status::OutOfRange, "Index -4");
    refused(x.slice(usize::MAX), Status::OutOfRange, "9223372036854775807");
    refused(x.slice((0, 0, 0)), Status::InvalidArgument, "");
    refused(x.slice((Step::Ellipsis, Step::Ellipsis)), Status::InvalidArgument, "");
    refused(x.slice(Step::range(0, 2, 0)), Status::InvalidArgument, "");
    refused(x.slice(&[Step::NewAxis; 40][..]), Status::InvalidArgument, "40");
    refused(x.slice([Step::NewAxis; 20]), Status::Unimplemented, "16");
    refused(x.slice((.., 1)).unwrap().as_slice::<i32>(), Status::FailedPrecondition, "contiguous");
}

#[test]
fn views_share_memory() {
    let _leaks = leaks();
    let x = counting(&[2, 3]);
    let mut row = x.slice(1).unwrap();
    row.fill(9i32).unwrap();
    x.slice((.., 1)).unwrap().fill(7i32).unwrap();
    assert_eq!(x.to_vec::<i32>().unwrap(), [0, 7, 2, 9, 7, 9]);
}
