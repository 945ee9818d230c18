// SPDX-License-Identifier: Apache-2.0
#include "max/dtype.h"

#include "base/dtype.h"
#include "capi/guard.h"

using max::DType;

size_t maxDTypeGetSize(MaxDType dtype) { return max::sizeOf(static_cast<DType>(dtype)); }
size_t maxDTypeGetBits(MaxDType dtype) { return max::bitsOf(static_cast<DType>(dtype)); }
const char* maxDTypeGetName(MaxDType dtype) { return max::nameOf(static_cast<DType>(dtype)); }

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
