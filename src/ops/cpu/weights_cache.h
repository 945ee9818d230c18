// SPDX-License-Identifier: Apache-2.0
// Packed weights on disk, for those who ask for it: later loads map them instead of packing them again.
//
// An entry is a file that appears complete, under the hash of all that packing depends on, or not at all. If the folder
// cannot be used, it is ignored without an error. Damaged entries count as missing and are replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/tensor.h"
#include "kernel/hash.h"

namespace max {

class WeightsCache {
 public:
  // Files go to `folder`/weights.
  explicit WeightsCache(const std::string& folder, uint64_t limit = uint64_t{16} << 30);

  // The packed weights, mapped and read-only; NULL if there is no whole entry of this size. Thread-safe, as store().
  Ref<Storage> find(const Digest& key, size_t bytes) const;
  void store(const Digest& key, const Storage& packed) const;

 private:
  std::string folder_;
  uint64_t limit_;
};

// The start of a key: this build of the library, the CPU target, and where the weight is in which state of which file.
// Nothing if it is small, neither in a mapped file nor one in such a file times factors, or if the file is so new that
// a change might not show in its times.
std::optional<Hasher> weightHasher(const Tensor& weight);

}  // namespace max
