// SPDX-License-Identifier: Apache-2.0
// How an operator of an extension infers and runs.
#pragma once

#include "executor/extension.h"
#include "ops/kernel.h"

namespace max {

// NULL or INTERNAL if the node's operator is not an extension's.
const ExtensionOperator* findExtensionOperator(const Node& node);
const ExtensionOperator& extensionOperatorOf(const Node& node);

void inferExtension(InferContext& context);
// The operator stays.
OpKernels kernelsOf(const ExtensionOperator& op);

}  // namespace max
