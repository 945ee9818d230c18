// SPDX-License-Identifier: Apache-2.0
// Recognises normalisations that exporters expand: LayerNormalization and RMSNormalization from means, squares and
// roots, in the forms of PyTorch, TensorFlow and JAX. Those of an image's channels get Transposes around them, which
// cancel those of a convolution beside them.
#include <algorithm>

#include "compiler/passes.h"
#include "graph/readers/normalization.h"
#include "graph/readers/reduction.h"

namespace max {

namespace {

constexpr int64_t kMostOnes = 1 << 20;

struct Statistics {
  Value* x = nullptr;         // the normalised value
  Value* centred = nullptr;   // x - mean(x); x itself for the root mean square
  Value* mean = nullptr;      // NULL for the root mean square
  std::vector<int64_t> axes;  // the last ones of x, unless
  bool isOfChannels = false;  // it is an image
  double epsilon = 0;
  std::vector<const Node*> origins;
};

Node* meanOf(const Value* value) {
  Node* mean = producer(value, "ReduceMean");
  return mean && readers::keepsAxes(mean->attributes) ? mean : nullptr;
}

// v if `value` is v * v.
Value* squareRootOf(const Value* value) {
  Node* mul = producer(value, "Mul");
  return mul && mul->input(0) == mul->input(1) ? mul->input(0) : nullptr;
}

// Trailing dimensions of size 1 count as part of any axes. False if the axes are still not the last ones of `dims`.
bool extendToLastAxes(std::vector<int64_t>& axes, const SymbolicShape& dims) {
  if (axes.empty()) return false;
  const auto rank = static_cast<int64_t>(dims.size());
  while (axes.back() + 1 < rank && dims[static_cast<size_t>(axes.back() + 1)].is(1)) axes.push_back(axes.back() + 1);
  const int64_t first = rank - static_cast<int64_t>(axes.size());
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != first + static_cast<int64_t>(i)) return false;
  return true;
}

// mean((x - mean(x))^2) or mean(x^2)
bool matchMeanOfSquares(Value* variance, Statistics& found) {
  Node* mean = meanOf(variance);
  Value* centred = mean ? squareRootOf(mean->input(0)) : nullptr;
  const auto axes = mean ? reducedAxes(*mean) : std::nullopt;
  if (!centred || !axes) return false;
  found.x = found.centred = centred;
  found.axes = *axes;
  Node* sub = producer(centred, "Sub");
  Node* inner = sub ? meanOf(sub->input(1)) : nullptr;
  if (inner && inner->input(0) == sub->input(0) && reducedAxes(*inner) == axes) {
    found.x = sub->input(0);
    found.mean = inner->output();
    found.origins = {inner, sub};
  }
  found.origins.push_back(mean);
  return true;
}

// mean(x^2) - mean(x)^2, possibly clamped at 0
bool matchDifferenceOfSquares(Value* variance, Statistics& found) {
  if (Node* relu = producer(variance, "Relu")) variance = relu->input(0);
  Node* sub = producer(variance, "Sub");
  Node* meanOfSquares = sub ? meanOf(sub->input(0)) : nullptr;
  Value* x = meanOfSquares ? squareRootOf(meanOfSquares->input(0)) : nullptr;
  Value* mean = sub ? squareRootOf(sub->input(1)) : nullptr;
  Node* meanNode = mean ? meanOf(mean) : nullptr;
  if (!x || !meanNode || meanNode->input(0) != x) return false;
  const auto axes = reducedAxes(*meanOfSquares);
  if (!axes || reducedAxes(*meanNode) != axes) return false;
  found.x = x;
  found.mean = mean;
  found.axes = *axes;
  found.origins = {meanNode, meanOfSquares, sub};
  return true;
}

std::optional<Statistics> matchStatistics(const Node& root) {
  const ScalarOperand epsilon = scalarOperand(producer(root.input(0), "Add"));
  if (!epsilon || epsilon.scalar < 0) return std::nullopt;
  Statistics found;
  found.epsilon = epsilon.scalar;
  if (!matchMeanOfSquares(epsilon.value, found) && !matchDifferenceOfSquares(epsilon.value, found)) return std::nullopt;
  if (!isRanked(found.x)) return std::nullopt;
  if (extendToLastAxes(found.axes, found.x->type.dims)) return found;
  found.isOfChannels = rankOf(found.x) > 2 && found.axes == std::vector<int64_t>{1};
  return found.isOfChannels ? std::optional(found) : std::nullopt;
}

// Whether `value` is the numerator over the root.
bool isNumerator(const Value* value, const Statistics& found) {
  if (value == found.centred) return true;
  const Node* sub = producer(value, "Sub");
  return found.mean && sub && sub->input(0) == found.x && sub->input(1) == found.mean;
}

std::optional<Shape> normalisedShape(const Statistics& found) {
  const SymbolicShape& dims = found.x->type.dims;
  if (found.isOfChannels) return concrete({dims[1]});
  return concrete(SymbolicShape(dims.end() - static_cast<ptrdiff_t>(found.axes.size()), dims.end()));
}

// The constant as a scale or bias of what is normalised; NULL if it varies over other dimensions.
Ref<Tensor> affineTensor(const Value* value, const Statistics& found) {
  if (!value || !value->constant || value->constant->dtype() != found.x->type.dtype) return nullptr;
  const std::optional<Shape> normalised = normalisedShape(found);
  if (!normalised) return nullptr;
  const Shape &given = value->constant->shape(), &shape = *normalised;
  const int behind = found.isOfChannels ? rankOf(found.x) - 2 : 0;  // dimensions of 1
  if (value->constant->count() != shape.count() || given.rank() < shape.rank() + behind) return nullptr;
  for (int i = 1; i <= shape.rank(); ++i)
    if (given[given.rank() - behind - i] != shape[shape.rank() - i]) return nullptr;
  return given == shape ? value->constant : value->constant->reshaped(shape);
}

// A normalised value, followed through scale and bias.
struct Normalised {
  Value* value = nullptr;
  Ref<Tensor> scale;
  Ref<Tensor> bias;
  std::vector<const Node*> origins;
};

void takeScale(Normalised& result, const Statistics& found) {
  Node* user = singleUser(result.value);
  if (result.scale || !user || !user->is("Mul")) return;
  result.scale = affineTensor(otherOperand(*user, result.value), found);
  if (!result.scale) return;
  result.value = user->output();
  result.origins.push_back(user);
}

void takeBias(Normalised& result, const Statistics& found) {
  Node* user = singleUser(result.value);
  if (!user || !user->is("Add")) return;
  result.bias = affineTensor(otherOperand(*user, result.value), found);
  if (!result.bias) return;
  result.value = user->output();
  result.origins.push_back(user);
}

// Ones, for a normalisation without scale.
Ref<Tensor> ones(Rewriter& rewriter, const Shape& shape, DType dtype) {
  const Value* one = rewriter.scalar(dtype, 1);
  Ref<Tensor> tensor = Tensor::allocate(dtype, shape);
  const auto* source = static_cast<const std::byte*>(one->constant->data());
  auto* target = static_cast<std::byte*>(tensor->mutableData());
  for (size_t i = 0; i < tensor->bytes(); ++i) target[i] = source[i % one->constant->bytes()];
  return tensor;
}

// Elsewhere the Transposes might stay.
bool isBesideConv(const Value& x, const Value& result) {
  const auto isConv = [](const Use& use) { return use.node->is("Conv") && use.index == 0; };
  return producer(&x, "Conv") || std::any_of(result.uses.begin(), result.uses.end(), isConv);
}

std::vector<int64_t> channelsLast(int rank) {
  std::vector<int64_t> order{0};
  for (int64_t axis = 2; axis < rank; ++axis) order.push_back(axis);
  order.push_back(1);
  return order;
}

bool emit(Rewriter& rewriter, const Statistics& found, Normalised result) {
  const auto shape = normalisedShape(found);
  const DType dtype = found.x->type.dtype;
  if (!shape || !sameType(result.value, found.x)) return false;
  takeScale(result, found);
  if (found.mean) takeBias(result, found);
  if (!sameType(result.value, found.x)) return false;
  if (found.isOfChannels && !isBesideConv(*found.x, *result.value)) return false;
  // The shape of an input may be any size: limit the number of ones.
  if (!result.scale && shape->count() > kMostOnes) return false;
  if (!result.scale) result.scale = ones(rewriter, *shape, dtype);
  Attributes attributes;
  attributes.set("axis", -static_cast<int64_t>(found.axes.size()));
  attributes.set("epsilon", static_cast<float>(found.epsilon));
  std::vector<Value*> inputs{found.x, rewriter.constant(result.scale)};
  if (found.isOfChannels) inputs[0] = rewriter.transpose(found.x, channelsLast(rankOf(found.x)), found.origins.front());
  if (result.bias) inputs.push_back(rewriter.constant(result.bias));
  std::vector<const Node*> origins = found.origins;
  origins.insert(origins.end(), result.origins.begin(), result.origins.end());
  const std::string_view op = found.mean ? "LayerNormalization" : "RMSNormalization";
  Node* norm = rewriter.add("", op, std::move(inputs), std::move(attributes), origins);
  Value* made = norm->output();
  if (found.isOfChannels) made = rewriter.transpose(made, inverse(channelsLast(rankOf(found.x))), norm);
  return rewriter.replace(result.value, made);
}

// numerator * reciprocal, or numerator * (reciprocal * scale)
bool matchProduct(Rewriter& rewriter, const Statistics& found, Value* reciprocal, const Ref<Tensor>& scale) {
  const UseList uses = reciprocal->uses;
  for (const Use& use : uses) {
    if (use.node->graph != reciprocal->graph || !use.node->is("Mul")) continue;
    Value* other = otherOperand(*use.node, reciprocal);
    if (isNumerator(other, found) && emit(rewriter, found, {use.node->output(), scale, nullptr, {use.node}}))
      return true;
    if (scale) continue;
    const Ref<Tensor> inner = affineTensor(other, found);
    if (inner && matchProduct(rewriter, found, use.node->output(), inner)) return true;
  }
  return false;
}

bool normFromRoot(Rewriter& rewriter, Node& root) {
  const auto found = matchStatistics(root);
  if (!found || !isFloat(found->x->type.dtype)) return false;
  const UseList uses = root.output()->uses;
  for (const Use& use : uses) {
    Node* user = use.node;
    if (user->graph != root.graph) continue;
    if (user->is("Div") && use.index == 1 && isNumerator(user->input(0), *found) &&
        emit(rewriter, *found, {user->output(), nullptr, nullptr, {user}}))
      return true;
    if (user->is("Reciprocal") && matchProduct(rewriter, *found, user->output(), nullptr)) return true;
    if (user->is("Div") && use.index == 1 && isScalar(user->input(0), 1) &&
        matchProduct(rewriter, *found, user->output(), nullptr))
      return true;
  }
  return false;
}

bool isUnread(const Value* value) { return !value || (value->uses.empty() && !value->isOutput()); }

// BatchNormalization by the statistics of its input, which is one sample: so weights are normalised.
bool instanceFromBatch(Rewriter& rewriter, Node& node) {
  const readers::BatchNorm reader(node.attributes);
  const Value *x = node.input(0), *scale = node.input(1), *bias = node.input(2);
  if (!reader.isTraining || !x->type.ranked || rankOf(x) < 3 || !x->type.dims[0].is(1)) return false;
  if (scale->type.dtype != x->type.dtype || bias->type.dtype != x->type.dtype) return false;
  if (!std::all_of(node.outputs.begin() + 1, node.outputs.end(), isUnread)) return false;
  Attributes attributes;
  attributes.set("epsilon", reader.epsilon);
  Node* instance = rewriter.add("", "InstanceNormalization", {node.input(0), node.input(1), node.input(2)},
                                std::move(attributes), {&node});
  return sameType(instance->output(), node.output()) && rewriter.replace(node.output(), instance->output());
}

// What `value` is at least, if that is a number that its producer limits it to.
std::optional<double> lowerLimit(const Value* value) {
  if (const Node* clip = producer(value, "Clip")) return clip->input(2) ? std::nullopt : scalarOf(clip->input(1));
  const ScalarOperand limited = scalarOperand(producer(value, "Max"));
  return limited ? std::optional(limited.scalar) : std::nullopt;
}

// x / max(norm(x), epsilon): a row has one divisor, whose reciprocal takes less time than as many divisions. It is a
// normal number, or nearly, as the divisor is not tiny.
bool divideRowsOnce(Rewriter& rewriter, Node& node) {
  constexpr double kLeastDivisor = 1e-30;
  Value *x = node.input(0), *divisor = node.input(1);
  if (!isRanked(x) || !isRanked(divisor) || x->type.dtype != DType::Float32 || !sameType(x, node.output()))
    return false;
  const std::optional<double> limit = lowerLimit(divisor);
  if (!limit || !(*limit >= kLeastDivisor)) return false;
  const SymbolicShape &dims = x->type.dims, &some = divisor->type.dims;
  const auto isRepeated = [&](size_t i) { return some[i].is(1) && !dims[dims.size() - some.size() + i].is(1); };
  bool repeats = false;
  for (size_t i = 0; i < some.size(); ++i) repeats = repeats || isRepeated(i);
  if (!repeats) return false;
  Node* reciprocal = rewriter.add("", "Reciprocal", {divisor}, {}, {&node});
  Node* product = rewriter.add("", "Mul", {x, reciprocal->output()}, {}, {&node});
  return rewriter.replace(&node, product->output());
}

constexpr Rule kRules[] = {{"", "Sqrt", normFromRoot}, {"", "Div", divideRowsOnce}};
constexpr Rule kFirstRules[] = {{"", "BatchNormalization", instanceFromBatch}};

}  // namespace

void recogniseNorms(Rewriter& rewriter) { applyRules(rewriter, kRules); }
void recogniseInstanceNorms(Rewriter& rewriter) { applyRules(rewriter, kFirstRules); }

}  // namespace max
