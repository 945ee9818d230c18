// SPDX-License-Identifier: Apache-2.0
// Measures one operator with oneDNN; benchmarks/ops/compare.py runs it and says what the operators are.
//
//     onednn_bench SECONDS KIND TYPE SIZE...     prints JSON
//
// TYPE is f32, bf16 or int8: of inputs, weights and results, except that a product of int8 has results of int32. All
// may lie in memory as oneDNN likes best; weights are brought there before. OMP_NUM_THREADS says how many threads work.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

namespace {

using dnnl::memory;
using Type = memory::data_type;
using Tag = memory::format_tag;
using Sizes = std::vector<int64_t>;
using Arguments = std::unordered_map<int, memory>;

struct Step {
  dnnl::primitive primitive;
  Arguments arguments;
};

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

// Never freed. Large ones are in huge pages, where the system has them.
memory make(const memory::desc& desc) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t page = desc.get_size() < kHugePage ? 4096 : kHugePage, bytes = (desc.get_size() + page) / page * page;
  void* data = std::aligned_alloc(page, bytes);
  if (!data) std::exit(1);
  if (page == kHugePage) madvise(data, bytes, MADV_HUGEPAGE);
  std::memset(data, 0, bytes);
  return {desc, engine(), data};
}

memory make(const memory::dims& dims, Type type, Tag tag) { return make(memory::desc(dims, type, tag)); }

struct Types {
  Type input, weight, result;
};

Types typesOf(const std::string& name, Type integerResult) {
  if (name == "f32") return {Type::f32, Type::f32, Type::f32};
  if (name == "bf16") return {Type::bf16, Type::bf16, Type::bf16};
  return {Type::u8, Type::s8, integerResult};
}

dnnl::primitive_attr withActivation(dnnl::algorithm algorithm) {
  dnnl::post_ops then;
  dnnl::primitive_attr how;
  then.append_eltwise(algorithm, 0, 0);
  how.set_post_ops(then);
  return how;
}

// rows, depth, columns
Step product(const std::string& type, const Sizes& s, const memory* bias = nullptr,
             const dnnl::primitive_attr& how = {}) {
  const Types types = typesOf(type, Type::s32);
  const dnnl::matmul::primitive_desc chosen(
      engine(), {{s[0], s[1]}, types.input, Tag::ab}, {{s[1], s[2]}, types.weight, Tag::any},
      bias ? bias->get_desc() : memory::desc(), {{s[0], s[2]}, types.result, Tag::ab}, how);
  Arguments arguments = {{DNNL_ARG_SRC, make(chosen.src_desc())},
                         {DNNL_ARG_WEIGHTS, make(chosen.weights_desc())},
                         {DNNL_ARG_DST, make(chosen.dst_desc())}};
  if (bias) arguments.insert({DNNL_ARG_BIAS, *bias});
  return {dnnl::matmul(chosen), arguments};
}

// images, size, channels, filters, kernel, stride, groups
Step convolution(const std::string& type, const Sizes& s) {
  const Types types = typesOf(type, Type::u8);
  const int64_t pad = s[4] / 2, out = (s[1] + 2 * pad - s[4]) / s[5] + 1;
  memory::dims filter = {s[3], s[2] / s[6], s[4], s[4]};
  if (s[6] > 1) filter = {s[6], s[3] / s[6], s[2] / s[6], s[4], s[4]};
  dnnl::primitive_attr how = withActivation(dnnl::algorithm::eltwise_relu);
  const bool scales = types.weight == Type::s8;
  if (scales) {
    how.set_scales_mask(DNNL_ARG_SRC, 0);
    how.set_scales_mask(DNNL_ARG_WEIGHTS, s[6] > 1 ? 3 : 1);
    how.set_scales_mask(DNNL_ARG_DST, 0);
  }
  const dnnl::convolution_forward::primitive_desc chosen(
      engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      {{s[0], s[2], s[1], s[1]}, types.input, Tag::any}, {filter, types.weight, Tag::any},
      {{s[3]}, scales ? Type::s32 : Type::f32, Tag::any}, {{s[0], s[3], out, out}, types.result, Tag::any},
      {s[5], s[5]}, {pad, pad}, {pad, pad}, how);
  Arguments arguments = {{DNNL_ARG_SRC, make(chosen.src_desc())},
                         {DNNL_ARG_WEIGHTS, make(chosen.weights_desc())},
                         {DNNL_ARG_BIAS, make(chosen.bias_desc())},
                         {DNNL_ARG_DST, make(chosen.dst_desc())}};
  if (scales)
    for (const int of : {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}) {
      const memory scale = make({of == DNNL_ARG_WEIGHTS ? s[3] : 1}, Type::f32, Tag::a);
      std::fill_n(static_cast<float*>(scale.get_data_handle()), of == DNNL_ARG_WEIGHTS ? s[3] : 1, 0.01f);
      arguments.insert({DNNL_ARG_ATTR_SCALES | of, scale});
    }
  return {dnnl::convolution_forward(chosen), arguments};
}

