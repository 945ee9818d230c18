// SPDX-License-Identifier: Apache-2.0

package max

import (
	"testing"
	"unsafe"
)

const scaleSource = `
extern "C" __global__ void scale(float* x, float factor, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] *= factor;
}
struct Pair { int first; double second; };
extern "C" __global__ void pair(double* out, Pair values) { out[0] = values.first + values.second; }
`

// compiled is a module of the host; a machine without a compiler has none.
func compiled(t *testing.T, source string, options *ModuleOptions) *Module {
	t.Helper()
	module, err := CompileModule(nil, source, options)
	if StatusOf(err) == StatusUnavailable {
		t.Skip(err)
	}
	return must(module, err)(t)
}

func TestKernelLaunch(t *testing.T) {
	noLeaks(t)
	module := compiled(t, scaleSource, nil)
	kernel, stream := must(module.Kernel("scale"))(t), must(NewStream(nil, nil))(t)
	x := vector[float32](t, 1, 2, 3, 4, 5)
	config := LaunchConfig{Grid: [3]int32{2}, Block: [3]int32{4}}
	check(t, kernel.Launch(config, x, float32(2), int32(5)))
	config.Stream = stream
	check(t, kernel.Launch(config, x, float32(10), int32(3)))
	check(t, stream.Synchronize(background))
	equal(t, data[float32](t, x), []float32{20, 40, 60, 8, 10})
	equal(t, must(kernel.Name())(t), "scale")
	check(t, module.Close()) // the kernel keeps it
	check(t, kernel.Launch(config, x, float32(0), int32(5)))
	check(t, stream.Synchronize(background))
	if must(kernel.Attribute(KernelAttributeMaxThreadsPerBlock))(t) < 1 {
		t.Error("no threads")
	}
}

func TestKernelArguments(t *testing.T) {
	noLeaks(t)
	module := compiled(t, scaleSource, nil)
	pair, out := must(module.Kernel("pair"))(t), vector[float64](t, 0)
	check(t, pair.Launch(LaunchConfig{}, out, struct {
		First  int32
		Second float64
	}{3, 0.5}))
	equal(t, must(At[float64](out, 0))(t), 3.5)

	scale, x := must(module.Kernel("scale"))(t), vector[float32](t, 1)
	config := LaunchConfig{}
	fails(t, scale.Launch(config, x, float32(1)), ErrInvalidArgument, "2")
	fails(t, scale.Launch(config, x, 1.0, int32(1)), ErrInvalidArgument, "8")
	fails(t, scale.Launch(config, x, float32(1), 1), ErrInvalidArgument, "argument 2 is of type int")
	fails(t, scale.Launch(config, nil, float32(1), int32(1)), ErrInvalidArgument, "argument 0 is nil")
	fails(t, scale.Launch(config, (*Buffer)(nil), float32(1), int32(1)), ErrInvalidArgument, "the buffer is nil")
	fails(t, scale.Launch(config, "x", float32(1), int32(1)), ErrInvalidArgument, "argument 0 is of type string")
	fails(t, scale.Launch(config, []float32{1}, float32(1), int32(1)), ErrInvalidArgument, "[]float32")
	fails(t, scale.Launch(config, unsafe.Pointer(&config), float32(1), int32(1)), ErrInvalidArgument, "unsafe.Pointer")
	fails(t, scale.Launch(config, struct{}{}, float32(1), int32(1)), ErrInvalidArgument, "struct {}")
	fails(t, scale.Launch(LaunchConfig{Block: [3]int32{1 << 20}}, x, float32(1), int32(1)), ErrInvalidArgument, "1048576")
	fails(t, scale.Launch(LaunchConfig{Grid: [3]int32{-1}}, x, float32(1), int32(1)), ErrInvalidArgument, "-1")
	fails(t, scale.Launch(LaunchConfig{SharedByteCount: -1}, x, float32(1), int32(1)), ErrOutOfRange, "-1")
	check(t, x.Close())
	fails(t, scale.Launch(config, x, float32(1), int32(1)), ErrFailedPrecondition, "the buffer is closed")
	fails(t, scale.SetAttribute(KernelAttributeRegisters, 1), ErrUnimplemented, "")
	equal(t, must(must(must(scale.Module())(t).Device())(t).Label())(t), "cpu")
}
