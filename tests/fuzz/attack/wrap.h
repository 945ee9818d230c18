// SPDX-License-Identifier: Apache-2.0
// What stands around nodes: inputs, bodies, functions, values that are computed while a model runs.
#pragma once

#include <string>

#include "attack/chance.h"
#include "attack/onnx_model.h"

namespace attack {

// The tensor as an input of the main graph, whose declared type may say less, or something else; a run gets the tensor.
void addInput(ModelData& model, TensorData tensor, Chance& chance);
// A new value of the graph, equal to `name` or much like it, that is known only while the model runs.
std::string computed(GraphData& graph, const std::string& name, Chance& chance);
// A graph for this attribute of the node, whose inputs are there.
AttributeData bodyFor(std::string attribute, const NodeData& node, Chance& chance);
// Puts all nodes of the main graph into a body, a branch or a function.
void wrap(ModelData& model, Chance& chance);

}  // namespace attack
