//go:build !cgo || max_purego

// SPDX-License-Identifier: Apache-2.0

package max

import (
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The library and the addresses of its functions.
var library struct {
	once      sync.Once
	err       error
	functions [functionCount]uintptr
	message   uintptr
}

// load opens the library at the first call that needs it.
func load() error {
	library.once.Do(func() {
		runtime.LockOSThread() // what failed is told to the thread that asked
		defer runtime.UnlockOSThread()
		name := os.Getenv("MAX_LIBRARY")
		if name == "" {
			name = "libmax.so.0"
		}
		opened, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			library.err = errorf(StatusUnavailable, "cannot open the library: %v", err)
			return
		}
		for i, function := range functionNames {
			if library.functions[i], err = purego.Dlsym(opened, function); err != nil {
				library.err = errorf(StatusUnavailable, "%s is not the library that this package was made for: %v", name, err)
				return
			}
		}
		library.message, library.err = purego.Dlsym(opened, "maxGetLastErrorMessage")
	})
	return library.err
}

// invoke calls a function that returns a status.
//
//go:uintptrescapes
func invoke(function int, arguments ...uintptr) error {
	if err := load(); err != nil {
		return err
	}
	return checked(func() int32 {
		status, _, _ := purego.SyscallN(library.functions[function], arguments...)
		return int32(status)
	})
}

// invokeFloat is invoke for a function that takes a floating-point number.
func invokeFloat(function int, pointer any, call func() int32) error {
	if err := load(); err != nil {
		return err
	}
	purego.RegisterFunc(pointer, library.functions[function])
	return checked(call)
}

// invokePlain calls a function that cannot fail; without the library it does nothing.
//
//go:uintptrescapes
func invokePlain(function int, arguments ...uintptr) uintptr {
	if load() != nil {
		return 0
	}
	result, _, _ := purego.SyscallN(library.functions[function], arguments...)
	return result
}

// checked runs a call and reads the message of its failure on the same thread.
func checked(call func() int32) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return lastError(call())
}

// lastError is the error of the call that this thread made last. Nothing else of this package reads messages.
func lastError(status int32) error {
	if Status(status) == StatusOK {
		return nil
	}
	message, _, _ := purego.SyscallN(library.message)
	return &Error{Status: Status(status), Message: goText((*byte)(pointerOf(message)))}
}

func execute(words []uintptr) error {
	inputs := words[wordCount:]
	outputs := inputs[words[wordInputCount]:]
	options := &maxModelExecuteOptions{
		structSize:   unsafe.Sizeof(maxModelExecuteOptions{}),
		stream:       (*maxStream)(pointerOf(words[wordStream])),
		cancellation: (*maxCancellation)(pointerOf(words[wordCancellation])),
		timeoutNs:    int64(words[wordTimeout]),
	}
	made := outputs
	if words[wordGiven] != 0 {
		options.outputs = firstBuffer(outputs)
		made = outputs[words[wordOutputCount]:]
	}
	err := maxModelExecute((*maxModel)(pointerOf(words[wordModel])), firstBuffer(inputs), int32(words[wordInputCount]), options,
		firstBuffer(made), int32(words[wordOutputCount]))
	if err == nil && words[wordGiven] != 0 {
		for _, given := range outputs[:words[wordOutputCount]] {
			maxBufferRelease((*maxBuffer)(pointerOf(given)))
		}
	}
	return err
}

func firstBuffer(words []uintptr) **maxBuffer {
	return (**maxBuffer)(unsafe.Pointer(unsafe.SliceData(words)))
}

// A callback takes a place that is never given back, so there is one of each kind.
var (
	hostCallback = sync.OnceValue(func() unsafe.Pointer {
		return pointerOf(purego.NewCallback(func(data uintptr, status int32) uintptr {
			onHost(data, lastError(status))
			return 0
		}))
	})
	progressCallback = sync.OnceValue(func() unsafe.Pointer {
		return pointerOf(purego.NewCallback(func(data uintptr, fraction float64, phase *byte) uintptr {
			onProgress(data, fraction, goText(phase))
			return 0
		}))
	})
	logCallback = sync.OnceValue(func() unsafe.Pointer {
		return pointerOf(purego.NewCallback(func(data uintptr, level int32, message *byte) uintptr {
			onLog(data, LogLevel(level), goText(message))
			return 0
		}))
	})
	releasedCallback = sync.OnceValue(func() unsafe.Pointer {
		return pointerOf(purego.NewCallback(func(data uintptr) uintptr {
			onReleased(data)
			return 0
		}))
	})
)
