// SPDX-License-Identifier: Apache-2.0
// Moves Transposes down the graph, below operators that also work on permuted axes, until they meet their inverse or an
// operator that needs the order.
#include <algorithm>
#include <cstring>

#include "compiler/passes.h"
#include "compiler/passes/rules.h"
#include "graph/readers/matrix.h"
#include "graph/readers/normalization.h"
#include "graph/readers/reduction.h"
#include "graph/readers/resize.h"

namespace max {

namespace {

using Perm = std::vector<int64_t>;

constexpr size_t kLargestMovedConstant = size_t{1} << 20;

// The input of the Transpose that produces a value.
struct Below {
  Value* value = nullptr;
  Perm perm;
  explicit operator bool() const { return value != nullptr; }
};

Below below(const Value* value) {
  Node* transpose = producer(value, "Transpose");
  if (!transpose || !isRanked(transpose->input(0))) return {};
  Perm perm = permOf(*transpose);
  return perm.empty() ? Below() : Below{transpose->input(0), std::move(perm)};
}

Ref<Tensor> transposed(const Tensor& tensor, const Perm& perm) {
  const int rank = tensor.shape().rank();
  Shape shape;
  for (int64_t axis : perm) shape.push(tensor.shape()[static_cast<int>(axis)]);
  Ref<Tensor> result = Tensor::allocate(tensor.dtype(), shape);
  const Shape strides = contiguousStrides(tensor.shape());
  const size_t size = sizeOf(tensor.dtype());
  const auto* source = static_cast<const std::byte*>(tensor.data());
  auto* target = static_cast<std::byte*>(result->mutableData());
  Shape index = Shape::filled(rank, 0);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    int64_t offset = 0;
    for (int d = 0; d < rank; ++d) offset += index[d] * strides[static_cast<int>(perm[static_cast<size_t>(d)])];
    std::memcpy(target + static_cast<size_t>(i) * size, source + static_cast<size_t>(offset) * size, size);
    for (int d = rank - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
  }
  return result;
}

// The constant whose Transpose by `perm` is `value`, its rank padded with ones; NULL if it is too large to move.
Ref<Tensor> constantBelow(const Value* value, const Perm& perm) {
  const Tensor& tensor = *value->constant;
  const int rank = static_cast<int>(perm.size());
  if (tensor.count() == 1 && tensor.shape().rank() <= rank) return value->constant;
  if (tensor.shape().rank() > rank || tensor.bytes() > kLargestMovedConstant || holdsPointers(tensor.dtype()) ||
      isPacked(tensor.dtype()))
    return nullptr;
  Shape full = Shape::filled(rank, 1);
  for (int i = 1; i <= tensor.shape().rank(); ++i) full[rank - i] = tensor.shape()[tensor.shape().rank() - i];
  return transposed(*tensor.reshaped(full), inverse(perm));
}

bool allOnes(const Value* value) {
  return isRanked(value) &&
         std::all_of(value->type.dims.begin(), value->type.dims.end(), [](const Dim& dim) { return dim.is(1); });
}

// The value whose Transpose by `perm` is `value`, if that is free: only dimensions of size 1 move.
Value* viewBelow(Rewriter& rewriter, Value* value, const Perm& perm, const Node* origin) {
  if (!isRanked(value) || value->type.dims.size() != perm.size()) return nullptr;
  const SymbolicShape& dims = value->type.dims;
  SymbolicShape moved;
  int64_t last = -1;
  for (int64_t axis : inverse(perm)) {
    moved.push_back(dims[static_cast<size_t>(axis)]);
    if (dims[static_cast<size_t>(axis)].is(1)) continue;
    if (axis < last) return nullptr;
    last = axis;
  }
  return rewriter.reshape(value, moved, origin);
}

// The operand of an elementwise operator below Transposes by `perm`; NULL if it has none.
Value* operandBelow(Rewriter& rewriter, Value* operand, const Perm& perm, const Node& node) {
  if (const Below found = below(operand)) return found.perm == perm ? found.value : nullptr;
  if (operand->constant) {
    const Ref<Tensor> tensor = constantBelow(operand, perm);
    if (!tensor) return nullptr;
    return tensor == operand->constant ? operand : rewriter.constant(tensor);
  }
  if (allOnes(operand) && operand->type.dims.size() <= perm.size()) return operand;
  return viewBelow(rewriter, operand, perm, &node);
}

// The permutation of the Transposes of full-rank operands.
Perm commonPerm(const Node& node) {
  for (const Value* input : node.inputs)
    if (const Below found = below(input); found && isRanked(node.output()) && sameRank(input, node.output()))
      return found.perm;
  return {};
}

bool replaceAbove(Rewriter& rewriter, Node& node, Value* value, const Perm& perm) {
  Value* result = rewriter.transpose(value, perm, &node);
  return rewriter.replace(node.output(), result);
}

bool sinkElementwise(Rewriter& rewriter, Node& node) {
  if (!hasTrait(node, kTraitElementwise) || node.outputs.size() != 1) return false;
  const Perm perm = commonPerm(node);
  if (perm.empty()) return false;
  std::vector<Value*> inputs;
  for (Value* input : node.inputs) {
    Value* operand = input ? operandBelow(rewriter, input, perm, node) : nullptr;
    if (input && !operand) return false;
    inputs.push_back(operand);
  }
  Node* moved = rewriter.add(node.domain(), node.op(), std::move(inputs), node.attributes, {&node});
  return replaceAbove(rewriter, node, moved->output(), perm);
}

// QuantizeLinear, DequantizeLinear with one scale, and DynamicQuantizeLinear, which has no other input.
bool sinkQuantization(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  const auto isOne = [](const Value* input) { return !input || allOnes(input); };
  if (!found || !std::all_of(node.inputs.begin() + 1, node.inputs.end(), isOne)) return false;
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = found.value;
  Attributes attributes = node.attributes;
  attributes.erase("axis");
  attributes.erase("block_size");
  const std::vector<Value*> outputs = node.outputs;
  Node* moved = rewriter.add("", node.op(), std::move(inputs), std::move(attributes), {&node}, outputs.size());
  for (size_t i = 1; i < outputs.size(); ++i)
    if (outputs[i] && !rewriter.canReplace(outputs[i], moved->outputs[i])) return false;
  if (!outputs[0] || !rewriter.replace(outputs[0], rewriter.transpose(moved->outputs[0], found.perm, &node)))
    return false;
  for (size_t i = 1; i < outputs.size(); ++i)
    if (outputs[i]) rewriter.replace(outputs[i], moved->outputs[i]);
  return true;
}

bool sinkTable(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  if (!found) return false;
  Node* moved = rewriter.add(kMaxDomain, "MapBytes", {found.value, node.inputs[1]}, {}, {&node});
  return replaceAbove(rewriter, node, moved->output(), found.perm);
}

bool sinkConcat(Rewriter& rewriter, Node& node) {
  const Perm perm = commonPerm(node);
  if (perm.empty()) return false;
  std::vector<Value*> inputs;
  for (Value* input : node.inputs) {
    const Below found = below(input);
    if (!found && !input->constant) return false;
    Value* operand = operandBelow(rewriter, input, perm, node);
    if (!operand || operand->type.dims.size() != perm.size()) return false;
    inputs.push_back(operand);
  }
  const int64_t axis = readers::readAxis(node.attributes, 0, static_cast<int>(perm.size()));
  Attributes attributes = node.attributes;
  attributes.set("axis", perm[static_cast<size_t>(axis)]);
  Node* moved = rewriter.add("", "Concat", std::move(inputs), std::move(attributes), {&node});
  return replaceAbove(rewriter, node, moved->output(), perm);
}

// Operators with an attribute `axis` over input 0: Split, Softmax, LogSoftmax, CumSum.
bool sinkAxisAttribute(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  if (!found) return false;
  const int64_t fallback = node.is("Split") ? 0 : -1;
  const int64_t axis = readers::readAxis(node.attributes, fallback, static_cast<int>(found.perm.size()));
  const int64_t mapped = found.perm[static_cast<size_t>(axis)], last = static_cast<int64_t>(found.perm.size()) - 1;
  // Softmax is fastest along the last axis.
  if (!node.is("Split") && axis == last && mapped != last) return false;
  Attributes attributes = node.attributes;
  attributes.set("axis", mapped);
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = found.value;
  Node* moved = rewriter.add("", node.op(), std::move(inputs), std::move(attributes), {&node}, node.outputs.size());
  const std::vector<Value*> outputs = node.outputs;
  bool replaced = false;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i]) replaced |= rewriter.replace(outputs[i], rewriter.transpose(moved->outputs[i], found.perm, &node));
  return replaced;
}

