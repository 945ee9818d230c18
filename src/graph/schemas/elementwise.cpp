// SPDX-License-Identifier: Apache-2.0
// Elementwise operators, with broadcasting.
#include <algorithm>

#include "graph/readers/types.h"
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

using Elements = std::vector<Dim>;
using Combine = std::optional<Dim> (*)(Dim a, Dim b);

std::optional<Dim> truth(bool value) { return Dim(value ? 1 : 0); }

std::optional<Dim> add(Dim a, Dim b) { return a + b; }
std::optional<Dim> subtract(Dim a, Dim b) { return a - b; }
std::optional<Dim> multiply(Dim a, Dim b) { return a * b; }
std::optional<Dim> least(Dim a, Dim b) { return minimum(a, b); }
std::optional<Dim> greatest(Dim a, Dim b) { return maximum(a, b); }

// Integer division truncates towards zero, which is the floor if nothing is negative.
std::optional<Dim> divide(Dim a, Dim b) {
  if (b.is(0) || !a.isAtLeast(0) || !b.isAtLeast(0)) return std::nullopt;
  return floorDivide(a, b);
}

std::optional<Dim> remainder(Dim a, Dim b) {
  if (!a.isAtLeast(0) || !b.isAtLeast(1)) return std::nullopt;
  return a - floorDivide(a, b) * b;
}

std::optional<Dim> equal(Dim a, Dim b) {
  if (a == b) return truth(true);
  if ((a - b).isAtLeast(1) || (b - a).isAtLeast(1)) return truth(false);
  return std::nullopt;
}

std::optional<Dim> greater(Dim a, Dim b) {
  if ((a - b).isAtLeast(1)) return truth(true);
  if ((b - a).isAtLeast(0)) return truth(false);
  return std::nullopt;
}

std::optional<Dim> greaterOrEqual(Dim a, Dim b) {
  if ((a - b).isAtLeast(0)) return truth(true);
  if ((b - a).isAtLeast(1)) return truth(false);
  return std::nullopt;
}

std::optional<Dim> less(Dim a, Dim b) { return greater(b, a); }
std::optional<Dim> lessOrEqual(Dim a, Dim b) { return greaterOrEqual(b, a); }
std::optional<Dim> logicalAnd(Dim a, Dim b) { return a * b; }
std::optional<Dim> logicalOr(Dim a, Dim b) { return maximum(a, b); }

