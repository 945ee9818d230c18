// SPDX-License-Identifier: Apache-2.0
#include "graph/dim.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/load_budget.h"
#include "base/name_map.h"

namespace max {

namespace {

// Limits on an expression; beyond them it becomes a new unknown symbol.
constexpr size_t kMaxTerms = 16;
constexpr size_t kMaxDegree = 8;
constexpr size_t kMaxSize = 64;  // symbols and operators, including nested ones

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::min();

// coefficient * product of atoms; `atoms` is sorted and may repeat an atom (a power).
struct Term {
  int64_t coefficient;
  std::vector<uint32_t> atoms;
};

// Sum of terms with distinct monomials in monomial order, no zero coefficients.
using Polynomial = std::vector<Term>;

enum class AtomKind { Symbol, Anonymous, FloorDivide, Minimum, Maximum };

struct Atom {
  AtomKind kind;
  std::string name;  // of a symbol
  Dim a, b;          // operands of the others
  int64_t lower;     // a lower bound, or kUnbounded
  size_t size;
  const DimExpression* expression;
};

// Graded order, so that multiplication keeps it: degree first, then the atoms.
int compareMonomials(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

struct PolynomialLess {
  bool operator()(const Polynomial& a, const Polynomial& b) const {
    if (a.size() != b.size()) return a.size() < b.size();
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].coefficient != b[i].coefficient) return a[i].coefficient < b[i].coefficient;
      if (const int order = compareMonomials(a[i].atoms, b[i].atoms)) return order < 0;
    }
    return false;
  }
};

}  // namespace

struct DimExpression {
  DimTable* table;  // NULL: the anonymous dimension of plans
  Polynomial terms;
  int64_t lower;
  size_t size;
  const Atom* atom;  // set if the expression is just this atom
  size_t number;     // in order of creation
};

struct DimTable::Impl {
  std::deque<Atom> atoms;
  std::map<Polynomial, DimExpression, PolynomialLess> expressions;
  NameMap<uint32_t> symbols;
  std::map<std::tuple<AtomKind, const DimExpression*, int64_t, const DimExpression*, int64_t>, uint32_t> operators;
  MemoryCharge charge;  // for all of them
};

namespace {

const DimExpression kAnonymous{nullptr, {}, 0, 1, nullptr, 0};

DimTable* tableOf(Dim a, Dim b) {
  if (!a.isKnown() && a.expression()->table) return a.expression()->table;
  return b.isKnown() ? nullptr : b.expression()->table;
}

// Arithmetic with the anonymous dimension of plans gives that dimension.
bool isAnonymous(Dim dim) { return !dim.isKnown() && !dim.expression()->table; }

Dim unknownIn(DimTable* table) { return table ? table->unknown() : DimTable::anonymous(); }

int64_t lowerBound(Dim dim) { return dim.isKnown() ? dim.value() : dim.expression()->lower; }
size_t sizeOfDim(Dim dim) { return dim.isKnown() ? 1 : dim.expression()->size; }

// False on overflow.
bool addLower(int64_t& sum, int64_t value) { return !__builtin_add_overflow(sum, value, &sum); }

int64_t lowerBoundOf(const std::deque<Atom>& atoms, const Polynomial& terms) {
  int64_t sum = 0;
  for (const Term& term : terms) {
    int64_t bound = term.coefficient;
    if (!term.atoms.empty() && bound < 0) return kUnbounded;
    for (uint32_t id : term.atoms)
      if (atoms[id].lower < 0 || __builtin_mul_overflow(bound, atoms[id].lower, &bound)) return kUnbounded;
    if (!addLower(sum, bound)) return kUnbounded;
  }
  return sum;
}

size_t sizeOfTerms(const std::deque<Atom>& atoms, const Polynomial& terms) {
  size_t size = 0;
  for (const Term& term : terms) {
    ++size;
    for (uint32_t id : term.atoms) size += atoms[id].size;
  }
  return size;
}

Polynomial polynomialOf(Dim dim) {
  if (!dim.isKnown()) return dim.expression()->terms;
  if (dim.value() == 0) return {};
  return {Term{dim.value(), {}}};
}

// Sorts, joins equal monomials, drops zeros. False on overflow.
bool normalise(Polynomial& terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compareMonomials(a.atoms, b.atoms) < 0; });
  Polynomial joined;
  for (Term& term : terms) {
    if (!joined.empty() && joined.back().atoms == term.atoms) {
      int64_t& sum = joined.back().coefficient;
      if (__builtin_add_overflow(sum, term.coefficient, &sum)) return false;
    } else {
      joined.push_back(std::move(term));
    }
  }
  std::erase_if(joined, [](const Term& term) { return term.coefficient == 0; });
  terms = std::move(joined);
  return true;
}

