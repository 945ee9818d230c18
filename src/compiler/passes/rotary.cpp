// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings, as the operator's definition and as exporters write them out, become one operator: halves of rows,
// or every second element, that are cut out, multiplied and put together again go through memory several times
// otherwise. On the host: an accelerator's elementwise operators read such parts where they are.
#include <array>
#include <utility>

#include "compiler/passes.h"
#include "graph/readers/attention.h"
#include "graph/readers/normalization.h"

namespace max {

namespace {

std::optional<int64_t> lastOf(const Value* value) {
  if (!value || !isRanked(value) || rankOf(value) == 0) return {};
  const Dim last = value->type.dims.back();
  return last.isKnown() ? std::optional(last.value()) : std::nullopt;
}

SymbolicShape withoutLast(const Value* value) {
  SymbolicShape dims = value->type.dims;
  dims.pop_back();
  return dims;
}

// Whether an operator's axis is the last one of a value.
bool isAlongLast(const Node& node, const Value* value) {
  const int rank = isRanked(value) ? rankOf(value) : 0;
  return rank > 0 && readers::readAxis(node.attributes, 0, rank) == rank - 1;
}

// What lies at `begin`, `begin + step`, ... before `end` of the last axis of `source`.
struct Part {
  Value* source = nullptr;
  int64_t begin = 0, end = 0, step = 1;
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
  if (slice.input(4) && (!isOne(steps) || (*steps)[0] < 1 || (*steps)[0] > 2)) return {};
  const int64_t begin = (*starts)[0] < 0 ? (*starts)[0] + *size : (*starts)[0], step = slice.input(4) ? (*steps)[0] : 1;
  return {slice.input(0), begin, begin + step * *length, step};
}

// The element at one place of each row.
Part partOfGather(const Node& gather) {
  const std::optional<int64_t> size = lastOf(gather.input(0));
  const std::optional<double> index = scalarOf(gather.input(1));
  if (!size || !index || rankOf(gather.input(1)) != 0 || !isAlongLast(gather, gather.input(0))) return {};
  const int64_t at = static_cast<int64_t>(*index) + (*index < 0 ? *size : 0);
  return {gather.input(0), at, at + 1};
}

Part partOf(const Value* value) {
  if (const Node* view = producer(value, "Squeeze"); view && lastOf(view->input(0)) == 1) {
    if (value->type.dims != withoutLast(view->input(0))) return {};
    value = view->input(0);
  }
  if (const Node* split = producer(value, "Split")) return partOfSplit(*split, value);
  if (const Node* slice = producer(value, "Slice")) return partOfSlice(*slice);
  const Node* gather = producer(value, "Gather");
  return gather ? partOfGather(*gather) : Part{};
}

// How two parts of rows become pairs, element by element.
enum class Pairs { None, Halves, Neighbours };
Pairs pairsOf(const Part& first, const Part& second) {
  const std::optional<int64_t> size = first.source ? lastOf(first.source) : std::nullopt;
  if (!size || *size % 2 != 0 || first.source != second.source || first.step != second.step || first.begin != 0)
    return Pairs::None;
  const bool isInterleaved = first.step == 2;
  const int64_t apart = isInterleaved ? 1 : *size / 2, length = isInterleaved ? *size : *size / 2;
  if (second.begin != apart || first.end != length || second.end != apart + length) return Pairs::None;
  return isInterleaved || *size == 2 ? Pairs::Neighbours : Pairs::Halves;
}

// The rows that become pairs [.., n, 2] of neighbours; empty if there are none.
SymbolicShape rowsOfPairs(const Value* pairs) {
  SymbolicShape dims = pairs->type.dims;
  if (dims.size() < 2 || !dims.back().is(2) || !dims[dims.size() - 2].isKnown()) return {};
  dims.pop_back();
  dims.back() = Dim(dims.back().value() * 2);
  return dims;
}

// What a view with these dimensions was made from; the value itself if it has them; else NULL.
Value* viewedFrom(Value* value, const SymbolicShape& dims) {
  if (value->type.dims == dims) return value;
  for (const std::string_view op : {"Reshape", "Unsqueeze"})
    if (const Node* view = producer(value, op); view && isRanked(view->input(0)) && view->input(0)->type.dims == dims)
      return view->input(0);
  return nullptr;
}

Value* viewOf(Rewriter& rewriter, Value* value, const SymbolicShape& dims, const Node& origin) {
  Value* same = viewedFrom(value, dims);
  return same ? same : rewriter.reshape(value, dims, &origin);
}

bool isConcatOfTwo(const Node& concat) { return concat.inputs.size() == 2 && isAlongLast(concat, concat.output()); }

// Whether elements, rather than halves, are put together.
bool isConcatOfPairs(const Node& concat) { return lastOf(concat.input(0)) == 1 && lastOf(concat.input(1)) == 1; }

struct Product {
  const Node* node = nullptr;
  Value* factors[2] = {};
};
Product productOf(Value* value) {
  const Node* mul = hasSingleUse(value) ? producer(value, "Mul") : nullptr;
  return mul ? Product{mul, {mul->input(0), mul->input(1)}} : Product{};
}

struct Rotation {
  Value *x = nullptr, *cos = nullptr, *sin = nullptr;
  Pairs pairs = Pairs::None;
  std::vector<const Node*> origins;
};

bool areAngles(const Value* angles, const Value* x) {
  const std::optional<int64_t> width = isRanked(angles) ? lastOf(angles) : std::nullopt, size = lastOf(x);
  return width && *width != 0 && (*width == *size || *width == *size / 2) && rankOf(angles) <= rankOf(x);
}

bool joinRotary(Rewriter& rewriter, Node& node, Rotation rotation) {
  Value *x = rotation.x, *y = node.output();
  if (!x || x->type.dtype != DType::Float32 || y->type.dtype != DType::Float32) return false;
  if (!areAngles(rotation.cos, x) || !areAngles(rotation.sin, x)) return false;
  const bool isInterleaved = rotation.pairs == Pairs::Neighbours;
  if (!sameDims(x, y) && !(isInterleaved && isRanked(y) && x->type.dims == rowsOfPairs(y))) return false;
  rotation.origins.push_back(&node);
  Attributes attributes;
  attributes.set("interleaved", int64_t{isInterleaved});
  Node* rotary =
      rewriter.add(kMaxDomain, "Rotary", {x, rotation.cos, rotation.sin}, std::move(attributes), rotation.origins);
  Value* result = viewOf(rewriter, rotary->output(), y->type.dims, node);
  return result && rewriter.replace(&node, result);
}

// The other factor of a product with `part`.
Value* factorBeside(const Product& product, const Value* part) {
  if (!product.node) return nullptr;
  return product.factors[0] == part ? product.factors[1] : product.factors[1] == part ? product.factors[0] : nullptr;
}

// The Concat that a factor is, of halves or, behind a view, of elements.
const Node* concatOf(Value* factor) {
  if (!hasSingleUse(factor)) return nullptr;
  const Node* view = producer(factor, "Reshape");
  Value* joined = view ? view->input(0) : factor;
  const Node* concat = hasSingleUse(joined) ? producer(joined, "Concat") : nullptr;
  if (!concat || !isConcatOfTwo(*concat)) return nullptr;
  return !view || factor->type.dims == rowsOfPairs(joined) ? concat : nullptr;
}

// What is put together, without the axis that elements got for that.
Value* joinedPart(const Node& concat, size_t i) {
  Value* part = concat.input(i);
  Value* elements = isConcatOfPairs(concat) ? viewedFrom(part, withoutLast(part)) : nullptr;
  return elements ? elements : part;
}

// (-second, first) of pairs of `x`, times `sin`.
Rotation turnedOf(const Product& product) {
  for (Value* factor : product.factors) {
    const Node* concat = concatOf(factor);
    const Node* negative = concat ? producer(joinedPart(*concat, 0), "Neg") : nullptr;
    if (!negative) continue;
    const Part second = partOf(negative->input(0)), first = partOf(joinedPart(*concat, 1));
    const Pairs pairs = pairsOf(first, second);
    if (pairs == Pairs::None || (pairs == Pairs::Neighbours) != isConcatOfPairs(*concat)) continue;
    Value* x = viewedFrom(first.source, factor->type.dims);
    return {x, nullptr, factorBeside(product, factor), pairs, {negative, concat, product.node}};
  }
  return {};
}

// x cos + (-second, first) sin
bool joinTurned(Rewriter& rewriter, Node& node) {
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const Product plain = productOf(node.input(side)), product = productOf(node.input(1 - side));
    if (!plain.node || !product.node) return false;
    Rotation turned = turnedOf(product);
    turned.cos = turned.x ? factorBeside(plain, turned.x) : nullptr;
    if (!turned.cos || lastOf(turned.cos) != lastOf(turned.x) || lastOf(turned.sin) != lastOf(turned.x)) continue;
    turned.origins.push_back(plain.node);
    return joinRotary(rewriter, node, std::move(turned));
  }
  return false;
}

// A Transpose that moved up may have made two constants of one.
bool isSame(Rewriter& rewriter, const Value* a, const Value* b) {
  if (a == b) return true;
  if (!a || !b || !a->constant || !b->constant || !sameType(a, b)) return false;
  return rewriter.options().budget->load.tryTakeWork(a->constant->bytes()) && sameTensor(*a->constant, *b->constant);
}

// Joins what was put together of elements. Angles lose the axis that elements have.
bool joinElements(Rewriter& rewriter, Node& node, Rotation rotation, bool haveAxis) {
  const SymbolicShape rows = rowsOfPairs(node.output());
  if (rows.empty()) return false;
  rotation.x = viewOf(rewriter, rotation.x, rows, node);
  for (Value** angles : {&rotation.cos, &rotation.sin})
    if (haveAxis) *angles = viewOf(rewriter, *angles, withoutLast(*angles), node);
  return rotation.cos && rotation.sin && joinRotary(rewriter, node, std::move(rotation));
}

// (first cos - second sin, first sin + second cos)
bool joinParts(Rewriter& rewriter, Node& node) {
  if (!isConcatOfTwo(node)) return false;
  const bool areElements = isConcatOfPairs(node);
  Value *real = joinedPart(node, 0), *imaginary = joinedPart(node, 1);
  const Node *minus = producer(real, "Sub"), *plus = producer(imaginary, "Add");
  if (!minus || !plus || !hasSingleUse(real) || !hasSingleUse(imaginary)) return false;
  const Product realFirst = productOf(minus->input(0)), realSecond = productOf(minus->input(1));
  if (!realFirst.node || !realSecond.node) return false;
  for (Value* first : realFirst.factors)
    for (Value* second : realSecond.factors) {
      const Part low = partOf(first), high = partOf(second);
      const Pairs pairs = pairsOf(low, high);
      if (pairs == Pairs::None || (pairs == Pairs::Neighbours) != areElements) continue;
      Value *cos = factorBeside(realFirst, first), *sin = factorBeside(realSecond, second);
      if (lastOf(cos) != lastOf(first) || lastOf(sin) != lastOf(first)) continue;
      for (const size_t side : {size_t{0}, size_t{1}}) {
        const Product withSin = productOf(plus->input(side)), withCos = productOf(plus->input(1 - side));
        if (!isSame(rewriter, factorBeside(withSin, first), sin) ||
            !isSame(rewriter, factorBeside(withCos, second), cos))
          continue;
        Rotation rotation{low.source, cos, sin, pairs, {first->producer, minus, plus}};
        if (!areElements) return joinRotary(rewriter, node, std::move(rotation));
        return joinElements(rewriter, node, std::move(rotation), sameRank(first, node.output()));
      }
    }
  return false;
}

// Rows whose first elements are rotated, and whose others are put behind these again.
bool joinRest(Rewriter& rewriter, Node& node) {
  if (!isConcatOfTwo(node)) return false;
  Value* first = node.input(0);
  while (const Node* view = hasSingleUse(first) ? producer(first, "Reshape") : nullptr) first = view->input(0);
  const Node* rotary = hasSingleUse(first) ? ownProducer(first, "Rotary") : nullptr;
  if (!rotary || !sameDims(first, node.input(0)) || readers::Rotary(rotary->attributes).rotated > 0) return false;
  const Part low = partOf(rotary->input(0)), high = partOf(node.input(1));
  if (!low.source || low.source != high.source || !sameType(low.source, node.output())) return false;
  if (low.begin != 0 || low.step != 1 || high.begin != low.end || high.step != 1) return false;
  Attributes attributes = rotary->attributes;
  attributes.set("rotated", low.end);
  Node* whole = rewriter.add(kMaxDomain, "Rotary", {low.source, rotary->input(1), rotary->input(2)},
                             std::move(attributes), {rotary, &node});
  return rewriter.replace(&node, whole->output());
}

constexpr Rule kRules[] = {{"", "Add", joinTurned}, {"", "Concat", joinParts}, {"", "Concat", joinRest}};

}  // namespace

void joinRotations(Rewriter& rewriter) {
  if (!rewriter.options().accelerator) applyRules(rewriter, kRules);
}

}  // namespace max
