// SPDX-License-Identifier: Apache-2.0
#include "extension/extension.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/fork.h"
#include "base/name_table.h"
#include "extension/extension_op.h"
#include "graph/composite.h"
#include "graph/signature.h"
#include "max/version.h"
#include "ops/operator_library.h"

namespace max {

namespace {

constexpr int32_t kMaxOperands = 65536;
constexpr int kMaxTypeVariables = 16;
constexpr MaxOperatorTraits kKnownTraits = MAX_OPERATOR_TRAITS_RANDOM | MAX_OPERATOR_TRAITS_DATA_DEPENDENT;

// Changes are guarded by processMutex().
NameTable<const ExtensionOperator*>& registry() {
  static NameTable<const ExtensionOperator*>& instance = *new NameTable<const ExtensionOperator*>;
  return instance;
}

const ExtensionOperator* find(std::string_view domain, std::string_view name) {
  const ExtensionOperator* const* op = registry().find(domain, name);
  return op ? *op : nullptr;
}

std::string nameOf(const ExtensionOperator& op) { return concat(op.domain, ".", op.name); }

template <class... Parts>
[[noreturn]] void refuse(const ExtensionOperator& op, const Parts&... parts) {
  invalidArgument("Operator '", nameOf(op), "' of extension '", op.extension, "': ", parts...);
}

void checkCounts(const ExtensionOperator& op, const char* what, int32_t least, int32_t most) {
  const bool isList = most == MAX_OPERATOR_COUNT_ANY;
  if (least < 0 || least > kMaxOperands || most > kMaxOperands || (!isList && most < least))
    refuse(op, "it cannot have ", least, " to ", most, " ", what);
}

void checkSlots(const ExtensionOperator& op, const char* what, size_t slots, bool repeats, int32_t most) {
  const bool isList = most == MAX_OPERATOR_COUNT_ANY;
  if (repeats != isList || (!isList && slots != static_cast<size_t>(most)))
    refuse(op, "types '", op.types, "' do not match its ", what, ": ",
           isList ? std::string("any number") : concat("at most ", most));
}

TypeSignature signatureOf(const ExtensionOperator& op) {
  try {
    return TypeSignature(op.types);
  } catch (const Error& error) {
    refuse(op, "types '", op.types, "': ", error.message());
  }
}

void checkTypes(const ExtensionOperator& op) {
  const TypeSignature signature = signatureOf(op);
  checkSlots(op, "inputs", signature.inputs.size(), signature.inputsRepeat, op.functions.maxInputs);
  checkSlots(op, "outputs", signature.outputs.size(), signature.outputsRepeat, op.functions.maxOutputs);
  if (signature.variableCount > kMaxTypeVariables) refuse(op, "types '", op.types, "' have too many constraints");
  for (const TypeSlot& slot : signature.inputs)
    if (slot.allowed == 0) refuse(op, "types '", op.types, "' allow no type for an input");
}

// "alpha=f axes=I"
void checkAttributeTypes(const ExtensionOperator& op) {
  if (op.attributes == "*") return;
  std::string_view rest = op.attributes;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const size_t end = part.find('=');
    const bool isRow = end != part.npos && end > 0 && end + 2 == part.size();
    if (!isRow || std::string_view("ifstIFS").find(part[end + 1]) == std::string_view::npos)
      refuse(op, "attributes '", op.attributes, "': '", part, "' is not NAME=TYPE with a type of i, f, s, t, I, F, S");
  }
}

void checkFunctions(const ExtensionOperator& op) {
  const MaxOperator& row = op.functions;
  if (!row.infer) refuse(op, "infer is NULL");
  if (!row.execute) refuse(op, "execute is NULL");
  if (row.destroy && !row.prepare) refuse(op, "it has destroy but not prepare");
}

// Any inputs; the shape rule sets all types.
std::string openTypes(const MaxOperator& row) {
  std::string types = "any...->";
  if (row.maxOutputs == MAX_OPERATOR_COUNT_ANY) return types + "*...";
  for (int32_t i = 0; i < row.maxOutputs; ++i) types += i ? ",*" : "*";
  return types;
}

void requireDomain(const ExtensionOperator& op) {
  if (op.name.empty()) invalidArgument("Extension '", op.extension, "': an operator has no name");
  const bool isReserved = op.domain.empty() || op.domain == "ai.onnx" || op.domain == kMaxDomain;
  if (isReserved)
    invalidArgument("Operator '", op.name, "' of extension '", op.extension, "': its domain cannot be '", op.domain,
                    "'");
}

bool isSame(const MaxOperator& a, const MaxOperator& b) {
  return a.infer == b.infer && a.prepare == b.prepare && a.destroy == b.destroy && a.execute == b.execute &&
         a.userData == b.userData;
}

[[noreturn]] void failDefined(const ExtensionOperator& op, const ExtensionOperator* known) {
  fail(MAX_STATUS_ALREADY_EXISTS, "Operator '", nameOf(op), "' of extension '", op.extension,
       "' is already defined, by ", known ? concat("extension '", known->extension, "'") : std::string("this library"));
}

// Throws if it is already defined elsewhere.
void requireOwn(const ExtensionOperator& op) {
  const ExtensionOperator* known = find(op.domain, op.name);
  const bool isOwn = known ? isSame(known->functions, op.functions)
                           : !findSchema(op.domain, op.name) && !findComposite(op.domain, op.name);
  if (!isOwn) failDefined(op, known);
}

// From then on the name is this operator's.
const ExtensionOperator& keep(ExtensionOperator op) {
  auto made = std::make_unique<const ExtensionOperator>(std::move(op));
  const std::lock_guard lock(processMutex());
  const ExtensionOperator* known = find(made->domain, made->name);
  if (known && !isSame(known->functions, made->functions)) failDefined(*made, known);
  if (known) return *known;
  registry().add(made->domain, made->name, made.get());
  return *made.release();
}

OpSchema schemaOf(const ExtensionOperator& op) {
  const MaxOperator& row = op.functions;
  uint32_t traits = kTraitNone;
  if (row.traits & MAX_OPERATOR_TRAITS_RANDOM) traits |= kTraitRandom;
  if (row.traits & MAX_OPERATOR_TRAITS_DATA_DEPENDENT) traits |= kTraitDataDependent;
  if (row.maxInputs == MAX_OPERATOR_COUNT_ANY) traits |= kTraitVariadic;
  return {op.domain, op.name,        row.minInputs, row.maxInputs,   row.minOutputs, row.maxOutputs,
          op.types,  inferExtension, traits,        row.shapeInputs, op.attributes,  op.extension};
}

void publish(const ExtensionOperator& op) {
  cpuOperators().add(rowOf(op));
  try {
    registerSchema(schemaOf(op));
  } catch (const Error& error) {
    // Another thread may have been faster with the same operator.
    if (error.status() != MAX_STATUS_ALREADY_EXISTS) throw;
  }
}

}  // namespace

