// SPDX-License-Identifier: Apache-2.0

package max

// SliceStep is one step of slicing, as between the brackets of numpy.
type SliceStep struct {
	kind              int32
	start, stop, step int64
}

// Omitted leaves an end of a range out.
const Omitted = int64(max_SLICE_OMITTED)

// Index picks one element, and the dimension goes away. Negative indices count from the end.
func Index(index int64) SliceStep {
	return SliceStep{max_SLICE_KIND_INDEX, index, Omitted, Omitted}
}

// Range takes the elements from start to stop, which is not included. Ends that lie outside are clamped.
func Range(start, stop int64) SliceStep { return StepRange(start, stop, Omitted) }

// StepRange is Range in steps, which may be negative.
func StepRange(start, stop, step int64) SliceStep {
	return SliceStep{max_SLICE_KIND_RANGE, start, stop, step}
}

// All takes a dimension whole.
func All() SliceStep { return StepRange(Omitted, Omitted, Omitted) }

// Ellipsis stands for all dimensions that no other step names.
func Ellipsis() SliceStep { return SliceStep{kind: max_SLICE_KIND_ELLIPSIS} }

// NewAxis adds a dimension of size 1.
func NewAxis() SliceStep { return SliceStep{kind: max_SLICE_KIND_NEW_AXIS} }

// Slice makes a view of a part of the buffer, which shares its memory. Dimensions that are not named are taken whole.
func (b *Buffer) Slice(steps ...SliceStep) (*Buffer, error) {
	return b.derive(func(raw *maxBuffer, a *arena, out **maxBuffer) error {
		kinds := make([]int32, len(steps))
		starts, stops, widths := make([]int64, len(steps)), make([]int64, len(steps)), make([]int64, len(steps))
		for i, step := range steps {
			kinds[i], starts[i], stops[i], widths[i] = step.kind, step.start, step.stop, step.step
		}
		count := a.count("steps", len(steps))
		return maxBufferSlice(raw, pinned(a, kinds), pinned(a, starts), pinned(a, stops), pinned(a, widths), count, out)
	})
}
