// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"unsafe"
)

// An execution is a call of one of the rarer ways to execute a model.
type execution struct {
	arena
	limit   limit
	model   *maxModel
	options *maxModelExecuteOptions
}

// begin holds the model and what the options name.
func (e *execution) begin(ctx context.Context, m *Model, options *ExecuteOptions) error {
	e.model = held[maxModel](&e.arena, m, true)
	e.options = &maxModelExecuteOptions{structSize: unsafe.Sizeof(maxModelExecuteOptions{})}
	if options != nil {
		e.options.stream = held[maxStream](&e.arena, options.Stream, options.Stream != nil)
		e.options.outputs = e.givenOutputs(options.Outputs)
	}
	if e.err != nil {
		return e.err
	}
	var err error
	e.limit, err = limitOf(ctx)
	e.options.cancellation, e.options.timeoutNs = e.limit.raw, e.limit.timeout
	return err
}

func (e *execution) givenOutputs(outputs []*Buffer) **maxBuffer {
	found := make([]*maxBuffer, len(outputs))
	for i, output := range outputs {
		found[i] = held[maxBuffer](&e.arena, output, output != nil)
	}
	return pinned(&e.arena, found)
}

func (e *execution) finish(options *ExecuteOptions, err error) {
	if err == nil && options != nil && options.Stream != nil {
		e.limit.outlive(options.Stream)
	}
	e.limit.end()
	e.end()
}

// execution runs a function between begin and finish, and makes the buffers that it gave; count is how many.
func (m *Model) execution(ctx context.Context, options *ExecuteOptions, count int,
	function func(e *execution, out **maxBuffer) error) (buffers []*Buffer, err error) {
	var e execution
	defer func() { e.finish(options, err) }()
	if options != nil && len(options.Outputs) != 0 && len(options.Outputs) != count {
		return nil, invalid("the call has %d outputs, and %d are given", count, len(options.Outputs))
	}
	if err := e.begin(ctx, m, options); err != nil {
		return nil, err
	}
	outputs := make([]*maxBuffer, count)
	if err := function(&e, unsafe.SliceData(outputs)); err != nil {
		return nil, withCause(err, ctx)
	}
	buffers = make([]*Buffer, count)
	for i, output := range outputs {
		buffers[i] = newBuffer(output)
	}
	return buffers, nil
}

// ExecuteByName runs the model with inputs by name. Of the outputs it gives those that are named, or all. They come in the
// order of their names in the call; Outputs of the options are in the same order.
func (m *Model) ExecuteByName(ctx context.Context, inputs map[string]*Buffer, names []string, options *ExecuteOptions) ([]*Buffer, error) {
	if names == nil {
		infos, err := m.Outputs()
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			names = append(names, info.Name)
		}
	}
	return m.execution(ctx, options, len(names), func(e *execution, out **maxBuffer) error {
		inputNames, buffers, count := e.buffersByName(inputs)
		wanted := e.texts("the name", names)
		if e.err != nil {
			return e.err
		}
		return maxModelExecuteByName(e.model, inputNames, buffers, count, e.options, wanted, out, int32(len(names)))
	})
}

// Array is a slice with a shape, an input of ExecuteHost.
type Array struct {
	dtype DType
	shape []int64
	data  unsafe.Pointer
	err   error
}

// NewArray describes a slice without a copy: as many elements as the shape has.
func NewArray[T Element](shape []int64, data []T) Array {
	return Array{DTypeOf[T](), shape, unsafe.Pointer(unsafe.SliceData(data)), checkLength(shape, len(data))}
}

