// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"errors"
	"sync"
	"time"
	"unsafe"
)

// A cancellation is how a context reaches a call of the library.
type cancellation struct{ handle handle }

var cancellationClass = newClass("cancellation", maxCancellationRelease)

// Cancellations that no context has cancelled wait for the next call: to make one and to release it are two crossings.
const mostSpare = 64

var spare struct {
	sync.Mutex
	list []*cancellation
}

func takeCancellation() (*cancellation, error) {
	spare.Lock()
	defer spare.Unlock()
	last := len(spare.list) - 1
	if last < 0 {
		return newCancellation()
	}
	taken := spare.list[last]
	spare.list = spare.list[:last]
	return taken, nil
}

func (c *cancellation) giveBack() {
	spare.Lock()
	defer spare.Unlock()
	if len(spare.list) == mostSpare {
		c.handle.close()
		return
	}
	spare.list = append(spare.list, c)
}

func spareCount() int64 {
	spare.Lock()
	defer spare.Unlock()
	return int64(len(spare.list))
}

func newCancellation() (*cancellation, error) {
	return create(maxCancellationCreate, func(raw *maxCancellation) *cancellation {
		return &cancellation{cancellationClass.open(unsafe.Pointer(raw))}
	})
}

func (c *cancellation) use() (*maxCancellation, error) {
	return use[maxCancellation](&c.handle, cancellationClass)
}

func (c *cancellation) done() { c.handle.leave() }

// A limit is what a context means for one call: the time that is left, and what stops the call when the context ends.
type limit struct {
	timeout int64
	raw     *maxCancellation
	held    *cancellation
	stop    func() bool
}

// limitOf looks at a context. One that cannot end costs nothing.
func limitOf(ctx context.Context) (limit, error) {
	if ctx == nil {
		return limit{}, invalid("the context is nil")
	}
	if ctx.Done() == nil {
		return limit{}, nil
	}
	return limitOfEnding(ctx)
}

func limitOfEnding(ctx context.Context) (limit, error) {
	if ctx.Err() != nil {
		return limit{}, contextError(ctx)
	}
	var found limit
	if deadline, ok := ctx.Deadline(); ok {
		if found.timeout = int64(time.Until(deadline)); found.timeout <= 0 {
			return limit{}, &Error{StatusDeadlineExceeded, "the context's deadline has passed", context.DeadlineExceeded}
		}
	}
	var err error
	if found.held, err = takeCancellation(); err != nil {
		return limit{}, err
	}
	held := found.held
	found.raw, _ = held.use() // it is never closed
	found.stop = context.AfterFunc(ctx, func() { _ = perform(held, maxCancellationCancel) })
	return found, nil
}

func (l *limit) end() {
	if l.held == nil {
		return
	}
	isUnused := l.stop()
	l.held.done()
	if isUnused {
		l.held.giveBack()
	} else {
		l.held.handle.close()
	}
}

// outlive leaves the cancellation in force until the work now on a stream is done.
func (l *limit) outlive(stream *Stream) {
	if l.held == nil {
		return
	}
	kept := *l
	if stream.EnqueueFunc(func(error) { kept.end() }) != nil {
		kept.end() // the stream has failed, so nothing of the call will run
	}
	l.held = nil
}

// contextError is the failure of a call that its context did not let begin or go on.
func contextError(ctx context.Context) error {
	return &Error{Status: contextStatus(ctx), Message: "the context has ended: " + ctx.Err().Error(), cause: ctx.Err()}
}

func contextStatus(ctx context.Context) Status {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return StatusDeadlineExceeded
	}
	return StatusCancelled
}
