// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

var sentinels = map[Status]error{
	StatusCancelled: ErrCancelled, StatusUnknown: ErrUnknown, StatusInvalidArgument: ErrInvalidArgument,
	StatusDeadlineExceeded: ErrDeadlineExceeded, StatusNotFound: ErrNotFound, StatusAlreadyExists: ErrAlreadyExists,
	StatusPermissionDenied: ErrPermissionDenied, StatusResourceExhausted: ErrResourceExhausted,
	StatusFailedPrecondition: ErrFailedPrecondition, StatusAborted: ErrAborted, StatusOutOfRange: ErrOutOfRange,
	StatusUnimplemented: ErrUnimplemented, StatusInternal: ErrInternal, StatusUnavailable: ErrUnavailable,
	StatusDataLoss: ErrDataLoss,
}

func TestStatusNames(t *testing.T) {
	equal(t, StatusOK.String(), "OK")
	equal(t, StatusInvalidArgument.String(), "INVALID_ARGUMENT")
	equal(t, StatusDataLoss.String(), "DATA_LOSS")
	equal(t, Status(4711).String(), "UNKNOWN")
}

func TestStatusSentinels(t *testing.T) {
	equal(t, len(sentinels), 15)
	for status, sentinel := range sentinels {
		for other, wrong := range sentinels {
			err := fmt.Errorf("within: %w", &Error{Status: status, Message: "why"})
			equal(t, errors.Is(err, wrong), status == other)
			equal(t, errors.Is(sentinel, wrong), status == other)
		}
		equal(t, StatusOf(fmt.Errorf("within: %w", sentinel)), status)
	}
	equal(t, StatusOf(nil), StatusOK)
	equal(t, StatusOf(errors.New("another")), StatusUnknown)
	equal(t, errors.Is(sentinels[StatusNotFound], fs.ErrNotExist), false)
}

func TestStatusMessageNamesTheValues(t *testing.T) {
	_, err := OpenDevice("abacus", -1, nil)
	fails(t, err, ErrNotFound, "abacus")
	_, err = NewBuffer(nil, DType(4711), []int64{2}, nil)
	fails(t, err, ErrInvalidArgument, "4711")
	_, err = LoadBuffer("/no/such/file.max")
	fails(t, err, ErrNotFound, "/no/such/file.max")
	var failure *Error
	equal(t, errors.As(err, &failure), true)
	equal(t, failure.Error(), "max: NOT_FOUND: "+failure.Message)
	equal(t, (*Error)(nil).Error(), "max: no error")
	equal(t, (*Error)(nil).Unwrap(), nil)
}

// Each goroutine gets the message of its own call, whatever other goroutines do and wherever the scheduler runs it.
func TestStatusMessagesOfGoroutines(t *testing.T) {
	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range 200 {
				name := fmt.Sprintf("device-%d-%d", worker, i)
				_, err := OpenDevice(name, -1, nil)
				if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: %v", name, err)
				}
				runtime.Gosched()
			}
		}()
	}
	group.Wait()
}

func TestStatusNulBytes(t *testing.T) {
	text := "a\x00b"
	for name, call := range map[string]func() error{
		"device": func() error { _, err := OpenDevice(text, 0, nil); return err },
		"buffer": func() error { _, err := LoadBuffer(text); return err },
		"dtype":  func() error { _, err := ParseDType(text); return err },
		"graph":  func() error { _, err := NewGraph(text); return err },
		"info":   func() error { _, err := LoadModelInfo(text); return err },
		"weight": func() error { _, err := LoadWeights(text); return err },
		"source": func() error { _, err := CompileModule(nil, text, nil); return err },
		"flag":   func() error { _, err := CompileModule(nil, "", &ModuleOptions{Flags: []string{text}}); return err },
	} {
		t.Run(name, func(t *testing.T) { fails(t, call(), ErrInvalidArgument, `"a\x00b" holds a NUL byte at 1`) })
	}
}

func TestStatusOfFileSystems(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	_, err := session.LoadFS(background, fstest.MapFS{}, "missing.onnx", nil)
	fails(t, err, ErrNotFound, "missing.onnx")
	equal(t, errors.Is(err, fs.ErrNotExist), true)
	_, err = session.LoadFS(background, fstest.MapFS{}, "../up.onnx", nil)
	fails(t, err, ErrNotFound, "../up.onnx")
	_, err = session.LoadFS(background, nil, "a", nil)
	fails(t, err, ErrInvalidArgument, "nil")
	_, err = session.LoadFS(background, fstest.MapFS{"a.onnx": {Data: []byte("no model")}}, "a.onnx", nil)
	fails(t, err, ErrDataLoss, "")
}

func TestStatusOfContexts(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	model, input := unary(t, session, "Neg"), vector[float32](t, 1)
	ended, cancel := context.WithCancel(background)
	cancel()
	_, err := model.Execute(ended, input)
	fails(t, err, ErrCancelled, "context canceled")
	equal(t, errors.Is(err, context.Canceled), true)
	var none context.Context
	_, err = model.Execute(none, input)
	fails(t, err, ErrInvalidArgument, "the context is nil")
	_, err = session.Load(none, digits(t), nil)
	fails(t, err, ErrInvalidArgument, "the context is nil")
	fails(t, must(NewStream(nil, nil))(t).Synchronize(none), ErrInvalidArgument, "the context is nil")
}
