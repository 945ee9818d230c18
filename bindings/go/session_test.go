// SPDX-License-Identifier: Apache-2.0

package max

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSession(t *testing.T) {
	noLeaks(t)
	device := must(NewCPU())(t)
	session := must(NewSession(&SessionOptions{Devices: []*Device{device}, ThreadCount: 3, WeightsCacheDir: t.TempDir()}))(t)
	equal(t, must(session.ThreadCount())(t), 3)
	devices := must(session.Devices())(t)
	equal(t, len(devices), 1)
	equal(t, must(devices[0].Label())(t), "cpu")
	check(t, devices[0].Close())
}

func TestSessionErrors(t *testing.T) {
	noLeaks(t)
	_, err := NewSession(&SessionOptions{ThreadCount: -2})
	fails(t, err, ErrInvalidArgument, "-2")
	_, err = NewSession(&SessionOptions{Devices: []*Device{nil}})
	fails(t, err, ErrInvalidArgument, "the device is nil")
	_, err = NewSession(&SessionOptions{ThreadCount: 1 << 40})
	fails(t, err, ErrOutOfRange, "1099511627776")
	_, err = NewSession(&SessionOptions{WeightsCacheDir: "a\x00b"})
	fails(t, err, ErrInvalidArgument, "NUL byte at 1")
}

func TestSettings(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	check(t, session.SetLogLevel(LogLevelTrace))
	equal(t, must(session.LogLevel())(t), LogLevelTrace)
	check(t, session.SetAssertLevel(AssertLevelAll))
	equal(t, must(session.AssertLevel())(t), AssertLevelAll)
	check(t, session.SetSplitKReductionPrecision(DTypeFloat64))
	equal(t, must(session.SplitKReductionPrecision())(t), DTypeFloat64)
	check(t, session.SetUseOldTopK(true))
	equal(t, must(session.UseOldTopK())(t), true)
	check(t, session.SetProfiling(ProfilingModeDetailed))
	equal(t, must(session.Profiling())(t), ProfilingModeDetailed)
	fails(t, session.SetLogLevel(35), ErrInvalidArgument, "35")
	fails(t, session.SetAssertLevel(9), ErrInvalidArgument, "9")
	fails(t, session.SetSplitKReductionPrecision(DTypeInt8), ErrInvalidArgument, "int8")
	fails(t, session.SetProfiling(9), ErrInvalidArgument, "9")
}

func TestSettingsProfile(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	check(t, session.SetProfiling(ProfilingModeOn))
	must(unary(t, session, "Neg").Execute(background, vector[float32](t, 1)))(t)
	path := filepath.Join(t.TempDir(), "trace.json")
	check(t, session.WriteProfile(path))
	text := string(must(os.ReadFile(path))(t))
	equal(t, strings.Contains(text, "Neg"), true)
	check(t, session.ClearProfile())
	fails(t, session.WriteProfile("/no/such/folder/trace.json"), ErrNotFound, "/no/such/folder")
}

func TestMemory(t *testing.T) {
	noLeaks(t)
	free := must(NewSession(nil))(t)
	equal(t, must(free.Memory())(t), SessionMemory{})
	session := must(NewSession(&SessionOptions{MemoryLimit: 64 << 20}))(t)
	model := unary(t, session, "Neg")
	must(model.Execute(background, vector[float32](t, 1, 2)))(t)
	memory := must(session.Memory())(t)
	if memory.Limit == nil || *memory.Limit != 64<<20 || *memory.Peak < *memory.Used {
		t.Errorf("%+v", memory)
	}
	if total := must(model.Memory())(t); total.Total == 0 {
		t.Errorf("%+v", total)
	}
	large := must(NewBuffer(nil, DTypeFloat32, []int64{32 << 20}, &BufferOptions{Zeroed: true}))(t)
	_, err := model.Execute(background, large)
	fails(t, err, ErrResourceExhausted, "")
}
