// SPDX-License-Identifier: Apache-2.0

package max

import (
	"math"
	"strings"
	"testing"
)

func TestDeviceOfTheHost(t *testing.T) {
	noLeaks(t)
	device := must(NewCPU())(t)
	equal(t, must(device.API())(t), "cpu")
	equal(t, must(device.Label())(t), "cpu")
	equal(t, must(device.ID())(t), 0)
	equal(t, must(device.IsHost())(t), true)
	equal(t, must(device.IsCompatible())(t), true)
	equal(t, must(device.CanAccess(device))(t), true)
	equal(t, must(device.Name())(t) != "", true)
	_, err := device.ArchitectureName()
	fails(t, err, ErrUnimplemented, "")
	check(t, device.Trim())
	check(t, device.Synchronize(background))
	equal(t, must(DeviceCount("cpu"))(t), 1)
	if specs := must(ScanDevices())(t); len(specs) == 0 {
		t.Error("there is no device")
	}
}

func TestDeviceNumbers(t *testing.T) {
	noLeaks(t)
	device := must(NewCPU())(t)
	free, total, err := device.MemoryInfo()
	check(t, err)
	if free == 0 || free > total {
		t.Errorf("%d of %d bytes are free", free, total)
	}
	stats := must(device.Stats())(t)
	if stats.TotalMemory == nil || *stats.TotalMemory != total || stats.AllocatedMemory == nil {
		t.Errorf("%+v", stats)
	}
	if must(device.Attribute(DeviceAttributeMultiprocessorCount))(t) < 1 || must(device.DriverVersion())(t) < 1 {
		t.Error("a number is missing")
	}
	_, err = device.Attribute(4711)
	fails(t, err, ErrUnimplemented, "4711")
}

func TestDeviceErrors(t *testing.T) {
	_, err := OpenDevice("cpu", 7, nil)
	fails(t, err, ErrNotFound, "7")
	_, err = OpenDevice("cpu", math.MaxInt64, nil)
	fails(t, err, ErrOutOfRange, "9223372036854775807")
	_, err = DeviceCount("")
	fails(t, err, ErrNotFound, "")
	if count := must(DeviceCount("gpu"))(t); count == 0 {
		_, err = NewAccelerator(0)
		fails(t, err, ErrUnavailable, "")
		_, err = AcceleratorAPI()
		fails(t, err, ErrUnavailable, "")
		_, err = AcceleratorArchitectureName()
		fails(t, err, ErrUnavailable, "")
	}
}

func TestDeviceIsTheSame(t *testing.T) {
	noLeaks(t)
	first, second := must(NewCPU())(t), must(OpenDevice("cpu", 0, &DeviceOptions{MemoryLimit: 1 << 40}))(t)
	equal(t, must(first.CanAccess(second))(t), true)
	stream := must(first.DefaultStream())(t)
	equal(t, must(stream.IsDefault())(t), true)
	check(t, first.Close())
	equal(t, must(must(stream.Device())(t).ID())(t), 0)
}

func TestDeviceVirtual(t *testing.T) {
	noLeaks(t)
	check(t, SetVirtualDeviceAPI("cuda"))
	check(t, SetVirtualDeviceArchitectureName("sm_90"))
	check(t, SetVirtualDeviceCount(2))
	defer func() { check(t, SetVirtualDeviceCount(0)) }()
	equal(t, must(VirtualDeviceCount())(t), 2)
	equal(t, must(VirtualDeviceAPI())(t), "cuda")
	equal(t, must(VirtualDeviceArchitectureName())(t), "sm_90")
	device := must(NewAccelerator(1))(t)
	equal(t, must(device.ArchitectureName())(t), "sm_90")
	equal(t, must(AcceleratorAPI())(t), "cuda")
	equal(t, must(AcceleratorArchitectureName())(t), "sm_90")
	equal(t, must(ScanDevices())(t)[1], DeviceSpec{"gpu", 1})
	_, err := NewBuffer(device, DTypeFloat32, []int64{4}, nil)
	fails(t, err, ErrUnavailable, "")
	fails(t, SetVirtualDeviceCount(-1), ErrInvalidArgument, "-1")
	fails(t, SetVirtualDeviceAPI("cpu"), ErrNotFound, "cpu")
	fails(t, SetVirtualDeviceArchitectureName(strings.Repeat("x", 40)), ErrInvalidArgument, "")
}

func TestDeviceHostMemory(t *testing.T) {
	noLeaks(t)
	device := must(NewCPU())(t)
	for _, owner := range []*Device{nil, device} {
		memory := must(NewHostMemory(owner, 4096))(t)
		check(t, memory.Use(func(bytes []byte) error {
			equal(t, len(bytes), 4096)
			bytes[4095] = 7
			check(t, memory.Close()) // it stays until Use is over
			equal(t, bytes[4095], byte(7))
			return nil
		}))
		fails(t, memory.Use(func([]byte) error { return nil }), ErrFailedPrecondition, "the host memory is closed")
	}
	check(t, must(NewHostMemory(nil, 0))(t).Use(func(bytes []byte) error { equal(t, len(bytes), 0); return nil }))
	_, err := NewHostMemory(device, -1)
	fails(t, err, ErrOutOfRange, "-1")
	var none *HostMemory
	fails(t, none.Use(nil), ErrInvalidArgument, "the function is nil")
	fails(t, none.Use(func([]byte) error { return nil }), ErrInvalidArgument, "the host memory is nil")
}

func TestDevicePeers(t *testing.T) {
	noLeaks(t)
	device := must(NewCPU())(t)
	check(t, device.EnablePeerAccess(device))
	_, err := device.CanAccess(nil)
	fails(t, err, ErrInvalidArgument, "the device is nil")
}
