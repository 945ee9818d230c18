// SPDX-License-Identifier: Apache-2.0
use max::{Buffer, Status, Weights};

use crate::fixture::{TemporaryFile, counting, leaks, refused};

#[test]
fn files() {
    let _leaks = leaks();
    let path = TemporaryFile::new(".max");
    counting(&[2, 3]).save(&path, Some("numbers")).unwrap();
    let weights = Weights::load(&path).unwrap();
    assert_eq!((weights.len().unwrap(), weights.is_empty().unwrap()), (1, false));
    let mut numbers = weights.get("numbers").unwrap();
    drop(weights);
    assert!(numbers.is_read_only());
    assert_eq!(*numbers.as_slice::<i32>().unwrap(), [0, 1, 2, 3, 4, 5]);
    refused(numbers.fill(1), Status::FailedPrecondition, "");
}

#[test]
fn files_are_refused() {
    let _leaks = leaks();
    let path = TemporaryFile::new(".safetensors");
    std::fs::write(&path, b"nothing").unwrap();
    refused(Weights::load(&path), Status::DataLoss, "");
    refused(Weights::load("missing.safetensors"), Status::NotFound, "missing.safetensors");
    Buffer::scalar(1u8).unwrap().save(&path, None).unwrap();
    refused(Weights::load(&path).unwrap().get("other"), Status::NotFound, "other");
    refused(Weights::load(&path).unwrap().get("o\0"), Status::InvalidArgument, "NUL byte at 1");
}
