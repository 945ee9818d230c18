// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestExecute(t *testing.T) {
	noLeaks(t)
	model := unary(t, must(NewSession(nil))(t), "Neg")
	for _, values := range [][]float32{{1}, {1, 2, 3}, {}, {4, 5}} {
		output := must(model.Execute(background, vector(t, values...)))(t)
		equal(t, len(output), 1)
		for i, found := range data[float32](t, output[0]) {
			equal(t, found, -values[i])
		}
	}
}

// adder has two inputs and the outputs sum and difference.
func adder(t *testing.T, session *Session) *Model {
	t.Helper()
	graph := must(NewGraph("adder"))(t)
	a := must(graph.AddInput("a", DTypeFloat32, []int64{2}, nil))(t)
	b := must(graph.AddInput("b", DTypeFloat32, []int64{2}, nil))(t)
	check(t, graph.AddOutput(must(graph.Apply("Add", a, b))(t), "sum"))
	check(t, graph.AddOutput(must(graph.Apply("Sub", a, b))(t), "difference"))
	return must(session.Compile(background, graph, nil))(t)
}

func TestExecuteIntoGivenOutputs(t *testing.T) {
	noLeaks(t)
	model := adder(t, must(NewSession(nil))(t))
	inputs := []*Buffer{vector[float32](t, 5, 7), vector[float32](t, 1, 2)}
	sum, difference := vector[float32](t, 0, 0), vector[float32](t, 0, 0)
	for range 3 {
		check(t, model.ExecuteInto(background, inputs, []*Buffer{sum, difference}))
	}
	equal(t, data[float32](t, sum), []float32{6, 9})
	equal(t, data[float32](t, difference), []float32{4, 5})
	found := must(model.ExecuteWith(background, inputs, &ExecuteOptions{Outputs: []*Buffer{nil, difference}}))(t)
	equal(t, found[1] == difference, true)
	equal(t, data[float32](t, found[0]), []float32{6, 9})
	all := must(model.ExecuteWith(background, inputs, nil))(t)
	equal(t, data[float32](t, all[1]), []float32{4, 5})

	fails(t, model.ExecuteInto(background, inputs, []*Buffer{sum}), ErrInvalidArgument, "1")
	fails(t, model.ExecuteInto(background, inputs, nil), ErrInvalidArgument, "0")
	fails(t, model.ExecuteInto(background, inputs, []*Buffer{sum, nil}), ErrInvalidArgument, "output 1 is nil")
	fails(t, model.ExecuteInto(background, inputs, []*Buffer{sum, vector[float32](t, 1)}), ErrInvalidArgument, "difference")
	fails(t, model.ExecuteInto(background, inputs, []*Buffer{sum, inputs[0]}), ErrInvalidArgument, "")
}

func TestExecuteByName(t *testing.T) {
	noLeaks(t)
	model := adder(t, must(NewSession(nil))(t))
	inputs := map[string]*Buffer{"b": vector[float32](t, 1, 2), "a": vector[float32](t, 5, 7)}
	found := must(model.ExecuteByName(background, inputs, []string{"difference"}, nil))(t)
	equal(t, len(found), 1)
	equal(t, data[float32](t, found[0]), []float32{4, 5})
	all := must(model.ExecuteByName(background, inputs, nil, nil))(t)
	equal(t, data[float32](t, all[0]), []float32{6, 9})
	given := vector[float32](t, 0, 0)
	must(model.ExecuteByName(background, inputs, []string{"sum"}, &ExecuteOptions{Outputs: []*Buffer{given}}))(t)
	equal(t, data[float32](t, given), []float32{6, 9})
	_, err := model.ExecuteByName(background, inputs, []string{"product"}, nil)
	fails(t, err, ErrNotFound, "product")
	_, err = model.ExecuteByName(background, map[string]*Buffer{"a": given}, nil, nil)
	fails(t, err, ErrInvalidArgument, "b")
	_, err = model.ExecuteByName(background, inputs, nil, &ExecuteOptions{Outputs: []*Buffer{given}})
	fails(t, err, ErrInvalidArgument, "2 outputs, and 1 are given")
}

