// SPDX-License-Identifier: Apache-2.0
// Models made of nothing but the table of operators.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attack/chance.h"
#include "attack/onnx_model.h"
#include "graph/schema.h"

namespace attack {

// All operators that a file may name.
const std::vector<const max::OpSchema*>& operators();
const max::OpSchema* operatorNamed(std::string_view domain, std::string_view op);

ModelData randomModel(Chance& chance);
// Random operator sets, mostly of our days.
Opsets randomOpsets(Chance& chance);
AttributeData randomAttribute(std::string name, int64_t type, Chance& chance);
// Any attribute that some operator knows.
AttributeData anyAttribute(Chance& chance);
// What SequenceProto, OptionalProto and MapProto types look like: 's', 'o', 'm'.
std::string holderType(char kind, int64_t type);

}  // namespace attack
