// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "graph/schema.h"
#include "ops/cpu/elementwise/elementwise.h"
#include "ops/cpu/elementwise/table.h"
#include "ops/cpu/quantization/quantize.h"

namespace max {

using Id = ElementwiseBuilder::Id;

namespace {

bool isHalf(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

// The type for arithmetic on `dtype`.
DType computedAs(DType dtype) { return isHalf(dtype) ? DType::Float32 : dtype; }

template <class T>
void splatValue(std::array<std::byte, kSplatBytes>& block, T value) {
  splatElement(block.data(), &value, sizeof value);
}

TileFunction castFunction(DType from, DType to) {
  const TileFunction convert = findCastTileFunction(from, to);
  require(convert != nullptr, MAX_STATUS_UNIMPLEMENTED, "No conversion from ", from, " to ", to);
  return convert;
}

std::array<std::byte, kSplatBytes> splatOf(double value, DType dtype) {
  std::array<std::byte, kSplatBytes> block;
  splatValue(block, value);
  const TileFunction convert = findCastTileFunction(DType::Float64, dtype);
  require(convert != nullptr, MAX_STATUS_UNIMPLEMENTED, "No elementwise constants of type ", dtype);
  std::array<std::byte, kSplatBytes> element{};
  convert({element.data(), {block.data()}, {0}, 1, 0, 0});
  splatElement(block.data(), element.data(), sizeOf(dtype));
  return block;
}

}  // namespace

Id ElementwiseBuilder::add(Kind kind, DType dtype, DType stored, size_t index) {
  values_.push_back({kind, dtype, stored, static_cast<int>(index)});
  return static_cast<Id>(values_.size() - 1);
}

Id ElementwiseBuilder::input(DType dtype) {
  require(inputCount_ < kMaxElementwiseInputs, MAX_STATUS_UNIMPLEMENTED, "More than ", kMaxElementwiseInputs,
          " inputs of one elementwise program");
  return add(Kind::Input, dtype, dtype, inputCount_++);
}

Id ElementwiseBuilder::constant(const Tensor& tensor) {
  require(tensor.count() == 1 && isCastable(tensor.dtype()), MAX_STATUS_INVALID_ARGUMENT,
          "An elementwise constant must have one element of a plain type, not ", tensor.dtype(), tensor.shape());
  splatElement(constants_.emplace_back().data(), tensor.data(), sizeOf(tensor.dtype()));
  return add(Kind::Constant, tensor.dtype(), tensor.dtype(), constants_.size() - 1);
}

Id ElementwiseBuilder::scalar(double value, DType dtype) {
  const DType stored = computedAs(dtype);
  constants_.push_back(splatOf(value, stored));
  return add(Kind::Constant, dtype, stored, constants_.size() - 1);
}

std::optional<float> ElementwiseBuilder::constantNumber(Id value) const {
  const Value& constant = at(value);
  if (constant.kind != Kind::Constant) return std::nullopt;
  float number = 0;
  const TileFunction convert = castFunction(constant.stored, DType::Float32);
  convert({&number, {constants_[static_cast<size_t>(constant.index)].data()}, {0}, 1, 0, 0});
  return number;
}

// Constants are converted here, once. Numbers of 16 bits become other ones by way of float32, as vectors do.
Id ElementwiseBuilder::materialise(Id value, DType stored) {
  if (at(value).stored == stored) return value;
  const bool isDirect = stored == DType::Float32 || at(value).stored == DType::Float32;
  if (!isDirect && (isHalf(stored) || isHalf(at(value).stored))) value = materialise(value, DType::Float32);
  const Value source = at(value);
  if (stored == DType::Float32 && source.widened >= 0) return static_cast<Id>(source.widened);
  const TileFunction convert = castFunction(source.stored, stored);
  Id result;
  if (source.kind == Kind::Constant) {
    std::array<std::byte, kSplatBytes> element{}, block{};
    convert({element.data(), {constants_[static_cast<size_t>(source.index)].data()}, {0}, 1, 0, 0});
    splatElement(block.data(), element.data(), sizeOf(stored));
    constants_.push_back(block);
    result = add(Kind::Constant, source.dtype, stored, constants_.size() - 1);
  } else {
    instructions_.push_back({ElementOp::Cast,
                             source.stored,
                             stored,
                             static_cast<int16_t>(values_.size()),
                             {static_cast<int16_t>(value), -1, -1},
                             0,
                             0});
    result = add(Kind::Result, source.dtype, stored, instructions_.size() - 1);
  }
  if (stored == DType::Float32) at(value).widened = static_cast<int>(result);
  return result;
}

Id ElementwiseBuilder::cast(Id value, DType to) {
  if (dtype(value) == to) return value;
  // float32 kept for a half-precision value has more digits than the value itself.
  if (isHalf(dtype(value))) value = materialise(value, dtype(value));
  const Id result = materialise(value, to);
  at(result).dtype = to;
  return result;
}

Id ElementwiseBuilder::emit(ElementOp op, DType from, DType dtype, std::span<const Id> sources, float alpha,
                            float beta) {
  const bool raw = op == ElementOp::Copy || op == ElementOp::Where;
  const DType source = raw ? from : computedAs(from), result = raw ? dtype : computedAs(dtype);
  require(findTileFunction(op, source, result) != nullptr, MAX_STATUS_UNIMPLEMENTED, "No elementwise instruction on ",
          from, " with a result of ", dtype);
  ElementwiseInstruction instruction{op, source, result, -1, {-1, -1, -1}, alpha, beta};
  for (size_t i = 0; i < sources.size(); ++i) {
    const bool condition = op == ElementOp::Where && i == 0;
    instruction.src[i] = static_cast<int16_t>(materialise(sources[i], condition ? DType::Bool : source));
  }
  require(instructions_.size() < kMaxElementwiseInstructions, MAX_STATUS_UNIMPLEMENTED,
          "An elementwise program has too many instructions");
  instruction.dst = static_cast<int16_t>(values_.size());
  instructions_.push_back(instruction);
  return add(Kind::Result, dtype, result, instructions_.size() - 1);
}

Id ElementwiseBuilder::append(const OpSchema& schema, const Attributes& attributes, std::span<const Id> operands) {
  const ElementwiseRow* row = findElementwiseRow(schema);
  require(row != nullptr, MAX_STATUS_UNIMPLEMENTED, "Operator ", schema.name, " is not elementwise");
  require(!operands.empty() && operands[0] != Id::Omitted, MAX_STATUS_INVALID_ARGUMENT, "Operator ", schema.name,
          ": the first input is missing");
  return row->build(*row, *this, attributes, operands);
}

void ElementwiseBuilder::output(Id value) {
  require(outputs_.size() < kMaxElementwiseOutputs, MAX_STATUS_UNIMPLEMENTED, "More than ", kMaxElementwiseOutputs,
          " outputs of one elementwise program");
  const DType result = dtype(value);
  value = materialise(value, result);
  const bool taken = std::find(outputs_.begin(), outputs_.end(), value) != outputs_.end();
  if (at(value).kind != Kind::Result || taken) value = emit(ElementOp::Copy, result, result, {value});
  outputs_.push_back(value);
}

Ref<ElementwiseProgram> ElementwiseBuilder::finish() {
  auto program = makeRef<ElementwiseProgram>();
  for (const Value& value : values_)
    if (value.kind == Kind::Input && static_cast<size_t>(value.index) == program->inputs.size())
      program->inputs.push_back(value.dtype);
  for (Id id : outputs_) program->outputs.push_back(dtype(id));
  require(constants_.size() <= kMaxElementwiseConstants, MAX_STATUS_UNIMPLEMENTED, "More than ",
          kMaxElementwiseConstants, " constants of one elementwise program");
  program->constants = std::move(constants_);
  program->instructions = std::move(instructions_);
  assignPlaces(*program);
  *this = ElementwiseBuilder();
  return program;
}

namespace {

// Removes instructions with unused results.
void eraseDeadInstructions(std::vector<ElementwiseInstruction>& instructions, std::vector<bool> live) {
  std::vector<ElementwiseInstruction> kept;
  for (auto step = instructions.rbegin(); step != instructions.rend(); ++step) {
    if (!live[static_cast<size_t>(step->dst)]) continue;
    for (int16_t source : step->src)
      if (source >= 0) live[static_cast<size_t>(source)] = true;
    kept.push_back(*step);
  }
  instructions.assign(kept.rbegin(), kept.rend());
}

// A product of float32 that only a sum reads becomes one instruction with it.
void joinProductsWithSums(std::vector<ElementwiseInstruction>& instructions, const std::vector<bool>& isOutput) {
  std::vector<int> readers(isOutput.begin(), isOutput.end());
  std::vector<ElementwiseInstruction*> makers(isOutput.size());
  for (const ElementwiseInstruction& step : instructions)
    for (int16_t source : step.src)
      if (source >= 0) ++readers[static_cast<size_t>(source)];
  const auto productAt = [&](int16_t value) -> ElementwiseInstruction* {
    ElementwiseInstruction* step = makers[static_cast<size_t>(value)];
    return readers[static_cast<size_t>(value)] == 1 && step && step->op == ElementOp::Mul ? step : nullptr;
  };
  for (ElementwiseInstruction& step : instructions) {
    makers[static_cast<size_t>(step.dst)] = &step;
    if (step.op != ElementOp::Add || step.to != DType::Float32) continue;
    const bool isFirst = productAt(step.src[0]) != nullptr;
    const ElementwiseInstruction* product = productAt(step.src[isFirst ? 0 : 1]);
    if (!product) continue;
    step.op = ElementOp::MulAdd;
    step.src = {product->src[0], product->src[1], step.src[isFirst ? 1 : 0]};
  }
}

// What quantises a sum of two dequantised values; NULL = step is none.
struct QuantizedSumSteps {
  const ElementwiseInstruction *add = nullptr, *first = nullptr, *second = nullptr;

