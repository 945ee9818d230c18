/* SPDX-License-Identifier: Apache-2.0 */
/* A child process cannot use its parent's accelerators, says so, and can let go of everything. */
#define _POSIX_C_SOURCE 200809L
#include <sys/wait.h>
#include <unistd.h>

#include "conformance.h"

struct handles {
  MaxDevice* device;
  MaxStream* stream;
  MaxEvent* event;
  MaxBuffer* buffer;
  MaxBuffer* pinned;
  void* block;
};

static int says_forked(MaxStatus status) {
  return status == MAX_STATUS_FAILED_PRECONDITION && strstr(maxGetLastErrorMessage(), "forked") != NULL;
}

/* The number of the first call that does not say so; 0 = all do. */
static int use(struct handles* h) {
  const int32_t value = 3;
  MaxStream* main_stream = NULL;
  if (maxDeviceGetDefaultStream(h->device, &main_stream) != MAX_STATUS_OK) return 1;
  if (!says_forked(maxBufferFill(h->buffer, &value, sizeof value, h->stream))) return 2;
  if (!says_forked(maxStreamSynchronize(main_stream, 0))) return 3;
  if (!says_forked(maxStreamRecordEvent(h->stream, h->event))) return 4;
  if (!says_forked(maxEventSynchronize(h->event, 0))) return 5;
  if (!says_forked(maxDeviceSynchronize(h->device, 0))) return 6;
  if (!says_forked(maxDeviceTrim(h->device))) return 7;
  MaxBuffer* buffer = NULL;
  if (!says_forked(maxBufferCreate(h->device, MAX_DTYPE_INT8, 1, (const int64_t[]){1}, NULL, &buffer))) return 8;
  MaxStream* stream = NULL;
  if (!says_forked(maxStreamCreate(h->device, NULL, &stream))) return 9;
  MaxEvent* event = NULL;
  if (!says_forked(maxEventCreate(h->device, NULL, &event))) return 10;
  MaxDevice* device = NULL;
  if (!says_forked(maxDeviceCreate(device_api, 0, NULL, &device))) return 11;
  return 0;
}

static void release(struct handles* h) {
  maxEventRelease(h->event);
  maxBufferRelease(h->buffer);
  maxBufferRelease(h->pinned);
  maxStreamRelease(h->stream);
  maxDeviceRelease(h->device);
}

static int run_child(struct handles* h) {
  alarm(20); /* a deadlock ends the child */
  const int failed = use(h);
  if (failed) return failed;
  if (maxHostFree(h->device, h->block) != MAX_STATUS_OK) return 12;
  release(h);
  if (live_objects() != 0) return 13;
  MaxDevice* host = NULL;
  if (maxDeviceCreate("cpu", 0, NULL, &host) != MAX_STATUS_OK) return 14;
  maxDeviceRelease(host);
  return 0;
}

void test_forked_child(void** state) {
  (void)state;
  if (strcmp(device_api, "cpu") == 0) return; /* tests/capi/test_fork.c: the host goes on */
  struct handles h = {open_device(), NULL, NULL, NULL, NULL, NULL};
  h.stream = new_stream(h.device);
  CHECK(maxEventCreate(h.device, NULL, &h.event));
  h.buffer = new_buffer(h.device, MAX_DTYPE_INT32, 1, (const int64_t[]){1000});
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.pinned = 1;
  CHECK(maxBufferCreate(h.device, MAX_DTYPE_INT32, 1, (const int64_t[]){1000}, &options, &h.pinned));
  CHECK(maxHostAllocate(h.device, 100, &h.block));
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(run_child(&h));
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  /* The parent does not notice. */
  const int32_t value = 9;
  CHECK(maxBufferFill(h.buffer, &value, sizeof value, h.stream));
  CHECK(maxStreamSynchronize(h.stream, 0));
  CHECK(maxHostFree(h.device, h.block));
  release(&h);
}
