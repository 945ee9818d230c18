// SPDX-License-Identifier: Apache-2.0
#include "executor/repeated_calls.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"

namespace max {

bool RepeatedCalls::Call::uses(std::span<const TensorArg> inputs, std::span<void* const> outputs) const {
  if (memory.size() != inputs.size() + outputs.size()) return false;
  const void* const* at = memory.data();
  for (const TensorArg& input : inputs)
    if (*at++ != input.data) return false;
  return std::equal(outputs.begin(), outputs.end(), at);
}

void RepeatedCalls::Call::reset(std::span<const TensorArg> inputs, std::span<void* const> outputs) {
  memory.clear();
  for (const TensorArg& input : inputs) memory.push_back(input.data);
  memory.insert(memory.end(), outputs.begin(), outputs.end());
  times = 0;
  graph.reset();
}

WorkGraph* RepeatedCalls::find(std::span<const TensorArg> inputs, std::span<void* const> outputs,
                               FunctionRef<Ref<WorkGraph>()> record) {
  if (!canRecord_) return nullptr;
  auto call = std::ranges::find_if(calls_, [&](const Call& each) { return each.uses(inputs, outputs); });
  if (call == calls_.end()) (--call)->reset(inputs, outputs);
  std::rotate(calls_.begin(), call, call + 1);
  Call& newest = calls_.front();
  if (newest.graph || ++newest.times < kFirstRecorded) return newest.graph.get();
  try {
    newest.graph = record();
  } catch (const Error& error) {
    canRecord_ = false;
    logMessage(MAX_LOG_LEVEL_DEBUG, "Repeated calls launch their kernels one by one: ", error.message());
  }
  return newest.graph.get();
}

}  // namespace max