  // `makers`: the instruction of each value.
  QuantizedSumSteps(const ElementwiseInstruction& step, const std::vector<const ElementwiseInstruction*>& makers) {
    const auto made = [&](int16_t value, ElementOp op) -> const ElementwiseInstruction* {
      const ElementwiseInstruction* maker = makers[static_cast<size_t>(value)];
      return maker && maker->op == op ? maker : nullptr;
    };
    const bool quantizes = step.op == ElementOp::Quantize && step.from == DType::Float32;
    const ElementwiseInstruction* sum = quantizes ? made(step.src[0], ElementOp::Add) : nullptr;
    if (!sum) return;
    first = made(sum->src[0], ElementOp::Dequantize);
    second = made(sum->src[1], ElementOp::Dequantize);
    if (first && second && first->from == step.to && second->from == step.to) add = sum;
  }
};

// Two dequantised values, their sum and what quantises it become one instruction. `addConstant` adds its numbers to the
// program.
template <class AddConstant>
void joinQuantizedSums(ElementwiseProgram& program, size_t values, const AddConstant& addConstant) {
  static_assert(sizeof(QuantizedSumNumbers) <= kSplatBytes);
  std::vector<const ElementwiseInstruction*> makers(values);
  for (ElementwiseInstruction& step : program.instructions) {
    makers[static_cast<size_t>(step.dst)] = &step;
    const QuantizedSumSteps steps(step, makers);
    if (!steps.add || program.constants.size() == kMaxElementwiseConstants) continue;
    if (!findTileFunction(ElementOp::Quantize, step.to, step.to)) continue;
    const ElementwiseInstruction &first = *steps.first, &second = *steps.second;
    const Id numbers =
        addConstant(QuantizedSumNumbers{{first.alpha, second.alpha}, {first.beta, second.beta}, step.alpha, step.beta});
    step.from = step.to;
    step.src = {first.src[0], second.src[0], static_cast<int16_t>(numbers)};
  }
}

// Assigns registers; a register is free again after the last instruction that reads its value.
class Registers {
 public:
  int take() {
    if (free_.empty()) return count_++;
    const int index = free_.back();
    free_.pop_back();
    return index;
  }
  void give(int index) { free_.push_back(index); }
  int count() const { return count_; }

