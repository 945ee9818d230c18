// SPDX-License-Identifier: Apache-2.0
// Blocks of launches that are too large to run whole.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "kernel/cpu_compiler.h"
#include "kernel/cpu_library.h"
#include "kernel/cpu_runtime.h"

namespace max {
namespace {

constexpr uint32_t kThreads = 256;

Ref<CpuLibrary> compile(const char* text) {
  KernelSource source;
  source.name = "blocks.cu";
  source.text = text;
  return CpuLibrary::load(cpuCompiler().compile(source, MAX_ARTIFACT_KIND_SHARED_OBJECT).bytes);
}

// The numbers that threads of the last `count` blocks of a row of `grid` blocks write.
std::vector<uint64_t> lastNumbers(const CpuLibrary& library, const char* name, uint32_t grid, int64_t count) {
  const uint64_t first = (grid - static_cast<uint64_t>(count)) * kThreads;
  std::vector<uint64_t> numbers(static_cast<size_t>(count) * kThreads);
  const uint64_t* out = numbers.data();
  void* arguments[] = {static_cast<void*>(&out), const_cast<uint64_t*>(&first)};
  CpuLaunch launch;
  launch.kernel = library.find(name);
  launch.name = name;
  launch.arguments = arguments;
  launch.grid[0] = grid;
  launch.block[0] = kThreads;
  BlockRunner::ofThread().run(launch, grid - count, grid);
  return numbers;
}

// Around the largest number that an int holds, and the largest unsigned one.
TEST(CpuBlocks, NumbersOfThreadsMayNeedMoreThan32Bits) {
  const Ref<CpuLibrary> library = compile(
      "extern \"C\" __global__ void number(size_t* out, size_t first) {\n"
      "  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= first) out[i - first] = i;\n"
      "}\n"
      "extern \"C\" __global__ void waits(size_t* out, size_t first) {\n"
      "  __shared__ unsigned last;\n"
      "  if (threadIdx.x == blockDim.x - 1) last = threadIdx.x;\n"
      "  __syncthreads();\n"
      "  size_t i = (size_t)blockIdx.x * blockDim.x + last - (last - threadIdx.x);\n"
      "  out[i - first] = i;\n"
      "}\n");
  constexpr uint32_t kHalf = uint32_t{1} << 23;  // of 2^31 threads
  for (const char* name : {"number", "waits"})
    for (const uint32_t grid : {3u, kHalf - 5, kHalf - 4, kHalf - 3, kHalf - 1, kHalf, kHalf + 2, 2 * kHalf + 2}) {
      const std::vector<uint64_t> numbers = lastNumbers(*library, name, grid, 3);
      for (size_t i = 0; i < numbers.size(); ++i)
        ASSERT_EQ(numbers[i], (grid - uint64_t{3}) * kThreads + i) << name << ' ' << grid;
    }
}

// Rows of threads, the last of which are run by other fibers.
TEST(CpuBlocks, ThreadsOfAllDimensionsRunOnce) {
  const Ref<CpuLibrary> library = compile(
      "extern \"C\" __global__ void count(int* out, int waits) {\n"
      "  int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
      "  if (t % 7 < waits) __syncthreads();\n"
      "  out[blockIdx.x * blockDim.x * blockDim.y * blockDim.z + t] += t + 1;\n"
      "  if (t % 7 >= waits) __syncthreads();\n"
      "}\n");
  for (const auto& [x, y, z] :
       {std::array{1u, 1u, 1u}, {5u, 1u, 1u}, {3u, 4u, 1u}, {33u, 2u, 3u}, {1u, 5u, 2u}, {1u, 1u, 64u}})
    for (int waits : {0, 3, 7}) {
      const uint32_t threads = x * y * z;
      std::vector<int> counts(2 * threads);
      int* out = counts.data();
      void* arguments[] = {static_cast<void*>(&out), &waits};
      CpuLaunch launch;
      launch.kernel = library->find("count");
      launch.name = "count";
      launch.arguments = arguments;
      launch.grid[0] = 2;
      launch.block[0] = x, launch.block[1] = y, launch.block[2] = z;
      BlockRunner::ofThread().run(launch, 0, 2);
      for (uint32_t i = 0; i < 2 * threads; ++i)
        ASSERT_EQ(counts[i], static_cast<int>(i % threads) + 1) << x << ' ' << y << ' ' << z << ' ' << waits;
    }
}

}  // namespace
}  // namespace max
