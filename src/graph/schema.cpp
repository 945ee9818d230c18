// SPDX-License-Identifier: Apache-2.0
#include "graph/schema.h"

#include <algorithm>
#include <mutex>

#include "base/fork.h"
#include "base/name_table.h"
#include "graph/parsed_row.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

struct Row {
  explicit Row(const OpSchema& source) : schema(source), parsed(source.types, source.attributes) {
    schema.parsed = &parsed;
  }
  Row(const Row&) = delete;

  OpSchema schema;
  ParsedRow parsed;
};

struct Registry {
  NameTable<Row> byName;
  std::vector<const OpSchema*> all;  // in order of registration

  Registry() {
#define MAX_ADD_SCHEMAS(function) \
  for (const OpSchema& schema : function()) add(schema);
    MAX_FOR_EACH_SCHEMA_TABLE(MAX_ADD_SCHEMAS)
#undef MAX_ADD_SCHEMAS
  }

  void add(const OpSchema& schema) {
    require(!byName.find(schema.domain, schema.name), MAX_STATUS_ALREADY_EXISTS, "Operator '", schema.domain,
            schema.domain.empty() ? "" : ".", schema.name, "' is already defined");
    all.reserve(all.size() + 1);
    all.push_back(&byName.add(schema.domain, schema.name, schema)->schema);
  }
};

// Never destroyed: threads may use it while the process exits. Changes are guarded by processMutex().
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

// The dtypes of a row's type variables in one node.
struct Binding {
  static constexpr int kMaxVariables = 16;
  DType dtypes[kMaxVariables] = {};
  size_t inputs[kMaxVariables] = {};
};

void bindInput(const InferContext& context, size_t i, const TypeSlot& slot, Binding& binding) {
  const DType dtype = context.dtype(i);
  if (dtype == DType::Invalid) return;
  if (!(slot.allowed & setOf(dtype)))
    context.fail("input ", i, " cannot be ", dtype, "; allowed are ", namesOf(slot.allowed));
  if (slot.variable < 0) return;
  DType& bound = binding.dtypes[slot.variable];
  size_t& first = binding.inputs[slot.variable];
  if (bound == DType::Invalid) {
    bound = dtype;
    first = i;
  } else if (bound != dtype) {
    context.fail("input ", i, " is ", dtype, " but input ", first, " is ", bound, "; their types must agree");
  }
}

DType outputDType(const TypeSlot& slot, const Binding& binding) {
  if (slot.variable >= 0) return binding.dtypes[slot.variable];
  const bool single = slot.allowed && !(slot.allowed & (slot.allowed - 1));
  return single ? dtypeOfSet(slot.allowed) : DType::Invalid;
}

void applySignature(InferContext& context, const TypeSignature& signature) {
  Binding binding;
  for (size_t i = 0; i < context.inputCount(); ++i)
    if (context.has(i))
      if (const TypeSlot* slot = signature.input(i)) bindInput(context, i, *slot, binding);
  for (size_t i = 0; i < context.outputCount(); ++i)
    if (const TypeSlot* slot = signature.output(i)) context.setDType(i, outputDType(*slot, binding));
}

void checkOutputs(const InferContext& context) {
  for (size_t i = 0; i < context.outputs().size(); ++i) {
    const TensorType& type = context.outputs()[i].type;
    if (type.rank() > kMaxRank)
      context.fail("output ", i, " would have ", type.rank(), " dimensions; at most ", kMaxRank);
    for (const Dim& dim : type.dims)
      if (dim.isKnown() && dim.value() < 0) context.fail("output ", i, " would have the shape ", type.dims);
  }
}

bool isCountKnown(const SymbolicShape& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.isKnown(); }) ||
         std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is(0); });
}

// A view has the elements of its input.
void checkView(const InferContext& context) {
  if (!context.ranked(0) || context.outputs().empty() || !context.outputs()[0].type.ranked) return;
  const SymbolicShape &from = context.dims(0), &to = context.outputs()[0].type.dims;
  if (!isCountKnown(from) || !isCountKnown(to)) return;  // products of symbols cost more than they are worth
  const Dim before = product(from), after = product(to);
  if (before.isKnown() && after.isKnown() && before != after)
    context.fail("numbers of elements disagree: ", before, " and ", after);
}

