// SPDX-License-Identifier: Apache-2.0
#include "op_harness.h"

#include "base/half.h"
#include "base/number_access.h"

namespace max::test {

void storeNumber(void* data, int64_t i, DType dtype, double value) {
  switch (dtype) {
#define MAX_STORE(name, type)                               \
  case DType::name:                                         \
    static_cast<type*>(data)[i] = static_cast<type>(value); \
    break;
    MAX_STORE(Float32, float)
    MAX_STORE(Float64, double)
    MAX_STORE(Int8, int8_t)
    MAX_STORE(Int16, int16_t)
    MAX_STORE(Int32, int32_t)
    MAX_STORE(Int64, int64_t)
    MAX_STORE(UInt8, uint8_t)
    MAX_STORE(UInt16, uint16_t)
    MAX_STORE(UInt32, uint32_t)
    MAX_STORE(UInt64, uint64_t)
#undef MAX_STORE
    case DType::Bool:
      static_cast<uint8_t*>(data)[i] = value > 0;
      break;
    case DType::Float16:
      static_cast<uint16_t*>(data)[i] = halfFromFloat(static_cast<float>(value));
      break;
    case DType::BFloat16:
      static_cast<uint16_t*>(data)[i] = bfloat16FromFloat(static_cast<float>(value));
      break;
    default:
      storeNumbers(dtype, data, i, 1, &value);
  }
}

SumOfProducts sumOfProducts(const double* left, const double* right, int64_t count) {
  SumOfProducts result;
  for (int64_t i = 0; i < count; ++i) {
    result.sum += left[i] * right[i];
    result.magnitude += std::fabs(left[i] * right[i]);
  }
  return result;
}

double numberAt(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
#define MAX_LOAD(name, type) \
  case DType::name:          \
    return static_cast<double>(tensor.as<type>()[i]);
    MAX_LOAD(Float32, float)
    MAX_LOAD(Float64, double)
    MAX_LOAD(Int8, int8_t)
    MAX_LOAD(Int16, int16_t)
    MAX_LOAD(Int32, int32_t)
    MAX_LOAD(Int64, int64_t)
    MAX_LOAD(UInt8, uint8_t)
    MAX_LOAD(UInt16, uint16_t)
    MAX_LOAD(UInt32, uint32_t)
    MAX_LOAD(UInt64, uint64_t)
    MAX_LOAD(Bool, uint8_t)
#undef MAX_LOAD
    case DType::Float16:
      return floatFromHalf(tensor.as<uint16_t>()[i]);
    case DType::BFloat16:
      return floatFromBFloat16(tensor.as<uint16_t>()[i]);
    default: {
      double value = NAN;
      if (isNumeric(tensor.dtype())) loadNumbers(tensor.dtype(), tensor.data(), i, 1, &value);
      return value;
    }
  }
}

Ref<Tensor> randomTensor(Random& random, DType dtype, const Shape& shape, double low, double high) {
  auto tensor = Tensor::allocate(dtype, shape);
  if (!isSigned(dtype) && !isFloat(dtype) && dtype != DType::Bool) low = std::max(low, 0.);
  for (int64_t i = 0; i < tensor->count(); ++i)
    storeNumber(tensor->mutableData(), i, dtype, uniform(random, low, high));
  return tensor;
}

void expectClose(const Tensor& actual, const Tensor& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(actual.dtype(), expected.dtype()) << what;
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double a = numberAt(actual, i), e = numberAt(expected, i);
    if (std::isnan(e) ? std::isnan(a) : a == e) continue;
    ASSERT_LE(std::abs(a - e), tolerance * (1 + std::abs(e)))
        << what << ": element " << i << " is " << a << ", not " << e;
  }
}

}  // namespace max::test
