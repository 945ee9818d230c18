/* SPDX-License-Identifier: Apache-2.0 */
/* Warps have 32 lanes on all chips, those with wavefronts of 64 among them. */
#include "kernels.h"

enum { LANES = 32, FIELDS = 25, WHOLE = 5 * LANES, THREADS = 4 * LANES + 5, ROUNDS = 10 };

static const char source[] =
    "extern \"C\" __global__ void whole(const int* values, int* out) {\n"
    "  const unsigned all = 0xffffffffu;\n"
    "  int v = values[threadIdx.x], lane = threadIdx.x % 32, same = 0;\n"
    "  out += 25 * threadIdx.x;\n"
    "  out[0] = __shfl_sync(all, v, lane * 7 % 32);\n"
    "  out[1] = __shfl_up_sync(all, v, 3);\n"
    "  out[2] = __shfl_down_sync(all, v, 5);\n"
    "  out[3] = __shfl_xor_sync(all, v, 17);\n"
    "  out[4] = __shfl_sync(all, v, 13, 8);\n"
    "  out[5] = __shfl_down_sync(all, v, 3, 16);\n"
    "  out[6] = __shfl_xor_sync(all, v, 9, 8);\n"
    "  out[7] = (int)(__shfl_sync(all, 1e10 * v, 30) / 1e10);\n"
    "  out[8] = (int)(__shfl_xor_sync(all, (long long)v << 33, 1) >> 33);\n"
    "  out[9] = __shfl_sync(all, threadIdx.x, 31);\n"
    "  out[10] = __ballot_sync(all, v & 1);\n"
    "  out[11] = __any_sync(all, v == 17);\n"
    "  out[12] = __all_sync(all, v > 1);\n"
    "  out[13] = __popc(__activemask());\n"
    "  out[14] = __reduce_add_sync(all, v);\n"
    "  out[15] = __reduce_min_sync(all, -v);\n"
    "  out[16] = __reduce_max_sync(all, (unsigned)-v);\n"
    "  out[17] = __reduce_and_sync(all, (unsigned)v | 64);\n"
    "  out[18] = __reduce_or_sync(all, (unsigned)v);\n"
    "  out[19] = __reduce_xor_sync(all, (unsigned)v);\n"
    "  out[20] = __match_any_sync(all, v % 5);\n"
    "  out[21] = __match_any_sync(all, v % 3 * 0.5);\n"
    "  out[22] = __match_all_sync(all, v / 64, &same) ^ same;\n"
    "  out[23] = __match_all_sync(all, (long long)v << 32, &same) ^ same;\n"
    "  out[24] = warpSize;\n"
    "}\n"
    /* A warp falls into groups, which take two ways. */
    "__device__ void together(unsigned mask, int v, int* out) {\n"
    "  int same = 0;\n"
    "  out[0] = __ballot_sync(mask, v & 1);\n"
    "  out[1] = __any_sync(mask, v == 17);\n"
    "  out[2] = __all_sync(mask, v > 8);\n"
    "  out[3] = __shfl_sync(mask, v, __ffs((int)mask) - 1);\n"
    "  out[4] = __reduce_add_sync(mask, v);\n"
    "  out[5] = __reduce_max_sync(mask, v);\n"
    "  out[6] = __reduce_min_sync(mask, (unsigned)v);\n"
    "  out[7] = __reduce_xor_sync(mask, (unsigned)v);\n"
    "  out[8] = __match_any_sync(mask, v % 4);\n"
    "  out[9] = __match_all_sync(mask, v / 32, &same) ^ same;\n"
    "}\n"
    "extern \"C\" __global__ void groups(const int* values, const unsigned* masks, const int* ways, int* out) {\n"
    "  __shared__ int seen[133];\n"
    "  int t = threadIdx.x;\n"
    "  out += 25 * t;\n"
    "  if (ways[t] == 2) return;\n"
    "  if (ways[t]) {\n"
    "    together(masks[t], values[t], out);\n"
    "    out[10] = __activemask();\n"
    "  } else {\n"
    "    seen[t] = values[t];\n"
    "    __syncwarp(masks[t]);\n"
    "    out[11] = seen[t / 32 * 32 + __ffs((int)masks[t]) - 1];\n"
    "    together(masks[t], values[t], out);\n"
    "    out[10] = __activemask();\n"
    "  }\n"
    "}\n";

struct warps {
  MaxDevice* device;
  MaxModule* module;
  uint32_t random;
  int32_t values[WHOLE];
  uint32_t masks[WHOLE];
  int32_t ways[WHOLE]; /* 2 = the thread ends at once */
  int32_t out[WHOLE][FIELDS];
};

static int first_of(uint32_t mask) {
  int lane = 0;
  while (lane < LANES && !(mask >> lane & 1)) ++lane;
  return lane;
}

