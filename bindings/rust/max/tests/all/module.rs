// SPDX-License-Identifier: Apache-2.0
use max::{ArtifactKind, Buffer, CompileOptions, Device, Launch, Module, Status, launch};

use crate::fixture::{leaks, refused};

#[test]
fn options() {
    let _leaks = leaks();
    let options = CompileOptions::new()
        .name("scale.cu")
        .define("FACTOR", "3")
        .header("a.h", "#define A 1")
        .flag("-Wno-unused")
        .fast_math(true)
        .line_info(true);
    let source = "#include \"a.h\"\nextern \"C\" __global__ void set(int* x) { x[0] = FACTOR + A; }";
    let module = Module::compile_with(&Device::cpu().unwrap(), source, &options).unwrap();
    let mut x = Buffer::from_slice(&[0], &[1]).unwrap();
    launch!(module.kernel("set").unwrap(), Launch::new(), &mut x).unwrap();
    assert_eq!(x.item::<i32>().unwrap(), 4);
}

#[test]
fn sources_that_do_not_compile() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let options = CompileOptions::new().name("wrong.cu");
    let error = refused(Module::compile_with(&device, "\n\nint x = ;", &options), Status::InvalidArgument, "wrong.cu");
    assert!(error.message().contains("wrong.cu:3"), "{error}");
    refused(Module::compile(&device, "a\0b"), Status::InvalidArgument, "NUL byte at 1");
    refused(
        Module::compile_with(&device, "", &CompileOptions::new().define("A\0", "")),
        Status::InvalidArgument,
        "NUL",
    );
}

#[test]
fn artifacts() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    let module = Module::compile(&device, "extern \"C\" __global__ void set(int* x) { x[0] = 7; }").unwrap();
    let code = module.artifact(ArtifactKind::SharedObject).unwrap();
    refused(module.artifact(ArtifactKind::Ptx), Status::Unimplemented, "");
    refused(module.kernel("get"), Status::NotFound, "get");
    // SAFETY: code that was just compiled here.
    let loaded = unsafe { Module::load(&device, &code) }.unwrap();
    let mut x = Buffer::from_slice(&[0], &[1]).unwrap();
    launch!(loaded.kernel("set").unwrap(), Launch::new(), &mut x).unwrap();
    assert_eq!(x.item::<i32>().unwrap(), 7);
    // SAFETY: no code at all.
    refused(unsafe { Module::load(&device, b"nothing") }, Status::InvalidArgument, "");
    // SAFETY: as above.
    refused(unsafe { Module::load(&device, b"") }, Status::InvalidArgument, "");
}

#[test]
fn constants() {
    let _leaks = leaks();
    let source = "__constant__ int numbers[2];\nextern \"C\" __global__ void get(int* x) { x[0] = numbers[1]; }";
    let module = Module::compile(&Device::cpu().unwrap(), source).unwrap();
    module.set_constant("numbers", &[1, 2], None).unwrap();
    let mut x = Buffer::from_slice(&[0], &[1]).unwrap();
    launch!(module.kernel("get").unwrap(), Launch::new(), &mut x).unwrap();
    assert_eq!(x.item::<i32>().unwrap(), 2);
    refused(module.set_constant("numbers", &[1, 2, 3], None), Status::OutOfRange, "12");
    refused(module.set_constant("letters", &[1], None), Status::NotFound, "letters");
}
