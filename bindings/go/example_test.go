// SPDX-License-Identifier: Apache-2.0

package max_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	max "github.com/max-runtime/max/bindings/go"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// double is a model that doubles a vector.
func double() *max.Model {
	graph := must(max.NewGraph("double"))
	defer graph.Close()
	x := must(graph.AddInput("x", max.DTypeFloat32, []int64{max.Dynamic}, nil))
	if err := graph.AddOutput(must(graph.Apply("Add", x, x)), "y"); err != nil {
		log.Fatal(err)
	}
	session := must(max.NewSession(nil))
	defer session.Close()
	return must(session.Compile(context.Background(), graph, nil))
}

func Example() {
	model := double()
	defer model.Close()
	input := must(max.NewBufferFrom(nil, []int64{3}, []float32{1, 2, 3}))
	defer input.Close()
	outputs := must(model.Execute(context.Background(), input))
	defer outputs[0].Close()
	fmt.Println(must(max.Data[float32](outputs[0])))
	// Output: [2 4 6]
}

func ExampleModel_ExecuteInto() {
	model := double()
	defer model.Close()
	input := must(max.NewBufferFrom(nil, []int64{2}, []float32{0, 1}))
	output := must(max.NewBuffer(nil, max.DTypeFloat32, []int64{2}, nil))
	inputs, outputs := []*max.Buffer{input}, []*max.Buffer{output}
	for range 3 { // allocates nothing
		if err := model.ExecuteInto(context.Background(), inputs, outputs); err != nil {
			log.Fatal(err)
		}
		if err := input.CopyFrom(output, nil); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(must(output.Float32s()))
	// Output: [0 8]
}

func ExampleModel_Execute_context() {
	model := double()
	defer model.Close()
	input := must(max.NewBufferFrom(nil, []int64{1}, []float32{1}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	_, err := model.Execute(ctx, input)
	fmt.Println(errors.Is(err, max.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded))
	// Output: true true
}

func ExampleSession_LoadFS() {
	session := must(max.NewSession(nil))
	defer session.Close()
	_, err := session.LoadFS(context.Background(), os.DirFS("testdata"), "missing.onnx", nil)
	fmt.Println(errors.Is(err, max.ErrNotFound), errors.Is(err, os.ErrNotExist))
	// Output: true true
}

func ExampleError() {
	_, err := max.NewBuffer(nil, max.DTypeFloat32, []int64{2, -3}, nil)
	var failure *max.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Status)
	}
	fmt.Println(errors.Is(err, max.ErrOutOfRange))
	// Output:
	// OUT_OF_RANGE
	// true
}

func ExampleBuffer_Slice() {
	matrix := must(max.NewBufferFrom(nil, []int64{2, 3}, []int32{1, 2, 3, 4, 5, 6}))
	defer matrix.Close()
	column := must(matrix.Slice(max.All(), max.Index(-1)))
	defer column.Close()
	fmt.Println(must(max.Data[int32](column)))
	// Output: [3 6]
}

func ExampleMap() {
	buffer := must(max.NewBufferFrom(nil, []int64{3}, []float64{1, 2, 3}))
	defer buffer.Close()
	err := max.Map(buffer, max.ReadWrite, func(values []float64) error {
		values[0] = 10 // the buffer's own memory
		return nil
	})
	fmt.Println(must(max.At[float64](buffer, 0)), err)
	// Output: 10 <nil>
}

func ExampleStream() {
	stream := must(max.NewStream(nil, nil))
	defer stream.Close()
	buffer := must(max.NewBuffer(nil, max.DTypeInt32, []int64{4}, &max.BufferOptions{Stream: stream}))
	defer buffer.Close()
	err := errors.Join(
		max.Fill(buffer, int32(7), stream),
		stream.EnqueueFunc(func(err error) { fmt.Println("filled", err) }),
		stream.Synchronize(context.Background()),
	)
	fmt.Println(must(max.Data[int32](buffer)), err)
	// Output:
	// filled <nil>
	// [7 7 7 7] <nil>
}

func ExampleKernel_Launch() {
	module, err := max.CompileModule(nil, `extern "C" __global__ void scale(float* x, float factor, int count) {
		int i = blockIdx.x * blockDim.x + threadIdx.x;
		if (i < count) x[i] *= factor;
	}`, nil)
	if errors.Is(err, max.ErrUnavailable) {
		fmt.Println("[2.5 5 7.5]") // there is no compiler here
		return
	}
	defer module.Close()
	kernel := must(module.Kernel("scale"))
	defer kernel.Close()
	x := must(max.NewBufferFrom(nil, []int64{3}, []float32{1, 2, 3}))
	defer x.Close()
	config := max.LaunchConfig{Grid: [3]int32{1}, Block: [3]int32{256}}
	if err := kernel.Launch(config, x, float32(2.5), int32(3)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(must(max.Data[float32](x)))
	// Output: [2.5 5 7.5]
}

func ExampleAddLogFunc() {
	forward := must(max.AddLogFunc(max.LogLevelError, func(level max.LogLevel, message string) {
		fmt.Println(level == max.LogLevelError, len(message) > 0)
	}))
	defer forward.Close()
	session := must(max.NewSession(nil))
	defer session.Close()
	_, err := session.Load(context.Background(), "/no/such/model.onnx", nil)
	fmt.Println(max.StatusOf(err))
	// Output:
	// true true
	// NOT_FOUND
}