Dim intern(DimTable* table, Polynomial terms) {
  if (terms.empty()) return Dim(0);
  if (terms.size() == 1 && terms[0].atoms.empty()) return Dim(terms[0].coefficient);
  DimTable::Impl& impl = table->impl();
  if (terms.size() > kMaxTerms || terms.back().atoms.size() > kMaxDegree) return table->unknown();
  const auto found = impl.expressions.find(terms);
  if (found != impl.expressions.end()) return DimTable::make(&found->second);
  const size_t size = sizeOfTerms(impl.atoms, terms);
  if (size > kMaxSize) return table->unknown();
  const bool isAtom = terms.size() == 1 && terms[0].coefficient == 1 && terms[0].atoms.size() == 1;
  const Atom* atom = isAtom ? &impl.atoms[terms[0].atoms[0]] : nullptr;
  impl.charge.add(sizeof(Polynomial) + sizeof(DimExpression) + 4 * sizeof(void*) + 2 * terms.size() * sizeof(Term));
  DimExpression expression{table, terms, lowerBoundOf(impl.atoms, terms), size, atom, impl.expressions.size()};
  const auto entry = impl.expressions.emplace(std::move(terms), std::move(expression)).first;
  return DimTable::make(&entry->second);
}

Dim addAtom(DimTable* table, Atom atom) {
  DimTable::Impl& impl = table->impl();
  impl.charge.add(sizeof(Atom) + 2 * atom.name.size());
  const auto id = static_cast<uint32_t>(impl.atoms.size());
  impl.atoms.push_back(std::move(atom));
  const Dim dim = intern(table, {Term{1, {id}}});
  impl.atoms.back().expression = dim.expression();
  return dim;
}

int64_t lowerBoundOf(AtomKind kind, Dim a, Dim b) {
  const int64_t lowerA = lowerBound(a), lowerB = lowerBound(b);
  if (kind == AtomKind::Minimum) return std::min(lowerA, lowerB);
  if (kind == AtomKind::Maximum) return std::max(lowerA, lowerB);
  if (lowerA < 0 || lowerB < 0) return kUnbounded;
  return b.isKnown() ? lowerA / b.value() : 0;
}

Dim makeOperator(AtomKind kind, Dim a, Dim b) {
  DimTable* table = tableOf(a, b);
  const size_t size = 1 + sizeOfDim(a) + sizeOfDim(b);
  if (size > kMaxSize) return unknownIn(table);
  const auto key = std::make_tuple(kind, a.expression(), a.value(), b.expression(), b.value());
  DimTable::Impl& impl = table->impl();
  const auto found = impl.operators.find(key);
  if (found != impl.operators.end()) return DimTable::make(impl.atoms[found->second].expression);
  const auto id = static_cast<uint32_t>(impl.atoms.size());
  const Dim dim = addAtom(table, Atom{kind, {}, a, b, lowerBoundOf(kind, a, b), size, nullptr});
  impl.operators.emplace(key, id);  // now that no allocation can fail
  return dim;
}

// a * b + c * d with c, d possibly absent, as polynomials. False on overflow.
bool multiplyInto(Polynomial& result, const Polynomial& a, const Polynomial& b) {
  for (const Term& x : a)
    for (const Term& y : b) {
      Term term{0, x.atoms};
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient)) return false;
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(term.atoms.begin(), term.atoms.end());
      result.push_back(std::move(term));
    }
  return true;
}

// Divides one term by another if the result is a term.
std::optional<Term> divideTerms(const Term& a, const Term& b) {
  if (b.coefficient == 0 || (b.coefficient == -1 && a.coefficient == kUnbounded) || a.coefficient % b.coefficient)
    return std::nullopt;
  if (!std::includes(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end())) return std::nullopt;
  Term result{a.coefficient / b.coefficient, {}};
  std::set_difference(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(), std::back_inserter(result.atoms));
  return result;
}

