/* SPDX-License-Identifier: Apache-2.0 */
/* A suite with one fault, which test_seeded_faults.py expects to be found: seeded_faults FAULT. */
#define _POSIX_C_SOURCE 200809L
#include "fake_driver.h"
#include "kernels.h"

const char* device_api = "cuda";

static const char* fault;
static MaxDevice* kept;

static int has_fault(const char* name) { return strcmp(fault, name) == 0; }

static int set_up(void** state) {
  (void)state;
  assert_false(has_fault("assertion_in_setup"));
  return has_fault("setup") ? -1 : 0;
}

/* Kernels of two streams may read the same memory, but not write it. The library orders accesses to buffers; it cannot
   order those to bare addresses. */
static void run_kernels(MaxDevice* device, const MaxBuffer* source, MaxStream* const* streams) {
  MaxModule* module = compile(device, "extern \"C\" __global__ void copy(const char* in, char* out) { *out = *in; }\n");
  const int64_t size = 4096;
  MaxBuffer* targets[] = {new_buffer(device, MAX_DTYPE_UINT8, 1, &size), new_buffer(device, MAX_DTYPE_UINT8, 1, &size)};
  const MaxLaunchConfig config = shape_of(1, 1);
  for (int i = 0; i < 2; ++i) {
    const void* in = address_of(source);
    const void* out = address_of(targets[has_fault("race_of_kernels") ? 0 : i]);
    const void* arguments[] = {&in, &out};
    CHECK(maxKernelLaunch(find(module, "copy"), &config, arguments, NULL, 2, streams[i]));
  }
  for (int i = 0; i < 2; ++i) CHECK(maxStreamSynchronize(streams[i], 0));
  for (int i = 0; i < 2; ++i) maxBufferRelease(targets[i]);
  maxModuleRelease(module);
}

static void test_some_work(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxStream* streams[] = {new_stream(device), new_stream(device)};
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){4096});
  const unsigned char value = 7;
  CHECK(maxBufferFill(buffer, &value, 1, streams[0]));
  CHECK(maxStreamSynchronize(streams[0], 0));
  if (has_fault("race")) {
    static unsigned char target[4096];
    CHECK(maxMemoryCopy(address_of(buffer), target, sizeof target, MAX_COPY_KIND_HOST_TO_DEVICE, streams[0]));
    CHECK(maxMemoryCopy(address_of(buffer), target, sizeof target, MAX_COPY_KIND_HOST_TO_DEVICE, streams[1]));
    for (int i = 0; i < 2; ++i) CHECK(maxStreamSynchronize(streams[i], 0));
  }
  run_kernels(device, buffer, streams);
  for (int i = 0; i < 2; ++i) maxStreamRelease(streams[i]);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
  assert_false(has_fault("assertion"));
}

static void test_leak(void** state) {
  (void)state;
  if (has_fault("leak_in_test")) kept = open_device();
}

static void test_driver_leak(void** state) {
  (void)state;
  maxDeviceRelease(kept);
  if (has_fault("leak_in_driver")) kept = open_device();
}

static int tear_down(void** state) {
  assert_false(has_fault("assertion_in_teardown"));
  return check_fake_driver(state);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  fault = argv[1];
  const struct CMUnitTest tests[] = {TEST(test_some_work), TEST(test_leak), cmocka_unit_test(test_driver_leak)};
  return RUN_GROUP(tests, set_up, tear_down);
}
