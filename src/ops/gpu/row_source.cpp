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
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = Join::of(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  return shared[0];
}
)";

}  // namespace

const char* rowSource() { return kSource; }

}  // namespace max
