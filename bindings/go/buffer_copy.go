// SPDX-License-Identifier: Apache-2.0

package max

import "unsafe"

// CopyOptions of functions that copy a buffer.
type CopyOptions struct {
	// Stream that copies and that the result is bound to; nil = see the function.
	Stream *Stream
}

func (a *arena) copyOptions(options *CopyOptions) *maxBufferCopyOptions {
	given := &maxBufferCopyOptions{structSize: unsafe.Sizeof(maxBufferCopyOptions{})}
	if options != nil {
		given.stream = held[maxStream](a, options.Stream, options.Stream != nil)
	}
	return given
}

// derive makes a buffer of a buffer.
func (b *Buffer) derive(function func(raw *maxBuffer, a *arena, out **maxBuffer) error) (*Buffer, error) {
	var a arena
	defer a.end()
	raw := held[maxBuffer](&a, b, true)
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxBuffer) error { return function(raw, &a, out) }, newBuffer)
}

// Contiguous makes a copy without gaps on the buffer's own device, by default with its stream.
func (b *Buffer) Contiguous(options *CopyOptions) (*Buffer, error) {
	return b.derive(func(raw *maxBuffer, a *arena, out **maxBuffer) error {
		given := a.copyOptions(options)
		if a.err != nil {
			return a.err
		}
		return maxBufferContiguous(raw, given, out)
	})
}

// Clone makes a copy without gaps on a device; nil = the stream's or the buffer's own. It is always new memory.
func (b *Buffer) Clone(device *Device, options *CopyOptions) (*Buffer, error) {
	return b.derive(func(raw *maxBuffer, a *arena, out **maxBuffer) error {
		given, target := a.copyOptions(options), held[maxDevice](a, device, device != nil)
		if a.err != nil {
			return a.err
		}
		return maxBufferClone(raw, target, given, out)
	})
}

// To gives the buffer on a device: itself if it is there already, else a copy. A nil device is the stream's or the host.
func (b *Buffer) To(device *Device, options *CopyOptions) (*Buffer, error) {
	return b.derive(func(raw *maxBuffer, a *arena, out **maxBuffer) error {
		given, target := a.copyOptions(options), held[maxDevice](a, device, device != nil)
		if a.err != nil {
			return a.err
		}
		return maxBufferTo(raw, target, given, out)
	})
}

// View makes a view of the same memory with another type and shape, of which one dimension may be -1. A nil shape is the
// buffer's, with the last dimension scaled by the ratio of the element sizes.
func (b *Buffer) View(dtype DType, shape []int64) (*Buffer, error) {
	return b.derive(func(raw *maxBuffer, a *arena, out **maxBuffer) error {
		rank, dimensions := a.shape(shape)
		if shape == nil {
			rank = -1
		}
		if a.err != nil {
			return a.err
		}
		return maxBufferView(raw, dtype, rank, dimensions, out)
	})
}

// CopyFrom copies another buffer's elements, of as many bytes, in stream order; nil = this buffer's stream.
func (b *Buffer) CopyFrom(source *Buffer, stream *Stream) error {
	mine, err := b.Info()
	if err != nil {
		return err
	}
	other, err := source.Info()
	if err != nil {
		return err
	}
	if mine.ByteCount != other.ByteCount {
		return invalid("a buffer of %d bytes cannot be filled from one of %d bytes", mine.ByteCount, other.ByteCount)
	}
	return b.CopyBytesFrom(0, source, 0, mine.ByteCount, stream)
}

// CopyBytesFrom copies bytes between two contiguous buffers, in stream order; nil = this buffer's stream.
func (b *Buffer) CopyBytesFrom(offset int, source *Buffer, sourceOffset, byteCount int, stream *Stream) error {
	var a arena
	defer a.end()
	to, from := held[maxBuffer](&a, b, true), held[maxBuffer](&a, source, true)
	queue := held[maxStream](&a, stream, stream != nil)
	first, second, size := a.size("offset", offset), a.size("offset", sourceOffset), a.size("size", byteCount)
	if a.err != nil {
		return a.err
	}
	return maxBufferCopy(to, first, from, second, size, queue)
}

// size is a number of bytes or elements that must not be negative.
func (a *arena) size(what string, value int) uintptr {
	if value < 0 {
		a.fail(errorf(StatusOutOfRange, "the %s %d is negative", what, value))
		return 0
	}
	return uintptr(value)
}

// CopyFromHost copies a slice into a contiguous buffer from an element on, in stream order, and returns when it is there.
func CopyFromHost[T Element](buffer *Buffer, offset int, data []T, stream *Stream) error {
	return copyHost[T](buffer, offset, stream, func(raw *maxBuffer, start uintptr, queue *maxStream) error {
		return maxBufferCopyFromHost(raw, start, unsafe.Pointer(unsafe.SliceData(data)), bytesOf(data), queue)
	})
}

