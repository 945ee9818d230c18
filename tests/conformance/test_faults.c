/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of the driver fails in turn while a session runs, on a fake driver. Whatever fails becomes a status;
   nothing leaks, here or in the driver; and the device works afterwards, or says that it is lost. The argument names
   the API; exit status 77 = there is no fake driver for it. */
#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../capi/dlpack_declarations.h"
#include "conformance.h"
#include "fake_driver.h"

const char* device_api = "cuda";

static struct fake_driver driver;

enum {
  COUNT = 500,
  OFFSET = 1000,
  CODE_OUT_OF_MEMORY = 2,
  CODE_DRIVER_TOO_OLD = 35,
  CODE_UNSUPPORTED_PTX = 222,
  CODE_NOT_PERMITTED = 800,
  CODE_VERSIONS_DIFFER = 803,
  CODE_NOT_COMPATIBLE = 804,
  CODE_ILLEGAL_ADDRESS = 700,
  MOST_CALLS = 2000
};

/* What a session holds; released whatever happens. */
struct session {
  MaxDevice* devices[2];
  MaxStream* streams[2];
  MaxEvent* events[2];
  MaxBuffer* buffers[7];
  MaxDevice* host;
  MaxModule* module;
  DLManagedTensorVersioned* tensor;
  void* block;
  int host_calls;
  int host_calls_failed; /* those with a failure of earlier work */
  int host_calls_promised;
  int64_t violations; /* the driver had seen before */
};

/* No call fails, and no device is lost, whatever an earlier test has left. */
static struct session begin(void) {
  struct session s;
  memset(&s, 0, sizeof s);
  driver.fail_call(0, 0);
  for (int32_t i = 0; i < 2; ++i) driver.lose_device(i, 0);
  s.violations = driver.violations();
  return s;
}

#define TRY(call)                                 \
  do {                                            \
    const MaxStatus status_ = (call);             \
    if (status_ != MAX_STATUS_OK) return status_; \
  } while (0)

static void count_call(void* user_data, MaxStatus status) {
  struct session* s = user_data;
  ++s->host_calls;
  s->host_calls_failed += status != MAX_STATUS_OK;
}

static MaxStatus enqueue_count(struct session* s) {
  const MaxStatus status = maxStreamEnqueueHostFunction(s->streams[0], count_call, s);
  s->host_calls_promised += status == MAX_STATUS_OK;
  return status;
}

static const int64_t shape[] = {COUNT};

static MaxStatus open_all(struct session* s) {
  TRY(maxDeviceCreate("cpu", -1, NULL, &s->host));
  for (int i = 0; i < 2; ++i) TRY(maxDeviceCreate(device_api, i, NULL, &s->devices[i]));
  for (int i = 0; i < 2; ++i) TRY(maxStreamCreate(s->devices[i], NULL, &s->streams[i]));
  MaxEventOptions timed = MAX_EVENT_OPTIONS_INIT;
  timed.timing = 1;
  for (int i = 0; i < 2; ++i) TRY(maxEventCreate(s->devices[0], &timed, &s->events[i]));
  return MAX_STATUS_OK;
}

