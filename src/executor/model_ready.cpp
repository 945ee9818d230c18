// SPDX-License-Identifier: Apache-2.0
// What the first call needs, made with the load where the shapes of inputs are known.
#include <algorithm>
#include <unordered_map>

#include "base/active_call.h"
#include "base/load_budget.h"
#include "base/pages.h"
#include "executor/model.h"

namespace max {

namespace {

bool hasKnownShape(const TensorInfo& input) {
  return input.isTensor() && input.dtype() != DType::Invalid && input.isRanked() &&
         std::none_of(input.dims().begin(), input.dims().end(),
                      [](int64_t dim) { return dim == MAX_DIMENSION_DYNAMIC; });
}

// Makes nothing of what others keep go away.
ActiveCall modestCall() {
  ActiveCall call;
  if (const ActiveCall* outer = activeCall()) call = *outer;
  call.mayTrim = false;
  return call;
}

// Whether as many indices as these find most of a table: the kernel maps some pages around each.
bool readMost(int64_t indices, size_t tableBytes) {
  constexpr uint64_t kAtOnce = uint64_t{64} << 10;
  return static_cast<uint64_t>(indices) >= tableBytes / 2 / kAtOnce;
}

// Tables that stay in the model's file, such as embeddings, of which one call reads most: finding their pages one after
// the other takes longer than what is computed with them.
void readTables(const Plan& plan) {
  size_t left = size_t{128} << 20;
  std::unordered_map<const void*, const Tensor*> tables;
  for (const auto& constant : plan.constants)
    if (constant->storage() && constant->storage()->file()) tables.emplace(constant->data(), constant.get());
  for (const Step& step : plan.steps) {
    if (tables.empty() || !step.node || step.node->op() != "Gather") continue;
    const auto found = tables.find(plan.table[step.inputs].constant);
    if (found == tables.end()) continue;
    const size_t bytes = found->second->bytes();
    if (bytes > left || !readMost(plan.shapeOf(step.inputs + 1).count(), bytes)) continue;
    populateForReading(found->first, bytes);
    left -= bytes;
    tables.erase(found);
  }
}

}  // namespace

}  // namespace max

void MaxModel::makeReady() const {
  if (usesObjects() || !std::all_of(inputs().begin(), inputs().end(), max::hasKnownShape)) return;
  std::vector<max::TensorArg> arguments;
  for (const max::TensorInfo& input : inputs()) arguments.push_back({input.dtype(), input.dims(), nullptr});
  const uint64_t most = max::LoadBudget::memoryFor(memory().total);
  const max::ActiveCall call = max::modestCall();
  const max::ActiveCallScope scope(&call);
  try {
    const max::Ref<const max::Plan> plan = program_.makeReady(arguments, most);
    if (plan && onHost_) max::readTables(*plan);
    if (plan && onHost_) makeOutputsReady(*plan, most - plan->arenaBytes);
  } catch (const max::Error& error) {
    if (max::isStop(error.status())) throw;
  }
}

void MaxModel::makeOutputsReady(const max::Plan& plan, uint64_t most) const {
  for (const max::PlannedOutput& output : plan.outputs) {
    const uint64_t bytes = max::bytesFor(output.dtype, output.shape.count());
    if (bytes > most) return;
    most -= bytes;
    const max::Ref<MaxBuffer> buffer = pools_[output.index]->take(device().defaultStream(), output.dtype, output.shape);
    max::populateForWriting(buffer->data(), bytes, session_->lanes());
  }
}
