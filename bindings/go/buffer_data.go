// SPDX-License-Identifier: Apache-2.0

package max

import (
	"unsafe"
)

// Data returns a copy of the elements in row-major order, wherever the buffer is and however it is strided. It waits for
// work with the buffer.
func Data[T Element](buffer *Buffer) ([]T, error) {
	dense, info, err := denseOf[T](buffer)
	if err != nil {
		return nil, err
	}
	if dense != buffer {
		defer dense.handle.close()
	}
	data := make([]T, info.ElementCount)
	return data, CopyToHost(dense, 0, data, nil)
}

// denseOf is the buffer itself, or a copy of it without gaps.
func denseOf[T Element](buffer *Buffer) (*Buffer, BufferInfo, error) {
	info, err := buffer.Info()
	if err != nil {
		return nil, info, err
	}
	if err := checkType[T](info.DType); err != nil || info.IsContiguous {
		return buffer, info, err
	}
	dense, err := buffer.Contiguous(nil)
	return dense, info, err
}

func checkType[T Element](dtype DType) error {
	if dtype != DTypeOf[T]() {
		var zero T
		return invalid("a buffer of %v has no elements of Go's type %T, which is %v", dtype, zero, DTypeOf[T]())
	}
	return nil
}

// Float32s is Data[float32].
func (b *Buffer) Float32s() ([]float32, error) { return Data[float32](b) }

// Int64s is Data[int64].
func (b *Buffer) Int64s() ([]int64, error) { return Data[int64](b) }

// Access is what a function does with mapped memory.
type Access int32

const (
	// Read does not change the memory.
	Read Access = max_HOST_ACCESS_READ
	// Write fills the memory; what is not written is undefined.
	Write Access = max_HOST_ACCESS_WRITE
	// ReadWrite changes the memory.
	ReadWrite Access = max_HOST_ACCESS_READ | max_HOST_ACCESS_WRITE
	// Exclusive is added to the others: nothing else may hold the memory.
	Exclusive Access = max_HOST_ACCESS_EXCLUSIVE
)

// Map calls a function with the buffer's memory, or a copy of it where the host cannot reach it. The slice is valid until
// the function returns, and what it wrote is then in the buffer. Meanwhile whatever else would write the memory through
// the library is refused.
func Map[T Element](buffer *Buffer, access Access, function func(data []T) error) error {
	if function == nil {
		return invalid("the function is nil")
	}
	return perform(buffer, func(raw *maxBuffer) error {
		info, err := reportOn(raw)
		if err == nil {
			err = checkType[T](info.dtype)
		}
		if err != nil {
			return err
		}
		count := int(info.elementCount)
		address := new(unsafe.Pointer)
		if err := maxBufferMapToHost(raw, int32(access), address); err != nil {
			return err
		}
		return mapped(raw, func() error { return function(lent((*T)(*address), count)) })
	})
}

// mapped runs a function on mapped memory, which is unmapped even if it panics.
func mapped(raw *maxBuffer, function func() error) (err error) {
	defer func() {
		if failure := maxBufferUnmapFromHost(raw); err == nil {
			err = failure
		}
	}()
	return function()
}

// Bytes calls a function with the buffer's memory as bytes, without a wait and without the refusals of Map. The memory
// must not be written, and is valid until the function returns.
func (b *Buffer) Bytes(function func(memory []byte) error) error {
	return b.lend(maxBufferGetData, function)
}

// MutableBytes is Bytes for memory that may be written.
func (b *Buffer) MutableBytes(function func(memory []byte) error) error {
	return b.lend(maxBufferGetMutableData, function)
}

// lend calls a function with the memory from an address of the buffer on.
func (b *Buffer) lend(addressOf func(*maxBuffer, *unsafe.Pointer) error, function func(memory []byte) error) error {
	if function == nil {
		return invalid("the function is nil")
	}
	return perform(b, func(raw *maxBuffer) error {
		info, err := reportOn(raw)
		if err != nil {
			return err
		}
		address := new(unsafe.Pointer)
		if err := addressOf(raw, address); err != nil {
			return err
		}
		return function(lent((*byte)(*address), spanOf(info)))
	})
}

// spanOf is the number of bytes from the first element's address that the buffer's elements lie in; views that run
// backwards have their first element alone.
func spanOf(info *maxBufferInfo) int {
	if info.flags&max_BUFFER_FLAG_CONTIGUOUS != 0 || info.elementCount == 0 {
		return int(info.byteCount)
	}
	last := int64(0)
	shape, strides := lent(info.shape, int(info.rank)), lent(info.strides, int(info.rank))
	for i, stride := range strides {
		if stride < 0 {
			return int(info.elementSize)
		}
		last += stride * (shape[i] - 1)
	}
	return int(last+1) * int(info.elementSize)
}

// At reads one element. Negative indices count from the end. It waits for work with the buffer.
func At[T Element](buffer *Buffer, indices ...int64) (T, error) {
	return query(buffer, func(raw *maxBuffer, value *T) error {
		info, err := reportOn(raw)
		if err == nil {
			err = checkType[T](info.dtype)
		}
		if err != nil {
			return err
		}
		return maxBufferRead(raw, unsafe.SliceData(indices), int32(len(indices)), uintptr(sizeOf[T]()), unsafe.Pointer(value))
	})
}

// SetAt writes one element. Negative indices count from the end. It waits for work with the buffer.
func SetAt[T Element](buffer *Buffer, value T, indices ...int64) error {
	return perform(buffer, func(raw *maxBuffer) error {
		info, err := reportOn(raw)
		if err == nil {
			err = checkType[T](info.dtype)
		}
		if err != nil {
			return err
		}
		element := value
		return maxBufferWrite(raw, unsafe.SliceData(indices), int32(len(indices)), unsafe.Pointer(&element), uintptr(sizeOf[T]()))
	})
}

// NewStringBuffer makes a buffer of the host of strings, which may hold any bytes.
func NewStringBuffer(shape []int64, values []string) (*Buffer, error) {
	if err := checkLength(shape, len(values)); err != nil {
		return nil, err
	}
	var a arena
	defer a.end()
	offsets := make([]int64, 1, len(values)+1)
	var bytes []byte
	for _, value := range values {
		bytes = append(bytes, value...)
		offsets = append(offsets, int64(len(bytes)))
	}
	rank, dimensions := a.shape(shape)
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxBuffer) error {
		return maxBufferCreateStringsFromBytes(nil, unsafe.Pointer(unsafe.SliceData(bytes)), uintptr(len(bytes)),
			&offsets[0], rank, dimensions, out)
	}, newBuffer)
}

// Strings returns the elements of a buffer of strings.
func (b *Buffer) Strings() ([]string, error) {
	return query(b, func(raw *maxBuffer, values *[]string) error {
		info, err := reportOn(raw)
		if err != nil {
			return err
		}
		if info.dtype != DTypeString {
			return invalid("a buffer of %v has no strings", info.dtype)
		}
		count := info.elementCount
		texts, lengths := make([]*byte, count), make([]uintptr, count)
		if err := maxBufferGetStrings(raw, 0, count, unsafe.SliceData(texts), unsafe.SliceData(lengths)); err != nil {
			return err
		}
		*values = make([]string, count)
		for i, text := range texts {
			(*values)[i] = string(lent(text, int(lengths[i])))
		}
		return nil
	})
}
