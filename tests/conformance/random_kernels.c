/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

enum { LANES = 32, BUFFERS = 5, STREAMS = 3, COUNT = 3 * LANES, STEPS = 500, PROGRAMS = 20 };

static const char source[] =
    "extern \"C\" __global__ void mix(unsigned* target, const unsigned* source, int count, unsigned seed) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < count) target[i] = target[i] * 3 + source[count - 1 - i] + seed;\n"
    "}\n"
    "extern \"C\" __global__ void turn(unsigned* target, int count) {\n"
    "  extern __shared__ unsigned copy[];\n"
    "  for (int i = threadIdx.x; i < count; i += blockDim.x) copy[i] = target[i];\n"
    "  __syncthreads();\n"
    "  for (int i = threadIdx.x; i < count; i += blockDim.x) target[i] = copy[(i + 1) % count] + i;\n"
    "}\n"
    "extern \"C\" __global__ void sum(unsigned* target, int bits) {\n"
    "  const unsigned all = 0xffffffffu, value = target[threadIdx.x];\n"
    "  target[threadIdx.x] = __reduce_add_sync(all, value) + 5 * __shfl_xor_sync(all, value, bits)\n"
    "                        + __ballot_sync(all, value & 1);\n"
    "}\n";

struct program {
  MaxDevice* device;
  MaxKernel* mix;
  MaxKernel* turn;
  MaxKernel* sum;
  MaxStream* streams[STREAMS];
  MaxBuffer* buffers[BUFFERS];
  uint32_t expected[BUFFERS][COUNT];
  uint32_t random;
  int last_user[BUFFERS]; /* stream that used the buffer last */
};

static uint32_t next(struct program* p, uint32_t limit) { return random_below(&p->random, limit); }

/* The program must be free of races: a stream waits for the one that used the buffer before it. */
static void hand_over(struct program* p, uint32_t buffer, int stream) {
  const int before = p->last_user[buffer];
  p->last_user[buffer] = stream;
  if (before != stream) order_after(p->streams[stream], p->streams[before], next(p, 2) != 0);
}

static void mix_step(struct program* p, int stream) {
  const uint32_t target = next(p, BUFFERS);
  const uint32_t from = (target + 1 + next(p, BUFFERS - 1)) % BUFFERS;
  const int32_t count = (int32_t)next(p, COUNT) + 1;
  const uint32_t seed = next(p, 1000);
  hand_over(p, target, stream);
  hand_over(p, from, stream);
  const void* arguments[] = {p->buffers[target], p->buffers[from], &count, &seed};
  const size_t sizes[] = {BUFFER_ARGUMENT, BUFFER_ARGUMENT, sizeof count, sizeof seed};
  const MaxLaunchConfig config = shape_of((COUNT + 31) / 32, 32);
  CHECK(maxKernelLaunch(p->mix, &config, arguments, sizes, 4, p->streams[stream]));
  for (int i = 0; i < count; ++i)
    p->expected[target][i] = p->expected[target][i] * 3 + p->expected[from][count - 1 - i] + seed;
}

static void turn_step(struct program* p, int stream) {
  const uint32_t target = next(p, BUFFERS);
  const int32_t count = COUNT;
  hand_over(p, target, stream);
  const void* arguments[] = {p->buffers[target], &count};
  const size_t sizes[] = {BUFFER_ARGUMENT, sizeof count};
  MaxLaunchConfig config = shape_of(1, 16);
  config.sharedByteCount = COUNT * sizeof(uint32_t);
  CHECK(maxKernelLaunch(p->turn, &config, arguments, sizes, 2, p->streams[stream]));
  uint32_t copy[COUNT];
  memcpy(copy, p->expected[target], sizeof copy);
  for (uint32_t i = 0; i < COUNT; ++i) p->expected[target][i] = copy[(i + 1) % COUNT] + i;
}

