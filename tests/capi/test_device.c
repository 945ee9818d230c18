/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

static void test_properties(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  const char* text = NULL;
  CHECK(maxDeviceGetApi(device, &text));
  assert_string_equal(text, "cpu");
  CHECK(maxDeviceGetLabel(device, &text));
  assert_string_equal(text, "cpu");
  CHECK(maxDeviceGetName(device, &text));
  assert_true(strlen(text) > 0);
  int32_t value = -1;
  CHECK(maxDeviceGetId(device, &value));
  assert_int_equal(value, 0);
  CHECK(maxDeviceIsHost(device, &value));
  assert_int_equal(value, 1);
  CHECK(maxDeviceIsCompatible(device, &value));
  assert_int_equal(value, 1);
  int64_t version = 0;
  CHECK(maxDeviceGetDriverVersion(device, &version));
  assert_true(version >= 2000);
  maxDeviceRelease(device);
}

static void test_the_host_has_no_architecture_name(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  const char* text = "unset";
  CHECK_FAILS(maxDeviceGetArchitectureName(device, &text), MAX_STATUS_UNIMPLEMENTED, "cpu:0");
  assert_null(text);
  maxDeviceRelease(device);
}

static void test_same_id_is_same_device(void** state) {
  (void)state;
  MaxDevice* first = open_cpu();
  MaxDevice* second = NULL;
  CHECK(maxDeviceCreate("cpu", 0, NULL, &second));
  assert_ptr_equal(first, second);
  maxDeviceRelease(first);
  const char* name = NULL;
  CHECK(maxDeviceGetName(second, &name));
  maxDeviceRetain(second);
  maxDeviceRelease(second);
  maxDeviceRelease(second);
}

static void test_first_memory_limit_holds(void** state) {
  (void)state;
  MaxDeviceOptions options = MAX_DEVICE_OPTIONS_INIT;
  options.memoryLimit = 1000;
  MaxDevice* device = NULL;
  CHECK(maxDeviceCreate("cpu", -1, &options, &device));
  options.memoryLimit = 5000;
  MaxDevice* again = NULL;
  CHECK(maxDeviceCreate("cpu", -1, &options, &again));

  const int64_t shape[] = {600};
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_UINT8, 1, shape);
  MaxBuffer* other = NULL;
  CHECK_FAILS(maxBufferCreate(again, MAX_DTYPE_UINT8, 1, shape, NULL, &other), MAX_STATUS_RESOURCE_EXHAUSTED,
              "requested 600 bytes, 600 are in use, the limit is 1000");
  assert_null(other);
  maxBufferRelease(buffer);
  other = new_buffer(again, MAX_DTYPE_UINT8, 1, shape);

  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  CHECK(maxDeviceGetStats(device, &stats));
  assert_true((stats.validMask & MAX_DEVICE_STATS_MEMORY_LIMIT) != 0);
  assert_int_equal(stats.memoryLimit, 1000);
  assert_int_equal(stats.allocatedMemory, 600);
  maxBufferRelease(other);
  maxDeviceRelease(device);
  maxDeviceRelease(again);

  /* The registry is weak: with the last handle the limit goes. */
  device = open_cpu();
  MaxBuffer* large = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){100000});
  maxBufferRelease(large);
  maxDeviceRelease(device);
}

static void test_counts_and_wrong_names(void** state) {
  (void)state;
  int32_t count = -1;
  CHECK(maxDeviceGetCount("cpu", &count));
  assert_int_equal(count, 1);
  static const char* const accelerators[] = {"gpu", "cuda", "hip"};
  for (size_t i = 0; i < COUNT_OF(accelerators); ++i) {
    CHECK(maxDeviceGetCount(accelerators[i], &count));
    assert_int_equal(count, 0);
    MaxDevice* device = NULL;
    CHECK_FAILS(maxDeviceCreate(accelerators[i], -1, NULL, &device), MAX_STATUS_UNAVAILABLE, accelerators[i]);
    assert_null(device);
  }
  MaxDevice* device = NULL;
  CHECK_FAILS(maxDeviceGetCount("vulkan", &count), MAX_STATUS_NOT_FOUND, "'vulkan'");
  CHECK_FAILS(maxDeviceCreate("vulkan", 0, NULL, &device), MAX_STATUS_NOT_FOUND, "'vulkan'");
  CHECK_FAILS(maxDeviceCreate("cpu", 1, NULL, &device), MAX_STATUS_NOT_FOUND, "cpu:1");
  CHECK_FAILS(maxDeviceCreate("cpu", -2, NULL, &device), MAX_STATUS_INVALID_ARGUMENT, "-2");
}

