/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that the program captures with the driver's own functions. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "conformance.h"

enum { COUNT = 1000, GLOBAL = 0, RELAXED = 2, ACTIVE = 1 };

/* The program's side: functions of the driver. */
static struct {
  int (*begin)(void* stream, int mode);
  int (*end)(void* stream, void** graph);
  int (*status)(void* stream, int* status);
  int (*instantiate)(void** executable, void* graph, unsigned long long flags);
  int (*instantiate_with_log)(void** executable, void* graph, void* node, char* log, size_t size);
  int (*launch)(void* executable, void* stream);
  int (*destroy_executable)(void* executable);
  int (*destroy)(void* graph);
  /* Of CUDA's only: it makes graphs in the thread's context. */
  int (*retain)(void** context, int device);
  int (*release)(int device);
  int (*set_current)(void* context);
} driver;

static const char* const names[] = {"StreamBeginCapture_v2 StreamBeginCapture",
                                    "StreamEndCapture",
                                    "StreamIsCapturing",
                                    "GraphInstantiateWithFlags",
                                    "GraphInstantiate",
                                    "GraphLaunch",
                                    "GraphExecDestroy",
                                    "GraphDestroy",
                                    "DevicePrimaryCtxRetain",
                                    "DevicePrimaryCtxRelease_v2",
                                    "CtxSetCurrent"};

/* One of the names between blanks, with the API's letters in front. */
static void* find_one(void* library, const char* prefix, const char* list) {
  char text[64], name[80];
  snprintf(text, sizeof text, "%s", list);
  for (char* word = strtok(text, " "); word; word = strtok(NULL, " ")) {
    snprintf(name, sizeof name, "%s%s", prefix, word);
    void* function = dlsym(library, name);
    if (function) return function;
  }
  return NULL;
}

static void* library_of(const char* api) {
  char variable[32] = "MAX_";
  for (size_t i = 0; api[i] && i < 8; ++i) variable[4 + i] = (char)toupper((unsigned char)api[i]);
  strcat(variable, "_LIBRARY");
  const char* path = getenv(variable);
  if (!path) path = strcmp(api, "cuda") == 0 ? "libcuda.so.1" : "libamdhip64.so";
  return dlopen(path, RTLD_NOW | RTLD_NOLOAD);
}

/* The device, or NULL if its driver does not capture. */
static MaxDevice* open_capturing(void) {
  MaxDevice* device = open_device();
  void* library = library_of(device_api);
  const char* prefix = strcmp(device_api, "cuda") == 0 ? "cu" : device_api;
  void** functions = (void**)&driver;
  for (size_t i = 0; i < COUNT_OF(names); ++i) functions[i] = library ? find_one(library, prefix, names[i]) : NULL;
  if (driver.begin && driver.end && driver.status && (driver.instantiate || driver.instantiate_with_log)) return device;
  assert_null(getenv("FAKE_GPU_PEER")); /* the fakes can */
  maxDeviceRelease(device);
  return NULL;
}

static void* native_of(MaxStream* stream) {
  void* native = NULL;
  CHECK(maxStreamGetNative(stream, &native));
  return native;
}

static void begin(MaxStream* stream, int mode) { assert_int_equal(driver.begin(native_of(stream), mode), 0); }

/* The capture is alive. */
static void check_active(MaxStream* stream) {
  int status = 0;
  assert_int_equal(driver.status(native_of(stream), &status), 0);
  assert_int_equal(status, ACTIVE);
}

/* In the context of the device, which is the thread's only meanwhile. */
static void* instantiate(MaxStream* stream, void* graph) {
  void *executable = NULL, *context = NULL;
  if (!driver.instantiate) {
    assert_int_equal(driver.instantiate_with_log(&executable, graph, NULL, NULL, 0), 0);
    return executable;
  }
  MaxDevice* device = NULL;
  int32_t id = 0;
  CHECK(maxStreamGetDevice(stream, &device));
  CHECK(maxDeviceGetId(device, &id));
  if (driver.retain) {
    assert_int_equal(driver.retain(&context, id), 0);
    assert_int_equal(driver.set_current(context), 0);
  }
  assert_int_equal(driver.instantiate(&executable, graph, 0), 0);
  if (driver.retain) {
    assert_int_equal(driver.set_current(NULL), 0);
    assert_int_equal(driver.release(id), 0);
  }
  return executable;
}

/* Ends the capture and, if asked, runs what it has. */
static void end(MaxStream* stream, int launches) {
  void* graph = NULL;
  assert_int_equal(driver.end(native_of(stream), &graph), 0);
  void* executable = instantiate(stream, graph);
  for (int i = 0; i < launches; ++i) assert_int_equal(driver.launch(executable, native_of(stream)), 0);
  CHECK(maxStreamSynchronize(stream, 0));
  assert_int_equal(driver.destroy_executable(executable), 0);
  assert_int_equal(driver.destroy(graph), 0);
}