// Lists of length one or equal lengths; nullopt if a result is unknown or overflows.
std::optional<Elements> combine(const Elements& a, const Elements& b, Combine function) {
  const size_t count = std::max(a.size(), b.size());
  if ((a.size() != count && a.size() != 1) || (b.size() != count && b.size() != 1)) return std::nullopt;
  Elements result;
  try {
    for (size_t i = 0; i < count; ++i) {
      const auto value = function(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
      if (!value) return std::nullopt;
      result.push_back(*value);
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return result;
}

bool isSmallList(const InferContext& context) {
  for (size_t i = 0; i < context.inputCount(); ++i)
    if (!context.ranked(i) || context.rank(i) > 1) return false;
  return true;
}

template <Combine function>
void followed(InferContext& context) {
  rules::broadcastAll(context);
  if (!isSmallList(context)) return;
  std::optional<Elements> result = context.elements(0);
  for (size_t i = 1; result && i < context.inputCount(); ++i) {
    const std::optional<Elements> operand = context.elements(i);
    if (!operand) return;
    result = combine(*result, *operand, function);
  }
  if (result) context.setElements(0, std::move(*result));
}

void inferWhere(InferContext& context) {
  rules::broadcastAll(context);
  if (!isSmallList(context)) return;
  const auto condition = context.integers(0);
  const auto x = context.elements(1), y = context.elements(2);
  if (!condition || !x || !y) return;
  const size_t count = std::max({condition->size(), x->size(), y->size()});
  for (size_t size : {condition->size(), x->size(), y->size()})
    if (size != count && size != 1) return;
  Elements result;
  for (size_t i = 0; i < count; ++i) {
    const Elements& chosen = (*condition)[condition->size() == 1 ? 0 : i] ? *x : *y;
    result.push_back(chosen[chosen.size() == 1 ? 0 : i]);
  }
  context.setElements(0, std::move(result));
}

void inferNot(InferContext& context) {
  rules::sameAsFirst(context);
  auto elements = context.elements(0);
  if (!elements) return;
  for (Dim& element : *elements) element = Dim(1) - element;
  context.setElements(0, std::move(*elements));
}

void inferNeg(InferContext& context) {
  rules::sameAsFirst(context);
  auto elements = context.elements(0);
  if (!elements) return;
  for (Dim& element : *elements) {
    if (element.isKnown() && element.value() == INT64_MIN) return;
    element = Dim(0) - element;
  }
  context.setElements(0, std::move(*elements));
}

bool holdsIndices(DType dtype) { return dtype == DType::Int64 || dtype == DType::Int32; }

void inferCastTo(InferContext& context, DType dtype) {
  rules::sameAsFirst(context);
  context.setDType(0, dtype);
  if (!holdsIndices(dtype) || !holdsIndices(context.dtype(0))) return;
  auto elements = context.elements(0);
  if (elements) context.setElements(0, std::move(*elements));
}

void inferCast(InferContext& context) { inferCastTo(context, readers::readCastType(context.attributes())); }

void inferCastLike(InferContext& context) { inferCastTo(context, context.dtype(1)); }

void inferClip(InferContext& context) {
  rules::sameAsFirst(context);
  for (size_t i : {size_t{1}, size_t{2}}) rules::requireOneElement(context, i);
}

void inferBitCast(InferContext& context) {
  rules::sameAsFirst(context);
  const DType from = context.dtype(0), to = readers::readCastType(context.attributes());
  if (to == DType::String || from == DType::String) context.fail("strings cannot be reinterpreted");
  if (from != DType::Invalid && bitsOf(from) != bitsOf(to))
    context.fail("elements of ", from, " have ", bitsOf(from), " bits, those of ", to, " ", bitsOf(to));
  context.setDType(0, to);
}

// The slope broadcasts to the input, not the other way round.
void inferPRelu(InferContext& context) {
  rules::sameAsFirst(context);
  if (context.ranked(0)) rules::requireBroadcastsTo(context, 1, context.dims(0));
}

// The compiler sets the dtype of a fused chain's result (ONNX's number); default: that of input 0.
void inferElementwise(InferContext& context) {
  rules::broadcastAll(context);
  context.setDType(0, readers::readElementType(context.attributes(), context.dtype(0)));
}

constexpr uint32_t kUnary = kTraitElementwise;
constexpr uint32_t kBinary = kTraitElementwise;
constexpr uint32_t kSymmetric = kTraitElementwise | kTraitCommutative;
constexpr uint32_t kList = kTraitElementwise | kTraitCommutative | kTraitVariadic;

constexpr OpSchema unary(std::string_view name, std::string_view types, InferFunction infer = rules::sameAsFirst,
                         std::string_view attributes = "") {
  return {"", name, 1, 1, 1, 1, types, infer, kUnary, 0, attributes};
}

constexpr OpSchema binary(std::string_view name, std::string_view types, uint32_t traits,
                          InferFunction infer = rules::broadcastAll, std::string_view attributes = "") {
  return {"", name, 2, 2, 1, 1, types, infer, traits, 0, attributes};
}

constexpr std::string_view kFloat = "T->T; T=float";
constexpr std::string_view kNumber = "T->T; T=number";
constexpr std::string_view kNumbers = "T,T->T; T=number";
constexpr std::string_view kCompare = "T,T->bool; T=number";
constexpr std::string_view kLogic = "bool,bool->bool";
constexpr std::string_view kBits = "T,T->T; T=integer";

const OpSchema kSchemas[] = {
    unary("Abs", kNumber),
    unary("Acos", kFloat),
    unary("Acosh", kFloat),
    unary("Asin", kFloat),
    unary("Asinh", kFloat),
    unary("Atan", kFloat),
    unary("Atanh", kFloat),
    unary("BitwiseNot", "T->T; T=integer"),
    unary("Ceil", kFloat),
    unary("Celu", kFloat, rules::sameAsFirst, "alpha=f"),
    unary("Cos", kFloat),
    unary("Cosh", kFloat),
    unary("Elu", kFloat, rules::sameAsFirst, "alpha=f"),
    unary("Erf", kNumber),
    unary("Exp", kFloat),
    unary("Floor", kFloat),
    unary("Gelu", kFloat, rules::sameAsFirst, "approximate=s{none,tanh}"),
    unary("HardSigmoid", kFloat, rules::sameAsFirst, "alpha=f beta=f"),
    unary("HardSwish", kFloat),
    unary("IsInf", "T->bool; T=float|float8", rules::sameAsFirst, "detect_negative=i detect_positive=i"),
    unary("IsNaN", "T->bool; T=float|float8"),
    unary("LeakyRelu", kFloat, rules::sameAsFirst, "alpha=f"),
    unary("Log", kFloat),
    unary("Mish", kFloat),
    unary("Neg", "T->T; T=signed", inferNeg),
    unary("Not", "bool->bool", inferNot),
    unary("Reciprocal", kFloat),
    unary("Relu", "T->T; T=signed"),
    unary("Round", kFloat),
    unary("Selu", kFloat, rules::sameAsFirst, "alpha=f gamma=f"),
    unary("Shrink", kNumber, rules::sameAsFirst, "bias=f lambd=f"),
    unary("Sigmoid", kFloat),
    unary("Sign", kNumber),
    unary("Sin", kFloat),
    unary("Sinh", kFloat),
    unary("Softplus", kFloat),
    unary("Softsign", kFloat),
    unary("Sqrt", kFloat),
    unary("Swish", kFloat, rules::sameAsFirst, "alpha=f"),
    unary("Tan", kFloat),
    unary("Tanh", kFloat),
    unary("ThresholdedRelu", kFloat, rules::sameAsFirst, "alpha=f"),
    unary("BitCast", "any->*", inferBitCast, "to=i"),
    unary("Cast", "any->*", inferCast, "to=i saturate=i round_mode=s{up,down,nearest}"),
    {"", "CastLike", 2, 2, 1, 1, "any,any->*", inferCastLike, kTraitElementwise, 0,
     "saturate=i round_mode=s{up,down,nearest}"},
    {"", "Clip", 1, 3, 1, 1, "T,T,T->T; T=number", inferClip, kTraitElementwise, 0, ""},
    {"", "PRelu", 2, 2, 1, 1, "T,T->T; T=number", inferPRelu, kTraitElementwise, 0, ""},
    {"", "Where", 3, 3, 1, 1, "bool,T,T->T; T=any", inferWhere, kTraitElementwise, 0, ""},

    binary("Add", kNumbers, kSymmetric, followed<add>),
    binary("And", kLogic, kSymmetric, followed<logicalAnd>),
    binary("BitShift", "T,T->T; T=integer", kBinary, rules::broadcastAll, "direction=s{LEFT,RIGHT}"),
    binary("BitwiseAnd", kBits, kSymmetric),
    binary("BitwiseOr", kBits, kSymmetric),
    binary("BitwiseXor", kBits, kSymmetric),
    binary("Div", kNumbers, kBinary, followed<divide>),
    binary("Equal", "T,T->bool; T=any", kSymmetric, followed<equal>),
    binary("Greater", kCompare, kBinary, followed<greater>),
    binary("GreaterOrEqual", kCompare, kBinary, followed<greaterOrEqual>),
    binary("Less", kCompare, kBinary, followed<less>),
    binary("LessOrEqual", kCompare, kBinary, followed<lessOrEqual>),
    binary("Mod", kNumbers, kBinary, followed<remainder>, "fmod=i"),
    binary("Mul", kNumbers, kSymmetric, followed<multiply>),
    binary("Or", kLogic, kSymmetric, followed<logicalOr>),
    binary("Pow", "T,P->T; T=float|int32|int64; P=number", kBinary),
    binary("Sub", kNumbers, kBinary, followed<subtract>),
    binary("Xor", kLogic, kSymmetric),

    {"", "Max", 1, 0, 1, 1, "T...->T; T=number", followed<greatest>, kList, 0, ""},
    {"", "Mean", 1, 0, 1, 1, "T...->T; T=float", rules::broadcastAll, kList, 0, ""},
    {"", "Min", 1, 0, 1, 1, "T...->T; T=number", followed<least>, kList, 0, ""},
    {"", "Sum", 1, 0, 1, 1, "T...->T; T=float", rules::broadcastAll, kList, 0, ""},

    {kMaxDomain, "Elementwise", 1, 0, 1, 1, "any...->*", inferElementwise, kTraitElementwise | kTraitVariadic, 0,
     "dtype=i"},
};

}  // namespace

std::span<const OpSchema> elementwiseSchemas() { return kSchemas; }

}  // namespace max
