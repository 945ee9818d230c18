// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"unsafe"
)

// Device is the host or an accelerator. Where a function takes one, nil is the host.
type Device struct{ handle handle }

var deviceClass = newClass("device", maxDeviceRelease)

func newDevice(raw *maxDevice) *Device { return &Device{deviceClass.open(unsafe.Pointer(raw))} }

func (d *Device) use() (*maxDevice, error) {
	if d == nil {
		return use[maxDevice](nil, deviceClass)
	}
	return use[maxDevice](&d.handle, deviceClass)
}

func (d *Device) done() { d.handle.leave() }

// Close drops the reference. It never fails.
func (d *Device) Close() error {
	if d != nil {
		d.handle.close()
	}
	return nil
}

// DeviceOptions of OpenDevice only count for the first handle of a device; later handles share the device.
type DeviceOptions struct {
	// MemoryLimit is the most bytes of device memory that may be in use; 0 = 99 % of free memory on accelerators, no
	// limit on the host.
	MemoryLimit uint64
	// BufferCacheSize is the bytes of device memory to take in advance; accelerators only.
	BufferCacheSize uint64
}

// NewCPU opens the host.
func NewCPU() (*Device, error) { return OpenDevice("cpu", -1, nil) }

// NewAccelerator opens an accelerator by its number, of whichever API has one.
func NewAccelerator(id int) (*Device, error) { return OpenDevice("gpu", id, nil) }

// OpenDevice opens a device of an API: "cpu", "cuda", "hip", or "gpu" for the accelerators present. An id of -1 is the
// first one.
func OpenDevice(api string, id int, options *DeviceOptions) (*Device, error) {
	var a arena
	defer a.end()
	name := a.text("the API", api)
	number := a.index("device", id)
	if a.err != nil {
		return nil, a.err
	}
	raw := &maxDeviceOptions{structSize: unsafe.Sizeof(maxDeviceOptions{})}
	if options != nil {
		raw.memoryLimit, raw.bufferCacheSize = options.MemoryLimit, options.BufferCacheSize
	}
	return create(func(out **maxDevice) error { return maxDeviceCreate(name, number, raw, out) }, newDevice)
}

// DeviceCount counts the devices of an API.
func DeviceCount(api string) (int, error) {
	var a arena
	defer a.end()
	name, count := a.text("the API", api), new(int32)
	if a.err != nil {
		return 0, a.err
	}
	err := maxDeviceGetCount(name, count)
	return int(*count), err
}

// API returns what programs the device: "cpu", "cuda" or "hip".
func (d *Device) API() (string, error) { return queryText(d, maxDeviceGetApi) }

// Label returns "cpu" or "gpu"; label and id together name a device.
func (d *Device) Label() (string, error) { return queryText(d, maxDeviceGetLabel) }

// ID returns the number of the device.
func (d *Device) ID() (int, error) { return queryInt(d, maxDeviceGetId) }

// Name returns the name that the maker gave the device.
func (d *Device) Name() (string, error) { return queryText(d, maxDeviceGetName) }

// ArchitectureName returns the architecture of an accelerator, for example "sm_90".
func (d *Device) ArchitectureName() (string, error) {
	return queryText(d, maxDeviceGetArchitectureName)
}

// IsHost tells whether the device is the host.
func (d *Device) IsHost() (bool, error) { return queryBool(d, maxDeviceIsHost) }

// IsCompatible tells whether the library can run models and kernels on the device.
func (d *Device) IsCompatible() (bool, error) { return queryBool(d, maxDeviceIsCompatible) }

// CanAccess tells whether the device can reach the memory of another one directly.
func (d *Device) CanAccess(peer *Device) (bool, error) {
	return queryBool(d, func(raw *maxDevice, can *int32) error {
		return perform(peer, func(other *maxDevice) error { return maxDeviceCanAccess(raw, other, can) })
	})
}

// EnablePeerAccess lets the device reach the memory of another one directly.
func (d *Device) EnablePeerAccess(peer *Device) error {
	return perform(d, func(raw *maxDevice) error {
		return perform(peer, func(other *maxDevice) error { return maxDeviceEnablePeerAccess(raw, other) })
	})
}