static void fill(MaxBuffer* buffer, unsigned char value, MaxStream* stream) {
  CHECK(maxBufferFill(buffer, &value, 1, stream));
}

static void check_all(const MaxBuffer* buffer, unsigned char value) {
  unsigned char expected[COUNT];
  memset(expected, value, sizeof expected);
  check_content(buffer, expected, sizeof expected);
}

static MaxBuffer* bytes_on(MaxDevice* device, MaxStream* stream) {
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.stream = stream;
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){COUNT}, &options, &buffer));
  return buffer;
}

static void never(void* unused, MaxStatus status) {
  (void)unused;
  (void)status;
  fail_msg("a host function was called");
}

/* What waits, and what a graph could not repeat, is refused, and the capture lives on. */
static void check_refusals(MaxDevice* device, MaxStream* stream, MaxBuffer* buffer) {
  unsigned char value = 0, other = 0;
  void* data = NULL;
  CHECK_FAILS(maxStreamEnqueueHostFunction(stream, never, NULL), MAX_STATUS_FAILED_PRECONDITION, "being captured");
  CHECK_FAILS(maxMemoryCopy(&value, &other, 1, MAX_COPY_KIND_HOST_TO_HOST, stream), MAX_STATUS_FAILED_PRECONDITION,
              "being captured");
  CHECK_FAILS(maxStreamSynchronize(stream, 0), MAX_STATUS_FAILED_PRECONDITION, "being captured");
  CHECK_FAILS(maxStreamSynchronize(stream, 1000), MAX_STATUS_FAILED_PRECONDITION, "being captured");
  CHECK_FAILS(maxDeviceSynchronize(device, 0), MAX_STATUS_FAILED_PRECONDITION, "being captured");
  CHECK_FAILS(maxBufferCopyToHost(buffer, 0, &value, 1, stream), MAX_STATUS_FAILED_PRECONDITION, "being captured");
  CHECK_FAILS(maxBufferCopyFromHost(buffer, 0, &value, 1, stream), MAX_STATUS_FAILED_PRECONDITION, "being captured");
  CHECK_FAILS(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_READ, &data), MAX_STATUS_FAILED_PRECONDITION,
              "being captured");
  MaxBuffer* view = NULL; /* filling it takes memory, which a graph would not have */
  CHECK(maxBufferSlice(buffer, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, (const int64_t[]){0}, NULL,
                       (const int64_t[]){2}, 1, &view));
  CHECK_FAILS(maxBufferFill(view, &value, 1, stream), MAX_STATUS_FAILED_PRECONDITION, "being captured");
  maxBufferRelease(view);
  check_active(stream);
}

