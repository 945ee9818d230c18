// SPDX-License-Identifier: Apache-2.0

package max

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// A program that ends with live objects and work on streams ends as it says.
func TestProcessExitsWithLiveObjects(t *testing.T) {
	if os.Getenv("MAX_GO_TEST_EXIT") != "" {
		everything(t)
		stream, err := NewStream(nil, nil)
		check(t, err)
		check(t, stream.EnqueueFunc(func(error) { time.Sleep(time.Second) }))
		model := slow(t, must(NewSession(nil))(t))
		input := must(NewBuffer(nil, DTypeFloat32, []int64{64, 64}, nil))(t)
		go func() { _, _ = model.Execute(background, input) }()
		time.Sleep(20 * time.Millisecond)
		os.Exit(42)
	}
	command := exec.Command(os.Args[0], "-test.run", "^TestProcessExitsWithLiveObjects$")
	command.Env = append(os.Environ(), "MAX_GO_TEST_EXIT=1")
	output, err := command.CombinedOutput()
	if command.ProcessState == nil || command.ProcessState.ExitCode() != 42 {
		t.Errorf("%v: %s", err, output)
	}
}

// Children that a program starts have nothing to do with the library in it.
func TestProcessStartsChildren(t *testing.T) {
	noLeaks(t)
	model, input := unary(t, must(NewSession(nil))(t), "Neg"), vector[float32](t, 1)
	together(4, func(int) {
		for range 5 {
			check(t, exec.Command("true").Run())
			made, err := model.Execute(background, input)
			check(t, err)
			closeAll(made)
		}
	})
}

// Without the library, where it is opened at the first call, each call says so.
func TestProcessWithoutTheLibrary(t *testing.T) {
	if os.Getenv("MAX_GO_TEST_MISSING") != "" {
		for _, call := range []func() error{
			func() error { _, err := NewCPU(); return err },
			func() error { _, err := NewSession(nil); return err },
			func() error { _, err := NewBuffer(nil, DTypeFloat32, nil, nil); return err },
			func() error { _, err := ParseDType("float32"); return err },
		} {
			fails(t, call(), ErrUnavailable, os.Getenv("MAX_LIBRARY"))
		}
		equal(t, DTypeFloat32.String(), "")
		equal(t, Version(), "")
		return
	}
	if !opensLibrary {
		t.Skip("the program is linked with the library")
	}
	wrong := t.TempDir() + "/libmax.so.0"
	check(t, os.WriteFile(wrong, []byte("no library"), 0o600))
	for _, path := range []string{"/no/such/libmax.so.0", wrong, "libm.so.6"} {
		command := exec.Command(os.Args[0], "-test.run", "^TestProcessWithoutTheLibrary$")
		command.Env = append(os.Environ(), "MAX_GO_TEST_MISSING=1", "MAX_LIBRARY="+path)
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", path, err, output)
		}
	}
}
