// SPDX-License-Identifier: Apache-2.0

// Command calls measures what a call of a model costs from Go, beside the same call from C in the same process: Identity on
// one number. Rounds take turns, so that what else the machine does meets both.
//
//	go run ./calls
package main

/*
#cgo pkg-config: max
#include <max/max.h>

static MaxModel* model;
static MaxBuffer* input;

static int prepare(void) {
  const int64_t shape[] = {1};
  MaxSession* session = NULL;
  MaxGraph* graph = NULL;
  MaxGraphValue *x = NULL, *y = NULL;
  const int failed = maxSessionCreate(NULL, &session) || maxGraphCreate(NULL, &graph) ||
                     maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 1, shape, NULL, &x) ||
                     maxGraphAddNode(graph, NULL, "Identity", NULL, &x, 1, NULL, &y, 1) ||
                     maxGraphAddOutput(graph, y, "y") || maxModelCompile(session, graph, NULL, &model) ||
                     maxBufferCreate(NULL, MAX_DTYPE_FLOAT32, 1, shape, NULL, &input);
  maxGraphRelease(graph);
  maxSessionRelease(session);
  return failed;
}

static int execute(int count) {
  int failed = 0;
  while (count-- > 0) {
    MaxBuffer* output = NULL;
    failed |= maxModelExecute(model, &input, 1, NULL, &output, 1);
    maxBufferRelease(output);
  }
  return failed;
}
*/
import "C"

import (
	"context"
	"fmt"
	"log"
	"runtime"
	"slices"
	"time"

	max "github.com/max-runtime/max/bindings/go"
)

const rounds, repeat = 300, 2000

// A way to call the model `repeat` times.
type way struct {
	name string
	call func() error
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func model() *max.Model {
	session, err := max.NewSession(nil)
	check(err)
	graph, err := max.NewGraph("identity")
	check(err)
	x, err := graph.AddInput("x", max.DTypeFloat32, []int64{1}, nil)
	check(err)
	y, err := graph.Apply("Identity", x)
	check(err)
	check(graph.AddOutput(y, "y"))
	made, err := session.Compile(context.Background(), graph, nil)
	check(err)
	return made
}

func ways() []way {
	ctx, identity := context.Background(), model()
	input, err := max.NewBufferFrom(nil, []int64{1}, []float32{1})
	check(err)
	given, err := max.NewBufferFrom(nil, []int64{1}, []float32{1})
	check(err)
	inputs, outputs := []*max.Buffer{input}, []*max.Buffer{given}
	array, cancellable := max.NewArray([]int64{1}, []float32{1}), context.Context(nil)
	cancellable, cancel := context.WithCancel(ctx)
	_ = cancel
	return []way{
		{"C", func() error {
			if C.execute(repeat) != 0 {
				return fmt.Errorf("the call in C failed")
			}
			return nil
		}},
		{"Go, new outputs, closed", repeated(func() error { return closed(identity.Execute(ctx, input)) })},
		{"Go, given outputs", repeated(func() error { return identity.ExecuteInto(ctx, inputs, outputs) })},
		{"Go, given outputs, context with cancel", repeated(func() error { return identity.ExecuteInto(cancellable, inputs, outputs) })},
		{"Go, slices", repeated(func() error { return closed(identity.ExecuteHost(ctx, []max.Array{array}, nil)) })},
	}
}

func closed(outputs []*max.Buffer, err error) error {
	if err == nil {
		err = outputs[0].Close()
	}
	return err
}

func repeated(call func() error) func() error {
	return func() error {
		for range repeat {
			if err := call(); err != nil {
				return err
			}
		}
		return nil
	}
}

func main() {
	runtime.LockOSThread()
	if C.prepare() != 0 {
		log.Fatal("the model cannot be made in C")
	}
	found := ways()
	times := make([][]float64, len(found))
	for range rounds {
		for i, one := range found {
			begin := time.Now()
			check(one.call())
			times[i] = append(times[i], float64(time.Since(begin).Nanoseconds())/repeat)
		}
	}
	fmt.Printf("%-44s%8s%8s%10s\n", "nanoseconds per call", "best", "median", "best - C")
	for i, one := range found {
		slices.Sort(times[i])
		fmt.Printf("%-44s%8.0f%8.0f%10.0f\n", one.name, times[i][0], times[i][rounds/2], times[i][0]-times[0][0])
	}
}
