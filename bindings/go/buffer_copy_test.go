// SPDX-License-Identifier: Apache-2.0

package max

import (
	"testing"
	"unsafe"
)

func TestCopyMakesNewMemory(t *testing.T) {
	noLeaks(t)
	device, buffer := must(NewCPU())(t), counted(t, 2, 3)
	stream := must(NewStream(device, nil))(t)
	for name, made := range map[string]*Buffer{
		"contiguous": must(buffer.Contiguous(nil))(t),
		"clone":      must(buffer.Clone(device, nil))(t),
		"streamed":   must(buffer.Clone(nil, &CopyOptions{Stream: stream}))(t),
	} {
		check(t, stream.Synchronize(background))
		check(t, SetAt[int32](made, 100, 0, 0))
		equal(t, must(At[int32](buffer, 0, 0))(t), int32(0))
		equal(t, data[int32](t, made), []int32{100, 1, 2, 3, 4, 5})
		t.Log(name)
	}
	same := must(buffer.To(device, nil))(t)
	check(t, SetAt[int32](same, 7, 1, 2))
	equal(t, must(At[int32](buffer, 1, 2))(t), int32(7))
}

func TestCopyBetweenBuffers(t *testing.T) {
	noLeaks(t)
	to, from := counted(t, 4), vector[int32](t, 9, 8, 7, 6)
	check(t, to.CopyBytesFrom(4, from, 8, 8, nil))
	equal(t, data[int32](t, to), []int32{0, 7, 6, 3})
	check(t, to.CopyFrom(from, nil))
	equal(t, data[int32](t, to), []int32{9, 8, 7, 6})
	fails(t, to.CopyBytesFrom(8, from, 0, 12, nil), ErrOutOfRange, "12")
	fails(t, to.CopyBytesFrom(-1, from, 0, 1, nil), ErrOutOfRange, "-1")
	fails(t, to.CopyBytesFrom(0, from, 0, -4, nil), ErrOutOfRange, "-4")
	fails(t, to.CopyFrom(vector[int32](t, 1), nil), ErrInvalidArgument, "4 bytes")
	fails(t, to.CopyFrom(nil, nil), ErrInvalidArgument, "the buffer is nil")
}

func TestCopySlices(t *testing.T) {
	noLeaks(t)
	buffer := counted(t, 5)
	check(t, CopyFromHost(buffer, 1, []int32{10, 20}, nil))
	found := make([]int32, 3)
	check(t, CopyToHost(buffer, 0, found, nil))
	equal(t, found, []int32{0, 10, 20})
	check(t, CopyToHost[int32](buffer, 5, nil, nil))
	fails(t, CopyFromHost(buffer, 4, []int32{1, 2}, nil), ErrOutOfRange, "")
	fails(t, CopyToHost(buffer, 6, found[:1], nil), ErrOutOfRange, "6")
	fails(t, CopyToHost(buffer, -1, found, nil), ErrOutOfRange, "-1")
}

func TestCopyAsynchronously(t *testing.T) {
	noLeaks(t)
	stream := must(NewStream(nil, nil))(t)
	buffer := must(NewBuffer(nil, DTypeInt32, []int64{1 << 16}, &BufferOptions{Stream: stream, Zeroed: true}))(t)
	values, found := make([]int32, 1<<16), make([]int32, 1<<16)
	for i := range values {
		values[i] = int32(3 * i)
	}
	check(t, CopyFromHostAsync(buffer, 0, values, stream))
	check(t, CopyToHostAsync(buffer, 0, found, nil))
	check(t, stream.Synchronize(background))
	equal(t, found, values)
	check(t, CopyToHostAsync(buffer, 1, found[:3], stream))
	check(t, stream.Synchronize(background))
	equal(t, found[:3], []int32{3, 6, 9})
	fails(t, CopyFromHostAsync(buffer, 1<<16-1, values[:2], stream), ErrOutOfRange, "")
	fails(t, CopyToHostAsync(buffer, -1, found, stream), ErrOutOfRange, "-1")
	fails(t, CopyFromHostAsync(buffer, 1<<62, values, stream), ErrOutOfRange, "4611686018427387904")
	fails(t, CopyToHostAsync(buffer, 1<<62, found, stream), ErrOutOfRange, "4611686018427387904")
	fails(t, CopyFromHostAsync(buffer, 0, []float32{1}, stream), ErrInvalidArgument, "float32")
	fails(t, CopyToHostAsync(buffer, 0, []int64{1}, stream), ErrInvalidArgument, "int64")
	fails(t, CopyToHostAsync[int32](nil, 0, nil, nil), ErrInvalidArgument, "the buffer is nil")
}

func TestCopyMemory(t *testing.T) {
	noLeaks(t)
	memory, stream := must(NewHostMemory(nil, 16))(t), must(must(NewCPU())(t).DefaultStream())(t)
	check(t, memory.Use(func(bytes []byte) error {
		copy(bytes, "abcd")
		check(t, CopyMemory(unsafe.Pointer(&bytes[8]), unsafe.Pointer(&bytes[0]), 4, HostToHost, stream))
		equal(t, string(bytes[8:12]), "abcd")
		fails(t, CopyMemory(unsafe.Pointer(&bytes[1]), unsafe.Pointer(&bytes[0]), 4, HostToHost, stream), ErrInvalidArgument, "overlap")
		return nil
	}))
	fails(t, CopyMemory(nil, nil, 4, HostToDevice, stream), ErrInvalidArgument, "NULL")
	fails(t, CopyMemory(nil, nil, -4, DeviceToHost, stream), ErrOutOfRange, "-4")
}
