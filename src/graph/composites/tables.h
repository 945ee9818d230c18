// SPDX-License-Identifier: Apache-2.0
// Every file in this folder exports one table of rows; this list names them all.
#pragma once

#include <span>

#include "graph/composite.h"

// X(function): a function std::span<const Composite> function()
#define MAX_FOR_EACH_COMPOSITE_TABLE(X) \
  X(attentionComposites)                \
  X(flexAttentionComposites)            \
  X(lossComposites)                     \
  X(windowComposites)                   \
  X(gradientComposites)                 \
  X(trainingComposites)                 \
  X(imageComposites)                    \
  X(einsumComposites)                   \
  X(microsoftComposites)                \
  X(microsoftAttentionComposites)       \
  X(groupQueryComposites)               \
  X(expertComposites)                   \
  X(microsoftLayerComposites)           \
  X(microsoftPlainComposites)           \
  X(microsoftQuantizedComposites)

namespace max {

#define MAX_DECLARE_COMPOSITES(function) std::span<const Composite> function();
MAX_FOR_EACH_COMPOSITE_TABLE(MAX_DECLARE_COMPOSITES)
#undef MAX_DECLARE_COMPOSITES

}  // namespace max