std::vector<int64_t> mapAxes(const std::vector<int64_t>& axes, const Perm& perm) {
  std::vector<int64_t> mapped;
  for (int64_t axis : axes) {
    const int64_t positive = normaliseAxis(axis, static_cast<int>(perm.size()));
    if (positive < 0 || positive >= static_cast<int64_t>(perm.size())) return {};
    mapped.push_back(perm[static_cast<size_t>(positive)]);
  }
  return mapped;
}

// The remaining permutation when some of its result axes are removed.
Perm withoutAxes(const Perm& perm, std::vector<int64_t> axes) {
  Perm result;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end()) continue;
    int64_t source = perm[i];
    for (int64_t axis : axes) source -= perm[static_cast<size_t>(axis)] < perm[i] ? 1 : 0;
    result.push_back(source);
  }
  return result;
}

bool sinkReduce(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  const auto axes = found ? reducedAxes(node) : std::nullopt;
  if (!axes || axes->empty() || !readers::keepsAxes(node.attributes)) return false;
  std::vector<int64_t> mapped = mapAxes(*axes, found.perm);
  std::sort(mapped.begin(), mapped.end());
  Node* moved = rewriter.add("", node.op(), {found.value, rewriter.constant(mapped)}, node.attributes, {&node});
  return replaceAbove(rewriter, node, moved->output(), found.perm);
}

