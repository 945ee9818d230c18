/* SPDX-License-Identifier: Apache-2.0 */
/* Limits, trim and running out. */
#include "conformance.h"
#include "fake_driver.h"

static uint32_t random_number(uint32_t* state, uint32_t limit) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % limit;
}

static MaxDevice* open_limited(uint64_t limit) {
  MaxDeviceOptions options = MAX_DEVICE_OPTIONS_INIT;
  options.memoryLimit = limit;
  MaxDevice* device = NULL;
  CHECK(maxDeviceCreate(device_api, -1, &options, &device));
  return device;
}

static MaxDeviceStats stats_of(const MaxDevice* device) {
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  CHECK(maxDeviceGetStats(device, &stats));
  return stats;
}

/* Unless the options say otherwise: 99 % of what is free, and none on the host. */
void test_default_limit(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  int32_t is_host = 0;
  CHECK(maxDeviceIsHost(device, &is_host));
  const MaxDeviceStats stats = stats_of(device);
  if (is_host) {
    assert_int_equal(stats.memoryLimit, 0);
  } else {
    assert_true(stats.memoryLimit > stats.totalMemory / 2);
    assert_true(stats.memoryLimit <= stats.totalMemory / 100 * 99 + 100);
  }
  maxDeviceRelease(device);
}

static uint64_t free_memory(const MaxDevice* device) {
  uint64_t free_bytes = 0, total = 0;
  CHECK(maxDeviceGetMemoryInfo(device, &free_bytes, &total));
  return free_bytes;
}

/* Random sizes; whatever is refused, the limit holds, and later requests are served. A fake driver, which others do not
   use, tells what was taken of it, kept blocks included. */
void test_limit_holds(void** state) {
  (void)state;
  enum { LIMIT = 8 << 20, SLOTS = 16, STEPS = 1000 };
  struct fake_driver driver;
  const bool is_fake = find_fake_driver(device_api, &driver) != 0;
  MaxDevice* device = open_limited(LIMIT);
  const uint64_t before = free_memory(device);
  uint64_t most = 0;
  MaxStream* stream = new_stream(device);
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.stream = stream;
  MaxBuffer* buffers[SLOTS] = {NULL};
  uint32_t random = 7;
  int refused = 0;
  int made = 0;
  for (int step = 0; step < STEPS; ++step) {
    MaxBuffer** slot = &buffers[random_number(&random, SLOTS)];
    maxBufferRelease(*slot);
    const int64_t size = 1 + (int64_t)random_number(&random, 1u << random_number(&random, 22));
    const MaxStatus status = maxBufferCreate(device, MAX_DTYPE_UINT8, 1, &size, &options, slot);
    if (status == MAX_STATUS_OK)
      ++made;
    else
      ++refused;
    assert_true(status == MAX_STATUS_OK || status == MAX_STATUS_RESOURCE_EXHAUSTED);
    assert_true(stats_of(device).allocatedMemory <= LIMIT);
    if (!is_fake) continue;
    const uint64_t taken = before - free_memory(device);
    if (taken > LIMIT) fail_msg("%llu bytes are taken", (unsigned long long)taken);
    if (taken > most) most = taken;
  }
  if (is_fake) assert_int_equal(most, LIMIT);
  assert_true(made > STEPS / 2 && (refused > 0 || !is_fake));
  assert_int_equal(made + refused, STEPS);
  for (int i = 0; i < SLOTS; ++i) maxBufferRelease(buffers[i]);
  CHECK(maxStreamSynchronize(stream, 0));
  MaxBuffer* whole = NULL;
  CHECK_FAILS(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){LIMIT + 1}, NULL, &whole),
              MAX_STATUS_RESOURCE_EXHAUSTED, "8388609");
  const MaxDeviceStats stats = stats_of(device);
  assert_int_equal(stats.memoryLimit, LIMIT);
  assert_int_equal(stats.allocatedMemory, 0);
  assert_true(stats.peakAllocatedMemory > 0 && stats.peakAllocatedMemory <= LIMIT);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

