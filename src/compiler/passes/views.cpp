// SPDX-License-Identifier: Apache-2.0
// Views (operators that only change the dimensions of their input): removes those without effect, merges chains, and
// moves views below elementwise operators, where they can cancel.
#include <algorithm>

#include "compiler/passes/rules.h"

namespace max {

namespace {

bool isView(const Node* node) { return node && hasTrait(*node, kTraitView) && !node->is("Identity"); }

// The view in the same graph that produces a value; NULL if none does.
Node* viewProducer(const Value* value) {
  Node* node = localProducer(value);
  return isView(node) ? node : nullptr;
}

bool dropIdentity(Rewriter& rewriter, Node& node) { return rewriter.replace(&node, node.input(0)); }

bool dropDropout(Rewriter& rewriter, Node& node) {
  const bool training = node.input(2) && !isScalar(node.input(2), 0);
  const bool maskUsed = node.output(1) && (!node.output(1)->uses.empty() || node.output(1)->isOutput());
  return !training && !maskUsed && rewriter.replace(&node, node.input(0));
}

bool dropView(Rewriter& rewriter, Node& node) {
  return sameType(node.input(0), node.output()) && rewriter.replace(&node, node.input(0));
}

bool joinViews(Rewriter& rewriter, Node& node) {
  Node* first = viewProducer(node.input(0));
  if (!first || !isRanked(node.output()) || !isRanked(first->input(0))) return false;
  Value* base = first->input(0);
  if (sameDims(base, node.output())) return rewriter.replace(&node, base);
  Value* joined = rewriter.reshape(base, node.output()->type.dims, &node);
  return joined && rewriter.replace(&node, joined);
}

// A Flatten, or a Reshape whose target is computed, becomes a Reshape with a constant target if the symbols allow it.
bool fixTarget(Rewriter& rewriter, Node& node) {
  if (!node.is("Flatten") && (!node.input(1) || node.input(1)->constant)) return false;
  if (!isRanked(node.input(0)) || !isRanked(node.output())) return false;
  Value* fixed = rewriter.reshape(node.input(0), node.output()->type.dims, &node);
  return fixed && rewriter.replace(&node, fixed);
}

// Elementwise operators broadcast implicitly if another operand has the full shape.
bool skipExpand(Rewriter& rewriter, Node& node) {
  Value* expanded = node.output();
  if (sameType(node.input(0), expanded)) return rewriter.replace(&node, node.input(0));
  bool changed = false;
  const auto hasFullOther = [&](const Node& user) {
    return std::any_of(user.inputs.begin(), user.inputs.end(), [&](const Value* other) {
      return other && other != expanded && sameDims(other, user.output());
    });
  };
  // Last use first, since removing that is cheapest; each user is visited once, however often it uses the value.
  const UseList uses = expanded->uses;
  const Node* asked = nullptr;
  bool fullOther = false;
  for (size_t i = uses.size(); i-- > 0;) {
    const Use& use = uses[i];
    const Node& user = *use.node;
    if (user.graph != node.graph || !hasTrait(user, kTraitElementwise)) continue;
    if (asked != &user) fullOther = hasFullOther(user);
    asked = &user;
    if (!fullOther || !isRanked(node.input(0))) continue;
    rewriter.graph().replaceInput(*use.node, static_cast<size_t>(use.index), node.input(0));
    changed = true;
  }
  if (changed && !isLive(node)) rewriter.retire(&node);
  return changed;
}

// Replaces an operand of an elementwise operator when a view of shape `base` -> `view` moves below it.
class Sinking {
 public:
  Sinking(Rewriter& rewriter, const Node& view)
      : rewriter_(rewriter),
        base_(view.input(0)->type.dims),
        view_(view.output()->type.dims),
        unitAxes_(unitViewAxes(base_, view_)) {}

  bool accepts(const Value* operand) const {
    if (!operand) return true;
    const Node* other = viewProducer(operand);
    if (other && isRanked(other->input(0)) && isSameView(other->input(0)->type.dims, operand->type.dims)) return true;
    return operand->constant && constantShape(*operand->constant).has_value();
  }

  Value* map(Value* operand) {
    if (!operand) return nullptr;
    if (!operand->constant) return viewProducer(operand)->input(0);
    const Shape shape = *constantShape(*operand->constant);
    if (shape == operand->constant->shape()) return operand;
    return rewriter_.constant(operand->constant->reshaped(shape));
  }

