// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "compiler/passes.h"
#include "compiler/passes/rules.h"

namespace max {

void simplify(Rewriter& rewriter) {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    for (const std::span<const Rule> group : {movementRules(), viewRules(), arithmeticRules(), reductionRules()})
      all.insert(all.end(), group.begin(), group.end());
    return all;
  }();
  applyRules(rewriter, rules, 16);
}

}  // namespace max