/* What lanes of a mask make of their values; of a warp that begins at `values`. */
enum sum { ADD, LEAST, MOST, MOST_UNSIGNED, LEAST_UNSIGNED, AND, OR, XOR };

static int32_t combined(int32_t a, int32_t b, enum sum sum) {
  switch (sum) {
    case ADD:
      return (int32_t)((uint32_t)a + (uint32_t)b);
    case LEAST:
      return a < b ? a : b;
    case MOST:
      return a < b ? b : a;
    case LEAST_UNSIGNED:
      return (uint32_t)a < (uint32_t)b ? a : b;
    case MOST_UNSIGNED:
      return (uint32_t)a < (uint32_t)b ? b : a;
    case AND:
      return a & b;
    case OR:
      return a | b;
    default:
      return a ^ b;
  }
}

static int32_t reduce(const int32_t* values, uint32_t mask, enum sum sum) {
  int32_t result = values[first_of(mask)];
  for (int lane = first_of(mask) + 1; lane < LANES; ++lane)
    if (mask >> lane & 1) result = combined(result, values[lane], sum);
  return result;
}

/* The lanes of a mask with the value of `lane`. */
static uint32_t equal_to(const int32_t* values, uint32_t mask, int lane) {
  uint32_t equal = 0;
  for (int i = 0; i < LANES; ++i)
    if (mask >> i & 1 && values[i] == values[lane]) equal |= 1u << i;
  return equal;
}

enum change {
  SAME,
  ODD,
  IS_17,
  ABOVE_1,
  ABOVE_8,
  NEGATIVE,
  WITH_64,
  REST_OF_5,
  REST_OF_3,
  REST_OF_4,
  PART_OF_64,
  PART_OF_32
};

static void changed(const int32_t* values, enum change change, int32_t* result) {
  for (int i = 0; i < LANES; ++i) {
    const int32_t v = values[i];
    const int32_t all[] = {v, v & 1, v == 17, v > 1, v > 8, -v, v | 64, v % 5, v % 3, v % 4, v / 64, v / 32};
    result[i] = all[change];
  }
}

static int32_t reduce_changed(const int32_t* values, uint32_t mask, enum change change, enum sum sum) {
  int32_t other[LANES];
  changed(values, change, other);
  return reduce(other, mask, sum);
}

static int32_t equal_changed(const int32_t* values, uint32_t mask, enum change change, int lane) {
  int32_t other[LANES];
  changed(values, change, other);
  return (int32_t)equal_to(other, mask, lane);
}

static int32_t ballot(const int32_t* values, uint32_t mask) {
  int32_t odd[LANES];
  uint32_t votes = 0;
  changed(values, ODD, odd);
  for (int i = 0; i < LANES; ++i)
    if (mask >> i & 1) votes |= (uint32_t)odd[i] << i;
  return (int32_t)votes;
}

/* The mask with another first lane if all values are equal, or 0. */
static int32_t all_equal(const int32_t* values, uint32_t mask, enum change change) {
  return (uint32_t)equal_changed(values, mask, change, first_of(mask)) == mask ? (int32_t)(mask ^ 1) : 0;
}

static void check_whole(const struct warps* w, int thread) {
  const uint32_t all = 0xffffffffu;
  const int lane = thread % LANES, start = thread - lane;
  const int32_t* v = w->values + start;
  const int32_t expected[FIELDS] = {
      v[lane * 7 % 32],
      v[lane < 3 ? lane : lane - 3],
      v[lane + 5 > 31 ? lane : lane + 5],
      v[lane ^ 17],
      v[lane / 8 * 8 + 5],
      v[lane % 16 + 3 > 15 ? lane : lane + 3],
      v[(lane ^ 9) / 8 > lane / 8 ? lane : lane ^ 9],
      v[30],
      v[lane ^ 1],
      start + 31,
      ballot(v, all),
      reduce_changed(v, all, IS_17, OR),
      reduce_changed(v, all, ABOVE_1, AND),
      LANES,
      reduce(v, all, ADD),
      reduce_changed(v, all, NEGATIVE, LEAST),
      reduce_changed(v, all, NEGATIVE, MOST_UNSIGNED),
      reduce_changed(v, all, WITH_64, AND),
      reduce(v, all, OR),
      reduce(v, all, XOR),
      equal_changed(v, all, REST_OF_5, lane),
      equal_changed(v, all, REST_OF_3, lane),
      all_equal(v, all, PART_OF_64),
      all_equal(v, all, SAME),
      LANES,
  };
  for (int i = 0; i < FIELDS; ++i)
    if (w->out[thread][i] != expected[i])
      fail_msg("thread %d, number %d: %d, not %d", thread, i, w->out[thread][i], expected[i]);
}

