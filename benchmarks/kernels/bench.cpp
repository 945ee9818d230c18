// SPDX-License-Identifier: Apache-2.0
// kernel_bench [filter] [lanes] [bf16]: the least time of each case, its rate, and its part of the measured peak.
// With bf16, weights are bfloat16, and the peak is that of bfloat16 products.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "graph/schema.h"
#include "ops/cpu/target.h"
#include "ops/operator_library.h"
#include "peak.h"

namespace max {

namespace {

using Tensors = std::vector<Ref<Tensor>>;

Ref<Tensor> numbers(const Shape& shape) {
  Ref<Tensor> tensor = Tensor::allocate(DType::Float32, shape);
  auto* data = static_cast<float*>(tensor->mutableData());
  for (int64_t i = 0; i < tensor->count(); ++i) data[i] = static_cast<float>(i % 17 - 8) / 16;
  return tensor;
}

struct Case {
  std::string name;
  OpSchema schema{};
  Node node;
  Tensors inputs;
  std::vector<Shape> outputs;
  double operations = 0;
  unsigned constants = 0;

  Case(std::string title, std::string_view domain, std::string_view op) : name(std::move(title)) {
    schema.domain = domain;
    schema.name = op;
  }
};

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double leastTime(const OpKernel& kernel, const Case& bench, int lanes) {
  std::vector<const void*> in;
  std::vector<void*> out;
  Tensors results;
  for (const Ref<Tensor>& input : bench.inputs) in.push_back(input ? input->data() : nullptr);
  for (const Shape& shape : bench.outputs) {
    results.push_back(Tensor::allocate(DType::Float32, shape, true));
    out.push_back(results.back()->mutableData());
  }
  const Ref<Storage> scratch = allocateStorage(kernel.scratchBytes() + 64);
  const OpContext context{in.data(), out.data(), static_cast<std::byte*>(scratch->data()), lanes};
  double best = 1e9;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 8 || secondsSince(start) < 0.2; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    kernel.run(context);
    best = std::min(best, secondsSince(begin));
  }
  return best;
}

void run(Case& bench, int lanes, double peak) {
  bench.node.schema = &bench.schema;
  std::vector<const Tensor*> known;
  std::vector<Operand> in, out;
  for (size_t i = 0; i < bench.inputs.size(); ++i) {
    known.push_back(bench.constants >> i & 1 ? bench.inputs[i].get() : nullptr);
    if (bench.inputs[i])
      in.push_back({DType::Float32, bench.inputs[i]->shape(), known[i]});
    else
      in.push_back({});
  }
  for (const Shape& shape : bench.outputs) out.push_back({DType::Float32, shape, nullptr});
  const OpRow* kernels = cpuOperators().find(bench.schema.domain, bench.schema.name);
  if (bench.constants && kernels->prepare) bench.node.prepared = kernels->prepare(bench.node, known);
  const double seconds = leastTime(*cpuOperators().create({bench.node, in, out, lanes}), bench, lanes);
  const double rate = bench.operations / seconds;
  std::printf("%-52s %10.2f us %7.1f GF/s %5.1f %%\n", bench.name.c_str(), seconds * 1e6, rate / 1e9,
              100 * rate / (peak * lanes));
}

Case product(int64_t m, int64_t k, int64_t n, bool constant) {
  Case bench(concat("matmul ", m, " x ", k, " x ", n, constant ? "" : " (B at run time)"), "", "MatMul");
  bench.inputs = {numbers({m, k}), numbers({k, n})};
  bench.outputs = {{m, n}};
  bench.operations = 2. * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  bench.constants = constant ? 2 : 0;
  return bench;
}

struct ConvSize {
  int64_t size, channels, filters, kernel, stride, groups;
};

Case convolution(const ConvSize& c) {
  const int64_t pad = c.kernel / 2, out = (c.size + 2 * pad - c.kernel) / c.stride + 1;
  Case bench(concat("conv ", c.size, "x", c.size, "x", c.channels, " -> ", c.filters, " ", c.kernel, "x", c.kernel,
                    " /", c.stride, c.groups > 1 ? " depthwise" : ""),
             kMaxDomain, "Conv");
  bench.node.attributes.set("strides", std::vector<int64_t>{c.stride, c.stride});
  bench.node.attributes.set("pads", std::vector<int64_t>{pad, pad, pad, pad});
  bench.node.attributes.set("dilations", std::vector<int64_t>{1, 1});
  bench.node.attributes.set("group", c.groups);
  bench.node.attributes.set("activation", std::string("Relu"));
  bench.inputs = {numbers({1, c.size, c.size, c.channels}),
                  numbers({c.filters, c.channels / c.groups, c.kernel, c.kernel}), numbers({c.filters})};
  bench.outputs = {{1, out, out, c.filters}};
  bench.operations = 2. * static_cast<double>(out * out * c.filters) *
                     static_cast<double>(c.kernel * c.kernel * c.channels / c.groups);
  bench.constants = 2;
  return bench;
}

Case attention(int64_t heads, int64_t queries, int64_t keys, int64_t size) {
  Case bench(concat("attention ", heads, " heads, ", queries, " x ", keys, " x ", size), kMaxDomain, "Attention");
  for (const char* name : {"layout_q", "layout_k", "layout_v", "layout_out"})
    bench.node.attributes.set(name, std::string("BSHD"));
  bench.node.attributes.set("scale", 0.125f);
  bench.inputs = {numbers({1, queries, heads, size}), numbers({1, keys, heads, size}), numbers({1, keys, heads, size})};
  bench.outputs = {{1, queries, heads, size}};
  bench.operations = 4. * static_cast<double>(heads * queries * keys * size);
  return bench;
}

Case lstm(int64_t steps, int64_t batch, int64_t inputs, int64_t hidden) {
  Case bench(concat("lstm ", steps, " steps, batch ", batch, ", ", inputs, " -> ", hidden), "", "LSTM");
  bench.node.attributes.set("hidden_size", hidden);
  bench.inputs = {numbers({steps, batch, inputs}), numbers({1, 4 * hidden, inputs}), numbers({1, 4 * hidden, hidden}),
                  numbers({1, 8 * hidden})};
  bench.outputs = {{steps, 1, batch, hidden}, {1, batch, hidden}, {1, batch, hidden}};
  bench.operations = 8. * static_cast<double>(steps * batch * hidden * (inputs + hidden));
  bench.constants = 6;
  return bench;
}

constexpr int64_t kProducts[][3] = {{1024, 1024, 1024}, {128, 768, 768}, {128, 768, 3072}, {128, 3072, 768},
                                    {16, 768, 768},     {16, 768, 3072}, {16, 3072, 768},  {4, 768, 768},
                                    {1, 768, 768},      {1, 2048, 1000}, {1, 128, 512},    {1, 64, 32},
                                    {16, 64, 64},       {128, 64, 128},  {128, 128, 64}};
// ResNet-50, then MobileNetV2.
constexpr ConvSize kConvolutions[] = {
    {224, 3, 64, 7, 2, 1},    {56, 64, 64, 1, 1, 1},     {56, 64, 64, 3, 1, 1},   {56, 64, 256, 1, 1, 1},
    {56, 256, 64, 1, 1, 1},   {56, 128, 128, 3, 2, 1},   {28, 128, 128, 3, 1, 1}, {28, 128, 512, 1, 1, 1},
    {28, 512, 128, 1, 1, 1},  {56, 256, 512, 1, 2, 1},   {14, 256, 256, 3, 1, 1}, {14, 256, 1024, 1, 1, 1},
    {14, 1024, 256, 1, 1, 1}, {7, 512, 512, 3, 1, 1},    {7, 512, 2048, 1, 1, 1}, {7, 2048, 512, 1, 1, 1},
    {224, 3, 32, 3, 2, 1},    {112, 32, 32, 3, 1, 32},   {112, 32, 16, 1, 1, 1},  {112, 16, 96, 1, 1, 1},
    {112, 96, 96, 3, 2, 96},  {56, 96, 24, 1, 1, 1},     {56, 24, 144, 1, 1, 1},  {56, 144, 144, 3, 1, 144},
    {28, 32, 192, 1, 1, 1},   {28, 192, 192, 3, 1, 192}, {14, 64, 384, 1, 1, 1},  {14, 384, 384, 3, 1, 384},
    {14, 576, 96, 1, 1, 1},   {14, 576, 576, 3, 2, 576}, {7, 160, 960, 1, 1, 1},  {7, 960, 960, 3, 1, 960},
    {7, 320, 1280, 1, 1, 1}};

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (const bool constant : {true, false})
    for (const auto& [m, k, n] : kProducts) cases.push_back(product(m, k, n, constant));
  for (const ConvSize& size : kConvolutions) cases.push_back(convolution(size));
  cases.push_back(attention(12, 128, 128, 64));
  cases.push_back(attention(12, 16, 16, 64));
  cases.push_back(attention(12, 1024, 1024, 64));
  cases.push_back(lstm(1, 1, 128, 128));
  cases.push_back(lstm(50, 1, 128, 128));
  cases.push_back(lstm(50, 16, 128, 256));
  return cases;
}

}  // namespace

void runAll(const char* filter, int lanes, bool rounds) {
  const double peak = rateOf(rounds ? bfloat16Peak() : floatPeak());
  std::printf("%s, %.1f GF/s per lane, %d lanes\n", nameOf(cpuTarget()), peak / 1e9, lanes);
  for (Case& bench : allCases()) {
    if (rounds) bench.node.products = DType::BFloat16;
    if (bench.name.find(filter) != std::string::npos) run(bench, lanes, peak);
  }
}

}  // namespace max

int main(int argc, char** argv) {
  const bool rounds = argc > 3 && std::strcmp(argv[3], "bf16") == 0;
  max::runAll(argc > 1 ? argv[1] : "", argc > 2 ? std::atoi(argv[2]) : 1, rounds);
  return 0;
}
