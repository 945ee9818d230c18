// SPDX-License-Identifier: Apache-2.0
// An input or output of a model: a tensor, a sequence, an optional or a map. Immutable.
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
  // Checks the contents: a sequence holds tensors or maps, an optional holds a tensor or a sequence.
  static max::Ref<MaxValue> sequence(std::vector<max::Ref<MaxValue>> elements);
  static max::Ref<MaxValue> optional(max::Ref<MaxValue> value);  // NULL = none
  // Keys are a list of distinct strings or int64; there is one value per key.
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
  // Registers all buffers in it as read by the scope's work.
  void addReads(max::AccessScope& access) const;

  // The form of a program's input.
  max::TensorArg argument() const;
  max::Ref<max::Tensor> tensor() const { return object_ ? object_ : buffer_->toTensor(); }

 private:
  MaxValue(MaxValueKind kind, max::Ref<max::Tensor> object) : kind_(kind), object_(std::move(object)) {}
  // `before`: the element before it in a sequence, whose keys a map shares if the tensors do; may be NULL.
  static max::Ref<MaxValue> of(MaxStream& stream, const max::Tensor& tensor, const MaxValue* before);
  static max::Ref<MaxValue> mapOf(MaxStream& stream, const max::Tensor& tensor, const MaxValue* before);

  MaxValueKind kind_ = MAX_VALUE_KIND_TENSOR;
  max::Ref<MaxBuffer> buffer_, keys_, values_;
  std::vector<max::Ref<MaxValue>> elements_;
  max::Ref<max::Tensor> object_;  // except for tensors: a self-contained scalar
};

namespace max {

// Whether a value has the type; unknown parts match. An optional also accepts its contents' type.
bool fits(TensorType type, const MaxValue& value);

}  // namespace max