static void test_memory_and_stats(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  uint64_t free_bytes = 0;
  uint64_t total = 0;
  CHECK(maxDeviceGetMemoryInfo(device, &free_bytes, &total));
  assert_true(total > 0 && free_bytes > 0 && free_bytes <= total);

  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_FLOAT32, 1, (const int64_t[]){1000});
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  CHECK(maxDeviceGetStats(device, &stats));
  assert_int_equal(stats.structSize, sizeof stats);
  const MaxDeviceStatsMask expected = MAX_DEVICE_STATS_FREE_MEMORY | MAX_DEVICE_STATS_TOTAL_MEMORY |
                                      MAX_DEVICE_STATS_ALLOCATED_MEMORY | MAX_DEVICE_STATS_PEAK_ALLOCATED_MEMORY |
                                      MAX_DEVICE_STATS_PROCESS_MEMORY;
  assert_int_equal(stats.validMask, expected);
  assert_int_equal(stats.totalMemory, total);
  assert_int_equal(stats.allocatedMemory, 4000);
  assert_true(stats.peakAllocatedMemory >= 4000);
  assert_true(stats.processMemory > 0 && stats.processMemory < total);
  assert_int_equal(stats.memoryLimit, 0);
  maxBufferRelease(buffer);
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){INT64_C(1) << 60}, NULL, &buffer),
              MAX_STATUS_RESOURCE_EXHAUSTED, "");
  CHECK(maxDeviceGetStats(device, &stats));
  assert_int_equal(stats.allocatedMemory, 0);
  assert_int_equal(stats.peakAllocatedMemory, 4000);
  maxDeviceRelease(device);
}

static void test_stats_of_other_sizes(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  /* An older program knows fewer fields: nothing behind its structure is written. */
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  stats.structSize = offsetof(MaxDeviceStats, totalMemory);
  stats.totalMemory = 77;
  CHECK(maxDeviceGetStats(device, &stats));
  assert_true(stats.freeMemory > 0);
  assert_int_equal(stats.totalMemory, 77);
  /* A newer program knows more: what this library does not know is zero. */
  struct {
    MaxDeviceStats stats;
    uint64_t later;
  } newer = {MAX_DEVICE_STATS_INIT, 88};
  newer.stats.structSize = sizeof newer;
  CHECK(maxDeviceGetStats(device, &newer.stats));
  assert_true(newer.stats.freeMemory > 0);
  assert_int_equal(newer.later, 0);
  stats.structSize = 0;
  CHECK_FAILS(maxDeviceGetStats(device, &stats), MAX_STATUS_INVALID_ARGUMENT, "structSize of MaxDeviceStats is 0");
  maxDeviceRelease(device);
}

static void test_options_of_other_sizes(void** state) {
  (void)state;
  MaxDevice* device = NULL;
  struct {
    MaxDeviceOptions options;
    uint64_t later;
  } newer = {MAX_DEVICE_OPTIONS_INIT, 0};
  newer.options.structSize = sizeof newer;
  CHECK(maxDeviceCreate("cpu", 0, &newer.options, &device));
  maxDeviceRelease(device);
  newer.later = 1;
  CHECK_FAILS(maxDeviceCreate("cpu", 0, &newer.options, &device), MAX_STATUS_UNIMPLEMENTED, "MaxDeviceOptions");
  assert_null(device);
  MaxDeviceOptions options = MAX_DEVICE_OPTIONS_INIT;
  options.structSize = 3;
  CHECK_FAILS(maxDeviceCreate("cpu", 0, &options, &device), MAX_STATUS_INVALID_ARGUMENT, "structSize");
  options.structSize = SIZE_MAX;
  CHECK_FAILS(maxDeviceCreate("cpu", 0, &options, &device), MAX_STATUS_INVALID_ARGUMENT, "structSize");
  options = (MaxDeviceOptions)MAX_DEVICE_OPTIONS_INIT;
  options.structSize = sizeof(size_t);
  options.memoryLimit = 1; /* behind the end of the older structure, so it has no effect */
  CHECK(maxDeviceCreate("cpu", 0, &options, &device));
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){100});
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

