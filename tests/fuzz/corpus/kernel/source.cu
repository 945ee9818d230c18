s// SPDX-License-Identifier: Apache-2.0
struct Pair { float a; short b; };
template <int N> __device__ float twice(float x) { return N * x; }
__constant__ float scale[4];
extern "C" __global__ void __launch_bounds__(256) add(const float* __restrict__ a, Pair p, float* c, int n) {
  __shared__ float tile[16][17];
  extern __shared__ char rest[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x % 16][0] = a[i] + p.a;
  __syncthreads();
  if (i < n) c[i] = twice<2>(tile[0][0]) + scale[0] + rest[0];
}