// ExecuteHost runs the model on slices, without a buffer for each. It waits until the work is done.
func (m *Model) ExecuteHost(ctx context.Context, inputs []Array, options *ExecuteOptions) ([]*Buffer, error) {
	if m == nil {
		_, err := m.use()
		return nil, err
	}
	return m.execution(ctx, options, m.outputCount, func(e *execution, out **maxBuffer) error {
		data, shapes := make([]unsafe.Pointer, len(inputs)), make([]*int64, len(inputs))
		dtypes, ranks := make([]DType, len(inputs)), make([]int32, len(inputs))
		for i, input := range inputs {
			if input.err != nil || input.dtype == DTypeInvalid {
				return invalid("input %d: %s", i, arrayMessage(input.err))
			}
			data[i], dtypes[i] = input.data, input.dtype
			ranks[i], shapes[i] = e.shape(input.shape)
			if input.data != nil {
				e.pinner.Pin(input.data)
			}
		}
		return maxModelExecuteHost(e.model, pinned(&e.arena, data), pinned(&e.arena, dtypes), pinned(&e.arena, ranks),
			pinned(&e.arena, shapes), e.count("inputs", len(inputs)), e.options, out, int32(m.outputCount))
	})
}

func arrayMessage(err error) string {
	if failure, ok := err.(*Error); ok {
		return failure.Message
	}
	return "the array was not made by NewArray"
}

// Capture runs the model once and keeps the call under a key, for Replay: its plan, bound to these inputs and outputs. A key
// that is captured with the same inputs already is replayed, and gives the same outputs.
func (m *Model) Capture(ctx context.Context, key uint64, inputs []*Buffer, options *ExecuteOptions) ([]*Buffer, error) {
	if m == nil {
		_, err := m.use()
		return nil, err
	}
	return m.execution(ctx, options, m.outputCount, func(e *execution, out **maxBuffer) error {
		buffers := heldAll[maxBuffer](&e.arena, inputs)
		if e.err != nil {
			return e.err
		}
		return maxModelCapture(e.model, key, buffers, e.count("inputs", len(inputs)), e.options, out, int32(m.outputCount))
	})
}

// Replay runs a captured call again: it reads the captured inputs and writes the captured outputs.
func (m *Model) Replay(ctx context.Context, key uint64, inputs []*Buffer, options *ExecuteOptions) error {
	return m.replay(ctx, key, inputs, options, maxModelReplay)
}

// VerifyReplay runs the model as Execute does and compares the steps that ran with those that were captured.
func (m *Model) VerifyReplay(ctx context.Context, key uint64, inputs []*Buffer, options *ExecuteOptions) error {
	return m.replay(ctx, key, inputs, options, maxModelVerifyReplay)
}

func (m *Model) replay(ctx context.Context, key uint64, inputs []*Buffer, options *ExecuteOptions,
	function func(*maxModel, uint64, **maxBuffer, int32, *maxModelExecuteOptions) error) error {
	if options != nil && len(options.Outputs) != 0 {
		return invalid("a replay writes the captured outputs, and takes no others")
	}
	_, err := m.execution(ctx, options, 0, func(e *execution, _ **maxBuffer) error {
		buffers := heldAll[maxBuffer](&e.arena, inputs)
		if e.err != nil {
			return e.err
		}
		return function(e.model, key, buffers, e.count("inputs", len(inputs)), e.options)
	})
	return err
}

// ForgetCaptured forgets a captured call. Replays that are queued still run.
func (m *Model) ForgetCaptured(key uint64) error {
	return perform(m, func(raw *maxModel) error { return maxModelForgetCaptured(raw, key) })
}

// ExecuteValues runs the model on values: for inputs and outputs that are sequences, optionals or maps, beside tensors.
func (m *Model) ExecuteValues(ctx context.Context, inputs []*Value, options *ExecuteOptions) (values []*Value, err error) {
	var e execution
	defer func() { e.finish(options, err) }()
	if err := e.begin(ctx, m, options); err != nil {
		return nil, err
	}
	if options != nil && len(options.Outputs) != 0 && len(options.Outputs) != m.outputCount {
		return nil, invalid("the model has %d outputs, and %d are given", m.outputCount, len(options.Outputs))
	}
	raws := heldAll[maxValue](&e.arena, inputs)
	if e.err != nil {
		return nil, e.err
	}
	outputs := make([]*maxValue, m.outputCount)
	err = maxModelExecuteValues(e.model, raws, e.count("inputs", len(inputs)), e.options, unsafe.SliceData(outputs),
		int32(m.outputCount))
	if err != nil {
		return nil, withCause(err, ctx)
	}
	for _, output := range outputs {
		values = append(values, newValue(output))
	}
	return values, nil
}
