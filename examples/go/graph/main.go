// SPDX-License-Identifier: Apache-2.0

// Command graph builds a graph in code: a network of two layers that computes the exclusive or.
//
//	go run ./graph
package main

import (
	"context"
	"fmt"
	"log"

	max "github.com/max-runtime/max/bindings/go"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func buffer(rows, columns int64, data ...float32) *max.Buffer {
	return must(max.NewBufferFrom(nil, []int64{rows, columns}, data))
}

// layer is x * matrix + bias, with weights by name whose contents come when the graph is compiled.
func layer(graph *max.Graph, x *max.GraphValue, name string, inputs, outputs int64) *max.GraphValue {
	matrix := must(graph.AddWeight(name+".matrix", max.DTypeFloat32, []int64{inputs, outputs}, nil))
	bias := must(graph.AddWeight(name+".bias", max.DTypeFloat32, []int64{1, outputs}, nil))
	return must(graph.Apply("Add", must(graph.Apply("MatMul", x, matrix)), bias))
}

func build() *max.Graph {
	graph := must(max.NewGraph("exclusive_or"))
	options := &max.InputOptions{DimensionNames: []string{"batch", ""}}
	x := must(graph.AddInput("x", max.DTypeFloat32, []int64{max.Dynamic, 2}, options))
	hidden := must(graph.Apply("Relu", layer(graph, x, "hidden", 2, 2)))
	if err := graph.AddOutput(layer(graph, hidden, "output", 2, 1), "y"); err != nil {
		log.Fatal(err)
	}
	return graph
}

func main() {
	ctx := context.Background()
	graph := build()
	defer graph.Close()
	session := must(max.NewSession(nil))
	defer session.Close()
	model := must(session.Compile(ctx, graph, &max.LoadOptions{Weights: map[string]*max.Buffer{
		"hidden.matrix": buffer(2, 2, 1, 1, 1, 1), "hidden.bias": buffer(1, 2, 0, -1),
		"output.matrix": buffer(2, 1, 1, -2), "output.bias": buffer(1, 1, 0),
	}}))
	defer model.Close()

	pairs := []float32{0, 0, 0, 1, 1, 0, 1, 1}
	outputs := must(model.Execute(ctx, buffer(4, 2, pairs...)))
	for i, result := range must(max.Data[float32](outputs[0])) {
		fmt.Printf("%.0f xor %.0f = %.0f\n", pairs[2*i], pairs[2*i+1], result)
	}
}
