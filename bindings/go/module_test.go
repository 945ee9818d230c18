// SPDX-License-Identifier: Apache-2.0

package max

import (
	"strings"
	"testing"
)

const optionsSource = `
#include "values.h"
__constant__ int table[2];
extern "C" __global__ void fill(int* out) { out[0] = FIRST + second + table[1]; }
`

func TestModuleOptions(t *testing.T) {
	noLeaks(t)
	module := compiled(t, optionsSource, &ModuleOptions{
		Name: "options.cu", Defines: map[string]string{"FIRST": "40", "UNUSED": ""},
		Headers: map[string]string{"values.h": "static const int second = 2;"}, FastMath: true, LineInfo: true,
	})
	out := vector[int32](t, 0)
	check(t, SetConstant(module, "table", []int32{0, 100}, nil))
	check(t, must(module.Kernel("fill"))(t).Launch(LaunchConfig{}, out))
	equal(t, must(At[int32](out, 0))(t), int32(142))
	fails(t, SetConstant(module, "table", []int32{0, 1, 2}, nil), ErrOutOfRange, "")
	fails(t, SetConstant(module, "chair", []int32{0}, nil), ErrNotFound, "chair")
	_, err := module.Kernel("fall")
	fails(t, err, ErrNotFound, "fall")
}

func TestModuleArtifacts(t *testing.T) {
	noLeaks(t)
	module := compiled(t, scaleSource, nil)
	code := must(module.Artifact(ArtifactKindSharedObject))(t)
	equal(t, string(code[1:4]), "ELF")
	loaded := must(LoadModule(nil, code))(t)
	x := vector[float32](t, 3)
	check(t, must(loaded.Kernel("scale"))(t).Launch(LaunchConfig{}, x, float32(2), int32(1)))
	equal(t, must(At[float32](x, 0))(t), float32(6))
	_, err := module.Artifact(ArtifactKindPTX)
	fails(t, err, ErrUnimplemented, "")
	_, err = LoadModule(nil, []byte("no code"))
	fails(t, err, ErrInvalidArgument, "")
	_, err = LoadModule(nil, nil)
	fails(t, err, ErrInvalidArgument, "")
}

func TestModuleLogFollowsTheMessage(t *testing.T) {
	noLeaks(t)
	_, err := CompileModule(nil, "extern \"C\" __global__ void f() { nonsense; }", &ModuleOptions{Name: "wrong.cu"})
	if StatusOf(err) == StatusUnavailable {
		t.Skip(err)
	}
	fails(t, err, ErrInvalidArgument, "wrong.cu")
	if lines := strings.Split(err.Error(), "\n"); len(lines) < 2 || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("%v", err)
	}
}