// DefaultStream returns the device's default stream. On the host its work runs at once, in the calling goroutine.
func (d *Device) DefaultStream() (*Stream, error) {
	return queryObject(d, maxDeviceGetDefaultStream, maxStreamRetain, newStream)
}

// Synchronize waits until all work on all streams of the device is done, or the context is.
func (d *Device) Synchronize(ctx context.Context) error {
	return perform(d, func(raw *maxDevice) error {
		return wait(ctx, func(timeout int64) error { return maxDeviceSynchronize(raw, timeout) })
	})
}

// MemoryInfo returns free and total memory in bytes.
func (d *Device) MemoryInfo() (free, total uint64, err error) {
	sizes := new([2]uint64)
	err = perform(d, func(raw *maxDevice) error { return maxDeviceGetMemoryInfo(raw, &sizes[0], &sizes[1]) })
	return sizes[0], sizes[1], err
}

// DeviceStats is a report on a device; what is not known is nil.
type DeviceStats struct {
	// FreeMemory and TotalMemory are the device's, or what a control group grants.
	FreeMemory, TotalMemory *uint64
	// AllocatedMemory is in buffers of this library, PeakAllocatedMemory the most that was, MemoryLimit the most that may.
	AllocatedMemory, PeakAllocatedMemory, MemoryLimit *uint64
	// ProcessMemory is what this process occupies.
	ProcessMemory *uint64
	// Utilization is the busy time in percent.
	Utilization *uint32
	// Temperature is in degrees Celsius.
	Temperature *int32
	// Power is in milliwatts.
	Power *uint64
}

// Stats returns a report on memory, use and temperature, as far as they are known.
func (d *Device) Stats() (DeviceStats, error) {
	raw := &maxDeviceStats{structSize: unsafe.Sizeof(maxDeviceStats{})}
	if err := perform(d, func(device *maxDevice) error { return maxDeviceGetStats(device, raw) }); err != nil {
		return DeviceStats{}, err
	}
	mask := raw.validMask
	return DeviceStats{
		FreeMemory:          known(mask, max_DEVICE_STATS_FREE_MEMORY, raw.freeMemory),
		TotalMemory:         known(mask, max_DEVICE_STATS_TOTAL_MEMORY, raw.totalMemory),
		AllocatedMemory:     known(mask, max_DEVICE_STATS_ALLOCATED_MEMORY, raw.allocatedMemory),
		PeakAllocatedMemory: known(mask, max_DEVICE_STATS_PEAK_ALLOCATED_MEMORY, raw.peakAllocatedMemory),
		MemoryLimit:         known(mask, max_DEVICE_STATS_MEMORY_LIMIT, raw.memoryLimit),
		ProcessMemory:       known(mask, max_DEVICE_STATS_PROCESS_MEMORY, raw.processMemory),
		Utilization:         known(mask, max_DEVICE_STATS_UTILIZATION, raw.utilization),
		Temperature:         known(mask, max_DEVICE_STATS_TEMPERATURE, raw.temperature),
		Power:               known(mask, max_DEVICE_STATS_POWER, raw.power),
	}, nil
}

func known[T any](mask, bit uint64, value T) *T {
	if mask&bit == 0 {
		return nil
	}
	return &value
}

// Attribute returns a number that describes the device.
func (d *Device) Attribute(attribute DeviceAttribute) (int64, error) {
	return query(d, func(raw *maxDevice, value *int64) error { return maxDeviceGetAttribute(raw, attribute, value) })
}

// DriverVersion returns 1000 * major + 10 * minor; on the host, of the operating system's kernel.
func (d *Device) DriverVersion() (int64, error) { return query(d, maxDeviceGetDriverVersion) }

// Trim gives memory back that the library keeps for later.
func (d *Device) Trim() error { return perform(d, maxDeviceTrim) }

// DeviceSpec names a device: "gpu", 0.
type DeviceSpec struct {
	Label string
	ID    int
}

// ScanDevices finds all accelerators if there are any, else the host.
func ScanDevices() ([]DeviceSpec, error) {
	count := new(int32)
	if err := maxDeviceScan(count); err != nil {
		return nil, err
	}
	specs := make([]DeviceSpec, *count)
	for i := range specs {
		label, id := new(*byte), new(int32)
		if err := maxDeviceGetScanned(int32(i), label, id); err != nil {
			return nil, err
		}
		specs[i] = DeviceSpec{goText(*label), int(*id)}
	}
	return specs, nil
}

