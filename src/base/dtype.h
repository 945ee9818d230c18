// SPDX-License-Identifier: Apache-2.0
// Element types: one table row each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "max/dtype.h"

namespace max {

// name, spelling, bits, short name, ONNX TensorProto.DataType number (0 = none)
#define MAX_FOR_EACH_DTYPE(X)                                                \
  X(Bool, BOOL, "bool", 8, "bool", 9)                                        \
  X(String, STRING, "string", 64, "str", 8)                                  \
  X(Float4E2M1FN, FLOAT4_E2M1FN, "float4_e2m1fn", 4, "f4e2m1fn", 23)         \
  X(Float6E2M3FN, FLOAT6_E2M3FN, "float6_e2m3fn", 6, "f6e2m3fn", 27)         \
  X(Float6E3M2FN, FLOAT6_E3M2FN, "float6_e3m2fn", 6, "f6e3m2fn", 28)         \
  X(Float8E8M0FNU, FLOAT8_E8M0FNU, "float8_e8m0fnu", 8, "f8e8m0fnu", 24)     \
  X(Float8E4M3FN, FLOAT8_E4M3FN, "float8_e4m3fn", 8, "f8e4m3fn", 17)         \
  X(Float8E4M3FNUZ, FLOAT8_E4M3FNUZ, "float8_e4m3fnuz", 8, "f8e4m3fnuz", 18) \
  X(Float8E5M2, FLOAT8_E5M2, "float8_e5m2", 8, "f8e5m2", 19)                 \
  X(Float8E5M2FNUZ, FLOAT8_E5M2FNUZ, "float8_e5m2fnuz", 8, "f8e5m2fnuz", 20) \
  X(Float16, FLOAT16, "float16", 16, "f16", 10)                              \
  X(BFloat16, BFLOAT16, "bfloat16", 16, "bf16", 16)                          \
  X(Float32, FLOAT32, "float32", 32, "f32", 1)                               \
  X(Float64, FLOAT64, "float64", 64, "f64", 11)                              \
  X(Complex64, COMPLEX64, "complex64", 64, "c64", 14)                        \
  X(Complex128, COMPLEX128, "complex128", 128, "c128", 15)                   \
  X(UInt2, UINT2, "uint2", 2, "ui2", 25)                                     \
  X(Int2, INT2, "int2", 2, "si2", 26)                                        \
  X(UInt4, UINT4, "uint4", 4, "ui4", 21)                                     \
  X(Int4, INT4, "int4", 4, "si4", 22)                                        \
  X(UInt8, UINT8, "uint8", 8, "ui8", 2)                                      \
  X(Int8, INT8, "int8", 8, "si8", 3)                                         \
  X(UInt16, UINT16, "uint16", 16, "ui16", 4)                                 \
  X(Int16, INT16, "int16", 16, "si16", 5)                                    \
  X(UInt32, UINT32, "uint32", 32, "ui32", 12)                                \
  X(Int32, INT32, "int32", 32, "si32", 6)                                    \
  X(UInt64, UINT64, "uint64", 64, "ui64", 13)                                \
  X(Int64, INT64, "int64", 64, "si64", 7)

enum class DType : int32_t {
  Invalid = 0,
#define MAX_DTYPE_ROW(name, constant, spelling, bits, brief, onnx) name = MAX_DTYPE_##constant,
  MAX_FOR_EACH_DTYPE(MAX_DTYPE_ROW)
#undef MAX_DTYPE_ROW
  // Internal types of values that are not tensors: scalars whose element is a pointer (base/object.h).
  Sequence = 240,
  Optional = 241,
  Map = 242,
};

bool isValid(DType dtype);        // an element type of tensors
size_t bitsOf(DType dtype);       // 64, a pointer, for strings and values that are not tensors
size_t sizeOf(DType dtype);       // bytes; 1 for types below 8 bits
const char* nameOf(DType dtype);  // "float32"
std::optional<DType> dtypeFromName(std::string_view name);
std::optional<DType> dtypeFromOnnx(int64_t number);
int64_t onnxFromDType(DType dtype);  // 0 = none

bool isFloat(DType dtype);    // all floating-point types, including those of 4 to 8 bits
bool isInteger(DType dtype);  // signed and unsigned, without bool
bool isSigned(DType dtype);
// Sequences, optionals and maps.
inline bool isObject(DType dtype) { return dtype >= DType::Sequence; }
// In memory an element is a pointer to something that a storage or a pool owns: copying bytes does not copy contents.
inline bool holdsPointers(DType dtype) { return dtype == DType::String || isObject(dtype); }
inline bool isPacked(DType dtype) { return bitsOf(dtype) < 8 && bitsOf(dtype) > 0; }

// Bytes of `count` elements without gaps (types below 8 bits are packed). Throws OUT_OF_RANGE on overflow or negative
// counts.
size_t bytesFor(DType dtype, int64_t count);

inline void appendTo(std::string& text, DType dtype) { text += nameOf(dtype); }

}  // namespace max
