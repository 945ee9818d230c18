// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/gpu_operators.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/active_call.h"
#include "base/error.h"
#include "base/log.h"
#include "base/name_table.h"
#include "base/thread_pool.h"
#include "graph/schema.h"
#include "graph/subgraphs.h"
#include "kernel/hash.h"
#include "kernel/module_registry.h"
#include "ops/gpu/library_nodes.h"
#include "ops/gpu/product_source.h"

namespace max {

namespace {

// Nodes with the same source share its module.
using Users = std::map<std::string_view, std::vector<Placed*>>;

// Only sources that depend on the precision are compiled once for each.
void setPrecision(KernelSource& source, MaxPrecision precision) {
  if (precision != MAX_PRECISION_HIGHEST && source.text.find(kFloat32Kind) != std::string::npos)
    source.defines.emplace_back(kFloat32Kind, float32Kind(precision));
}

std::string keyOf(const KernelSource& source) {
  Hasher hasher;
  hasher.add(source.text);
  for (const auto& [name, value] : source.defines) {
    hasher.add(name);
    hasher.add(value);
  }
  return hexText(hasher.finish());
}

// "cuda:sm_90": the same for a chip's names with all of its features, or with some.
std::string chipOf(const MaxDevice& device) {
  std::string_view chip = device.architectureName();
  chip = chip.substr(0, chip.find(':'));
  if (chip.starts_with("sm_") && (chip.ends_with('a') || chip.ends_with('f'))) chip.remove_suffix(1);
  return concat(device.api(), ":", chip);
}

const KernelCode* find(const KernelCodes* stored, const std::string& chip, const std::string& key) {
  if (!stored) return nullptr;
  const auto found = std::find_if(stored->begin(), stored->end(),
                                  [&](const KernelCode& code) { return code.chip == chip && code.source == key; });
  return found == stored->end() ? nullptr : &*found;
}

// What a file that has kernels for other chips alone has; empty if there is none or it has some for this one.
std::string onlyOthers(const KernelCodes* stored, const std::string& chip) {
  std::set<std::string> chips;
  if (stored)
    for (const KernelCode& code : *stored) chips.insert(code.chip);
  if (chips.empty() || chips.contains(chip)) return "";
  std::string text = "The model's file has kernels for ";
  for (const std::string& each : chips) text += concat(each == *chips.begin() ? "" : ", ", each);
  return concat(text, ", not for ", chip, " ('max compile --target ", chip, "' adds them)");
}

Ref<MaxModule> moduleOf(KernelSource source, const std::string& key, MaxDevice& device, const KernelCodes* stored) {
  if (const KernelCode* code = find(stored, chipOf(device), key)) return loadModule(device, code->code);
  return compileModule(device, std::move(source));
}

// Meanwhile the library of products is loaded for one of `factors`, if that is a type.
void compile(const Users& users, DType factors, MaxDevice& device, const PlaceOptions& options) {
  std::vector<const Users::value_type*> sources;
  for (const Users::value_type& entry : users) sources.push_back(&entry);
  parallelFor(options.lanes, static_cast<int64_t>(sources.size()) + 1, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      checkInterrupt();
      if (i == 0) {
        if (factors != DType::Invalid && !device.isVirtual()) device.loadProducts(factors, options.precision);
        continue;
      }
      const auto& [text, placed] = *sources[static_cast<size_t>(i - 1)];
      KernelSource source;
      source.name = "operator.cu";
      source.text = text;
      setPrecision(source, options.precision);
      const std::string key = keyOf(source);
      const Ref<MaxModule> module = moduleOf(std::move(source), key, device, options.stored);
      // Found now: drivers may load a function when it is first asked for, and wait for their work.
      for (Placed* each : placed) {
        for (const char* kernel : each->kernels())
          if (!device.isVirtual()) static_cast<void>(module->kernel(kernel));
        each->setModule(module, key);
        each->setPrecision(options.precision);
      }
    }
  });
}

void collect(const Graph& graph, const std::string& chip, std::set<std::string>& seen, KernelCodes& kernels) {
  for (const Node* node : graph.nodes()) {
    forEachSubgraph(*node, [&](const Graph& subgraph) { collect(subgraph, chip, seen, kernels); });
    if (!node->placed) continue;
    const auto& placed = static_cast<const Placed&>(*node->placed);
    if (seen.insert(placed.key()).second) kernels.push_back({chip, placed.key(), placed.module()->code()});
  }
}

