// SPDX-License-Identifier: Apache-2.0
// Every file in this folder exports one table of rows; this list names them all.
#pragma once

#include <span>

#include "graph/schema.h"

// X(function): a function std::span<const OpSchema> function()
#define MAX_FOR_EACH_SCHEMA_TABLE(X) \
  X(elementwiseSchemas)              \
  X(matrixSchemas)                   \
  X(convolutionSchemas)              \
  X(poolingSchemas)                  \
  X(resizeSchemas)                   \
  X(imageSchemas)                    \
  X(signalSchemas)                   \
  X(attentionSchemas)                \
  X(expertSchemas)                   \
  X(normalizationSchemas)            \
  X(reductionSchemas)                \
  X(shapeSchemas)                    \
  X(movementSchemas)                 \
  X(indexingSchemas)                 \
  X(generatorSchemas)                \
  X(recurrentSchemas)                \
  X(quantizationSchemas)             \
  X(controlSchemas)                  \
  X(mlSchemas)                       \
  X(sequenceSchemas)                 \
  X(stringSchemas)

namespace max {

#define MAX_DECLARE_SCHEMAS(function) std::span<const OpSchema> function();
MAX_FOR_EACH_SCHEMA_TABLE(MAX_DECLARE_SCHEMAS)
#undef MAX_DECLARE_SCHEMAS

}  // namespace max
