// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"time"
	"unsafe"
)

// Event is a mark in a stream that can be waited for and timed. One that was never recorded counts as done.
type Event struct{ handle handle }

var eventClass = newClass("event", maxEventRelease)

func newEvent(raw *maxEvent) *Event { return &Event{eventClass.open(unsafe.Pointer(raw))} }

func (e *Event) use() (*maxEvent, error) {
	if e == nil {
		return use[maxEvent](nil, eventClass)
	}
	return use[maxEvent](&e.handle, eventClass)
}

func (e *Event) done() { e.handle.leave() }

// Close drops the reference. It never fails.
func (e *Event) Close() error {
	if e != nil {
		e.handle.close()
	}
	return nil
}

// EventOptions of NewEvent.
type EventOptions struct {
	// Timing remembers the time, for Elapsed.
	Timing bool
}

// NewEvent makes an event for streams of a device.
func NewEvent(device *Device, options *EventOptions) (*Event, error) {
	var a arena
	defer a.end()
	raw := held[maxDevice](&a, device, device != nil)
	if a.err != nil {
		return nil, a.err
	}
	given := &maxEventOptions{structSize: unsafe.Sizeof(maxEventOptions{})}
	if options != nil {
		given.timing = flag(options.Timing)
	}
	return create(func(out **maxEvent) error { return maxEventCreate(raw, given, out) }, newEvent)
}

// Device returns the device that the event was made for.
func (e *Event) Device() (*Device, error) {
	return queryObject(e, maxEventGetDevice, maxDeviceRetain, newDevice)
}

// Synchronize waits until the event's newest mark is done, or the context is.
func (e *Event) Synchronize(ctx context.Context) error {
	return perform(e, func(raw *maxEvent) error {
		return wait(ctx, func(timeout int64) error { return maxEventSynchronize(raw, timeout) })
	})
}

// IsReady tells, without waiting, whether the event's newest mark is done.
func (e *Event) IsReady() (bool, error) { return queryBool(e, maxEventQuery) }

// Elapsed returns the time between this event and a later one, both of which are done.
func (e *Event) Elapsed(end *Event) (time.Duration, error) {
	nanoseconds, err := query(e, func(raw *maxEvent, value *int64) error {
		return perform(end, func(other *maxEvent) error { return maxEventGetElapsedTime(raw, other, value) })
	})
	return time.Duration(nanoseconds), err
}
