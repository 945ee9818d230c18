// SPDX-License-Identifier: Apache-2.0
// Calls with inputs and outputs by name.
#include "base/error.h"
#include "base/nearest_name.h"
#include "executor/model.h"
#include "executor/small_array.h"

namespace max {

size_t findByName(const std::vector<TensorInfo>& list, const char* name, const char* what) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name() == name) return i;
  NearestName nearest(name);
  for (const TensorInfo& tensor : list) nearest.offer(tensor.name());
  fail(MAX_STATUS_NOT_FOUND, "The model has no ", what, " '", name, "'", nearest.hintOrList());
}

namespace {

void orderInputs(const std::vector<TensorInfo>& inputs, const NamedInputs& named, std::span<MaxBuffer*> ordered) {
  for (size_t i = 0; i < named.names.size(); ++i) {
    require(named.names[i] != nullptr, MAX_STATUS_INVALID_ARGUMENT, "Name of input ", i, " is NULL");
    const size_t at = findByName(inputs, named.names[i], "input");
    if (ordered[at]) invalidArgument("Input '", named.names[i], "' occurs twice");
    if (!isHandle(named.buffers[i]))
      invalidArgument("Input '", named.names[i], "' ", wrongHandleText(named.buffers[i]), ", expected ",
                      inputs[at].typeName());
    ordered[at] = named.buffers[i];
  }
  for (size_t at = 0; at < inputs.size(); ++at)
    if (!ordered[at]) invalidArgument("Input '", inputs[at].name(), "' is missing, expected ", inputs[at].typeName());
}

}  // namespace

}  // namespace max

void MaxModel::executeByName(const max::NamedInputs& named, const max::CallOptions& options,
                             std::span<const char* const> names, std::span<MaxBuffer*> results) const {
  max::SmallArray<MaxBuffer*> ordered(inputs().size()), made(outputs().size()), given(outputs().size());
  max::SmallArray<size_t> places(names.size());
  max::SmallArray<char> isTaken(outputs().size());
  max::orderInputs(inputs(), named, ordered.span());
  for (size_t i = 0; i < names.size(); ++i) {
    max::require(names[i] != nullptr, MAX_STATUS_INVALID_ARGUMENT, "Name of output ", i, " is NULL");
    const size_t at = places[i] = max::findByName(outputs(), names[i], "output");
    if (isTaken[at]) max::invalidArgument("Output '", names[i], "' is requested twice");
    isTaken[at] = 1;
    if (options.given) given[at] = options.given[i];
  }
  max::CallOptions call = options;
  if (options.given) call.given = given.span().data();
  execute(ordered.span(), call, made.span());
  for (size_t i = 0; i < names.size(); ++i) results[i] = std::exchange(made[places[i]], nullptr);
  for (const MaxBuffer* unwanted : made.span())
    if (unwanted) unwanted->release();
}
