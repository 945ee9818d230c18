// SPDX-License-Identifier: Apache-2.0

package max

import "testing"

func TestGraph(t *testing.T) {
	noLeaks(t)
	device, graph := must(NewCPU())(t), must(NewGraph("net"))(t)
	x := must(graph.AddInput("x", DTypeFloat32, []int64{Dynamic, 3}, &InputOptions{DimensionNames: []string{"n", ""}, Device: device}))(t)
	like := must(graph.AddInputLike("like", x))(t)
	scale := must(graph.AddConstant("scale", vector[float32](t, 1, 2, 3)))(t)
	product := must(graph.Apply("Mul", x, scale))(t)
	sum, err := graph.AddNode("Sum", []*GraphValue{product, like}, &NodeOptions{Name: "total"})
	check(t, err)
	check(t, graph.AddOutput(sum[0], "y"))

	info := must(sum[0].Info())(t)
	equal(t, info.Shape, []int64{Dynamic, 3})
	equal(t, info.DimensionNames[0], "n")
	equal(t, must(graph.Name())(t), "net")
	equal(t, must(graph.NodeCount())(t), 2)
	equal(t, len(must(graph.Inputs())(t)), 2)
	equal(t, len(must(graph.Outputs())(t)), 1)
	equal(t, must(graph.OutputNames())(t), []string{"y"})
	equal(t, must(must(graph.Value("like"))(t).Info())(t).Name, "like")
	equal(t, x.Graph() == graph, true)

	model := must(must(NewSession(nil))(t).Compile(background, graph, nil))(t)
	rows := must(NewBufferFrom(device, []int64{2, 3}, []float32{1, 1, 1, 2, 2, 2}))(t)
	equal(t, data[float32](t, must(model.Execute(background, rows, rows))(t)[0]), []float32{2, 3, 4, 4, 6, 8})
}

func TestGraphAttributes(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	for name, wanted := range map[string]struct {
		operator   string
		attributes Attributes
		result     []float32
	}{
		"int":     {"Softmax", Attributes{"axis": -1}, []float32{0.5, 0.5}},
		"int64":   {"Softmax", Attributes{"axis": int64(0)}, []float32{0.5, 0.5}},
		"int32":   {"Softmax", Attributes{"axis": int32(0)}, []float32{0.5, 0.5}},
		"float32": {"LeakyRelu", Attributes{"alpha": float32(0.5)}, []float32{-1, -1}},
		"float64": {"LeakyRelu", Attributes{"alpha": 0.25}, []float32{-0.5, -0.5}},
		"string":  {"Gelu", Attributes{"approximate": "none"}, []float32{-0.04550027, -0.04550027}},
		"bool":    {"CumSum", Attributes{"reverse": true}, []float32{-4, -2}},
	} {
		t.Run(name, func(t *testing.T) {
			graph := must(NewGraph(name))(t)
			inputs := []*GraphValue{must(graph.AddInput("x", DTypeFloat32, []int64{2}, nil))(t)}
			if wanted.operator == "CumSum" {
				inputs = append(inputs, must(graph.AddConstant("", must(NewBufferFrom(nil, nil, []int64{0}))(t)))(t))
			}
			outputs, err := graph.AddNode(wanted.operator, inputs, &NodeOptions{Attributes: wanted.attributes})
			check(t, err)
			check(t, graph.AddOutput(outputs[0], "y"))
			model := must(session.Compile(background, graph, nil))(t)
			found := data[float32](t, must(model.Execute(background, vector[float32](t, -2, -2)))(t)[0])
			for i := range found {
				if difference := found[i] - wanted.result[i]; difference > 1e-6 || difference < -1e-6 {
					t.Errorf("%v, not %v", found, wanted.result)
				}
			}
		})
	}
}

func TestGraphConstantNodes(t *testing.T) {
	noLeaks(t)
	graph := must(NewGraph(""))(t)
	for name, attributes := range map[string]Attributes{
		"ints": {"value_ints": []int64{1, 2}}, "more": {"value_ints": []int{1, 2}}, "floats": {"value_floats": []float32{1, 2}},
		"tensor": {"value": vector[int8](t, 1, 2)},
	} {
		outputs, err := graph.AddNode("Constant", nil, &NodeOptions{Attributes: attributes})
		check(t, err)
		equal(t, must(outputs[0].Info())(t).Shape, []int64{2})
		t.Log(name)
	}
}

