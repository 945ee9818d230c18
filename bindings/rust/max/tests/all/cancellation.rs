// SPDX-License-Identifier: Apache-2.0
use max::{Cancellation, ExecuteOptions, LoadOptions, Session, Status};

use crate::fixture::{DIGITS, adder, leaks, refused};

#[test]
fn cancelled_until_reset() {
    let _leaks = leaks();
    let cancellation = Cancellation::new().unwrap();
    assert!(!cancellation.is_cancelled().unwrap());
    cancellation.clone().cancel().unwrap();
    assert!(cancellation.is_cancelled().unwrap());
    let session = Session::new().unwrap();
    refused(session.load_with(DIGITS, LoadOptions::new().cancellation(&cancellation)), Status::Cancelled, "");
    let (model, x) = (adder(), max::Buffer::from_slice(&[1.0f32], &[1]).unwrap());
    let options = ExecuteOptions::new().cancellation(&cancellation);
    refused(model.execute_with(&[&x, &x], &options), Status::Cancelled, "");
    refused(max::Captured::with_cancellation(&model, &[&x, &x], Some(&cancellation)), Status::Cancelled, "");
    cancellation.reset().unwrap();
    model.execute_with(&[&x, &x], &options).unwrap();
}
