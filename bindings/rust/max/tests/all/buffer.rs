// SPDX-License-Identifier: Apache-2.0
use max::{Buffer, DType, Device, Element, MapMode, Status, Stream};

use crate::fixture::{TemporaryFile, counting, leaks, refused};

#[test]
fn create() {
    let _leaks = leaks();
    let buffer = Buffer::zeros(DType::FLOAT32, &[2, 3]).unwrap();
    assert_eq!((buffer.shape(), buffer.strides(), buffer.len(), buffer.byte_len()), (&[2, 3][..], &[3, 1][..], 6, 24));
    assert_eq!(*buffer.as_slice::<f32>().unwrap(), [0.0; 6]);
    assert!(buffer.address() % 64 == 0 && !buffer.as_ptr().unwrap().is_null());
}

#[test]
fn info() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let stream = Stream::new(&device).unwrap();
    let buffer = Buffer::options().stream(&stream).create(DType::INT16, &[4]).unwrap();
    assert!(buffer.is_contiguous() && buffer.is_host() && !buffer.is_pinned() && !buffer.is_read_only());
    assert_eq!((buffer.device(), buffer.stream(), buffer.dtype(), buffer.rank()), (device, stream, DType::INT16, 1));
    assert_eq!(format!("{buffer:?}"), "Buffer(int16[4] on cpu:0)");
}

#[test]
fn scalars_and_empty_buffers() {
    let _leaks = leaks();
    let scalar = Buffer::scalar(7i64).unwrap();
    assert_eq!((scalar.rank(), scalar.len(), scalar.item::<i64>().unwrap()), (0, 1, 7));
    for mut empty in [
        Buffer::zeros(DType::FLOAT32, &[0, 3]).unwrap(),
        Buffer::from_slice::<f32>(&[], &[3, 0]).unwrap(),
        Buffer::from_vec(Vec::<f32>::new(), &[0]).unwrap(),
    ] {
        assert!(empty.is_empty() && empty.as_slice::<f32>().unwrap().is_empty());
        assert!(empty.as_mut_slice::<f32>().unwrap().is_empty() && empty.to_vec::<f32>().unwrap().is_empty());
        assert!(empty.as_bytes().unwrap().is_empty());
        empty.copy_from_slice::<f32>(&[]).unwrap();
        empty.fill(1.0f32).unwrap();
        refused(empty.item::<f32>(), Status::InvalidArgument, "one element");
    }
}

#[test]
fn every_dtype_can_be_allocated() {
    let _leaks = leaks();
    fn round_trip<T: Element + PartialEq + std::fmt::Debug>(elements: &[T]) {
        let buffer = Buffer::from_slice(elements, &[elements.len()]).unwrap();
        assert_eq!(buffer.dtype(), T::DTYPE);
        assert_eq!(&*buffer.as_slice::<T>().unwrap(), elements);
        assert_eq!(buffer.to_vec::<T>().unwrap(), elements);
        assert_eq!(buffer.read::<T>(&[-1]).unwrap(), elements[elements.len() - 1]);
    }
    round_trip(&[1u8, 2]);
    round_trip(&[-1i8, 2]);
    round_trip(&[1u16, 2]);
    round_trip(&[-1i16, 2]);
    round_trip(&[1u32, 2]);
    round_trip(&[-1i32, 2]);
    round_trip(&[1u64, 2]);
    round_trip(&[-1i64, 2]);
    round_trip(&[1.5f32, 2.0]);
    round_trip(&[1.5f64, 2.0]);
    round_trip(&[true, false]);
    #[cfg(feature = "half")]
    round_trip(&[half::f16::ONE, half::f16::PI]);
    #[cfg(feature = "half")]
    round_trip(&[half::bf16::ONE, half::bf16::PI]);
    for dtype in [DType::COMPLEX64, DType::INT4, DType::FLOAT8_E4M3FN, DType::FLOAT6_E2M3FN, DType::UINT2] {
        assert_eq!(Buffer::zeros(dtype, &[8]).unwrap().as_bytes().unwrap().len(), dtype.bits());
    }
}

#[test]
fn options() {
    let _leaks = leaks();
    let buffer = Buffer::options().alignment(4096).pinned(true).create(DType::UINT8, &[10]).unwrap();
    assert!(buffer.is_pinned() && buffer.address() % 4096 == 0);
    // SAFETY: all of it is written below.
    let mut buffer = unsafe { Buffer::options().create_uninitialized(DType::UINT8, &[3]) }.unwrap();
    buffer.copy_from_slice(&[1u8, 2, 3]).unwrap();
    assert_eq!(*buffer.as_slice::<u8>().unwrap(), [1, 2, 3]);
}

