/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

enum { DEVICES = 2, BUFFERS = 4, STREAMS = 4, SIZE = 256, STEPS = 500, PROGRAMS = 20 };

/* Streams and buffers alternate between the devices: the number of a stream tells its device. */
struct program {
  MaxDevice* devices[DEVICES]; /* the second one may be the first */
  MaxStream* streams[STREAMS];
  MaxBuffer* buffers[BUFFERS];
  int device_of[BUFFERS];
  unsigned char expected[BUFFERS][SIZE];
  uint32_t random;
  int last_user[BUFFERS]; /* stream that used the buffer last */
  bool waits_by_hand;     /* as well as the library does, which orders what uses a buffer */
};

static uint32_t next(struct program* p, uint32_t limit) { return random_below(&p->random, limit); }

/* The program must be free of races: the library sees to it, and the program may wait for the last user besides. */
static void hand_over(struct program* p, uint32_t buffer, int stream) {
  const int before = p->last_user[buffer];
  p->last_user[buffer] = stream;
  if (before != stream && p->waits_by_hand) order_after(p->streams[stream], p->streams[before], next(p, 2) != 0);
}

static void copy_step(struct program* p, int stream) {
  const uint32_t target = next(p, BUFFERS);
  const uint32_t source = (target + 1 + next(p, BUFFERS - 1)) % BUFFERS;
  const uint32_t size = next(p, SIZE + 1);
  if (stream % DEVICES != p->device_of[source]) stream = stream / DEVICES * DEVICES + p->device_of[target];
  const uint32_t to = next(p, SIZE + 1 - size);
  const uint32_t from = next(p, SIZE + 1 - size);
  hand_over(p, target, stream);
  hand_over(p, source, stream);
  CHECK(maxBufferCopy(p->buffers[target], to, p->buffers[source], from, size, p->streams[stream]));
  memcpy(p->expected[target] + to, p->expected[source] + from, size);
}

static void fill_step(struct program* p, int stream) {
  const uint32_t target = next(p, BUFFERS);
  stream = stream / DEVICES * DEVICES + p->device_of[target];
  const size_t size = (size_t)1 << next(p, 5);
  unsigned char pattern[16];
  for (size_t i = 0; i < 16; ++i) pattern[i] = (unsigned char)next(p, 256);
  hand_over(p, target, stream);
  CHECK(maxBufferFill(p->buffers[target], pattern, size, p->streams[stream]));
  for (size_t i = 0; i < SIZE; ++i) p->expected[target][i] = pattern[i % size];
}

static void clone_step(struct program* p, int stream) {
  const uint32_t target = next(p, BUFFERS);
  MaxBufferCopyOptions options = MAX_BUFFER_COPY_OPTIONS_INIT;
  options.stream = p->streams[stream];
  hand_over(p, target, stream);
  MaxBuffer* copy = NULL;
  CHECK(maxBufferClone(p->buffers[target], NULL, &options, &copy));
  maxBufferRelease(p->buffers[target]); /* queued work keeps the memory */
  p->buffers[target] = copy;
  p->device_of[target] = stream % DEVICES;
}

/* The host reads or writes a part, by a copy or a mapping. */
static void host_step(struct program* p, int stream) {
  const uint32_t target = next(p, BUFFERS);
  stream = stream / DEVICES * DEVICES + p->device_of[target];
  hand_over(p, target, stream);
  unsigned char part[SIZE];
  const uint32_t size = next(p, SIZE), at = next(p, SIZE - size);
  const uint32_t kind = next(p, 4);
  if (kind == 0) {
    CHECK(maxBufferCopyToHost(p->buffers[target], at, part, size, p->streams[stream]));
    assert_memory_equal(part, p->expected[target] + at, size);
    return;
  }
  for (uint32_t i = 0; i < size; ++i) p->expected[target][at + i] = part[i] = (unsigned char)next(p, 256);
  if (kind < 3) {
    CHECK(maxBufferCopyFromHost(p->buffers[target], at, part, size, kind == 1 ? NULL : p->streams[stream]));
    return;
  }
  void* data = NULL;
  CHECK(maxBufferMapToHost(p->buffers[target], MAX_HOST_ACCESS_READ | MAX_HOST_ACCESS_WRITE, &data));
  memcpy((unsigned char*)data + at, part, size);
  CHECK(maxBufferUnmapFromHost(p->buffers[target]));
}

static void run_program(struct program* p) {
  for (int i = 0; i < STREAMS; ++i) p->streams[i] = new_stream(p->devices[i % DEVICES]);
  for (int i = 0; i < BUFFERS; ++i) {
    for (int j = 0; j < SIZE; ++j) p->expected[i][j] = (unsigned char)(i * 50 + j);
    p->device_of[i] = i % DEVICES;
    p->buffers[i] = upload(p->devices[i % DEVICES], MAX_DTYPE_UINT8, 1, (const int64_t[]){SIZE}, p->expected[i]);
    p->last_user[i] = i % DEVICES;
  }
  for (int step = 0; step < STEPS; ++step) {
    const int stream = (int)next(p, STREAMS);
    const uint32_t kind = next(p, 9);
    if (kind < 4)
      copy_step(p, stream);
    else if (kind < 7)
      fill_step(p, stream);
    else if (kind < 8)
      host_step(p, stream);
    else
      clone_step(p, stream);
  }
  for (int i = 0; i < BUFFERS; ++i) {
    unsigned char got[SIZE];
    CHECK(maxBufferCopyToHost(p->buffers[i], 0, got, SIZE, NULL));
    assert_memory_equal(got, p->expected[i], SIZE);
    maxBufferRelease(p->buffers[i]);
  }
  for (int i = 0; i < STREAMS; ++i) {
    CHECK(maxStreamSynchronize(p->streams[i], 0));
    maxStreamRelease(p->streams[i]);
  }
}

static void run_programs(struct program* p) {
  for (uint32_t seed = 1; seed <= PROGRAMS; ++seed) {
    p->random = seed;
    p->waits_by_hand = seed % 4 == 0;
    run_program(p);
  }
  for (int i = 0; i < DEVICES; ++i) maxDeviceRelease(p->devices[i]);
}

void test_random_programs(void** state) {
  (void)state;
  struct program program = {.devices = {open_device(), open_device()}};
  run_programs(&program);
}

void test_random_programs_on_two_devices(void** state) {
  (void)state;
  MaxDevice* second = open_second_device();
  if (!second) return;
  struct program program = {.devices = {open_device(), second}};
  run_programs(&program);
}
