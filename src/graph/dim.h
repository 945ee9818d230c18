// SPDX-License-Identifier: Apache-2.0
// A dimension of a tensor in a graph: a number or a symbolic expression.
//
// Symbolic dimensions are polynomials over atoms (symbols, floor divisions,
// minima, maxima) in a canonical form, interned in the DimTable of a model, so
// that equality is one comparison. "batch * 12 * 64 / (12 * 64)" is "batch".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/shape.h"

namespace max {

class DimTable;
struct DimExpression;  // interned in a DimTable

class Dim {
 public:
  Dim() = default;
  Dim(int64_t value) : value_(value) {}

  bool isKnown() const { return expression_ == nullptr; }
  int64_t value() const { return value_; }  // of a known dimension
  const DimExpression* expression() const { return expression_; }
  bool is(int64_t value) const { return isKnown() && value_ == value; }
  // The name if the dimension is a plain named symbol, else empty.
  std::string_view symbolName() const;
  bool isAnonymous() const;             // a new unknown: nothing is known about it
  bool isAtLeast(int64_t bound) const;  // provably, as symbols are at least 0

  friend bool operator==(const Dim& a, const Dim& b) { return a.expression_ == b.expression_ && a.value_ == b.value_; }

 private:
  friend class DimTable;
  struct Symbolic {};
  Dim(Symbolic, const DimExpression* expression) : value_(0), expression_(expression) {}
  int64_t value_ = 0;
  const DimExpression* expression_ = nullptr;
};

// Known operands are computed at once (overflow is OUT_OF_RANGE). Expressions beyond a size limit become new unknown
// symbols.
Dim operator+(Dim a, Dim b);
Dim operator-(Dim a, Dim b);
Dim operator*(Dim a, Dim b);
Dim floorDivide(Dim a, Dim b);  // b must not be known zero
Dim ceilDivide(Dim a, Dim b);
Dim minimum(Dim a, Dim b);
Dim maximum(Dim a, Dim b);

using SymbolicShape = std::vector<Dim>;

Dim product(const SymbolicShape& dims, size_t from, size_t to);
inline Dim product(const SymbolicShape& dims) { return product(dims, 0, dims.size()); }
SymbolicShape symbolic(const Shape& shape);
// The concrete shape if all dimensions are known.
std::optional<Shape> concrete(const SymbolicShape& shape);

void appendTo(std::string& text, Dim dim);                     // "batch", "2*batch + 1", "?"
void appendTo(std::string& text, const SymbolicShape& shape);  // "[batch, 3, 224, 224]"
void appendNumbered(std::string& text, Dim dim);               // "2*?7": unknowns are numbered in their table

// Owns the symbols and expressions of one model; shared by a graph and its subgraphs.
// Not thread-safe: only used while a graph is built and compiled.
class DimTable {
 public:
  DimTable();
  ~DimTable();
  DimTable(const DimTable&) = delete;
  DimTable& operator=(const DimTable&) = delete;

  Dim symbol(std::string_view name);  // the same name is the same dimension
  Dim unknown();                      // a new anonymous dimension
  static Dim anonymous();             // that of plans: needs no table, equal to itself
  // The value of a dimension when symbols are bound to values; nullopt if one is not bound.
  static std::optional<int64_t> evaluate(Dim dim, const std::function<std::optional<int64_t>(Dim)>& valueOfSymbol);

  struct Impl;
  Impl& impl() { return *impl_; }
  static Dim make(const DimExpression* expression) { return Dim(Dim::Symbolic(), expression); }

 private:
  std::unique_ptr<Impl> impl_;
};

// Copies dimensions to another table: equal ones stay equal.
class DimCopier {
 public:
  explicit DimCopier(DimTable& target) : target_(target) {}
  Dim copy(Dim dim);

 private:
  DimTable& target_;
  std::unordered_map<const void*, Dim> anonymous_;
};

}  // namespace max