void collect(const Graph& graph, const RefCounted* home, std::set<const MaxModule*>& modules) {
  for (const Node* node : graph.nodes()) {
    forEachSubgraph(*node, [&](const Graph& subgraph) { collect(subgraph, home, modules); });
    if (node->placed && node->home == home) modules.insert(static_cast<const Placed&>(*node->placed).module().get());
  }
}

class GpuOperators final : public DeviceOperators {
 public:
  GpuOperators() {
#define MAX_ADD_GPU_FAMILY(function) \
  for (const PlaceRow& row : function()) rows_.add(row.domain, row.op, row);
    MAX_FOR_EACH_GPU_FAMILY(MAX_ADD_GPU_FAMILY)
#undef MAX_ADD_GPU_FAMILY
  }

  MaxPrecision precisionFor(const MaxDevice& device, MaxPrecision wanted) const override {
    const MmaFormats formats = mmaFormatsOf(device.architectureName());
    if (wanted == MAX_PRECISION_MEDIUM && formats.hasBfloat16) return wanted;
    return wanted != MAX_PRECISION_HIGHEST && formats.hasTf32 ? MAX_PRECISION_HIGH : MAX_PRECISION_HIGHEST;
  }

  void place(std::span<Node* const> nodes, MaxDevice& device, const PlaceOptions& options) const override {
    Users users;
    DType factors = DType::Invalid;
    for (Node* node : nodes) {
      const PlaceRow* row = rows_.find(node->domain(), node->op());
      Ref<Placed> placed = row ? row->place(*node) : nullptr;
      if (placed && isForLibrary(*node)) factors = node->input(0)->type.dtype;
      if (placed) users[placed->source()].push_back(placed.get());
      node->placed = std::move(placed);
    }
    const std::string others = onlyOthers(options.stored, chipOf(device));
    try {
      compile(users, factors, device, options);
      if (!others.empty() && !device.isVirtual()) logMessage(MAX_LOG_LEVEL_WARNING, others, "; they were compiled now");
    } catch (const Error& error) {
      if (error.status() != MAX_STATUS_UNAVAILABLE || device.isVirtual()) throw;
      logMessage(MAX_LOG_LEVEL_WARNING, "All operators run on the host, since there is no compiler for kernels of ",
                 device.displayName(), ": ", error.message(), others.empty() ? "" : ". ", others);
      for (Node* node : nodes) node->placed = nullptr;
    }
  }

  KernelCodes kernels(const Graph& graph, const MaxDevice& device) const override {
    std::set<std::string> seen;
    KernelCodes kernels;
    collect(graph, chipOf(device), seen, kernels);
    return kernels;
  }

  size_t codeBytes(const Graph& graph, const RefCounted* home) const override {
    std::set<const MaxModule*> modules;
    collect(graph, home, modules);
    size_t bytes = 0;
    for (const MaxModule* module : modules) bytes += module->code().size();
    return bytes;
  }

  bool reads(const Node& node, size_t input) const override {
    return static_cast<const Placed&>(*node.placed).reads(input);
  }

  Ref<Tensor> packed(const Node& node, size_t input) const override {
    return static_cast<const Placed&>(*node.placed).packed(input, *node.inputs[input]->constant);
  }

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    return static_cast<const Placed&>(*request.node.placed).create(request);
  }

 private:
  NameTable<PlaceRow> rows_;
};

class PlacedFunction final : public Placed {
 public:
  PlacedFunction(std::string source, std::initializer_list<const char*> kernels, CreateFunction function,
                 uint64_t contents)
      : Placed(std::move(source), kernels), function_(function), contents_(contents) {}

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override { return function_(*this, request); }
  bool reads(size_t input) const override { return input >= 64 || (contents_ >> input & 1) != 0; }

 private:
  CreateFunction function_;
  uint64_t contents_;
};

}  // namespace

Ref<Placed> placedAs(std::string source, std::initializer_list<const char*> kernels, CreateFunction create,
                     uint64_t contents) {
  return makeRef<PlacedFunction>(std::move(source), kernels, create, contents);
}

// Plans stop until they know what shapes depend on.
bool isKnownToPlan(const Node& node, size_t input) {
  const Value* value = node.input(input);
  return !value || (value->constant && value->constant->hasContents()) ||
         (input < 32 && (node.schema->shapeInputs >> input & 1) != 0);
}

const DeviceOperators* deviceOperators(const MaxDevice& device) {
  if (device.isHost()) return nullptr;
  static const DeviceOperators& instance = *new GpuOperators;  // threads may use it while the process exits
  return &instance;
}

}  // namespace max
