// SPDX-License-Identifier: Apache-2.0

package max

import (
	"embed"
	"os"
	"path/filepath"
	"testing"
)

//go:embed go.mod
var embedded embed.FS

func TestModelOfAFile(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	var phases []string
	last := -1.0
	model := must(session.Load(background, digits(t), &LoadOptions{Progress: func(fraction float64, phase string) {
		if fraction < last || fraction > 1 {
			t.Errorf("%v after %v", fraction, last)
		}
		last = fraction
		phases = append(phases, phase)
	}}))(t)
	equal(t, len(phases) > 0, true)
	inputs, outputs := must(model.Inputs())(t), must(model.Outputs())(t)
	equal(t, len(inputs), 1)
	equal(t, inputs[0].DType, DTypeFloat32)
	equal(t, inputs[0].Rank, 4)
	equal(t, inputs[0].Shape[1:], []int64{1, 8, 8})
	equal(t, inputs[0].Device, "cpu:0")
	equal(t, must(model.InputIndex(inputs[0].Name))(t), 0)
	equal(t, must(model.OutputIndex(outputs[0].Name))(t), 0)
	_, err := model.InputIndex("nobody")
	fails(t, err, ErrNotFound, "nobody")
	equal(t, must(model.Precision())(t), PrecisionHighest)
	equal(t, must(must(model.Session())(t).ThreadCount())(t), must(session.ThreadCount())(t))
	if drawing := must(model.Graph())(t); drawing[:7] != "digraph" {
		t.Error(drawing)
	}
}

func TestModelInFourWays(t *testing.T) {
	noLeaks(t)
	path, folder := digits(t), t.TempDir()
	session := must(NewSession(nil))(t)
	bytes := must(os.ReadFile(path))(t)
	first := must(session.Load(background, path, &LoadOptions{CopyWeights: true, Precision: PrecisionHighest}))(t)
	check(t, first.Save(filepath.Join(folder, "model.maxc")))
	models := []*Model{
		first,
		must(session.LoadBytes(background, bytes, nil))(t),
		must(session.LoadFS(background, os.DirFS(filepath.Dir(path)), filepath.Base(path), nil))(t),
		must(session.Load(background, folder, nil))(t),
	}
	input := must(NewBuffer(nil, DTypeFloat32, []int64{1, 1, 8, 8}, &BufferOptions{Zeroed: true}))(t)
	var results [][]float32
	for _, model := range models {
		results = append(results, data[float32](t, must(model.Execute(background, input))(t)[0]))
	}
	for _, result := range results {
		equal(t, result, results[0])
	}
}

func TestModelErrors(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	_, err := session.Load(background, "/no/such/model.onnx", nil)
	fails(t, err, ErrNotFound, "/no/such/model.onnx")
	_, err = session.LoadBytes(background, nil, nil)
	fails(t, err, ErrDataLoss, "empty")
	_, err = session.LoadFS(background, embedded, "go.mod", nil)
	fails(t, err, ErrDataLoss, "")
	_, err = session.Load(background, digits(t), &LoadOptions{Weights: map[string]*Buffer{"nobody": vector[float32](t, 1)}})
	fails(t, err, ErrNotFound, "nobody")
	_, err = session.Load(background, digits(t), &LoadOptions{Weights: map[string]*Buffer{"nobody": nil}})
	fails(t, err, ErrInvalidArgument, "the buffer is nil")
	_, err = session.Load(background, digits(t), &LoadOptions{Extensions: []string{"/no/such/extension.so"}})
	fails(t, err, ErrNotFound, "/no/such/extension.so")
	_, err = session.Compile(background, nil, nil)
	fails(t, err, ErrInvalidArgument, "the graph is nil")
	model := must(session.Load(background, digits(t), &LoadOptions{IgnoreUnknownWeights: true,
		Weights: map[string]*Buffer{"nobody": vector[float32](t, 1)}}))(t)
	fails(t, model.Save("/no/such/folder/a.maxc"), ErrNotFound, "/no/such/folder")
}

