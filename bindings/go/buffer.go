// SPDX-License-Identifier: Apache-2.0

package max

import (
	"math"
	"unsafe"
)

// Buffer is an n-dimensional array in the memory of a device.
type Buffer struct{ handle handle }

var bufferClass = newClass("buffer", maxBufferRelease)

func newBuffer(raw *maxBuffer) *Buffer { return &Buffer{bufferClass.open(unsafe.Pointer(raw))} }

func (b *Buffer) use() (*maxBuffer, error) {
	if b == nil {
		return use[maxBuffer](nil, bufferClass)
	}
	return use[maxBuffer](&b.handle, bufferClass)
}

func (b *Buffer) done() { b.handle.leave() }

// Close drops the reference; views, queued work and models keep the memory as long as they need it. It never fails.
func (b *Buffer) Close() error {
	if b != nil {
		b.handle.close()
	}
	return nil
}

// BufferOptions of NewBuffer.
type BufferOptions struct {
	// Stream that the buffer is bound to; nil = the device's default stream.
	Stream *Stream
	// Alignment in bytes, a power of two; 0 = 64.
	Alignment int
	// Pinned asks for host memory that stays resident; on an accelerator, host memory that it can reach.
	Pinned bool
	// Zeroed fills the buffer with zeros.
	Zeroed bool
}

// NewBuffer allocates a buffer; without Zeroed its contents are undefined. A nil shape is a scalar.
func NewBuffer(device *Device, dtype DType, shape []int64, options *BufferOptions) (*Buffer, error) {
	var a arena
	defer a.end()
	given := &maxBufferOptions{structSize: unsafe.Sizeof(maxBufferOptions{})}
	if options != nil {
		if options.Alignment < 0 {
			return nil, invalid("an alignment of %d bytes is negative", options.Alignment)
		}
		given.stream = held[maxStream](&a, options.Stream, options.Stream != nil)
		given.alignment = uintptr(options.Alignment)
		given.pinned, given.zeroed = flag(options.Pinned), flag(options.Zeroed)
	}
	raw := held[maxDevice](&a, device, device != nil)
	rank, dimensions := a.shape(shape)
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxBuffer) error {
		return maxBufferCreate(raw, dtype, rank, dimensions, given, out)
	}, newBuffer)
}

// NewBufferFrom makes a buffer of the elements of a slice, which is copied: as many as the shape has.
func NewBufferFrom[T Element](device *Device, shape []int64, data []T) (*Buffer, error) {
	if err := checkLength(shape, len(data)); err != nil {
		return nil, err
	}
	buffer, err := NewBuffer(device, DTypeOf[T](), shape, nil)
	if err != nil {
		return nil, err
	}
	if err := CopyFromHost(buffer, 0, data, nil); err != nil {
		_ = buffer.Close()
		return nil, err
	}
	return buffer, nil
}

// checkLength compares a shape with the number of elements that it is given.
func checkLength(shape []int64, length int) error {
	count, err := elementCount(shape)
	if err == nil && count != int64(length) {
		return invalid("a slice of %d elements does not fill the shape %v, which has %d", length, shape, count)
	}
	return err
}

func elementCount(shape []int64) (int64, error) {
	count := int64(1)
	for _, size := range shape {
		if size < 0 {
			return 0, errorf(StatusOutOfRange, "the shape %v has a negative dimension", shape)
		}
		if size != 0 && count > math.MaxInt64/size {
			return 0, errorf(StatusOutOfRange, "the shape %v has too many elements", shape)
		}
		count *= size
	}
	return count, nil
}

// WrapOptions of WrapSlice.
type WrapOptions struct {
	// Strides are the distances between elements along each dimension, in elements; nil = dense.
	Strides []int64
	// ReadOnly makes a buffer that cannot be written.
	ReadOnly bool
}

// WrapSlice makes a buffer of the host that shares the slice's memory, which is pinned until nothing uses it any more:
// the buffer, its views and queued work.
func WrapSlice[T Element](shape []int64, data []T, options *WrapOptions) (*Buffer, error) {
	if options == nil {
		options = &WrapOptions{}
	}
	if err := checkReach(shape, options.Strides, len(data)); err != nil {
		return nil, err
	}
	return wrap(DTypeOf[T](), shape, options.Strides, unsafe.Pointer(unsafe.SliceData(data)), len(data), options.ReadOnly)
}

