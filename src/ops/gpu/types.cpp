// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/types.h"

#include "base/error.h"

namespace max {

namespace {

constexpr const char* kLoops = R"(
#define EACH(i, count)                                                                      \
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (count); \
       i += (long long)gridDim.x * blockDim.x)
#define EACH_ROW(row, count) for (long long row = blockIdx.x; row < (count); row += gridDim.x)
)";

constexpr const char* kPieces = R"(
#define PIECE (16 / (int)sizeof(Element))
static inline __device__ void takePiece(Element (&piece)[PIECE], const Element* from, long long valid, bool isWhole) {
  if (isWhole) {
    const uint4 memory = *(const uint4*)from;
    memcpy(piece, &memory, 16);
  } else {
#pragma unroll
    for (int i = 0; i < PIECE; ++i) piece[i] = i < valid ? from[i] : Element(0.0f);
  }
}
static inline __device__ void givePiece(Element* to, const Element (&piece)[PIECE], long long valid, bool isWhole) {
  if (isWhole) {
    uint4 memory;
    memcpy(&memory, piece, 16);
    *(uint4*)to = memory;
  } else {
#pragma unroll
    for (int i = 0; i < PIECE; ++i)
      if (i < valid) to[i] = piece[i];
  }
}
static inline __device__ bool isAligned(const void* address) { return (size_t)address % 16 == 0; }
)";

}  // namespace

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
    case DType::Int8:
      return {"signed char", "long long"};
    case DType::Int16:
      return {"short", "long long"};
    case DType::UInt8:
      return {"unsigned char", "long long"};
    case DType::UInt16:
      return {"unsigned short", "long long"};
    case DType::UInt32:
      return {"unsigned", "long long"};
    case DType::UInt64:
      return {"unsigned long long", "unsigned long long"};
    default:
      return {};
  }
}

std::string typesSource(DType dtype) {
  const KernelType type = kernelType(dtype);
  return concat("#include \"max_half.h\"\n#include <cmath>\ntypedef ", type.element, " Element;\ntypedef ",
                type.accumulator, " Sum;\n", kLoops);
}

const char* pieceSource() { return kPieces; }

std::string movedSource(DType dtype) { return concat("typedef ", movedType(sizeOf(dtype)), " Element;\n", kLoops); }

std::string limitsSource(DType dtype) {
  if (isFloat(dtype)) return "#define LEAST (-(Sum)INFINITY)\n#define LARGEST ((Sum)INFINITY)\n";
  const uint64_t all = dtype == DType::Bool ? 1 : ~uint64_t{0} >> (64 - bitsOf(dtype));
  const uint64_t largest = isSigned(dtype) ? all >> 1 : all;
  return concat("#define LARGEST ((Sum)", largest, "ULL)\n#define LEAST ",
                isSigned(dtype) ? "(-LARGEST - 1)" : "((Sum)0)", "\n");
}

bool isMovable(DType dtype) { return !holdsPointers(dtype) && bitsOf(dtype) >= 8; }

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
