// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/types.h"

namespace max {

KernelType kernelType(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return {"__half", "float"};
    case DType::BFloat16:
      return {"__nv_bfloat16", "float"};
    case DType::Float32:
      return {"float", "float"};
    case DType::Float64:
      return {"double", "double"};
    case DType::Int32:
      return {"int", "long long"};
    case DType::Int64:
      return {"long long", "long long"};
    default:
      return {};
  }
}

const char* movedType(size_t bytes) {
  switch (bytes) {
    case 1:
      return "unsigned char";
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned";
    case 8:
      return "unsigned long long";
    default:
      return "ulonglong2";
  }
}

}  // namespace max
