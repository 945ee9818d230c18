// SPDX-License-Identifier: Apache-2.0

package max

import "testing"

func TestValues(t *testing.T) {
	noLeaks(t)
	a, b := must(NewTensorValue(vector[float32](t, 1, 2)))(t), must(NewTensorValue(vector[float32](t, 3)))(t)
	sequence := must(NewSequence(a, b))(t)
	equal(t, must(sequence.Kind())(t), ValueKindSequence)
	equal(t, must(sequence.Len())(t), 2)
	elements := must(sequence.Elements())(t)
	check(t, sequence.Close())
	equal(t, data[float32](t, must(elements[0].Buffer())(t)), []float32{1, 2})
	for _, element := range elements {
		check(t, element.Close())
	}
	nothing, something := must(NewOptional(nil))(t), must(NewOptional(a))(t)
	equal(t, must(nothing.Len())(t), 0)
	equal(t, must(something.Len())(t), 1)
	table := must(NewMap(must(NewStringBuffer([]int64{2}, []string{"a", "b"}))(t), vector[float32](t, 1, 2)))(t)
	equal(t, must(must(table.MapKeys())(t).Strings())(t), []string{"a", "b"})
	equal(t, data[float32](t, must(table.MapValues())(t)), []float32{1, 2})
}

func TestValueErrors(t *testing.T) {
	noLeaks(t)
	tensor := must(NewTensorValue(vector[float32](t, 1)))(t)
	_, err := tensor.Len()
	fails(t, err, ErrFailedPrecondition, "")
	_, err = tensor.Elements()
	fails(t, err, ErrFailedPrecondition, "")
	_, err = tensor.MapKeys()
	fails(t, err, ErrFailedPrecondition, "")
	_, err = tensor.MapValues()
	fails(t, err, ErrFailedPrecondition, "")
	_, err = must(NewSequence())(t).Buffer()
	fails(t, err, ErrFailedPrecondition, "")
	_, err = NewSequence(tensor, nil)
	fails(t, err, ErrInvalidArgument, "the value is nil")
	_, err = NewSequence(tensor, must(NewTensorValue(vector[int32](t, 1)))(t))
	fails(t, err, ErrInvalidArgument, "")
	_, err = NewMap(vector[int64](t, 1, 1), vector[int64](t, 1, 2))
	fails(t, err, ErrInvalidArgument, "")
	_, err = NewMap(vector[int64](t, 1), nil)
	fails(t, err, ErrInvalidArgument, "the buffer is nil")
	_, err = NewTensorValue(nil)
	fails(t, err, ErrInvalidArgument, "the buffer is nil")
}

func TestExecuteValues(t *testing.T) {
	noLeaks(t)
	graph := must(NewGraph(""))(t)
	list := must(graph.AddValueInput("list", ValueKindSequence, DTypeFloat32))(t)
	x := must(graph.AddInput("x", DTypeFloat32, []int64{Dynamic}, nil))(t)
	check(t, graph.AddOutput(must(graph.Apply("SequenceInsert", list, x))(t), "longer"))
	check(t, graph.AddOutput(must(graph.Apply("SequenceLength", list))(t), "length"))
	model := must(must(NewSession(nil))(t).Compile(background, graph, nil))(t)
	equal(t, must(model.Inputs())(t)[0].Kind, ValueKindSequence)
	tensor := must(NewTensorValue(vector[float32](t, 1, 2)))(t)
	outputs, err := model.ExecuteValues(background, []*Value{must(NewSequence(tensor))(t), tensor}, nil)
	check(t, err)
	equal(t, must(outputs[0].Len())(t), 2)
	equal(t, data[int64](t, must(outputs[1].Buffer())(t)), []int64{1})
	for _, output := range outputs {
		check(t, output.Close())
	}
	_, err = model.ExecuteValues(background, []*Value{tensor, nil}, nil)
	fails(t, err, ErrInvalidArgument, "the value is nil")
	_, err = model.ExecuteValues(background, []*Value{tensor}, nil)
	fails(t, err, ErrInvalidArgument, "1")
	_, err = graph.AddValueInput("map", ValueKindMap, DTypeFloat32)
	fails(t, err, ErrInvalidArgument, "")
}
