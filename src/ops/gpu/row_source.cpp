// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/row_source.h"

namespace max {

namespace {

constexpr const char* kSource = R"(
struct Total {
  static inline __device__ Sum of(Sum a, Sum b) { return a + b; }
};
struct Product {
  static inline __device__ Sum of(Sum a, Sum b) { return a * b; }
};
struct Largest {
  static inline __device__ Sum of(Sum a, Sum b) { return a != a ? a : b > a || b != b ? b : a; }
};
struct Smallest {
  static inline __device__ Sum of(Sum a, Sum b) { return a != a ? a : b < a || b != b ? b : a; }
};

// Of all threads, in a fixed order, so that results are the same each time.
template <class Join>
static inline __device__ Sum joined(Sum mine, Sum* shared) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) mine = Join::of(mine, __shfl_xor_sync(0xffffffffu, mine, apart));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = mine;
  __syncthreads();
  return Join::of(Join::of(shared[0], shared[1]), Join::of(shared[2], shared[3]));
}
)";

}  // namespace

const char* rowSource() { return kSource; }

}  // namespace max