static void test_attributes(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  int64_t value = 0;
  CHECK(maxDeviceGetAttribute(device, MAX_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &value));
  assert_true(value >= 1);
  CHECK(maxDeviceGetAttribute(device, MAX_DEVICE_ATTRIBUTE_INTEGRATED, &value));
  assert_int_equal(value, 1);
  CHECK_FAILS(maxDeviceGetAttribute(device, MAX_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &value),
              MAX_STATUS_UNIMPLEMENTED, "no attribute 75");
  CHECK_FAILS(maxDeviceGetAttribute(device, -5, &value), MAX_STATUS_UNIMPLEMENTED, "-5");
  maxDeviceRelease(device);
}

static void test_peers(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  int32_t can_access = 0;
  CHECK(maxDeviceCanAccess(device, device, &can_access));
  assert_int_equal(can_access, 1);
  CHECK(maxDeviceEnablePeerAccess(device, device));
  CHECK(maxDeviceEnablePeerAccess(device, device));
  CHECK_FAILS(maxDeviceCanAccess(device, NULL, &can_access), MAX_STATUS_INVALID_ARGUMENT, "'peer' is NULL");
  CHECK(maxDeviceTrim(device));
  CHECK(maxDeviceSynchronize(device, 0));
  maxDeviceRelease(device);
}

static void test_default_stream_lives_with_its_device(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxDeviceGetDefaultStream(device, &stream));
  maxStreamRetain(stream);
  maxDeviceRelease(device);
  MaxDevice* owner = NULL;
  CHECK(maxStreamGetDevice(stream, &owner));
  assert_ptr_equal(owner, device);
  CHECK(maxStreamSynchronize(stream, 0));
  maxStreamRelease(stream);
}

static void test_host_allocations(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  void* pointer = NULL;
  CHECK(maxHostAllocate(device, 1000, &pointer));
  assert_int_equal((uintptr_t)pointer % 4096, 0);
  memset(pointer, 7, 1000);
  int64_t with_block = live_objects();
  void* empty = NULL;
  CHECK(maxHostAllocate(device, 0, &empty));
  assert_non_null(empty);
  assert_int_equal(live_objects(), with_block + 1);
  CHECK(maxHostFree(device, empty));
  CHECK(maxHostFree(device, NULL));
  CHECK_FAILS(maxHostFree(device, empty), MAX_STATUS_INVALID_ARGUMENT, "not a host allocation");
  CHECK_FAILS(maxHostFree(device, &pointer), MAX_STATUS_INVALID_ARGUMENT, "not a host allocation");
  void* huge = &huge;
  CHECK_FAILS(maxHostAllocate(device, SIZE_MAX / 4, &huge), MAX_STATUS_RESOURCE_EXHAUSTED, "bytes");
  assert_null(huge);
  CHECK_FAILS(maxHostAllocate(device, SIZE_MAX, &huge), MAX_STATUS_RESOURCE_EXHAUSTED, "18446744073709551615");
  /* The block keeps the device. */
  maxDeviceRelease(device);
  CHECK(maxHostFree(device, pointer));
}

static void test_scan(void** state) {
  (void)state;
  int32_t count = 0;
  CHECK(maxDeviceScan(&count));
  assert_int_equal(count, 1);
  const char* label = NULL;
  int32_t id = -1;
  CHECK(maxDeviceGetScanned(0, &label, &id));
  assert_string_equal(label, "cpu");
  assert_int_equal(id, 0);
  CHECK_FAILS(maxDeviceGetScanned(1, &label, &id), MAX_STATUS_OUT_OF_RANGE, "1");
  assert_null(label);
  CHECK_FAILS(maxDeviceGetScanned(-1, &label, &id), MAX_STATUS_OUT_OF_RANGE, "-1");
}