// (x - its mean) * scale / deviation + bias, along some axes; no bias if it is NULL.
Value* normalised(Rewriter& rewriter, const Node& node, Value* x, const std::vector<int64_t>& axes, Value* scale,
                  float epsilon, Value* bias) {
  const auto add = [&](std::string_view op, std::vector<Value*> inputs) {
    return rewriter.add("", op, std::move(inputs), {}, {&node})->output();
  };
  const auto meanOf = [&](Value* value) { return add("ReduceMean", {value, rewriter.constant(axes)}); };
  Value* difference = add("Sub", {x, meanOf(x)});
  Value* variance = meanOf(add("Mul", {difference, difference}));
  Value* added = rewriter.scalar(DType::Float32, static_cast<double>(epsilon));
  Value* factor = add("Div", {scale, add("Sqrt", {add("Add", {variance, added})})});
  Value* product = add("Mul", {difference, factor});
  return bias ? add("Add", {product, bias}) : product;
}

// Instance normalisation of channels last: its own kernels want those of a channel together, and two Transposes.
bool sinkInstanceNormalization(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  const auto rank = static_cast<int64_t>(found.perm.size());
  if (!found || node.output()->type.dtype != DType::Float32 || rank < 3 || rewriter.options().accelerator) return false;
  if (found.perm[0] != 0 || found.perm[1] != rank - 1) return false;
  std::vector<int64_t> axes;
  for (int64_t axis = 1; axis + 1 < rank; ++axis) axes.push_back(axis);
  Value* result = normalised(rewriter, node, found.value, axes, node.input(1), readers::readEpsilon(node.attributes),
                             node.input(2));
  return replaceAbove(rewriter, node, result, found.perm);
}

// Layer normalisation of a whole signal or image, without scale and bias of its elements: its kernel takes rows, of
// which that is a single one, and two Transposes.
bool sinkLayerNormalization(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  const auto rank = static_cast<int64_t>(found.perm.size());
  const auto isRead = [](const Value* output) { return output && (!output->uses.empty() || output->isOutput()); };
  if (!found || node.output()->type.dtype != DType::Float32 || rewriter.options().accelerator) return false;
  if (std::any_of(node.outputs.begin() + 1, node.outputs.end(), isRead) || node.input(2)) return false;
  const readers::LayerNorm reader(node.attributes, static_cast<int>(rank));
  const Ref<Tensor>& scale = node.input(1)->constant;
  if (rank - reader.axis < 2 || !scale || scale->count() < 2) return false;
  if (elementOf(*scale, 0) != 1 || !isUniform(rewriter, *scale)) return false;
  std::vector<int64_t> axes;
  for (int64_t axis = reader.axis; axis < rank; ++axis) axes.push_back(found.perm[static_cast<size_t>(axis)]);
  std::sort(axes.begin(), axes.end());
  Value* result =
      normalised(rewriter, node, found.value, axes, rewriter.scalar(DType::Float32, 1), reader.epsilon, nullptr);
  return replaceAbove(rewriter, node, result, found.perm);
}

