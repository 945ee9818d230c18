// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include <algorithm>
#include <iterator>

#include "base/checked.h"
#include "base/error.h"

namespace max {

namespace {

struct Row {
  DType dtype;
  const char* name;
  size_t bits;
  int64_t onnx;
};

constexpr Row kRows[] = {
#define MAX_DTYPE_ROW(name, constant, spelling, bits, brief, onnx) {DType::name, spelling, bits, onnx},
    MAX_FOR_EACH_DTYPE(MAX_DTYPE_ROW)
#undef MAX_DTYPE_ROW
};

constexpr Row kObjectRows[] = {
    {DType::Sequence, "sequence", 64, 0},
    {DType::Optional, "optional", 64, 0},
    {DType::Map, "map", 64, 0},
};

constexpr Row kInvalid = {DType::Invalid, "invalid", 0, 0};

const Row& rowOf(DType dtype) {
  if (isObject(dtype) && dtype <= DType::Map)
    return kObjectRows[static_cast<size_t>(dtype) - static_cast<size_t>(DType::Sequence)];
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.dtype == dtype; });
  return row == std::end(kRows) ? kInvalid : *row;
}

template <class Predicate>
std::optional<DType> findRow(Predicate predicate) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), predicate);
  return row == std::end(kRows) ? std::nullopt : std::optional<DType>(row->dtype);
}

}  // namespace

bool isValid(DType dtype) { return !isObject(dtype) && rowOf(dtype).dtype != DType::Invalid; }
size_t bitsOf(DType dtype) { return rowOf(dtype).bits; }
size_t sizeOf(DType dtype) { return (bitsOf(dtype) + 7) / 8; }
const char* nameOf(DType dtype) { return rowOf(dtype).name; }
int64_t onnxFromDType(DType dtype) { return rowOf(dtype).onnx; }

std::optional<DType> dtypeFromName(std::string_view name) {
  return findRow([&](const Row& row) { return row.name == name; });
}

std::optional<DType> dtypeFromOnnx(int64_t number) {
  return findRow([&](const Row& row) { return row.onnx == number && number != 0; });
}

bool isFloat(DType dtype) { return dtype >= DType::Float4E2M1FN && dtype <= DType::Float64; }
bool isInteger(DType dtype) { return dtype >= DType::UInt2 && dtype <= DType::Int64; }
bool isSigned(DType dtype) { return isFloat(dtype) || (isInteger(dtype) && (static_cast<int32_t>(dtype) & 1) != 0); }

size_t bytesFor(DType dtype, int64_t count) {
  require(count >= 0, MAX_STATUS_OUT_OF_RANGE, "Number of elements is negative: ", count);
  const size_t bits = bitsOf(dtype);
  const size_t elements = static_cast<size_t>(count);
  if (bits >= 8) return checkedMultiply(elements, bits / 8);
  return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

}  // namespace max
