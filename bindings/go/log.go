// SPDX-License-Identifier: Apache-2.0

package max

import (
	"context"
	"log/slog"
	"sync"
)

// LogForward is a function that takes the library's messages, until it is closed.
type LogForward struct {
	once   sync.Once
	token  uint64
	number uintptr
	err    error
}

// AddLogFunc adds a function for the process's messages of a level and above. It is called from any goroutine, from several at the
// same time; what the library has to say meanwhile is dropped.
func AddLogFunc(level LogLevel, function func(level LogLevel, message string)) (*LogForward, error) {
	if function == nil {
		return nil, invalid("the function is nil")
	}
	forward := &LogForward{number: register(function)}
	if err := maxLogAddCallback(logCallback(), forward.number, level, &forward.token); err != nil {
		callbacks.Delete(forward.number)
		return nil, err
	}
	return forward, nil
}

// ForwardLog hands the library's messages to a logger: those of the level and above that the logger takes.
func ForwardLog(logger *slog.Logger, level LogLevel) (*LogForward, error) {
	if logger == nil {
		return nil, invalid("the logger is nil")
	}
	return AddLogFunc(level, func(level LogLevel, message string) {
		logger.Log(context.Background(), level.Slog(), message, "source", "max")
	})
}

// Slog returns the level that log/slog has for it.
func (l LogLevel) Slog() slog.Level {
	switch {
	case l >= LogLevelError:
		return slog.LevelError
	case l >= LogLevelWarning:
		return slog.LevelWarn
	case l >= LogLevelInfo:
		return slog.LevelInfo
	case l >= LogLevelDebug:
		return slog.LevelDebug
	}
	return slog.LevelDebug - 4
}

// Close removes the function: when it returns, the function is not running any more and is not called again. Called from
// within the function it does not wait.
func (f *LogForward) Close() error {
	if f == nil {
		return nil
	}
	f.once.Do(func() {
		f.err = maxLogRemoveCallback(f.token)
		callbacks.Delete(f.number)
	})
	return f.err
}