func libraryText(function func(**byte) error) (string, error) {
	text := new(*byte)
	err := function(text)
	return goText(*text), err
}

// AcceleratorAPI returns the API of the first accelerator: "cuda" or "hip".
func AcceleratorAPI() (string, error) { return libraryText(maxAcceleratorGetApi) }

// AcceleratorArchitectureName returns the architecture of the first accelerator.
func AcceleratorArchitectureName() (string, error) {
	return libraryText(maxAcceleratorGetArchitectureName)
}

// SetVirtualDeviceCount declares accelerators that are not there, to compile for them; 0 ends it.
func SetVirtualDeviceCount(count int) error {
	var a arena
	number := a.index("device count", count)
	if a.err != nil {
		return a.err
	}
	return maxVirtualDeviceSetCount(number)
}

// VirtualDeviceCount returns the number of virtual devices.
func VirtualDeviceCount() (int, error) {
	count := new(int32)
	err := maxVirtualDeviceGetCount(count)
	return int(*count), err
}

// SetVirtualDeviceAPI sets the API of the virtual devices: "cuda" or "hip".
func SetVirtualDeviceAPI(api string) error { return withText("the API", api, maxVirtualDeviceSetApi) }

// VirtualDeviceAPI returns the API of the virtual devices.
func VirtualDeviceAPI() (string, error) { return libraryText(maxVirtualDeviceGetApi) }

// SetVirtualDeviceArchitectureName sets the architecture of the virtual devices, for example "sm_90".
func SetVirtualDeviceArchitectureName(name string) error {
	return withText("the architecture", name, maxVirtualDeviceSetArchitectureName)
}

// VirtualDeviceArchitectureName returns the architecture of the virtual devices; empty unless set.
func VirtualDeviceArchitectureName() (string, error) {
	return libraryText(maxVirtualDeviceGetArchitectureName)
}

// withText calls a function that takes a text.
func withText(what, value string, function func(*byte) error) error {
	var a arena
	defer a.end()
	text := a.text(what, value)
	if a.err != nil {
		return a.err
	}
	return function(text)
}

// HostMemory is host memory that stays resident (page-locked), for fast transfers to and from a device.
type HostMemory struct {
	handle handle
	size   int
}

// A host allocation is not an object of the library, so this one keeps what frees it.
type hostAllocation struct {
	device *maxDevice
	memory unsafe.Pointer
}

var hostMemoryClass = newClass("host memory", func(allocation *hostAllocation) {
	_ = maxHostFree(allocation.device, allocation.memory) // it is what maxHostAllocate gave
	maxDeviceRelease(allocation.device)
})

func (m *HostMemory) use() (*hostAllocation, error) {
	if m == nil {
		return use[hostAllocation](nil, hostMemoryClass)
	}
	return use[hostAllocation](&m.handle, hostMemoryClass)
}

func (m *HostMemory) done() { m.handle.leave() }

// NewHostMemory allocates page-locked memory for a device.
func NewHostMemory(device *Device, byteCount int) (*HostMemory, error) {
	if byteCount < 0 {
		return nil, errorf(StatusOutOfRange, "a size of %d bytes is negative", byteCount)
	}
	var a arena
	defer a.end()
	raw := held[maxDevice](&a, device, device != nil)
	if a.err != nil {
		return nil, a.err
	}
	memory := new(unsafe.Pointer)
	if err := maxHostAllocate(raw, uintptr(byteCount), memory); err != nil {
		return nil, err
	}
	maxDeviceRetain(raw)
	allocation := &hostAllocation{raw, *memory}
	return &HostMemory{hostMemoryClass.open(unsafe.Pointer(allocation)), byteCount}, nil
}

// Use calls a function with the memory, which is valid until it returns.
func (m *HostMemory) Use(function func(memory []byte) error) error {
	if function == nil {
		return invalid("the function is nil")
	}
	return perform(m, func(allocation *hostAllocation) error {
		return function(lent((*byte)(allocation.memory), m.size))
	})
}

// Close frees the memory once no Use is within it. It never fails.
func (m *HostMemory) Close() error {
	if m != nil {
		m.handle.close()
	}
	return nil
}
