// SPDX-License-Identifier: Apache-2.0

package max

import (
	"reflect"
	"unsafe"
)

// Kernel is a function of a module that many threads of a device run.
type Kernel struct{ handle handle }

var kernelClass = newClass("kernel", maxKernelRelease)

func newKernel(raw *maxKernel) *Kernel { return &Kernel{kernelClass.open(unsafe.Pointer(raw))} }

func (k *Kernel) use() (*maxKernel, error) {
	if k == nil {
		return use[maxKernel](nil, kernelClass)
	}
	return use[maxKernel](&k.handle, kernelClass)
}

func (k *Kernel) done() { k.handle.leave() }

// Close drops the reference. It never fails.
func (k *Kernel) Close() error {
	if k != nil {
		k.handle.close()
	}
	return nil
}

// Module returns the module of the kernel.
func (k *Kernel) Module() (*Module, error) {
	return queryObject(k, maxKernelGetModule, maxModuleRetain, newModule)
}

// Name returns the name of the kernel.
func (k *Kernel) Name() (string, error) { return queryText(k, maxKernelGetName) }

// Attribute returns a property of the kernel.
func (k *Kernel) Attribute(attribute KernelAttribute) (int64, error) {
	return query(k, func(raw *maxKernel, value *int64) error { return maxKernelGetAttribute(raw, attribute, value) })
}

// SetAttribute sets a property of the kernel for all later launches.
func (k *Kernel) SetAttribute(attribute KernelAttribute, value int64) error {
	return perform(k, func(raw *maxKernel) error { return maxKernelSetAttribute(raw, attribute, value) })
}

// LaunchConfig is how a kernel is launched.
type LaunchConfig struct {
	// Grid is the blocks in x, y and z, Block the threads of a block; 0 = 1.
	Grid, Block [3]int32
	// Cluster is the blocks of a cluster; all zero = no clusters.
	Cluster [3]int32
	// Cooperative says that all blocks run at the same time, or the launch fails.
	Cooperative bool
	// SharedByteCount is the dynamic shared memory of each block.
	SharedByteCount int
	// AccessBase and AccessByteCount are memory whose caching is set for this launch.
	AccessBase      unsafe.Pointer
	AccessByteCount int
	// HitRatio is the part of the accesses that HitProperty holds for; MissProperty holds for the others.
	HitRatio                  float32
	HitProperty, MissProperty AccessProperty
	// Priority is a hint: kernels of higher priority go first; 0 = as the stream's.
	Priority int32
	// ProgrammaticSerialization says that the kernel may start before the one before it on the stream has ended.
	ProgrammaticSerialization bool
	// Stream of the launch; nil = the default stream of the kernel's device.
	Stream *Stream
}

// Launch launches the kernel, one argument per parameter: a *Buffer, whose address the kernel gets and whose memory is kept
// until it has run, or a value of a type of fixed size (int32, float64, a struct of such), which is compared with the
// parameter's size and copied. Go's int and uint are refused, for they say nothing of a size.
func (k *Kernel) Launch(config LaunchConfig, arguments ...any) error {
	var a arena
	defer a.end()
	raw := held[maxKernel](&a, k, true)
	given := a.launchConfig(&config)
	stream := held[maxStream](&a, config.Stream, config.Stream != nil)
	addresses, sizes := make([]unsafe.Pointer, len(arguments)), make([]uintptr, len(arguments))
	for i, argument := range arguments {
		addresses[i], sizes[i] = a.launchArgument(i, argument)
	}
	if a.err != nil {
		return a.err
	}
	return maxKernelLaunch(raw, given, pinned(&a, addresses), pinned(&a, sizes), a.count("arguments", len(arguments)), stream)
}

func (a *arena) launchConfig(config *LaunchConfig) *maxLaunchConfig {
	return &maxLaunchConfig{
		structSize:                unsafe.Sizeof(maxLaunchConfig{}),
		grid:                      config.Grid,
		block:                     config.Block,
		cluster:                   config.Cluster,
		cooperative:               flag(config.Cooperative),
		sharedByteCount:           a.size("shared memory of", config.SharedByteCount),
		accessBase:                config.AccessBase,
		accessByteCount:           a.size("cached memory of", config.AccessByteCount),
		hitRatio:                  config.HitRatio,
		hitProperty:               config.HitProperty,
		missProperty:              config.MissProperty,
		priority:                  config.Priority,
		programmaticSerialization: flag(config.ProgrammaticSerialization),
	}
}

func (a *arena) launchArgument(position int, argument any) (unsafe.Pointer, uintptr) {
	if buffer, ok := argument.(*Buffer); ok {
		return unsafe.Pointer(held[maxBuffer](a, buffer, true)), max_KERNEL_ARGUMENT_BUFFER
	}
	if argument == nil {
		a.fail(invalid("argument %d is nil", position))
		return nil, 0
	}
	kind := reflect.TypeOf(argument)
	if !hasFixedSize(kind) {
		a.fail(invalid("argument %d is of type %v; it is a *max.Buffer or of a type of fixed size, such as int32", position, kind))
		return nil, 0
	}
	value := reflect.New(kind)
	value.Elem().Set(reflect.ValueOf(argument))
	a.pinner.Pin(value.UnsafePointer())
	return value.UnsafePointer(), kind.Size()
}

func hasFixedSize(kind reflect.Type) bool {
	switch kind.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		return true
	case reflect.Array:
		return kind.Len() > 0 && hasFixedSize(kind.Elem())
	case reflect.Struct:
		for i := range kind.NumField() {
			if !hasFixedSize(kind.Field(i).Type) {
				return false
			}
		}
		return kind.NumField() > 0
	}
	return false
}
