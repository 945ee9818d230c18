// SPDX-License-Identifier: Apache-2.0

package max

import "testing"

func counted(t *testing.T, shape ...int64) *Buffer {
	t.Helper()
	count := must(elementCount(shape))(t)
	values := make([]int32, count)
	for i := range values {
		values[i] = int32(i)
	}
	return must(NewBufferFrom(nil, shape, values))(t)
}

func TestSlice(t *testing.T) {
	noLeaks(t)
	buffer := counted(t, 3, 4)
	for name, wanted := range map[string]struct {
		steps  []SliceStep
		shape  []int64
		values []int32
	}{
		"row":      {[]SliceStep{Index(1)}, []int64{4}, []int32{4, 5, 6, 7}},
		"last":     {[]SliceStep{Index(-1), Index(-1)}, []int64{}, []int32{11}},
		"column":   {[]SliceStep{All(), Index(2)}, []int64{3}, []int32{2, 6, 10}},
		"range":    {[]SliceStep{Range(1, 3), Range(0, 2)}, []int64{2, 2}, []int32{4, 5, 8, 9}},
		"ends":     {[]SliceStep{Range(Omitted, 1), Range(2, Omitted)}, []int64{1, 2}, []int32{2, 3}},
		"steps":    {[]SliceStep{Index(0), StepRange(Omitted, Omitted, -1)}, []int64{4}, []int32{3, 2, 1, 0}},
		"ellipsis": {[]SliceStep{Ellipsis(), Index(0)}, []int64{3}, []int32{0, 4, 8}},
		"axis":     {[]SliceStep{NewAxis(), Index(0), Range(0, 1)}, []int64{1, 1}, []int32{0}},
		"clamped":  {[]SliceStep{Range(2, 100), Range(-100, 1)}, []int64{1, 1}, []int32{8}},
		"nothing":  {nil, []int64{3, 4}, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
	} {
		t.Run(name, func(t *testing.T) {
			view := must(buffer.Slice(wanted.steps...))(t)
			equal(t, must(view.Shape())(t), wanted.shape)
			equal(t, data[int32](t, view), wanted.values)
		})
	}
}

func TestSliceSharesMemory(t *testing.T) {
	noLeaks(t)
	buffer := counted(t, 3, 4)
	column := must(buffer.Slice(All(), Index(1)))(t)
	check(t, Fill[int32](column, -1, nil))
	equal(t, data[int32](t, buffer), []int32{0, -1, 2, 3, 4, -1, 6, 7, 8, -1, 10, 11})
	check(t, buffer.Close())
	equal(t, must(At[int32](column, 0))(t), int32(-1))
}

func TestSliceErrors(t *testing.T) {
	noLeaks(t)
	buffer := counted(t, 3, 4)
	_, err := buffer.Slice(Index(3))
	fails(t, err, ErrOutOfRange, "3")
	_, err = buffer.Slice(Index(0), Index(0), Index(0))
	fails(t, err, ErrInvalidArgument, "")
	_, err = buffer.Slice(Ellipsis(), Ellipsis())
	fails(t, err, ErrInvalidArgument, "")
	_, err = buffer.Slice(StepRange(0, 1, 0))
	fails(t, err, ErrInvalidArgument, "")
	_, err = buffer.Slice(make([]SliceStep, 100)...)
	fails(t, err, ErrInvalidArgument, "")
}

func TestView(t *testing.T) {
	noLeaks(t)
	buffer := counted(t, 2, 2)
	equal(t, must(must(buffer.View(DTypeInt32, []int64{4, -1}))(t).Shape())(t), []int64{4, 1})
	equal(t, must(must(buffer.View(DTypeUint8, nil))(t).Shape())(t), []int64{2, 8})
	_, err := buffer.View(DTypeInt32, []int64{5})
	fails(t, err, ErrInvalidArgument, "5")
	column := must(buffer.Slice(All(), Index(0)))(t)
	_, err = column.View(DTypeInt32, []int64{2, 1})
	fails(t, err, ErrFailedPrecondition, "")
}
