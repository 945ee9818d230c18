/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a device takes in advance, and what monitors of accelerators say. */
#include "conformance.h"
#include "fake_driver.h"

static uint64_t free_memory(const MaxDevice* device) {
  uint64_t free_bytes = 0;
  uint64_t total = 0;
  CHECK(maxDeviceGetMemoryInfo(device, &free_bytes, &total));
  return free_bytes;
}

/* Accelerators only: the host takes nothing in advance. */
void test_buffer_cache(void** state) {
  (void)state;
  const uint64_t cache = 16 << 20;
  MaxDevice* device = open_device();
  int32_t is_host = 0;
  CHECK(maxDeviceIsHost(device, &is_host));
  const uint64_t before = free_memory(device);
  maxDeviceRelease(device);
  if (is_host) return;

  MaxDeviceOptions options = MAX_DEVICE_OPTIONS_INIT;
  options.memoryLimit = cache / 2;
  options.bufferCacheSize = cache;
  CHECK_FAILS(maxDeviceCreate(device_api, -1, &options, &device), MAX_STATUS_RESOURCE_EXHAUSTED, "16777216");
  options.memoryLimit = 0;
  CHECK(maxDeviceCreate(device_api, -1, &options, &device));
  const uint64_t taken = free_memory(device);
  assert_true(taken + cache <= before);
  MaxBuffer* first = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){10 << 20});
  MaxBuffer* second = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){5 << 20});
  assert_true(free_memory(device) == taken);
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  CHECK(maxDeviceGetStats(device, &stats));
  assert_int_equal(stats.allocatedMemory, 15 << 20);
  maxBufferRelease(first);
  CHECK(maxDeviceTrim(device));
  assert_true(free_memory(device) == taken); /* a part is in use */
  maxBufferRelease(second);
  CHECK(maxDeviceTrim(device));
  assert_true(free_memory(device) >= taken + cache);
  maxDeviceRelease(device);
}

void test_alignment(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  MaxBuffer* buffer = NULL;
  const unsigned char value = 7;
  MaxBuffer* odd = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){1}); /* what follows lies behind it */
  for (options.alignment = 1; options.alignment <= (1 << 17); options.alignment *= 2) {
    CHECK(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){1000}, &options, &buffer));
    assert_int_equal((uintptr_t)address_of(buffer) % options.alignment, 0);
    CHECK(maxBufferFill(buffer, &value, 1, NULL));
    unsigned char got[1000];
    download(buffer, got, sizeof got);
    assert_int_equal(got[0], value);
    assert_int_equal(got[999], value);
    maxBufferRelease(buffer);
  }
  maxBufferRelease(odd);
  options.alignment = 48;
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){1000}, &options, &buffer),
              MAX_STATUS_INVALID_ARGUMENT, "48");
  maxDeviceRelease(device);
}

static void check_monitor(int32_t id, MaxDeviceStatsMask known, uint32_t utilization, int32_t temperature,
                          uint64_t power) {
  const MaxDeviceStatsMask all = MAX_DEVICE_STATS_UTILIZATION | MAX_DEVICE_STATS_TEMPERATURE | MAX_DEVICE_STATS_POWER;
  MaxDevice* device = NULL;
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  CHECK(maxDeviceCreate(device_api, id, NULL, &device));
  CHECK(maxDeviceGetStats(device, &stats));
  assert_int_equal(stats.validMask & all, known);
  assert_int_equal(stats.utilization, utilization);
  assert_int_equal(stats.temperature, temperature);
  assert_int_equal(stats.power, power);
  maxDeviceRelease(device);
}

/* On the fakes, whose monitors know everything about the first device, and something else about the second. */
void test_telemetry(void** state) {
  (void)state;
  struct fake_driver driver;
  if (!find_fake_driver(device_api, &driver)) return;
  const MaxDeviceStatsMask all = MAX_DEVICE_STATS_UTILIZATION | MAX_DEVICE_STATS_TEMPERATURE | MAX_DEVICE_STATS_POWER;
  const MaxDeviceStatsMask some = MAX_DEVICE_STATS_UTILIZATION | MAX_DEVICE_STATS_TEMPERATURE;
  if (strcmp(device_api, "hip") == 0) {
    check_monitor(0, all, 20, 51, 110000);
    check_monitor(1, all, 40, 63, 220000);
  } else {
    check_monitor(0, all, 10, 41, 71500);
    check_monitor(1, some, 20, 42, 0);
  }
}