bool sinkSqueeze(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  auto axes = found ? integersOf(node.input(1)) : std::nullopt;
  if (!axes || axes->empty()) return false;
  for (int64_t& axis : *axes) axis = normaliseAxis(axis, static_cast<int>(found.perm.size()));
  const std::vector<int64_t> mapped = mapAxes(*axes, found.perm);
  if (mapped.empty()) return false;
  Node* moved = rewriter.add("", "Squeeze", {found.value, rewriter.constant(mapped)}, {}, {&node});
  return replaceAbove(rewriter, node, moved->output(), withoutAxes(found.perm, *axes));
}

// Gather of one position drops an axis, as Squeeze does.
bool sinkGather(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  if (!found || !isRanked(node.input(1)) || rankOf(node.input(1)) != 0) return false;
  const int64_t axis = readers::readAxis(node.attributes, 0, static_cast<int>(found.perm.size()));
  Attributes attributes;
  attributes.set("axis", found.perm[static_cast<size_t>(axis)]);
  Node* moved = rewriter.add("", "Gather", {found.value, node.input(1)}, std::move(attributes), {&node});
  return replaceAbove(rewriter, node, moved->output(), withoutAxes(found.perm, {axis}));
}

// Slice and Pad: axes are the fourth input; all axes if it is missing.
bool sinkWithAxes(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  if (!found) return false;
  std::vector<int64_t> axes;
  if (node.input(3)) {
    const auto given = integersOf(node.input(3));
    if (!given) return false;
    axes = *given;
  } else {
    const auto starts = node.input(1) && isRanked(node.input(1)) ? concrete(node.input(1)->type.dims) : std::nullopt;
    if (!starts || starts->rank() != 1) return false;
    const int64_t count = node.is("Pad") ? (*starts)[0] / 2 : (*starts)[0];
    for (int64_t axis = 0; axis < count; ++axis) axes.push_back(axis);
  }
  const std::vector<int64_t> mapped = mapAxes(axes, found.perm);
  if (mapped.empty()) return false;
  std::vector<Value*> inputs = node.inputs;
  if (inputs.size() < 4) inputs.resize(4, nullptr);
  inputs[0] = found.value;
  inputs[3] = rewriter.constant(mapped);
  Node* moved = rewriter.add("", node.op(), std::move(inputs), node.attributes, {&node});
  return replaceAbove(rewriter, node, moved->output(), found.perm);
}

// Of a Resize: a region of interest, which has numbers for all axes.
bool hasRegion(const Node& resize) {
  const Value* region = resize.input(1);
  return region && !(region->constant && region->constant->count() == 0);
}

bool sinkResize(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  if (!found || hasRegion(node)) return false;
  const std::vector<int> resized = readers::Resize(node.attributes, static_cast<int>(found.perm.size())).axes;
  const std::vector<int64_t> axes(resized.begin(), resized.end());
  const std::vector<int64_t> mapped = mapAxes(axes, found.perm);
  if (mapped.empty()) return false;
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = found.value;
  Attributes attributes = node.attributes;
  attributes.set("axes", mapped);
  Node* moved = rewriter.add("", "Resize", std::move(inputs), std::move(attributes), {&node});
  return replaceAbove(rewriter, node, moved->output(), found.perm);
}

// A Transpose of what a Resize makes larger moves back above it, where it has less work.
bool raiseAboveResize(Rewriter& rewriter, Node& node) {
  Node* resize = producer(node.input(0), "Resize");
  if (!resize || hasRegion(*resize) || !hasSingleUse(node.input(0)) || !isRanked(resize->input(0))) return false;
  const auto from = concrete(resize->input(0)->type.dims), to = concrete(resize->output()->type.dims);
  const Perm perm = permOf(node);
  if (!from || !to || perm.empty() || to->count() <= from->count()) return false;
  const std::vector<int> resized = readers::Resize(resize->attributes, from->rank()).axes;
  const std::vector<int64_t> mapped = mapAxes(std::vector<int64_t>(resized.begin(), resized.end()), inverse(perm));
  std::vector<Value*> inputs = resize->inputs;
  inputs[0] = rewriter.transpose(inputs[0], perm, &node);
  Attributes attributes = resize->attributes;
  attributes.set("axes", mapped);
  return rewriter.replace(&node,
                          rewriter.add("", "Resize", std::move(inputs), std::move(attributes), {resize})->output());
}

