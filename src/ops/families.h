// SPDX-License-Identifier: Apache-2.0
// The rows of the CPU's library: each file exports one table of them, and this list names all tables. Earlier ones come
// first when several offer an implementation of the same operator.
#pragma once

#include <span>

#include "ops/op_kernel.h"

// X(function): a function std::span<const OpRow> function(). Fast families first, reference ones last.
#define MAX_FOR_EACH_OP_FAMILY(X) \
  X(elementwiseOps)               \
  X(softmaxOps)                   \
  X(normOps)                      \
  X(reduceOps)                    \
  X(argOps)                       \
  X(poolOps)                      \
  X(matMulOps)                    \
  X(integerMatMulOps)             \
  X(matMulNBitsOps)               \
  X(convOps)                      \
  X(integerConvOps)               \
  X(quantizedConvOps)             \
  X(convTransposeOps)             \
  X(expandConvOps)                \
  X(deformConvOps)                \
  X(attentionOps)                 \
  X(linearAttentionOps)           \
  X(expertOps)                    \
  X(recurrentOps)                 \
  X(movementCopyOps)              \
  X(gatherOps)                    \
  X(gatherBlocksOps)              \
  X(mapBytesOps)                  \
  X(scatterOps)                   \
  X(generateOps)                  \
  X(randomOps)                    \
  X(convertOps)                   \
  X(selectOps)                    \
  X(padOps)                       \
  X(resizeOps)                    \
  X(gridSampleOps)                \
  X(roiAlignOps)                  \
  X(unpoolOps)                    \
  X(col2ImOps)                    \
  X(tensorScatterOps)             \
  X(imageDecoderOps)              \
  X(fourierOps)                   \
  X(sequenceOps)                  \
  X(topKOps)                      \
  X(cumulateOps)                  \
  X(eachQuantizeOps)              \
  X(quantizeOps)                  \
  X(anyQuantizeOps)               \
  X(mlTreeOps)                    \
  X(mlLinearOps)                  \
  X(mlSvmOps)                     \
  X(mlFeatureOps)                 \
  X(mlLabelOps)                   \
  X(mlMapOps)                     \
  X(tokenizerOps)                 \
  X(sequenceValueOps)             \
  X(stringOps)                    \
  X(stringCastOps)                \
  X(regexOps)                     \
  X(tfIdfOps)                     \
  X(dynamicOps)                   \
  X(referenceElementwiseOps)      \
  X(referenceMatMulOps)           \
  X(referenceConvOps)             \
  X(referenceImageOps)            \
  X(referenceSignalOps)           \
  X(referenceAttentionOps)        \
  X(referenceExpertOps)           \
  X(referencePoolOps)             \
  X(referenceReduceOps)           \
  X(referenceNormOps)             \
  X(referenceRecurrentOps)        \
  X(referenceQuantizeOps)         \
  X(referenceResizeOps)

namespace max {

#define MAX_DECLARE_FAMILY(function) std::span<const OpRow> function();
MAX_FOR_EACH_OP_FAMILY(MAX_DECLARE_FAMILY)
#undef MAX_DECLARE_FAMILY

}  // namespace max
