// SPDX-License-Identifier: Apache-2.0
// What goes into a run, and what comes out of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attack/onnx_model.h"
#include "max/max.h"

namespace attack {

// A value for each input of a model: what the file says, else something random.
class Values {
 public:
  Values(const MaxModel* model, const std::vector<TensorData>& feeds, uint64_t seed);
  Values(const Values&) = delete;
  ~Values();
  bool isComplete() const { return isComplete_; }
  MaxValue* const* data() const { return values_.data(); }
  int32_t count() const { return static_cast<int32_t>(values_.size()); }

 private:
  std::vector<MaxValue*> values_;
  bool isComplete_ = true;
};

class Outputs {
 public:
  explicit Outputs(int32_t count) : values_(static_cast<size_t>(count), nullptr) {}
  Outputs(const Outputs&) = delete;
  ~Outputs();
  MaxValue** data() { return values_.data(); }
  // Every byte of all.
  std::string describe() const;

 private:
  std::vector<MaxValue*> values_;
};

}  // namespace attack
