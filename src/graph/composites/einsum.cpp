// SPDX-License-Identifier: Apache-2.0
// Einsum: operands are multiplied two at a time, as matrix products if an axis is summed, otherwise elementwise.
#include <algorithm>
#include <map>
#include <span>

#include "graph/composites/tables.h"

namespace max {

namespace {

using Labels = std::vector<int>;  // of a tensor's axes: letters, and negative numbers for the axes of an ellipsis

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

int64_t placeOf(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

struct Term {
  Value* value;
  Labels labels;
};

struct Equation {
  std::vector<std::string> terms;
  std::string output;
  bool isExplicit = false;
};

Equation parse(Expansion& e) {
  std::string text;
  for (char c : e.text("equation", ""))
    if (c != ' ') text += c;
  Equation equation;
  const size_t arrow = text.find("->");
  equation.isExplicit = arrow != text.npos;
  if (equation.isExplicit) equation.output = text.substr(arrow + 2);
  const std::string left = text.substr(0, arrow);
  size_t begin = 0;
  for (size_t comma = left.find(','); comma != left.npos; comma = left.find(',', begin)) {
    equation.terms.push_back(left.substr(begin, comma - begin));
    begin = comma + 1;
  }
  equation.terms.push_back(left.substr(begin));
  if (equation.terms.size() != e.inputCount())
    e.invalid("the equation '", text, "' is of ", equation.terms.size(), " operands, not ", e.inputCount());
  return equation;
}

constexpr int ellipsisLabel(int64_t fromTheEnd) { return -1 - static_cast<int>(fromTheEnd); }

// The labels of a term; its dots stand for `ellipsis` axes. Ellipsis axes are counted from the end, as in numpy.
Labels labelsOf(Expansion& e, std::string_view term, int64_t ellipsis) {
  Labels labels;
  bool dots = false;
  for (size_t i = 0; i < term.size(); ++i) {
    const char c = term[i];
    if (c == '.' && !dots && term.substr(i, 3) == "...") {
      for (int64_t k = ellipsis; k > 0; --k) labels.push_back(ellipsisLabel(k - 1));
      dots = true;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
    } else {
      e.invalid("'", e.text("equation", ""), "' is not an equation");
    }
  }
  return labels;
}

std::vector<Extent> sizesOf(Expansion& e, Value* value, size_t first, size_t count) {
  std::vector<Extent> sizes;
  for (size_t i = first; i < first + count; ++i) sizes.push_back(e.dim(value, static_cast<int>(i)));
  return sizes;
}

// The diagonal along axes `first` and `second`: of n x n elements in one axis, each (n + 1)th.
Value* diagonal(Expansion& e, Value* value, size_t first, size_t second) {
  const auto rank = static_cast<size_t>(e.rank(value));
  std::vector<int64_t> perm;
  for (size_t i = 0; i < rank; ++i) {
    if (i != second) perm.push_back(static_cast<int64_t>(i));
    if (i == first) perm.push_back(static_cast<int64_t>(second));
  }
  value = e.transpose(value, perm);
  const Extent size = e.dim(value, static_cast<int>(first));
  std::vector<Extent> shape = sizesOf(e, value, 0, rank);
  shape.erase(shape.begin() + static_cast<int64_t>(first));
  const std::vector<Extent> result = shape;
  shape[first] = e.times(size, size);
  const auto axis = static_cast<int64_t>(first);
  Value* sliced = e.op(
      "Slice", {e.reshape(value, shape), e.ints({0}), e.ints({INT64_MAX}), e.ints({axis}), e.list({e.plus(size, 1)})});
  return e.reshape(sliced, result);
}

Term termOf(Expansion& e, size_t i, const std::string& text) {
  Value* value = e.input(i);
  const auto letters = static_cast<int64_t>(labelsOf(e, text, 0).size());
  const int64_t rank = e.rank(value);
  const bool dots = text.find('.') != text.npos;
  if (letters > rank || (!dots && letters != rank))
    e.invalid("operand ", i, " of ", rank, " dimensions does not match '", text, "'");
  Term term{value, labelsOf(e, text, rank - letters)};
  for (size_t k = 0; k < term.labels.size(); ++k)
    for (size_t other = term.labels.size() - 1; other > k; --other)
      if (term.labels[k] == term.labels[other]) {
        term.value = diagonal(e, term.value, k, other);
        term.labels.erase(term.labels.begin() + static_cast<int64_t>(other));
      }
  return term;
}

Labels outputLabels(Expansion& e, const Equation& equation, const std::vector<Term>& terms) {
  int64_t ellipsis = 0;
  for (const Term& term : terms)
    for (int label : term.labels) ellipsis = std::max<int64_t>(ellipsis, -label);
  if (equation.isExplicit) return labelsOf(e, equation.output, ellipsis);
  Labels labels = labelsOf(e, "...", ellipsis);
  std::string letters;
  for (const std::string& term : equation.terms) letters += term;
  std::sort(letters.begin(), letters.end());
  for (size_t i = 0; i < letters.size(); ++i) {
    const bool isAlone =
        (i == 0 || letters[i - 1] != letters[i]) && (i + 1 == letters.size() || letters[i + 1] != letters[i]);
    if (letters[i] != '.' && isAlone) labels.push_back(letters[i]);
  }
  return labels;
}

void checkOutput(Expansion& e, const Labels& output, const std::vector<Term>& terms) {
  for (size_t i = 0; i < output.size(); ++i) {
    const bool known =
        std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return contains(t.labels, output[i]); });
    if (!known || placeOf(output, output[i]) != static_cast<int64_t>(i))
      e.invalid("the output of the equation '", e.text("equation", ""),
                "' repeats an axis, or has one that is in no operand");
  }
}

void sumOver(Expansion& e, Term& term, const Labels& labels) {
  std::vector<int64_t> axes;
  for (int label : labels) axes.push_back(placeOf(term.labels, label));
  term.value = e.reduce("ReduceSum", term.value, axes);
  std::erase_if(term.labels, [&](int label) { return contains(labels, label); });
}

void arrange(Expansion& e, Term& term, const Labels& order) {
  std::vector<int64_t> perm;
  for (int label : order) perm.push_back(placeOf(term.labels, label));
  term.value = e.transpose(term.value, perm);
  term.labels = order;
}

const Dim& dimOf(const Term& term, int label) {
  return term.value->type.dims[static_cast<size_t>(placeOf(term.labels, label))];
}

// An axis of size 1 broadcasts to that of the other operand.
void dropUnitAxes(Expansion& e, Term& term, const Term& other) {
  Labels units;
  for (int label : term.labels)
    if (contains(other.labels, label) && dimOf(term, label).is(1) && !dimOf(other, label).is(1)) units.push_back(label);
  std::vector<int64_t> axes;
  for (int label : units) axes.push_back(placeOf(term.labels, label));
  term.value = e.squeeze(term.value, axes);
  std::erase_if(term.labels, [&](int label) { return contains(units, label); });
}

struct Roles {
  Labels batch, left, right, summed;
};

Roles rolesOf(const Term& a, const Term& b, const Labels& needed) {
  Roles roles;
  for (int label : a.labels) {
    const bool shared = contains(b.labels, label);
    (shared ? contains(needed, label) ? roles.batch : roles.summed : roles.left).push_back(label);
  }
  for (int label : b.labels)
    if (!contains(a.labels, label)) roles.right.push_back(label);
  return roles;
}

Labels joined(std::initializer_list<const Labels*> lists) {
  Labels all;
  for (const Labels* list : lists) all.insert(all.end(), list->begin(), list->end());
  return all;
}

// The product of the sizes of axes [first, first + count).
Extent product(Expansion& e, Value* value, size_t first, size_t count) {
  Extent size = 1;
  for (size_t i = 0; i < count; ++i)
    size = i ? e.times(size, e.dim(value, static_cast<int>(first + i))) : e.dim(value, static_cast<int>(first));
  return size;
}

// Axes of a group that lie together become one. If the matrices that come of it are to be transposed, the product can
// read them as they are.
void mergeGroup(Expansion& e, Term& term, Labels& group) {
  const auto first = static_cast<size_t>(placeOf(term.labels, group.empty() ? 0 : group[0]));
  const auto lie = std::span(term.labels).subspan(first);
  if (group.size() < 2 || lie.size() < group.size() || !std::ranges::equal(lie.first(group.size()), group)) return;
  std::vector<Extent> shape = sizesOf(e, term.value, 0, first);
  shape.push_back(product(e, term.value, first, group.size()));
  const size_t end = first + group.size();
  for (const Extent& size : sizesOf(e, term.value, end, term.labels.size() - end)) shape.push_back(size);
  term.value = e.reshape(term.value, shape);
  std::erase_if(term.labels, [&](int label) { return label != group[0] && contains(group, label); });
  group.resize(1);
}

// [batch.., first group.., second group..] as [batch.., rows, columns].
Value* asMatrices(Expansion& e, const Term& term, size_t batch, size_t rows, size_t columns) {
  if (rows == 1 && columns == 1) return term.value;
  std::vector<Extent> shape = sizesOf(e, term.value, 0, batch);
  shape.push_back(product(e, term.value, batch, rows));
  shape.push_back(product(e, term.value, batch + rows, columns));
  return e.reshape(term.value, shape);
}

// The axes of `matrix` between the batch and the summed ones, if these are followed by others: how weights lie that
// were gathered for each row.
Labels outerAxes(const Term& matrix, const Roles& roles) {
  Labels outer;
  for (size_t i = roles.batch.size(); i < matrix.labels.size() && !contains(roles.summed, matrix.labels[i]); ++i)
    outer.push_back(matrix.labels[i]);
  const Labels first = joined({&roles.batch, &outer, &roles.summed});
  const bool isInOrder =
      first.size() < matrix.labels.size() && std::ranges::equal(first, std::span(matrix.labels).first(first.size()));
  return isInOrder ? outer : Labels();
}

// Makes axes of the second term a part of the batch, along which the first one is repeated.
void widenBatch(Expansion& e, Term& first, Roles& roles, const Labels& axes) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < axes.size(); ++i) places.push_back(static_cast<int64_t>(first.labels.size() + i));
  first = {e.unsqueeze(first.value, places), joined({&first.labels, &axes})};
  roles.batch = joined({&roles.batch, &axes});
  std::erase_if(roles.right, [&](int label) { return contains(axes, label); });
}

