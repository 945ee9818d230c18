// SPDX-License-Identifier: Apache-2.0
// Named tensors of a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/buffer.h"
#include "max/weights.h"

struct MaxWeights : max::HandleOf<MaxWeights> {
 public:
  struct Entry {
    std::string name;
    max::Ref<MaxBuffer> buffer;
  };

  static max::Ref<MaxWeights> load(const std::string& path);
  const std::vector<Entry>& entries() const { return entries_; }  // sorted by name
  const Entry& at(std::string_view name) const;                   // NOT_FOUND if there is none

 private:
  std::vector<Entry> entries_;
};