// Polynomial long division; gives the quotient only if the remainder is 0.
std::optional<Polynomial> divideExactly(Polynomial a, const Polynomial& b) {
  Polynomial quotient;
  for (size_t steps = 0; !a.empty(); ++steps) {
    const std::optional<Term> term = divideTerms(a.back(), b.back());
    if (!term || steps > 2 * kMaxTerms) return std::nullopt;
    Term negated = *term;
    if (__builtin_sub_overflow(int64_t{0}, term->coefficient, &negated.coefficient)) return std::nullopt;
    if (!multiplyInto(a, {negated}, b) || !normalise(a)) return std::nullopt;
    quotient.push_back(*term);
  }
  if (!normalise(quotient)) return std::nullopt;
  return quotient;
}

// Far from overflow.
constexpr int64_t kModest = int64_t{1} << 31;
bool isModest(Dim divisor) { return divisor.isKnown() && divisor.value() > 0 && divisor.value() < kModest; }

int64_t floorDivideValues(int64_t a, int64_t b) {
  require(b != 0 && !(b == -1 && a == kUnbounded), MAX_STATUS_OUT_OF_RANGE, "Cannot divide dimension ", a, " by ", b);
  const int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

bool isOperandOf(Dim dim, AtomKind kind, Dim operand) {
  if (dim.isKnown() || !dim.expression()->atom) return false;
  const Atom& atom = *dim.expression()->atom;
  return atom.kind == kind && (atom.a == operand || atom.b == operand);
}

// min and max are mirror images: `kind` is the operator, `other` its dual.
Dim extremum(AtomKind kind, Dim a, Dim b) {
  const AtomKind other = kind == AtomKind::Minimum ? AtomKind::Maximum : AtomKind::Minimum;
  if (a == b || isOperandOf(b, other, a) || isOperandOf(a, kind, b)) return a;
  if (isOperandOf(a, other, b) || isOperandOf(b, kind, a)) return b;
  if (isAnonymous(a) || isAnonymous(b)) return unknownIn(tableOf(a, b));
  if (lowerBound(a - b) >= 0) return kind == AtomKind::Maximum ? a : b;
  if (lowerBound(b - a) >= 0) return kind == AtomKind::Maximum ? b : a;
  const auto place = [](Dim dim) { return dim.isKnown() ? SIZE_MAX : dim.expression()->number; };
  return place(b) < place(a) ? makeOperator(kind, b, a) : makeOperator(kind, a, b);
}

}  // namespace

DimTable::DimTable() : impl_(std::make_unique<Impl>()) {}
DimTable::~DimTable() = default;

Dim DimTable::anonymous() { return make(&kAnonymous); }

Dim DimTable::symbol(std::string_view name) {
  const auto found = impl_->symbols.find(name);
  if (found != impl_->symbols.end()) return make(impl_->atoms[found->second].expression);
  const auto id = static_cast<uint32_t>(impl_->atoms.size());
  const Dim dim = addAtom(this, Atom{AtomKind::Symbol, std::string(name), 0, 0, 0, 1, nullptr});
  impl_->symbols.emplace(name, id);
  return dim;
}

Dim DimTable::unknown() { return addAtom(this, Atom{AtomKind::Anonymous, {}, 0, 0, 0, 1, nullptr}); }

std::string_view Dim::symbolName() const {
  if (isKnown() || !expression_->atom) return {};
  return expression_->atom->name;
}

bool Dim::isAnonymous() const {
  return !isKnown() && (!expression_->table || (expression_->atom && expression_->atom->kind == AtomKind::Anonymous));
}

bool Dim::isAtLeast(int64_t bound) const { return lowerBound(*this) >= bound; }

Dim operator+(Dim a, Dim b) {
  if (a.isKnown() && b.isKnown()) return checkedAdd(a.value(), b.value());
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  if (isAnonymous(a) || isAnonymous(b)) return unknownIn(tableOf(a, b));
  Polynomial sum = polynomialOf(a);
  const Polynomial terms = polynomialOf(b);
  sum.insert(sum.end(), terms.begin(), terms.end());
  return normalise(sum) ? intern(tableOf(a, b), std::move(sum)) : unknownIn(tableOf(a, b));
}