static MaxStatus use_memory(struct session* s, int32_t* values) {
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.stream = s->streams[0];
  TRY(maxBufferCreate(s->devices[0], MAX_DTYPE_INT32, 1, shape, &options, &s->buffers[0]));
  void* address = address_of(s->buffers[0]);
  TRY(maxStreamRecordEvent(s->streams[0], s->events[0]));
  TRY(maxMemoryCopy(address, values, sizeof *values * COUNT, MAX_COPY_KIND_HOST_TO_DEVICE, s->streams[0]));
  options.pinned = 1;
  TRY(maxBufferCreate(s->devices[0], MAX_DTYPE_INT32, 1, shape, &options, &s->buffers[1]));
  TRY(maxBufferCopy(s->buffers[1], 0, s->buffers[0], 0, sizeof *values * COUNT, s->streams[0]));
  TRY(maxStreamRecordEvent(s->streams[0], s->events[1]));
  TRY(maxStreamWaitForEvent(s->streams[1], s->events[1]));
  MaxBufferCopyOptions copy = MAX_BUFFER_COPY_OPTIONS_INIT;
  copy.stream = s->streams[1];
  TRY(maxBufferClone(s->buffers[0], s->devices[1], &copy, &s->buffers[2])); /* to the other device */
  TRY(maxBufferSlice(s->buffers[0], (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, (const int64_t[]){MAX_SLICE_OMITTED},
                     NULL, (const int64_t[]){-3}, 1, &s->buffers[3]));
  copy.stream = s->streams[0];
  TRY(maxBufferContiguous(s->buffers[3], &copy, &s->buffers[4]));
  TRY(maxStreamWaitForStream(s->streams[0], s->streams[1]));
  return maxBufferFill(s->buffers[0], values, 8, s->streams[0]);
}

static const char source[] =
    "__constant__ int offset;\n"
    "extern \"C\" __global__ void add(int* values, int count) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < count) values[i] += offset;\n"
    "}\n";

/* On the reversed copy. */
static MaxStatus run_kernel(struct session* s) {
  const int32_t offset = OFFSET;
  const int32_t count = COUNT / 3;
  MaxKernel* kernel = NULL; /* borrowed */
  TRY(maxModuleCompile(s->devices[0], source, "faults.cu", NULL, &s->module));
  TRY(maxModuleGetKernel(s->module, "add", &kernel));
  TRY(maxModuleSetConstant(s->module, "offset", &offset, sizeof offset, s->streams[0]));
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  config.grid[0] = (COUNT + 31) / 32;
  config.block[0] = 32;
  const void* arguments[] = {s->buffers[4], &count};
  const size_t sizes[] = {MAX_KERNEL_ARGUMENT_BUFFER, sizeof count};
  return maxKernelLaunch(kernel, &config, arguments, sizes, 2, s->streams[0]);
}

/* To the other stream of the same device, and back as a buffer. */
static MaxStatus exchange(struct session* s) {
  MaxDlpackOptions options = MAX_DLPACK_OPTIONS_INIT;
  options.stream = s->streams[0];
  MaxDlpackExportOptions export = MAX_DLPACK_EXPORT_OPTIONS_INIT;
  export.stream = s->streams[0];
  TRY(maxBufferToDlpack(s->buffers[4], &export, &s->tensor));
  TRY(maxBufferFromDlpack(s->tensor, &options, &s->buffers[6]));
  s->tensor = NULL; /* the buffer has it */
  TRY(maxHostAllocate(s->devices[0], 100000, &s->block));
  return maxMemoryCopy(s->block, address_of(s->buffers[6]), 100, MAX_COPY_KIND_DEVICE_TO_HOST, s->streams[0]);
}

static MaxStatus wait_and_read(struct session* s, int32_t* values) {
  TRY(enqueue_count(s));
  TRY(maxStreamSynchronize(s->streams[0], 0));
  TRY(maxStreamSynchronize(s->streams[1], 0));
  int64_t elapsed = 0;
  TRY(maxEventGetElapsedTime(s->events[0], s->events[1], &elapsed));
  int32_t item = 0;
  TRY(maxBufferRead(s->buffers[2], (const int64_t[]){7}, 1, sizeof item, &item));
  assert_int_equal(item, values[7]);
  TRY(maxBufferRead(s->buffers[4], (const int64_t[]){1}, 1, sizeof item, &item));
  assert_int_equal(item, values[COUNT - 4] + OFFSET);
  void* mapped = NULL;
  TRY(maxBufferMapToHost(s->buffers[2], MAX_HOST_ACCESS_READ | MAX_HOST_ACCESS_WRITE, &mapped));
  assert_memory_equal(mapped, values, sizeof *values * COUNT);
  TRY(maxBufferUnmapFromHost(s->buffers[2]));
  TRY(maxBufferClone(s->buffers[2], s->host, NULL, &s->buffers[5]));
  uint64_t free_bytes = 0;
  uint64_t total = 0;
  TRY(maxDeviceGetMemoryInfo(s->devices[0], &free_bytes, &total));
  TRY(maxDeviceTrim(s->devices[0]));
  return maxDeviceSynchronize(s->devices[1], 0);
}

static MaxStatus run(struct session* s) {
  int32_t values[COUNT];
  for (int32_t i = 0; i < COUNT; ++i) values[i] = i * 3 + 1;
  TRY(open_all(s));
  TRY(use_memory(s, values));
  TRY(run_kernel(s));
  TRY(exchange(s));
  return wait_and_read(s, values);
}

/* Work may be queued that uses what goes away. */
static void end(struct session* s) {
  if (s->tensor) s->tensor->deleter(s->tensor);
  maxModuleRelease(s->module);
  for (size_t i = 0; i < COUNT_OF(s->buffers); ++i) maxBufferRelease(s->buffers[i]);
  for (int i = 0; i < 2; ++i) maxEventRelease(s->events[i]);
  /* Its work must be done, or the device lost. */
  if (s->streams[0] && maxStreamSynchronize(s->streams[0], 0) != MAX_STATUS_OK)
    (void)(maxStreamSynchronize(s->streams[0], 0) == MAX_STATUS_OK);
  if (s->block) CHECK(maxHostFree(s->devices[0], s->block));
  for (int i = 0; i < 2; ++i) maxStreamRelease(s->streams[i]);
  for (int i = 0; i < 2; ++i) maxDeviceRelease(s->devices[i]);
  maxDeviceRelease(s->host);
}

/* Objects may be given back a moment after the last release, by work that was queued. */
static int64_t settled(int64_t (*count)(void)) {
  for (int patience = 0; patience < 40000 && count() != 0; ++patience) {
    struct timespec pause = {0, 50000};
    nanosleep(&pause, NULL);
  }
  return count();
}

static int64_t our_objects(void) { return live_objects(); }

static void check_nothing_is_left(struct session* s, int64_t call) {
  const char* failed = driver.failed_call();
  const int64_t ours = settled(our_objects);
  const int64_t theirs = settled(driver.live_objects);
  if (ours != 0 || theirs != 0)
    fail_msg("call %lld (%s): %lld objects of ours and %s of the driver are left", (long long)call, failed,
             (long long)ours, driver.describe());
  if (s->host_calls != s->host_calls_promised)
    fail_msg("call %lld (%s): %d host functions were taken, %d called", (long long)call, failed, s->host_calls_promised,
             s->host_calls);
  if (driver.violations() != s->violations) fail_msg("call %lld (%s): see above", (long long)call, failed);
}

/* Returns 0 when the session makes fewer calls than that. */
static int fail_one_call(int64_t call, int32_t code) {
  struct session s = begin();
  driver.fail_call(call, code);
  const MaxStatus status = run(&s);
  char message[200];
  snprintf(message, sizeof message, "%s", status == MAX_STATUS_OK ? "" : maxGetLastErrorMessage());
  end(&s);
  const int was_reached = driver.failed_call()[0] != '\0';
  check_nothing_is_left(&s, call);
  driver.fail_call(0, 0);
  if (status != MAX_STATUS_OK && message[0] == '\0') fail_msg("%s failed without a message", driver.failed_call());
  return was_reached;
}

static void fail_calls_with(int32_t code) {
  int64_t call = 1;
  while (call < MOST_CALLS && fail_one_call(call, code)) ++call;
  print_message("%lld calls failed in turn\n", (long long)call - 1);
  assert_true(call > 20 && call < MOST_CALLS);
  struct session s = begin();
  CHECK(run(&s)); /* all is well again */
  end(&s);
  check_nothing_is_left(&s, 0);
}

/* In a child, since a driver is started once in a process. Returns 0 if all was well. */
static int start_and_fail(int64_t call, int32_t code, const char* advice) {
  driver.fail_call(call, code);
  MaxDevice* device = NULL;
  const MaxStatus status = maxDeviceCreate(device_api, 0, NULL, &device);
  if (status != MAX_STATUS_UNAVAILABLE || device) return 1;
  if (!strstr(maxGetLastErrorMessage(), driver.failed_call()) || !strstr(maxGetLastErrorMessage(), advice)) return 2;
  int32_t count = -1;
  return maxDeviceGetCount(device_api, &count) == MAX_STATUS_OK && count == 0 ? 0 : 3;
}

static void check_start(int64_t call, int32_t code, const char* advice) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(start_and_fail(call, code, advice));
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

/* What was found, and what would do if that is known. */
static void test_start_fails(void** state) {
  (void)state;
  for (int64_t call = 1; call <= 3; ++call) check_start(call, CODE_NOT_PERMITTED, ""); /* init, version, count */
  check_start(1, CODE_DRIVER_TOO_OLD, "a newer kernel driver");
  check_start(1, CODE_VERSIONS_DIFFER, "of different versions");
  check_start(1, CODE_NOT_COMPATIBLE, "compatibility package");
}

static void test_session(void** state) {
  (void)state;
  struct session s = begin();
  CHECK(run(&s));
  end(&s);
  check_nothing_is_left(&s, 0);
}

static void test_calls_run_out_of_memory(void** state) {
  (void)state;
  fail_calls_with(CODE_OUT_OF_MEMORY);
}

static void test_calls_are_refused(void** state) {
  (void)state;
  fail_calls_with(CODE_NOT_PERMITTED);
}

static void test_calls_lose_the_device(void** state) {
  (void)state;
  fail_calls_with(CODE_ILLEGAL_ADDRESS);
}

/* Who refuses code tells what it is and what made it. */
static void test_driver_refuses_code(void** state) {
  (void)state;
  struct session s = begin();
  CHECK(open_all(&s));
  for (int64_t call = 1; strstr(driver.failed_call(), "ModuleLoad") == NULL && call < 30; ++call) {
    driver.fail_call(call, CODE_UNSUPPORTED_PTX);
    const MaxStatus status = maxModuleCompile(s.devices[0], source, "faults.cu", NULL, &s.module);
    assert_int_not_equal(status, MAX_STATUS_OK);
  }
  assert_non_null(strstr(maxGetLastErrorMessage(), "faults.cu"));
  if (strcmp(device_api, "cuda") == 0)
    assert_non_null(strstr(maxGetLastErrorMessage(), "(compiled by NVRTC 12.4; the driver is for CUDA 12.4)"));
  end(&s);
  check_nothing_is_left(&s, 0);
}

/* A kernel knows its parameters and limits, whatever was refused when it was looked for first. */
static void test_kernel_is_looked_for_again(void** state) {
  (void)state;
  for (int64_t call = 1; call <= 30; ++call) {
    struct session s = begin();
    CHECK(open_all(&s));
    CHECK(maxModuleCompile(s.devices[0], source, "faults.cu", NULL, &s.module));
    CHECK(maxBufferCreate(s.devices[0], MAX_DTYPE_INT32, 1, shape, NULL, &s.buffers[0]));
    MaxKernel* kernel = NULL;
    driver.fail_call(call, CODE_NOT_PERMITTED);
    if (maxModuleGetKernel(s.module, "add", &kernel) != MAX_STATUS_OK) assert_null(kernel);
    driver.fail_call(0, 0);
    CHECK(maxModuleGetKernel(s.module, "add", &kernel));
    CHECK(maxKernelSetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE, 48 << 10));
    const int32_t count = 0;
    const void* arguments[] = {s.buffers[0], &count};
    const size_t sizes[] = {MAX_KERNEL_ARGUMENT_BUFFER, sizeof count};
    MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
    CHECK(maxKernelLaunch(kernel, &config, arguments, sizes, 2, NULL));
    if (strcmp(device_api, "cuda") == 0) {
      config.cluster[0] = config.cluster[1] = config.cluster[2] = 1;
      CHECK(maxKernelLaunch(kernel, &config, arguments, sizes, 2, NULL));
      CHECK(maxKernelSetAttribute(kernel, MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE, 100 << 10));
    }
    end(&s);
    check_nothing_is_left(&s, call);
  }
}

