// SPDX-License-Identifier: Apache-2.0
#include "limits.h"

#include <algorithm>
#include <chrono>

namespace max::cli {
namespace {

using Graph = Owned<MaxGraph, maxGraphRelease>;

constexpr int64_t kProductSize = 768;             // square matrices, which caches hold
constexpr int64_t kRows = 2048, kColumns = 8192;  // 64 MB, which they do not
constexpr int kRuns = 7;

Buffer zeros(const Device& device, MaxDType dtype, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.zeroed = 1;
  Buffer buffer;
  check(maxBufferCreate(device, dtype, 2, shape, &options, buffer.out()));
  return buffer;
}

// The shortest time of a call of "op"(input) or "op"(input, weight), in milliseconds.
double shortestCall(const OpenModel& open, const char* op, MaxDType dtype, const Buffer& input,
                    const MaxBuffer* weight) {
  Graph graph;
  MaxGraphValue *operands[2] = {}, *result = nullptr;
  const int64_t shape[] = {MAX_DIMENSION_DYNAMIC, MAX_DIMENSION_DYNAMIC};
  check(maxGraphCreate("limit", graph.out()));
  check(maxGraphAddInput(graph, "x", dtype, 2, shape, nullptr, &operands[0]));
  if (weight) check(maxGraphAddConstant(graph, "weight", weight, &operands[1]));
  check(maxGraphAddNode(graph, nullptr, op, nullptr, operands, weight ? 2 : 1, nullptr, &result, 1));
  check(maxGraphAddOutput(graph, result, "y"));
  MaxModelLoadOptions load = MAX_MODEL_LOAD_OPTIONS_INIT;
  check(maxModelGetPrecision(open.model, &load.precision));
  Model model;
  check(maxModelCompile(open.session, graph, &load, model.out()));
  double shortest = 0;
  for (int i = 0; i < kRuns; ++i) {
    MaxBuffer* const in = input;
    Buffer out;
    const auto start = std::chrono::steady_clock::now();
    check(maxModelExecute(model, &in, 1, nullptr, out.out(), 1));
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    shortest = i == 0 ? ms : std::min(shortest, ms);
  }
  return shortest;
}

}  // namespace

Limits measureLimits(const OpenModel& open, bool integers) {
  check(maxSessionSetProfiling(open.session, MAX_PROFILING_MODE_OFF));
  const double multiplications = static_cast<double>(kProductSize * kProductSize * kProductSize);
  const auto product = [&](const char* op, MaxDType left, MaxDType right) {
    const Buffer a = zeros(open.device, left, kProductSize, kProductSize);
    return multiplications / shortestCall(open, op, left, a, zeros(open.device, right, kProductSize, kProductSize));
  };
  const Buffer large = zeros(open.device, MAX_DTYPE_FLOAT32, kRows, kColumns);
  return {
      product("MatMul", MAX_DTYPE_FLOAT32, MAX_DTYPE_FLOAT32),
      integers ? product("MatMulInteger", MAX_DTYPE_UINT8, MAX_DTYPE_INT8) : 0,
      static_cast<double>(kRows * kColumns * 4) / shortestCall(open, "ReduceMax", MAX_DTYPE_FLOAT32, large, nullptr)};
}

}  // namespace max::cli