ExtensionOperator checkedOperator(const MaxOperator& row, std::string extension) {
  ExtensionOperator op{std::move(extension),       row.domain ? row.domain : "",          row.name ? row.name : "",
                       row.types ? row.types : "", row.attributes ? row.attributes : "*", row};
  requireDomain(op);
  checkCounts(op, "inputs", row.minInputs, row.maxInputs);
  checkCounts(op, "outputs", row.minOutputs, row.maxOutputs);
  if (row.maxOutputs == 0) refuse(op, "it has no outputs");
  require((row.traits & ~kKnownTraits) == 0, MAX_STATUS_UNIMPLEMENTED, "Operator '", nameOf(op), "' of extension '",
          op.extension, "': traits are ", row.traits,
          "; this is version " MAX_VERSION_STRING " of the library, which supports ", kKnownTraits);
  if (row.maxInputs >= 0 && row.maxInputs < 32 && row.shapeInputs >> row.maxInputs != 0)
    refuse(op, "shapeInputs is ", row.shapeInputs, ", but it has ", row.maxInputs, " inputs");
  if (row.types)
    checkTypes(op);
  else
    op.types = openTypes(row);
  checkAttributeTypes(op);
  checkFunctions(op);
  return op;
}

void requireNewOperators(std::span<const ExtensionOperator> operators) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const ExtensionOperator& op : operators) {
    if (!names.emplace(op.domain, op.name).second) refuse(op, "it is in the table twice");
    requireOwn(op);
  }
}

void addExtensionOperators(std::vector<ExtensionOperator> operators, bool& isUsed) {
  requireNewOperators(operators);
  for (ExtensionOperator& op : operators) {
    if (findSchema(op.domain, op.name)) continue;
    isUsed = true;
    publish(keep(std::move(op)));
  }
}

const ExtensionOperator& extensionOperatorOf(const Node& node) {
  const ExtensionOperator* op = find(node.domain(), node.op());
  require(op != nullptr, MAX_STATUS_INTERNAL, node.description(), ": no extension has this operator");
  return *op;
}

}  // namespace max
