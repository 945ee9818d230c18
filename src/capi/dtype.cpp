// SPDX-License-Identifier: Apache-2.0
#include "max/dtype.h"

#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/nearest_name.h"
#include "capi/guard.h"

using max::DType;

namespace {

// Elements of strings have no size of their own.
DType sized(MaxDType dtype) {
  const auto type = static_cast<DType>(dtype);
  return max::isValid(type) && type != DType::String ? type : DType::Invalid;
}

struct Name {
  std::string_view text, dtype;
};

// Short names and names from other languages are not accepted, but their meaning is clear.
constexpr Name kAliases[] = {
#define MAX_DTYPE_ROW(name, constant, spelling, bits, brief, onnx) {brief, spelling},
    MAX_FOR_EACH_DTYPE(MAX_DTYPE_ROW)
#undef MAX_DTYPE_ROW
        {"half", "float16"},
    {"fp16", "float16"},
    {"float", "float32"},
    {"fp32", "float32"},
    {"double", "float64"},
    {"fp64", "float64"},
    {"boolean", "bool"},
    {"int", "int32"},
    {"long", "int64"},
    {"byte", "uint8"}};

std::string nearestDType(std::string_view name) {
  max::NearestName nearest(name);
  for (const Name& alias : kAliases) {
    if (alias.text == name) return max::concat("; did you mean '", alias.dtype, "'?");
    nearest.offer(alias.dtype);
  }
  return nearest.hint();
}

}  // namespace

size_t maxDTypeGetSize(MaxDType dtype) { return max::sizeOf(sized(dtype)); }
size_t maxDTypeGetBits(MaxDType dtype) { return max::bitsOf(sized(dtype)); }
const char* maxDTypeGetName(MaxDType dtype) {
  const auto type = static_cast<DType>(dtype);
  return max::nameOf(max::isValid(type) ? type : DType::Invalid);
}

MaxStatus maxDTypeFromName(const char* name, MaxDType* outDType) {
  return max::capi::guard([&] {
    max::capi::requireArgument(outDType, "outDType");
    *outDType = MAX_DTYPE_INVALID;
    max::capi::requireArgument(name, "name");
    const auto dtype = max::dtypeFromName(name);
    if (!dtype) max::fail(MAX_STATUS_NOT_FOUND, "No dtype is named '", name, "'", nearestDType(name));
    *outDType = static_cast<MaxDType>(*dtype);
  });
}
