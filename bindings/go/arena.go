// SPDX-License-Identifier: Apache-2.0

package max

import (
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// An arena holds what one call lends to the library: memory of Go that other memory points at is pinned meanwhile, and
// objects are kept. The first thing that is wrong with an argument stays in err.
type arena struct {
	pinner runtime.Pinner
	leaves []func()
	err    error
}

func (a *arena) end() {
	a.pinner.Unpin()
	for _, leave := range a.leaves {
		leave()
	}
}

func (a *arena) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// text is a string as C has it. What says what it is if it has no place there.
func (a *arena) text(what, value string) *byte {
	if place := strings.IndexByte(value, 0); place >= 0 {
		a.fail(invalid("%s %q holds a NUL byte at %d", what, value, place))
		return nil
	}
	bytes := make([]byte, len(value)+1)
	copy(bytes, value)
	a.pinner.Pin(&bytes[0])
	return &bytes[0]
}

// optionalText is nothing for an empty string.
func (a *arena) optionalText(what, value string) *byte {
	if value == "" {
		return nil
	}
	return a.text(what, value)
}

func (a *arena) texts(what string, values []string) **byte {
	found := make([]*byte, len(values))
	for i, value := range values {
		found[i] = a.text(what, value)
	}
	return pinned(a, found)
}

// pinned is the address of the first element, which does not move until the arena ends; nil if there is none.
func pinned[T any](a *arena, values []T) *T {
	if len(values) == 0 {
		return nil
	}
	a.pinner.Pin(&values[0])
	return &values[0]
}

// count is a length as the library counts.
func (a *arena) count(what string, length int) int32 {
	if length > math.MaxInt32 {
		a.fail(invalid("%d %s are too many", length, what))
		return 0
	}
	return int32(length)
}

// held is the object for the time of the call, nil if it is left out.
func held[O any](a *arena, of object[O], present bool) *O {
	if !present || a.err != nil {
		return nil
	}
	raw, err := of.use()
	if err != nil {
		a.fail(err)
		return nil
	}
	a.leaves = append(a.leaves, of.done)
	return raw
}

// heldAll is the array of objects for the time of the call; none may be nil.
func heldAll[O any, T object[O]](a *arena, values []T) **O {
	found := make([]*O, len(values))
	for i, value := range values {
		found[i] = held[O](a, value, true)
	}
	return pinned(a, found)
}

// shapeOf is rank and dimensions of a shape.
func (a *arena) shape(shape []int64) (int32, *int64) {
	return a.count("dimensions", len(shape)), pinned(a, shape)
}

// goText is a copy of a text of the library; empty for NULL.
func goText(text *byte) string {
	if text == nil {
		return ""
	}
	length := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(text), length)) != 0 {
		length++
	}
	return string(unsafe.Slice(text, length))
}

// lent is memory of the library as a slice.
func lent[T any](first *T, count int) []T {
	if first == nil || count <= 0 {
		return nil
	}
	return unsafe.Slice(first, count)
}

func flag(value bool) int32 {
	if value {
		return 1
	}
	return 0
}

// index is a number as the library counts.
func (a *arena) index(what string, value int) int32 {
	if value > math.MaxInt32 || value < math.MinInt32 {
		a.fail(errorf(StatusOutOfRange, "there is no %s %d", what, value))
		return 0
	}
	return int32(value)
}

// pointerOf is an address of the library's as a pointer.
func pointerOf(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

func sortedKeys[T any](values map[string]T) []string {
	return slices.Sorted(maps.Keys(values))
}