/* It has a name, and all that would run there says why it cannot. */
static void check_virtual_device(MaxDevice* device) {
  const char* const reason = "hip:1 is virtual (gfx942)";
  const char* text = NULL;
  int32_t number = -1;
  CHECK(maxDeviceGetApi(device, &text));
  assert_string_equal(text, "hip");
  CHECK(maxDeviceGetName(device, &text));
  assert_string_equal(text, "virtual gfx942");
  CHECK(maxDeviceGetArchitectureName(device, &text));
  assert_string_equal(text, "gfx942");
  CHECK(maxDeviceGetId(device, &number));
  assert_int_equal(number, 1);
  CHECK(maxDeviceIsHost(device, &number));
  assert_int_equal(number, 0);
  CHECK(maxDeviceIsCompatible(device, &number));
  assert_int_equal(number, 0);
  CHECK(maxDeviceCanAccess(device, device, &number));
  assert_int_equal(number, 1);
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  CHECK(maxDeviceGetStats(device, &stats));
  assert_int_equal(stats.validMask, 0);
  CHECK(maxDeviceSynchronize(device, 0));
  CHECK(maxDeviceTrim(device));

  MaxStream* stream = NULL;
  MaxEvent* event = NULL;
  MaxBuffer* buffer = NULL;
  void* pointer = NULL;
  int64_t value = 0;
  uint64_t free_bytes = 0;
  CHECK_FAILS(maxDeviceGetAttribute(device, MAX_DEVICE_ATTRIBUTE_WARP_SIZE, &value), MAX_STATUS_UNAVAILABLE, reason);
  CHECK_FAILS(maxDeviceGetDriverVersion(device, &value), MAX_STATUS_UNAVAILABLE, reason);
  CHECK_FAILS(maxDeviceGetMemoryInfo(device, &free_bytes, &free_bytes), MAX_STATUS_UNAVAILABLE, reason);
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_FLOAT32, 0, NULL, NULL, &buffer), MAX_STATUS_UNAVAILABLE, reason);
  CHECK_FAILS(maxHostAllocate(device, 8, &pointer), MAX_STATUS_UNAVAILABLE, reason);
  CHECK_FAILS(maxHostFree(device, &value), MAX_STATUS_INVALID_ARGUMENT, "hip:1");
  CHECK_FAILS(maxStreamCreate(device, NULL, &stream), MAX_STATUS_UNAVAILABLE, reason);
  CHECK_FAILS(maxEventCreate(device, NULL, &event), MAX_STATUS_UNAVAILABLE, reason);
  CHECK(maxDeviceGetDefaultStream(device, &stream));
  CHECK(maxStreamSynchronize(stream, 0));
  CHECK_FAILS(maxStreamGetNative(stream, &pointer), MAX_STATUS_UNAVAILABLE, reason);
}

