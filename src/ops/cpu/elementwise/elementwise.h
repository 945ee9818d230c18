// SPDX-License-Identifier: Apache-2.0
// Elementwise programs: a chain of elementwise operators as a short list of
// instructions on cache-sized tiles, so that it reads and writes memory once.
//
// A single ONNX operator is a program made when its kernel is created. The compiler fuses chains into nodes
// max.Elementwise, whose expressions lower.h turns into programs:
//
//     ElementwiseBuilder builder;
//     const ElementwiseBuilder::Id operands[] = {builder.input(DType::Float32), builder.input(DType::Float32)};
//     builder.output(builder.append(mul, attributes, operands));
//     node.prepared = builder.finish();
//
// Inputs broadcast to the shape of the outputs, which all have the same shape.
// float16 and bfloat16 are computed in float32 and rounded when stored.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/cpu/elementwise/ops.h"

namespace max {

inline constexpr size_t kMaxElementwiseInputs = 24;
inline constexpr size_t kMaxElementwiseOutputs = 4;
inline constexpr size_t kMaxElementwiseConstants = 64;
inline constexpr size_t kMaxElementwiseInstructions = 128;

// Operands of instructions are numbered: inputs, then constants, registers, outputs.
struct ElementwiseInstruction {
  ElementOp op = ElementOp::Copy;
  DType from = DType::Invalid;
  DType to = DType::Invalid;
  int16_t dst = -1;
  std::array<int16_t, 3> src{-1, -1, -1};  // -1 = no such source
  float alpha = 0, beta = 0;
};

struct ElementwiseProgram : public Prepared {
  std::vector<DType> inputs;
  std::vector<DType> outputs;
  std::vector<std::array<std::byte, kSplatBytes>> constants;  // repeated values, or numbers of an instruction
  int registerCount = 0;
  int registerElementSize = 0;  // maximum bytes of an element of a register
  std::vector<ElementwiseInstruction> instructions;

  int firstConstant() const { return static_cast<int>(inputs.size()); }
  int firstRegister() const { return firstConstant() + static_cast<int>(constants.size()); }
  int firstOutput() const { return firstRegister() + registerCount; }
  int placeCount() const { return firstOutput() + static_cast<int>(outputs.size()); }
  size_t bytes() const override { return instructions.size() * sizeof(ElementwiseInstruction); }
};

class ElementwiseBuilder {
 public:
  // A value inside the program; kOmitted stands for an omitted optional input.
  enum class Id : int { Omitted = -1 };

  Id input(DType dtype);              // the next input of the fused node
  Id constant(const Tensor& tensor);  // a tensor of one element, kept in the program
  // What an operator computes of these operands, one per input. UNIMPLEMENTED if it has no instruction for them.
  Id append(const OpSchema& schema, const Attributes& attributes, std::span<const Id> operands);
  void output(Id value);  // the next output of the fused node

  DType dtype(Id value) const { return at(value).dtype; }
  std::optional<float> constantNumber(Id value) const;  // nullopt if it is not a constant
  size_t inputCount() const { return inputCount_; }
  size_t instructionCount() const { return instructions_.size(); }
  // Assigns registers. The builder is empty afterwards.
  Ref<ElementwiseProgram> finish();

  // For the table of operators. `dtype` = of the result; sources are converted to `from` first.
  Id emit(ElementOp op, DType from, DType dtype, std::span<const Id> sources, float alpha = 0, float beta = 0);
  Id emit(ElementOp op, DType from, DType dtype, std::initializer_list<Id> sources, float alpha = 0, float beta = 0) {
    return emit(op, from, dtype, std::span<const Id>(sources.begin(), sources.size()), alpha, beta);
  }
  Id cast(Id value, DType to);
  Id scalar(double value, DType dtype);  // a constant

 private:
  enum class Kind : uint8_t { Input, Constant, Result };
  struct Value {
    Kind kind;
    DType dtype;       // as the graph sees it
    DType stored;      // as stored: float32 for computed half-precision values
    int index;         // of the input, constant or instruction
    int widened = -1;  // the value with its float32 form, if any
  };
  Id add(Kind kind, DType dtype, DType stored, size_t index);
  Id materialise(Id value, DType stored);  // the value lying as `stored`
  // Omitting a required operand is an error.
  const Value& at(Id value) const {
    require(value != Id::Omitted, MAX_STATUS_INVALID_ARGUMENT, "An elementwise operator lacks an input");
    return values_[static_cast<size_t>(value)];
  }
  Value& at(Id value) { return const_cast<Value&>(std::as_const(*this).at(value)); }
  void assignPlaces(ElementwiseProgram& program);

  std::vector<Value> values_;
  std::vector<ElementwiseInstruction> instructions_;  // dst and src are values until finish()
  std::vector<std::array<std::byte, kSplatBytes>> constants_;
  std::vector<Id> outputs_;
  size_t inputCount_ = 0;
};

}  // namespace max
