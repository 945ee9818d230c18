// SPDX-License-Identifier: Apache-2.0
// Lists at the boundary: count + get(index).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace max::capi {

template <class List>
const typename List::value_type& elementAt(const List& list, int32_t index, const char* what) {
  require(index >= 0 && static_cast<size_t>(index) < list.size(), MAX_STATUS_OUT_OF_RANGE, what, " ", index,
          " does not exist; there are ", list.size());
  return list[static_cast<size_t>(index)];
}

}  // namespace max::capi
