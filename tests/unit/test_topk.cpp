// SPDX-License-Identifier: Apache-2.0
// TopK of lines that are long beside what is wanted of them, against a sort.
#include <cmath>
#include <limits>
#include <numeric>

#include "op_harness.h"

namespace max::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

// NaN is the largest number; of equal ones the first comes first.
template <class T>
std::vector<int64_t> sorted(const T* values, int64_t size, bool largest) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [=](int64_t a, int64_t b) {
    const T x = values[largest ? b : a], y = values[largest ? a : b];
    return x != x ? false : y != y || x < y;
  });
  return order;
}

template <class T>
void check(const Ref<Tensor>& x, int64_t kept, bool largest, const std::string& what) {
  const int64_t lines = x->shape()[0], size = x->shape()[1];
  Attributes attributes;
  attributes.set("largest", int64_t{largest});
  LooseNode node("TopK", attributes);
  const Ref<Tensor> count = Tensor::copyOf(DType::Int64, {1}, &kept);
  const std::vector<OutputType> types = {{x->dtype(), {lines, kept}}, {DType::Int64, {lines, kept}}};
  const KernelRun actual = runOp(node.node(), {x, count}, types, "typed", 2, true);
  for (int64_t line = 0; line < lines; ++line) {
    const T* values = x->as<T>() + line * size;
    const std::vector<int64_t> order = sorted(values, size, largest);
    for (int64_t k = 0; k < kept; ++k) {
      const int64_t at = actual.outputs[1]->as<int64_t>()[line * kept + k];
      ASSERT_EQ(at, order[static_cast<size_t>(k)]) << what << ": line " << line << ", place " << k;
      ASSERT_EQ(std::memcmp(actual.outputs[0]->as<T>() + line * kept + k, values + at, sizeof(T)), 0);
    }
  }
}

TEST(TopK, FewOfLongLines) {
  Random random(21);
  for (const int64_t size : {255, 256, 700, 2000, 8400})
    for (const int64_t kept : {1, 5, 16, 17, 100, 255, 256, 257})
      for (const bool largest : {false, true}) {
        if (kept > size) continue;
        const std::string what = concat(kept, " of ", size, largest ? " largest" : " smallest");
        check<float>(randomTensor(random, DType::Float32, {3, size}), kept, largest, what);
        // Many equal ones.
        Ref<Tensor> steps = randomTensor(random, DType::Float32, {3, size});
        for (int64_t i = 0; i < steps->count(); ++i)
          static_cast<float*>(steps->mutableData())[i] = std::round(steps->as<float>()[i]);
        check<float>(steps, kept, largest, what + " of few values");
        check<int32_t>(randomTensor(random, DType::Int32, {3, size}), kept, largest, what + " integers");
      }
}

TEST(TopK, LinesOfOneKind) {
  Random random(22);
  for (const float value : {0.f, kNan, kInfinity, -kInfinity})
    for (const bool largest : {false, true})
      for (const int64_t others : {0, 3, 40, 900}) {
        Ref<Tensor> x = randomTensor(random, DType::Float32, {2, 1000});
        for (int64_t i = 0; i < x->count(); ++i)
          if (static_cast<int64_t>(random() % 1000) >= others) static_cast<float*>(x->mutableData())[i] = value;
        check<float>(x, 7, largest, concat(value, ", ", others));
      }
}

}  // namespace
}  // namespace max::test
