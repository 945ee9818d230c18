// SPDX-License-Identifier: Apache-2.0
// Random operators: the numbers of the CPU (ops/cpu/generator/random.h), by the same steps in float64.
#include "ops/cpu/generator/random.h"

#include "base/error.h"
#include "graph/readers/generator.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

// No product is rounded together with a sum.
constexpr const char* kNumbers = R"(
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
#define TIMES(a, b) __dmul_rn(a, b)

// Two numbers in [0, 1) with 53 random bits each.
static inline __device__ void uniforms(unsigned long long key, unsigned long long sequence, unsigned long long index,
                                       double* result) {
  unsigned x[4] = {(unsigned)index, (unsigned)(index >> 32), (unsigned)sequence, (unsigned)(sequence >> 32)};
  unsigned k0 = (unsigned)key, k1 = (unsigned)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ULL * x[0], b = 0xCD9E8D57ULL * x[2];
    const unsigned y0 = (unsigned)(b >> 32) ^ x[1] ^ k0, y2 = (unsigned)(a >> 32) ^ x[3] ^ k1;
    x[0] = y0, x[1] = (unsigned)b, x[2] = y2, x[3] = (unsigned)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int k = 0; k < 2; ++k)
    result[k] = TIMES((double)((((unsigned long long)x[2 * k] << 32) | x[2 * k + 1]) >> 11), 1.0 / 9007199254740992.0);
}

// For x in (0, 1].
static inline __device__ double logarithm(double x) {
  int exponent = 0;
  double mantissa = frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1), square = TIMES(s, s);
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = TIMES(sum, square) + 1.0 / k;
  return TIMES((double)exponent, 0.69314718055994531) + TIMES(TIMES(2.0, s), sum);
}

// The Box-Muller transform.
static inline __device__ void normals(unsigned long long key, unsigned long long sequence, unsigned long long index,
                                      double* result) {
  double u[2];
  uniforms(key, sequence, index, u);
  const double radius = sqrt(TIMES(-2.0, logarithm(1 - u[0])));
  const int quarter = (int)(TIMES(u[1], 4.0) + 0.5);
  const double x = TIMES(u[1] - TIMES((double)quarter, 0.25), 6.28318530717958648), square = TIMES(x, x);
  double sine = 0, cosine = 0;
  for (int k = 19; k >= 3; k -= 2) sine = TIMES(1 + sine, -square) / (k * (k - 1));
  for (int k = 18; k >= 2; k -= 2) cosine = TIMES(1 + cosine, -square) / (k * (k - 1));
  sine = TIMES(x, 1 + sine);
  cosine = 1 + cosine;
  const double turned[4] = {cosine, -sine, -cosine, sine};  // by quarters; the sine is a quarter behind the cosine
  result[0] = TIMES(radius, turned[quarter & 3]);
  result[1] = TIMES(radius, turned[(quarter + 3) & 3]);
}
)";

constexpr const char* kDraw = R"(
extern "C" __global__ void gpu_draw(Element* out, long long count, double offset, double scale, unsigned long long key,
                                    unsigned long long sequence) {
  EACH(i, (count + 1) / 2) {
    double numbers[2];
    PAIR(key, sequence, i, numbers);
    for (int k = 0; k < 2 && 2 * i + k < count; ++k) out[2 * i + k] = (Element)(offset + TIMES(numbers[k], scale));
  }
}
)";

// 1 where a number in [0, 1) is below the probability; never for NaN.
constexpr const char* kBernoulli = R"(
extern "C" __global__ void gpu_bernoulli(const Element* probabilities, Result* out, long long count,
                                         unsigned long long key, unsigned long long sequence) {
  EACH(i, count) {
    double numbers[2];
    uniforms(key, sequence, i / 2, numbers);
    out[i] = (Result)(numbers[i % 2] < (double)probabilities[i] ? 1 : 0);
  }
}
)";

