// SPDX-License-Identifier: Apache-2.0

package max

// ModelInfo is what a model file holds.
type ModelInfo struct {
	// IRVersion is the version of the file format; 0 for a graph built in code.
	IRVersion int64
	// Producer is the program that wrote the file; "" if it does not say.
	Producer string
	// ParameterCount is the number of elements of all weights.
	ParameterCount int64
	// Opsets are the operator sets that the model uses.
	Opsets []Opset
	// Operators are sorted by name.
	Operators []OperatorCount
	// Unsupported are the nodes whose operators the library does not have.
	Unsupported []UnsupportedNode
	// Inputs, without those that are weights, Outputs, and Weights: the named tensors that a load can replace.
	Inputs, Outputs, Weights []TensorInfo
	// Graph is a drawing of the graph as the file has it, in the DOT language of Graphviz; "" for a graph built in code.
	Graph string
}

// Opset is a version of an operator set: "ai.onnx", 21.
type Opset struct {
	Domain  string
	Version int64
}

// OperatorCount is the number of nodes that use an operator, for example "Conv" or "com.microsoft.Gelu".
type OperatorCount struct {
	Name  string
	Nodes int64
}

// UnsupportedNode is a node whose operator the library does not have.
type UnsupportedNode struct {
	// Node may be empty.
	Node, Operator string
	// Version of the operator set that it asks for.
	Version int64
}

// LoadModelInfo reads what a model file holds without making it ready to run.
func LoadModelInfo(path string) (*ModelInfo, error) {
	var info *ModelInfo
	err := withText("the path", path, func(name *byte) error {
		var raw *maxModelInfo
		if err := maxModelInfoLoad(name, &raw); err != nil {
			return err
		}
		defer maxModelInfoRelease(raw)
		var err error
		info, err = newModelInfo(raw)
		return err
	})
	return info, err
}

func newModelInfo(raw *maxModelInfo) (*ModelInfo, error) {
	r := infoReader{raw: raw}
	info := &ModelInfo{
		IRVersion:      read(&r, maxModelInfoGetIrVersion),
		Producer:       goText(read(&r, maxModelInfoGetProducer)),
		ParameterCount: read(&r, maxModelInfoGetParameterCount),
		Opsets: readAll(&r, maxModelInfoGetOpsetCount, func(i int32) Opset {
			return Opset{readText(&r, i, maxModelInfoGetOpsetDomain), readAt(&r, i, maxModelInfoGetOpsetVersion)}
		}),
		Operators: readAll(&r, maxModelInfoGetOperatorCount, func(i int32) OperatorCount {
			return OperatorCount{readText(&r, i, maxModelInfoGetOperatorName), readAt(&r, i, maxModelInfoGetOperatorNodeCount)}
		}),
		Unsupported: readAll(&r, maxModelInfoGetUnsupportedCount, func(i int32) UnsupportedNode {
			return UnsupportedNode{readText(&r, i, maxModelInfoGetUnsupportedNode),
				readText(&r, i, maxModelInfoGetUnsupportedOperator), readAt(&r, i, maxModelInfoGetUnsupportedVersion)}
		}),
		Inputs:  readTensors(&r, maxModelInfoGetInputCount, maxModelInfoGetInput),
		Outputs: readTensors(&r, maxModelInfoGetOutputCount, maxModelInfoGetOutput),
		Weights: readTensors(&r, maxModelInfoGetWeightCount, maxModelInfoGetWeight),
	}
	if r.err != nil {
		return nil, r.err
	}
	info.Graph = goText(read(&r, maxModelInfoGetGraph)) // there is none but for files
	return info, nil
}

// An infoReader keeps the first failure.
type infoReader struct {
	raw *maxModelInfo
	err error
}

func (r *infoReader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func read[T any](r *infoReader, get func(*maxModelInfo, *T) error) T {
	value := new(T)
	r.keep(get(r.raw, value))
	return *value
}

func readAt[T any](r *infoReader, index int32, get func(*maxModelInfo, int32, *T) error) T {
	value := new(T)
	r.keep(get(r.raw, index, value))
	return *value
}

func readText(r *infoReader, index int32, get func(*maxModelInfo, int32, **byte) error) string {
	return goText(readAt(r, index, get))
}

func readAll[T any](r *infoReader, count func(*maxModelInfo, *int32) error, get func(int32) T) []T {
	values := make([]T, read(r, count))
	for i := range values {
		values[i] = get(int32(i))
	}
	return values
}

func readTensors(r *infoReader, count func(*maxModelInfo, *int32) error, get func(*maxModelInfo, int32, *maxTensorInfo) error) []TensorInfo {
	infos, err := tensorInfos(r.raw, count, get)
	r.keep(err)
	return infos
}
