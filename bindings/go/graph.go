// SPDX-License-Identifier: Apache-2.0

package max

import (
	"sync"
	"unsafe"
)

// Graph is a network built in code: any ONNX operator by name, checked step by step.
type Graph struct {
	handle handle
	root   *graphRoot
}

// A graph and its subgraphs change one at a time.
type graphRoot struct{ lock sync.Mutex }

// GraphValue is a tensor of a graph, and lives as long as it.
type GraphValue struct {
	graph *Graph
	raw   *maxGraphValue
}

var graphClass = newClass("graph", maxGraphRelease)

func (r *graphRoot) newGraph(raw *maxGraph) *Graph {
	return &Graph{graphClass.open(unsafe.Pointer(raw)), r}
}

func (g *Graph) use() (*maxGraph, error) {
	if g == nil {
		return use[maxGraph](nil, graphClass)
	}
	return use[maxGraph](&g.handle, graphClass)
}

func (g *Graph) done() { g.handle.leave() }

// Close drops the reference; the graph's values go with it. It never fails.
func (g *Graph) Close() error {
	if g != nil {
		g.handle.close()
	}
	return nil
}

// NewGraph makes an empty graph; the name is for messages, "" = "graph".
func NewGraph(name string) (*Graph, error) {
	var a arena
	defer a.end()
	text := a.optionalText("the name", name)
	if a.err != nil {
		return nil, a.err
	}
	return create(func(out **maxGraph) error { return maxGraphCreate(text, out) }, new(graphRoot).newGraph)
}

// change runs a function on the graph, one at a time.
func (g *Graph) change(function func(raw *maxGraph, a *arena) error) error {
	return perform(g, func(raw *maxGraph) error {
		var a arena
		defer a.end()
		g.root.lock.Lock()
		defer g.root.lock.Unlock()
		return function(raw, &a)
	})
}

// add runs a function that adds a value.
func (g *Graph) add(function func(raw *maxGraph, a *arena, out **maxGraphValue) error) (*GraphValue, error) {
	value := &GraphValue{graph: g}
	err := g.change(func(raw *maxGraph, a *arena) error {
		out := new(*maxGraphValue)
		err := function(raw, a, out)
		value.raw = *out
		return err
	})
	if err != nil {
		return nil, err
	}
	return value, nil
}

// Subgraph makes an empty subgraph: a branch or body for If, Loop and Scan. Its nodes may use this graph's values. It becomes part of a node as
// an attribute, and cannot change after that.
func (g *Graph) Subgraph(name string) (*Graph, error) {
	var subgraph *Graph
	err := g.change(func(raw *maxGraph, a *arena) (err error) {
		text := a.optionalText("the name", name)
		if a.err != nil {
			return a.err
		}
		subgraph, err = create(func(out **maxGraph) error { return maxGraphCreateSubgraph(raw, text, out) }, g.root.newGraph)
		return err
	})
	return subgraph, err
}

// Name returns the name of the graph.
func (g *Graph) Name() (string, error) { return queryText(g, maxGraphGetName) }

// InputOptions of Graph.AddInput.
type InputOptions struct {
	// DimensionNames name dynamic dimensions, as many as the rank, "" = none; equal names stand for equal dimensions.
	DimensionNames []string
	// Device is where the input is; nil = the first device of the session.
	Device *Device
}

// AddInput adds an input. A dimension that is Dynamic is chosen by each call.
func (g *Graph) AddInput(name string, dtype DType, shape []int64, options *InputOptions) (*GraphValue, error) {
	return g.add(func(raw *maxGraph, a *arena, out **maxGraphValue) error {
		text := a.text("the name", name)
		rank, dimensions := a.shape(shape)
		given := &maxGraphInputOptions{structSize: unsafe.Sizeof(maxGraphInputOptions{})}
		if options != nil {
			given.dimensionNames = a.dimensionNames(options.DimensionNames, len(shape))
			given.device = held[maxDevice](a, options.Device, options.Device != nil)
		}
		if a.err != nil {
			return a.err
		}
		return maxGraphAddInput(raw, text, dtype, rank, dimensions, given, out)
	})
}

