// SPDX-License-Identifier: Apache-2.0

package max

import "unsafe"

// Attributes of a node by name: int, int32, int64, bool, float32, float64, string, a slice of int64, int, float32 or string,
// a DType, a *Buffer for a tensor, a *Graph for a subgraph.
type Attributes map[string]any

// NodeOptions of Graph.AddNode.
type NodeOptions struct {
	// Domain of the operator; "" = ONNX's own.
	Domain string
	// Name is for messages and profiles.
	Name string
	// Attributes are copied.
	Attributes Attributes
	// OutputCount is the number of outputs; 0 = 1.
	OutputCount int
}

// Apply adds a node with one output: an operator on values, with the meaning of the newest ONNX operator set.
func (g *Graph) Apply(operator string, inputs ...*GraphValue) (*GraphValue, error) {
	values, err := g.AddNode(operator, inputs, nil)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// AddNode adds a node and returns its outputs. A nil input leaves an optional one out. Inputs, attributes and shapes are
// checked; the error names node, operator, tensors and shapes, and the graph is as it was.
func (g *Graph) AddNode(operator string, inputs []*GraphValue, options *NodeOptions) ([]*GraphValue, error) {
	if options == nil {
		options = &NodeOptions{}
	}
	count := max(options.OutputCount, 1)
	outputs := make([]*maxGraphValue, count)
	err := g.change(func(raw *maxGraph, a *arena) error {
		name, kind := a.optionalText("the name", options.Name), a.text("the operator", operator)
		domain, number := a.optionalText("the domain", options.Domain), a.count("outputs", count)
		values := a.nodeInputs(inputs)
		attributes := a.attributes(options.Attributes)
		if a.err != nil {
			return a.err
		}
		return maxGraphAddNode(raw, domain, kind, name, values, a.count("inputs", len(inputs)), attributes,
			unsafe.SliceData(outputs), number)
	})
	if err != nil {
		return nil, err
	}
	values := make([]*GraphValue, count)
	for i, output := range outputs {
		values[i] = &GraphValue{g, output}
	}
	return values, nil
}

func (a *arena) nodeInputs(inputs []*GraphValue) **maxGraphValue {
	raws := make([]*maxGraphValue, len(inputs))
	for i, input := range inputs {
		if input != nil {
			raws[i] = a.graphValue(input)
		}
	}
	return pinned(a, raws)
}

// attributes are those of a node until the arena ends; nil if there are none.
func (a *arena) attributes(values Attributes) *maxAttributes {
	if len(values) == 0 || a.err != nil {
		return nil
	}
	made := new(*maxAttributes)
	if err := maxAttributesCreate(made); err != nil {
		a.fail(err)
		return nil
	}
	attributes := *made
	a.leaves = append(a.leaves, func() { maxAttributesRelease(attributes) })
	for _, name := range sortedKeys(values) {
		text := a.text("the name of an attribute", name)
		if a.err == nil {
			a.setAttribute(attributes, name, text, values[name])
		}
	}
	return attributes
}

func (a *arena) setAttribute(attributes *maxAttributes, name string, text *byte, value any) {
	var err error
	switch value := value.(type) {
	case bool:
		err = maxAttributesSetInt(attributes, text, int64(flag(value)))
	case int:
		err = maxAttributesSetInt(attributes, text, int64(value))
	case int32:
		err = maxAttributesSetInt(attributes, text, int64(value))
	case int64:
		err = maxAttributesSetInt(attributes, text, value)
	case DType:
		err = maxAttributesSetDType(attributes, text, value)
	case float32:
		err = maxAttributesSetFloat(attributes, text, value)
	case float64:
		err = maxAttributesSetFloat(attributes, text, float32(value))
	case []int64:
		err = maxAttributesSetInts(attributes, text, unsafe.SliceData(value), a.count("numbers", len(value)))
	case []float32:
		err = maxAttributesSetFloats(attributes, text, unsafe.SliceData(value), a.count("numbers", len(value)))
	default:
		err = a.setRareAttribute(attributes, name, text, value)
	}
	if err != nil {
		a.fail(err)
	}
}

func (a *arena) setRareAttribute(attributes *maxAttributes, name string, text *byte, value any) error {
	switch value := value.(type) {
	case []int:
		numbers := make([]int64, len(value))
		for i, number := range value {
			numbers[i] = int64(number)
		}
		return maxAttributesSetInts(attributes, text, unsafe.SliceData(numbers), a.count("numbers", len(numbers)))
	case string:
		content := a.text("the attribute "+name, value)
		if a.err != nil {
			return a.err
		}
		return maxAttributesSetString(attributes, text, content)
	case []string:
		contents := a.texts("the attribute "+name, value)
		if a.err != nil {
			return a.err
		}
		return maxAttributesSetStrings(attributes, text, contents, a.count("strings", len(value)))
	case *Buffer:
		return perform(value, func(raw *maxBuffer) error { return maxAttributesSetTensor(attributes, text, raw) })
	case *Graph:
		return perform(value, func(raw *maxGraph) error { return maxAttributesSetGraph(attributes, text, raw) })
	}
	return invalid("the attribute %s is of type %T, which attributes do not have", name, value)
}
