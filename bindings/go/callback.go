// SPDX-License-Identifier: Apache-2.0

package max

import (
	"sync"
	"sync/atomic"
)

// What the library calls back for, by numbers that travel through it in place of pointers.
var (
	callbacks    sync.Map
	lastCallback atomic.Uintptr
)

func register(value any) uintptr {
	number := lastCallback.Add(1)
	callbacks.Store(number, value)
	return number
}

// take gives what a number stands for, once.
func take[T any](number uintptr) (T, bool) {
	value, _ := callbacks.LoadAndDelete(number)
	found, ok := value.(T)
	return found, ok
}

func onHost(number uintptr, err error) {
	if function, ok := take[func(error)](number); ok {
		function(err)
	}
}

func onReleased(number uintptr) {
	if function, ok := take[func()](number); ok {
		function()
	}
}

func onProgress(number uintptr, fraction float64, phase string) {
	if value, ok := callbacks.Load(number); ok {
		value.(func(float64, string))(fraction, phase)
	}
}

func onLog(number uintptr, level LogLevel, message string) {
	if value, ok := callbacks.Load(number); ok {
		value.(func(LogLevel, string))(level, message)
	}
}
