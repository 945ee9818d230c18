// SPDX-License-Identifier: Apache-2.0
// Suggests a name for one that does not exist.
#pragma once

#include <string>
#include <string_view>

namespace max {

class NearestName {
 public:
  explicit NearestName(std::string_view wanted);

  // Existing names; they must stay valid until the hint is made.
  void offer(std::string_view name);

  std::string_view best() const { return best_; }  // empty = none is close
  // "; did you mean 'Relu'?", or nothing if no name is close.
  std::string hint() const;
  // The hint, or some of the names: "; known names: 'a', 'b' and 7 more".
  std::string hintOrList() const;

 private:
  std::string_view wanted_, best_;
  size_t limit_;  // the best distance so far is below
  size_t count_ = 0;
  std::string list_;
};

template <class Names>
std::string nearestOf(std::string_view wanted, const Names& names) {
  NearestName nearest(wanted);
  for (const auto& name : names) nearest.offer(name);
  return nearest.hint();
}

}  // namespace max
