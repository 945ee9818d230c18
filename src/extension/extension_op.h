// SPDX-License-Identifier: Apache-2.0
// Inference and execution of an extension's operator.
#pragma once

#include "extension/extension.h"
#include "ops/op_kernel.h"

namespace max {

// INTERNAL if the node's operator is not an extension's.
const ExtensionOperator& extensionOperatorOf(const Node& node);

void inferExtension(InferContext& context);
// The operator stays.
OpRow rowOf(const ExtensionOperator& op);

}  // namespace max
