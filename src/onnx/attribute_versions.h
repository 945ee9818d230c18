// SPDX-License-Identifier: Apache-2.0
// Attributes that operators have in some versions only.
#pragma once

#include <string>
#include <string_view>

#include "graph/attribute_rules.h"
#include "graph/graph.h"

namespace max::onnx {

// What is wrong with an attribute of an operator of this version of its domain's operator set; empty if nothing is.
// `newest` are the attributes of the operator that it becomes.
std::string wrongAttribute(std::string_view domain, std::string_view op, int64_t version, const AttributeRules& newest,
                           std::string_view name, const Attribute& attribute);

// Takes away what only older versions have, once it is in the newest form.
void dropOldAttributes(std::string_view domain, std::string_view op, int64_t version, Attributes& attributes);

}  // namespace max::onnx
