// SPDX-License-Identifier: Apache-2.0
// Small changes of models that were right, and smaller models that fail in the same way.
#pragma once

#include <functional>
#include <vector>

#include "attack/chance.h"
#include "attack/onnx_model.h"

namespace attack {

// One change or a few; `other` may lend its nodes.
void mutate(ModelData& model, const ModelData& other, Chance& chance);
// Leaves out of the model what it can do without and still satisfy `fails`.
void shrink(ModelData& model, const std::function<bool(const ModelData&)>& fails);

}  // namespace attack
