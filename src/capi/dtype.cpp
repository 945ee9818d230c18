// SPDX-License-Identifier: Apache-2.0
#include "max/dtype.h"

#include "base/dtype.h"
#include "capi/guard.h"

using max::DType;

namespace {

// Elements of strings have no size of their own.
DType sized(MaxDType dtype) {
  const auto type = static_cast<DType>(dtype);
  return max::isValid(type) && type != DType::String ? type : DType::Invalid;
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
    max::require(dtype.has_value(), MAX_STATUS_NOT_FOUND, "No dtype is named '", name, "'");
    *outDType = static_cast<MaxDType>(*dtype);
  });
}
