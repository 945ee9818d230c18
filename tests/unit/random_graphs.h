// SPDX-License-Identifier: Apache-2.0
// Random graphs for test_random_graphs: from a few inputs, step by step, operators and patterns that exporters write.
//
// Every value has a bound on its magnitude, so that nothing overflows and errors stay small, and is `exact` if
// both ways to compute it must agree in every bit; only exact values meet comparisons and roundings.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "op_harness.h"

namespace max::test {

using Ints = std::vector<int64_t>;

struct Entry {
  Value* value = nullptr;
  double bound = 1;
  bool exact = false;

  DType dtype() const { return value->type.dtype; }
  const SymbolicShape& dims() const { return value->type.dims; }
  int rank() const { return value->type.rank(); }
  Dim dim(int axis) const { return dims()[static_cast<size_t>(axis < 0 ? axis + rank() : axis)]; }
  bool knows(int axis) const { return dim(axis).isKnown(); }
};

class GraphSource;
// Adds nodes to the graph, or nothing if no value fits.
using Generator = void (*)(GraphSource& source);

class GraphSource {
 public:
  static constexpr double kLargest = 16;  // what outputs may be; larger values are scaled down

  explicit GraphSource(uint32_t seed) : random_(seed), seed_(seed) {}

  // The graph, the same for equal seeds.
  Ref<Graph> build(int steps, std::span<const Generator> generators) {
    graph_ = makeRef<Graph>(concat("seed ", seed_));
    current_ = graph_.get();
    addInputs();
    for (int i = 0; i < steps; ++i) {
      try {
        generators[static_cast<size_t>(integer(0, static_cast<int64_t>(generators.size()) - 1))](*this);
      } catch (const Error&) {
        enter(nullptr);  // shapes that do not go together; the nodes before stay, unused
      }
    }
    const size_t outputs = std::min<size_t>(entries_.size(), 4);
    for (size_t i = entries_.size() - outputs; i < entries_.size(); ++i)
      graph_->addOutput(graph_->addNode("", "Identity", {entries_[i].value})->output());
    graph_->sort();
    return graph_;
  }

  // Inputs for it; the sizes of symbols change with `round`.
  static std::vector<Ref<Tensor>> inputs(const Graph& graph, uint32_t seed, int64_t round) {
    Random random(seed * 7 + static_cast<uint32_t>(round));
    std::vector<Ref<Tensor>> tensors;
    for (const Value* input : graph.inputs()) {
      Shape shape;
      for (const Dim& dim : input->type.dims)
        shape.push(dim.isKnown() ? dim.value() : dim.symbolName() == "n" ? round + 1 : 5 - 2 * round);
      tensors.push_back(randomTensor(random, input->type.dtype, shape, -2, 2));
    }
    return tensors;
  }

  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return integer(1, 100) <= percent; }
  template <class T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[integer(0, static_cast<int64_t>(list.size()) - 1)];
  }

  // A value that fits; fails if there is none. Newer ones are likelier.
  template <class Fits>
  Entry any(const Fits& fits) {
    std::vector<const Entry*> found;
    for (const Entry& entry : entries_)
      if (fits(entry)) found.push_back(&entry);
    require(!found.empty(), MAX_STATUS_NOT_FOUND, "no value fits");
    const size_t count = found.size(), recent = std::min<size_t>(count, 4);
    return *found[chance(60) ? count - 1 - random_() % recent : random_() % count];
  }
  Entry floats(int leastRank = 0, int mostRank = 5) {
    return any([&](const Entry& entry) {
      return entry.dtype() == DType::Float32 && entry.rank() >= leastRank && entry.rank() <= mostRank;
    });
  }
  Entry exact(DType dtype, int leastRank = 0) {
    return any([&](const Entry& entry) { return entry.exact && entry.dtype() == dtype && entry.rank() >= leastRank; });
  }
  // A tensor [n, channels, ..] whose number of channels is known.
  Entry image(int leastRank = 3) {
    return any([&](const Entry& entry) {
      return entry.dtype() == DType::Float32 && entry.rank() >= leastRank && entry.rank() <= 4 && entry.knows(1);
    });
  }

  Node* nodes(std::string_view op, std::vector<Value*> values, Attributes attributes, size_t outputs) {
    return current_->addNode("", op, std::move(values), std::move(attributes), outputs);
  }
  Value* node(std::string_view op, std::vector<Value*> values, Attributes attributes = {}) {
    return nodes(op, std::move(values), std::move(attributes), 1)->output();
  }
  Value* scalar(double number, DType dtype = DType::Float32) { return filled({}, number, dtype); }
  Value* list(const Ints& numbers) {
    return current_->addConstant(Tensor::copyOf(DType::Int64, {static_cast<int64_t>(numbers.size())}, numbers.data()));
  }
  Value* weight(const Shape& shape, double bound = 1, DType dtype = DType::Float32) {
    return current_->addConstant(randomTensor(random_, dtype, shape, -bound, bound));
  }
  Value* filled(const Shape& shape, double number, DType dtype = DType::Float32) {
    Ref<Tensor> tensor = Tensor::allocate(dtype, shape);
    for (int64_t i = 0; i < tensor->count(); ++i) storeNumber(tensor->mutableData(), i, dtype, number);
    return current_->addConstant(tensor);
  }

  // A new value that later steps may use.
  void add(Value* value, double bound, bool isExact = false) {
    if (!value->type.ranked || value->type.rank() > 5) return;
    if (isFloat(value->type.dtype) && bound > kLargest) {
      value = node("Mul", {value, scalar(4 / bound, value->type.dtype)});
      bound = 4;
      isExact = false;
    }
    entries_.push_back({value, bound, isExact});
  }

  // Nodes go into a subgraph until this is called with NULL.
  void enter(Graph* subgraph) { current_ = subgraph ? subgraph : graph_.get(); }
  Graph& graph() { return *graph_; }

 private:
  void addInput(DType dtype, const SymbolicShape& dims) {
    Value* value = graph_->addInput(concat("x", graph_->inputs().size()), TensorType::of(dtype, dims));
    entries_.push_back({value, 2, true});
  }
  void addInputs() {
    const Dim n = graph_->dimTable().symbol("n"), m = graph_->dimTable().symbol("m");
    addInput(DType::Bool, {});
    addInput(DType::Int64, {n, 4});
    addInput(DType::Int32, {4, m});
    addInput(DType::Bool, {n, 4, 6});
    addInput(DType::Float16, {n, 4, 6});
    addInput(DType::Float32, {4, 6});
    addInput(DType::Float32, {n, 4, 7, 8});
    addInput(DType::Float32, {m, 8});
    addInput(DType::Float32, {n, m, 8});
    addInput(DType::Float32, {n, 4, 6});
  }

  Random random_;
  uint32_t seed_;
  Ref<Graph> graph_;
  Graph* current_ = nullptr;
  std::vector<Entry> entries_;
};

}  // namespace max::test