// checkReach makes sure that all elements of a shape lie within a slice.
func checkReach(shape, strides []int64, length int) error {
	if strides == nil {
		return checkLength(shape, length)
	}
	if len(strides) != len(shape) {
		return invalid("%d strides do not fit the %d dimensions of the shape %v", len(strides), len(shape), shape)
	}
	count, err := elementCount(shape)
	if err != nil || count == 0 {
		return err
	}
	last := int64(0)
	for i, stride := range strides {
		if stride < 0 {
			return errorf(StatusOutOfRange, "the stride %d is negative", stride)
		}
		if shape[i] > 1 && stride > (math.MaxInt64-last)/(shape[i]-1) {
			return errorf(StatusOutOfRange, "the strides %v are too large", strides)
		}
		last += stride * (shape[i] - 1)
	}
	if last >= int64(length) {
		return errorf(StatusOutOfRange, "shape %v with strides %v reaches element %d of a slice of %d", shape, strides, last, length)
	}
	return nil
}

func wrap(dtype DType, shape, strides []int64, data unsafe.Pointer, length int, readOnly bool) (*Buffer, error) {
	var a arena
	defer a.end()
	rank, dimensions := a.shape(shape)
	given := &maxBufferWrapOptions{
		structSize: unsafe.Sizeof(maxBufferWrapOptions{}),
		strides:    pinned(&a, strides),
		readOnly:   flag(readOnly),
	}
	if a.err != nil {
		return nil, a.err
	}
	if length > 0 {
		memory := new(arena)
		memory.pinner.Pin(data)
		given.release, given.userData = releasedCallback(), register(memory.end)
	}
	buffer, err := create(func(out **maxBuffer) error {
		return maxBufferWrap(nil, data, dtype, rank, dimensions, given, out)
	}, newBuffer)
	if end, ok := callbacks.Load(given.userData); err != nil && ok {
		callbacks.Delete(given.userData)
		end.(func())()
	}
	return buffer, err
}

// BufferInfo is a report on a buffer.
type BufferInfo struct {
	DType DType
	// Shape and Strides have an entry per dimension; strides are in elements.
	Shape, Strides []int64
	// ElementCount is 1 for a scalar.
	ElementCount int64
	// ByteCount is what the elements take without gaps, ElementSize what one takes; 0 for strings.
	ByteCount, ElementSize int
	// Address is for kernels and drivers; 0 for strings.
	Address uint64
	// IsContiguous tells whether the elements lie without gaps in row-major order.
	IsContiguous bool
	// IsHost tells whether the buffer belongs to the host, IsPinned whether the memory is page-locked.
	IsHost, IsPinned bool
	// IsReadOnly tells whether this package refuses to write it.
	IsReadOnly bool
}

// Info returns a report on the buffer.
func (b *Buffer) Info() (BufferInfo, error) {
	return query(b, func(raw *maxBuffer, info *BufferInfo) error {
		found, err := reportOn(raw)
		if err != nil {
			return err
		}
		has := func(bit int32) bool { return found.flags&bit != 0 }
		*info = BufferInfo{
			DType:        found.dtype,
			Shape:        append([]int64{}, lent(found.shape, int(found.rank))...),
			Strides:      append([]int64{}, lent(found.strides, int(found.rank))...),
			ElementCount: found.elementCount,
			ByteCount:    int(found.byteCount),
			ElementSize:  int(found.elementSize),
			Address:      found.address,
			IsContiguous: has(max_BUFFER_FLAG_CONTIGUOUS),
			IsHost:       has(max_BUFFER_FLAG_HOST),
			IsPinned:     has(max_BUFFER_FLAG_PINNED),
			IsReadOnly:   has(max_BUFFER_FLAG_READ_ONLY),
		}
		return nil
	})
}

func reportOn(raw *maxBuffer) (*maxBufferInfo, error) {
	info := &maxBufferInfo{structSize: unsafe.Sizeof(maxBufferInfo{})}
	return info, maxBufferGetInfo(raw, info)
}

// Shape returns the number of elements along each dimension.
func (b *Buffer) Shape() ([]int64, error) {
	info, err := b.Info()
	return info.Shape, err
}

// DType returns the element type.
func (b *Buffer) DType() (DType, error) {
	info, err := b.Info()
	return info.DType, err
}

// Device returns the device that holds the buffer.
func (b *Buffer) Device() (*Device, error) {
	return queryObject(b, func(raw *maxBuffer, device **maxDevice) error {
		info, err := reportOn(raw)
		*device = info.device
		return err
	}, maxDeviceRetain, newDevice)
}

// Stream returns the stream that the buffer is bound to.
func (b *Buffer) Stream() (*Stream, error) {
	return queryObject(b, func(raw *maxBuffer, stream **maxStream) error {
		info, err := reportOn(raw)
		*stream = info.stream
		return err
	}, maxStreamRetain, newStream)
}
