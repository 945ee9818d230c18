// SPDX-License-Identifier: Apache-2.0
use max::{AccessProperty, Buffer, DType, Device, KernelAttribute, Launch, Module, Status, Stream, launch};

use crate::fixture::{leaks, refused};

const SOURCE: &str = r#"
extern "C" __global__ void add(const float* a, const float* b, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}
struct Factors { float scale, offset; };
extern "C" __global__ void transform(float* x, Factors factors) { x[threadIdx.x] = x[threadIdx.x] * factors.scale + factors.offset; }
extern "C" __global__ void sizes(int* x) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = blockDim.y;
  if (threadIdx.x == 0 && threadIdx.y == 0 && blockIdx.x == 1) x[0] = gridDim.x * 100 + gridDim.y * 10 + blockDim.y;
}
"#;

fn kernel(name: &str) -> max::Kernel {
    Module::compile(&Device::cpu().unwrap(), SOURCE).unwrap().kernel(name).unwrap()
}

#[test]
fn launches() {
    let _leaks = leaks();
    let add = kernel("add");
    let ramp = |factor: f32| Buffer::from_vec((0..1000u16).map(|i| factor * f32::from(i)).collect(), &[1000]).unwrap();
    let (a, b, mut sum) = (ramp(1.0), ramp(2.0), ramp(0.0));
    let config = Launch::new().grid(1000usize.div_ceil(256)).block(256);
    launch!(add, config, &a, &b, &mut sum, 1000).unwrap();
    assert_eq!(*sum.as_slice::<f32>().unwrap(), *ramp(3.0).as_slice::<f32>().unwrap());
    let stream = Stream::new(&Device::cpu().unwrap()).unwrap();
    launch!(add, config.stream(&stream), &a, &a, &mut sum, 1000).unwrap();
    assert_eq!(*sum.as_slice::<f32>().unwrap(), *ramp(2.0).as_slice::<f32>().unwrap());
    assert_eq!((add.name().unwrap(), format!("{add:?}")), ("add".into(), "Kernel(add)".into()));
}

#[test]
fn values_and_dimensions() {
    let _leaks = leaks();
    let mut x = Buffer::from_slice(&[1.0f32, 2.0], &[2]).unwrap();
    launch!(kernel("transform"), Launch::new().block(2), &mut x, [10.0f32, 0.5]).unwrap();
    assert_eq!(*x.as_slice::<f32>().unwrap(), [10.5, 20.5]);
    let mut x = Buffer::zeros(DType::INT32, &[1]).unwrap();
    let config = Launch::new().grid([2, 3]).block([4, 5, 1]).shared_bytes(64);
    launch!(kernel("sizes"), config, &mut x).unwrap();
    assert_eq!(x.item::<i32>().unwrap(), 235);
}

#[test]
fn launches_refuse() {
    let _leaks = leaks();
    let (add, mut x) = (kernel("add"), Buffer::zeros(DType::FLOAT32, &[4]).unwrap());
    let a = Buffer::zeros(DType::FLOAT32, &[4]).unwrap();
    let one = Launch::new();
    refused(launch!(add, one), Status::InvalidArgument, "0");
    refused(launch!(add, one, &a, &a, &mut x), Status::InvalidArgument, "3");
    refused(launch!(add, one, &a, &a, &mut x, 1i64), Status::InvalidArgument, "8");
    refused(launch!(add, one, &a, &a, &mut x, 1u8), Status::InvalidArgument, "1");
    refused(launch!(add, one, &a, 1i32, &mut x, 1i32), Status::InvalidArgument, "");
    refused(launch!(add, one, &a, &a, &mut x, 1, 1), Status::InvalidArgument, "5");
    let many: Vec<_> = (0..20).map(max::Argument::from).collect();
    refused(add.launch(&one, &many), Status::InvalidArgument, "20");
    for config in [one.grid(0), one.block(0), one.block(1 << 20), one.grid(usize::MAX), one.block(-1)] {
        refused(launch!(add, config, &a, &a, &mut x, 1), Status::InvalidArgument, "");
    }
    refused(launch!(add, one.shared_bytes(usize::MAX), &a, &a, &mut x, 1), Status::InvalidArgument, "");
}

#[test]
fn attributes() {
    let _leaks = leaks();
    let add = kernel("add");
    assert!(add.attribute(KernelAttribute::MaxThreadsPerBlock).unwrap() > 0);
    let dynamic = KernelAttribute::MaxDynamicSharedSize;
    add.set_attribute(dynamic, 1024).unwrap();
    assert_eq!(add.attribute(dynamic).unwrap(), 1024);
    refused(add.set_attribute(dynamic, -5), Status::InvalidArgument, "-5");
    refused(add.set_attribute(KernelAttribute::Registers, 1), Status::Unimplemented, "");
    assert!(add.module().unwrap().device().unwrap().is_host().unwrap());
    let table = Buffer::zeros(DType::FLOAT32, &[4]).unwrap();
    let mut x = Buffer::zeros(DType::FLOAT32, &[4]).unwrap();
    let config = Launch::new().cached(&table, 2.0, AccessProperty::Persisting, AccessProperty::Normal);
    refused(launch!(add, config, &table, &table, &mut x, 4), Status::InvalidArgument, "2");
}