Value* matricesOf(Expansion& e, Term term, const Labels& batch, Labels rows, Labels columns) {
  mergeGroup(e, term, rows);
  mergeGroup(e, term, columns);
  arrange(e, term, joined({&batch, &rows, &columns}));
  return asMatrices(e, term, batch.size(), rows.size(), columns.size());
}

Value* matrixProduct(Expansion& e, const Term& a, const Term& b, const Roles& roles) {
  Value* result = e.matmul(matricesOf(e, a, roles.batch, roles.left, roles.summed),
                           matricesOf(e, b, roles.batch, roles.summed, roles.right));
  if (roles.left.size() == 1 && roles.right.size() == 1) return result;
  std::vector<Extent> shape;
  const auto add = [&](const Term& term, int label) {
    shape.push_back(e.dim(term.value, static_cast<int>(placeOf(term.labels, label))));
  };
  for (int label : roles.batch) add(dimOf(a, label).is(1) ? b : a, label);
  for (int label : roles.left) add(a, label);
  for (int label : roles.right) add(b, label);
  return e.reshape(result, shape);
}

Value* elementwiseProduct(Expansion& e, Term& a, Term& b, const Roles& roles) {
  arrange(e, a, joined({&roles.batch, &roles.left}));
  arrange(e, b, joined({&roles.batch, &roles.right}));
  std::vector<int64_t> trailing, inner;
  for (size_t i = 0; i < roles.right.size(); ++i) trailing.push_back(static_cast<int64_t>(a.labels.size() + i));
  for (size_t i = 0; i < roles.left.size(); ++i) inner.push_back(static_cast<int64_t>(roles.batch.size() + i));
  return e.mul(e.unsqueeze(a.value, trailing), e.unsqueeze(b.value, inner));
}