#[test]
fn create_refuses() {
    let _leaks = leaks();
    let create = |shape: &[usize]| Buffer::zeros(DType::FLOAT32, shape);
    refused(create(&[usize::MAX]), Status::OutOfRange, "18446744073709551615");
    refused(create(&[1 << 40, 1 << 40]), Status::OutOfRange, "1099511627776");
    refused(create(&[1; 17]), Status::InvalidArgument, "17");
    refused(Buffer::zeros(DType::STRING, &[1]), Status::Unimplemented, "string");
    refused(Buffer::zeros(DType::INVALID, &[1]), Status::InvalidArgument, "0");
    refused(Buffer::options().alignment(3).create(DType::UINT8, &[1]), Status::InvalidArgument, "3");
    refused(Buffer::from_slice(&[1u8, 2], &[3]), Status::InvalidArgument, "2 elements do not fill the shape [3]");
    refused(Buffer::from_vec(vec![1u8], &[]).and(Buffer::from_vec(vec![1u8], &[0])), Status::InvalidArgument, "[0]");
    refused(Buffer::from_slice(&[1u8], &[usize::MAX, 2]), Status::InvalidArgument, "[18446744073709551615, 2]");
}

#[test]
fn wrap() {
    let _leaks = leaks();
    let numbers = vec![1i32, 2, 3, 4];
    let address = numbers.as_ptr() as u64;
    let mut buffer = Buffer::from_vec(numbers, &[2, 2]).unwrap();
    assert_eq!(buffer.address(), address);
    let view = buffer.slice(1).unwrap();
    buffer.write(&[1, 0], 30i32).unwrap();
    drop(buffer);
    assert_eq!(view.to_vec::<i32>().unwrap(), [30, 4]);
}

#[test]
fn read_only() {
    let _leaks = leaks();
    let path = TemporaryFile::new(".bin");
    std::fs::write(&path, [1, 0, 2, 0]).unwrap();
    // SAFETY: no other code uses the file.
    let mut buffer = unsafe { Buffer::map(&path, DType::INT16, &[2], MapMode::Read, 0) }.unwrap();
    assert!(buffer.is_read_only());
    assert_eq!(*buffer.as_slice::<i16>().unwrap(), [1, 2]);
    refused(buffer.fill(1i16), Status::FailedPrecondition, "read-only");
    refused(buffer.copy_from_slice(&[1i16, 2]), Status::FailedPrecondition, "read-only");
    refused(buffer.write(&[0], 1i16), Status::FailedPrecondition, "read-only");
    refused(buffer.as_mut_slice::<i16>(), Status::FailedPrecondition, "read-only");
    refused(buffer.as_mut_ptr(), Status::FailedPrecondition, "read-only");
    // SAFETY: as above.
    let longer = unsafe { Buffer::map(&path, DType::INT16, &[3], MapMode::Read, 0) };
    refused(longer, Status::OutOfRange, path.as_ref().to_str().unwrap());
}

#[test]
fn read_and_write_elements() {
    let _leaks = leaks();
    let mut buffer = counting(&[2, 3]);
    assert_eq!(buffer.read::<i32>(&[1, -1]).unwrap(), 5);
    buffer.write(&[0, 1], 10i32).unwrap();
    assert_eq!(buffer.to_vec::<i32>().unwrap(), [0, 10, 2, 3, 4, 5]);
    refused(buffer.read::<i32>(&[2, 0]), Status::OutOfRange, "Index 2");
    refused(buffer.write(&[0, -4], 1i32), Status::OutOfRange, "Index -4");
    refused(buffer.read::<i32>(&[1]), Status::InvalidArgument, "Number of indices (1)");
    refused(buffer.read::<f32>(&[0, 0]), Status::InvalidArgument, "int32, not float32");
    refused(buffer.write(&[0, 0], 1u8), Status::InvalidArgument, "int32, not uint8");
}

