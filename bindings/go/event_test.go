// SPDX-License-Identifier: Apache-2.0

package max

import (
	"testing"
	"time"
)

func TestEvent(t *testing.T) {
	noLeaks(t)
	stream := must(NewStream(nil, nil))(t)
	begin, end := must(NewEvent(nil, &EventOptions{Timing: true}))(t), must(NewEvent(nil, &EventOptions{Timing: true}))(t)
	equal(t, must(begin.IsReady())(t), true)
	hold := make(chan struct{})
	check(t, stream.RecordEvent(begin))
	check(t, stream.EnqueueFunc(func(error) { <-hold }))
	check(t, stream.RecordEvent(end))
	check(t, begin.Synchronize(background))
	equal(t, must(end.IsReady())(t), false)
	time.Sleep(10 * time.Millisecond)
	close(hold)
	check(t, end.Synchronize(background))
	if elapsed := must(begin.Elapsed(end))(t); elapsed < 10*time.Millisecond {
		t.Errorf("%v", elapsed)
	}
	equal(t, must(must(begin.Device())(t).Label())(t), "cpu")
}

func TestEventErrors(t *testing.T) {
	noLeaks(t)
	plain, timed := must(NewEvent(nil, nil))(t), must(NewEvent(nil, &EventOptions{Timing: true}))(t)
	_, err := plain.Elapsed(timed)
	fails(t, err, ErrFailedPrecondition, "")
	_, err = timed.Elapsed(nil)
	fails(t, err, ErrInvalidArgument, "the event is nil")
	_, err = timed.Elapsed(timed)
	fails(t, err, ErrFailedPrecondition, "")
}
