/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls in raw_cgo_*.go share, and what is done in C so that one crossing is enough. */
#ifndef MAX_GO_SUPPORT_CGO_H
#define MAX_GO_SUPPORT_CGO_H

#include <max/experimental.h>
#include <max/max.h>
#include <stdlib.h>
#include <string.h>

/* A status and, for a failure, its message, which the caller frees. */
typedef struct goResult {
  MaxStatus status;
  char* message;
} goResult;

/* The message is read in the crossing that failed, so by the same thread. Nothing else of this package reads it. */
static inline goResult go_result(MaxStatus status) {
  goResult result = {status, NULL};
  if (status != MAX_STATUS_OK) result.message = strdup(maxGetLastErrorMessage());
  return result;
}

/* The words of execute in execute.go. */
enum { GO_MODEL, GO_STREAM, GO_CANCELLATION, GO_TIMEOUT, GO_INPUT_COUNT, GO_OUTPUT_COUNT, GO_GIVEN, GO_WORDS };

/* Runs a model; given outputs give the references back that the call adds to them. */
static inline goResult go_execute(uintptr_t* words) {
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  MaxBuffer** const inputs = (MaxBuffer**)(words + GO_WORDS);
  MaxBuffer** const outputs = inputs + words[GO_INPUT_COUNT];
  MaxBuffer** const made = words[GO_GIVEN] ? outputs + words[GO_OUTPUT_COUNT] : outputs;
  MaxStatus status;
  size_t i;
  options.stream = (MaxStream*)words[GO_STREAM];
  options.cancellation = (const MaxCancellation*)words[GO_CANCELLATION];
  options.timeoutNs = (int64_t)words[GO_TIMEOUT];
  options.outputs = words[GO_GIVEN] ? outputs : NULL;
  status = maxModelExecute((const MaxModel*)words[GO_MODEL], inputs, (int32_t)words[GO_INPUT_COUNT], &options, made,
                           (int32_t)words[GO_OUTPUT_COUNT]);
  if (status == MAX_STATUS_OK && words[GO_GIVEN])
    for (i = 0; i < words[GO_OUTPUT_COUNT]; ++i) maxBufferRelease(outputs[i]);
  return go_result(status);
}

/* Functions that the library calls; they hand over to Go. */
void go_host(void* userData, MaxStatus status);
void go_progress(void* userData, double fraction, const char* phase);
void go_log(void* userData, MaxLogLevel level, const char* message);
void go_released(void* userData);

#endif