static void wait_at_gate(void* gate, MaxStatus status) {
  (void)status;
  sem_wait(gate);
}

/* Host functions that were promised a call get it, with the loss as their status. */
static void test_device_is_lost_with_work_queued(void** state) {
  (void)state;
  struct session s = begin();
  CHECK(run(&s));
  sem_t gate;
  sem_init(&gate, 0, 0);
  const int32_t one = 1;
  CHECK(maxStreamEnqueueHostFunction(s.streams[0], wait_at_gate, &gate));
  CHECK(maxBufferFill(s.buffers[0], &one, sizeof one, s.streams[0]));
  CHECK(enqueue_count(&s));
  CHECK(maxStreamWaitForStream(s.streams[1], s.streams[0])); /* of the device that stays */
  CHECK(maxBufferFill(s.buffers[2], &one, sizeof one, s.streams[1]));
  driver.lose_device(0, CODE_ILLEGAL_ADDRESS);
  sem_post(&gate);
  CHECK_FAILS(maxStreamSynchronize(s.streams[0], 0), MAX_STATUS_UNAVAILABLE, "lost");
  CHECK(maxStreamSynchronize(s.streams[1], 0));
  end(&s);
  check_nothing_is_left(&s, 0);
  assert_int_equal(s.host_calls_failed, 1);
  sem_destroy(&gate);
}

