// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A call is the words that go_execute takes, one crossing for all there is to do: what these constants name, then the
// inputs, the given outputs if there are any, and room for what the call makes. They are numbers, so that the crossing has no
// pointers to look at; the objects that they stand for are held by enter. Few words lie in the call itself, in cache lines
// that no other call has.
type call struct {
	words []uintptr
	place int // in the crowd of the model
	room  [20]uintptr
}

const (
	wordModel = iota
	wordStream
	wordCancellation
	wordTimeout
	wordInputCount
	wordOutputCount
	wordGiven
	wordCount
)

var (
	calls     = sync.Pool{New: newCall}
	nextPlace atomic.Uint32
)

func newCall() any {
	made := &call{place: int(nextPlace.Add(1) % crowdPlaces)}
	made.words = made.room[:]
	return made
}

// prepare makes room for the words and fills in what is known.
func (c *call) prepare(model unsafe.Pointer, inputCount, outputCount int, given bool) {
	length := wordCount + inputCount + 2*outputCount
	if cap(c.words) < length {
		c.words = make([]uintptr, length)
	}
	c.words = c.words[:length]
	clear(c.words)
	c.words[wordModel] = uintptr(model)
	c.words[wordInputCount], c.words[wordOutputCount] = uintptr(inputCount), uintptr(outputCount)
	if given {
		c.words[wordGiven] = 1
	}
}

// enter holds buffers for the call and writes them into its words. It returns how many it holds.
func (c *call) enter(what string, buffers []*Buffer, at int, optional bool) (int, error) {
	for i, buffer := range buffers {
		if buffer == nil && optional {
			continue
		}
		if buffer == nil {
			return i, invalid("%s %d is nil", what, i)
		}
		raw, err := buffer.handle.enter(bufferClass)
		if err != nil {
			return i, errorf(StatusOf(err), "%s %d: %s", what, i, err.(*Error).Message)
		}
		c.words[at+i] = uintptr(raw)
	}
	return len(buffers), nil
}

func leaveAll(buffers []*Buffer) {
	for _, buffer := range buffers {
		if buffer != nil {
			buffer.handle.leave()
		}
	}
}

// run executes the model; outputs are given ones, or nil. What the call made is at the words from its result on.
func (c *call) run(ctx context.Context, m *Model, inputs, outputs []*Buffer, stream *Stream) (int, error) {
	model, err := m.useAt(c.place)
	if err != nil {
		return 0, err
	}
	defer m.handle.leaveCrowd(c.place)
	count := m.outputCount
	if outputs != nil {
		count = len(outputs)
	}
	c.prepare(model, len(inputs), count, outputs != nil)
	entered, err := c.enter("input", inputs, wordCount, false)
	defer leaveAll(inputs[:entered])
	if err != nil {
		return 0, err
	}
	entered, err = c.enter("output", outputs, wordCount+len(inputs), true)
	defer leaveAll(outputs[:entered])
	if err != nil {
		return 0, err
	}
	made := wordCount + len(inputs) + len(outputs)
	return made, c.runLimited(ctx, stream)
}

func (c *call) runLimited(ctx context.Context, stream *Stream) error {
	limit, err := limitOf(ctx)
	if err != nil {
		return err
	}
	defer limit.end()
	c.words[wordCancellation], c.words[wordTimeout] = uintptr(unsafe.Pointer(limit.raw)), uintptr(limit.timeout)
	if stream == nil {
		return withCause(execute(c.words), ctx)
	}
	queue, err := stream.use()
	if err != nil {
		return err
	}
	defer stream.done()
	c.words[wordStream] = uintptr(unsafe.Pointer(queue))
	if err := execute(c.words); err != nil {
		return withCause(err, ctx)
	}
	limit.outlive(stream)
	return nil
}

// Execute runs the model on one buffer per input, in the model's order, and makes the outputs, which are complete when it
// returns. The context's end stops it. A context that cannot end costs nothing.
func (m *Model) Execute(ctx context.Context, inputs ...*Buffer) ([]*Buffer, error) {
	c := calls.Get().(*call)
	defer calls.Put(c)
	made, err := c.run(ctx, m, inputs, nil, nil)
	if err != nil {
		return nil, err
	}
	return newBuffers(c.words[made : made+m.outputCount]), nil
}

// ExecuteInto is Execute into buffers that the caller gives, one per output; it allocates nothing.
func (m *Model) ExecuteInto(ctx context.Context, inputs, outputs []*Buffer) error {
	if outputs == nil {
		outputs = []*Buffer{}
	}
	for i, output := range outputs {
		if output == nil {
			return invalid("output %d is nil", i)
		}
	}
	c := calls.Get().(*call)
	defer calls.Put(c)
	_, err := c.run(ctx, m, inputs, outputs, nil)
	return err
}

// ExecuteOptions of ExecuteWith and other ways to execute a model.
type ExecuteOptions struct {
	// Stream of the model's device that the call is ordered in; nil = the default stream. On a created stream the call
	// returns once the work is queued, and a failure stays with the stream; the context stops the work wherever it is.
	Stream *Stream
	// Outputs are buffers to write outputs into, one per output, nil = make one. An empty slice makes all.
	Outputs []*Buffer
}

// ExecuteWith is Execute with options; nil = defaults. Outputs that were given are among those returned.
func (m *Model) ExecuteWith(ctx context.Context, inputs []*Buffer, options *ExecuteOptions) ([]*Buffer, error) {
	if options == nil {
		options = &ExecuteOptions{}
	}
	c := calls.Get().(*call)
	defer calls.Put(c)
	if len(options.Outputs) == 0 {
		made, err := c.run(ctx, m, inputs, nil, options.Stream)
		if err != nil {
			return nil, err
		}
		return newBuffers(c.words[made : made+m.outputCount]), nil
	}
	made, err := c.run(ctx, m, inputs, options.Outputs, options.Stream)
	if err != nil {
		return nil, err
	}
	return joined(c.words[made:made+len(options.Outputs)], options.Outputs), nil
}

// newBuffers makes buffers of new references; one costs one allocation.
func newBuffers(words []uintptr) []*Buffer {
	if len(words) == 1 {
		single := &struct {
			list   [1]*Buffer
			buffer Buffer
		}{}
		single.buffer.handle = bufferClass.open(pointerOf(words[0]))
		single.list[0] = &single.buffer
		return single.list[:]
	}
	buffers := make([]*Buffer, len(words))
	for i, word := range words {
		buffers[i] = newBuffer((*maxBuffer)(pointerOf(word)))
	}
	return buffers
}

// joined are given buffers, and new ones in the places of nil; the references to given ones have been given back.
func joined(words []uintptr, given []*Buffer) []*Buffer {
	buffers := make([]*Buffer, len(words))
	for i, word := range words {
		if buffers[i] = given[i]; given[i] == nil {
			buffers[i] = newBuffer((*maxBuffer)(pointerOf(word)))
		}
	}
	return buffers
}