// A rule that has not seen the contents that shapes depend on may be right, but a plan must not rely on it: it runs
// again when they are known.
void forgetGuesses(InferContext& context) {
  if (!context.isPlan() || !(context.missing() & context.node().schema->shapeInputs)) return;
  for (size_t i = 0; i < context.outputCount(); ++i)
    if (context.outputs()[i].type.ranked && concrete(context.outputs()[i].type.dims)) context.setUnknown(i);
}

}  // namespace

const TypeSignature* OpSchema::signature() const { return parsed ? &parsed->signature.get() : nullptr; }
const AttributeRules* OpSchema::attributeRules() const { return parsed ? &parsed->attributes.get() : nullptr; }
bool OpSchema::hasOutputList() const { return parsed && signature()->outputsRepeat; }

const OpSchema* findSchema(std::string_view domain, std::string_view op) {
  const Row* row = registry().byName.find(domain, op);
  return row ? &row->schema : nullptr;
}

std::vector<const OpSchema*> allSchemas() {
  Registry& all = registry();
  const std::lock_guard lock(processMutex());
  return all.all;
}

void registerSchema(const OpSchema& schema) {
  const TypeSignature signature(schema.types);  // malformed strings fail here, not on use
  const AttributeRules attributeRules(schema.attributes);
  Registry& all = registry();
  const std::lock_guard lock(processMutex());
  all.add(schema);
}

void checkArity(const Node& node, size_t outputCount) {
  const OpSchema& schema = *node.schema;
  const auto check = [&](const char* what, size_t count, int least, int most, bool list) {
    const bool fits = count >= static_cast<size_t>(least) && (list || count <= static_cast<size_t>(most));
    if (!fits)
      invalidArgument(node.description(), ": has ", count, " ", what, ", needs ", least,
                      list            ? " or more"
                      : least == most ? ""
                                      : concat(" to ", most));
  };
  check("inputs", node.inputs.size(), schema.minInputs, schema.maxInputs, schema.has(kTraitVariadic));
  check("outputs", outputCount, schema.minOutputs, schema.maxOutputs, schema.hasOutputList());
  // Lists have no gaps. (Loop's list follows two optional inputs and no required ones.)
  const bool isList = schema.has(kTraitVariadic) && schema.minInputs > 0 && schema.domain != kMaxDomain;
  const size_t required = isList ? node.inputs.size() : static_cast<size_t>(schema.minInputs);
  for (size_t i = 0; i < required; ++i)
    if (!node.input(i)) invalidArgument(node.description(), ": input ", i, " is required");
}

void checkAttributes(const Node& node) {
  const AttributeRules* rules = node.schema->attributeRules();
  if (!rules) return;
  for (const auto& [name, attribute] : node.attributes.entries()) {
    const std::string wrong = wrongAttribute(*rules, name, attribute);
    if (!wrong.empty()) invalidArgument(node.description(), ": ", wrong);
  }
}

std::vector<InputType> inputTypes(const Node& node) {
  std::vector<InputType> types(node.inputs.size());
  for (size_t i = 0; i < types.size(); ++i) {
    const Value* value = node.inputs[i];
    if (value) types[i] = {true, value->type, value->constant.get(), value->elements ? &*value->elements : nullptr};
  }
  return types;
}

std::vector<InferContext::Output> inferNode(const Node& node, DimTable* dims, std::span<const InputType> inputs) {
  return inferNode(node, dims, inputs, node.outputs.size());
}

std::vector<InferContext::Output> inferNode(const Node& node, DimTable* dims, std::span<const InputType> inputs,
                                            size_t outputCount) {
  InferContext context(node, dims, inputs, outputCount);
  try {
    if (const TypeSignature* signature = node.schema->signature()) applySignature(context, *signature);
    node.schema->infer(context);
    checkOutputs(context);
    if (node.schema->has(kTraitView)) checkView(context);
    forgetGuesses(context);
  } catch (const Error& error) {
    // Errors of attributes and size arithmetic do not name their node.
    if (error.message().starts_with("node '")) throw;
    if (error.status() == MAX_STATUS_INVALID_ARGUMENT) context.fail(error.message());
    fail(error.status(), node.description(), ": ", error.message());
  }
  return context.takeOutputs();
}

}  // namespace max