static void test_virtual_devices(void** state) {
  (void)state;
  const char* text = "unset";
  CHECK_FAILS(maxAcceleratorGetApi(&text), MAX_STATUS_UNAVAILABLE, "no accelerator");
  assert_null(text);
  CHECK_FAILS(maxAcceleratorGetArchitectureName(&text), MAX_STATUS_UNAVAILABLE, "no accelerator");
  CHECK_FAILS(maxVirtualDeviceSetCount(-1), MAX_STATUS_INVALID_ARGUMENT, "-1");
  CHECK_FAILS(maxVirtualDeviceSetApi("cpu"), MAX_STATUS_NOT_FOUND, "'cpu'");
  CHECK_FAILS(maxVirtualDeviceSetArchitectureName(""), MAX_STATUS_INVALID_ARGUMENT, "0 characters");

  CHECK(maxVirtualDeviceSetCount(2));
  CHECK(maxVirtualDeviceSetApi("hip"));
  MaxDevice* device = NULL;
  CHECK_FAILS(maxDeviceCreate("hip", 1, NULL, &device), MAX_STATUS_FAILED_PRECONDITION, "no architecture");
  CHECK(maxVirtualDeviceSetArchitectureName("gfx942"));
  int32_t count = 0;
  CHECK(maxVirtualDeviceGetCount(&count));
  assert_int_equal(count, 2);
  CHECK(maxVirtualDeviceGetApi(&text));
  assert_string_equal(text, "hip");
  CHECK(maxVirtualDeviceGetArchitectureName(&text));
  assert_string_equal(text, "gfx942");
  /* Names stay, whatever comes after them. */
  const char* other = NULL;
  CHECK(maxVirtualDeviceSetArchitectureName("gfx90a"));
  CHECK(maxVirtualDeviceGetArchitectureName(&other));
  assert_string_equal(other, "gfx90a");
  assert_string_equal(text, "gfx942");
  CHECK(maxVirtualDeviceSetArchitectureName("gfx942"));
  CHECK(maxVirtualDeviceGetArchitectureName(&other));
  assert_ptr_equal(other, text);
  CHECK(maxDeviceGetCount("gpu", &count));
  assert_int_equal(count, 2);
  CHECK(maxDeviceGetCount("cuda", &count));
  assert_int_equal(count, 0);
  CHECK(maxAcceleratorGetArchitectureName(&text));
  assert_string_equal(text, "gfx942");
  CHECK(maxDeviceScan(&count));
  assert_int_equal(count, 2);
  int32_t id = 0;
  CHECK(maxDeviceGetScanned(1, &text, &id));
  assert_string_equal(text, "gpu");
  assert_int_equal(id, 1);
  CHECK_FAILS(maxDeviceCreate("hip", 2, NULL, &device), MAX_STATUS_UNAVAILABLE, "hip:2 is not available");
  CHECK(maxDeviceCreate("gpu", 1, NULL, &device));
  check_virtual_device(device);
  MaxDevice* same = NULL;
  CHECK(maxDeviceCreate("hip", 1, NULL, &same));
  assert_ptr_equal(same, device);
  maxDeviceRelease(same);
  maxDeviceRelease(device);
  CHECK(maxVirtualDeviceSetCount(0));
  CHECK(maxVirtualDeviceSetApi("cuda"));
}

static void test_null_arguments(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  const char* text = NULL;
  int32_t number = 0;
  int64_t wide = 0;
  uint64_t bytes = 0;
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  MaxStream* stream = NULL;
  const MaxStatus statuses[] = {
      maxDeviceCreate(NULL, 0, NULL, &device),
      maxDeviceCreate("cpu", 0, NULL, NULL),
      maxDeviceGetCount(NULL, &number),
      maxDeviceGetCount("cpu", NULL),
      maxDeviceGetApi(NULL, &text),
      maxDeviceGetLabel(NULL, &text),
      maxDeviceGetName(NULL, &text),
      maxDeviceGetArchitectureName(NULL, &text),
      maxDeviceGetId(NULL, &number),
      maxDeviceIsHost(NULL, &number),
      maxDeviceIsCompatible(NULL, &number),
      maxDeviceCanAccess(NULL, NULL, &number),
      maxDeviceEnablePeerAccess(NULL, NULL),
      maxDeviceGetDefaultStream(NULL, &stream),
      maxDeviceSynchronize(NULL, 0),
      maxDeviceGetMemoryInfo(NULL, &bytes, &bytes),
      maxDeviceGetStats(NULL, &stats),
      maxDeviceGetAttribute(NULL, 16, &wide),
      maxDeviceGetDriverVersion(NULL, &wide),
      maxDeviceTrim(NULL),
      maxHostAllocate(NULL, 1, NULL),
      maxDeviceScan(NULL),
      maxDeviceGetScanned(0, NULL, &number),
      maxDeviceGetScanned(0, &text, NULL),
      maxAcceleratorGetApi(NULL),
      maxAcceleratorGetArchitectureName(NULL),
      maxVirtualDeviceGetCount(NULL),
      maxVirtualDeviceSetApi(NULL),
      maxVirtualDeviceGetApi(NULL),
      maxVirtualDeviceSetArchitectureName(NULL),
      maxVirtualDeviceGetArchitectureName(NULL),
      maxExperimentalGetLiveObjectCount(NULL),
  };
  for (size_t i = 0; i < COUNT_OF(statuses); ++i) assert_int_equal(statuses[i], MAX_STATUS_INVALID_ARGUMENT);
  assert_null(device); /* the failed create cleared it */
  maxDeviceRelease(NULL);
  maxDeviceRetain(NULL);
  device = open_cpu();
  CHECK_FAILS(maxDeviceGetApi(device, NULL), MAX_STATUS_INVALID_ARGUMENT, "'outApi' is NULL");
  CHECK_FAILS(maxDeviceGetMemoryInfo(device, NULL, &bytes), MAX_STATUS_INVALID_ARGUMENT, "'outFree' is NULL");
  CHECK_FAILS(maxDeviceGetMemoryInfo(device, &bytes, NULL), MAX_STATUS_INVALID_ARGUMENT, "'outTotal' is NULL");
  CHECK_FAILS(maxDeviceGetStats(device, NULL), MAX_STATUS_INVALID_ARGUMENT, "'stats' is NULL");
  CHECK_FAILS(maxHostAllocate(device, 1, NULL), MAX_STATUS_INVALID_ARGUMENT, "'outPointer' is NULL");
  maxDeviceRelease(device);
  maxDeviceRelease(device); /* the one that the failed create left behind */
}

