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