// A thread for each row, then one for each sample.
constexpr const char* kMultinomial = R"(
extern "C" __global__ void gpu_multinomial_sums(const Element* logits, double* sums, long long rows, long long classes) {
  EACH(row, rows) {
    const Element* from = logits + row * classes;
    double largest = -INFINITY, sum = 0;
    for (long long i = 0; i < classes; ++i) largest = (double)from[i] > largest ? (double)from[i] : largest;
    for (long long i = 0; i < classes; ++i) {
      const double x = (double)from[i], weight = x == largest ? 1 : exp(x - largest);
      sum += weight > 0 ? weight : 0;
      sums[row * classes + i] = sum;
    }
  }
}
extern "C" __global__ void gpu_multinomial(const double* sums, Result* out, long long count, long long classes,
                                           long long samples, unsigned long long key, unsigned long long sequence) {
  EACH(i, count) {
    const double* row = sums + i / samples * classes;
    double numbers[2];
    uniforms(key, sequence, i, numbers);
    const double number = TIMES(numbers[0], row[classes - 1]);
    long long low = 0, high = classes - 1;  // the first sum above the number
    while (low < high) {
      const long long middle = (low + high) / 2;
      if (number < row[middle])
        high = middle;
      else
        low = middle + 1;
    }
    out[i] = (Result)low;
  }
}
)";

// While training, elements are dropped with the probability `ratio` and the others scaled up.
constexpr const char* kDropout = R"(
extern "C" __global__ void gpu_dropout(const Element* in RATIO TRAINING OUTPUTS, long long count,
                                       unsigned long long key, unsigned long long sequence) {
  const double ratio = IS_TRAINING ? (double)(GIVEN_RATIO) : 0;
  EACH(i, count) {
    double numbers[2] = {0, 0};
    if (ratio > 0) uniforms(key, sequence, i / 2, numbers);
    const bool stays = numbers[i % 2] >= ratio;
    STORE
  }
}
)";

// Launches whose last values are the key and the sequence of the run's numbers.
class RandomOp final : public OpKernel {
 public:
  RandomOp(std::vector<std::unique_ptr<LaunchOp>> ops, const Attributes& attributes, size_t scratchBytes = 0)
      : ops_(std::move(ops)), source_(attributes), scratchBytes_(scratchBytes) {
    implementation = ops_.front()->implementation;
  }
  size_t scratchBytes() const override { return scratchBytes_; }
  void run(const OpContext& context) const override {
    const RandomSequence sequence = source_.sequence();
    for (size_t i = 0; i + 1 < ops_.size(); ++i) ops_[i]->run(context);
    ops_.back()->run(context, {sequence.key(), sequence.number()});
  }

 private:
  std::vector<std::unique_ptr<LaunchOp>> ops_;
  RandomSource source_;
  size_t scratchBytes_;
};

std::unique_ptr<OpKernel> randomOp(const OpRequest& request, std::unique_ptr<LaunchOp> op) {
  std::vector<std::unique_ptr<LaunchOp>> ops;
  ops.push_back(std::move(op));
  return std::make_unique<RandomOp>(std::move(ops), request.node.attributes);
}

bool drawsNormals(const Node& node) { return node.op().starts_with("RandomNormal"); }

std::unique_ptr<OpKernel> createDraw(const Placed& placed, const OpRequest& request) {
  const int64_t count = request.outputs[0].shape.count();
  const Attributes& attributes = request.node.attributes;
  const readers::Distribution distribution =
      drawsNormals(request.node) ? readers::readNormal(attributes) : readers::readUniform(attributes);
  auto op = launchOf(placed, request, count, distribution.offset, distribution.scale);
  op->coverElements((count + 1) / 2);
  return randomOp(request, std::move(op));
}

Ref<Placed> placeDraw(const Node& node) {
  const DType dtype = node.output(0)->type.dtype;
  if (!isFloat(dtype) || !kernelType(dtype).element) return nullptr;
  return placedAs(
      concat(typesSource(dtype), kNumbers, filledIn(kDraw, {{"PAIR", drawsNormals(node) ? "normals" : "uniforms"}})),
      {"gpu_draw"}, createDraw, 0);
}

