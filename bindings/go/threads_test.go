// SPDX-License-Identifier: Apache-2.0

package max

import (
	"sync"
	"testing"
)

func together(count int, function func(number int)) {
	var group sync.WaitGroup
	for number := range count {
		group.Add(1)
		go func() {
			defer group.Done()
			function(number)
		}()
	}
	group.Wait()
}

func TestThreadsShareAModel(t *testing.T) {
	noLeaks(t)
	model := adder(t, must(NewSession(&SessionOptions{ThreadCount: 1}))(t))
	together(8, func(number int) {
		a, b := float32(number), float32(number*number)
		inputs := []*Buffer{vector(t, a, a), vector(t, b, b)}
		outputs := []*Buffer{vector[float32](t, 0, 0), vector[float32](t, 0, 0)}
		for range 200 {
			check(t, model.ExecuteInto(background, inputs, outputs))
			made, err := model.Execute(background, inputs...)
			check(t, err)
			for _, sums := range []*Buffer{outputs[0], made[0]} {
				equal(t, data[float32](t, sums), []float32{a + b, a + b})
			}
			closeAll(made)
		}
	})
}

func TestThreadsOpenAndClose(t *testing.T) {
	noLeaks(t)
	together(8, func(int) {
		for range 100 {
			device, err := NewCPU()
			check(t, err)
			buffer, err := NewBufferFrom(device, []int64{3}, []int32{1, 2, 3})
			check(t, err)
			view, err := buffer.Slice(Index(-1))
			check(t, err)
			check(t, device.Close())
			check(t, buffer.Close())
			equal(t, data[int32](t, view), []int32{3})
			check(t, view.Close())
		}
	})
}

func TestThreadsShareAStream(t *testing.T) {
	noLeaks(t)
	stream := must(NewStream(nil, nil))(t)
	count := 0
	together(8, func(int) {
		for range 50 {
			check(t, stream.EnqueueFunc(func(error) { count++ })) // in order, so alone
			check(t, stream.Synchronize(background))
		}
	})
	equal(t, count, 400)
}

func TestThreadsBuildGraphs(t *testing.T) {
	noLeaks(t)
	graph := must(NewGraph(""))(t)
	x := must(graph.AddInput("x", DTypeFloat32, []int64{2}, nil))(t)
	together(8, func(int) {
		for range 20 {
			_, err := graph.Apply("Neg", x)
			check(t, err)
			_, err = x.Info()
			check(t, err)
		}
	})
	equal(t, must(graph.NodeCount())(t), 160)
}
