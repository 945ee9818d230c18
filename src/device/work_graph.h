// SPDX-License-Identifier: Apache-2.0
// Work that a driver has recorded, and does again with one call each time.
#pragma once

#include "base/ref.h"

struct MaxStream;

namespace max {

class WorkGraph : public RefCounted {
 public:
  // Memory that the work uses is the caller's to keep.
  virtual void launch(MaxStream& stream) = 0;
};

}  // namespace max
