// SPDX-License-Identifier: Apache-2.0

package max

import (
	"errors"
	"testing"
)

func TestMapping(t *testing.T) {
	noLeaks(t)
	buffer := counted(t, 4)
	check(t, Map(buffer, ReadWrite, func(values []int32) error { values[2] = 20; return nil }))
	check(t, Map(buffer, Write|Exclusive, func(values []int32) error { values[3] = 30; return nil }))
	check(t, Map(buffer, Read, func(values []int32) error {
		equal(t, values, []int32{0, 1, 20, 30})
		fails(t, Fill[int32](buffer, 0, nil), ErrFailedPrecondition, "mapped")
		fails(t, Map(buffer, Read, func([]int32) error { return nil }), ErrFailedPrecondition, "mapped")
		return nil
	}))
	check(t, Fill[int32](buffer, 0, nil))
}

func TestMappingEndsWithItsFunction(t *testing.T) {
	noLeaks(t)
	buffer, mine := counted(t, 4), errors.New("mine")
	if err := Map(buffer, Read, func([]int32) error { return mine }); err != mine {
		t.Errorf("%v", err)
	}
	func() {
		defer func() { equal(t, recover(), "panic") }()
		_ = Map(buffer, Read, func([]int32) error { panic("panic") })
	}()
	check(t, Fill[int32](buffer, 0, nil)) // neither left it mapped
}

func TestMappingOutlivesClose(t *testing.T) {
	noLeaks(t)
	buffer := counted(t, 4)
	check(t, Map(buffer, Read, func(values []int32) error {
		check(t, buffer.Close())
		equal(t, values[3], int32(3))
		return nil
	}))
	fails(t, Map(buffer, Read, func([]int32) error { return nil }), ErrFailedPrecondition, "the buffer is closed")
	equal(t, must(LiveObjects())(t), 0)
}

func TestMappingErrors(t *testing.T) {
	noLeaks(t)
	buffer := counted(t, 2, 2)
	column := must(buffer.Slice(All(), Index(0)))(t)
	nothing := func([]int32) error { return nil }
	fails(t, Map(column, Read, nothing), ErrFailedPrecondition, "contiguous")
	fails(t, Map(buffer, Read|Exclusive, nothing), ErrFailedPrecondition, "")
	fails(t, Map(buffer, 0, nothing), ErrInvalidArgument, "")
	fails(t, Map[int32](buffer, Read, nil), ErrInvalidArgument, "the function is nil")
	fails(t, buffer.Bytes(nil), ErrInvalidArgument, "the function is nil")
	fails(t, buffer.MutableBytes(nil), ErrInvalidArgument, "the function is nil")
}
