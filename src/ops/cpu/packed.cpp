// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/packed.h"

#include <algorithm>

#include "base/align.h"
#include "base/checked.h"
#include "base/number_access.h"
#include "ops/cpu/movement/movement.h"
#include "ops/operator_library.h"

namespace max {

namespace {

DType byteType(DType dtype) { return isInteger(dtype) && isSigned(dtype) ? DType::Int8 : DType::UInt8; }

// An operand that lives in scratch memory, a byte for each element.
struct Unpacked {
  size_t index;
  DType dtype;
  int64_t count;
  size_t offset;  // in scratch
};

class UnpackedOp final : public OpKernel {
 public:
  explicit UnpackedOp(const OpRequest& request)
      : wide_(request), inputs_(widen(wide_.inputs)), outputs_(widen(wide_.outputs)) {
    inner_ = cpuOperators().create(wide_.request());
    innerScratch_ = place((wide_.inputs.size() + wide_.outputs.size()) * sizeof(void*));
  }

  size_t scratchBytes() const override { return checkedAdd(innerScratch_, inner_->scratchBytes()); }

  void run(const OpContext& context) const override {
    auto* inputs = reinterpret_cast<const void**>(context.scratch);
    auto* outputs = reinterpret_cast<void**>(context.scratch + wide_.inputs.size() * sizeof(void*));
    std::copy_n(context.inputs, wide_.inputs.size(), inputs);
    std::copy_n(context.outputs, wide_.outputs.size(), outputs);
    for (const Unpacked& input : inputs_) {
      auto* codes = reinterpret_cast<uint8_t*>(context.scratch + input.offset);
      unpackCodes(input.dtype, inputs[input.index], 0, input.count, codes);
      inputs[input.index] = codes;
    }
    for (const Unpacked& output : outputs_) outputs[output.index] = context.scratch + output.offset;
    inner_->run({inputs, outputs, context.scratch + innerScratch_, context.lanes});
    for (const Unpacked& output : outputs_)
      packCodes(output.dtype, context.outputs[output.index], 0, output.count,
                static_cast<const uint8_t*>(outputs[output.index]));
  }

 private:
  static std::vector<Unpacked> widen(std::vector<Operand>& operands) {
    std::vector<Unpacked> result;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i].present() || !isPacked(operands[i].dtype)) continue;
      result.push_back({i, operands[i].dtype, operands[i].shape.count(), 0});
      operands[i].dtype = byteType(operands[i].dtype);
    }
    return result;
  }

  size_t place(size_t end) {
    end = alignUp(end);
    for (std::vector<Unpacked>* list : {&inputs_, &outputs_})
      for (Unpacked& operand : *list) {
        operand.offset = end;
        end = alignUp(checkedAdd(end, static_cast<size_t>(operand.count)));
      }
    return end;
  }

  SavedRequest wide_;
  std::vector<Unpacked> inputs_, outputs_;
  std::unique_ptr<OpKernel> inner_;
  size_t innerScratch_ = 0;
};

bool hasPacked(std::span<const Operand> operands) {
  return std::any_of(operands.begin(), operands.end(),
                     [](const Operand& operand) { return operand.present() && isPacked(operand.dtype); });
}

}  // namespace

std::unique_ptr<OpKernel> createUnpackedOp(const OpRequest& request) {
  if (!hasPacked(request.inputs) && !hasPacked(request.outputs)) return nullptr;
  return std::make_unique<UnpackedOp>(request);
}

}  // namespace max
