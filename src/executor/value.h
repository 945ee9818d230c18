// SPDX-License-Identifier: Apache-2.0
// What a model may take or give: a tensor, a sequence, an optional, a map. Immutable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/object.h"
#include "device/memory_use.h"
#include "executor/planner.h"
#include "max/value.h"

struct MaxValue : max::HandleOf<MaxValue> {
 public:
  explicit MaxValue(max::Ref<MaxBuffer> tensor);
  // Of values that may be in it: a sequence holds tensors or maps, an optional holds a tensor or a sequence.
  static max::Ref<MaxValue> sequence(std::vector<max::Ref<MaxValue>> elements);
  static max::Ref<MaxValue> optional(max::Ref<MaxValue> value);  // NULL = none
  // Keys are a list of strings or int64, all different; values are as many.
  static max::Ref<MaxValue> map(max::Ref<MaxBuffer> keys, max::Ref<MaxBuffer> values);
  // Of a self-contained tensor of any dtype.
  static max::Ref<MaxValue> of(MaxStream& stream, const max::Tensor& tensor);

  MaxValueKind kind() const { return kind_; }
  const max::Ref<MaxBuffer>& buffer() const { return buffer_; }  // of tensors
  const std::vector<max::Ref<MaxValue>>& elements() const { return elements_; }
  const max::Ref<MaxBuffer>& keys() const { return keys_; }
  const max::Ref<MaxBuffer>& values() const { return values_; }
  size_t count() const;            // elements, entries; of a tensor 1
  const char* kindName() const;    // "optional"
  std::string kindPhrase() const;  // "an optional"
  std::string typeText() const;    // "float32[2, 3]", "sequence of float32"
  // All buffers in it, as what the work of the scope reads.
  void addReads(max::AccessScope& access) const;

  // What a program takes in.
  max::TensorArg argument() const;
  max::Ref<max::Tensor> tensor() const { return object_ ? object_ : buffer_->toTensor(); }

 private:
  MaxValue(MaxValueKind kind, max::Ref<max::Tensor> object) : kind_(kind), object_(std::move(object)) {}

  MaxValueKind kind_ = MAX_VALUE_KIND_TENSOR;
  max::Ref<MaxBuffer> buffer_, keys_, values_;
  std::vector<max::Ref<MaxValue>> elements_;
  max::Ref<max::Tensor> object_;  // of all but tensors: a self-contained scalar
};

namespace max {

// Whether a value is of the type; what is not known fits. An optional takes what it would hold, too.
bool fits(TensorType type, const MaxValue& value);

}  // namespace max
