d// SPDX-License-Identifier: Apache-2.0
// Operators as kernels: the lines that begin with //@ declare them, the compiler takes them for comments.

//@ operator example.AddScaled
//@ inputs a b
//@ outputs y
//@ types T,T->T; T=float32
//@ attribute factor float 1
//@ shape y = like a b
//@ kernel add_scaled
//@ grid (y.size + 255) / 256
//@ block 256
//@ arguments a, b, y, y.size, factor

extern "C" __global__ void add_scaled(const float* a, const float* b, float* y, long long size, float factor) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) y[i] = a[i] + factor * b[i];
}

// The sum of each row: a block for a row, whose threads add up what they hold in shared memory.
//@ operator example.RowSum
//@ inputs x
//@ outputs sums
//@ types T->T; T=float32
//@ shape sums = [x.0]
//@ kernel row_sum
//@ grid x.0
//@ block 64
//@ shared 64 * 4
//@ arguments x, sums, x.1

extern "C" __global__ void row_sum(const float* x, float* sums, int columns) {
  extern __shared__ float part[];
  const float* row = x + (long long)blockIdx.x * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