// Of the result, which may be truths.
std::string resultSource(DType dtype) {
  const KernelType type = kernelType(dtype == DType::Bool ? DType::UInt8 : dtype);
  return type.element ? concat("typedef ", type.element, " Result;\n") : std::string();
}

std::unique_ptr<OpKernel> createPerElement(const Placed& placed, const OpRequest& request) {
  const int64_t count = request.inputs[0].shape.count();
  auto op = launchOf(placed, request, count);
  op->coverElements(count);
  return randomOp(request, std::move(op));
}

Ref<Placed> placeBernoulli(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const std::string result = resultSource(node.output(0)->type.dtype);
  if (!kernelType(dtype).element || result.empty()) return nullptr;
  return placedAs(concat(typesSource(dtype), result, kNumbers, kBernoulli), {"gpu_bernoulli"}, createPerElement);
}

std::unique_ptr<OpKernel> createMultinomial(const Placed& placed, const OpRequest& request) {
  const int64_t rows = request.inputs[0].shape[0], classes = request.inputs[0].shape[1],
                samples = request.outputs[0].shape[1];
  std::vector<std::unique_ptr<LaunchOp>> ops;
  for (const size_t kernel : {0, 1}) ops.push_back(std::make_unique<LaunchOp>(placed, kernel));
  ops[0]->addInput(0);
  ops[0]->addOutput(LaunchOp::kScratch);
  for (const int64_t value : {rows, classes}) ops[0]->addValue(value);
  ops[0]->coverElements(rows);
  ops[1]->addInput(LaunchOp::kScratch);
  ops[1]->addOutput(0);
  for (const int64_t value : {rows * samples, classes, samples}) ops[1]->addValue(value);
  ops[1]->coverElements(rows * samples);
  return std::make_unique<RandomOp>(std::move(ops), request.node.attributes,
                                    static_cast<size_t>(rows * classes) * sizeof(double));
}

Ref<Placed> placeMultinomial(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const std::string result = resultSource(node.output(0)->type.dtype);
  if (!kernelType(dtype).element || result.empty()) return nullptr;
  return placedAs(concat(typesSource(dtype), result, kNumbers, kMultinomial),
                  {"gpu_multinomial_sums", "gpu_multinomial"}, createMultinomial);
}

Ref<Placed> placeDropout(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  const Value *ratio = node.input(1), *training = node.input(2), *out = node.output(0), *mask = node.output(1);
  if (!isFloat(dtype) || !kernelType(dtype).element || (ratio && !kernelType(ratio->type.dtype).element))
    return nullptr;
  std::string outputs, store;
  if (out) {
    outputs += ", Element* out";
    store += "out[i] = ratio > 0 ? (Element)(stays ? (double)in[i] * (1 / (1 - ratio)) : 0) : in[i];\n";
  }
  if (mask) {
    outputs += ", unsigned char* mask";
    store += "mask[i] = stays;\n";
  }
  return placedAs(
      concat(typesSource(dtype), kNumbers,
             filledIn(kDropout,
                      {{"IS_TRAINING", training ? "*training != 0" : "false"},
                       {"GIVEN_RATIO", ratio ? "*given" : "0.5"},
                       {"RATIO", ratio ? concat(", const ", kernelType(ratio->type.dtype).element, "* given") : ""},
                       {"TRAINING", training ? ", const unsigned char* training" : ""},
                       {"OUTPUTS", outputs},
                       {"STORE", store}})),
      {"gpu_dropout"}, createPerElement);
}

constexpr PlaceRow kRows[] = {{"", "RandomNormal", placeDraw},   {"", "RandomNormalLike", placeDraw},
                              {"", "RandomUniform", placeDraw},  {"", "RandomUniformLike", placeDraw},
                              {"", "Bernoulli", placeBernoulli}, {"", "Multinomial", placeMultinomial},
                              {"", "Dropout", placeDropout}};

}  // namespace

std::span<const PlaceRow> gpuRandom() { return kRows; }

}  // namespace max
