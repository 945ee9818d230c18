// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"unsafe"
)

// Stream is a queue whose work runs in order.
type Stream struct{ handle handle }

var streamClass = newClass("stream", maxStreamRelease)

func newStream(raw *maxStream) *Stream { return &Stream{streamClass.open(unsafe.Pointer(raw))} }

func (s *Stream) use() (*maxStream, error) {
	if s == nil {
		return use[maxStream](nil, streamClass)
	}
	return use[maxStream](&s.handle, streamClass)
}

func (s *Stream) done() { s.handle.leave() }

// Close drops the reference; work on the stream is still done, and nothing waits. It never fails.
func (s *Stream) Close() error {
	if s != nil {
		s.handle.close()
	}
	return nil
}

// StreamOptions of NewStream.
type StreamOptions struct {
	// Priority is a hint for accelerators: work on streams of higher priority goes first.
	Priority int32
}

// NewStream makes a stream on a device.
func NewStream(device *Device, options *StreamOptions) (*Stream, error) {
	var a arena
	defer a.end()
	raw := held[maxDevice](&a, device, device != nil)
	if a.err != nil {
		return nil, a.err
	}
	given := &maxStreamOptions{structSize: unsafe.Sizeof(maxStreamOptions{})}
	if options != nil {
		given.priority = options.Priority
	}
	return create(func(out **maxStream) error { return maxStreamCreate(raw, given, out) }, newStream)
}

// WrapStream makes a stream of one of the driver (cudaStream_t, hipStream_t), which stays the caller's.
func WrapStream(device *Device, native unsafe.Pointer) (*Stream, error) {
	var a arena
	defer a.end()
	raw := held[maxDevice](&a, device, device != nil)
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxStream) error { return maxStreamWrap(raw, native, out) }, newStream)
}

// Device returns the device of the stream.
func (s *Stream) Device() (*Device, error) {
	return queryObject(s, maxStreamGetDevice, maxDeviceRetain, newDevice)
}

// IsDefault tells whether this is the default stream of its device.
func (s *Stream) IsDefault() (bool, error) { return queryBool(s, maxStreamIsDefault) }

// Native returns the driver's stream, which is valid while this one is.
func (s *Stream) Native() (unsafe.Pointer, error) { return query(s, maxStreamGetNative) }

// Synchronize waits until all work on the stream is done, or the context is. A failure of earlier work is returned once.
func (s *Stream) Synchronize(ctx context.Context) error {
	return perform(s, func(raw *maxStream) error {
		return wait(ctx, func(timeout int64) error { return maxStreamSynchronize(raw, timeout) })
	})
}

// WaitForStream makes later work wait for all work that is now on another stream.
func (s *Stream) WaitForStream(other *Stream) error {
	return perform(s, func(raw *maxStream) error {
		return perform(other, func(first *maxStream) error { return maxStreamWaitForStream(raw, first) })
	})
}

// WaitForDevice makes later work wait for all work that is now on a device's default stream.
func (s *Stream) WaitForDevice(device *Device) error {
	return perform(s, func(raw *maxStream) error {
		return perform(device, func(first *maxDevice) error { return maxStreamWaitForDevice(raw, first) })
	})
}

// WaitForEvent makes later work wait for the newest mark of an event.
func (s *Stream) WaitForEvent(event *Event) error {
	return perform(s, func(raw *maxStream) error {
		return perform(event, func(first *maxEvent) error { return maxStreamWaitForEvent(raw, first) })
	})
}

// RecordEvent records an event: it is done when all work now on the stream is done.
func (s *Stream) RecordEvent(event *Event) error {
	return perform(s, func(raw *maxStream) error {
		return perform(event, func(mark *maxEvent) error { return maxStreamRecordEvent(raw, mark) })
	})
}

// EnqueueFunc calls a function when all work now on the stream is done; with the failure of that work, if it failed. The
// function may use this package, but must not wait for its own stream. It runs on a thread of the library.
func (s *Stream) EnqueueFunc(function func(err error)) error {
	if function == nil {
		return invalid("the function is nil")
	}
	return perform(s, func(raw *maxStream) error {
		number := register(function)
		err := maxStreamEnqueueHostFunction(raw, hostCallback(), number)
		if err != nil {
			callbacks.Delete(number)
		}
		return err
	})
}
