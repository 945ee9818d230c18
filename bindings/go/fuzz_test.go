// SPDX-License-Identifier: Apache-2.0

package max

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// failed is an error of this package with a status and a message.
func failed(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	var failure *Error
	if !errors.As(err, &failure) || failure.Status == StatusOK || failure.Message == "" || failure.Status == StatusInternal {
		t.Fatalf("%#v", err)
	}
	return true
}

// position is where a slice of numpy begins in n elements, how many it has and how far they lie apart.
func position(start, stop, step, n int64) (int64, int64) {
	low, high := int64(0), n
	if step < 0 {
		low, high = -1, n-1
	}
	bound := func(value, omitted int64) int64 {
		if value == Omitted {
			return omitted
		}
		if value < 0 {
			value += n
		}
		return min(max(value, low), high)
	}
	first, last := bound(start, low), bound(stop, high)
	if step < 0 {
		first, last = bound(start, high), bound(stop, low)
		return first, max(0, (first-last-step-1)/-step)
	}
	return first, max(0, (last-first+step-1)/step)
}

// Slices hold what numpy's would, or are refused.
func FuzzSlice(f *testing.F) {
	f.Add(int64(0), int64(3), int64(1), int64(2), byte(5))
	f.Add(int64(-1), Omitted, int64(-2), int64(-1), byte(7))
	f.Add(int64(1<<62), int64(-1<<62), int64(-1<<62), int64(1<<62), byte(1))
	f.Fuzz(func(t *testing.T, start, stop, step, index int64, size byte) {
		values := make([]int32, int(size)*2)
		for i := range values {
			values[i] = int32(i)
		}
		buffer, err := NewBufferFrom(nil, []int64{int64(size), 2}, values)
		check(t, err)
		defer buffer.Close()
		view, err := buffer.Slice(StepRange(start, stop, step), Index(index))
		if failed(t, err) {
			if step != 0 && index >= -2 && index < 2 && step > -1<<31 && step < 1<<31 {
				t.Fatal(err)
			}
			return
		}
		defer view.Close()
		if step == Omitted {
			step = 1
		}
		found := data[int32](t, view)
		if step <= -1<<31 || step >= 1<<31 {
			return // the oracle would overflow
		}
		first, count := position(start, stop, step, int64(size))
		equal(t, int64(len(found)), count)
		for i, value := range found {
			equal(t, int64(value), 2*(first+int64(i)*step)+(index+2)%2)
		}
	})
}

// Shapes and strides over a slice: no element that a buffer has lies outside.
func FuzzShape(f *testing.F) {
	f.Add(int64(2), int64(3), int64(3), int64(1), uint16(6))
	f.Add(int64(-1), int64(1<<62), int64(4), int64(1<<62), uint16(0))
	f.Add(int64(0), int64(9), int64(-9), int64(0), uint16(1))
	f.Fuzz(func(t *testing.T, rows, columns, rowStride, columnStride int64, length uint16) {
		values := make([]uint8, length)
		for _, strides := range [][]int64{nil, {rowStride, columnStride}} {
			buffer, err := WrapSlice([]int64{rows, columns}, values, &WrapOptions{Strides: strides})
			if failed(t, err) {
				continue
			}
			count := rows * columns
			if count < 1<<20 {
				equal(t, int64(len(data[uint8](t, buffer))), count)
			}
			if count > 0 {
				must(At[uint8](buffer, -1, -1))(t)
			}
			check(t, buffer.Close())
		}
		if made, err := NewBufferFrom(nil, []int64{rows, columns}, values); !failed(t, err) {
			check(t, made.Close())
		}
	})
}

// Names and texts of any bytes reach the library whole, or are refused.
func FuzzNames(f *testing.F) {
	for _, text := range []string{"", "cpu", "größe", "a\x00b", "\xff\xfe", "%s%n", "x/../y"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		device, err := OpenDevice(text, -1, nil)
		if !failed(t, err) {
			check(t, device.Close())
		}
		if dtype, err := ParseDType(text); !failed(t, err) {
			equal(t, dtype.String(), text)
		}
		graph, err := NewGraph(text)
		if failed(t, err) {
			return
		}
		defer graph.Close()
		if text != "" {
			equal(t, must(graph.Name())(t), text)
		}
		x, err := graph.AddInput(text, DTypeFloat32, []int64{1}, nil)
		if failed(t, err) {
			return
		}
		equal(t, must(x.Info())(t).Name, text)
		_, err = graph.AddNode(text, []*GraphValue{x}, &NodeOptions{Domain: text, Name: text, Attributes: Attributes{text: text}})
		failed(t, err)
		values := must(NewStringBuffer([]int64{2}, []string{text, text + text}))(t)
		equal(t, must(values.Strings())(t), []string{text, text + text})
	})
}

// Bytes that are not a model, and models with changed bytes, fail with a status and a message, or run.
func FuzzModel(f *testing.F) {
	model, err := os.ReadFile(filepath.Join(repository, "tests/data/models/add.onnx"))
	check(f, err)
	f.Add(model, uint16(0), byte(0))
	f.Add(model, uint16(20), byte(255))
	f.Add(model[:len(model)/2], uint16(3), byte(1))
	f.Add([]byte{}, uint16(0), byte(0))
	session := must(NewSession(&SessionOptions{ThreadCount: 1, MemoryLimit: 64 << 20}))(f)
	f.Fuzz(func(t *testing.T, bytes []byte, place uint16, change byte) {
		changed := append([]byte{}, bytes...)
		if len(changed) > 0 {
			changed[int(place)%len(changed)] ^= change
		}
		loaded, err := session.LoadBytes(background, changed, nil)
		if failed(t, err) {
			return
		}
		defer loaded.Close()
		must(loaded.Inputs())(t)
		outputs, err := loaded.Execute(background, vector[float32](t, 1, 2), vector[float32](t, 3, 4))
		failed(t, err)
		closeAll(outputs)
	})
}