// A Transpose of what a DequantizeLinear with one scale makes, maybe after elementwise operators with numbers, moves
// back above it: bytes are less to move.
bool raiseAboveDequantize(Rewriter& rewriter, Node& node) {
  const auto isNumber = [](const Value* input) { return !input || (input->constant && input->constant->count() == 1); };
  const Perm perm = permOf(node);
  std::vector<Node*> chain;
  for (const Value* value = node.input(0); hasSingleUse(value);) {
    Node* maker = localProducer(value);
    const bool isEnd = producer(value, "DequantizeLinear") != nullptr;
    if (!maker || !(isEnd || hasTrait(*maker, kTraitElementwise)) || maker->outputs.size() != 1) return false;
    if (!std::all_of(maker->inputs.begin() + 1, maker->inputs.end(), isNumber)) return false;
    chain.push_back(maker);
    value = maker->input(0);
    if (isEnd) break;
  }
  const bool endsWell = !chain.empty() && chain.back()->is("DequantizeLinear");
  if (perm.empty() || !endsWell || !sameRank(chain.back()->input(0), node.output())) return false;
  Value* result = rewriter.transpose(chain.back()->input(0), perm, &node);
  for (auto maker = chain.rbegin(); maker != chain.rend(); ++maker) {
    std::vector<Value*> inputs = (*maker)->inputs;
    inputs[0] = result;
    result =
        rewriter.add((*maker)->domain(), (*maker)->op(), std::move(inputs), (*maker)->attributes, {*maker})->output();
  }
  return sameType(result, node.output()) && rewriter.replace(&node, result);
}

// Consecutive axes that a Reshape joins or splits: [first, last) of both shapes.
struct AxisGroup {
  size_t fromFirst, fromLast, toFirst, toLast;
};

bool isProduct(const SymbolicShape& dims, size_t first, size_t last, const Dim& whole) {
  return product(dims, first, last) == whole;
}

// How many dimensions from `first` multiply to `whole`; 0 if none do.
size_t countFactors(const SymbolicShape& dims, size_t first, const Dim& whole) {
  for (size_t last = first + 1; last <= dims.size(); ++last)
    if (isProduct(dims, first, last, whole)) return last - first;
  return 0;
}

// Splits two shapes of the same elements into groups, one dimension of one for some of the other; empty if impossible.
std::vector<AxisGroup> axisGroups(const SymbolicShape& from, const SymbolicShape& to) {
  std::vector<AxisGroup> groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    const size_t joined = countFactors(from, i, to[j]);
    const size_t split = joined ? 1 : countFactors(to, j, from[i]);
    if (split == 0) return {};
    const size_t count = std::max<size_t>(joined, 1);
    groups.push_back({i, i + count, j, j + split});
    i += count;
    j += split;
  }
  return i == from.size() && j == to.size() ? groups : std::vector<AxisGroup>();
}

// The axes of the group are also adjacent and in order before the Transpose.
bool staysTogether(const AxisGroup& group, const Perm& perm) {
  for (size_t axis = group.fromFirst + 1; axis < group.fromLast; ++axis)
    if (perm[axis] != perm[axis - 1] + 1) return false;
  return true;
}

// Reshape(Transpose(x)) -> Transpose(Reshape(x)), where the Reshape joins axes that are also adjacent in x.
bool sinkReshape(Rewriter& rewriter, Node& node) {
  const Below found = below(node.input(0));
  if (!found || !isRanked(node.output())) return false;
  const SymbolicShape& to = node.output()->type.dims;
  const std::vector<AxisGroup> groups = axisGroups(node.input(0)->type.dims, to);
  if (groups.empty() || to.size() > static_cast<size_t>(kMaxRank)) return false;
  for (const AxisGroup& group : groups)
    if (!staysTogether(group, found.perm)) return false;
  std::vector<size_t> order(groups.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return found.perm[groups[a].fromFirst] < found.perm[groups[b].fromFirst]; });
  SymbolicShape dims;
  Perm perm(to.size());
  for (size_t index : order)
    for (size_t axis = groups[index].toFirst; axis < groups[index].toLast; ++axis) {
      perm[axis] = static_cast<int64_t>(dims.size());
      dims.push_back(to[axis]);
    }
  Value* view = rewriter.reshape(found.value, dims, &node);
  return view && replaceAbove(rewriter, node, view, perm);
}

constexpr size_t kLargestMovedWeights = size_t{64} << 20;