func TestGraphOfOtherDomains(t *testing.T) {
	noLeaks(t)
	graph := must(NewGraph(""))(t)
	x := must(graph.AddInput("x", DTypeString, []int64{Dynamic}, nil))(t)
	y, err := graph.AddNode("LabelEncoder", []*GraphValue{x}, &NodeOptions{Domain: "ai.onnx.ml", Attributes: Attributes{
		"keys_strings": []string{"a", "b"}, "values_strings": []string{"first", "second"}, "default_string": "none"}})
	check(t, err)
	check(t, graph.AddOutput(y[0], "y"))
	model := must(must(NewSession(nil))(t).Compile(background, graph, nil))(t)
	output := must(model.Execute(background, must(NewStringBuffer([]int64{3}, []string{"b", "c", "a"}))(t)))(t)
	equal(t, must(output[0].Strings())(t), []string{"second", "none", "first"})
	_, err = graph.AddNode("LabelEncoder", []*GraphValue{x}, &NodeOptions{Domain: "ai.onnx.ml", Attributes: Attributes{
		"keys_strings": []string{"a\x00"}}})
	fails(t, err, ErrInvalidArgument, "NUL byte")
}

func TestGraphErrors(t *testing.T) {
	noLeaks(t)
	graph, other := must(NewGraph(""))(t), must(NewGraph("other"))(t)
	x := must(graph.AddInput("x", DTypeFloat32, []int64{2}, nil))(t)
	foreign := must(other.AddInput("x", DTypeFloat32, []int64{2}, nil))(t)
	_, err := graph.AddInput("x", DTypeFloat32, []int64{2}, nil)
	fails(t, err, ErrInvalidArgument, "x")
	_, err = graph.AddInput("y", DTypeFloat32, []int64{2}, &InputOptions{DimensionNames: []string{"a", "b"}})
	fails(t, err, ErrInvalidArgument, "2 names do not fit 1 dimensions")
	_, err = graph.AddUnrankedInput("z", DTypeFloat32)
	fails(t, err, ErrInvalidArgument, "-1")
	_, err = graph.Apply("NoSuchOperator", x)
	fails(t, err, ErrUnimplemented, "NoSuchOperator")
	_, err = graph.Apply("Add", x)
	fails(t, err, ErrInvalidArgument, "Add")
	_, err = graph.Apply("Add", x, foreign)
	fails(t, err, ErrInvalidArgument, "x")
	_, err = graph.Apply("Add", x, &GraphValue{})
	fails(t, err, ErrInvalidArgument, "the graph value is nil")
	_, err = graph.AddNode("Cast", []*GraphValue{x}, &NodeOptions{Attributes: Attributes{"to": struct{}{}}})
	fails(t, err, ErrInvalidArgument, "struct {}")
	_, err = graph.AddNode("Cast", []*GraphValue{x}, &NodeOptions{Attributes: Attributes{"to": (*Buffer)(nil)}})
	fails(t, err, ErrInvalidArgument, "the buffer is nil")
	_, err = graph.Value("nobody")
	fails(t, err, ErrNotFound, "nobody")
	fails(t, graph.AddOutput(nil, "y"), ErrInvalidArgument, "the graph value is nil")
	_, err = must(NewSession(nil))(t).Compile(background, graph, nil)
	fails(t, err, ErrFailedPrecondition, "")
	check(t, other.Close())
	_, err = foreign.Info()
	fails(t, err, ErrFailedPrecondition, "the graph is closed")
	_, err = graph.Apply("Neg", foreign)
	fails(t, err, ErrFailedPrecondition, "the graph is closed")
}

func TestGraphSubgraphs(t *testing.T) {
	noLeaks(t)
	graph := must(NewGraph(""))(t)
	yes := must(graph.AddInput("yes", DTypeBool, nil, nil))(t)
	x := must(graph.AddInput("x", DTypeFloat32, []int64{2}, nil))(t)
	branches := Attributes{}
	for name, operator := range map[string]string{"then_branch": "Neg", "else_branch": "Abs"} {
		branch := must(graph.Subgraph(name))(t)
		check(t, branch.AddOutput(must(branch.Apply(operator, x))(t), ""))
		branches[name] = branch
	}
	outputs, err := graph.AddNode("If", []*GraphValue{yes}, &NodeOptions{Attributes: branches})
	check(t, err)
	check(t, graph.AddOutput(outputs[0], "y"))
	_, err = branches["then_branch"].(*Graph).Apply("Neg", x)
	fails(t, err, ErrFailedPrecondition, "")
	model := must(must(NewSession(nil))(t).Compile(background, graph, nil))(t)
	for condition, wanted := range map[bool][]float32{true: {1, -2}, false: {1, 2}} {
		flag := must(NewBufferFrom(nil, nil, []bool{condition}))(t)
		equal(t, data[float32](t, must(model.Execute(background, flag, vector[float32](t, -1, 2)))(t)[0]), wanted)
	}
	check(t, graph.Close()) // the branches' graphs hold their parent
	must(must(branches["then_branch"].(*Graph).Outputs())(t)[0].Info())(t)
}
