// SPDX-License-Identifier: Apache-2.0
// Attributes that operators only have in some versions.
#pragma once

#include <string>
#include <string_view>

#include "graph/attribute_rules.h"
#include "graph/graph.h"

namespace max::onnx {

// Why an operator of this operator set version cannot have an attribute; empty if it can. `newest` are the attributes
// of the operator that it becomes.
std::string wrongAttribute(std::string_view domain, std::string_view op, int64_t version, const AttributeRules& newest,
                           std::string_view name, const Attribute& attribute);

// Removes attributes that only older versions have, once the operator is in its newest form.
void dropOldAttributes(std::string_view domain, std::string_view op, int64_t version, Attributes& attributes);

}  // namespace max::onnx
