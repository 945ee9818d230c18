// SPDX-License-Identifier: Apache-2.0
// Optimisers of ai.onnx.preview.training: one training step for any number of tensors.
#include "graph/composites/tables.h"

namespace max {

namespace {

// Inputs are the rate, the step number, and lists of equal length: values, gradients, states.
class Step {
 public:
  Step(Expansion& expansion, size_t lists) : e_(expansion) {
    const size_t tensors = e_.inputCount() - 2;
    if (e_.inputCount() < 2 + lists || tensors % lists) e_.invalid("has ", tensors, " tensors for ", lists, " lists");
    count_ = tensors / lists;
    const size_t made = count_ * (lists - 1);
    if (e_.outputCount() != made) e_.invalid("has ", e_.outputCount(), " outputs, needs ", made);
  }

  size_t count() const { return count_; }
  Value* tensor(size_t list, size_t i) const { return e_.input(2 + list * count_ + i); }
  void setOutput(size_t list, size_t i, Value* value) { e_.setOutput(list * count_ + i, value); }
  // The gradient plus regularisation.
  Value* gradient(size_t i) {
    Value* x = tensor(0, i);
    return e_.add(e_.mul(e_.like(x, attribute("norm_coefficient", 0)), x), tensor(1, i));
  }
  Value* rate(size_t i) { return e_.cast(e_.input(0), e_.dtypeOf(tensor(0, i))); }
  Value* number(size_t i) { return e_.cast(e_.input(1), e_.dtypeOf(tensor(0, i))); }
  Value* isLater() { return e_.op("Greater", {e_.input(1), e_.scalar(DType::Int64, 0)}); }
  Value* mixed(double a, Value* x, double b, Value* y) {
    return e_.add(e_.mul(e_.like(x, a), x), e_.mul(e_.like(y, b), y));
  }
  double attribute(std::string_view name, float fallback) const {
    return static_cast<double>(e_.number(name, fallback));
  }

 private:
  Expansion& e_;
  size_t count_ = 0;
};

void expandAdagrad(Expansion& e) {
  Step step(e, 3);
  for (size_t i = 0; i < step.count(); ++i) {
    Value* x = step.tensor(0, i);
    Value* decay = e.mul(step.number(i), e.like(x, step.attribute("decay_factor", 0)));
    Value* rate = e.div(step.rate(i), e.add(decay, e.like(x, 1)));
    Value* gradient = step.gradient(i);
    Value* squares = e.add(step.tensor(2, i), e.mul(gradient, gradient));
    Value* size = e.add(e.op("Sqrt", {squares}), e.like(x, step.attribute("epsilon", 1e-6f)));
    step.setOutput(0, i, e.sub(x, e.div(e.mul(rate, gradient), size)));
    step.setOutput(1, i, squares);
  }
}

void expandAdam(Expansion& e) {
  Step step(e, 4);
  const double alpha = step.attribute("alpha", 0.9f), beta = step.attribute("beta", 0.999f);
  for (size_t i = 0; i < step.count(); ++i) {
    Value* x = step.tensor(0, i);
    Value* gradient = step.gradient(i);
    Value* mean = step.mixed(alpha, step.tensor(2, i), 1 - alpha, gradient);
    Value* squares = step.mixed(beta, step.tensor(3, i), 1 - beta, e.mul(gradient, gradient));
    Value* size = e.add(e.op("Sqrt", {squares}), e.like(x, step.attribute("epsilon", 1e-6f)));
    const auto rest = [&](double factor) {
      return e.sub(e.like(x, 1), e.op("Pow", {e.like(x, factor), step.number(i)}));
    };
    Value* corrected = e.div(e.mul(step.rate(i), e.op("Sqrt", {rest(beta)})), rest(alpha));
    Value* rate = e.where(step.isLater(), corrected, step.rate(i));
    Value* moved = e.sub(x, e.div(e.mul(rate, mean), size));
    step.setOutput(0, i, e.mul(e.like(x, 1 - step.attribute("norm_coefficient_post", 0)), moved));
    step.setOutput(1, i, mean);
    step.setOutput(2, i, squares);
  }
}

void expandMomentum(Expansion& e) {
  Step step(e, 3);
  const std::string mode = e.text("mode", "standard");
  const double alpha = step.attribute("alpha", 0), beta = step.attribute("beta", 0);
  for (size_t i = 0; i < step.count(); ++i) {
    Value* x = step.tensor(0, i);
    Value* gradient = step.gradient(i);
    Value* factor = e.where(step.isLater(), e.like(x, beta), e.like(x, 1));
    Value* speed = e.add(e.mul(e.like(x, alpha), step.tensor(2, i)), e.mul(factor, gradient));
    Value* way = mode == "nesterov" ? e.add(gradient, e.mul(e.like(x, alpha), speed)) : speed;
    step.setOutput(0, i, e.sub(x, e.mul(step.rate(i), way)));
    step.setOutput(1, i, speed);
  }
}

constexpr OpSchema optimiser(std::string_view name, std::string_view attributes) {
  return {"ai.onnx.preview.training",
          name,
          3,
          3,
          1,
          1,
          "float32|float64,int64,float32|float64...->*...",
          nullptr,
          kTraitVariadic,
          0,
          attributes};
}

const Composite kRows[] = {
    {optimiser("Adagrad", "decay_factor=f epsilon=f norm_coefficient=f"), expandAdagrad},
    {optimiser("Adam", "alpha=f beta=f epsilon=f norm_coefficient=f norm_coefficient_post=f"), expandAdam},
    {optimiser("Momentum", "alpha=f beta=f mode=s{standard,nesterov} norm_coefficient=f"), expandMomentum},
};

}  // namespace

std::span<const Composite> trainingComposites() { return kRows; }

}  // namespace max
