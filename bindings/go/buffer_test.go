// SPDX-License-Identifier: Apache-2.0

package max

import (
	"math"
	"runtime"
	"testing"
	"unsafe"
)

func TestBufferInfo(t *testing.T) {
	noLeaks(t)
	buffer := must(NewBuffer(nil, DTypeInt16, []int64{2, 3}, &BufferOptions{Zeroed: true, Alignment: 256}))(t)
	info := must(buffer.Info())(t)
	equal(t, info.Address%256, uint64(0))
	info.Address = 0
	equal(t, info, BufferInfo{DType: DTypeInt16, Shape: []int64{2, 3}, Strides: []int64{3, 1}, ElementCount: 6, ByteCount: 12,
		ElementSize: 2, IsContiguous: true, IsHost: true})
	equal(t, must(buffer.Shape())(t), []int64{2, 3})
	equal(t, must(buffer.DType())(t), DTypeInt16)
	equal(t, must(must(buffer.Device())(t).Label())(t), "cpu")
	equal(t, must(must(buffer.Stream())(t).IsDefault())(t), true)
	equal(t, data[int16](t, buffer), make([]int16, 6))
}

func roundTrip[T Element](t *testing.T, values ...T) {
	t.Helper()
	buffer := vector(t, values...)
	equal(t, data[T](t, buffer), values)
	equal(t, must(At[T](buffer, -1))(t), values[len(values)-1])
	check(t, SetAt(buffer, values[0], 1))
	equal(t, must(At[T](buffer, 1))(t), values[0])
	check(t, Fill(buffer, values[1], nil))
	equal(t, must(At[T](buffer, 0))(t), values[1])
	equal(t, must(buffer.DType())(t), DTypeOf[T]())
}

func TestBufferOfEachType(t *testing.T) {
	noLeaks(t)
	roundTrip(t, true, false, true)
	roundTrip[int8](t, -128, 1, 127)
	roundTrip[int16](t, math.MinInt16, 1, 2)
	roundTrip[int32](t, math.MinInt32, 1, 2)
	roundTrip[int64](t, math.MinInt64, 1, 2)
	roundTrip[uint8](t, 255, 1, 2)
	roundTrip[uint16](t, math.MaxUint16, 1, 2)
	roundTrip[uint32](t, math.MaxUint32, 1, 2)
	roundTrip[uint64](t, math.MaxUint64, 1, 2)
	roundTrip[float32](t, math.MaxFloat32, 1, 2)
	roundTrip[float64](t, math.MaxFloat64, 1, 2)
	roundTrip[complex64](t, 1+2i, 3, 4i)
	roundTrip[complex128](t, 1+2i, 3, 4i)
	roundTrip(t, NewFloat16(1.5), NewFloat16(-2), 0)
	roundTrip(t, NewBFloat16(1.5), NewBFloat16(-2), 0)
	roundTrip[Float8E4M3FN](t, 0x38, 0xb8, 0)
	roundTrip[Float8E5M2](t, 0x3c, 0xbc, 0)
}

func TestBufferScalarsAndEmpty(t *testing.T) {
	noLeaks(t)
	scalar := must(NewBufferFrom(nil, nil, []float64{2.5}))(t)
	equal(t, must(scalar.Shape())(t), []int64{})
	equal(t, must(At[float64](scalar))(t), 2.5)
	for _, shape := range [][]int64{{0}, {3, 0}, {0, 1 << 40}} {
		empty := must(NewBufferFrom(nil, shape, []float32{}))(t)
		equal(t, len(data[float32](t, empty)), 0)
		check(t, Fill[float32](empty, 1, nil))
		check(t, Map(empty, ReadWrite, func(found []float32) error { equal(t, len(found), 0); return nil }))
	}
	equal(t, len(data[int8](t, must(WrapSlice[int8]([]int64{0}, nil, nil))(t))), 0)
}

func TestBufferWrongShapes(t *testing.T) {
	noLeaks(t)
	_, err := NewBuffer(nil, DTypeFloat32, []int64{2, -3}, nil)
	fails(t, err, ErrOutOfRange, "-3")
	_, err = NewBuffer(nil, DTypeFloat32, []int64{math.MaxInt64, math.MaxInt64}, nil)
	fails(t, err, ErrOutOfRange, "")
	_, err = NewBuffer(nil, DTypeFloat32, make([]int64, 17), nil)
	fails(t, err, ErrInvalidArgument, "17")
	_, err = NewBuffer(nil, DTypeString, []int64{1}, nil)
	fails(t, err, ErrUnimplemented, "")
	_, err = NewBuffer(nil, DTypeFloat32, nil, &BufferOptions{Alignment: 3})
	fails(t, err, ErrInvalidArgument, "3")
	_, err = NewBuffer(nil, DTypeFloat32, nil, &BufferOptions{Alignment: -1})
	fails(t, err, ErrInvalidArgument, "-1")
	_, err = NewBufferFrom(nil, []int64{2, 2}, []float32{1, 2, 3})
	fails(t, err, ErrInvalidArgument, "a slice of 3 elements does not fill the shape [2 2], which has 4")
	_, err = NewBufferFrom(nil, []int64{1 << 62, 4}, []float32{1})
	fails(t, err, ErrOutOfRange, "too many")
}