 private:
  // Whether another operand has an equivalent view; it may have 1 where it broadcasts, if the view only adds or drops
  // dimensions of size 1.
  bool isSameView(const SymbolicShape& base, const SymbolicShape& view) const {
    if (base == base_ && view == view_) return true;
    if (unitAxes_.empty() || base.size() != base_.size() || view.size() != view_.size()) return false;
    size_t units = 0;
    for (size_t i = 0; i < view.size(); ++i) {
      if (unitAxes_[i] < 0 ? !view[i].is(1) : !(base[static_cast<size_t>(unitAxes_[i])] == view[i])) return false;
      units += unitAxes_[i] < 0 ? 0 : 1;
    }
    // Dimensions that the view drops are 1 in both.
    size_t ones = 0;
    for (size_t axis = 0; axis < base.size(); ++axis)
      if (std::find(unitAxes_.begin(), unitAxes_.end(), static_cast<int64_t>(axis)) == unitAxes_.end())
        ones += base[axis].is(1) ? 1 : 0;
    return units + ones == base.size();
  }

  // The shape with which a constant that broadcasts to the view broadcasts to the base in the same way.
  std::optional<Shape> constantShape(const Tensor& tensor) const {
    if (tensor.count() == 1) return tensor.shape().rank() <= static_cast<int>(base_.size()) ? tensor.shape() : Shape();
    const int viewRank = static_cast<int>(view_.size());
    if (tensor.shape().rank() > viewRank) return std::nullopt;
    size_t base = base_.size();
    // From the back: dimensions that both have, and dimensions of size 1 that only one has.
    std::vector<int64_t> reversed;
    int axis = viewRank;
    while (axis > 0 || base > 0) {
      if (axis > 0 && base > 0 && view_[static_cast<size_t>(axis - 1)] == base_[base - 1]) {
        reversed.push_back(dimOf(tensor.shape(), --axis, viewRank));
        --base;
      } else if (base > 0 && base_[base - 1].is(1)) {
        reversed.push_back(1);
        --base;
      } else if (axis > 0 && view_[static_cast<size_t>(axis - 1)].is(1)) {
        --axis;
      } else {
        break;  // regrouped dimensions: the constant must not vary along them
      }
    }
    for (; axis > 0; --axis)
      if (dimOf(tensor.shape(), axis - 1, viewRank) != 1) return std::nullopt;
    while (!reversed.empty() && reversed.back() == 1) reversed.pop_back();
    std::reverse(reversed.begin(), reversed.end());
    return Shape(reversed);
  }

  static int64_t dimOf(const Shape& shape, int axis, int rank) {
    const int index = axis - (rank - shape.rank());
    return index < 0 ? 1 : shape[index];
  }

  Rewriter& rewriter_;
  SymbolicShape base_;
  SymbolicShape view_;
  std::vector<int64_t> unitAxes_;  // of the base, for each of the view; empty if they differ otherwise
};

const Node* sinkingView(const Node& node) {
  for (const Value* input : node.inputs) {
    const Node* view = viewProducer(input);
    if (view && isRanked(view->input(0)) && sameDims(input, node.output())) return view;
  }
  return nullptr;
}

// f(view(x), view(y), constant) -> view(f(x, y, constant'))
bool sinkView(Rewriter& rewriter, Node& node) {
  if (!hasTrait(node, kTraitElementwise) || node.outputs.size() != 1 || !isRanked(node.output())) return false;
  const Node* view = sinkingView(node);
  if (!view || hasTrait(node, kTraitView)) return false;
  Sinking sinking(rewriter, *view);
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), [&](const Value* v) { return sinking.accepts(v); }))
    return false;
  const SymbolicShape dims = node.output()->type.dims;
  std::vector<Value*> inputs;
  for (Value* input : node.inputs) inputs.push_back(sinking.map(input));
  Value* inner = rewriter.add(node.domain(), node.op(), std::move(inputs), node.attributes, {&node})->output();
  std::vector<Value*> viewInputs{inner};
  viewInputs.insert(viewInputs.end(), view->inputs.begin() + 1, view->inputs.end());
  Value* outer = rewriter.add("", view->op(), std::move(viewInputs), view->attributes, {view})->output();
  return outer->type.dims == dims && rewriter.replace(&node, outer);
}

constexpr Rule kRules[] = {
    {"", "Identity", dropIdentity}, {"", "Dropout", dropDropout}, {"", "Reshape", dropView},
    {"", "Squeeze", dropView},      {"", "Unsqueeze", dropView},  {"", "Flatten", dropView},
    {"", "Reshape", fixTarget},     {"", "Flatten", fixTarget},   {"", "Reshape", joinViews},
    {"", "Squeeze", joinViews},     {"", "Unsqueeze", joinViews}, {"", "Flatten", joinViews},
    {"", "Expand", skipExpand},     {"", "", sinkView},
};

}  // namespace

std::span<const Rule> viewRules() { return kRules; }

}  // namespace max