/* Work on a captured stream is kept, and done with each launch of the graph. */
void test_captured_work(void** state) {
  (void)state;
  MaxDevice* device = open_capturing();
  if (!device) return;
  MaxStream* stream = new_stream(device);
  MaxBuffer *first = bytes_on(device, stream), *second = bytes_on(device, NULL);
  fill(first, 1, stream);
  fill(second, 2, NULL); /* of another stream, for which the captured one cannot wait */
  CHECK(maxStreamSynchronize(stream, 0));
  begin(stream, GLOBAL);
  fill(first, 7, stream);
  CHECK(maxBufferCopy(second, 0, first, 0, COUNT, stream));
  check_refusals(device, stream, first);
  MaxEvent* event = NULL;
  int32_t ready = 0;
  CHECK(maxEventCreate(device, NULL, &event));
  CHECK(maxStreamRecordEvent(stream, event));
  CHECK_FAILS(maxEventQuery(event, &ready), MAX_STATUS_FAILED_PRECONDITION, "captured");
  CHECK_FAILS(maxEventSynchronize(event, 0), MAX_STATUS_FAILED_PRECONDITION, "captured");
  check_active(stream);
  end(stream, 0);
  check_all(first, 1);
  check_all(second, 2);
  begin(stream, RELAXED);
  fill(first, 7, stream);
  CHECK(maxBufferCopy(second, 0, first, 0, COUNT, stream));
  end(stream, 2);
  check_all(first, 7);
  check_all(second, 7);
  CHECK(maxStreamRecordEvent(stream, event)); /* it counts again */
  CHECK(maxEventSynchronize(event, 0));
  maxEventRelease(event);
  maxBufferRelease(second);
  maxBufferRelease(first);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

struct bystander {
  MaxDevice* device;
  MaxStream* captured;
  MaxEvent* event;
};

static void set_flag(void* flag) { atomic_store((atomic_int*)flag, 1); }

/* All that a program does beside a capture: allocations, queries, waits, memory that goes. */
static void* work_beside(void* argument) {
  struct bystander* b = argument;
  MaxStream* stream = new_stream(b->device);
  int32_t ready = 0;
  void* pinned = NULL;
  for (int i = 0; i < 3; ++i) {
    MaxBuffer *buffer = bytes_on(b->device, stream), *other = bytes_on(b->device, NULL);
    fill(buffer, 5, stream);
    CHECK(maxBufferCopy(other, 0, buffer, 0, COUNT, stream));
    CHECK(maxStreamRecordEvent(stream, b->event));
    CHECK(maxEventQuery(b->event, &ready));
    CHECK(maxEventSynchronize(b->event, 0));
    CHECK(maxStreamSynchronize(stream, 1000000000));
    check_all(other, 5);
    CHECK(maxHostAllocate(b->device, 100000, &pinned));
    CHECK(maxHostFree(b->device, pinned));
    maxBufferRelease(buffer);
    maxBufferRelease(other);
    CHECK(maxDeviceTrim(b->device));
  }
  maxStreamRelease(stream);
  return NULL;
}

/* In the capturing thread and in another one, which the mode forbids what is unsafe. */
void test_captures_survive_other_work(void** state) {
  (void)state;
  MaxDevice* device = open_capturing();
  if (!device) return;
  MaxStream* stream = new_stream(device);
  MaxBuffer *kept = bytes_on(device, stream), *borrowed = NULL;
  struct bystander b = {device, stream, NULL};
  CHECK(maxEventCreate(device, NULL, &b.event));
  atomic_int gone = 0;
  MaxBufferWrapOptions options = MAX_BUFFER_WRAP_OPTIONS_INIT;
  options.stream = stream;
  options.release = set_flag;
  options.userData = &gone;
  CHECK(maxBufferWrap(device, address_of(kept), MAX_DTYPE_UINT8, 1, (const int64_t[]){COUNT}, &options, &borrowed));
  fill(kept, 1, stream);
  begin(stream, GLOBAL);
  fill(borrowed, 9, stream);
  maxBufferRelease(borrowed); /* the watch looks after it meanwhile */
  MaxBuffer* dropped = bytes_on(device, stream);
  fill(dropped, 3, stream);
  maxBufferRelease(dropped);
  work_beside(&b);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, work_beside, &b), 0);
  pthread_join(thread, NULL);
  nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
  check_active(stream);
  assert_int_equal(gone, 0);
  end(stream, 1);
  for (int i = 0; i < 20000 && !gone; ++i) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_int_equal(gone, 1);
  check_all(kept, 9);
  maxEventRelease(b.event);
  maxBufferRelease(kept);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

/* A stream joins a capture when it is told to wait for it, and not because of a buffer. */
void test_captures_fork_and_join(void** state) {
  (void)state;
  MaxDevice* device = open_capturing();
  if (!device) return;
  for (int by_event = 0; by_event < 2; ++by_event) {
    MaxStream *stream = new_stream(device), *branch = new_stream(device);
    MaxBuffer *first = bytes_on(device, stream), *second = bytes_on(device, branch);
    fill(second, 1, branch);
    begin(stream, GLOBAL);
    fill(first, 4, stream);
    CHECK_FAILS(maxBufferCopy(second, 0, first, 0, COUNT, branch), MAX_STATUS_FAILED_PRECONDITION, "being captured");
    check_active(stream);
    order_after(branch, stream, by_event);
    CHECK(maxBufferCopy(second, 0, first, 0, COUNT, branch));
    CHECK_FAILS(maxStreamSynchronize(branch, 0), MAX_STATUS_FAILED_PRECONDITION, "being captured");
    order_after(stream, branch, by_event);
    end(stream, 0);
    check_all(second, 1);
    begin(stream, GLOBAL); /* work before the capture is waited for by the host */
    order_after(stream, branch, by_event);
    fill(first, 6, stream);
    end(stream, 1);
    check_all(first, 6);
    maxBufferRelease(first);
    maxBufferRelease(second);
    maxStreamRelease(stream);
    maxStreamRelease(branch);
  }
  maxDeviceRelease(device);
}

/* A handle that is made and released within a capture leaves nothing behind. */
void test_streams_wrapped_in_a_capture(void** state) {
  (void)state;
  MaxDevice* device = open_capturing();
  if (!device) return;
  MaxStream *owner = new_stream(device), *wrapped = NULL;
  MaxBuffer* kept = bytes_on(device, NULL);
  fill(kept, 1, NULL);
  begin(owner, GLOBAL);
  CHECK(maxStreamWrap(device, native_of(owner), &wrapped));
  fill(kept, 8, wrapped);
  maxStreamRelease(wrapped);
  check_active(owner);
  end(owner, 1);
  check_all(kept, 8);
  maxBufferRelease(kept);
  CHECK(maxDeviceTrim(device));
  maxStreamRelease(owner);
  maxDeviceRelease(device);
}
