// SPDX-License-Identifier: Apache-2.0
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::Thread;
use std::time::{Duration, Instant};

use max::{Buffer, Cancellation, DType, Device, ExecuteOptions, HostTensor, Session, Status, Stream, Value};

use crate::fixture::{DIGITS, adder, identity, leaks, refused, slow};

fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

fn vector(numbers: &[f32]) -> Buffer {
    Buffer::from_slice(numbers, &[numbers.len()]).unwrap()
}

#[test]
fn each_way_of_calling() {
    let _leaks = leaks();
    let model = adder();
    let (a, b, mut sum) = (vector(&[1.0, 2.0]), vector(&[10.0, 20.0]), vector(&[0.0; 2]));
    let options = ExecuteOptions::new();
    assert_eq!(model.execute(&[&a, &b]).unwrap()[0].to_vec::<f32>().unwrap(), [11.0, 22.0]);
    model.execute_into(&[&a, &b], &mut [&mut sum], &options).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), [11.0, 22.0]);
    let host = [HostTensor::new(&[1.0f32], &[1]).unwrap(), HostTensor::new(&[2.0f32], &[1]).unwrap()];
    assert_eq!(model.execute_host(&host).unwrap()[0].item::<f32>().unwrap(), 3.0);
    let outputs = model.execute_by_name(&[("b", &b), ("a", &a)], &["sum"], &options).unwrap();
    assert_eq!(outputs[0].to_vec::<f32>().unwrap(), [11.0, 22.0]);
    let values = [Value::tensor(&a).unwrap(), Value::tensor(&b).unwrap()];
    let outputs = model.execute_values(&[&values[0], &values[1]], &options).unwrap();
    assert_eq!(outputs[0].buffer().unwrap().to_vec::<f32>().unwrap(), [11.0, 22.0]);
    let outputs = block_on(model.execute_async(&[&a, &b])).unwrap();
    assert_eq!(outputs[0].to_vec::<f32>().unwrap(), [11.0, 22.0]);
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    let outputs = model.execute_with(&[&a, &b], &options.stream(&stream)).unwrap();
    assert_eq!(*outputs[0].as_slice::<f32>().unwrap(), [11.0, 22.0]);
}

#[test]
fn outputs_can_be_written() {
    let _leaks = leaks();
    let mut outputs = adder().execute(&[&vector(&[1.0]), &vector(&[2.0])]).unwrap();
    outputs[0].as_mut_slice::<f32>().unwrap()[0] += 1.0;
    assert_eq!(outputs[0].item::<f32>().unwrap(), 4.0);
}

#[test]
fn calls_refuse() {
    let _leaks = leaks();
    let model = adder();
    let (a, wrong, other) = (vector(&[1.0]), Buffer::scalar(1i32).unwrap(), vector(&[1.0, 2.0]));
    let options = ExecuteOptions::new();
    refused(model.execute(&[]), Status::InvalidArgument, "0");
    refused(model.execute(&[&a]), Status::InvalidArgument, "1");
    refused(model.execute(&[&a; 40]), Status::InvalidArgument, "40");
    refused(model.execute(&[&a, &wrong]), Status::InvalidArgument, "int32");
    refused(model.execute(&[&a, &other]), Status::InvalidArgument, "2");
    refused(model.execute_into(&[&a, &a], &mut [], &options), Status::InvalidArgument, "0");
    refused(
        model.execute_into(&[&a, &a], &mut [&mut other.copy_to(None, None).unwrap()], &options),
        Status::InvalidArgument,
        "[2]",
    );
    refused(model.execute_by_name(&[("a", &a), ("c", &a)], &["sum"], &options), Status::NotFound, "'c'");
    refused(model.execute_by_name(&[("a", &a), ("b\0", &a)], &["sum"], &options), Status::InvalidArgument, "NUL");
    refused(model.execute_by_name(&[("a", &a)], &["sum"], &options), Status::InvalidArgument, "b");
    refused(HostTensor::new(&[1.0f32], &[2]), Status::InvalidArgument, "[2]");
    refused(model.execute_host(&[]), Status::InvalidArgument, "0");
    refused(model.execute_values(&[&Value::optional(None).unwrap()], &options), Status::InvalidArgument, "");
    refused(block_on(model.execute_async(&[&a])), Status::InvalidArgument, "1");
}

#[test]
fn deadlines_and_cancellations() {
    let _leaks = leaks();
    let (model, x) = slow();
    let start = Instant::now();
    let options = ExecuteOptions::new().timeout(Duration::from_millis(20));
    refused(model.execute_with(&[&x], &options), Status::DeadlineExceeded, "");
    refused(block_on(model.execute_async_with(&[&x], &options)), Status::DeadlineExceeded, "");
    let cancellation = Cancellation::new().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            cancellation.cancel().unwrap();
        });
        let options = ExecuteOptions::new().cancellation(&cancellation);
        refused(model.execute_with(&[&x], &options), Status::Cancelled, "");
        refused(model.execute_with(&[&x], &options), Status::Cancelled, "");
    });
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn dropping_a_future_stops_the_run() {
    let leaks = leaks();
    let (model, x) = slow();
    let start = Instant::now();
    let mut never = Box::pin(model.execute_async(&[&x]));
    assert!(never.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_pending());
    assert!(!never.is_done());
    drop(never);
    let early = model.execute_async(&[&x]);
    drop(early);
    // The workers let go of the model when they notice.
    drop((model, x));
    leaks.wait();
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn many_futures() {
    let _leaks = leaks();
    let model = Session::new().unwrap().load(DIGITS).unwrap();
    let image = Buffer::zeros(DType::FLOAT32, &[1, 1, 8, 8]).unwrap();
    let futures: Vec<_> = (0..32).map(|_| model.execute_async(&[&image])).collect();
    for future in futures {
        assert_eq!(block_on(future).unwrap()[0].shape(), [1, 10]);
    }
    let mut taken = Box::pin(model.execute_async(&[&image]));
    block_on(taken.as_mut()).unwrap();
    refused(block_on(taken.as_mut()), Status::FailedPrecondition, "taken");
}

#[test]
fn a_future_goes_to_another_thread() {
    let _leaks = leaks();
    fn sent<T: Send + 'static>(value: T) -> T {
        value
    }
    let future = sent(identity().execute_async(&[&vector(&[5.0])]));
    let outputs = std::thread::spawn(move || block_on(future)).join().unwrap().unwrap();
    assert_eq!(outputs[0].item::<f32>().unwrap(), 5.0);
}