/* One rule: what makes something on a device takes NULL for the host. */
static void test_null_is_the_host(void** state) {
  (void)state;
  MaxDevice* cpu = open_cpu();
  MaxDevice* device = NULL;
  const int64_t shape[] = {2};
  const int64_t offsets[] = {0, 1, 2};
  int32_t values[2] = {1, 2};
  MaxBuffer* buffers[5] = {NULL};
  CHECK(maxBufferCreate(NULL, MAX_DTYPE_INT32, 1, shape, NULL, &buffers[0]));
  CHECK(maxBufferWrap(NULL, values, MAX_DTYPE_INT32, 1, shape, NULL, &buffers[1]));
  CHECK(maxBufferCreateStrings(NULL, (const char* const[]){"a", "b"}, NULL, 1, shape, &buffers[2]));
  CHECK(maxBufferCreateStringsFromBytes(NULL, "ab", 2, offsets, 1, shape, &buffers[3]));
  CHECK(maxBufferTo(buffers[0], NULL, NULL, &buffers[4]));
  for (size_t i = 0; i < COUNT_OF(buffers); ++i) {
    assert_ptr_equal(info_of(buffers[i]).device, cpu);
    maxBufferRelease(buffers[i]);
  }
  MaxStream* stream = NULL;
  MaxEvent* event = NULL;
  CHECK(maxStreamCreate(NULL, NULL, &stream));
  CHECK(maxStreamGetDevice(stream, &device));
  assert_ptr_equal(device, cpu);
  CHECK(maxEventCreate(NULL, NULL, &event));
  CHECK(maxEventGetDevice(event, &device));
  assert_ptr_equal(device, cpu);
  MaxStream* wrapped = NULL;
  CHECK_FAILS(maxStreamWrap(NULL, NULL, &wrapped), MAX_STATUS_UNIMPLEMENTED, "cpu:0");
  void* memory = NULL;
  CHECK(maxHostAllocate(NULL, 100, &memory));
  CHECK(maxHostFree(cpu, memory));
  /* A stream tells where its buffer is. */
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.stream = stream;
  CHECK(maxBufferCreate(NULL, MAX_DTYPE_INT32, 1, shape, &options, &buffers[0]));
  assert_ptr_equal(info_of(buffers[0]).stream, stream);
  maxBufferRelease(buffers[0]);
  maxEventRelease(event);
  maxStreamRelease(stream);
  maxDeviceRelease(cpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_null_is_the_host),
      TEST(test_properties),
      TEST(test_the_host_has_no_architecture_name),
      TEST(test_same_id_is_same_device),
      TEST(test_first_memory_limit_holds),
      TEST(test_counts_and_wrong_names),
      TEST(test_memory_and_stats),
      TEST(test_stats_of_other_sizes),
      TEST(test_options_of_other_sizes),
      TEST(test_attributes),
      TEST(test_peers),
      TEST(test_default_stream_lives_with_its_device),
      TEST(test_host_allocations),
      TEST(test_scan),
      TEST(test_virtual_devices),
      TEST(test_null_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