/* The lanes of this one's warp that take its way. */
static uint32_t beside(const struct warps* w, int thread) {
  uint32_t lanes = 0;
  for (int i = 0; i < LANES; ++i) {
    const int other = thread / LANES * LANES + i;
    if (other < THREADS && w->ways[other] == w->ways[thread]) lanes |= 1u << i;
  }
  return lanes;
}

static void check_group(const struct warps* w, int thread) {
  const int lane = thread % LANES;
  const int32_t* v = w->values + (thread - lane);
  const uint32_t mask = w->masks[thread];
  const int32_t expected[] = {
      ballot(v, mask),
      reduce_changed(v, mask, IS_17, OR),
      reduce_changed(v, mask, ABOVE_8, AND),
      v[first_of(mask)],
      reduce(v, mask, ADD),
      reduce(v, mask, MOST),
      reduce(v, mask, LEAST_UNSIGNED),
      reduce(v, mask, XOR),
      equal_changed(v, mask, REST_OF_4, lane),
      all_equal(v, mask, PART_OF_32),
  };
  const int32_t* got = w->out[thread];
  for (int i = 0; i < 10; ++i)
    if (got[i] != expected[i]) fail_msg("thread %d, number %d: %d, not %d", thread, i, got[i], expected[i]);
  const uint32_t active = (uint32_t)got[10];
  if ((active & ~beside(w, thread)) != 0 || !(active >> lane & 1)) fail_msg("thread %d: active are %x", thread, active);
  if (w->ways[thread] == 0) assert_int_equal(got[11], v[first_of(mask)]);
}

static void run(struct warps* w, const char* name, int32_t threads) {
  const int64_t count = WHOLE, fields = WHOLE * FIELDS;
  MaxBuffer* buffers[] = {upload(w->device, MAX_DTYPE_INT32, 1, &count, w->values),
                          upload(w->device, MAX_DTYPE_UINT32, 1, &count, w->masks),
                          upload(w->device, MAX_DTYPE_INT32, 1, &count, w->ways),
                          upload(w->device, MAX_DTYPE_INT32, 1, &fields, w->out)};
  const int has_groups = strcmp(name, "groups") == 0;
  const void* arguments[] = {buffers[0], buffers[has_groups ? 1 : 3], buffers[2], buffers[3]};
  const size_t sizes[] = {BUFFER_ARGUMENT, BUFFER_ARGUMENT, BUFFER_ARGUMENT, BUFFER_ARGUMENT};
  const MaxLaunchConfig config = shape_of(1, threads);
  CHECK(maxKernelLaunch(find(w->module, name), &config, arguments, sizes, has_groups ? 4 : 2, NULL));
  download(buffers[3], w->out, sizeof w->out);
  for (int i = 0; i < 4; ++i) maxBufferRelease(buffers[i]);
}

static void open_warps(struct warps* w) {
  *w = (struct warps){.device = open_device(), .random = 7};
  w->module = compile(w->device, source);
}

static void close_warps(struct warps* w) {
  maxModuleRelease(w->module);
  maxDeviceRelease(w->device);
}

void test_whole_warps(void** state) {
  (void)state;
  struct warps w;
  open_warps(&w);
  int64_t lanes = 0;
  CHECK(maxDeviceGetAttribute(w.device, MAX_DEVICE_ATTRIBUTE_WARP_SIZE, &lanes));
  assert_int_equal(lanes, LANES);
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < WHOLE; ++i) w.values[i] = (int32_t)(random_below(&w.random, i / LANES == 1 ? 60 : 200) + 2);
    run(&w, "whole", WHOLE);
    for (int i = 0; i < WHOLE; ++i) check_whole(&w, i);
  }
  close_warps(&w);
}

/* Groups 0 and 1 take one way, 2 and 3 the other, and those of 4 end. */
static void make_groups(struct warps* w) {
  int group[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    group[i] = (int)random_below(&w->random, 5);
    w->values[i] = (int32_t)random_below(&w->random, i / LANES == 1 ? 32 : 100);
    w->ways[i] = group[i] / 2;
  }
  for (int i = 0; i < THREADS; ++i) {
    w->masks[i] = 0;
    for (int j = i / LANES * LANES; j < THREADS && j < (i / LANES + 1) * LANES; ++j)
      if (group[j] == group[i]) w->masks[i] |= 1u << j % LANES;
  }
}

void test_groups_in_warps(void** state) {
  (void)state;
  struct warps w;
  open_warps(&w);
  for (int round = 0; round < ROUNDS; ++round) {
    make_groups(&w);
    run(&w, "groups", THREADS);
    for (int i = 0; i < THREADS; ++i)
      if (w.ways[i] != 2) check_group(&w, i);
  }
  close_warps(&w);
}
