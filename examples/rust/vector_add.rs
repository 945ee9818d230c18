// SPDX-License-Identifier: Apache-2.0
//! Adds two vectors with a kernel that is compiled at run time:
//!
//!     cargo run --example vector_add [API]     API is cpu (default), cuda, hip or gpu (whichever there is)
use max::{Buffer, DType, Device, Launch, Module, Result, launch};

const COUNT: usize = 100_000;
const THREADS: usize = 256;
const SOURCE: &str = r#"
extern "C" __global__ void add(const float* a, const float* b, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}
"#;

/// A vector on the device that holds 0, factor, 2 * factor, ...
fn make_vector(device: &Device, factor: f32) -> Result<Buffer> {
    let mut buffer = Buffer::options().device(device).create(DType::FLOAT32, &[COUNT])?;
    let mut elements = buffer.as_mut_slice::<f32>()?;
    for (i, element) in elements.iter_mut().enumerate() {
        *element = factor * i as f32;
    }
    elements.finish()?; // to the device
    Ok(buffer)
}

fn main() -> Result<()> {
    let device = Device::new(std::env::args().nth(1).as_deref().unwrap_or("cpu"), None)?;
    let add = Module::compile(&device, SOURCE)?.kernel("add")?;
    let (a, b) = (make_vector(&device, 1.0)?, make_vector(&device, 2.0)?);
    let mut sum = make_vector(&device, 0.0)?;
    let grid = Launch::new().grid(COUNT.div_ceil(THREADS)).block(THREADS);
    launch!(add, grid, &a, &b, &mut sum, COUNT as i32)?;
    let elements = sum.as_slice::<f32>()?; // waits for the kernel
    let errors = (0..COUNT).filter(|&i| elements[i] != 3.0 * i as f32).count();
    println!("{}: {COUNT} sums, {errors} wrong", device.name()?);
    std::process::exit(i32::from(errors != 0));
}
