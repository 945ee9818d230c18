// SPDX-License-Identifier: Apache-2.0
// TopK against a sort.
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

// Along axis 1.
template <class T>
void check(const Ref<Tensor>& x, int64_t kept, bool largest, const std::string& what) {
  const Shape& shape = x->shape();
  const int64_t size = shape[1], inner = shape.product(2, shape.rank());
  Attributes attributes;
  attributes.set("largest", int64_t{largest});
  attributes.set("axis", int64_t{1});
  LooseNode node("TopK", attributes);
  const Ref<Tensor> count = Tensor::copyOf(DType::Int64, {1}, &kept);
  Shape result = shape;
  result[1] = kept;
  const KernelRun actual =
      runOp(node.node(), {x, count}, {{x->dtype(), result}, {DType::Int64, result}}, "typed", 2, true);
  std::vector<T> values(static_cast<size_t>(size));
  for (int64_t line = 0; line < shape[0] * inner; ++line) {
    const int64_t outer = line / inner, first = line % inner;
    for (int64_t i = 0; i < size; ++i) values[static_cast<size_t>(i)] = x->as<T>()[(outer * size + i) * inner + first];
    const std::vector<int64_t> order = sorted(values.data(), size, largest);
    for (int64_t k = 0; k < kept; ++k) {
      const int64_t place = (outer * kept + k) * inner + first, at = actual.outputs[1]->as<int64_t>()[place];
      ASSERT_EQ(at, order[static_cast<size_t>(k)]) << what << ": line " << line << ", place " << k;
      ASSERT_EQ(std::memcmp(actual.outputs[0]->as<T>() + place, &values[static_cast<size_t>(at)], sizeof(T)), 0);
    }
  }
}

template <class T>
void checkKinds(Random& random, DType dtype, int64_t size, const char* what) {
  for (const int64_t inner : {1, 2, 16, 37})
    for (const int64_t kept : {1, 2, 5, 16, 17})
      for (const bool largest : {false, true})
        if (kept <= size)
          check<T>(randomTensor(random, dtype, {3, size, inner}), kept, largest,
                   concat(what, ": ", kept, " of ", size, ", ", inner, " side by side"));
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

TEST(TopK, ShortLinesAndThoseSideBySide) {
  Random random(23);
  for (const int64_t size : {1, 7, 16, 20, 25, 64, 65, 255, 400, 512}) {
    checkKinds<float>(random, DType::Float32, size, "float32");
    checkKinds<double>(random, DType::Float64, size, "float64");
    checkKinds<int32_t>(random, DType::Int32, size, "int32");
    checkKinds<int64_t>(random, DType::Int64, size, "int64");
  }
}

TEST(TopK, LinesOfOneKind) {
  Random random(22);
  for (const float value : {0.f, kNan, kInfinity, -kInfinity})
    for (const bool largest : {false, true})
      for (const int64_t others : {0, 3, 40, 900})
        for (const int64_t size : {40, 1000}) {
          Ref<Tensor> x = randomTensor(random, DType::Float32, {2, size});
          for (int64_t i = 0; i < x->count(); ++i)
            if (static_cast<int64_t>(random() % 1000) >= others) static_cast<float*>(x->mutableData())[i] = value;
          for (const int64_t kept : {1, 7}) check<float>(x, kept, largest, concat(value, ", ", others));
        }
}

}  // namespace
}  // namespace max::test
