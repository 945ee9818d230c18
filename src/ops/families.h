// SPDX-License-Identifier: Apache-2.0
// Every kernel file exports one table of rows; this list names them all. Earlier families come
// first when several offer an implementation of the same operator.
#pragma once

#include <span>

#include "ops/kernel.h"

// X(function): a function std::span<const OpKernels> function(). Fast families first, reference ones last.
#define MAX_FOR_EACH_KERNEL_FAMILY(X) \
  X(elementwiseKernels)               \
  X(softmaxKernels)                   \
  X(normKernels)                      \
  X(reduceKernels)                    \
  X(argKernels)                       \
  X(poolKernels)                      \
  X(matMulKernels)                    \
  X(integerMatMulKernels)             \
  X(matMulNBitsKernels)               \
  X(convKernels)                      \
  X(integerConvKernels)               \
  X(convTransposeKernels)             \
  X(deformConvKernels)                \
  X(attentionKernels)                 \
  X(linearAttentionKernels)           \
  X(expertKernels)                    \
  X(recurrentKernels)                 \
  X(movementCopyKernels)              \
  X(gatherKernels)                    \
  X(gatherBlocksKernels)              \
  X(scatterKernels)                   \
  X(generateKernels)                  \
  X(randomKernels)                    \
  X(convertKernels)                   \
  X(selectKernels)                    \
  X(padKernels)                       \
  X(resizeKernels)                    \
  X(gridSampleKernels)                \
  X(roiAlignKernels)                  \
  X(unpoolKernels)                    \
  X(imageDecoderKernels)              \
  X(fourierKernels)                   \
  X(sequenceKernels)                  \
  X(topKKernels)                      \
  X(quantizeKernels)                  \
  X(anyQuantizeKernels)               \
  X(mlTreeKernels)                    \
  X(mlLinearKernels)                  \
  X(mlSvmKernels)                     \
  X(mlFeatureKernels)                 \
  X(mlLabelKernels)                   \
  X(mlMapKernels)                     \
  X(mlTokenizerKernels)               \
  X(sequenceValueKernels)             \
  X(stringKernels)                    \
  X(stringCastKernels)                \
  X(regexKernels)                     \
  X(tfIdfKernels)                     \
  X(dynamicKernels)                   \
  X(referenceElementwiseKernels)      \
  X(referenceMatMulKernels)           \
  X(referenceConvKernels)             \
  X(referenceImageKernels)            \
  X(referenceSignalKernels)           \
  X(referenceLinearAttentionKernels)  \
  X(referenceExpertKernels)           \
  X(referencePoolKernels)             \
  X(referenceReduceKernels)           \
  X(referenceNormKernels)             \
  X(referenceRecurrentKernels)        \
  X(referenceQuantizeKernels)         \
  X(referenceResizeKernels)           \
  X(referenceRegionKernels)

namespace max {

#define MAX_DECLARE_FAMILY(function) std::span<const OpKernels> function();
MAX_FOR_EACH_KERNEL_FAMILY(MAX_DECLARE_FAMILY)
#undef MAX_DECLARE_FAMILY

}  // namespace max
