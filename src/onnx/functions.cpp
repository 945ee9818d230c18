// SPDX-License-Identifier: Apache-2.0
#include "onnx/functions.h"

#include <algorithm>

#include "base/active_call.h"
#include "base/error.h"
#include "onnx/import.h"

namespace max::onnx {

int64_t versionIn(const Opsets& opsets, std::string_view domain) {
  for (const auto& [name, version] : opsets)
    if (name == domain) return version;
  return 0;
}

int64_t versionIn(const ModelProto& model, std::string_view domain) {
  const int64_t version = versionIn(model.opsets, domain);
  return version == 0 && domain.empty() ? kMaxOpset : version;
}

namespace {

// Models have few; each node searches all of them.
constexpr size_t kMaxOpsets = 1 << 8;
constexpr size_t kMaxDefaults = 1 << 10;
constexpr size_t kMaxParameters = 1 << 16;

void checkFunction(const FunctionProto& function) {
  const std::string owner = concat("Function '", function.name, "'");
  checkOpsetCount(function.opsets, owner);
  checkCount(function.defaults.size(), kMaxDefaults, owner, "attributes");
  checkCount(std::max(function.inputs.size(), function.outputs.size()), kMaxParameters, owner, "operands");
  for (const AttributeProto& attribute : function.defaults)
    if (!attribute.referenceName.empty())
      invalidArgument(owner, ": the default of '", attribute.name, "' refers to a parameter");
}

}  // namespace

void checkCount(size_t count, size_t most, std::string_view owner, std::string_view what) {
  require(count <= most, MAX_STATUS_UNIMPLEMENTED, owner, " has ", count, " ", what, "; at most ", most,
          " are supported");
}

void checkOpsetCount(const Opsets& opsets, std::string_view owner) {
  checkCount(opsets.size(), kMaxOpsets, owner, "operator sets");
}

Functions::Functions(const ModelProto& model) {
  checkOpsetCount(model.opsets, "The model");
  for (Bytes bytes : model.functions) {
    checkInterrupt();
    FunctionProto function = parseFunction(bytes);
    checkFunction(function);
    const auto key = std::tuple(function.domain, function.name, function.overload);
    require(byName_.emplace(key, std::move(function)).second, MAX_STATUS_INVALID_ARGUMENT, "Function '",
            std::get<1>(key), "' of domain '", std::get<0>(key), "' is defined twice");
  }
}

const FunctionProto* Functions::find(const NodeProto& node) const {
  if (byName_.empty()) return nullptr;
  const auto entry = byName_.find(std::tuple(plainDomain(node.domain), node.op, node.overload));
  return entry == byName_.end() ? nullptr : &entry->second;
}

namespace {

constexpr size_t kLeastNodes = 16384;
constexpr size_t kMostNodes = 1 << 17;
constexpr size_t kLeastBytes = 4 << 20;

}  // namespace

ExpansionBudget::ExpansionBudget(size_t fileBytes)
    : nodes_(kLeastNodes + std::min(fileBytes / 8, kMostNodes)),
      bytes_(kLeastBytes + fileBytes * 8),
      allNodes_(nodes_) {}

void ExpansionBudget::takeNodes(const FunctionProto& function, size_t count) {
  if (count > nodes_)
    fail(MAX_STATUS_RESOURCE_EXHAUSTED, "Function '", function.name, "': functions expand to more than ", allNodes_,
         " nodes");
  nodes_ -= count;
}

void ExpansionBudget::takeBytes(std::string_view owner, size_t count) {
  require(count <= bytes_, MAX_STATUS_RESOURCE_EXHAUSTED, owner, ": functions and subgraphs expand to too many bytes");
  bytes_ -= count;
}

}  // namespace max::onnx
