// SPDX-License-Identifier: Apache-2.0
#include "ops/ref/reference.h"

#include <algorithm>

#include "base/active_call.h"
#include "base/checked.h"
#include "base/interrupt_point.h"

namespace max::reference {

namespace {

class ReferenceOp final : public OpKernel {
 public:
  ReferenceOp(const OpRequest& request, Function function)
      : call_{request.node, arguments(request.inputs), arguments(request.outputs)},
        function_(function),
        numbers_(elements(call_.inputs) + elements(call_.outputs)) {}

  void run(const OpContext& context) const override {
    const MemoryLease room = roomFor(numbers_, sizeof(double));
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
  static int64_t elements(std::span<const Argument> arguments) {
    int64_t sum = 0;
    for (const Argument& argument : arguments)
      if (argument.present()) sum = checkedAdd(sum, argument.count());
    return sum;
  }

  Call call_;
  Function function_;
  int64_t numbers_;  // that functions hold besides their operands, 8 bytes each
};

}  // namespace

MemoryLease roomFor(int64_t count, size_t bytes) {
  return {activeMemory(), checkedMultiply(static_cast<size_t>(count), bytes)};
}

RequestInputs Call::read() const {
  std::vector<Operand> operands;
  std::vector<const void*> data;
  for (const Argument& input : inputs) {
    operands.push_back({input.dtype, input.shape, nullptr});
    data.push_back(input.data);
  }
  return RequestInputs(OpRequest{node, operands, {}}, data.data());
}

std::unique_ptr<OpKernel> createReferenceOp(const OpRequest& request, Function function) {
  return std::make_unique<ReferenceOp>(request, function);
}

bool hasBasicDTypes(const OpRequest& request) {
  const auto basic = [](const Operand& operand) { return !operand.present() || isNumeric(operand.dtype); };
  return std::all_of(request.inputs.begin(), request.inputs.end(), basic) &&
         std::all_of(request.outputs.begin(), request.outputs.end(), basic);
}

template <class D>
std::vector<D> load(const Argument& argument) {
  std::vector<D> values;
  // At least one, so that addresses in it can be computed.
  values.reserve(static_cast<size_t>(std::max<int64_t>(argument.count(), 1)));
  inParts(argument.count(), 1, [&](int64_t begin, int64_t end) {
    values.resize(static_cast<size_t>(end));
    loadNumbers(argument.dtype, argument.data, begin, end - begin, values.data() + begin);
  });
  return values;
}

template <class D>
void store(const Argument& argument, const std::vector<D>& values, const SmallFloatRules& rules) {
  storeNumbers(argument.dtype, argument.data, 0, static_cast<int64_t>(values.size()), values.data(), rules);
}

template std::vector<double> load<double>(const Argument&);
template std::vector<int64_t> load<int64_t>(const Argument&);
template std::vector<uint64_t> load<uint64_t>(const Argument&);
template void store<double>(const Argument&, const std::vector<double>&, const SmallFloatRules&);
template void store<int64_t>(const Argument&, const std::vector<int64_t>&, const SmallFloatRules&);
template void store<uint64_t>(const Argument&, const std::vector<uint64_t>&, const SmallFloatRules&);

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
