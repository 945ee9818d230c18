// SPDX-License-Identifier: Apache-2.0
#include "executor/checks.h"

#include <cmath>
#include <cstddef>
#include <cstring>

#include "base/half.h"
#include "base/log.h"
#include "executor/run.h"
#include "graph/schema.h"

namespace max {

namespace {

constexpr unsigned char kGuardByte = 0xa5;

// Weights in a file may lie at any address.
template <class T, class ToFloat>
bool allFinite(const void* data, int64_t count, ToFloat toFloat) {
  const std::byte* at = static_cast<const std::byte*>(data);
  for (int64_t i = 0; i < count; ++i, at += sizeof(T)) {
    T value;
    std::memcpy(&value, at, sizeof value);
    if (!std::isfinite(toFloat(value))) return false;
  }
  return true;
}

// Also true for types without infinity and values without memory.
bool isFinite(DType dtype, const void* data, int64_t count) {
  if (!data || count == 0) return true;
  switch (dtype) {
    case DType::Float32:
      return allFinite<float>(data, count, [](float value) { return value; });
    case DType::Float64:
      return allFinite<double>(data, count, [](double value) { return value; });
    case DType::Float16:
      return allFinite<uint16_t>(data, count, floatFromHalf);
    case DType::BFloat16:
      return allFinite<uint16_t>(data, count, floatFromBFloat16);
    default:
      return true;
  }
}

bool isFinite(const RunContext& context, uint32_t begin, uint32_t end) {
  const Plan& plan = *context.plan;
  for (uint32_t entry = begin; entry < end; ++entry)
    if (plan.types[entry].dtype != DType::Invalid && plan.table[entry].memory == kHostMemory &&
        !isFinite(plan.types[entry].dtype, context.table[entry], plan.shapeOf(entry).count()))
      return false;
  return true;
}

bool hasGuard(const Plan& plan, uint32_t entry) {
  return plan.table[entry].kind == Location::Arena && plan.table[entry].memory == kHostMemory &&
         plan.types[entry].dtype != DType::Invalid && PlanSettings::of(plan.settings).guards;
}

// Calls function(where the guard begins, output or -1 = scratch memory) for all memory of the host that a step writes.
template <class Function>
void forEachGuard(const RunContext& context, size_t index, Function function) {
  const Step& step = context.plan->steps[index];
  for (uint32_t entry = step.outputs; entry < step.end; ++entry)
    if (hasGuard(*context.plan, entry))
      function(static_cast<unsigned char*>(context.table[entry]) + context.plan->bytesOf(entry),
               static_cast<int>(entry - step.outputs));
  const size_t scratch = step.memory != kHostMemory ? 0 : step.kernel->scratchBytes();
  if (scratch > 0 && PlanSettings::of(context.plan->settings).guards)
    function(reinterpret_cast<unsigned char*>(context.steps[index].context.scratch) + scratch, -1);
}

// An extension's operator is reported with its extension, which is at fault.
std::string describe(const Node* node) {
  if (!node) return "copy to an output";
  const std::string_view extension = node->schema->extension;
  return extension.empty() ? node->description() : concat(node->description(), ", extension '", extension, "'");
}

std::string nameOutput(const Node& node, int output) {
  const Value* value = node.outputs[static_cast<size_t>(output)];
  return value ? concat("output ", output, " ('", value->name, "')") : concat("output ", output);
}

}  // namespace

void CheckMonitor::stepBegins(const RunContext& context, size_t step) {
  const Step& planned = context.plan->steps[step];
  finite_.push_back(!checksNumbers() || planned.memory != kHostMemory ||
                    isFinite(context, planned.inputs, planned.outputs));
  forEachGuard(context, step, [&](unsigned char* guard, int) { setGuard(guard); });
}

void CheckMonitor::stepEnds(const RunContext& context, size_t step) {
  // Copies added by the executor have no guards.
  if (const Node* node = context.plan->steps[step].node)
    forEachGuard(context, step, [&](const unsigned char* guard, int output) { checkGuard(*node, output, guard); });
  if (checksNumbers()) checkNumbers(context, step);
  finite_.pop_back();
}

void CheckMonitor::setGuard(void* guard) const { std::memset(guard, kGuardByte, kGuardBytes); }

void CheckMonitor::checkGuard(const Node& node, int output, const void* guard) const {
  const auto* bytes = static_cast<const unsigned char*>(guard);
  if (bytes[0] == kGuardByte && std::memcmp(bytes, bytes + 1, kGuardBytes - 1) == 0) return;
  // A bug in the library, unless the operator is an extension's.
  complain(&node,
           output < 0 ? std::string("wrote past its scratch memory")
                      : concat("wrote past the end of ", nameOutput(node, output)),
           node.schema->extension.empty() ? MAX_STATUS_INTERNAL : MAX_STATUS_OUT_OF_RANGE);
}

void CheckMonitor::checkNumbers(const RunContext& context, size_t step) const {
  const Step& planned = context.plan->steps[step];
  if (!finite_.back() || planned.memory != kHostMemory) return;
  for (uint32_t entry = planned.outputs; entry < planned.end; ++entry)
    if (!isFinite(context, entry, entry + 1))
      complain(planned.node,
               concat("produced NaN or infinity from finite inputs, in output ", entry - planned.outputs, " (",
                      context.plan->types[entry].dtype, context.plan->shapeOf(entry), ")"),
               MAX_STATUS_FAILED_PRECONDITION);
}

void CheckMonitor::complain(const Node* node, const std::string& text, MaxStatus status) const {
  const std::string message = concat(describe(node), ": ", text);
  if (level_ == MAX_ASSERT_LEVEL_WARN)
    logMessage(MAX_LOG_LEVEL_WARNING, message);
  else
    fail(status, message);
}

}  // namespace max