// The weights of a product whose left operand loses the permutation of the axes that its last dimension joins.
// `perm` is that of those axes, `dims` their sizes as the weights' rows have them.
Ref<Tensor> permuteRows(const Tensor& weights, const Perm& perm, const Shape& dims, bool transB) {
  Shape shape = transB ? Shape{weights.shape()[0]} : dims;
  if (transB)
    for (int64_t dim : dims) shape.push(dim);
  else
    shape.push(weights.shape()[1]);
  const int64_t offset = transB ? 1 : 0;
  Perm full;
  if (transB) full.push_back(0);
  for (int64_t axis : inverse(perm)) full.push_back(axis + offset);
  if (!transB) full.push_back(static_cast<int64_t>(perm.size()));
  return transposed(*weights.reshaped(shape), full)->reshaped(weights.shape());
}

// Reshape(Transpose(x)) W -> Reshape(x) W', where the Reshape joins all axes that the Transpose moves ("Flatten").
bool absorbIntoWeights(Rewriter& rewriter, Node& node) {
  const Value* weights = node.input(1);
  Node* view = node.input(0)->producer;
  const Below found = view && view->is("Reshape") && view->graph == node.graph ? below(view->input(0)) : Below();
  if (!found || !weights->constant || readers::Product(node.attributes).transposesA || !isRanked(view->output()))
    return false;
  if (weights->constant->shape().rank() != 2 || weights->constant->bytes() > kLargestMovedWeights) return false;
  const std::vector<AxisGroup> groups = axisGroups(view->input(0)->type.dims, view->output()->type.dims);
  if (groups.empty() || groups.back().toLast != groups.back().toFirst + 1) return false;
  const size_t first = groups.back().fromFirst;
  Perm inner;
  for (size_t axis = 0; axis < found.perm.size(); ++axis) {
    if (axis < first && found.perm[axis] != static_cast<int64_t>(axis)) return false;
    if (axis >= first) inner.push_back(found.perm[axis] - static_cast<int64_t>(first));
  }
  const SymbolicShape& dims = view->input(0)->type.dims;
  const auto sizes = concrete(SymbolicShape(dims.begin() + static_cast<ptrdiff_t>(first), dims.end()));
  Value* flat = sizes ? rewriter.reshape(found.value, view->output()->type.dims, view) : nullptr;
  if (!flat) return false;
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = flat;
  inputs[1] =
      rewriter.constant(permuteRows(*weights->constant, inner, *sizes, readers::Product(node.attributes).transposesB));
  Node* product = rewriter.add(kMaxDomain, "MatMul", std::move(inputs), node.attributes, {&node});
  return rewriter.replace(&node, product->output());
}

// A left factor that was transposed before its own Transpose arrived.
bool transposeBack(Rewriter& rewriter, Node& node) {
  return readers::Product(node.attributes).transposesA && absorbTranspose(rewriter, node);
}

constexpr Rule kSinkRules[] = {
    {"", "", sinkElementwise},
    {"", "QuantizeLinear", sinkQuantization},
    {"", "DequantizeLinear", sinkQuantization},
    {"", "DynamicQuantizeLinear", sinkQuantization},
    {kMaxDomain, "MapBytes", sinkTable},
    {"", "Concat", sinkConcat},
    {"", "Split", sinkAxisAttribute},
    {"", "Softmax", sinkAxisAttribute},
    {"", "LogSoftmax", sinkAxisAttribute},
    {"", "ReduceSum", sinkReduce},
    {"", "ReduceMean", sinkReduce},
    {"", "ReduceMax", sinkReduce},
    {"", "ReduceMin", sinkReduce},
    {"", "ReduceL2", sinkReduce},
    {"", "ReduceSumSquare", sinkReduce},
    {"", "InstanceNormalization", sinkInstanceNormalization},
    {"", "LayerNormalization", sinkLayerNormalization},
    {"", "Squeeze", sinkSqueeze},
    {"", "Gather", sinkGather},
    {"", "Slice", sinkWithAxes},
    {"", "Pad", sinkWithAxes},
    {"", "Resize", sinkResize},
    {"", "Reshape", sinkReshape},
    {kMaxDomain, "MatMul", absorbIntoWeights},
    {kMaxDomain, "MatMul", transposeBack},
};

constexpr Rule kRaiseRules[] = {{"", "Transpose", raiseAboveResize}, {"", "Transpose", raiseAboveDequantize}};

}  // namespace

void moveTransposes(Rewriter& rewriter) {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all(movementRules().begin(), movementRules().end());
    all.insert(all.end(), std::begin(kSinkRules), std::end(kSinkRules));
    return all;
  }();
  // A Transpose moves down at least one operator per round, usually many.
  applyRules(rewriter, rules, 64);
  applyRules(rewriter, kRaiseRules, 1);
}

}  // namespace max
