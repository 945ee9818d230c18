// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// The longest that a wait does not look at its context. An odd number, by which the message of a wait that has taken
// this long is told apart from that of work that failed at its own deadline.
const waitStep = 5*time.Millisecond + 11

var waitStepText = strconv.FormatInt(int64(waitStep), 10) + " ns"

// wait waits with a function that takes a limit in nanoseconds, 0 for none, until the context ends it.
func wait(ctx context.Context, function func(timeout int64) error) error {
	if ctx == nil {
		return invalid("the context is nil")
	}
	if ctx.Done() == nil {
		return function(0)
	}
	for {
		if ctx.Err() != nil {
			return contextError(ctx)
		}
		err := function(int64(waitStep))
		if StatusOf(err) != StatusDeadlineExceeded || !strings.Contains(err.Error(), waitStepText) {
			return err
		}
	}
}
