// SPDX-License-Identifier: Apache-2.0

package max

import "unsafe"

// Value is a tensor, sequence, optional or map, for models that take or give more than buffers. It does not change.
type Value struct{ handle handle }

var valueClass = newClass("value", maxValueRelease)

func newValue(raw *maxValue) *Value { return &Value{valueClass.open(unsafe.Pointer(raw))} }

func (v *Value) use() (*maxValue, error) {
	if v == nil {
		return use[maxValue](nil, valueClass)
	}
	return use[maxValue](&v.handle, valueClass)
}

func (v *Value) done() { v.handle.leave() }

// Close drops the reference. It never fails.
func (v *Value) Close() error {
	if v != nil {
		v.handle.close()
	}
	return nil
}

// NewTensorValue makes a value of a buffer, which is not to be written while the value is in use.
func NewTensorValue(buffer *Buffer) (*Value, error) {
	return query(buffer, func(raw *maxBuffer, value **Value) (err error) {
		*value, err = create(func(out **maxValue) error { return maxValueCreateTensor(raw, out) }, newValue)
		return err
	})
}

// NewSequence makes a sequence of values: contiguous tensors of one element type in host memory, or maps.
func NewSequence(elements ...*Value) (*Value, error) {
	var a arena
	defer a.end()
	raws, count := heldAll[maxValue](&a, elements), a.count("elements", len(elements))
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxValue) error { return maxValueCreateSequence(raws, count, out) }, newValue)
}

// NewOptional makes an optional that holds a tensor or a sequence; nil = nothing.
func NewOptional(element *Value) (*Value, error) {
	var a arena
	defer a.end()
	raw := held[maxValue](&a, element, element != nil)
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxValue) error { return maxValueCreateOptional(raw, out) }, newValue)
}

// NewMap makes a map of two lists of equal length; keys are strings or int64, all different.
func NewMap(keys, values *Buffer) (*Value, error) {
	var a arena
	defer a.end()
	first, second := held[maxBuffer](&a, keys, true), held[maxBuffer](&a, values, true)
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxValue) error { return maxValueCreateMap(first, second, out) }, newValue)
}

// Kind returns what the value is.
func (v *Value) Kind() (ValueKind, error) { return query(v, maxValueGetKind) }

// Buffer returns the buffer of a tensor.
func (v *Value) Buffer() (*Buffer, error) {
	return queryObject(v, maxValueGetBuffer, maxBufferRetain, newBuffer)
}

// Len returns how many elements a sequence and how many entries a map has; of an optional 1 or, if it holds nothing, 0.
func (v *Value) Len() (int, error) { return queryInt(v, maxValueGetCount) }

// Elements returns the elements of a sequence, or what an optional holds.
func (v *Value) Elements() ([]*Value, error) {
	return query(v, func(raw *maxValue, elements *[]*Value) error {
		count := new(int32)
		if err := maxValueGetCount(raw, count); err != nil {
			return err
		}
		raws := make([]*maxValue, *count)
		if err := maxValueGetElements(raw, 0, *count, unsafe.SliceData(raws)); err != nil {
			return err
		}
		for _, element := range raws {
			maxValueRetain(element)
			*elements = append(*elements, newValue(element))
		}
		return nil
	})
}

// MapKeys returns the keys of a map, a list of strings or int64.
func (v *Value) MapKeys() (*Buffer, error) {
	return queryObject(v, maxValueGetMapKeys, maxBufferRetain, newBuffer)
}

// MapValues returns the values of a map, in the order of its keys.
func (v *Value) MapValues() (*Buffer, error) {
	return queryObject(v, maxValueGetMapValues, maxBufferRetain, newBuffer)
}