func TestBufferWrongTypes(t *testing.T) {
	noLeaks(t)
	buffer := vector[float32](t, 1, 2)
	_, err := Data[int32](buffer)
	fails(t, err, ErrInvalidArgument, "float32 has no elements of Go's type int32")
	_, err = At[float64](buffer, 0)
	fails(t, err, ErrInvalidArgument, "float64")
	fails(t, SetAt[Float16](buffer, 1, 0), ErrInvalidArgument, "Float16")
	fails(t, Fill[uint8](buffer, 1, nil), ErrInvalidArgument, "uint8")
	fails(t, Map(buffer, Read, func([]int64) error { return nil }), ErrInvalidArgument, "int64")
	fails(t, CopyToHost(buffer, 0, []bool{true}, nil), ErrInvalidArgument, "bool")
	_, err = buffer.Strings()
	fails(t, err, ErrInvalidArgument, "has no strings")
	_, err = At[float32](buffer, 2)
	fails(t, err, ErrOutOfRange, "2")
	_, err = At[float32](buffer)
	fails(t, err, ErrInvalidArgument, "")
}

func TestBufferStrings(t *testing.T) {
	noLeaks(t)
	values := []string{"", "a\x00b", "größer", string(make([]byte, 1000))}
	buffer := must(NewStringBuffer([]int64{2, 2}, values))(t)
	equal(t, must(buffer.Strings())(t), values)
	equal(t, must(buffer.DType())(t), DTypeString)
	equal(t, must(must(NewStringBuffer([]int64{0}, nil))(t).Strings())(t), []string{})
	_, err := NewStringBuffer([]int64{3}, values)
	fails(t, err, ErrInvalidArgument, "4 elements")
	row := must(buffer.Slice(Index(1)))(t)
	equal(t, must(row.Strings())(t), values[2:])
}

func TestBufferWrap(t *testing.T) {
	noLeaks(t)
	values := []float32{0, 1, 2, 3, 4, 5}
	buffer := must(WrapSlice([]int64{2, 3}, values, nil))(t)
	values[4] = 40
	equal(t, must(At[float32](buffer, 1, 1))(t), float32(40))
	check(t, SetAt[float32](buffer, 7, 0, 0))
	equal(t, values[0], float32(7))
	columns := must(WrapSlice([]int64{3, 2}, values, &WrapOptions{Strides: []int64{1, 3}, ReadOnly: true}))(t)
	equal(t, data[float32](t, columns), []float32{7, 3, 1, 40, 2, 5})
	fails(t, SetAt[float32](columns, 1, 0, 0), ErrFailedPrecondition, "read-only")
}

// The buffer alone keeps the slice, whatever the garbage collector does.
func TestBufferKeepsItsSlice(t *testing.T) {
	noLeaks(t)
	var buffers []*Buffer
	for i := range 20 {
		values := make([]int64, 4096)
		for j := range values {
			values[j] = int64(i)
		}
		buffers = append(buffers, must(WrapSlice([]int64{4096}, values, nil))(t))
	}
	for range 5 {
		runtime.GC()
		for range 40 {
			used := make([]int64, 4096)
			used[0] = -1
		}
	}
	for i, buffer := range buffers {
		equal(t, must(At[int64](buffer, 0))(t), int64(i))
		equal(t, must(At[int64](buffer, -1))(t), int64(i))
	}
}

func TestBufferWrapRefusesWhatReachesOut(t *testing.T) {
	noLeaks(t)
	values := []float32{1, 2, 3}
	for name, wrong := range map[string]struct {
		shape, strides []int64
		kind           error
	}{
		"short":    {[]int64{4}, nil, ErrInvalidArgument},
		"long":     {[]int64{2}, nil, ErrInvalidArgument},
		"strides":  {[]int64{2, 2}, []int64{2, 2}, ErrOutOfRange},
		"rank":     {[]int64{2}, []int64{1, 1}, ErrInvalidArgument},
		"backward": {[]int64{2}, []int64{-1}, ErrOutOfRange},
		"huge":     {[]int64{3, 3}, []int64{math.MaxInt64, math.MaxInt64}, ErrOutOfRange},
		"negative": {[]int64{-1}, []int64{1}, ErrOutOfRange},
	} {
		_, err := WrapSlice(wrong.shape, values, &WrapOptions{Strides: wrong.strides})
		fails(t, err, wrong.kind, "")
		t.Log(name, err)
	}
}

func TestBufferBytes(t *testing.T) {
	noLeaks(t)
	buffer := vector[uint16](t, 1, 2, 3)
	check(t, buffer.MutableBytes(func(memory []byte) error {
		equal(t, len(memory), 6)
		*(*uint16)(unsafe.Pointer(&memory[4])) = 9
		return nil
	}))
	check(t, buffer.Bytes(func(memory []byte) error { equal(t, memory[4], byte(9)); return nil }))
	every := must(buffer.Slice(StepRange(Omitted, Omitted, 2)))(t)
	check(t, every.Bytes(func(memory []byte) error { equal(t, len(memory), 6); return nil }))
	backward := must(buffer.Slice(StepRange(Omitted, Omitted, -1)))(t)
	check(t, backward.Bytes(func(memory []byte) error { equal(t, len(memory), 2); return nil }))
	constant := must(WrapSlice([]int64{1}, []int8{1}, &WrapOptions{ReadOnly: true}))(t)
	fails(t, constant.MutableBytes(func([]byte) error { return nil }), ErrFailedPrecondition, "read-only")
}
