// SPDX-License-Identifier: Apache-2.0

package max

import (
	"math"
	"testing"
)

// accelerator is the first one: a real one, or the tests' fake.
func accelerator(t *testing.T) *Device {
	t.Helper()
	if must(DeviceCount("gpu"))(t) == 0 {
		t.Skip("there is no accelerator")
	}
	return must(NewAccelerator(0))(t)
}

func TestAcceleratorBuffers(t *testing.T) {
	noLeaks(t)
	device := accelerator(t)
	equal(t, must(device.IsHost())(t), false)
	equal(t, must(device.Label())(t), "gpu")
	buffer := must(NewBufferFrom(device, []int64{2, 3}, []int32{1, 2, 3, 4, 5, 6}))(t)
	equal(t, data[int32](t, buffer), []int32{1, 2, 3, 4, 5, 6})
	equal(t, data[int32](t, must(buffer.Slice(All(), Index(1)))(t)), []int32{2, 5})
	check(t, Map(buffer, ReadWrite, func(values []int32) error { values[0] = 10; return nil }))
	equal(t, must(At[int32](buffer, 0, 0))(t), int32(10))
	host := must(buffer.To(nil, nil))(t)
	equal(t, must(host.Info())(t).IsHost, true)
	equal(t, data[int32](t, host)[0], int32(10))
	fails(t, buffer.Bytes(func([]byte) error { return nil }), ErrFailedPrecondition, "")
	check(t, device.Close()) // the buffer holds it
	check(t, Fill[int32](buffer, 7, nil))
	equal(t, must(At[int32](buffer, -1, -1))(t), int32(7))
}

func TestAcceleratorStreams(t *testing.T) {
	noLeaks(t)
	device := accelerator(t)
	stream := must(NewStream(device, nil))(t)
	values, found := make([]float32, 5000), make([]float32, 5000)
	for i := range values {
		values[i] = float32(i)
	}
	buffer := must(NewBuffer(device, DTypeFloat32, []int64{5000}, &BufferOptions{Stream: stream}))(t)
	check(t, CopyFromHostAsync(buffer, 0, values, stream))
	check(t, CopyToHostAsync(buffer, 0, found, stream))
	check(t, stream.Synchronize(background))
	equal(t, found, values)
	again := must(WrapStream(device, must(stream.Native())(t)))(t)
	check(t, Fill[float32](buffer, 1, again))
	check(t, again.Synchronize(background))
}

func TestAcceleratorKernels(t *testing.T) {
	noLeaks(t)
	device := accelerator(t)
	module, err := CompileModule(device, scaleSource, nil)
	if StatusOf(err) == StatusUnavailable {
		t.Skip(err)
	}
	kernel := must(must(module, err)(t).Kernel("scale"))(t)
	x := must(NewBufferFrom(device, []int64{3}, []float32{1, 2, 3}))(t)
	check(t, kernel.Launch(LaunchConfig{Block: [3]int32{4}}, x, float32(2), int32(3)))
	equal(t, data[float32](t, x), []float32{2, 4, 6})
	fails(t, kernel.Launch(LaunchConfig{}, vector[float32](t, 1), float32(2), int32(1)), ErrInvalidArgument, "")
}

func TestAcceleratorModels(t *testing.T) {
	noLeaks(t)
	device := accelerator(t)
	path, zeros := digits(t), must(NewBuffer(nil, DTypeFloat32, []int64{1, 1, 8, 8}, &BufferOptions{Zeroed: true}))(t)
	onHost := must(must(NewSession(nil))(t).Load(background, path, nil))(t)
	expected := data[float32](t, must(onHost.Execute(background, zeros))(t)[0])
	model := must(must(NewSession(&SessionOptions{Devices: []*Device{device}}))(t).Load(background, path, nil))(t)
	outputs := must(model.Execute(background, must(zeros.To(device, nil))(t)))(t)
	equal(t, must(must(outputs[0].Device())(t).Label())(t), must(device.Label())(t))
	for i, value := range data[float32](t, outputs[0]) {
		if math.Abs(float64(value-expected[i])) > 1e-5 {
			t.Errorf("output %d is %v, expected %v", i, value, expected[i])
		}
	}
	_, err := model.Execute(background, zeros)
	fails(t, err, ErrInvalidArgument, "")
}
