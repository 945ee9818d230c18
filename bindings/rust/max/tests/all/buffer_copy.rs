// SPDX-License-Identifier: Apache-2.0
use max::{Buffer, DType, Device, HostMemory, Status, Stream};

use crate::fixture::{counting, leaks, refused};

#[test]
fn copies() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let (x, mut y) = (counting(&[2, 3]), Buffer::zeros(DType::INT32, &[3, 2]).unwrap());
    y.copy_from(&x).unwrap();
    assert_eq!(y.to_vec::<i32>().unwrap(), [0, 1, 2, 3, 4, 5]);
    y.copy_range(0, &x, 16, 8, None).unwrap();
    assert_eq!(y.to_vec::<i32>().unwrap(), [4, 5, 2, 3, 4, 5]);
    assert_eq!(x.slice((.., 1)).unwrap().contiguous().unwrap().to_vec::<i32>().unwrap(), [1, 4]);
    assert_ne!(x.copy_to(Some(&device), None).unwrap().address(), x.address());
    assert_eq!(x.to(&device).unwrap().address(), x.address());
    refused(y.copy_range(20, &x, 0, 8, None), Status::OutOfRange, "");
    refused(y.copy_range(0, &x, 0, 25, None), Status::OutOfRange, "25");
    refused(y.clone().copy_range(0, &y, 4, 8, None), Status::InvalidArgument, "overlap");
    refused(x.slice((.., 1)).unwrap().copy_from_slice(&[1i32, 2]), Status::FailedPrecondition, "contiguous");
}

#[test]
fn what_shares_memory_after_to_counts_as_shared() {
    let _leaks = leaks();
    let mut x = counting(&[2]);
    let same = x.to(&Device::cpu().unwrap()).unwrap();
    refused(x.as_mut_slice::<i32>(), Status::FailedPrecondition, "exclusive");
    let elements = same.as_slice::<i32>().unwrap();
    refused(x.fill(1i32), Status::FailedPrecondition, "mapped");
    assert_eq!(*elements, [0, 1]);
}

#[test]
fn scopes_lend_memory() {
    let _leaks = leaks();
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    let mut buffer = Buffer::options().stream(&stream).create(DType::FLOAT32, &[1 << 16]).unwrap();
    let (numbers, mut copy) = (vec![2.5f32; 1 << 16], vec![0.0f32; 1 << 16]);
    stream
        .scope(|scope| {
            scope.copy_from_slice(&mut buffer, &numbers)?;
            scope.copy_to_slice(&buffer, &mut copy)
        })
        .unwrap();
    assert_eq!(copy, numbers);
    let mut few = [0u8; 2];
    let refuse = stream.scope(|scope| scope.copy_to_slice(&buffer, &mut few));
    refused(refuse, Status::InvalidArgument, "float32, not uint8");
    let refuse = stream.scope(|scope| scope.copy_from_slice(&mut buffer, &[1.0f32]));
    refused(refuse, Status::InvalidArgument, "1 elements");
    let mut flag = [true];
    let flags = Buffer::from_slice(&[true], &[1]).unwrap();
    refused(stream.scope(|scope| scope.copy_to_slice(&flags, &mut flag)), Status::Unimplemented, "bool");
}

#[test]
fn a_scope_waits_when_its_function_panics() {
    let _leaks = leaks();
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    let (buffer, mut copy) = (counting(&[1 << 20]), vec![-1i32; 1 << 20]);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        stream.scope(|scope| -> max::Result<()> {
            scope.stream().enqueue(|_| std::thread::sleep(std::time::Duration::from_millis(50)))?;
            scope.copy_to_slice(&buffer, &mut copy)?;
            std::panic::resume_unwind(Box::new("on purpose"));
        })
    }));
    assert!(panic.is_err());
    assert_eq!(copy.last(), Some(&((1 << 20) - 1)));
}

#[test]
fn no_scope_in_a_host_function_of_its_stream() {
    let _leaks = leaks();
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let same = stream.clone();
    stream.enqueue(move |_| sender.send(same.scope(|_| Ok(()))).unwrap()).unwrap();
    refused(receiver.recv().unwrap(), Status::FailedPrecondition, "");
    stream.synchronize(None).unwrap();
}

#[test]
fn host_memory() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let mut memory = HostMemory::new(&device, 4096).unwrap();
    assert!(memory.iter().all(|&byte| byte == 0));
    memory[4095] = 1;
    let stream = Stream::new(&device).unwrap();
    let mut buffer = Buffer::zeros(DType::UINT8, &[4096]).unwrap();
    stream.scope(|scope| scope.copy_from_slice(&mut buffer, &memory)).unwrap();
    assert_eq!(buffer.read::<u8>(&[-1]).unwrap(), 1);
    assert!(HostMemory::new(&device, 0).unwrap().is_empty());
    refused(HostMemory::new(&device, usize::MAX / 2), Status::ResourceExhausted, "");
}