void test_trim_gives_memory_back(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  int32_t is_host = 0;
  CHECK(maxDeviceIsHost(device, &is_host));
  uint64_t before = 0;
  uint64_t after = 0;
  uint64_t total = 0;
  CHECK(maxDeviceTrim(device));
  CHECK(maxDeviceGetMemoryInfo(device, &before, &total));
  MaxBuffer* buffers[20];
  for (size_t i = 0; i < COUNT_OF(buffers); ++i)
    buffers[i] = new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){1 << 20});
  if (!is_host) {
    CHECK(maxDeviceGetMemoryInfo(device, &after, &total));
    assert_true(after + ((uint64_t)19 << 20) <= before);
  }
  for (size_t i = 0; i < COUNT_OF(buffers); ++i) maxBufferRelease(buffers[i]);
  CHECK(maxDeviceSynchronize(device, 0));
  CHECK(maxDeviceTrim(device));
  CHECK(maxDeviceGetMemoryInfo(device, &after, &total));
  if (!is_host) assert_true(after + ((uint64_t)1 << 20) >= before); /* 95 % of 20 MB */
  maxDeviceRelease(device);
}

/* Which are of no use for a large request. Work that uses them may be queued. */
static void keep_small_blocks(MaxDevice* device, int64_t size) {
  MaxStream* streams[2] = {new_stream(device), new_stream(device)};
  MaxBuffer* buffers[12];
  const unsigned char value = 1;
  for (size_t i = 0; i < COUNT_OF(buffers); ++i) {
    MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
    options.stream = streams[i % 2];
    CHECK(maxBufferCreate(device, MAX_DTYPE_UINT8, 1, &size, &options, &buffers[i]));
    CHECK(maxBufferFill(buffers[i], &value, 1, streams[1 - i % 2]));
  }
  for (size_t i = 0; i < COUNT_OF(buffers); ++i) maxBufferRelease(buffers[i]);
  for (int i = 0; i < 2; ++i) maxStreamRelease(streams[i]);
}

/* Takes all there is in large pieces: an error, after which a small one is still to be had. Accelerators only: a host
   would rather swap. */
void test_out_of_device_memory(void** state) {
  (void)state;
  MaxDevice* device = open_device();
  int32_t is_host = 0;
  uint64_t free_bytes = 0;
  uint64_t total = 0;
  CHECK(maxDeviceIsHost(device, &is_host));
  CHECK(maxDeviceGetMemoryInfo(device, &free_bytes, &total));
  MaxBuffer* buffers[8] = {NULL};
  const int64_t piece = (int64_t)(total / 4);
  int made = 0;
  MaxStatus status = MAX_STATUS_OK;
  while (!is_host && status == MAX_STATUS_OK && made < 8)
    if ((status = maxBufferCreate(device, MAX_DTYPE_UINT8, 1, &piece, NULL, &buffers[made])) == MAX_STATUS_OK) ++made;
  if (!is_host) {
    assert_int_equal(status, MAX_STATUS_RESOURCE_EXHAUSTED);
    assert_true(made >= 1 && made <= 4);
    assert_non_null(strstr(maxGetLastErrorMessage(), "memory"));
    maxBufferRelease(buffers[--made]);
    maxBufferRelease(new_buffer(device, MAX_DTYPE_UINT8, 1, (const int64_t[]){1000}));
    maxBufferRelease(new_buffer(device, MAX_DTYPE_UINT8, 1, &piece)); /* what was freed can be had again */
    while (made > 0) maxBufferRelease(buffers[--made]);
    keep_small_blocks(device, (int64_t)(total / 16));
    const int64_t most = (int64_t)(total / 4 * 3);
    maxBufferRelease(new_buffer(device, MAX_DTYPE_UINT8, 1, &most)); /* kept blocks make room for it */
  }
  while (made > 0) maxBufferRelease(buffers[--made]);
  maxDeviceRelease(device);
}
