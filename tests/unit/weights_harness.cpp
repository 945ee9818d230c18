// SPDX-License-Identifier: Apache-2.0
#include "weights_harness.h"

namespace max {

Ref<Tensor> RandomTensors::floats(const Shape& shape, float scale) {
  Ref<Tensor> tensor = Tensor::allocate(DType::Float32, shape);
  fillUniform(engine_, static_cast<float*>(tensor->mutableData()), tensor->count(), -scale, scale);
  return tensor;
}

void expectNear(const Tensor& actual, const Tensor& expected, float tolerance, const std::string& what) {
  ASSERT_EQ(actual.count(), expected.count()) << what;
  for (int64_t i = 0; i < actual.count(); ++i) {
    const float a = actual.as<float>()[i], e = expected.as<float>()[i];
    ASSERT_TRUE(std::fabs(a - e) <= tolerance * (1 + std::fabs(e)))
        << what << ": element " << i << " is " << a << ", expected " << e;
  }
}

}  // namespace max