#[test]
fn wrong_types_and_lengths() {
    let _leaks = leaks();
    let mut buffer = counting(&[4]);
    refused(buffer.as_slice::<u32>(), Status::InvalidArgument, "int32, not uint32");
    refused(buffer.as_mut_slice::<f32>(), Status::InvalidArgument, "int32, not float32");
    refused(buffer.to_vec::<i64>(), Status::InvalidArgument, "int32, not int64");
    refused(buffer.fill(1u8), Status::InvalidArgument, "int32, not uint8");
    refused(buffer.copy_from_slice(&[1i32, 2, 3]), Status::InvalidArgument, "3 elements");
    refused(buffer.copy_from_slice::<i32>(&[]), Status::InvalidArgument, "0 elements");
    refused(buffer.copy_to_slice(&mut [0i32; 5]), Status::InvalidArgument, "5 elements");
    refused(buffer.copy_from(&counting(&[3])), Status::InvalidArgument, "12 bytes");
    refused(buffer.item::<i32>(), Status::InvalidArgument, "[4]");
}

#[test]
fn bytes_that_are_no_truth_values() {
    let _leaks = leaks();
    let bytes = Buffer::from_slice(&[0u8, 1, 2], &[3]).unwrap();
    let mut flags = bytes.view(DType::BOOL, &[3]).unwrap();
    refused(flags.as_slice::<bool>(), Status::FailedPrecondition, "bool");
    refused(flags.to_vec::<bool>(), Status::FailedPrecondition, "bool");
    refused(flags.read::<bool>(&[2]), Status::FailedPrecondition, "bool");
    refused(flags.copy_to_slice(&mut [false; 3]), Status::FailedPrecondition, "bool");
    assert!(flags.read::<bool>(&[1]).unwrap());
    drop(bytes);
    refused(flags.as_mut_slice::<bool>(), Status::FailedPrecondition, "bool");
    flags.fill(true).unwrap();
    assert_eq!(*flags.as_mut_slice::<bool>().unwrap(), [true; 3]);
}

#[test]
fn view() {
    let _leaks = leaks();
    let buffer = counting(&[2, 3]);
    assert_eq!(buffer.reshape(&[3, 2]).unwrap().shape(), [3, 2]);
    assert_eq!(buffer.view(DType::UINT8, &[24]).unwrap().to_vec::<u8>().unwrap()[4], 1);
    refused(buffer.reshape(&[7]), Status::InvalidArgument, "[7]");
    refused(buffer.slice((.., 1)).unwrap().reshape(&[2]), Status::FailedPrecondition, "contiguous");
    refused(
        Buffer::from_slice(&[1u8; 5], &[5]).unwrap().slice(1..).unwrap().view(DType::INT32, &[1]),
        Status::InvalidArgument,
        "aligned",
    );
}

#[test]
fn strings() {
    let _leaks = leaks();
    let mut buffer = Buffer::from_strings(&["one", "", "dr\u{fc}"], &[3]).unwrap();
    assert_eq!(buffer.strings().unwrap(), ["one", "", "dr\u{fc}"]);
    assert_eq!(Buffer::from_string_bytes(b"ab\0c", &[0, 1, 4], &[2]).unwrap().strings().unwrap(), ["a", "b\0c"]);
    let bytes = Buffer::from_strings(&[&b"\xff"[..]], &[1]).unwrap();
    assert_eq!(bytes.string_bytes().unwrap(), [b"\xff"]);
    refused(bytes.strings(), Status::FailedPrecondition, "String 0");
    refused(Buffer::from_strings(&["a"], &[2]), Status::InvalidArgument, "1 strings");
    refused(Buffer::from_string_bytes(b"ab", &[0, 1], &[2]), Status::InvalidArgument, "2 offsets");
    refused(Buffer::from_string_bytes(b"ab", &[0, 3], &[1]), Status::OutOfRange, "3");
    refused(Buffer::from_string_bytes(b"ab", &[1, 0], &[1]), Status::OutOfRange, "0");
    refused(buffer.as_slice::<u8>(), Status::InvalidArgument, "string, not uint8");
    refused(buffer.fill(0u8), Status::InvalidArgument, "string, not uint8");
    refused(counting(&[2]).strings(), Status::FailedPrecondition, "int32");
    assert!(Buffer::from_strings::<&str>(&[], &[0]).unwrap().strings().unwrap().is_empty());
}

#[test]
fn checkpoints() {
    let _leaks = leaks();
    let path = TemporaryFile::new(".max");
    counting(&[2, 2]).save(&path, None).unwrap();
    assert_eq!(Buffer::load(&path).unwrap().to_vec::<i32>().unwrap(), [0, 1, 2, 3]);
    refused(Buffer::load("missing.max"), Status::NotFound, "missing.max");
    refused(Buffer::load("a\0b"), Status::InvalidArgument, "NUL byte at 1");
    refused(counting(&[1]).save(&path, Some("k\0")), Status::InvalidArgument, "NUL byte at 1");
}
