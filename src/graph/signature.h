// SPDX-License-Identifier: Apache-2.0
// The parsed form of the `types` string of an operator's row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace max {

using DTypeSet = uint32_t;  // a bit per dtype

DTypeSet setOf(DType dtype);
DType dtypeOfSet(DTypeSet set);     // of a set with a single dtype
std::string namesOf(DTypeSet set);  // "float16, float32"

struct TypeSlot {
  int variable;  // slots with the same number have the same dtype; -1 = free
  DTypeSet allowed;
};

struct TypeSignature {
  // Throws INTERNAL if the text is malformed.
  explicit TypeSignature(std::string_view types);

  std::vector<TypeSlot> inputs;
  std::vector<TypeSlot> outputs;  // an empty set = the shape rule sets the dtype
  bool inputsRepeat = false;
  bool outputsRepeat = false;
  int variableCount = 0;

  // NULL if there is no such input or output.
  const TypeSlot* input(size_t i) const { return slot(inputs, inputsRepeat, i); }
  const TypeSlot* output(size_t i) const { return slot(outputs, outputsRepeat, i); }

 private:
  static const TypeSlot* slot(const std::vector<TypeSlot>& slots, bool repeat, size_t i) {
    if (i < slots.size()) return &slots[i];
    return repeat && !slots.empty() ? &slots.back() : nullptr;
  }
};

}  // namespace max