func (a *arena) dimensionNames(names []string, rank int) **byte {
	if len(names) == 0 {
		return nil
	}
	if len(names) != rank {
		a.fail(invalid("%d names do not fit %d dimensions", len(names), rank))
		return nil
	}
	found := make([]*byte, rank)
	for i, name := range names {
		found[i] = a.optionalText("the name of a dimension", name)
	}
	return pinned(a, found)
}

// AddUnrankedInput adds an input of a subgraph whose number of dimensions is not known.
func (g *Graph) AddUnrankedInput(name string, dtype DType) (*GraphValue, error) {
	return g.add(func(raw *maxGraph, a *arena, out **maxGraphValue) error {
		text := a.text("the name", name)
		if a.err != nil {
			return a.err
		}
		return maxGraphAddInput(raw, text, dtype, max_RANK_DYNAMIC, nil, nil, out)
	})
}

// AddInputLike adds an input with the type and the device of a value, whatever is known of its dimensions.
func (g *Graph) AddInputLike(name string, value *GraphValue) (*GraphValue, error) {
	return g.add(func(raw *maxGraph, a *arena, out **maxGraphValue) error {
		text, like := a.text("the name", name), a.graphValue(value)
		if a.err != nil {
			return a.err
		}
		return maxGraphAddInputLike(raw, text, like, out)
	})
}

// AddTransfer adds a copy of a value on another device of the session that will compile the graph. Nodes run on the device
// of their inputs that are placed on one: inputs of the graph that name it, transfers, and what is computed from them.
func (g *Graph) AddTransfer(value *GraphValue, device *Device) (*GraphValue, error) {
	return g.add(func(raw *maxGraph, a *arena, out **maxGraphValue) error {
		from := a.graphValue(value)
		if a.err != nil {
			return a.err
		}
		return perform(device, func(where *maxDevice) error { return maxGraphAddTransfer(raw, from, where, out) })
	})
}

// AddValueInput adds an input that is a sequence or an optional of tensors of an element type.
func (g *Graph) AddValueInput(name string, kind ValueKind, dtype DType) (*GraphValue, error) {
	return g.add(func(raw *maxGraph, a *arena, out **maxGraphValue) error {
		text := a.text("the name", name)
		if a.err != nil {
			return a.err
		}
		return maxGraphAddValueInput(raw, text, kind, dtype, out)
	})
}

// AddConstant adds a constant, whose contents are copied; "" lets the library choose a name.
func (g *Graph) AddConstant(name string, contents *Buffer) (*GraphValue, error) {
	return g.add(func(raw *maxGraph, a *arena, out **maxGraphValue) error {
		text, buffer := a.optionalText("the name", name), held[maxBuffer](a, contents, true)
		if a.err != nil {
			return a.err
		}
		return maxGraphAddConstant(raw, text, buffer, out)
	})
}

// AddWeight adds a constant whose contents are given by name when the graph is compiled; nil = the session's first device.
func (g *Graph) AddWeight(name string, dtype DType, shape []int64, device *Device) (*GraphValue, error) {
	return g.add(func(raw *maxGraph, a *arena, out **maxGraphValue) error {
		text, place := a.text("the name", name), held[maxDevice](a, device, device != nil)
		rank, dimensions := a.shape(shape)
		if a.err != nil {
			return a.err
		}
		return maxGraphAddWeight(raw, text, dtype, rank, dimensions, place, out)
	})
}

// AddWeightFromBuffer adds a weight with its contents, which are not to be written any more. They can be replaced by name.
func (g *Graph) AddWeightFromBuffer(name string, contents *Buffer) (*GraphValue, error) {
	return g.add(func(raw *maxGraph, a *arena, out **maxGraphValue) error {
		text, buffer := a.text("the name", name), held[maxBuffer](a, contents, true)
		if a.err != nil {
			return a.err
		}
		return maxGraphAddWeightFromBuffer(raw, text, buffer, out)
	})
}

