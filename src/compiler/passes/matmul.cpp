// SPDX-License-Identifier: Apache-2.0
// Matrix products become max.MatMul, which takes transposed operands, a scale and a bias.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/passes.h"
#include "compiler/passes/rules.h"
#include "graph/readers/matrix.h"

namespace max {

namespace {

bool isProductType(const Value* value) {
  return value->type.dtype == DType::Float32 || value->type.dtype == DType::Float64 ||
         value->type.dtype == DType::Float16 || value->type.dtype == DType::BFloat16;
}

bool fromMatMul(Rewriter& rewriter, Node& node) {
  if (!isProductType(node.output()) || !isRanked(node.input(0)) || !isRanked(node.input(1))) return false;
  return rewriter.replace(&node,
                          rewriter.add(kMaxDomain, "MatMul", {node.input(0), node.input(1)}, {}, {&node})->output());
}

// `value` times `factor`, for small float32 constants.
Value* scaledConstant(Rewriter& rewriter, Value* value, float factor) {
  if (factor == 1) return value;
  if (!value->constant || value->constant->dtype() != DType::Float32) return nullptr;
  Ref<Tensor> result = Tensor::allocate(DType::Float32, value->constant->shape());
  const Ref<Tensor> aligned = value->constant->aligned();
  const std::span<const float> source = aligned->values<float>();
  std::transform(source.begin(), source.end(), static_cast<float*>(result->mutableData()),
                 [factor](float element) { return element * factor; });
  return rewriter.constant(std::move(result));
}

bool fromGemm(Rewriter& rewriter, Node& node) {
  if (!isProductType(node.output())) return false;
  std::vector<Value*> inputs{node.input(0), node.input(1)};
  const readers::Product product(node.attributes);
  const float beta = product.beta;
  Value* addend = beta == 0 ? nullptr : node.input(2);
  if (addend) {
    Value* bias = asBias(rewriter, addend, node.output());
    if (bias)
      bias = scaledConstant(rewriter, bias, beta);
    else if (beta != 1 || !sameDims(addend, node.output()))
      return false;
    if (!bias && addend->constant && beta != 1) return false;
    inputs.push_back(bias);
    if (!bias) inputs.push_back(addend);
  }
  Attributes attributes;
  attributes.set("alpha", product.alpha);
  attributes.set("transA", int64_t{product.transposesA});
  attributes.set("transB", int64_t{product.transposesB});
  return rewriter.replace(
      &node, rewriter.add(kMaxDomain, "MatMul", std::move(inputs), std::move(attributes), {&node})->output());
}

// Whether nothing is fused after the product yet.
bool isPlain(const Node& matmul) {
  return !matmul.input(2) && !matmul.input(3) && !readers::hasActivation(matmul.attributes);
}

bool swapsLastTwo(const std::vector<int64_t>& perm) {
  const size_t rank = perm.size();
  if (rank < 2) return false;
  for (size_t i = 0; i + 2 < rank; ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return perm[rank - 2] == static_cast<int64_t>(rank - 1);
}

// The same product with different inputs and attributes.
bool replaceMatMul(Rewriter& rewriter, Node& node, std::vector<Value*> inputs, Attributes attributes,
                   const Node* origin) {
  Node* result = rewriter.add(kMaxDomain, "MatMul", std::move(inputs), std::move(attributes), {origin, &node});
  return rewriter.replace(&node, result->output());
}

}  // namespace

bool absorbTranspose(Rewriter& rewriter, Node& node) {
  constexpr std::string_view kFlags[] = {"transA", "transB"};
  for (size_t side : {0, 1}) {
    Node* transpose = producer(node.input(side), "Transpose");
    if (!transpose || !swapsLastTwo(permOf(*transpose))) continue;
    std::vector<Value*> inputs = node.inputs;
    inputs[side] = transpose->input(0);
    Attributes attributes = node.attributes;
    const readers::Product product(attributes);
    attributes.set(kFlags[side], int64_t{!(side == 0 ? product.transposesA : product.transposesB)});
    return replaceMatMul(rewriter, node, std::move(inputs), std::move(attributes), transpose);
  }
  return false;
}

namespace {

std::optional<float> factorOf(const Node* node, const ScalarOperand& operand) {
  if (!operand || operand.value->constant || !sameType(operand.value, node->output())) return std::nullopt;
  if (node->is("Mul") && std::isfinite(operand.scalar)) return static_cast<float>(operand.scalar);
  if (node->is("Div") && !operand.left && std::isnormal(1 / operand.scalar))
    return static_cast<float>(1 / operand.scalar);
  return std::nullopt;
}

// Reshape(Transpose(Reshape(x)) * c) -> Transpose(Reshape(x)) * c: PyTorch transposes the matrices of attention's keys
// in three dimensions.
bool transposeInFull(Rewriter& rewriter, Node& node) {
  Node* scale = localProducer(node.input(0));
  const ScalarOperand operand = scalarOperand(scale);
  if (!operand || !factorOf(scale, operand)) scale = nullptr;
  Node* transpose = producer(scale ? operand.value : node.input(0), "Transpose");
  Node* flat = transpose && swapsLastTwo(permOf(*transpose)) ? producer(transpose->input(0), "Reshape") : nullptr;
  if (!flat || !isRanked(flat->input(0)) || !isRanked(node.output()) || rankOf(node.output()) < 2) return false;
  SymbolicShape dims = node.output()->type.dims;
  const SymbolicShape& matrices = node.input(0)->type.dims;
  if (!(dims.back() == matrices.back()) || !(dims.end()[-2] == matrices.end()[-2])) return false;
  std::swap(dims.back(), dims.end()[-2]);
  Value* view = flat->input(0)->type.dims == dims ? flat->input(0) : rewriter.reshape(flat->input(0), dims, flat);
  if (!view) return false;
  std::vector<int64_t> perm(dims.size());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm.back(), perm.end()[-2]);
  Value* result = rewriter.transpose(view, perm, transpose);
  if (scale) {
    std::vector<Value*> inputs = scale->inputs;
    inputs[operand.left ? 1 : 0] = result;
    result = rewriter.add("", scale->op(), std::move(inputs), {}, {scale})->output();
  }
  return rewriter.replace(&node, result);
}

// (A * c) B -> alpha
bool absorbOperandScale(Rewriter& rewriter, Node& node) {
  for (size_t side : {0, 1}) {
    Node* scale = localProducer(node.input(side));
    const ScalarOperand operand = scalarOperand(scale);
    const auto factor = scale ? factorOf(scale, operand) : std::nullopt;
    if (!factor) continue;
    std::vector<Value*> inputs = node.inputs;
    inputs[side] = operand.value;
    Attributes attributes = node.attributes;
    attributes.set("alpha", readers::Product(attributes).alpha * *factor);
    return replaceMatMul(rewriter, node, std::move(inputs), std::move(attributes), scale);
  }
  return false;
}

// (A B) * c -> alpha
bool absorbScale(Rewriter& rewriter, Node& node) {
  const ScalarOperand operand = scalarOperand(&node);
  const auto factor = factorOf(&node, operand);
  Node* matmul = factor ? ownProducer(operand.value, "MatMul") : nullptr;
  if (!matmul || !isPlain(*matmul) || !hasSingleUse(operand.value)) return false;
  Attributes attributes = matmul->attributes;
  attributes.set("alpha", readers::Product(attributes).alpha * *factor);
  Node* result = rewriter.add(kMaxDomain, "MatMul", matmul->inputs, std::move(attributes), {matmul, &node});
  return rewriter.replace(&node, result->output());
}

bool absorbBias(Rewriter& rewriter, Node& node) {
  for (size_t side : {0, 1}) {
    Node* matmul = ownProducer(node.input(side), "MatMul");
    if (!matmul || !isPlain(*matmul) || !hasSingleUse(node.input(side))) continue;
    if (!sameType(matmul->output(), node.output())) continue;
    Value* bias = asBias(rewriter, node.input(1 - side), node.output());
    if (!bias) continue;
    Node* result = rewriter.add(kMaxDomain, "MatMul", {matmul->input(0), matmul->input(1), bias}, matmul->attributes,
                                {matmul, &node});
    return rewriter.replace(&node, result->output());
  }
  return false;
}

// A view that joins rows of the left operand moves below the product.
bool sinkRowReshape(Rewriter& rewriter, Node& node) {
  if (node.input(3) || readers::Product(node.attributes).transposesA) return false;
  Node* rows = localProducer(node.input(0));
  if (!rows || !hasTrait(*rows, kTraitView) || rows->is("Identity") || !isRanked(rows->input(0)) ||
      !isRanked(node.input(1)) || !isRanked(node.output()))
    return false;
  const SymbolicShape& from = rows->input(0)->type.dims;
  if (rankOf(node.input(1)) != 2 || from.size() < 2 || !(from.back() == node.input(0)->type.dims.back())) return false;
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = rows->input(0);
  Node* product = rewriter.add(kMaxDomain, "MatMul", std::move(inputs), node.attributes, {&node});
  Value* view = rewriter.reshape(product->output(), node.output()->type.dims, rows);
  return view && rewriter.replace(&node, view);
}

constexpr Rule kRules[] = {
    {"", "MatMul", fromMatMul},
    {"", "Gemm", fromGemm},
    {"", "Reshape", transposeInFull},
    {kMaxDomain, "MatMul", absorbTranspose},
    {kMaxDomain, "MatMul", absorbOperandScale},
    {"", "Mul", absorbScale},
    {"", "Div", absorbScale},
    {"", "Add", absorbBias},
    {kMaxDomain, "MatMul", sinkRowReshape},
};

}  // namespace

void lowerMatMul(Rewriter& rewriter) { applyRules(rewriter, kRules); }

}  // namespace max
