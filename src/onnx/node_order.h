// SPDX-License-Identifier: Apache-2.0
// Sorts the nodes of a file: tools that insert nodes, such as float16 converters, put some at the end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "onnx/proto.h"

namespace max::onnx {

// The nodes of a graph or function, each after those whose outputs it or its subgraphs use; otherwise in the same
// order. `isKnown` recognises names that exist before the first node. Throws INVALID_ARGUMENT naming the nodes of a
// cycle; `owner` is the graph's name in messages.
std::vector<Bytes> inOrder(const std::vector<Bytes>& nodes, FunctionRef<bool(std::string_view)> isKnown,
                           const std::string& owner);

}  // namespace max::onnx
