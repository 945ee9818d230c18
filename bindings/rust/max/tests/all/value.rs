// SPDX-License-Identifier: Apache-2.0
use max::{Buffer, Status, Value, ValueKind};

use crate::fixture::{leaks, refused};

#[test]
fn kinds() {
    let _leaks = leaks();
    let tensor = Value::tensor(&Buffer::scalar(1.0f32).unwrap()).unwrap();
    let sequence = Value::sequence(&[tensor.clone(), tensor.clone()]).unwrap();
    let optional = Value::optional(Some(&sequence)).unwrap();
    assert_eq!((sequence.len().unwrap(), optional.len().unwrap()), (2, 1));
    assert_eq!(optional.elements().unwrap()[0].kind().unwrap(), ValueKind::Sequence);
    assert!(Value::optional(None).unwrap().is_empty().unwrap() && Value::sequence(&[]).unwrap().is_empty().unwrap());
    let map =
        Value::map(&Buffer::from_slice(&[1i64, 2], &[2]).unwrap(), &Buffer::from_slice(&[0.5f32, 1.5], &[2]).unwrap());
    assert_eq!(map.unwrap().map_values().unwrap().to_vec::<f32>().unwrap(), [0.5, 1.5]);
    assert_eq!(format!("{tensor:?}"), "Value(Tensor)");
}

#[test]
fn values_refuse() {
    let _leaks = leaks();
    let tensor = Value::tensor(&Buffer::scalar(1.0f32).unwrap()).unwrap();
    let other = Value::tensor(&Buffer::scalar(1i64).unwrap()).unwrap();
    refused(tensor.len(), Status::FailedPrecondition, "");
    refused(tensor.elements(), Status::FailedPrecondition, "");
    refused(tensor.map_keys(), Status::FailedPrecondition, "");
    refused(Value::sequence(&[tensor.clone(), other]), Status::InvalidArgument, "Element 1");
    let sequence = Value::sequence(std::slice::from_ref(&tensor)).unwrap();
    refused(sequence.buffer(), Status::FailedPrecondition, "");
    refused(Value::optional(Some(&Value::optional(None).unwrap())), Status::InvalidArgument, "");
    let keys = Buffer::from_slice(&[1i64, 1], &[2]).unwrap();
    refused(Value::map(&keys, &keys), Status::InvalidArgument, "twice");
}

/// What a value was made of, and what it gives, is not written.
#[test]
fn buffers_are_frozen() {
    let _leaks = leaks();
    let mut buffer = Buffer::from_slice(&[1.0f32], &[1]).unwrap();
    let mut view = buffer.slice(..).unwrap();
    let value = Value::tensor(&buffer).unwrap();
    refused(buffer.fill(2.0f32), Status::FailedPrecondition, "any more");
    refused(view.fill(2.0f32), Status::FailedPrecondition, "any more");
    refused(value.buffer().unwrap().fill(2.0f32), Status::FailedPrecondition, "any more");
    assert_eq!(*value.buffer().unwrap().as_slice::<f32>().unwrap(), [1.0]);
}
