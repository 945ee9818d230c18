// SPDX-License-Identifier: Apache-2.0

package max

import "unsafe"

// Weights are the tensors of a file, by name.
type Weights struct{ handle handle }

var weightsClass = newClass("weights", maxWeightsRelease)

func newWeights(raw *maxWeights) *Weights { return &Weights{weightsClass.open(unsafe.Pointer(raw))} }

func (w *Weights) use() (*maxWeights, error) {
	if w == nil {
		return use[maxWeights](nil, weightsClass)
	}
	return use[maxWeights](&w.handle, weightsClass)
}

func (w *Weights) done() { w.handle.leave() }

// Close drops the reference; buffers of it stay. It never fails.
func (w *Weights) Close() error {
	if w != nil {
		w.handle.close()
	}
	return nil
}

// LoadWeights opens a .safetensors file or a ".max" checkpoint. Large files are mapped, so they must not shrink.
func LoadWeights(path string) (*Weights, error) {
	var weights *Weights
	err := withText("the path", path, func(name *byte) (err error) {
		weights, err = create(func(out **maxWeights) error { return maxWeightsLoad(name, out) }, newWeights)
		return err
	})
	return weights, err
}

// Names returns the names of the tensors in rising order.
func (w *Weights) Names() ([]string, error) {
	return query(w, func(raw *maxWeights, names *[]string) error {
		count := new(int32)
		if err := maxWeightsGetCount(raw, count); err != nil {
			return err
		}
		*names = make([]string, *count)
		for i := range *names {
			name := new(*byte)
			if err := maxWeightsGetName(raw, int32(i), name); err != nil {
				return err
			}
			(*names)[i] = goText(*name)
		}
		return nil
	})
}

// Buffer returns a tensor by name, as a read-only host buffer that shares the file's memory.
func (w *Weights) Buffer(name string) (*Buffer, error) {
	return queryObject(w, func(raw *maxWeights, buffer **maxBuffer) error {
		return withText("the name", name, func(text *byte) error {
			index := new(int32)
			if err := maxWeightsFind(raw, text, index); err != nil {
				return err
			}
			return maxWeightsGetBuffer(raw, *index, buffer)
		})
	}, maxBufferRetain, newBuffer)
}