 private:
  std::vector<int> free_;
  int count_ = 0;
};

// Registers are counted from firstRegister on; outputs from kOutputs until the number of registers is known.
constexpr int kOutputs = 1 << 14;

void resolveOutputs(ElementwiseProgram& program, const std::vector<int>& place) {
  const auto resolve = [&](int16_t& value) {
    if (value < 0) return;
    const int where = place[static_cast<size_t>(value)];
    value = static_cast<int16_t>(where >= kOutputs ? program.firstOutput() + where - kOutputs : where);
  };
  for (ElementwiseInstruction& step : program.instructions) {
    for (int16_t& source : step.src) resolve(source);
    resolve(step.dst);
  }
}

}  // namespace

void ElementwiseBuilder::assignPlaces(ElementwiseProgram& program) {
  joinQuantizedSums(program, values_.size(), [&](const QuantizedSumNumbers& numbers) {
    std::memcpy(program.constants.emplace_back().data(), &numbers, sizeof numbers);
    return add(Kind::Constant, DType::Float32, DType::Float32, program.constants.size() - 1);
  });
  std::vector<int> place(values_.size(), -1);
  std::vector<bool> live(values_.size());
  for (size_t v = 0; v < values_.size(); ++v) {
    if (values_[v].kind == Kind::Input) place[v] = values_[v].index;
    if (values_[v].kind == Kind::Constant) place[v] = program.firstConstant() + values_[v].index;
  }
  for (size_t k = 0; k < outputs_.size(); ++k) {
    live[static_cast<size_t>(outputs_[k])] = true;
    place[static_cast<size_t>(outputs_[k])] = kOutputs + static_cast<int>(k);
  }
  eraseDeadInstructions(program.instructions, live);
  joinProductsWithSums(program.instructions, live);
  eraseDeadInstructions(program.instructions, live);
  std::vector<size_t> lastRead(values_.size(), 0);
  for (size_t i = 0; i < program.instructions.size(); ++i)
    for (int16_t source : program.instructions[i].src)
      if (source >= 0) lastRead[static_cast<size_t>(source)] = i;

  Registers registers;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    ElementwiseInstruction& step = program.instructions[i];
    const auto dst = static_cast<size_t>(step.dst);
    if (place[dst] < 0) {
      place[dst] = program.firstRegister() + registers.take();
      program.registerElementSize = std::max(program.registerElementSize, static_cast<int>(sizeOf(step.to)));
    }
    // Only now: the result must not overwrite a source that is one repeated value.
    for (int16_t& source : step.src) {
      if (source < 0 || std::find(step.src.begin(), &source, source) != &source) continue;
      const auto value = static_cast<size_t>(source);
      if (values_[value].kind == Kind::Result && place[value] < kOutputs && lastRead[value] == i)
        registers.give(place[value] - program.firstRegister());
    }
  }
  program.registerCount = registers.count();
  resolveOutputs(program, place);
}

}  // namespace max