/* Of a warp, with the lane beside and the votes. */
static void sum_step(struct program* p, int stream) {
  const uint32_t target = next(p, BUFFERS);
  const int32_t bits = (int32_t)next(p, LANES);
  hand_over(p, target, stream);
  const void* arguments[] = {p->buffers[target], &bits};
  const size_t sizes[] = {BUFFER_ARGUMENT, sizeof bits};
  const MaxLaunchConfig config = shape_of(1, COUNT);
  CHECK(maxKernelLaunch(p->sum, &config, arguments, sizes, 2, p->streams[stream]));
  for (uint32_t* warp = p->expected[target]; warp < p->expected[target] + COUNT; warp += LANES) {
    uint32_t sum = 0, votes = 0, before[LANES];
    memcpy(before, warp, sizeof before);
    for (uint32_t i = 0; i < LANES; ++i) {
      sum += before[i];
      votes |= (before[i] & 1) << i;
    }
    for (int i = 0; i < LANES; ++i) warp[i] = sum + 5 * before[i ^ bits] + votes;
  }
}

static void fill_step(struct program* p, int stream) {
  const uint32_t target = next(p, BUFFERS);
  const uint32_t value = next(p, 1u << 24);
  hand_over(p, target, stream);
  CHECK(maxBufferFill(p->buffers[target], &value, sizeof value, p->streams[stream]));
  for (int i = 0; i < COUNT; ++i) p->expected[target][i] = value;
}

static void copy_step(struct program* p, int stream) {
  const uint32_t target = next(p, BUFFERS);
  const uint32_t from = (target + 1 + next(p, BUFFERS - 1)) % BUFFERS;
  hand_over(p, target, stream);
  hand_over(p, from, stream);
  CHECK(maxBufferCopy(p->buffers[target], 0, p->buffers[from], 0, sizeof p->expected[0], p->streams[stream]));
  memcpy(p->expected[target], p->expected[from], sizeof p->expected[0]);
}

/* The old buffer is given back while work with it may still be queued. */
static void clone_step(struct program* p, int stream) {
  const uint32_t target = next(p, BUFFERS);
  MaxBufferCopyOptions options = MAX_BUFFER_COPY_OPTIONS_INIT;
  options.stream = p->streams[stream];
  hand_over(p, target, stream);
  MaxBuffer* copy = NULL;
  CHECK(maxBufferClone(p->buffers[target], NULL, &options, &copy));
  maxBufferRelease(p->buffers[target]);
  p->buffers[target] = copy;
}

static void run_program(struct program* p) {
  const int64_t count = COUNT;
  for (int i = 0; i < STREAMS; ++i) p->streams[i] = new_stream(p->device);
  for (int i = 0; i < BUFFERS; ++i) {
    for (int j = 0; j < COUNT; ++j) p->expected[i][j] = (uint32_t)(i * 1000 + j);
    p->buffers[i] = upload(p->device, MAX_DTYPE_UINT32, 1, &count, p->expected[i]);
    p->last_user[i] = 0;
  }
  for (int step = 0; step < STEPS; ++step) {
    void (*const steps[])(struct program*, int) = {mix_step, mix_step,  mix_step,  turn_step,
                                                   sum_step, copy_step, fill_step, clone_step};
    const int stream = (int)next(p, STREAMS);
    steps[next(p, COUNT_OF(steps))](p, stream);
  }
  CHECK(maxDeviceSynchronize(p->device, 0));
  for (int i = 0; i < BUFFERS; ++i) {
    uint32_t got[COUNT];
    download(p->buffers[i], got, sizeof got);
    assert_memory_equal(got, p->expected[i], sizeof got);
    maxBufferRelease(p->buffers[i]);
  }
  for (int i = 0; i < STREAMS; ++i) {
    CHECK(maxStreamSynchronize(p->streams[i], 0));
    maxStreamRelease(p->streams[i]);
  }
}

void test_random_kernels(void** state) {
  (void)state;
  struct program program = {.device = open_device()};
  MaxModule* module = compile(program.device, source);
  program.mix = find(module, "mix");
  program.turn = find(module, "turn");
  program.sum = find(module, "sum");
  for (uint32_t seed = 1; seed <= PROGRAMS; ++seed) {
    program.random = seed;
    run_program(&program);
  }
  maxModuleRelease(module);
  maxDeviceRelease(program.device);
}