func TestExecuteHost(t *testing.T) {
	noLeaks(t)
	model := adder(t, must(NewSession(nil))(t))
	a, b := []float32{5, 7}, []float32{1, 2}
	inputs := []Array{NewArray([]int64{2}, a), NewArray([]int64{2}, b)}
	found := must(model.ExecuteHost(background, inputs, nil))(t)
	equal(t, data[float32](t, found[0]), []float32{6, 9})
	stream := must(NewStream(nil, nil))(t)
	found = must(model.ExecuteHost(background, inputs, &ExecuteOptions{Stream: stream}))(t)
	equal(t, data[float32](t, found[1]), []float32{4, 5})
	_, err := model.ExecuteHost(background, []Array{inputs[0], NewArray([]int64{3}, b)}, nil)
	fails(t, err, ErrInvalidArgument, "input 1: a slice of 2 elements")
	_, err = model.ExecuteHost(background, []Array{inputs[0], {}}, nil)
	fails(t, err, ErrInvalidArgument, "input 1")
	_, err = model.ExecuteHost(background, []Array{inputs[0], NewArray([]int64{2}, []int32{1, 2})}, nil)
	fails(t, err, ErrInvalidArgument, "int32")
}

// A call within a context that can end makes no object, and costs one crossing: what an earlier call used is used again,
// unless a context has cancelled it.
func TestExecuteWithContextsThatCanEnd(t *testing.T) {
	noLeaks(t)
	model, input := unary(t, must(NewSession(nil))(t), "Neg"), vector[float32](t, 1, 2)
	output := vector[float32](t, 0, 0)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	run := func() { check(t, model.ExecuteInto(ctx, []*Buffer{input}, []*Buffer{output})) }
	run()
	spare.Lock()
	kept := spare.list[len(spare.list)-1]
	spare.Unlock()
	count := spareCount()
	for range 100 {
		run()
	}
	equal(t, spareCount(), count)

	limit, err := limitOf(ctx)
	check(t, err)
	equal(t, limit.held == kept, true)
	cancel()
	limit.end()
	equal(t, spareCount(), count-1)
	next, stop := context.WithCancel(background)
	defer stop()
	check(t, model.ExecuteInto(next, []*Buffer{input}, []*Buffer{output}))
}

func TestExecuteErrors(t *testing.T) {
	noLeaks(t)
	model, input := unary(t, must(NewSession(nil))(t), "Neg"), vector[float32](t, 1, 2)
	_, err := model.Execute(background)
	fails(t, err, ErrInvalidArgument, "Number of inputs is 0, expected 1")
	_, err = model.Execute(background, input, input)
	fails(t, err, ErrInvalidArgument, "Number of inputs is 2, expected 1")
	_, err = model.Execute(background, nil)
	fails(t, err, ErrInvalidArgument, "input 0 is nil")
	_, err = model.Execute(background, vector[int32](t, 1))
	fails(t, err, ErrInvalidArgument, "int32")
	_, err = model.Execute(background, must(NewBufferFrom(nil, []int64{1, 1}, []float32{1}))(t))
	fails(t, err, ErrInvalidArgument, "")
	_, err = model.Execute(background, must(input.Slice(StepRange(Omitted, Omitted, -1)))(t))
	fails(t, err, ErrInvalidArgument, "contiguous")
	check(t, input.Close())
	_, err = model.Execute(background, input)
	fails(t, err, ErrFailedPrecondition, "input 0: the buffer is closed")
}

func TestExecuteOnAStream(t *testing.T) {
	noLeaks(t)
	session, stream := must(NewSession(nil))(t), must(NewStream(nil, nil))(t)
	model, input := unary(t, session, "Neg"), vector[float32](t, 1, 2)
	ctx, cancel := context.WithCancel(background)
	found := must(model.ExecuteWith(ctx, []*Buffer{input}, &ExecuteOptions{Stream: stream}))(t)
	check(t, input.Close())
	check(t, model.Close())
	check(t, stream.Synchronize(background))
	equal(t, data[float32](t, found[0]), []float32{-1, -2})
	cancel()
}

func TestCancellation(t *testing.T) {
	noLeaks(t)
	model := slow(t, must(NewSession(nil))(t))
	input := must(NewBuffer(nil, DTypeFloat32, []int64{64, 64}, &BufferOptions{Zeroed: true}))(t)
	output := must(NewBuffer(nil, DTypeFloat32, []int64{64, 64}, nil))(t)
	stream := must(NewStream(nil, nil))(t)
	array := NewArray([]int64{64, 64}, make([]float32, 64*64))
	for name, run := range map[string]func(context.Context) error{
		"execute": func(ctx context.Context) error { _, err := model.Execute(ctx, input); return err },
		"into":    func(ctx context.Context) error { return model.ExecuteInto(ctx, []*Buffer{input}, []*Buffer{output}) },
		"host":    func(ctx context.Context) error { _, err := model.ExecuteHost(ctx, []Array{array}, nil); return err },
		"name": func(ctx context.Context) error {
			_, err := model.ExecuteByName(ctx, map[string]*Buffer{"x": input}, nil, nil)
			return err
		},
		"stream": func(ctx context.Context) error {
			found, err := model.ExecuteWith(ctx, []*Buffer{input}, &ExecuteOptions{Stream: stream})
			if err != nil {
				_ = stream.Synchronize(background)
				return err
			}
			defer closeAll(found)
			return stream.Synchronize(background)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(background)
			time.AfterFunc(30*time.Millisecond, cancel)
			err := run(ctx)
			fails(t, err, ErrCancelled, "")
			if name != "stream" {
				equal(t, errors.Is(err, context.Canceled), true)
			}
			ctx, cancel = context.WithTimeout(background, 30*time.Millisecond)
			defer cancel()
			fails(t, run(ctx), ErrDeadlineExceeded, "")
		})
	}
}