// CopyToHost copies elements of a contiguous buffer, from one on, into a slice, in stream order, and returns when they are
// there.
func CopyToHost[T Element](buffer *Buffer, offset int, data []T, stream *Stream) error {
	return copyHost[T](buffer, offset, stream, func(raw *maxBuffer, start uintptr, queue *maxStream) error {
		return maxBufferCopyToHost(raw, start, unsafe.Pointer(unsafe.SliceData(data)), bytesOf(data), queue)
	})
}

func bytesOf[T Element](data []T) uintptr { return uintptr(len(data) * sizeOf[T]()) }

func copyHost[T Element](buffer *Buffer, offset int, stream *Stream, function func(*maxBuffer, uintptr, *maxStream) error) error {
	var a arena
	defer a.end()
	raw, start := held[maxBuffer](&a, buffer, true), a.size("offset", offset)
	queue := held[maxStream](&a, stream, stream != nil)
	if a.err != nil {
		return a.err
	}
	if err := checkOffset[T](raw, offset); err != nil {
		return err
	}
	return function(raw, start*uintptr(sizeOf[T]()), queue)
}

// checkOffset makes sure that a buffer has elements of this type, and that one lies at the offset or ends there.
func checkOffset[T Element](raw *maxBuffer, offset int) error {
	info, err := reportOn(raw)
	if err == nil {
		err = checkType[T](info.dtype)
	}
	if err == nil && (offset < 0 || int64(offset) > info.elementCount) {
		err = errorf(StatusOutOfRange, "offset %d is out of range for a buffer of %d elements", offset, info.elementCount)
	}
	return err
}

// CopyFromHostAsync is CopyFromHost that does not wait: the slice is pinned until it has been copied, and must not be
// changed before.
func CopyFromHostAsync[T Element](buffer *Buffer, offset int, data []T, stream *Stream) error {
	if err := perform(buffer, func(raw *maxBuffer) error { return checkOffset[T](raw, offset) }); err != nil {
		return err
	}
	return withWrapped(data, true, func(host *Buffer) error {
		return buffer.CopyBytesFrom(offset*sizeOf[T](), host, 0, int(bytesOf(data)), stream)
	})
}

// CopyToHostAsync is CopyToHost that does not wait: the slice is pinned until it has been filled, and must not be used
// before the stream has been synchronized.
func CopyToHostAsync[T Element](buffer *Buffer, offset int, data []T, stream *Stream) error {
	if err := perform(buffer, func(raw *maxBuffer) error { return checkOffset[T](raw, offset) }); err != nil {
		return err
	}
	if stream == nil {
		found, err := buffer.Stream()
		if err != nil {
			return err
		}
		defer found.handle.close()
		stream = found
	}
	return withWrapped(data, false, func(host *Buffer) error {
		return host.CopyBytesFrom(0, buffer, offset*sizeOf[T](), int(bytesOf(data)), stream)
	})
}

// withWrapped lends a slice as a buffer; queued work holds it longer.
func withWrapped[T Element](data []T, readOnly bool, function func(host *Buffer) error) error {
	host, err := WrapSlice([]int64{int64(len(data))}, data, &WrapOptions{ReadOnly: readOnly})
	if err != nil {
		return err
	}
	defer host.handle.close()
	return function(host)
}

// CopyDirection of CopyMemory.
type CopyDirection int32

const (
	// HostToHost is from host memory to host memory.
	HostToHost CopyDirection = max_COPY_KIND_HOST_TO_HOST
	// HostToDevice is from host memory to device memory.
	HostToDevice CopyDirection = max_COPY_KIND_HOST_TO_DEVICE
	// DeviceToHost is from device memory to host memory.
	DeviceToHost CopyDirection = max_COPY_KIND_DEVICE_TO_HOST
	// DeviceToDevice is from device memory to device memory.
	DeviceToDevice CopyDirection = max_COPY_KIND_DEVICE_TO_DEVICE
)

// CopyMemory copies bytes between two addresses, in stream order. Both ranges must stay as they are until it is done, which
// memory of Go does only while it is pinned.
func CopyMemory(destination, source unsafe.Pointer, byteCount int, direction CopyDirection, stream *Stream) error {
	var a arena
	defer a.end()
	queue, size := held[maxStream](&a, stream, stream != nil), a.size("size", byteCount)
	if a.err != nil {
		return a.err
	}
	return maxMemoryCopy(destination, source, size, int32(direction), queue)
}

// Fill writes one value into every element, in stream order; nil = the buffer's stream.
func Fill[T Element](buffer *Buffer, value T, stream *Stream) error {
	var a arena
	defer a.end()
	raw, queue := held[maxBuffer](&a, buffer, true), held[maxStream](&a, stream, stream != nil)
	if a.err != nil {
		return a.err
	}
	info, err := reportOn(raw)
	if err == nil {
		err = checkType[T](info.dtype)
	}
	if err != nil {
		return err
	}
	pattern := value
	return maxBufferFill(raw, unsafe.Pointer(&pattern), uintptr(sizeOf[T]()), queue)
}