/* A device is lost: every call on it says so, and the other device goes on. */
static void test_lost_device(void** state) {
  (void)state;
  struct session s = begin();
  CHECK(run(&s));
  driver.lose_device(0, CODE_ILLEGAL_ADDRESS);
  for (int i = 0; i < 2; ++i) {
    MaxBuffer* buffer = NULL;
    MaxStream* stream = NULL;
    const int32_t one = 1;
    CHECK_FAILS(maxBufferFill(s.buffers[0], &one, 4, s.streams[0]), MAX_STATUS_UNAVAILABLE, "lost");
    CHECK_FAILS(maxStreamSynchronize(s.streams[0], 0), MAX_STATUS_UNAVAILABLE, "lost");
    CHECK_FAILS(maxStreamCreate(s.devices[0], NULL, &stream), MAX_STATUS_UNAVAILABLE, "lost");
    CHECK_FAILS(maxBufferClone(s.buffers[2], s.devices[0], NULL, &buffer), MAX_STATUS_UNAVAILABLE, "lost");
  }
  int32_t item = 0;
  CHECK(maxBufferRead(s.buffers[2], (const int64_t[]){0}, 1, sizeof item, &item));
  end(&s);
  driver.lose_device(0, 0);
  check_nothing_is_left(&s, 0);
}

int main(int argc, char** argv) {
  if (argc > 1) device_api = argv[1];
  if (!find_fake_driver(device_api, &driver)) {
    printf("skipped: MAX_CUDA_LIBRARY or MAX_HIP_LIBRARY does not name a fake driver\n");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      TEST(test_start_fails),
      TEST(test_session),
      TEST(test_calls_run_out_of_memory),
      TEST(test_calls_are_refused),
      TEST(test_calls_lose_the_device),
      TEST(test_driver_refuses_code),
      TEST(test_kernel_is_looked_for_again),
      TEST(test_lost_device),
      TEST(test_device_is_lost_with_work_queued),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
