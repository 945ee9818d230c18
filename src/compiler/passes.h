// SPDX-License-Identifier: Apache-2.0
// The passes, one file each. Their order and what they do: compile.cpp.
#pragma once

#include "compiler/rewrite.h"

namespace max {

void computeInIntegers(Rewriter& rewriter);
void foldConstants(Rewriter& rewriter);
void foldQuantized(Rewriter& rewriter);
void foldUnpacked(Rewriter& rewriter);
void inlineBranches(Rewriter& rewriter);
void inferTypes(Rewriter& rewriter);
void simplify(Rewriter& rewriter);
void mapBytes(Rewriter& rewriter);
void mergeDuplicates(Rewriter& rewriter);
void recogniseActivations(Rewriter& rewriter);
void recogniseNorms(Rewriter& rewriter);
void recogniseInstanceNorms(Rewriter& rewriter);
void joinSquares(Rewriter& rewriter);
void gatherOneHot(Rewriter& rewriter);
void selectSlices(Rewriter& rewriter);
void finishParts(Rewriter& rewriter);
void foldIntoConv(Rewriter& rewriter);
void convolveBeforeResize(Rewriter& rewriter);
void lowerMatMul(Rewriter& rewriter);
void recogniseAttention(Rewriter& rewriter);
void lowerToChannelsLast(Rewriter& rewriter);
void moveTransposes(Rewriter& rewriter);
void fuseEpilogues(Rewriter& rewriter);
void scaleConvolutions(Rewriter& rewriter);
void widenRecurrentWeights(Rewriter& rewriter);
void divideConvolutions(Rewriter& rewriter);
void joinDepthwise(Rewriter& rewriter);
void joinRotations(Rewriter& rewriter);
void joinSelections(Rewriter& rewriter);
void keepPlanes(Rewriter& rewriter);
void fuseElementwise(Rewriter& rewriter);
void countSelections(Rewriter& rewriter);
void groupProducts(Rewriter& rewriter);
void placeNodes(Rewriter& rewriter);
void legaliseTypes(Rewriter& rewriter);
void prepareWeights(Rewriter& rewriter);
void narrowValues(Rewriter& rewriter);

// Whether an operator is an activation that fuseEpilogues makes a part of the product or convolution before it.
bool canFuseActivation(const Node& node);

// After all passes: releases the contents or pages of constants that no kernel reads any more, and aligns the others.
void settleConstants(Graph& graph);

}  // namespace max
