// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !max_purego && !race && !asan

package max

import "testing"

// The steady state: a call into given outputs allocates nothing in Go, one that makes an output what holds it.
func TestAllocations(t *testing.T) {
	noLeaks(t)
	model, input, output := unary(t, must(NewSession(nil))(t), "Neg"), vector[float32](t, 1), vector[float32](t, 0)
	inputs, outputs := []*Buffer{input}, []*Buffer{output}
	for name, wanted := range map[string]struct {
		most float64
		call func() error
	}{
		"given outputs": {0, func() error { return model.ExecuteInto(background, inputs, outputs) }},
		"new output": {1, func() error {
			made, err := model.Execute(background, input)
			closeAll(made)
			return err
		}},
	} {
		var err error
		found := testing.AllocsPerRun(2000, func() {
			if failure := wanted.call(); failure != nil {
				err = failure
			}
		})
		check(t, err)
		if found > wanted.most {
			t.Errorf("%s: %v allocations per call", name, found)
		}
	}
}
