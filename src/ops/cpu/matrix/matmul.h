// SPDX-License-Identifier: Apache-2.0
// The shapes of a product of tensors, for MatMul, Gemm and max.MatMul.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/cpu/matrix/gemm.h"

namespace max {

// Packed constant matrices, owned by their node.
class PackedWeights : public Prepared {
 public:
  // `packed`: those of an earlier process, read-only; NULL = space for new ones. `dtype`: see GemmTypes::packedB.
  PackedWeights(const GemmTable& table, int64_t matrices, int64_t rows, int64_t columns, Ref<Storage> packed = nullptr,
                DType dtype = DType::Float32);

  size_t bytes() const override { return storage_->size(); }
  bool replaces(size_t input) const override { return input == 1; }
  float* matrix(int64_t index) { return static_cast<float*>(storage_->data()) + index * stride_; }
  const Storage& storage() const { return *storage_; }
  const float* data() const { return static_cast<const float*>(storage_->data()); }
  int64_t stride() const { return stride_; }  // floats from one matrix to the next
  DType dtype() const { return dtype_; }
  bool fits(const GemmTable& table) const { return layout_ == table.layout(); }

 private:
  Ref<Storage> storage_;
  DType dtype_;
  int64_t stride_;
  PackLayout layout_;
};

// Whether input 1 is packed as words of bfloat16, or can be: weights of a node whose products are of that type.
bool packsWords(const OpRequest& request);

// Whether packing would enlarge narrow matrices too much, which a small file could exploit; plans pack those at run
// time.
bool isMostlyPadding(const GemmTable& table, int64_t matrices, int64_t rows, int64_t columns);

// What input 1 is packed as, and everything that the packed weights depend on beside its contents.
struct PackedForm {
  std::string_view source;  // the layout of the weights
  const GemmTable& table;
  int64_t matrices, rows, columns;
  int winogradSide = 0;               // of the tiles, if the matrices are those of Winograd's method
  std::vector<int64_t> details = {};  // of the source's layout

  size_t bytes() const;
};
// Those of MatMul, Gemm and max.MatMul; nothing for other nodes and weights that are not packed.
std::optional<PackedForm> productForm(const Node& node, std::span<const Tensor* const> constants);

// numpy's rules for the operands of a product.
struct ProductShape {
  int64_t rows = 1, depth = 1, columns = 1;
  Shape aBatch, bBatch, batch;
  bool transA = false, transB = false;

  ProductShape(const Shape& a, const Shape& b, bool transposeA, bool transposeB);
  int64_t batchCount() const { return batch.count(); }
  int64_t aCount() const { return aBatch.count(); }
  int64_t bCount() const { return bBatch.count(); }
};

// The layout of matrix `index` of B in its tensor.
PackSource packSourceOf(const ProductShape& shape, const float* b, int64_t index);

}  // namespace max