Step eltwise(dnnl::algorithm algorithm, float alpha, float beta, const memory& from, const memory& to) {
  const dnnl::eltwise_forward::primitive_desc chosen(engine(), dnnl::prop_kind::forward_inference, algorithm,
                                                     from.get_desc(), to.get_desc(), alpha, beta);
  return {dnnl::eltwise_forward(chosen), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}};
}

// elements: relu(0.9 x + 0.1) * y + x. Of the steps, only the last two are fast in one.
std::vector<Step> elementwise(const Sizes& s) {
  const memory::desc flat({s[0]}, Type::f32, Tag::a);
  const memory x = make(flat), y = make(flat), between = make(flat);
  dnnl::post_ops then;
  dnnl::primitive_attr how;
  then.append_binary(dnnl::algorithm::binary_add, flat);
  how.set_post_ops(then);
  const dnnl::binary::primitive_desc multiply(engine(), dnnl::algorithm::binary_mul, flat, flat, flat, how);
  const Arguments last = {{DNNL_ARG_SRC_0, between},
                          {DNNL_ARG_SRC_1, y},
                          {DNNL_ARG_DST, make(flat)},
                          {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, x}};
  return {eltwise(dnnl::algorithm::eltwise_linear, 0.9f, 0.1f, x, between),
          eltwise(dnnl::algorithm::eltwise_relu, 0, 0, between, between),
          {dnnl::binary(multiply), last}};
}

// rows, columns
Step layerNorm(const Sizes& s) {
  const memory::desc matrix({s[0], s[1]}, Type::f32, Tag::ab);
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  const dnnl::layer_normalization_forward::primitive_desc chosen(engine(), dnnl::prop_kind::forward_inference, matrix,
                                                                 matrix, 1e-6f, flags);
  return {dnnl::layer_normalization_forward(chosen),
          {{DNNL_ARG_SRC, make(matrix)},
           {DNNL_ARG_DST, make(matrix)},
           {DNNL_ARG_SCALE, make({s[1]}, Type::f32, Tag::a)},
           {DNNL_ARG_SHIFT, make({s[1]}, Type::f32, Tag::a)}}};
}

Step softmax(const Sizes& s) {
  const memory::desc matrix({s[0], s[1]}, Type::f32, Tag::ab);
  const dnnl::softmax_forward::primitive_desc chosen(engine(), dnnl::prop_kind::forward_inference,
                                                     dnnl::algorithm::softmax_accurate, matrix, matrix, 1);
  return {dnnl::softmax_forward(chosen), {{DNNL_ARG_SRC, make(matrix)}, {DNNL_ARG_DST, make(matrix)}}};
}

// count, size: so many layers of a row: product, bias, tanh
std::vector<Step> layers(const Sizes& s) {
  const memory bias = make({1, s[1]}, Type::f32, Tag::ab);
  std::vector<Step> steps;
  for (int64_t i = 0; i < s[0]; ++i)
    steps.push_back(product("f32", {1, s[1], s[1]}, &bias, withActivation(dnnl::algorithm::eltwise_tanh)));
  return steps;
}

// count, size: so many products of a row
std::vector<Step> products(const Sizes& s) {
  std::vector<Step> steps;
  for (int64_t i = 0; i < s[0]; ++i) steps.push_back(product("f32", {1, s[1], s[1]}));
  return steps;
}

std::vector<Step> stepsOf(const std::string& kind, const std::string& type, const Sizes& sizes) {
  if (kind == "product") return {product(type, sizes)};
  if (kind == "convolution") return {convolution(type, sizes)};
  if (kind == "elementwise") return elementwise(sizes);
  if (kind == "layer_norm") return {layerNorm(sizes)};
  if (kind == "softmax") return {softmax(sizes)};
  if (kind == "layers") return layers(sizes);
  if (kind == "products") return products(sizes);
  std::fprintf(stderr, "no operator is called %s\n", kind.c_str());
  std::exit(2);
}

// The median time of a call.
double measure(const std::vector<Step>& steps, double seconds) {
  using Clock = std::chrono::steady_clock;
  dnnl::stream stream(engine());
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (int call = -5; call < 1 || Clock::now() < end; ++call) {
    const auto start = Clock::now();
    for (const Step& step : steps) step.primitive.execute(stream, step.arguments);
    stream.wait();
    if (call >= 0) times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: onednn_bench SECONDS KIND TYPE SIZE...\n");
    return 2;
  }
  Sizes sizes;
  for (int i = 4; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  const double ms = measure(stepsOf(argv[2], argv[3], sizes), std::atof(argv[1]));
  const dnnl_version_t* version = dnnl_version();
  std::printf("{\"call_ms\": %.6f, \"version\": \"%d.%d.%d\"}\n", ms, version->major, version->minor, version->patch);
  return 0;
}