// AddWeightFromWeights adds a weight with the contents that a file of weights has under its name.
func (g *Graph) AddWeightFromWeights(name string, weights *Weights) (*GraphValue, error) {
	return g.add(func(raw *maxGraph, a *arena, out **maxGraphValue) error {
		text, file := a.text("the name", name), held[maxWeights](a, weights, true)
		if a.err != nil {
			return a.err
		}
		return maxGraphAddWeightFromWeights(raw, text, file, out)
	})
}

// AddOutput makes a value the next output of the graph; "" = the value's name.
func (g *Graph) AddOutput(value *GraphValue, name string) error {
	return g.change(func(raw *maxGraph, a *arena) error {
		text, result := a.optionalText("the name", name), a.graphValue(value)
		if a.err != nil {
			return a.err
		}
		return maxGraphAddOutput(raw, result, text)
	})
}

// graphValue holds the graph of a value for the time of the call.
func (a *arena) graphValue(value *GraphValue) *maxGraphValue {
	if value == nil || value.raw == nil {
		a.fail(invalid("the graph value is nil"))
		return nil
	}
	held[maxGraph](a, value.graph, true)
	return value.raw
}

// Inputs returns the inputs of the graph.
func (g *Graph) Inputs() ([]*GraphValue, error) {
	return g.values(maxGraphGetInputCount, maxGraphGetInput)
}

// Outputs returns the values that are outputs; OutputNames has their names as such.
func (g *Graph) Outputs() ([]*GraphValue, error) {
	return g.values(maxGraphGetOutputCount, maxGraphGetOutput)
}

func (g *Graph) values(count func(*maxGraph, *int32) error, get func(*maxGraph, int32, **maxGraphValue) error) ([]*GraphValue, error) {
	var values []*GraphValue
	err := g.change(func(raw *maxGraph, _ *arena) error {
		number := new(int32)
		if err := count(raw, number); err != nil {
			return err
		}
		for i := range *number {
			found := new(*maxGraphValue)
			if err := get(raw, i, found); err != nil {
				return err
			}
			values = append(values, &GraphValue{g, *found})
		}
		return nil
	})
	return values, err
}

// OutputNames returns the names of the outputs.
func (g *Graph) OutputNames() ([]string, error) {
	var names []string
	err := g.change(func(raw *maxGraph, _ *arena) error {
		count := new(int32)
		if err := maxGraphGetOutputCount(raw, count); err != nil {
			return err
		}
		for i := range *count {
			name := new(*byte)
			if err := maxGraphGetOutputName(raw, i, name); err != nil {
				return err
			}
			names = append(names, goText(*name))
		}
		return nil
	})
	return names, err
}

// NodeCount returns the number of nodes, subgraphs not included.
func (g *Graph) NodeCount() (int, error) {
	count := new(int32)
	err := g.change(func(raw *maxGraph, _ *arena) error { return maxGraphGetNodeCount(raw, count) })
	return int(*count), err
}

// Value finds a value of this graph by its name.
func (g *Graph) Value(name string) (*GraphValue, error) {
	return g.add(func(raw *maxGraph, a *arena, out **maxGraphValue) error {
		text := a.text("the name", name)
		if a.err != nil {
			return a.err
		}
		return maxGraphFindValue(raw, text, out)
	})
}

// Graph returns the graph that the value belongs to.
func (v *GraphValue) Graph() *Graph {
	if v == nil {
		return nil
	}
	return v.graph
}

// Info returns what is known of the value.
func (v *GraphValue) Info() (TensorInfo, error) {
	if v == nil || v.raw == nil {
		return TensorInfo{}, invalid("the graph value is nil")
	}
	info := newTensorInfo()
	var found TensorInfo
	err := v.graph.change(func(*maxGraph, *arena) error {
		err := maxGraphValueGetInfo(v.raw, info)
		if err == nil {
			found = info.info()
		}
		return err
	})
	return found, err
}
