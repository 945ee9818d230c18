// SPDX-License-Identifier: Apache-2.0
//! A call with given outputs allocates nothing, neither in Rust nor in the library.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use max::{Buffer, Captured, DType, Device, ExecuteOptions, Launch, Module, launch};

use crate::fixture::{adder, identity, leaks};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: as the system's, which it calls.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[track_caller]
fn allocates_nothing(mut call: impl FnMut()) {
    (0..10).for_each(|_| call());
    let before = COUNT.get();
    (0..100).for_each(|_| call());
    assert_eq!(COUNT.get() - before, 0);
}

#[test]
fn calls() {
    let _leaks = leaks();
    let counted = COUNT.get();
    drop(Box::new(std::hint::black_box(1)));
    assert_eq!(COUNT.get(), counted + 1);

    let (x, mut y) = (Buffer::from_slice(&[1.0f32], &[1]).unwrap(), Buffer::zeros(DType::FLOAT32, &[1]).unwrap());
    let (identity, adder) = (identity(), adder());
    allocates_nothing(|| identity.execute_into(&[&x], &mut [&mut y], &ExecuteOptions::new()).unwrap());
    allocates_nothing(|| adder.execute_into(&[&x, &x], &mut [&mut y], &ExecuteOptions::new()).unwrap());
    let shared = y.clone();
    allocates_nothing(|| identity.execute_into(&[&x], &mut [&mut y], &ExecuteOptions::new()).unwrap());
    drop(shared);
    let mut captured = Captured::new(&adder, &[&x, &x]).unwrap();
    allocates_nothing(|| captured.replay(None).unwrap());
    let source = "extern \"C\" __global__ void set(float* x, float y) { x[0] = y; }";
    let set = Module::compile(&Device::cpu().unwrap(), source).unwrap().kernel("set").unwrap();
    allocates_nothing(|| launch!(set, Launch::new(), &mut y, 1.0f32).unwrap());
    allocates_nothing(|| y.copy_from_slice(&[1.0f32]).unwrap());
}
