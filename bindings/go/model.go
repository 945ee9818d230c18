// SPDX-License-Identifier: Apache-2.0

package max

import "unsafe"

// Model is ready to run, from many goroutines.
type Model struct {
	handle      handle
	outputCount int
}

var modelClass = newCrowdedClass("model", maxModelRelease)

func newModel(raw *maxModel) *Model {
	count := new(int32)
	_ = maxModelGetOutputCount(raw, count) // it cannot fail for a model
	return &Model{modelClass.open(unsafe.Pointer(raw)), int(*count)}
}

func (m *Model) use() (*maxModel, error) {
	if m == nil {
		return use[maxModel](nil, modelClass)
	}
	return use[maxModel](&m.handle, modelClass)
}

// useAt is use for calls that many goroutines make at once; leaveCrowd ends it.
func (m *Model) useAt(place int) (unsafe.Pointer, error) {
	if m == nil {
		_, err := m.use()
		return nil, err
	}
	return m.handle.enterCrowd(modelClass, place)
}

func (m *Model) done() { m.handle.leave() }

// Close drops the reference; calls that run and work on streams hold the model until they are done. It never fails.
func (m *Model) Close() error {
	if m != nil {
		m.handle.close()
	}
	return nil
}

// Session returns the session that loaded the model.
func (m *Model) Session() (*Session, error) {
	return queryObject(m, maxModelGetSession, maxSessionRetain, newSession)
}

// Precision returns what products have: the one asked for, or the next higher one that this machine has.
func (m *Model) Precision() (Precision, error) { return query(m, maxModelGetPrecision) }

// Inputs returns what is known of the inputs, in the order in which Execute takes them.
func (m *Model) Inputs() ([]TensorInfo, error) {
	return query(m, func(raw *maxModel, infos *[]TensorInfo) (err error) {
		*infos, err = tensorInfos(raw, maxModelGetInputCount, maxModelGetInput)
		return err
	})
}

// Outputs returns what is known of the outputs, in the order in which Execute gives them.
func (m *Model) Outputs() ([]TensorInfo, error) {
	return query(m, func(raw *maxModel, infos *[]TensorInfo) (err error) {
		*infos, err = tensorInfos(raw, maxModelGetOutputCount, maxModelGetOutput)
		return err
	})
}

// InputIndex finds an input by name.
func (m *Model) InputIndex(name string) (int, error) { return m.find(name, maxModelFindInput) }

// OutputIndex finds an output by name.
func (m *Model) OutputIndex(name string) (int, error) { return m.find(name, maxModelFindOutput) }

func (m *Model) find(name string, function func(*maxModel, *byte, *int32) error) (int, error) {
	return queryInt(m, func(raw *maxModel, index *int32) error {
		return withText("the name", name, func(text *byte) error { return function(raw, text, index) })
	})
}

// ReplaceWeights replaces weights by name, all or nothing, by buffers of equal dtype and shape, which must not be written
// any more. Calls that are under way keep the old ones.
func (m *Model) ReplaceWeights(weights map[string]*Buffer) error {
	var a arena
	defer a.end()
	raw := held[maxModel](&a, m, true)
	names, buffers, count := a.buffersByName(weights)
	if a.err != nil {
		return a.err
	}
	return maxModelReplaceWeights(raw, names, buffers, count)
}

// Save writes the model as a compiled model that Load reads; such files are called NAME.maxc.
func (m *Model) Save(path string) error {
	return perform(m, func(raw *maxModel) error {
		return withText("the path", path, func(name *byte) error { return maxModelSave(raw, name) })
	})
}

// ModelMemory is what a model holds in memory, in bytes.
type ModelMemory struct {
	// MappedWeights are parts of mapped files, OwnedWeights in memory, PackedWeights what nodes prepared at load.
	MappedWeights, OwnedWeights, PackedWeights uint64
	// Plans are for the input shapes seen lately, about; Arenas for intermediate values; Outputs wait for the next call.
	Plans, Arenas, Outputs uint64
	Total                  uint64
}

// Memory reports what the model holds, by category. Device.Trim gives back what is kept for later calls.
func (m *Model) Memory() (ModelMemory, error) {
	raw := &maxModelMemory{structSize: unsafe.Sizeof(maxModelMemory{})}
	err := perform(m, func(model *maxModel) error { return maxModelGetMemory(model, raw) })
	return ModelMemory{raw.mappedWeights, raw.ownedWeights, raw.packedWeights, raw.plans, raw.arenas, raw.outputs, raw.total}, err
}

// ModelDeviceMemory is what a model holds on one device, in bytes: weights and what nodes prepared of them, intermediate
// values, and the code of kernels.
type ModelDeviceMemory struct {
	Weights, Arenas, Code, Total uint64
}

// DeviceMemory reports what the model holds on a device of its session; nil is the session's first.
func (m *Model) DeviceMemory(device *Device) (ModelDeviceMemory, error) {
	raw := &maxModelDeviceMemory{structSize: unsafe.Sizeof(maxModelDeviceMemory{})}
	err := perform(m, func(model *maxModel) error {
		if device == nil {
			return maxModelGetDeviceMemory(model, nil, raw)
		}
		return perform(device, func(where *maxDevice) error { return maxModelGetDeviceMemory(model, where, raw) })
	})
	return ModelDeviceMemory{raw.weights, raw.arenas, raw.code, raw.total}, err
}

// Info returns what the model's file or graph held.
func (m *Model) Info() (*ModelInfo, error) {
	return query(m, func(raw *maxModel, info **ModelInfo) error {
		var found *maxModelInfo
		err := maxModelGetInfo(raw, &found)
		if err == nil {
			*info, err = newModelInfo(found)
		}
		return err
	})
}

// Graph returns a drawing of the graph that the model runs, after the compiler's passes, in the DOT language of Graphviz.
func (m *Model) Graph() (string, error) { return queryText(m, maxModelGetGraph) }
