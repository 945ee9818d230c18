// SPDX-License-Identifier: Apache-2.0

package max

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// speak makes the library say something, as an error.
func speak(t *testing.T, session *Session) {
	t.Helper()
	_, err := session.Load(background, "/no/such/model.onnx", nil)
	fails(t, err, ErrNotFound, "")
}

func TestLogFunctionsListenSideBySide(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	var first, second atomic.Int32
	one := must(AddLogFunc(LogLevelError, func(level LogLevel, message string) {
		if level == LogLevelError && strings.Contains(message, "/no/such/model.onnx") {
			first.Add(1)
		}
	}))(t)
	must(AddLogFunc(LogLevelNotSet, func(LogLevel, string) { second.Add(1) }))(t)
	speak(t, session)
	equal(t, first.Load(), int32(1))
	check(t, one.Close())
	check(t, one.Close())
	heard := second.Load()
	speak(t, session)
	equal(t, first.Load(), int32(1))
	equal(t, second.Load() > heard, true)
}

func TestLogForwardedToSlog(t *testing.T) {
	noLeaks(t)
	var text bytes.Buffer
	session := must(NewSession(nil))(t)
	must(ForwardLog(slog.New(slog.NewTextHandler(&text, nil)), LogLevelWarning))(t)
	speak(t, session)
	if line := text.String(); !strings.Contains(line, "level=ERROR") || !strings.Contains(line, "source=max") {
		t.Error(line)
	}
	for level, wanted := range map[LogLevel]slog.Level{
		LogLevelTrace: slog.LevelDebug - 4, LogLevelDebug: slog.LevelDebug, LogLevelInfo: slog.LevelInfo,
		LogLevelWarning: slog.LevelWarn, LogLevelCritical: slog.LevelError,
	} {
		equal(t, level.Slog(), wanted)
	}
}

func TestLogFunctionMayUseThePackageAndRemoveItself(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	var forward *LogForward
	calls := 0
	forward = must(AddLogFunc(LogLevelError, func(LogLevel, string) {
		calls++
		check(t, forward.Close())
		_, err := LoadBuffer("/no/such/buffer.max")
		fails(t, err, ErrNotFound, "buffer.max")
	}))(t)
	speak(t, session)
	speak(t, session)
	equal(t, calls, 1)
}

func TestLogFromManyGoroutines(t *testing.T) {
	noLeaks(t)
	session := must(NewSession(nil))(t)
	var heard atomic.Int32
	var group sync.WaitGroup
	forward := must(AddLogFunc(LogLevelError, func(LogLevel, string) { heard.Add(1) }))(t)
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 50 {
				speak(t, session)
			}
		}()
	}
	group.Wait()
	check(t, forward.Close())
	equal(t, heard.Load(), int32(200))
}

func TestLogErrors(t *testing.T) {
	_, err := AddLogFunc(35, func(LogLevel, string) {})
	fails(t, err, ErrInvalidArgument, "35")
	_, err = AddLogFunc(LogLevelInfo, nil)
	fails(t, err, ErrInvalidArgument, "nil")
	_, err = ForwardLog(nil, LogLevelInfo)
	fails(t, err, ErrInvalidArgument, "nil")
	check(t, (*LogForward)(nil).Close())
}
