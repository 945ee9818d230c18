// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/elementwise/table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "graph/readers/elementwise.h"
#include "graph/readers/quantization.h"
#include "graph/readers/types.h"
#include "graph/schema.h"

namespace max {

namespace {

using Id = ElementwiseBuilder::Id;
using Row = ElementwiseRow;
using Builder = ElementwiseBuilder;
using Operands = std::span<const Id>;

bool has(Operands operands, size_t i) { return i < operands.size() && operands[i] != Id::Omitted; }

// The result has the operands' type.
Id arithmetic(const Row& row, Builder& builder, const Attributes& attributes, Operands operands) {
  const readers::Parameters parameters(row.name, attributes);
  const DType dtype = builder.dtype(operands[0]);
  return builder.emit(row.op, dtype, dtype, operands, parameters.alpha, parameters.beta);
}

Id toBool(const Row& row, Builder& builder, const Attributes&, Operands operands) {
  const DType dtype = builder.dtype(operands[0]);
  return builder.emit(row.op, dtype, DType::Bool, operands);
}

// Any number of operands, from left to right.
Id variadic(const Row& row, Builder& builder, const Attributes&, Operands operands) {
  const DType dtype = builder.dtype(operands[0]);
  Id result = operands[0];
  for (Id operand : operands.subspan(1)) result = builder.emit(row.op, dtype, dtype, {result, operand});
  return result;
}

Id mean(const Row& row, Builder& builder, const Attributes& attributes, Operands operands) {
  const DType dtype = builder.dtype(operands[0]);
  const Id sum = variadic(row, builder, attributes, operands);
  const Id factor = builder.scalar(1.0 / static_cast<double>(operands.size()), dtype);
  return builder.emit(ElementOp::Mul, dtype, dtype, {sum, factor});
}

Id where(const Row& row, Builder& builder, const Attributes&, Operands operands) {
  const DType dtype = builder.dtype(operands[1]);
  return builder.emit(row.op, dtype, dtype, operands);
}

Id clip(const Row&, Builder& builder, const Attributes&, Operands operands) {
  const DType dtype = builder.dtype(operands[0]);
  if (has(operands, 1) && has(operands, 2)) return builder.emit(ElementOp::Clip, dtype, dtype, operands.first(3));
  if (has(operands, 1)) return builder.emit(ElementOp::Max, dtype, dtype, {operands[0], operands[1]});
  if (has(operands, 2)) return builder.emit(ElementOp::Min, dtype, dtype, {operands[0], operands[2]});
  return operands[0];
}

Id cast(const Row&, Builder& builder, const Attributes& attributes, Operands operands) {
  return builder.cast(operands[0], readers::readCastType(attributes));
}

Id castLike(const Row&, Builder& builder, const Attributes&, Operands operands) {
  return builder.cast(operands[0], builder.dtype(operands[1]));
}

// The exponent may have another type than the base; the result has the base's type.
Id power(const Row& row, Builder& builder, const Attributes&, Operands operands) {
  const DType dtype = builder.dtype(operands[0]), exponent = builder.dtype(operands[1]);
  if (isFloat(dtype) || !isFloat(exponent))
    return builder.emit(row.op, dtype, dtype, {operands[0], builder.cast(operands[1], dtype)});
  const Id result =
      builder.emit(row.op, DType::Float64, DType::Float64,
                   {builder.cast(operands[0], DType::Float64), builder.cast(operands[1], DType::Float64)});
  return builder.cast(result, dtype);
}

Id modulo(const Row&, Builder& builder, const Attributes& attributes, Operands operands) {
  const DType dtype = builder.dtype(operands[0]);
  const ElementOp op = readers::readTruncates(attributes) ? ElementOp::Fmod : ElementOp::Mod;
  return builder.emit(op, dtype, dtype, operands);
}

Id shift(const Row&, Builder& builder, const Attributes& attributes, Operands operands) {
  const DType dtype = builder.dtype(operands[0]);
  const bool left = readers::readShiftsLeft(attributes);
  return builder.emit(left ? ElementOp::ShiftLeft : ElementOp::ShiftRight, dtype, dtype, operands);
}

Id gelu(const Row&, Builder& builder, const Attributes& attributes, Operands operands) {
  const DType dtype = builder.dtype(operands[0]);
  const bool approximate = readers::readIsApproximate(attributes);
  return builder.emit(approximate ? ElementOp::GeluTanh : ElementOp::Gelu, dtype, dtype, operands);
}

Id isInf(const Row& row, Builder& builder, const Attributes& attributes, Operands operands) {
  const readers::Infinities read(attributes);
  return builder.emit(row.op, builder.dtype(operands[0]), DType::Bool, operands, read.negative ? 1.f : 0.f,
                      read.positive ? 1.f : 0.f);
}

// To or from integers with one scale and one zero point, which are constants.
Id quantization(const Row& row, Builder& builder, const Attributes& attributes, Operands operands) {
  const readers::Quantization reader(attributes);
  const bool quantizes = row.op == ElementOp::Quantize;
  const auto numberOf = [&](size_t i) {
    const std::optional<float> number = builder.constantNumber(operands[i]);
    require(number.has_value(), MAX_STATUS_UNIMPLEMENTED, "A scale or zero point is not a known number");
    return *number;
  };
  const bool isFloat32 = (reader.precision == DType::Invalid || reader.precision == DType::Float32) &&
                         builder.dtype(operands[1]) == DType::Float32 &&
                         (quantizes ? isFloat(builder.dtype(operands[0]))
                                    : reader.output == DType::Invalid || reader.output == DType::Float32);
  require(isFloat32 && reader.block == 0, MAX_STATUS_UNIMPLEMENTED, "No elementwise instruction quantises this");
  const DType byte = reader.output == DType::Invalid ? DType::UInt8 : reader.output;
  const DType integers = !quantizes ? builder.dtype(operands[0]) : has(operands, 2) ? builder.dtype(operands[2]) : byte;
  const float zero = has(operands, 2) ? numberOf(2) : 0;
  const DType from = builder.dtype(operands[0]), to = quantizes ? integers : DType::Float32;
  return builder.emit(row.op, from, to, {operands[0]}, numberOf(1), zero);
}

// Operators that more than their instruction stands for.
constexpr Row kOwnRows[] = {
    {"BitShift", ElementOp::ShiftLeft, shift},
    {"Cast", ElementOp::Cast, cast},
    {"CastLike", ElementOp::Cast, castLike},
    {"Clip", ElementOp::Clip, clip},
    {"Gelu", ElementOp::Gelu, gelu},
    {"IsInf", ElementOp::IsInf, isInf},
    {"Mean", ElementOp::Add, mean},
    {"Mod", ElementOp::Mod, modulo},
    {"Pow", ElementOp::Pow, power},
    {"Sum", ElementOp::Add, variadic},
    {"Where", ElementOp::Where, where},
};

constexpr auto kFormed = [](const ElementOpInfo& info) {
  return info.form != ElementForm::Own && info.form != ElementForm::OwnBool;
};

constexpr Row rowOf(size_t op) {
  const ElementOpInfo& info = kElementOps[op];
  const auto build = info.form == ElementForm::Same ? arithmetic : info.form == ElementForm::Bool ? toBool : variadic;
  return {info.name, static_cast<ElementOp>(op), build};
}

constexpr size_t kRowCount =
    std::size(kOwnRows) + std::count_if(std::begin(kElementOps), std::end(kElementOps), kFormed);

// Sorted by name.
constexpr std::array<Row, kRowCount> kRows = [] {
  std::array<Row, kRowCount> rows{};
  auto end = std::copy(std::begin(kOwnRows), std::end(kOwnRows), rows.begin());
  for (size_t op = 0; op < std::size(kElementOps); ++op)
    if (kFormed(kElementOps[op])) *end++ = rowOf(op);
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
  return rows;
}();

// Alone they have kernels of their own.
constexpr Row kFusedRows[] = {
    {"DequantizeLinear", ElementOp::Dequantize, quantization},
    {"QuantizeLinear", ElementOp::Quantize, quantization},
};

}  // namespace

std::span<const ElementwiseRow> elementwiseRows() { return kRows; }

const ElementwiseRow* findElementwiseRow(const OpSchema& schema) {
  if (!schema.domain.empty()) return nullptr;
  for (const Row& row : kFusedRows)
    if (row.name == schema.name) return &row;
  const auto row = std::lower_bound(std::begin(kRows), std::end(kRows), schema.name,
                                    [](const Row& a, std::string_view name) { return a.name < name; });
  return row != std::end(kRows) && row->name == schema.name ? row : nullptr;
}

}  // namespace max