Dim operator-(Dim a, Dim b) {
  if (a.isKnown() && b.isKnown()) {
    int64_t result;
    if (__builtin_sub_overflow(a.value(), b.value(), &result))
      fail(MAX_STATUS_OUT_OF_RANGE, "Size overflow: ", a.value(), " - ", b.value());
    return result;
  }
  return a + Dim(-1) * b;
}

Dim operator*(Dim a, Dim b) {
  if (a.isKnown() && b.isKnown()) return checkedMultiply(a.value(), b.value());
  if (a.is(1) || b.is(0)) return b;
  if (b.is(1) || a.is(0)) return a;
  if (isAnonymous(a) || isAnonymous(b)) return unknownIn(tableOf(a, b));
  Polynomial result;
  const bool fits = multiplyInto(result, polynomialOf(a), polynomialOf(b)) && normalise(result);
  return fits ? intern(tableOf(a, b), std::move(result)) : unknownIn(tableOf(a, b));
}

// Terms that the divisor divides move out of the floor: floor((5x - 1) / 4) = x - 1 + floor((x + 3) / 4).
Dim floorDivide(Dim a, Dim b) {
  if (a.isKnown() && b.isKnown()) return floorDivideValues(a.value(), b.value());
  if (b.is(0)) fail(MAX_STATUS_OUT_OF_RANGE, "Cannot divide a dimension by 0");
  if (a.is(0) || b.is(1)) return a;
  if (isAnonymous(a) || isAnonymous(b)) return unknownIn(tableOf(a, b));
  DimTable* table = tableOf(a, b);
  const Polynomial divisor = polynomialOf(b);
  if (auto quotient = divideExactly(polynomialOf(a), divisor)) return intern(table, std::move(*quotient));
  Polynomial whole, rest;
  for (const Term& term : polynomialOf(a)) {
    const std::optional<Term> quotient = divisor.size() == 1 ? divideTerms(term, divisor[0]) : std::nullopt;
    if (quotient) {
      whole.push_back(*quotient);
    } else if (isModest(b) && term.coefficient > -kModest) {
      const int64_t part = floorDivideValues(term.coefficient, b.value());
      if (part != 0) whole.push_back({part, term.atoms});
      rest.push_back({term.coefficient - part * b.value(), term.atoms});
    } else {
      rest.push_back(term);
    }
  }
  const Dim remainder = intern(table, std::move(rest));
  const Dim quotient = remainder.isKnown() && b.isKnown() ? floorDivide(remainder, b)
                                                          : makeOperator(AtomKind::FloorDivide, remainder, b);
  return normalise(whole) ? intern(table, std::move(whole)) + quotient : table->unknown();
}

Dim ceilDivide(Dim a, Dim b) { return Dim(0) - floorDivide(Dim(0) - a, b); }

Dim minimum(Dim a, Dim b) {
  if (a.isKnown() && b.isKnown()) return std::min(a.value(), b.value());
  return extremum(AtomKind::Minimum, a, b);
}

Dim maximum(Dim a, Dim b) {
  if (a.isKnown() && b.isKnown()) return std::max(a.value(), b.value());
  return extremum(AtomKind::Maximum, a, b);
}

Dim product(const SymbolicShape& dims, size_t from, size_t to) {
  Dim result = 1;
  for (size_t i = from; i < to; ++i) result = result * dims[i];
  return result;
}

SymbolicShape symbolic(const Shape& shape) { return {shape.begin(), shape.end()}; }

std::optional<Shape> concrete(const SymbolicShape& shape) {
  Shape result;
  for (const Dim& dim : shape) {
    if (!dim.isKnown()) return std::nullopt;
    result.push(dim.value());
  }
  return result;
}

