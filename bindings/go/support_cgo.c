//go:build cgo && !max_purego

/* SPDX-License-Identifier: Apache-2.0 */
#include "support_cgo.h"

#include "_cgo_export.h"

void go_host(void* userData, MaxStatus status) {
  const goResult result = go_result(status);
  maxGoHost((uintptr_t)userData, result.status, result.message);
}

void go_progress(void* userData, double fraction, const char* phase) {
  maxGoProgress((uintptr_t)userData, fraction, (char*)phase);
}

void go_log(void* userData, MaxLogLevel level, const char* message) {
  maxGoLog((uintptr_t)userData, level, (char*)message);
}

void go_released(void* userData) { maxGoReleased((uintptr_t)userData); }