Labels without(const Labels& labels, const Labels& needed, const Labels& other) {
  Labels unneeded;
  for (int label : labels)
    if (!contains(needed, label) && !contains(other, label)) unneeded.push_back(label);
  return unneeded;
}

// The result has the axes of the second term before those of the first.
bool comesLater(const Roles& roles, const Labels& needed) {
  return !roles.left.empty() && !roles.right.empty() &&
         placeOf(needed, roles.left[0]) > placeOf(needed, roles.right[0]);
}

// The product of two terms; only the axes in `needed` remain.
Term multiply(Expansion& e, Term a, Term b, const Labels& needed) {
  dropUnitAxes(e, a, b);
  dropUnitAxes(e, b, a);
  sumOver(e, a, without(a.labels, needed, b.labels));
  sumOver(e, b, without(b.labels, needed, a.labels));
  Roles roles = rolesOf(a, b, needed);
  const bool areGiven = !a.value->constant && !b.value->constant;
  // A row times matrices that were gathered for it leaves these where they are: moving them would take longer than the
  // product.
  const bool hasRowSecond = roles.right.empty() && !a.value->constant && !outerAxes(a, roles).empty();
  if (hasRowSecond || (areGiven && comesLater(roles, needed))) {
    std::swap(a, b);
    roles = rolesOf(a, b, needed);
  }
  const Labels outer = roles.left.empty() && !b.value->constant ? outerAxes(b, roles) : Labels();
  if (!outer.empty()) widenBatch(e, a, roles, outer);
  Value* result = roles.summed.empty() ? elementwiseProduct(e, a, b, roles) : matrixProduct(e, a, b, roles);
  return {result, joined({&roles.batch, &roles.left, &roles.right})};
}

void expandEinsum(Expansion& e) {
  const Equation equation = parse(e);
  std::vector<Term> terms;
  for (size_t i = 0; i < equation.terms.size(); ++i) terms.push_back(termOf(e, i, equation.terms[i]));
  const Labels output = outputLabels(e, equation, terms);
  checkOutput(e, output, terms);
  std::map<int, size_t> lastUse;  // of each label: the number of a term
  for (size_t i = 0; i < terms.size(); ++i)
    for (const int label : terms[i].labels) lastUse[label] = i;
  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    Labels needed = output;
    for (const auto& [label, last] : lastUse)
      if (last > i) needed.push_back(label);
    result = multiply(e, result, terms[i], needed);
  }
  sumOver(e, result, without(result.labels, output, {}));
  arrange(e, result, output);
  e.setOutput(0, result.value);
}

const Composite kRows[] = {
    {{"", "Einsum", 1, 0, 1, 1, "T...->T; T=number", nullptr, kTraitVariadic, 0, "equation=s"}, expandEinsum},
};

}  // namespace

std::span<const Composite> einsumComposites() { return kRows; }

}  // namespace max
