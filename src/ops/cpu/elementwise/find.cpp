// SPDX-License-Identifier: Apache-2.0
// Finds the code of an instruction, and instructions that only move bytes.
#include <algorithm>
#include <cstring>

#include "ops/cpu/elementwise/f64.h"
#include "ops/cpu/elementwise/ops.h"

namespace max {

namespace {

template <class T>
void where(const TileOperands& t) {
  const uint8_t* condition = static_cast<const uint8_t*>(t.src[0]);
  const T *a = static_cast<const T*>(t.src[1]), *b = static_cast<const T*>(t.src[2]);
  T* r = static_cast<T*>(t.dst);
  const int64_t sc = t.step[0], sa = t.step[1], sb = t.step[2];
  if (sc == 1 && sa == 1 && sb == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < t.count; ++i) r[i] = condition[i] ? a[i] : b[i];
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < t.count; ++i) r[i] = condition[i * sc] ? a[i * sa] : b[i * sb];
}

template <class T>
void copy(const TileOperands& t) {
  const T* from = static_cast<const T*>(t.src[0]);
  T* to = static_cast<T*>(t.dst);
  if (t.step[0] == 0)
    std::fill_n(to, t.count, *from);
  else if (to != from)
    std::memcpy(to, from, static_cast<size_t>(t.count) * sizeof(T));
}

// Instructions that only move bytes depend on nothing but the element size.
template <class T>
TileFunction findMove(ElementOp op) {
  return op == ElementOp::Where ? where<T> : op == ElementOp::Copy ? copy<T> : nullptr;
}

TileFunction findMove(ElementOp op, DType dtype) {
  switch (sizeOf(dtype)) {
    case 1:
      return findMove<uint8_t>(op);
    case 2:
      return findMove<uint16_t>(op);
    case 4:
      return findMove<uint32_t>(op);
    case 8:
      return findMove<uint64_t>(op);
    default:
      return nullptr;
  }
}

// Activations that have other names than their instructions.
struct Alias {
  std::string_view activation;
  ElementOp op;
};
constexpr Alias kAliases[] = {{"Affine", ElementOp::Scale}, {"Silu", ElementOp::Swish}};

}  // namespace

std::optional<ElementOp> activationOp(std::string_view name) {
  for (const Alias& alias : kAliases)
    if (alias.activation == name) return alias.op;
  const auto info = std::find_if(std::begin(kElementOps), std::end(kElementOps),
                                 [name](const ElementOpInfo& candidate) { return candidate.name == name; });
  if (info == std::end(kElementOps)) return std::nullopt;
  return static_cast<ElementOp>(info - std::begin(kElementOps));
}

TileFunction findTileFunction(ElementOp op, DType from, DType to) {
  if (op == ElementOp::Cast) return findCastTileFunction(from, to);
  if (op == ElementOp::Quantize || op == ElementOp::Dequantize) return findQuantizeTileFunction(op, from, to);
  if (infoOf(op).givesBool() ? to != DType::Bool : to != from) return nullptr;
  if (from == DType::Float32) {
    const TileFunction vectorised = findFloatTileFunction(op);
    return vectorised ? vectorised : findPlainTileFunction(op, from);
  }
  if (const TileFunction move = findMove(op, from)) return move;
  if (from == DType::Float64)
    if (const TileFunction vectorised = findDoubleTileFunction(op)) return vectorised;
  if (const TileFunction integer = findIntegerTileFunction(op, from)) return integer;
  return findPlainTileFunction(op, from);
}

void splatElement(void* block, const void* value, size_t elementSize) {
  findSplatFunction(elementSize)(value, 0, 1, kSplatBytes / static_cast<int64_t>(elementSize), block);
}

}  // namespace max
