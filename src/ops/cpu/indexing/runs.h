// SPDX-License-Identifier: Apache-2.0
// Windows of pixels, as networks gather or scatter them by known indices, are runs along a row.
#pragma once

#include <cstdint>

#include "base/work_vector.h"

namespace max {

// Elements [first, first + count) of the list, which belong to the places [place, place + count) of the data.
struct Run {
  int64_t first, place, count;
};

inline constexpr int64_t kLeastRun = 8;  // elements, on average: shorter ones are not worth a call

// Empty if runs are short or a place is negative, which means that there is none.
template <class PlaceOf>
WorkVector<Run> runsOf(int64_t count, const PlaceOf& placeOf) {
  WorkVector<Run> runs;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t place = placeOf(k);
    if (place < 0) return {};
    if (!runs.empty() && place == runs.back().place + runs.back().count) {
      ++runs.back().count;
      continue;
    }
    runs.push_back({k, place, 1});
    if (static_cast<int64_t>(runs.size()) * kLeastRun > count) return {};
  }
  return runs;
}

}  // namespace max
