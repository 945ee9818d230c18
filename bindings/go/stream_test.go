// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"errors"
	"testing"
	"time"
	"unsafe"
)

func TestStreamOrder(t *testing.T) {
	noLeaks(t)
	stream := must(NewStream(nil, &StreamOptions{Priority: 1}))(t)
	equal(t, must(stream.IsDefault())(t), false)
	var order []int
	for i := range 100 {
		check(t, stream.EnqueueFunc(func(err error) {
			if err == nil {
				order = append(order, i)
			}
		}))
	}
	check(t, stream.Synchronize(background))
	equal(t, len(order), 100)
	for i, found := range order {
		equal(t, found, i)
	}
}

func TestStreamWaits(t *testing.T) {
	noLeaks(t)
	device := must(NewCPU())(t)
	first, second, event := must(NewStream(device, nil))(t), must(NewStream(device, nil))(t), must(NewEvent(device, nil))(t)
	value := 0
	check(t, first.EnqueueFunc(func(error) { time.Sleep(20 * time.Millisecond); value = 1 }))
	check(t, second.WaitForStream(first))
	check(t, second.EnqueueFunc(func(error) { value *= 10 }))
	check(t, second.RecordEvent(event))
	check(t, first.WaitForEvent(event))
	check(t, first.WaitForDevice(device))
	check(t, first.EnqueueFunc(func(error) { value++ }))
	check(t, first.Synchronize(background))
	equal(t, value, 11)
	check(t, device.Synchronize(background))
}

func TestStreamSynchronizeEndsWithTheContext(t *testing.T) {
	noLeaks(t)
	device := must(NewCPU())(t)
	stream, event := must(NewStream(device, nil))(t), must(NewEvent(device, nil))(t)
	hold := make(chan struct{})
	check(t, stream.EnqueueFunc(func(error) { <-hold }))
	check(t, stream.RecordEvent(event))
	for name, wait := range map[string]func(context.Context) error{
		"stream": stream.Synchronize, "event": event.Synchronize, "device": device.Synchronize,
	} {
		ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
		err := wait(ctx)
		fails(t, err, ErrDeadlineExceeded, "")
		equal(t, errors.Is(err, context.DeadlineExceeded), true)
		cancel()
		ctx, cancel = context.WithCancel(background)
		time.AfterFunc(20*time.Millisecond, cancel)
		fails(t, wait(ctx), ErrCancelled, "")
		t.Log(name)
	}
	close(hold)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	check(t, stream.Synchronize(ctx))
}

func TestStreamErrors(t *testing.T) {
	noLeaks(t)
	stream := must(NewStream(nil, nil))(t)
	_, err := stream.Native()
	fails(t, err, ErrUnimplemented, "")
	_, err = WrapStream(nil, unsafe.Pointer(new(int)))
	fails(t, err, ErrUnimplemented, "")
	fails(t, stream.EnqueueFunc(nil), ErrInvalidArgument, "the function is nil")
	fails(t, stream.WaitForStream(nil), ErrInvalidArgument, "the stream is nil")
	fails(t, stream.WaitForEvent(nil), ErrInvalidArgument, "the event is nil")
	fails(t, stream.WaitForDevice(nil), ErrInvalidArgument, "the device is nil")
	check(t, stream.EnqueueFunc(func(error) {
		fails(t, stream.Synchronize(background), ErrFailedPrecondition, "")
	}))
	check(t, stream.Synchronize(background))
	check(t, stream.Close())
	fails(t, stream.EnqueueFunc(func(error) {}), ErrFailedPrecondition, "the stream is closed")
}
