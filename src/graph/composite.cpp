// SPDX-License-Identifier: Apache-2.0
#include "graph/composite.h"

#include <algorithm>

#include "base/checked.h"
#include "base/name_table.h"
#include "graph/composites/tables.h"
#include "graph/parsed_row.h"
#include "graph/unknown_operator.h"

namespace max {

namespace {

void inferNothing(InferContext&) {}

struct Table {
  struct Row {
    explicit Row(const Composite& source) : composite(source), parsed(source.schema.types, source.schema.attributes) {
      composite.schema.parsed = &parsed;
      if (!composite.schema.infer) composite.schema.infer = &inferNothing;
    }
    Row(const Row&) = delete;

    Composite composite;
    ParsedRow parsed;
  };
  NameTable<Row> byName;
  std::vector<const Composite*> all;

  Table() {
#define MAX_ADD_COMPOSITES(function) \
  for (const Composite& row : function()) add(row);
    MAX_FOR_EACH_COMPOSITE_TABLE(MAX_ADD_COMPOSITES)
#undef MAX_ADD_COMPOSITES
  }

  void add(const Composite& composite) {
    const OpSchema& schema = composite.schema;
    require(!byName.find(schema.domain, schema.name), MAX_STATUS_ALREADY_EXISTS, "Operator '", schema.name,
            "' is already defined");
    all.push_back(&byName.add(schema.domain, schema.name, composite)->composite);
  }
};

const Table& table() {
  static const Table& instance = *new Table;  // never destroyed, like its rows
  return instance;
}

}  // namespace

const Composite* findComposite(std::string_view domain, std::string_view op) {
  const Table::Row* row = table().byName.find(domain, op);
  return row ? &row->composite : nullptr;
}

std::vector<const Composite*> allComposites() { return table().all; }

void Expansion::fail(MaxStatus status, std::string_view text) const {
  max::fail(status, node_.description(), ": ", text);
}

DType Expansion::dtypeOf(const Value* value) const {
  if (!value) invalid("an input is missing");
  if (value->type.dtype == DType::Invalid) unsupported("the data type of '", value->name, "' is not known");
  return value->type.dtype;
}

int64_t Expansion::integerWithin(std::string_view name, int64_t fallback, int64_t least, int64_t most) const {
  const int64_t value = integer(name, fallback);
  if (value < least || value > most)
    invalid("attribute '", name, "' is ", value, ", not between ", least, " and ", most);
  return value;
}

int Expansion::rank(const Value* value) const {
  if (!value) invalid("an input is missing");
  if (!value->type.ranked) unsupported("the number of dimensions of '", value->name, "' is not known");
  return value->type.rank();
}

int Expansion::axis(int64_t value, int rank) const {
  if (value < -rank || value >= rank) invalid("axis ", value, " is out of range for rank ", rank);
  return static_cast<int>(value < 0 ? value + rank : value);
}

Extent Expansion::dim(Value* value, int axis) {
  const int count = rank(value), needed = axis < 0 ? 1 : axis + 1;  // the last axis of a scalar is -1
  if (count < needed) invalid("'", value->name, "' has ", count, " dimensions, not ", needed, " or more");
  const Dim& known = value->type.dims[static_cast<size_t>(axis)];
  if (known.isKnown()) return known.value();
  return op("Shape", {value}, attributesOf({{"start", int64_t{axis}}, {"end", int64_t{axis} + 1}}));
}

Values Expansion::dims(Value* value) {
  Values result;
  for (int i = 0; i < rank(value); ++i) result.push_back(valueOf(dim(value, i)));
  return result;
}

Values Expansion::nodes(std::string_view domain, std::string_view op, Values inputs, Attributes attributes,
                        size_t outputCount) {
  const OpSchema* schema = findSchema(domain, op);
  if (!schema) {
    if (!findComposite(domain, op)) unsupported("its part ", op, " is not supported");
    return addOperator(graph_, domain, op, std::move(inputs), std::move(attributes),
                       std::vector<std::string>(outputCount), max::concat(label_, "/", op));
  }
  Node* node = graph_.addNode(*schema, std::move(inputs), std::move(attributes), std::vector<std::string>(outputCount),
                              max::concat(label_, "/", op));
  node->sources = {label_};
  return node->outputs;
}

Value* Expansion::cast(Value* value, DType dtype) {
  if (dtypeOf(value) == dtype) return value;
  return op("Cast", {value}, attributesOf({{"to", onnxFromDType(dtype)}}));
}

Value* Expansion::transpose(Value* value, std::vector<int64_t> perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return value;
  return op("Transpose", {value}, attributesOf({{"perm", std::move(perm)}}));
}

Value* Expansion::concat(Values values, int64_t axis) {
  return values.size() == 1 ? values[0] : op("Concat", std::move(values), attributesOf({{"axis", axis}}));
}

Value* Expansion::slice(Value* value, int64_t axis, Extent begin, Extent end, int64_t step) {
  return op("Slice", {value, valueOf(begin), valueOf(end), ints({axis}), ints({step})});
}

Values Expansion::split(Value* value, int64_t axis, const std::vector<int64_t>& sizes) {
  return nodes("", "Split", {value, ints(sizes)}, attributesOf({{"axis", axis}}), sizes.size());
}

Value* Expansion::gather(Value* value, Value* indices, int64_t axis) {
  return op("Gather", {value, indices}, attributesOf({{"axis", axis}}));
}

Value* Expansion::unsqueeze(Value* value, const std::vector<int64_t>& axes) {
  return axes.empty() ? value : op("Unsqueeze", {value, ints(axes)});
}

Value* Expansion::squeeze(Value* value, const std::vector<int64_t>& axes) {
  return axes.empty() ? value : op("Squeeze", {value, ints(axes)});
}

Value* Expansion::reshape(Value* value, const std::vector<Extent>& shape) {
  return op("Reshape", {value, list(shape)}, attributesOf({{"allowzero", int64_t{1}}}));
}

Value* Expansion::expand(Value* value, const std::vector<Extent>& shape) { return op("Expand", {value, list(shape)}); }

Value* Expansion::reduce(std::string_view name, Value* value, const std::vector<int64_t>& axes, bool keep) {
  if (axes.empty()) return value;
  return op(name, {value, ints(axes)}, attributesOf({{"keepdims", int64_t{keep}}}));
}

Value* Expansion::softmax(Value* value, int64_t axis) { return op("Softmax", {value}, attributesOf({{"axis", axis}})); }

Value* Expansion::range(Extent size) {
  return op("Range", {scalar(DType::Int64, 0), scalarOf(size), scalar(DType::Int64, 1)});
}

Value* Expansion::ints(const std::vector<int64_t>& values) {
  return constant(Tensor::copyOf(DType::Int64, Shape{static_cast<int64_t>(values.size())}, values.data()));
}

Value* Expansion::scalar(DType dtype, double value) { return constant(Tensor::scalar(dtype, value)); }

Value* Expansion::list(const std::vector<Extent>& extents) {
  const bool known = std::all_of(extents.begin(), extents.end(), [](const Extent& extent) { return extent.isKnown(); });
  if (known) {
    std::vector<int64_t> numbers;
    for (const Extent& extent : extents) numbers.push_back(extent.number);
    return ints(numbers);
  }
  Values parts;
  for (const Extent& extent : extents) parts.push_back(valueOf(extent));
  return concat(std::move(parts), 0);
}

Extent Expansion::combined(std::string_view name, Extent a, Extent b) { return op(name, {valueOf(a), valueOf(b)}); }

Extent Expansion::plus(Extent a, Extent b) {
  return a.isKnown() && b.isKnown() ? Extent(checkedAdd(a.number, b.number)) : combined("Add", a, b);
}

Extent Expansion::minus(Extent a, Extent b) {
  return a.isKnown() && b.isKnown() ? Extent(checkedAdd(a.number, -b.number)) : combined("Sub", a, b);
}

Extent Expansion::times(Extent a, Extent b) {
  return a.isKnown() && b.isKnown() ? Extent(checkedMultiply(a.number, b.number)) : combined("Mul", a, b);
}

Extent Expansion::dividedBy(Extent a, int64_t b) { return a.isKnown() ? Extent(a.number / b) : combined("Div", a, b); }

Value* Expansion::scalarOf(Extent extent) {
  return extent.isKnown() ? scalar(DType::Int64, static_cast<double>(extent.number)) : squeeze(extent.value, {0});
}

namespace {

// The node as the user gave it: for checks and messages, never part of the graph.
Node statedNode(Graph& graph, const OpSchema& schema, Values inputs, Attributes attributes, const std::string& label) {
  Node node;
  node.graph = &graph;
  node.schema = &schema;
  node.name = label;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return node;
}

// Outputs have the requested names and are separate values.
Values namedOutputs(Graph& graph, const Expansion& expansion, std::span<const std::string> names) {
  Values results;
  for (size_t i = 0; i < names.size(); ++i) {
    Value* value = expansion.outputs()[i];
    if (!value && !names[i].empty())
      max::fail(MAX_STATUS_UNIMPLEMENTED, expansion.node().description(), ": output ", i, " is not supported");
    if (!value) {
      results.push_back(nullptr);
      continue;
    }
    const bool isNew =
        value->producer && value->graph == &graph && value->producer->name.starts_with(expansion.node().name);
    if (!names[i].empty() || !isNew) {
      Node* identity = graph.addNode(*findSchema("", "Identity"), {value}, {}, names.subspan(i, 1),
                                     max::concat(expansion.node().name, "/Identity"));
      identity->sources = {expansion.node().name};
      value = identity->output();
    }
    results.push_back(value);
  }
  return results;
}

Values expand(Graph& graph, const Composite& composite, const Node& stated, std::span<const std::string> outputNames) {
  checkArity(stated, outputNames.size());
  checkAttributes(stated);
  std::vector<InferContext::Output> inferred =
      inferNode(stated, &graph.dimTable(), inputTypes(stated), outputNames.size());
  Expansion expansion(graph, stated, outputNames.size());
  composite.expand(expansion);
  const Values results = namedOutputs(graph, expansion, outputNames);
  for (size_t i = 0; i < results.size(); ++i)  // the composite may know more than its parts
    if (results[i] && inferred[i].type.ranked) refine(results[i]->type, std::move(inferred[i].type));
  return results;
}

}  // namespace

Values addOperator(Graph& graph, std::string_view domain, std::string_view op, Values inputs, Attributes attributes,
                   std::span<const std::string> outputNames, const std::string& name) {
  const Composite* composite = findComposite(domain, op);
  if (!composite) {
    const OpSchema* schema = findSchema(domain, op);
    if (!schema) failUnknownOperator(name, domain, op);
    return graph.addNode(*schema, std::move(inputs), std::move(attributes), outputNames, name)->outputs;
  }
  const std::string& label = name.empty() && !outputNames.empty() ? outputNames[0] : name;
  const Node stated = statedNode(graph, composite->schema, std::move(inputs), std::move(attributes), label);
  const size_t before = graph.nodes().size();
  try {
    return expand(graph, *composite, stated, outputNames);
  } catch (const Error& error) {
    while (graph.nodes().size() > before) graph.erase(graph.nodes().back());
    const std::string description = stated.description();
    if (error.message().starts_with(description)) throw;
    max::fail(error.status(), description, ": ", error.message());
  }
}

}  // namespace max
