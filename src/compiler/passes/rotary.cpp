// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings, as the operator's definition and as exporters write them out, become one operator: halves of rows
// that are cut out, multiplied and put together again go through memory several times otherwise. On the host: an
// accelerator's elementwise operators read such halves where they are.
#include <array>
#include <utility>

#include "compiler/passes.h"
#include "graph/readers/normalization.h"

namespace max {

namespace {

std::optional<int64_t> lastOf(const Value* value) {
  if (!value || !isRanked(value) || rankOf(value) == 0) return {};
  const Dim last = value->type.dims.back();
  return last.isKnown() ? std::optional(last.value()) : std::nullopt;
}

// Whether an operator's axis is the last one of a value.
bool isAlongLast(const Node& node, const Value* value) {
  const int rank = isRanked(value) ? rankOf(value) : 0;
  return rank > 0 && readers::readAxis(node.attributes, 0, rank) == rank - 1;
}

// What lies between `begin` and `end` of the last axis of `source`.
struct Part {
  Value* source = nullptr;
  int64_t begin = 0, end = 0;
};

Part partOfSplit(const Node& split, const Value* value) {
  if (!isAlongLast(split, split.input(0))) return {};
  int64_t begin = 0;
  for (const Value* output : split.outputs) {
    const std::optional<int64_t> size = lastOf(output);
    if (!size) return {};
    if (output == value) return {split.input(0), begin, begin + *size};
    begin += *size;
  }
  return {};
}

Part partOfSlice(const Node& slice) {
  const std::optional<int64_t> size = lastOf(slice.input(0)), length = lastOf(slice.output());
  std::array<std::optional<std::vector<int64_t>>, 4> numbers;
  for (size_t i = 0; i < 4; ++i)
    if (slice.input(i + 1)) numbers[i] = integersOf(slice.input(i + 1));
  const auto& [starts, ends, axes, steps] = numbers;
  const auto isOne = [](const auto& list) { return list && list->size() == 1; };
  if (!size || !length || !isOne(starts) || !isOne(ends) || !isOne(axes) ||
      normaliseAxis((*axes)[0], rankOf(slice.input(0))) != rankOf(slice.input(0)) - 1)
    return {};
  if (slice.input(4) && (!isOne(steps) || (*steps)[0] != 1)) return {};
  const int64_t begin = (*starts)[0] < 0 ? (*starts)[0] + *size : (*starts)[0];
  return {slice.input(0), begin, begin + *length};
}

Part partOf(const Value* value) {
  if (Node* split = producer(value, "Split")) return partOfSplit(*split, value);
  Node* slice = producer(value, "Slice");
  return slice && hasSingleUse(value) ? partOfSlice(*slice) : Part{};
}

// Whether these are the two halves of rows of the same value.
bool areHalves(const Part& first, const Part& second) {
  const std::optional<int64_t> size = first.source ? lastOf(first.source) : std::nullopt;
  return size && first.source == second.source && *size % 2 == 0 && first.begin == 0 && first.end == *size / 2 &&
         second.begin == *size / 2 && second.end == *size;
}

bool isConcatOfTwo(const Node& concat) { return concat.inputs.size() == 2 && isAlongLast(concat, concat.output()); }

struct Product {
  const Node* node = nullptr;
  Value* factors[2] = {};
};
Product productOf(Value* value) {
  const Node* mul = hasSingleUse(value) ? producer(value, "Mul") : nullptr;
  return mul ? Product{mul, {mul->input(0), mul->input(1)}} : Product{};
}

bool joinRotary(Rewriter& rewriter, Node& node, Value* x, Value* cos, Value* sin, std::vector<const Node*> origins) {
  if (!x || x->type.dtype != DType::Float32 || !isRanked(cos) || !isRanked(sin)) return false;
  const std::optional<int64_t> size = lastOf(x);
  for (const Value* angles : {cos, sin}) {
    const std::optional<int64_t> width = lastOf(angles);
    if (!width || *width == 0 || (*width != *size && *width != *size / 2) || rankOf(angles) > rankOf(x)) return false;
  }
  if (!sameType(x, node.output())) return false;
  origins.push_back(&node);
  Node* rotary = rewriter.add(kMaxDomain, "Rotary", {x, cos, sin}, {}, origins);
  return rewriter.replace(&node, rotary->output());
}

// The other factor of a product with `part`.
Value* factorBeside(const Product& product, const Value* part) {
  if (!product.node) return nullptr;
  return product.factors[0] == part ? product.factors[1] : product.factors[1] == part ? product.factors[0] : nullptr;
}

// (-second half, first half) of rows of `x`, times `sin`.
struct Turned {
  Value *x = nullptr, *sin = nullptr;
  std::vector<const Node*> origins;
};
Turned turnedOf(const Product& product) {
  for (Value* factor : product.factors) {
    const Node* concat = hasSingleUse(factor) ? producer(factor, "Concat") : nullptr;
    const Node* negative = concat && isConcatOfTwo(*concat) ? producer(concat->input(0), "Neg") : nullptr;
    if (!negative) continue;
    const Part second = partOf(negative->input(0)), first = partOf(concat->input(1));
    if (areHalves(first, second))
      return {first.source, factorBeside(product, factor), {negative, concat, product.node}};
  }
  return {};
}

// x cos + (-second half, first half) sin
bool joinTurned(Rewriter& rewriter, Node& node) {
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const Product plain = productOf(node.input(side)), product = productOf(node.input(1 - side));
    if (!plain.node || !product.node) return false;
    Turned turned = turnedOf(product);
    Value* cos = turned.x ? factorBeside(plain, turned.x) : nullptr;
    if (!cos || lastOf(cos) != lastOf(turned.x) || lastOf(turned.sin) != lastOf(turned.x)) continue;
    turned.origins.push_back(plain.node);
    return joinRotary(rewriter, node, turned.x, cos, turned.sin, std::move(turned.origins));
  }
  return false;
}

// A Transpose that moved up may have made two constants of one.
bool isSame(Rewriter& rewriter, const Value* a, const Value* b) {
  if (a == b) return true;
  if (!a || !b || !a->constant || !b->constant || !sameType(a, b)) return false;
  return rewriter.options().budget->load.tryTakeWork(a->constant->bytes()) && sameTensor(*a->constant, *b->constant);
}

// (first cos - second sin, first sin + second cos)
bool joinHalves(Rewriter& rewriter, Node& node) {
  if (!isConcatOfTwo(node)) return false;
  const Node *minus = producer(node.input(0), "Sub"), *plus = producer(node.input(1), "Add");
  if (!minus || !plus || !hasSingleUse(node.input(0)) || !hasSingleUse(node.input(1))) return false;
  const Product realFirst = productOf(minus->input(0)), realSecond = productOf(minus->input(1));
  if (!realFirst.node || !realSecond.node) return false;
  for (Value* first : realFirst.factors)
    for (Value* second : realSecond.factors) {
      const Node* split = producer(first, "Split");
      if (!split || split != producer(second, "Split")) continue;
      const Part low = partOfSplit(*split, first), high = partOfSplit(*split, second);
      Value *cos = factorBeside(realFirst, first), *sin = factorBeside(realSecond, second);
      if (!areHalves(low, high) || lastOf(cos) != lastOf(first) || lastOf(sin) != lastOf(first)) continue;
      for (const size_t side : {size_t{0}, size_t{1}}) {
        const Product withSin = productOf(plus->input(side)), withCos = productOf(plus->input(1 - side));
        if (isSame(rewriter, factorBeside(withSin, first), sin) && isSame(rewriter, factorBeside(withCos, second), cos))
          return joinRotary(rewriter, node, low.source, cos, sin, {split, minus, plus});
      }
    }
  return false;
}

constexpr Rule kRules[] = {{"", "Add", joinTurned}, {"", "Concat", joinHalves}};

}  // namespace

void joinRotations(Rewriter& rewriter) {
  if (!rewriter.options().accelerator) applyRules(rewriter, kRules);
}

}  // namespace max
