// SPDX-License-Identifier: Apache-2.0
// The order of nodes in a file: tools that insert nodes, such as converters to float16, put some at the end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "onnx/proto.h"

namespace max::onnx {

// The nodes of a graph or function, each after those that make what it or its subgraphs use; apart from that as they
// were. `isKnown` tells of names that are there before the first node. Throws INVALID_ARGUMENT naming the nodes of a
// cycle; `owner` is what messages call the graph.
std::vector<Bytes> inOrder(const std::vector<Bytes>& nodes, FunctionRef<bool(std::string_view)> isKnown,
                           const std::string& owner);

}  // namespace max::onnx
