//go:build cgo && !max_purego

// SPDX-License-Identifier: Apache-2.0

package max

/*
#cgo pkg-config: max
#include "support_cgo.h"
extern void maxGoHost(uintptr_t, MaxStatus, char*);
extern void maxGoProgress(uintptr_t, double, char*);
extern void maxGoLog(uintptr_t, MaxLogLevel, char*);
extern void maxGoReleased(uintptr_t);
*/
import "C"

import "unsafe"

// failure is the error of a call; nil if it succeeded.
func failure(result C.goResult) error {
	if result.status == C.MAX_STATUS_OK {
		return nil
	}
	err := &Error{Status: Status(result.status), Message: "out of memory"}
	if result.message != nil {
		err.Message = C.GoString(result.message)
		C.free(unsafe.Pointer(result.message))
	}
	return err
}

func execute(words []uintptr) error {
	return failure(C.go_execute((*C.uintptr_t)(unsafe.Pointer(&words[0]))))
}

func hostCallback() unsafe.Pointer     { return unsafe.Pointer(C.go_host) }
func progressCallback() unsafe.Pointer { return unsafe.Pointer(C.go_progress) }
func logCallback() unsafe.Pointer      { return unsafe.Pointer(C.go_log) }
func releasedCallback() unsafe.Pointer { return unsafe.Pointer(C.go_released) }

//export maxGoHost
func maxGoHost(data C.uintptr_t, status C.MaxStatus, message *C.char) {
	onHost(uintptr(data), failure(C.goResult{status: status, message: message}))
}

//export maxGoProgress
func maxGoProgress(data C.uintptr_t, fraction C.double, phase *C.char) {
	onProgress(uintptr(data), float64(fraction), C.GoString(phase))
}

//export maxGoLog
func maxGoLog(data C.uintptr_t, level C.MaxLogLevel, message *C.char) {
	onLog(uintptr(data), LogLevel(level), C.GoString(message))
}

//export maxGoReleased
func maxGoReleased(data C.uintptr_t) {
	onReleased(uintptr(data))
}
