// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// everything is one object of each kind, made from each other.
func everything(t *testing.T) []interface{ Close() error } {
	t.Helper()
	device, err := NewCPU()
	check(t, err)
	stream, err := NewStream(device, nil)
	check(t, err)
	event, err := NewEvent(device, nil)
	check(t, err)
	check(t, stream.RecordEvent(event))
	buffer, err := NewBuffer(device, DTypeFloat32, []int64{4}, &BufferOptions{Stream: stream, Zeroed: true})
	check(t, err)
	view, err := buffer.Slice(Range(1, 3))
	check(t, err)
	value, err := NewTensorValue(buffer)
	check(t, err)
	session, err := NewSession(&SessionOptions{Devices: []*Device{device}})
	check(t, err)
	graph, err := NewGraph("all")
	check(t, err)
	x, err := graph.AddInput("x", DTypeFloat32, []int64{4}, nil)
	check(t, err)
	y, err := graph.Apply("Neg", x)
	check(t, err)
	check(t, graph.AddOutput(y, "y"))
	model, err := session.Compile(background, graph, nil)
	check(t, err)
	outputs, err := model.ExecuteWith(background, []*Buffer{buffer}, &ExecuteOptions{Stream: stream})
	check(t, err)
	memory, err := NewHostMemory(device, 64)
	check(t, err)
	return []interface{ Close() error }{device, stream, event, buffer, view, value, session, graph, model, outputs[0], memory}
}

func TestHandlesCloseInEveryOrder(t *testing.T) {
	noLeaks(t)
	for seed := range uint64(40) {
		all := everything(t)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, object := range all {
			check(t, object.Close())
			check(t, object.Close())
		}
	}
}

func TestHandlesAreCollected(t *testing.T) {
	for range 20 {
		everything(t)
	}
	collected(t)
}

// Each method of each type, on nil, on a zero value and after Close, with zero values for arguments: an error, no panic.
func TestHandlesThatAreGone(t *testing.T) {
	noLeaks(t)
	closed := everything(t)
	for _, object := range closed {
		check(t, object.Close())
	}
	count := 0
	for _, object := range append(closed, &Module{}, &Kernel{}, &Weights{}) {
		kind := reflect.TypeOf(object).Elem()
		for i := range reflect.PointerTo(kind).NumMethod() {
			if name := reflect.PointerTo(kind).Method(i).Name; name == "Close" {
				continue
			}
			for state, receiver := range map[string]reflect.Value{
				"nil": reflect.Zero(reflect.PointerTo(kind)), "zero": reflect.New(kind), "closed": reflect.ValueOf(object),
			} {
				fails := callWithZeros(receiver.Method(i))
				if !fails {
					t.Errorf("%v.%s of a %s one did not fail", kind, reflect.PointerTo(kind).Method(i).Name, state)
				}
				count++
			}
		}
		equal(t, reflect.Zero(reflect.PointerTo(kind)).Interface().(interface{ Close() error }).Close(), nil)
		equal(t, reflect.New(kind).Interface().(interface{ Close() error }).Close(), nil)
	}
	t.Logf("%d calls", count)
}

func callWithZeros(method reflect.Value) bool {
	var arguments []reflect.Value
	for i := range method.Type().NumIn() {
		kind := method.Type().In(i)
		switch {
		case method.Type().IsVariadic() && i == method.Type().NumIn()-1:
		case kind == reflect.TypeFor[context.Context]():
			arguments = append(arguments, reflect.ValueOf(background))
		case kind.Kind() == reflect.Func:
			arguments = append(arguments, reflect.MakeFunc(kind, func([]reflect.Value) []reflect.Value {
				results := []reflect.Value{}
				for j := range kind.NumOut() {
					results = append(results, reflect.Zero(kind.Out(j)))
				}
				return results
			}))
		default:
			arguments = append(arguments, reflect.Zero(kind))
		}
	}
	results := method.Call(arguments)
	err, _ := results[len(results)-1].Interface().(error)
	return err != nil && StatusOf(err) != StatusUnknown
}

// Close at any time, while others call: each call works or says that the object is closed.
func TestHandlesClosedByAnother(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	for range 50 {
		model, input := unary(t, session, "Neg"), vector[float32](t, 1, 2)
		var group sync.WaitGroup
		for i := range 4 {
			group.Add(1)
			go func() {
				defer group.Done()
				for range 50 {
					outputs, err := model.Execute(background, input)
					if err != nil && !strings.Contains(err.Error(), "is closed") {
						t.Errorf("%v", err)
					}
					closeAll(outputs)
					if _, err := input.Info(); err != nil && !strings.Contains(err.Error(), "is closed") {
						t.Errorf("%v", err)
					}
				}
				if i%2 == 0 {
					_ = input.Close()
				} else {
					_ = model.Close()
				}
			}()
		}
		runtime.Gosched()
		_ = input.Close()
		group.Wait()
	}
}

// A box that is used again is not the closed object's any more.
func TestHandlesOfReusedBoxes(t *testing.T) {
	noLeaks(t)
	old := vector[float32](t, 1)
	check(t, old.Close())
	for i := range 100 {
		buffer := vector[float32](t, float32(i))
		check(t, old.Close())
		_, err := Data[float32](old)
		fails(t, err, ErrFailedPrecondition, "the buffer is closed")
		equal(t, data[float32](t, buffer)[0], float32(i))
		check(t, buffer.Close())
	}
}

// What is closed goes with the last call that is within it, wherever that was counted.
func TestHandlesOfCrowds(t *testing.T) {
	released := 0
	class := newCrowdedClass("thing", func(*int) { released++ })
	thing := class.open(unsafe.Pointer(new(int)))
	places := []int{0, 3, crowdPlaces - 1}
	for _, place := range places {
		_, err := thing.enterCrowd(class, place)
		check(t, err)
	}
	_, err := thing.enter(class)
	check(t, err)
	thing.close()
	_, err = thing.enterCrowd(class, 1)
	fails(t, err, ErrFailedPrecondition, "the thing is closed")
	thing.leave()
	for _, place := range places {
		equal(t, released, 0)
		thing.leaveCrowd(place)
	}
	equal(t, released, 1)
	thing.close()
	equal(t, released, 1)
}

func TestHandlesOfCrowdsClosedByAnother(t *testing.T) {
	type thing struct{ isGone atomic.Bool }
	class := newCrowdedClass("thing", func(gone *thing) {
		if gone.isGone.Swap(true) {
			t.Error("the thing was released twice")
		}
	})
	for range 500 {
		made := new(thing)
		handle := class.open(unsafe.Pointer(made))
		together(4, func(number int) {
			for calls := 0; ; calls++ {
				if _, err := handle.enterCrowd(class, number); err != nil {
					return
				}
				if made.isGone.Load() {
					t.Error("a call is within a thing that was released")
				}
				if calls == 100*(number+1) {
					handle.close()
				}
				handle.leaveCrowd(number)
			}
		})
		equal(t, made.isGone.Load(), true)
	}
}
