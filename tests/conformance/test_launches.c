/* SPDX-License-Identifier: Apache-2.0 */
/* Launches cost little more than the driver's own and allocate nothing. The argument names the API; for accelerators
   the fake driver's launches do nothing (FAKE_GPU_EMPTY_LAUNCH), so that what is left is ours. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "../capi/count_allocations.h"
#include "fake_driver.h"
#include "kernels.h"

/* A launch may cost as much as so many locks and unlocks of a mutex: about 500 ns on a machine of today. */
enum { LAUNCHES = 1000, ROUNDS = 20, MOST_LOCKS = 35 };

const char* device_api = "cpu";

static const char source[] =
    "extern \"C\" __global__ void eight(float* a, float* b, float* c, float* d, int e, int f, float g, double h) {}\n";

struct launch {
  MaxDevice* device;
  MaxModule* module;
  MaxKernel* kernel;
  MaxStream* stream;
  MaxBuffer* buffer;
};

static void set_up(struct launch* l) {
  const int64_t count = 16;
  l->device = open_device();
  l->module = compile(l->device, source);
  l->kernel = find(l->module, "eight");
  l->stream = new_stream(l->device);
  l->buffer = new_buffer(l->device, MAX_DTYPE_FLOAT32, 1, &count);
}

static void tear_down(struct launch* l) {
  maxBufferRelease(l->buffer);
  maxStreamRelease(l->stream);
  maxModuleRelease(l->module);
  maxDeviceRelease(l->device);
}

static void launch_often(const struct launch* l, int count) {
  const int32_t e = 1, f = 2;
  const float g = 3;
  const double h = 4;
  const void* arguments[] = {l->buffer, l->buffer, l->buffer, l->buffer, &e, &f, &g, &h};
  const size_t sizes[] = {BUFFER_ARGUMENT, BUFFER_ARGUMENT, BUFFER_ARGUMENT, BUFFER_ARGUMENT, 4, 4, 4, 8};
  const MaxLaunchConfig config = shape_of(1, 1);
  for (int i = 0; i < count; ++i) CHECK(maxKernelLaunch(l->kernel, &config, arguments, sizes, 8, l->stream));
}

static double nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void wait_for_flag(void* flag, MaxStatus status) {
  (void)status;
  while (!atomic_load((atomic_int*)flag)) sched_yield();
}

/* All of them wait in the stream at the same time. */
static void queue_at_once(const struct launch* l) {
  atomic_int flag = 0;
  CHECK(maxStreamEnqueueHostFunction(l->stream, wait_for_flag, &flag));
  launch_often(l, LAUNCHES);
  atomic_store(&flag, 1);
  CHECK(maxStreamSynchronize(l->stream, 0));
}

static void test_launches_allocate_nothing(void** state) {
  (void)state;
  struct launch l;
  set_up(&l);
  queue_at_once(&l); /* fills what is kept for later */
  const long before = atomic_load(&allocations);
  launch_often(&l, LAUNCHES);
  const long made = atomic_load(&allocations) - before; /* waiting is the driver's affair */
  CHECK(maxStreamSynchronize(l.stream, 0));
  tear_down(&l);
  if (CAN_COUNT && made != 0) fail_msg("%ld allocations in %d launches", made, LAUNCHES);
}

/* One at a time: the first has made all that later ones need. */
static void test_the_second_launch_allocates_nothing(void** state) {
  (void)state;
  struct launch l;
  set_up(&l);
  long made = 0;
  for (int i = 0; i < LAUNCHES; ++i) {
    const long before = atomic_load(&allocations);
    launch_often(&l, 1);
    if (i > 0) made += atomic_load(&allocations) - before;
    CHECK(maxStreamSynchronize(l.stream, 0));
  }
  tear_down(&l);
  if (CAN_COUNT && made != 0) fail_msg("%ld allocations in %d launches", made, LAUNCHES - 1);
}

static void lock_often(const struct launch* l, int count) {
  (void)l;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < count; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

static double smaller(double a, double b) { return a < b ? a : b; }

static double nanoseconds_of(void (*often)(const struct launch*, int), const struct launch* l) {
  const double start = nanoseconds();
  often(l, LAUNCHES);
  return (nanoseconds() - start) / LAUNCHES;
}

/* Without the worker of a stream of the host, which takes a core's cache lines away whenever it looks. */
static void use_default_stream(struct launch* l) {
  maxStreamRelease(l->stream);
  CHECK(maxDeviceGetDefaultStream(l->device, &l->stream));
  maxStreamRetain(l->stream);
}

/* The best of some rounds, so that other programs do not count. */
static void test_launches_cost_little(void** state) {
  (void)state;
  if (!CAN_COUNT) skip();
  struct launch l;
  set_up(&l);
  if (strcmp(device_api, "cpu") == 0) use_default_stream(&l);
  double launch = 1e12, lock = 1e12;
  for (int round = 0; round < ROUNDS; ++round) {
    launch = smaller(launch, nanoseconds_of(launch_often, &l));
    CHECK(maxStreamSynchronize(l.stream, 0));
    lock = smaller(lock, nanoseconds_of(lock_often, &l));
  }
  tear_down(&l);
  print_message("%.0f ns per launch, %.0f ns per lock\n", launch, lock);
  if (launch > MOST_LOCKS * lock) fail_msg("a launch takes as long as %.0f locks", launch / lock);
}

int main(int argc, char** argv) {
  if (argc > 1) device_api = argv[1];
  MaxDevice* device = NULL;
  const MaxStatus status = maxDeviceCreate(device_api, -1, NULL, &device);
  maxDeviceRelease(device);
  if (status == MAX_STATUS_UNAVAILABLE) return 77;
  const struct CMUnitTest tests[] = {
      TEST(test_the_second_launch_allocates_nothing),
      TEST(test_launches_allocate_nothing),
      TEST(test_launches_cost_little),
  };
  return RUN_GROUP(tests, NULL, check_fake_driver);
}
