// SPDX-License-Identifier: Apache-2.0
// A product with a constant matrix in 2, 4 or 8 bits, of which blocks along the depth share a scale, keeps the bits.
#include "base/align.h"
#include "base/interrupt_point.h"
#include "compiler/passes/quantized.h"
#include "graph/readers/matrix.h"
#include "graph/readers/quantization.h"

namespace max {

namespace {

// A matrix [depth, columns], or its transpose, before DequantizeLinear.
struct BlockMatrix {
  const Node* dequantize;
  bool isTransposed;
  int64_t depth, columns, block;
};

std::optional<BlockMatrix> blockMatrix(const Value* value) {
  constexpr int64_t kFewest = 16, kMost = 1 << 20;  // numbers of a block, and columns: narrow ones have no fast kernel
  const Node* transpose = producer(value, "Transpose");
  if (transpose && permOf(*transpose) != std::vector<int64_t>{1, 0}) return std::nullopt;
  const Node* node = producer(transpose ? transpose->input(0) : value, "DequantizeLinear");
  const DType dtype = node ? node->input(0)->type.dtype : DType::Invalid;
  if (!isInteger(dtype) || bitsOf(dtype) > 8 || !node->input(0)->constant) return std::nullopt;
  const Shape& shape = node->input(0)->constant->shape();
  const readers::Quantization reader(node->attributes);
  const int64_t block = reader.block;
  if (shape.rank() != 2 || block < kFewest || block > kMost || (block & (block - 1))) return std::nullopt;
  const int axis = reader.axis(2);
  const BlockMatrix matrix{node, transpose != nullptr, shape[axis], shape[1 - axis], block};
  if (axis != (transpose ? 1 : 0) || matrix.depth < 1 || matrix.columns < kFewest) return std::nullopt;
  const int64_t blocks = ceilDiv(matrix.depth, block);
  const Shape each = transpose ? Shape{matrix.columns, blocks} : Shape{blocks, matrix.columns};
  const auto fits = [&](const Value* parameter, DType type) {
    return parameter->constant && parameter->constant->shape() == each && parameter->constant->dtype() == type;
  };
  const Value* zero = node->input(2);
  if (!fits(node->input(1), value->type.dtype) || (zero && !fits(zero, dtype))) return std::nullopt;
  return matrix;
}

// Numbers of a matrix as rows of unsigned ones of so many bits, from the low ones of a byte on: one for each column.
Ref<Tensor> packedRows(const Tensor& numbers, bool isTransposed, const Shape& shape) {
  const auto bits = static_cast<int64_t>(bitsOf(numbers.dtype()));
  const int64_t width = numbers.shape()[1], mask = (1 << bits) - 1, rowBytes = shape.count() / shape[0];
  const int64_t sign = isSigned(numbers.dtype()) ? 1 << (bits - 1) : 0;
  Ref<Tensor> result = Tensor::allocate(DType::UInt8, shape, true);
  const auto* from = static_cast<const uint8_t*>(numbers.data());
  auto* to = static_cast<uint8_t*>(result->mutableData());
  for (int64_t i = 0; i < numbers.shape()[0]; ++i, passWork(width))
    for (int64_t j = 0; j < width; ++j) {
      const int64_t bit = (i * width + j) * bits, row = isTransposed ? i : j, place = (isTransposed ? j : i) * bits;
      const int64_t number = ((from[bit / 8] >> (bit % 8)) & mask) ^ sign;
      to[row * rowBytes + place / 8] = static_cast<uint8_t>(to[row * rowBytes + place / 8] | number << (place % 8));
    }
  return result;
}

}  // namespace

bool keepBlocks(Rewriter& rewriter, Node& node) {
  const MaxPrecision precision = rewriter.options().hostPrecision();
  const auto matrix = isRanked(node.input(0)) ? blockMatrix(node.input(1)) : std::nullopt;
  if (!matrix) return false;
  // Factors of bfloat16 are multiplied faster than those of float32, but not than those of bytes.
  const bool isRounded = precision == MAX_PRECISION_MEDIUM && matrix->block <= readers::PackedProduct::kMostRounded;
  if (precision != MAX_PRECISION_HIGHEST && !isRounded) return false;
  const Node& dequantize = *matrix->dequantize;
  const Tensor& numbers = *dequantize.input(0)->constant;
  const auto bits = static_cast<int64_t>(bitsOf(numbers.dtype()));
  const int64_t blocks = ceilDiv(matrix->depth, matrix->block);
  const Shape bytes{matrix->columns, blocks, matrix->block * bits / 8}, zeros{matrix->columns, (blocks * bits + 7) / 8};
  Value* scales = dequantize.input(1);
  if (!matrix->isTransposed) scales = rewriter.transpose(scales, {1, 0}, &node);
  std::vector<Value*> inputs{node.input(0), rewriter.constant(packedRows(numbers, matrix->isTransposed, bytes)),
                             scales};
  if (const Value* zero = dequantize.input(2))
    inputs.push_back(rewriter.constant(packedRows(*zero->constant, matrix->isTransposed, zeros)));
  else if (!isSigned(numbers.dtype()))
    inputs.push_back(rewriter.constant(Tensor::allocate(DType::UInt8, zeros, true)));
  numbers.dropPages();
  Attributes attributes;
  attributes.set("K", matrix->depth);
  attributes.set("N", matrix->columns);
  attributes.set("bits", bits);
  attributes.set("block_size", matrix->block);
  Node* product =
      rewriter.add(kMaxDomain, "MatMulNBits", std::move(inputs), std::move(attributes), {&dequantize, &node});
  return sameType(product->output(), node.output()) && rewriter.replace(&node, product->output());
}

}  // namespace max
