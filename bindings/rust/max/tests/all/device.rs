// SPDX-License-Identifier: Apache-2.0
use max::device::virtual_devices;
use max::{Device, DeviceAttribute, DeviceOptions, Status};

use crate::fixture::{leaks, refused};

#[test]
fn host() {
    let _leaks = leaks();
    let device = Device::cpu().unwrap();
    assert_eq!((device.api().unwrap(), device.label().unwrap(), device.id().unwrap()), ("cpu".into(), "cpu".into(), 0));
    assert!(!device.name().unwrap().is_empty() && device.is_compatible().unwrap());
    assert!(device.can_access(&device).unwrap() && device.driver_version().unwrap() > 0);
    assert_eq!(device, device.clone());
    assert_eq!(format!("{device:?}"), "Device(cpu:0)");
    device.enable_peer_access(&device).unwrap();
    device.trim().unwrap();
}

#[test]
fn create_refuses() {
    let _leaks = leaks();
    refused(Device::new("abacus", None), Status::NotFound, "abacus");
    refused(Device::new("cpu", Some(1)), Status::NotFound, "1");
    refused(Device::new("cpu", Some(usize::MAX)), Status::NotFound, "2147483647");
    refused(Device::new("c\0pu", None), Status::InvalidArgument, "\"c\\u{0}pu\" has a NUL byte at 1");
    refused(Device::count(""), Status::NotFound, "");
    refused(Device::cpu().unwrap().architecture_name(), Status::Unimplemented, "cpu");
    refused(Device::cpu().unwrap().attribute(DeviceAttribute::ComputeCapabilityMajor), Status::Unimplemented, "");
}

#[test]
fn memory() {
    let _leaks = leaks();
    let device = Device::with_options("cpu", Some(0), &DeviceOptions::new()).unwrap();
    let memory = device.memory_info().unwrap();
    assert!(memory.total > 0 && memory.free <= memory.total);
    let before = device.stats().unwrap().allocated_memory.unwrap();
    let _buffer = max::Buffer::zeros(max::DType::UINT8, &[1 << 20]).unwrap();
    assert!(device.stats().unwrap().allocated_memory.unwrap() >= before + (1 << 20));
    assert!(device.stats().unwrap().total_memory.is_some());
}

#[test]
fn scan() {
    let _leaks = leaks();
    assert_eq!(Device::count("cpu").unwrap(), 1);
    let found = Device::scan().unwrap();
    assert_eq!(found.len(), Device::count("gpu").unwrap().max(1));
    if Device::count("gpu").unwrap() == 0 {
        assert_eq!(found, [("cpu".to_string(), 0)]);
        refused(Device::accelerator(0), Status::Unavailable, "");
        refused(Device::accelerator_api(), Status::Unavailable, "");
        refused(Device::accelerator_architecture_name(), Status::Unavailable, "");
    }
}

#[test]
fn virtual_ones() {
    let _leaks = leaks();
    virtual_devices::set_api("hip").unwrap();
    virtual_devices::set_architecture_name("gfx942").unwrap();
    virtual_devices::set_count(2).unwrap();
    assert_eq!((virtual_devices::count().unwrap(), virtual_devices::api().unwrap()), (2, "hip".to_string()));
    assert_eq!(virtual_devices::architecture_name().unwrap(), "gfx942");
    assert_eq!(Device::accelerator(1).unwrap().to_string(), "gpu:1");
    virtual_devices::set_count(0).unwrap();
    refused(virtual_devices::set_api("cpu"), Status::NotFound, "cpu");
    refused(virtual_devices::set_architecture_name(""), Status::InvalidArgument, "");
    virtual_devices::set_api("cuda").unwrap();
}
