// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

var background = context.Background()

const repository = "../.."

// check ends the test if a call failed.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must is the result of a call that does not fail: must(NewCPU())(t). What it made is closed at the end of the test.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		switch made := any(value).(type) {
		case interface{ Close() error }:
			t.Cleanup(func() { check(t, made.Close()) })
		case []*Buffer:
			t.Cleanup(func() { closeAll(made) })
		}
		return value
	}
}

func closeAll(buffers []*Buffer) {
	for _, buffer := range buffers {
		_ = buffer.Close()
	}
}

// fails ends the test unless the error is of this kind and its message holds the text.
func fails(t testing.TB, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Fatalf("expected %v with %q, got %v", kind, text, err)
	}
}

func equal(t testing.TB, found, expected any) {
	t.Helper()
	if !reflect.DeepEqual(found, expected) {
		t.Fatalf("found %v, expected %v", found, expected)
	}
}

// noLeaks makes sure that no object of the library is left when the test is over. A stream with work goes with its work.
func noLeaks(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		for range 2000 {
			if count, err := LiveObjects(); err == nil && count == 0 {
				return
			}
			time.Sleep(time.Millisecond)
		}
		count, err := LiveObjects()
		t.Errorf("%d objects are still alive: %v", count, err)
	})
}

// collected waits until the garbage collector has taken everything.
func collected(t testing.TB) {
	t.Helper()
	for range 200 {
		runtime.GC()
		if count, err := LiveObjects(); err == nil && count == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	count, _ := LiveObjects()
	t.Errorf("%d objects are still alive after collections", count)
}

func vector[T Element](t testing.TB, values ...T) *Buffer {
	t.Helper()
	return must(NewBufferFrom(nil, []int64{int64(len(values))}, values))(t)
}

func data[T Element](t testing.TB, buffer *Buffer) []T {
	t.Helper()
	return must(Data[T](buffer))(t)
}

// unary is a model of one operator on a float32 vector of any length.
func unary(t testing.TB, session *Session, operator string) *Model {
	t.Helper()
	graph := must(NewGraph(operator))(t)
	x := must(graph.AddInput("x", DTypeFloat32, []int64{Dynamic}, &InputOptions{DimensionNames: []string{"n"}}))(t)
	y := must(graph.Apply(operator, x))(t)
	check(t, graph.AddOutput(y, "y"))
	return must(session.Compile(background, graph, nil))(t)
}

// slow is a model that runs for a long time: a loop of matrix products.
func slow(t testing.TB, session *Session) *Model {
	t.Helper()
	graph := must(NewGraph("slow"))(t)
	x := must(graph.AddInput("x", DTypeFloat32, []int64{64, 64}, nil))(t)
	trips := must(graph.AddConstant("trips", must(NewBufferFrom(nil, nil, []int64{1 << 40}))(t)))(t)
	yes := must(graph.AddConstant("yes", must(NewBufferFrom(nil, nil, []bool{true}))(t)))(t)
	body := must(graph.Subgraph("body"))(t)
	must(body.AddInput("i", DTypeInt64, nil, nil))(t)
	goOn := must(body.AddInput("go_on", DTypeBool, nil, nil))(t)
	carried := must(body.AddInput("carried", DTypeFloat32, []int64{64, 64}, nil))(t)
	check(t, body.AddOutput(must(body.Apply("Identity", goOn))(t), "go_on_again"))
	check(t, body.AddOutput(must(body.Apply("MatMul", carried, x))(t), "next"))
	outputs, err := graph.AddNode("Loop", []*GraphValue{trips, yes, x}, &NodeOptions{Attributes: Attributes{"body": body}})
	check(t, err)
	check(t, graph.AddOutput(outputs[0], "y"))
	return must(session.Compile(background, graph, nil))(t)
}

func digits(t testing.TB) string {
	t.Helper()
	path := filepath.Join(repository, "examples/digits/digits.onnx")
	_, err := os.Stat(path)
	check(t, err)
	return path
}