// A context that ends while the work is still queued stops it there.
func TestCancellationOfQueuedWork(t *testing.T) {
	noLeaks(t)
	model, input, stream := unary(t, must(NewSession(nil))(t), "Neg"), vector[float32](t, 1), must(NewStream(nil, nil))(t)
	for _, ending := range []bool{true, false} {
		hold := make(chan struct{})
		check(t, stream.EnqueueFunc(func(error) { <-hold }))
		ctx, cancel := context.WithCancel(background)
		must(model.ExecuteWith(ctx, []*Buffer{input}, &ExecuteOptions{Stream: stream}))(t)
		if ending {
			cancel()
			time.Sleep(300 * time.Millisecond) // the cancellation runs in a separate goroutine
		}
		close(hold)
		err := stream.Synchronize(background)
		if ending {
			fails(t, err, ErrCancelled, "")
		} else {
			check(t, err)
		}
		cancel()
	}
}

// A deadline alone: a context whose channel never closes.
type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }
func (c lateContext) Done() <-chan struct{}       { return make(chan struct{}) }

// Work that has passed its own deadline is a failure of the stream, which a wait with a context does not take for its own.
func TestDeadlineOfQueuedWork(t *testing.T) {
	noLeaks(t)
	model, input, stream := unary(t, must(NewSession(nil))(t), "Neg"), vector[float32](t, 1), must(NewStream(nil, nil))(t)
	waiting, cancel := context.WithCancel(background)
	defer cancel()
	for _, ctx := range []context.Context{background, waiting} {
		late := lateContext{background, time.Now().Add(300 * time.Millisecond)}
		check(t, stream.EnqueueFunc(func(error) { time.Sleep(time.Until(late.deadline) + 20*time.Millisecond) }))
		must(model.ExecuteWith(late, []*Buffer{input}, &ExecuteOptions{Stream: stream}))(t)
		fails(t, stream.Synchronize(ctx), ErrDeadlineExceeded, "")
		check(t, stream.Synchronize(ctx))
	}
}

func TestCancellationOfLoads(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	ctx, cancel := context.WithCancel(background)
	model, err := session.Load(ctx, digits(t), &LoadOptions{Progress: func(float64, string) { cancel() }})
	if err != nil { // it may be done before it notices
		fails(t, err, ErrCancelled, "")
	}
	check(t, model.Close())
	_, err = session.Load(ctx, digits(t), nil)
	fails(t, err, ErrCancelled, "context canceled")
	past, stop := context.WithDeadline(background, time.Now().Add(-time.Second))
	defer stop()
	_, err = session.Load(past, digits(t), nil)
	fails(t, err, ErrDeadlineExceeded, "")
}

func TestCapture(t *testing.T) {
	noLeaks(t)
	model, input := unary(t, must(NewSession(nil))(t), "Neg"), vector[float32](t, 1, 2)
	inputs := []*Buffer{input}
	outputs := must(model.Capture(background, 7, inputs, nil))(t)
	equal(t, data[float32](t, outputs[0]), []float32{-1, -2})
	check(t, SetAt[float32](input, 10, 0))
	check(t, model.Replay(background, 7, inputs, nil))
	equal(t, data[float32](t, outputs[0]), []float32{-10, -2})
	check(t, model.VerifyReplay(background, 7, inputs, nil))
	fails(t, model.Replay(background, 8, inputs, nil), ErrNotFound, "8")
	fails(t, model.Replay(background, 7, []*Buffer{vector[float32](t, 1, 2)}, nil), ErrInvalidArgument, "")
	fails(t, model.Replay(background, 7, inputs, &ExecuteOptions{Outputs: outputs}), ErrInvalidArgument, "")
	_, err := model.Capture(background, 7, []*Buffer{vector[float32](t, 1, 2, 3)}, nil)
	fails(t, err, ErrAlreadyExists, "7")
	_, err = model.Capture(background, 9, nil, nil)
	fails(t, err, ErrInvalidArgument, "")
	check(t, model.ForgetCaptured(7))
	fails(t, model.ForgetCaptured(7), ErrNotFound, "7")
}
