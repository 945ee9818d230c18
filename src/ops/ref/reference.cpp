// SPDX-License-Identifier: Apache-2.0
#include "ops/ref/reference.h"

#include <algorithm>

namespace max::reference {

namespace {

struct Half {
  uint16_t bits;
  operator double() const { return floatFromHalf(bits); }
};
struct BFloat {
  uint16_t bits;
  operator double() const { return floatFromBFloat16(bits); }
};

template <class F>
void visitStorage(DType dtype, F function) {
  switch (dtype) {
    case DType::Float16:
      return function(Half{});
    case DType::BFloat16:
      return function(BFloat{});
    case DType::Float32:
      return function(float{});
    case DType::Float64:
      return function(double{});
    case DType::Bool:
      return function(bool{});
    case DType::Int8:
      return function(int8_t{});
    case DType::Int16:
      return function(int16_t{});
    case DType::Int32:
      return function(int32_t{});
    case DType::Int64:
      return function(int64_t{});
    case DType::UInt8:
      return function(uint8_t{});
    case DType::UInt16:
      return function(uint16_t{});
    case DType::UInt32:
      return function(uint32_t{});
    case DType::UInt64:
      return function(uint64_t{});
    default:
      fail(MAX_STATUS_UNIMPLEMENTED, "No reference arithmetic for ", dtype);
  }
}

template <class T>
T saturate(double value) {
  if (std::isnan(value)) return 0;
  // The largest value may round up to one past the end in double, hence >=.
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <class T, class D>
T convert(D value) {
  if constexpr (std::is_same_v<T, Half>)
    return Half{halfFromFloat(static_cast<float>(value))};
  else if constexpr (std::is_same_v<T, BFloat>)
    return BFloat{bfloat16FromFloat(static_cast<float>(value))};
  else if constexpr (std::is_same_v<T, bool>)
    return value != D{0};
  else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<D>)
    return saturate<T>(value);
  else
    return static_cast<T>(value);
}

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const KernelRequest& request, Function function)
      : call_{request.node, arguments(request.inputs), arguments(request.outputs)}, function_(function) {}

  void run(const KernelContext& context) const override {
    Call call = call_;
    for (size_t i = 0; i < call.inputs.size(); ++i) call.inputs[i].data = const_cast<void*>(context.inputs[i]);
    for (size_t i = 0; i < call.outputs.size(); ++i) call.outputs[i].data = context.outputs[i];
    function_(call);
  }

 private:
  static std::vector<Argument> arguments(std::span<const Operand> operands) {
    std::vector<Argument> result;
    for (const Operand& operand : operands) result.push_back({operand.dtype, operand.shape, nullptr});
    return result;
  }
  Call call_;
  Function function_;
};

}  // namespace

int Call::axis(std::string_view name, int64_t fallback, int rank) const {
  const int64_t value = integer(name, fallback);
  if (value < -rank || value >= rank)
    fail(MAX_STATUS_INVALID_ARGUMENT, name, " ", value, " is out of range for rank ", rank);
  return static_cast<int>(value < 0 ? value + rank : value);
}

std::unique_ptr<Kernel> createReferenceKernel(const KernelRequest& request, Function function) {
  return std::make_unique<ReferenceKernel>(request, function);
}

bool isBasic(DType dtype) {
  const size_t bits = bitsOf(dtype);
  if (dtype == DType::Bool || isInteger(dtype)) return bits >= 8;
  return dtype == DType::Float16 || dtype == DType::BFloat16 || dtype == DType::Float32 || dtype == DType::Float64;
}

bool hasBasicDTypes(const KernelRequest& request) {
  const auto basic = [](const Operand& operand) { return !operand.present() || isBasic(operand.dtype); };
  return std::all_of(request.inputs.begin(), request.inputs.end(), basic) &&
         std::all_of(request.outputs.begin(), request.outputs.end(), basic);
}

template <class D>
std::vector<D> load(const Argument& argument) {
  std::vector<D> values(static_cast<size_t>(argument.count()));
  visitStorage(argument.dtype, [&]<class T>(T) {
    const T* source = static_cast<const T*>(argument.data);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<D>(source[i]);
  });
  return values;
}

template <class D>
void store(const Argument& argument, const std::vector<D>& values) {
  visitStorage(argument.dtype, [&]<class T>(T) {
    T* target = static_cast<T*>(argument.data);
    for (size_t i = 0; i < values.size(); ++i) target[i] = convert<T>(values[i]);
  });
}

template std::vector<double> load<double>(const Argument&);
template std::vector<int64_t> load<int64_t>(const Argument&);
template std::vector<uint64_t> load<uint64_t>(const Argument&);
template void store<double>(const Argument&, const std::vector<double>&);
template void store<int64_t>(const Argument&, const std::vector<int64_t>&);
template void store<uint64_t>(const Argument&, const std::vector<uint64_t>&);

std::vector<int64_t> loadIntegers(const Argument& argument) { return load<int64_t>(argument); }

double loadScalar(const Argument& argument, double fallback) {
  if (!argument.present() || argument.count() == 0) return fallback;
  return load<double>(argument)[0];
}

std::vector<double> loadScales(const Call& call, size_t input) {
  std::vector<double> scales = load<double>(call.in(input));
  if (scales.empty()) call.fail(MAX_STATUS_INVALID_ARGUMENT, "the scale in input ", input, " is empty");
  return scales;
}

Shape broadcastStrides(const Shape& shape, const Shape& target) {
  const Shape dense = contiguousStrides(shape);
  Shape strides = Shape::filled(target.rank(), 0);
  const int offset = target.rank() - shape.rank();
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1) strides[offset + i] = dense[i];
  return strides;
}

}  // namespace max::reference
