// SPDX-License-Identifier: Apache-2.0
// softmax(Q K' * scale + masks) V becomes max.Attention, with the transposes
// around it absorbed into the layouts of its operands, and without copies of
// the keys and values that several heads of queries share.
#include <algorithm>
#include <array>
#include <string>

#include "compiler/passes.h"
#include "graph/readers/matrix.h"
#include "graph/readers/normalization.h"

namespace max {

namespace {

// The order of the axes batch, heads, sequence, depth in memory.
constexpr std::string_view kLayouts[] = {"BHSD", "BSHD", "BHDS"};

bool isLayout(std::string_view layout) {
  return std::find(std::begin(kLayouts), std::end(kLayouts), layout) != std::end(kLayouts);
}

struct Placed {
  Value* value = nullptr;
  std::string layout;
};

// The operand before a Transpose, if the kernel can read that layout.
Placed place(Value* value, std::string layout) {
  const Node* transpose = producer(value, "Transpose");
  if (transpose) {
    const std::vector<int64_t> perm = permOf(*transpose);
    std::string before(4, ' ');
    for (size_t i = 0; i < perm.size() && i < before.size(); ++i) before[static_cast<size_t>(perm[i])] = layout[i];
    if (isLayout(before)) return {transpose->input(0), before};
  }
  return isLayout(layout) ? Placed{value, std::move(layout)} : Placed{};
}

std::string operandLayout(bool isTransposed, bool depthFirst) { return isTransposed != depthFirst ? "BHDS" : "BHSD"; }

bool isPlainProduct(const Node* matmul) {
  return matmul && !matmul->input(2) && !matmul->input(3) && !readers::hasActivation(matmul->attributes);
}

struct Attention {
  Node* scores = nullptr;  // Q K'
  std::vector<Value*> masks;
  Node* softmax = nullptr;
  bool zeroesMasked = false;
  Node* output = nullptr;  // P V
  std::vector<const Node*> origins;
};

bool isRank4(const Value* value) { return isRanked(value) && rankOf(value) == 4; }

// Whether adding the mask keeps the shape of the scores. The keys' axis cannot grow: V has as many rows.
bool broadcastsTo(const Value* mask, const Value* scores) {
  if (!isRanked(mask) || !isRank4(scores) || rankOf(mask) > 4) return false;
  for (int i = 2; i <= rankOf(mask); ++i) {
    const Dim dim = mask->type.dims[static_cast<size_t>(rankOf(mask) - i)];
    if (!dim.is(1) && !(dim == scores->type.dims[static_cast<size_t>(4 - i)])) return false;
  }
  return true;
}

constexpr int kMostMasks = 2;

// The scores are what a product and masks add up to.
std::optional<Attention> matchScores(Attention found, Value* scores, int masks = 0) {
  found.scores = ownProducer(scores, "MatMul");
  if (found.scores && hasSingleUse(scores) && isPlainProduct(found.scores)) return found;
  Node* add = producer(scores, "Add");
  if (!add || !hasSingleUse(scores) || masks == kMostMasks) return std::nullopt;
  for (size_t side : {0, 1}) {
    Value *rest = add->input(side), *mask = add->input(1 - side);
    if (!broadcastsTo(mask, rest) || mask->type.dtype != DType::Float32) continue;
    Attention more = found;
    more.masks.push_back(mask);
    more.origins.push_back(add);
    if (auto all = matchScores(std::move(more), rest, masks + 1)) return all;
  }
  return std::nullopt;
}

// Where(IsNaN(P), 0, P): PyTorch's guard for rows whose keys are all masked.
void matchGuard(Attention& found, const Value* weights) {
  Node* where = producer(weights, "Where");
  Node* isNan = where && isScalar(where->input(1), 0) ? producer(where->input(0), "IsNaN") : nullptr;
  const Value* guarded = isNan ? isNan->input(0) : nullptr;
  if (!guarded || guarded != where->input(2) || guarded->uses.size() != 2 || guarded->isOutput()) return;
  if (!hasSingleUse(where->input(0)) || !sameType(guarded, weights)) return;
  found.softmax = producer(guarded, "Softmax");
  found.zeroesMasked = true;
  found.origins = {where, isNan};
}

std::optional<Attention> matchAttention(Node& output) {
  Attention found;
  found.output = &output;
  found.softmax = producer(output.input(0), "Softmax");
  if (!found.softmax) matchGuard(found, output.input(0));
  if (!found.softmax || !isPlainProduct(&output) || !hasSingleUse(output.input(0))) return std::nullopt;
  const readers::Product product(output.attributes);
  if (product.transposesA || product.alpha != 1) return std::nullopt;
  if (!isRank4(output.output()) || output.output()->type.dtype != DType::Float32) return std::nullopt;
  if (readers::readAxis(found.softmax->attributes, -1, 4) != 3) return std::nullopt;
  found.origins.push_back(found.softmax);
  Value* scores = found.softmax->input(0);
  return matchScores(std::move(found), scores);
}

// Batch, heads and depths of all operands agree (no broadcasting).
bool shapesAgree(const Attention& found) {
  const Value* q = found.scores->input(0);
  const Value* k = found.scores->input(1);
  const Value* v = found.output->input(1);
  if (!isRank4(q) || !isRank4(k) || !isRank4(v)) return false;
  for (size_t axis : {0, 1})
    if (!(q->type.dims[axis] == k->type.dims[axis]) || !(q->type.dims[axis] == v->type.dims[axis])) return false;
  const auto depth = [](const Value* value, bool last) { return value->type.dims[last ? 3 : 2]; };
  const Dim depthOfK = depth(k, readers::Product(found.scores->attributes).transposesB);
  const Dim depthOfV = depth(v, !readers::Product(found.output->attributes).transposesB);
  return depthOfK == depthOfV;
}

// Keys or values before Unsqueeze, Expand and Reshape repeat each of their heads; NULL if nothing does.
Value* beforeRepeat(const Value* value) {
  const Node* join = producer(value, "Reshape");
  const Node* expand = join ? producer(join->input(0), "Expand") : nullptr;
  const Node* split = expand ? localProducer(expand->input(0)) : nullptr;
  if (!split || !hasTrait(*split, kTraitView) || !isRanked(join->input(0)) || rankOf(join->input(0)) != 5)
    return nullptr;
  Value* heads = split->input(0);
  if (!isRank4(heads)) return nullptr;
  SymbolicShape repeated = heads->type.dims, once = repeated, joined = repeated;
  repeated.insert(repeated.begin() + 2, join->input(0)->type.dims[2]);
  once.insert(once.begin() + 2, Dim(1));
  joined[1] = product(repeated, 1, 3);
  const bool repeats = split->output()->type.dims == once && join->input(0)->type.dims == repeated;
  return repeats && value->type.dims == joined ? heads : nullptr;
}

// The sum of all masks; NULL = none. Layers that have the same masks share it.
Value* maskOf(Rewriter& rewriter, const std::vector<Value*>& masks, const Node* origin) {
  if (masks.empty()) return nullptr;
  Value* mask = masks[0];
  if (masks.size() > 1) mask = rewriter.add("", "Add", {mask, masks[1]}, {}, {origin})->output();
  if (rankOf(mask) == 4) return mask;
  std::vector<int64_t> axes;
  for (int axis = 0; axis < 4 - rankOf(mask); ++axis) axes.push_back(axis);
  return rewriter.add("", "Unsqueeze", {mask, rewriter.constant(axes)}, {}, {origin})->output();
}

bool attentionFromSoftmax(Rewriter& rewriter, Node& node) {
  const auto found = matchAttention(node);
  if (!found || !shapesAgree(*found)) return false;
  const readers::Product scores(found->scores->attributes), output(node.attributes);
  Value *keys = beforeRepeat(found->scores->input(1)), *values = beforeRepeat(node.input(1));
  if (!keys || !values || !(keys->type.dims[1] == values->type.dims[1])) {
    keys = found->scores->input(1);
    values = node.input(1);
  }
  const Placed q = place(found->scores->input(0), operandLayout(scores.transposesA, false));
  const Placed k = place(keys, operandLayout(scores.transposesB, true));
  const Placed v = place(values, operandLayout(output.transposesB, false));
  if (!q.value || !k.value || !v.value) return false;
  Value* result = node.output();
  Node* transpose = singleUser(result);
  const bool swapped =
      transpose && transpose->is("Transpose") && permOf(*transpose) == std::vector<int64_t>{0, 2, 1, 3};
  Attributes attributes;
  attributes.set("layout_q", q.layout);
  attributes.set("layout_k", k.layout);
  attributes.set("layout_v", v.layout);
  attributes.set("layout_out", std::string(swapped ? "BSHD" : "BHSD"));
  attributes.set("scale", scores.alpha);
  if (found->zeroesMasked) attributes.set("zero_masked", int64_t{1});
  std::vector<Value*> inputs{q.value, k.value, v.value};
  if (Value* mask = maskOf(rewriter, found->masks, &node)) inputs.push_back(mask);
  std::vector<const Node*> origins = found->origins;
  origins.push_back(found->scores);
  origins.push_back(&node);
  Node* attention = rewriter.add(kMaxDomain, "Attention", std::move(inputs), std::move(attributes), origins);
  return rewriter.replace(swapped ? transpose->output() : result, attention->output());
}

// The first two of five axes, as of windows, joined to one.
Value* joinBatches(Rewriter& rewriter, Value* value, const Node* origin) {
  SymbolicShape dims = value->type.dims;
  dims[1] = product(dims, 0, 2);
  dims.erase(dims.begin());
  return rewriter.reshape(value, dims, origin);
}

// Attention of five axes without masks is one of four.
bool attentionOfWindows(Rewriter& rewriter, Node& node) {
  const auto isRank5 = [](const Value* value) { return isRanked(value) && rankOf(value) == 5; };
  Node* softmax = producer(node.input(0), "Softmax");
  Node* scores = softmax ? ownProducer(softmax->input(0), "MatMul") : nullptr;
  if (!scores || !isPlainProduct(scores) || !isPlainProduct(&node) || !isRank5(node.output())) return false;
  if (!hasSingleUse(node.input(0)) || !hasSingleUse(softmax->input(0))) return false;
  if (readers::readAxis(softmax->attributes, -1, 5) != 4) return false;
  std::vector<Value*> operands;
  for (Value* operand : {scores->input(0), scores->input(1), node.input(1)}) {
    if (!isRank5(operand) ||
        !std::equal(operand->type.dims.begin(), operand->type.dims.begin() + 3, node.output()->type.dims.begin()))
      return false;
    operands.push_back(joinBatches(rewriter, operand, &node));
    if (!operands.back()) return false;
  }
  Value* product =
      rewriter.add(kMaxDomain, "MatMul", {operands[0], operands[1]}, scores->attributes, {scores})->output();
  Attributes last;
  last.set("axis", int64_t{-1});
  Value* weights = rewriter.add("", "Softmax", {product}, std::move(last), {softmax})->output();
  Node* output = rewriter.add(kMaxDomain, "MatMul", {weights, operands[2]}, node.attributes, {&node});
  Value* result = rewriter.reshape(output->output(), node.output()->type.dims, &node);
  return result && rewriter.replace(node.output(), result);
}

constexpr Rule kRules[] = {{kMaxDomain, "MatMul", attentionOfWindows}, {kMaxDomain, "MatMul", attentionFromSoftmax}};

}  // namespace

void recogniseAttention(Rewriter& rewriter) { applyRules(rewriter, kRules); }

}  // namespace max
