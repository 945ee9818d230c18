// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile_options.h"

#include <algorithm>

namespace max {

// Masks and tables of a few MB are usual, whatever the weights; quantised weights of 4 bits become float32.
CompileBudget::CompileBudget(LoadBudget& budget, size_t constantBytes)
    : load(budget), folded((size_t{2} << 20) + 8 * constantBytes), packed((size_t{16} << 20) + 12 * constantBytes) {
  load.addWorkFor(constantBytes);
}

bool CompileBudget::tryTakeFolded(size_t bytes) {
  if (bytes > folded) return false;
  folded -= bytes;
  return true;
}

bool CompileOptions::isDisabled(std::string_view pass) const {
  return std::find(disabledPasses.begin(), disabledPasses.end(), pass) != disabledPasses.end();
}

}  // namespace max