func TestModelInfo(t *testing.T) {
	noLeaks(t)
	info := must(LoadModelInfo(digits(t)))(t)
	equal(t, info.IRVersion > 0, true)
	equal(t, info.ParameterCount > 0, true)
	equal(t, len(info.Unsupported), 0)
	equal(t, len(info.Inputs), 1)
	equal(t, info.Opsets[0].Domain, "ai.onnx")
	equal(t, len(info.Operators) > 0 && len(info.Weights) > 0 && len(info.Outputs) == 1, true)
	equal(t, info.Graph[:7], "digraph")
	session := must(NewSession(nil))(t)
	mine := must(must(session.Load(background, digits(t), nil))(t).Info())(t)
	equal(t, mine.Operators, info.Operators)
	built := must(unary(t, session, "Neg").Info())(t)
	equal(t, built.Operators, []OperatorCount{{"Neg", 1}})
	_, err := LoadModelInfo("/no/such/model.onnx")
	fails(t, err, ErrNotFound, "/no/such/model.onnx")
}

// linear is x * w with a weight of two numbers.
func linear(t *testing.T, session *Session) *Model {
	t.Helper()
	graph := must(NewGraph("linear"))(t)
	x := must(graph.AddInput("x", DTypeFloat32, []int64{2}, nil))(t)
	w := must(graph.AddWeight("w", DTypeFloat32, []int64{2}, nil))(t)
	check(t, graph.AddOutput(must(graph.Apply("Mul", x, w))(t), "y"))
	_, err := session.Compile(background, graph, nil)
	fails(t, err, ErrFailedPrecondition, "w")
	return must(session.Compile(background, graph, &LoadOptions{Weights: map[string]*Buffer{"w": vector[float32](t, 2, 3)}}))(t)
}

func TestWeightsAreReplaced(t *testing.T) {
	noLeaks(t)
	model, input := linear(t, must(NewSession(nil))(t)), vector[float32](t, 10, 10)
	run := func() []float32 { return data[float32](t, must(model.Execute(background, input))(t)[0]) }
	equal(t, run(), []float32{20, 30})
	check(t, model.ReplaceWeights(map[string]*Buffer{"w": vector[float32](t, 4, 5)}))
	equal(t, run(), []float32{40, 50})
	fails(t, model.ReplaceWeights(map[string]*Buffer{"v": vector[float32](t, 4, 5)}), ErrNotFound, "v")
	fails(t, model.ReplaceWeights(map[string]*Buffer{"w": vector[float32](t, 4)}), ErrInvalidArgument, "w")
	equal(t, run(), []float32{40, 50})
}

func TestWeightsOfAFile(t *testing.T) {
	noLeaks(t)
	path := filepath.Join(t.TempDir(), "w.max")
	check(t, vector[float32](t, 6, 7).Save(path, "w"))
	weights := must(LoadWeights(path))(t)
	w := must(weights.Buffer("w"))(t)
	check(t, weights.Close())
	equal(t, data[float32](t, w), []float32{6, 7})
	fails(t, Fill[float32](w, 1, nil), ErrFailedPrecondition, "read-only")
	again := must(LoadWeights(path))(t)
	_, err := again.Buffer("v")
	fails(t, err, ErrNotFound, "v")
	_, err = LoadWeights(path + "x")
	fails(t, err, ErrNotFound, path)

	session, graph := must(NewSession(nil))(t), must(NewGraph(""))(t)
	x := must(graph.AddInput("x", DTypeFloat32, []int64{2}, nil))(t)
	fromFile := must(graph.AddWeightFromWeights("w", again))(t)
	fromBuffer := must(graph.AddWeightFromBuffer("b", w))(t)
	product := must(graph.Apply("Mul", x, fromFile))(t)
	check(t, graph.AddOutput(must(graph.Apply("Add", product, fromBuffer))(t), ""))
	model := must(session.Compile(background, graph, &LoadOptions{WeightsPath: path}))(t)
	output := must(model.Execute(background, vector[float32](t, 1, 2)))(t)
	equal(t, data[float32](t, output[0]), []float32{12, 21})
}