namespace {

std::optional<int64_t> evaluateAtom(const Atom& atom, const std::function<std::optional<int64_t>(Dim)>& valueOfSymbol) {
  if (atom.kind == AtomKind::Symbol || atom.kind == AtomKind::Anonymous)
    return valueOfSymbol(DimTable::make(atom.expression));
  const auto a = DimTable::evaluate(atom.a, valueOfSymbol);
  const auto b = DimTable::evaluate(atom.b, valueOfSymbol);
  if (!a || !b) return std::nullopt;
  if (atom.kind == AtomKind::Minimum) return std::min(*a, *b);
  if (atom.kind == AtomKind::Maximum) return std::max(*a, *b);
  if (*b == 0 || *b == -1) return std::nullopt;
  return floorDivideValues(*a, *b);
}

using AppendDim = void (*)(std::string& text, Dim dim);

void appendAtom(std::string& text, const Atom& atom, AppendDim append) {
  if (atom.kind == AtomKind::Symbol) {
    text += atom.name;
  } else if (atom.kind == AtomKind::Anonymous) {
    append(text, DimTable::make(atom.expression));
  } else {
    text += atom.kind == AtomKind::Minimum ? "min(" : atom.kind == AtomKind::Maximum ? "max(" : "floordiv(";
    append(text, atom.a);
    text += ", ";
    append(text, atom.b);
    text += ')';
  }
}

void appendTerm(std::string& text, const Term& term, const DimTable::Impl& impl, bool first, AppendDim append) {
  const int64_t coefficient = term.coefficient;
  const std::string digits = std::to_string(coefficient);
  const bool negative = coefficient < 0;
  if (first)
    text += negative ? "-" : "";
  else
    text += negative ? " - " : " + ";
  const std::string_view magnitude = std::string_view(digits).substr(negative);
  if (term.atoms.empty() || magnitude != "1") text += magnitude;
  bool separate = !term.atoms.empty() && magnitude != "1";
  for (uint32_t id : term.atoms) {
    if (separate) text += '*';
    appendAtom(text, impl.atoms[id], append);
    separate = true;
  }
}

}  // namespace

std::optional<int64_t> DimTable::evaluate(Dim dim, const std::function<std::optional<int64_t>(Dim)>& valueOfSymbol) {
  if (dim.isKnown()) return dim.value();
  const DimExpression& expression = *dim.expression();
  if (!expression.table) return std::nullopt;
  int64_t sum = 0;
  for (const Term& term : expression.terms) {
    int64_t value = term.coefficient;
    for (uint32_t id : term.atoms) {
      const auto factor = evaluateAtom(expression.table->impl().atoms[id], valueOfSymbol);
      if (!factor || __builtin_mul_overflow(value, *factor, &value)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, value, &sum)) return std::nullopt;
  }
  return sum;
}

// Rebuilds the expression; the limit on its size limits the recursion.
Dim DimCopier::copy(Dim dim) {
  if (dim.isKnown()) return dim;
  const DimExpression& expression = *dim.expression();
  if (!expression.table) return dim;
  const auto copyAtom = [this](const Atom& atom) -> Dim {
    if (atom.kind == AtomKind::Symbol) return target_.symbol(atom.name);
    if (atom.kind == AtomKind::Anonymous) {
      const auto [entry, isNew] = anonymous_.try_emplace(&atom);
      if (isNew) entry->second = target_.unknown();
      return entry->second;
    }
    const Dim a = copy(atom.a), b = copy(atom.b);
    if (atom.kind == AtomKind::Minimum) return minimum(a, b);
    return atom.kind == AtomKind::Maximum ? maximum(a, b) : floorDivide(a, b);
  };
  Dim sum = 0;
  for (const Term& term : expression.terms) {
    Dim value = term.coefficient;
    for (uint32_t id : term.atoms) value = value * copyAtom(expression.table->impl().atoms[id]);
    sum = sum + value;
  }
  return sum;
}

namespace {

// The highest degree first, the constant last, as usual.
void appendTerms(std::string& text, const DimExpression& expression, AppendDim append) {
  for (size_t i = expression.terms.size(); i-- > 0;)
    appendTerm(text, expression.terms[i], expression.table->impl(), i + 1 == expression.terms.size(), append);
}

}  // namespace

void appendTo(std::string& text, Dim dim) {
  if (dim.isKnown())
    appendTo(text, dim.value());
  else if (dim.isAnonymous())
    text += '?';
  else
    appendTerms(text, *dim.expression(), [](std::string& result, Dim part) { appendTo(result, part); });
}

void appendNumbered(std::string& text, Dim dim) {
  if (dim.isKnown() || !dim.expression()->table) return appendTo(text, dim);
  if (!dim.isAnonymous()) return appendTerms(text, *dim.expression(), appendNumbered);
  text += concat('?', dim.expression()->terms[0].atoms[0]);
}

void appendTo(std::string& text, const SymbolicShape& shape) {
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ", ";
    appendTo(text, shape[i]);
  }
  text += ']';
}

}  // namespace max
