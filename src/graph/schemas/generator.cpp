// SPDX-License-Identifier: Apache-2.0
// Operators that generate tensors: constants, ranges, random numbers.
#include "graph/readers/generator.h"

#include <algorithm>
#include <cmath>

#include "graph/readers/types.h"
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

void setConstant(InferContext& context, DType dtype, SymbolicShape shape) {
  context.setOutput(0, TensorType::of(dtype, std::move(shape)));
}

void setNumbers(InferContext& context, const std::vector<int64_t>& numbers) {
  context.setElements(0, {numbers.begin(), numbers.end()});
}

void inferConstant(InferContext& context) {
  const Attributes& attributes = context.attributes();
  const auto length = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  if (const Ref<Tensor> tensor = attributes.getTensor("value")) {
    setConstant(context, tensor->dtype(), symbolic(tensor->shape()));
    const bool isIndex = tensor->dtype() == DType::Int64 || tensor->dtype() == DType::Int32;
    if (isIndex && tensor->count() <= static_cast<int64_t>(kMaxElements)) setNumbers(context, integerValues(*tensor));
  } else if (attributes.has("value_int")) {
    setConstant(context, DType::Int64, {});
    setNumbers(context, {attributes.getInt("value_int", 0)});
  } else if (attributes.has("value_ints")) {
    const std::vector<int64_t> numbers = attributes.getInts("value_ints");
    setConstant(context, DType::Int64, {length(numbers)});
    setNumbers(context, numbers);
  } else if (attributes.has("value_float")) {
    setConstant(context, DType::Float32, {});
  } else if (attributes.has("value_floats")) {
    setConstant(context, DType::Float32, {length(attributes.getFloats("value_floats"))});
  } else {
    context.fail("has none of the attributes value, value_int, value_ints, value_float, value_floats");
  }
}

void inferConstantOfShape(InferContext& context) {
  const Ref<Tensor> value = readers::readFillValue(context);
  context.setDType(0, value ? value->dtype() : DType::Float32);
  const auto shape = context.elements(0);
  if (!shape) {
    const auto rank = rules::lengthOf(context, 0);
    if (rank && *rank <= kMaxRank) context.setRank(0, static_cast<int>(*rank));
    return;
  }
  context.setShape(0, *shape);
  const bool isInteger = value && (value->dtype() == DType::Int64 || value->dtype() == DType::Int32);
  const bool isList = shape->size() <= 1 && (shape->empty() || (*shape)[0].isKnown());
  if (!isInteger || !isList) return;
  const int64_t count = shape->empty() ? 1 : (*shape)[0].value();
  if (count >= 0 && count <= static_cast<int64_t>(kMaxElements))
    context.setElements(0, std::vector<Dim>(static_cast<size_t>(count), Dim(integerValues(*value)[0])));
}

void inferIntegerRange(InferContext& context, Dim start, Dim limit, Dim delta) {
  if (!delta.isKnown()) return;
  if (delta.is(0)) context.fail("delta is 0");
  if (delta.is(INT64_MIN)) return;
  const Dim distance = delta.value() > 0 ? limit - start : start - limit;
  const Dim step = delta.value() > 0 ? delta : Dim(-delta.value());
  const Dim count = ceilDivide(maximum(distance, 0), step);
  context.setShape(0, {count});
  if (!count.isKnown() || count.value() > static_cast<int64_t>(kMaxElements)) return;
  std::vector<Dim> elements;
  for (int64_t i = 0; i < count.value(); ++i) elements.push_back(start + Dim(i) * delta);
  context.setElements(0, std::move(elements));
}

void inferRange(InferContext& context) {
  context.setRank(0, 1);
  for (size_t i = 0; i < 3; ++i) rules::requireOneElement(context, i);
  const auto start = context.elements(0), limit = context.elements(1), delta = context.elements(2);
  const auto isOne = [](const auto& list) { return list && list->size() == 1; };
  if (isOne(start) && isOne(limit) && isOne(delta))
    return inferIntegerRange(context, (*start)[0], (*limit)[0], (*delta)[0]);
  const auto from = rules::scalarOf(context, 0), to = rules::scalarOf(context, 1), by = rules::scalarOf(context, 2);
  if (!from || !to || !by) return;
  const double count = std::max(std::ceil((*to - *from) / *by), 0.0);
  if (!(count < 9e15)) context.fail("Range from ", *from, " to ", *to, " by ", *by, " has no end");
  context.setShape(0, {static_cast<int64_t>(count)});
}

void inferLike(InferContext& context) {
  rules::sameAsFirst(context);
  const DType dtype = readers::readElementType(context.attributes(), context.dtype(0));
  const bool isNumber = dtype == DType::Invalid || dtype == DType::Bool || isInteger(dtype) || isFloat(dtype);
  if (!isNumber) context.fail("can only produce numbers, not ", dtype);
  context.setDType(0, dtype);
}

// Random numbers have a floating-point type.
void requireFloat(const InferContext& context, DType dtype) {
  const bool fits = dtype == DType::Invalid || (isFloat(dtype) && bitsOf(dtype) >= 16);
  if (!fits)
    context.fail("cannot make random numbers of type ", dtype, "; allowed are float16, bfloat16, float32, float64");
}

void inferRandomLike(InferContext& context) {
  inferLike(context);
  requireFloat(context, context.outputs()[0].type.dtype);
}

void inferMultinomial(InferContext& context) {
  const DType dtype = readers::readElementType(context.attributes(), DType::Int32);
  if (dtype != DType::Int32 && dtype != DType::Int64)
    context.fail("attribute 'dtype' is ", dtype, ", not int32 or int64");
  context.setDType(0, dtype);
  rules::requireRank(context, 0, 2);
  const int64_t samples = readers::readSamples(context);
  if (!context.ranked(0)) return context.setRank(0, 2);
  if (context.dims(0)[1].is(0)) context.fail("there are no classes to draw from");
  context.setShape(0, {context.dims(0)[0], Dim(samples)});
}

void inferEyeLike(InferContext& context) {
  rules::requireRank(context, 0, 2);
  inferLike(context);
}

void inferRandom(InferContext& context) {
  context.setDType(0, readers::readElementType(context.attributes(), DType::Float32));
  requireFloat(context, context.outputs()[0].type.dtype);
  const auto shape = readers::readRandomShape(context);
  context.setShape(0, {shape.begin(), shape.end()});
}

void inferOneHot(InferContext& context) {
  rules::requireOneElement(context, 1);
  rules::requireShape(context, 2, {2});
  if (!context.ranked(0)) return;
  const int axis = readers::readOneHotAxis(context);
  SymbolicShape shape = context.dims(0);
  const auto elements = context.elements(1);
  const auto number = rules::scalarOf(context, 1);
  Dim depth = elements && elements->size() == 1 ? (*elements)[0] : context.unknownDim();
  if (number) {
    if (!(*number >= 0 && *number < 9e15)) context.fail("depth is ", *number);
    depth = static_cast<int64_t>(*number);
  }
  shape.insert(shape.begin() + axis, depth);
  context.setShape(0, std::move(shape));
}

void inferTrilu(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  rules::requireOneElement(context, 1);
  rules::sameAsFirst(context);
}

void inferDropout(InferContext& context) {
  rules::sameAsFirst(context);
  context.setOutputLike(1, 0);
  for (size_t i : {size_t{1}, size_t{2}}) rules::requireOneElement(context, i);
}

const OpSchema kSchemas[] = {
    {"", "Constant", 0, 0, 1, 1, "->*", inferConstant, 0, 0,
     "value=t value_int=i value_ints=I value_float=f value_floats=F"},
    {"", "ConstantOfShape", 1, 1, 1, 1, "int64->*", inferConstantOfShape, 0, 1u << 0, "value=t"},
    {"", "Range", 3, 3, 1, 1, "T,T,T->T; T=number", inferRange, 0, 0b111, "stash_type=i"},
    {"", "EyeLike", 1, 1, 1, 1, "any->*", inferEyeLike, kTraitShapeOnly, 0, "dtype=i k=i"},
    {"", "RandomNormal", 0, 0, 1, 1, "->*", inferRandom, kTraitRandom, 0, "dtype=i mean=f scale=f seed=f shape=I"},
    {"", "RandomNormalLike", 1, 1, 1, 1, "any->*", inferRandomLike, kTraitRandom | kTraitShapeOnly, 0,
     "dtype=i mean=f scale=f seed=f"},
    {"", "RandomUniform", 0, 0, 1, 1, "->*", inferRandom, kTraitRandom, 0, "dtype=i high=f low=f seed=f shape=I"},
    {"", "RandomUniformLike", 1, 1, 1, 1, "any->*", inferRandomLike, kTraitRandom | kTraitShapeOnly, 0,
     "dtype=i high=f low=f seed=f"},
    {"", "Bernoulli", 1, 1, 1, 1, "float->*", inferLike, kTraitRandom, 0, "dtype=i seed=f"},
    {"", "Multinomial", 1, 1, 1, 1, "float->*", inferMultinomial, kTraitRandom, 0, "dtype=i sample_size=i seed=f"},
    {"", "OneHot", 3, 3, 1, 1, "number,number,T->T; T=any", inferOneHot, 0, 1u << 1, "axis=i"},
    {"", "Trilu", 1, 2, 1, 1, "T,int64->T; T=any", inferTrilu, 0, 0, "upper=i"},
    {"", "Dropout", 1, 3, 1, 2, "T,float|float8,bool->T,bool; T=float|float8", inferDropout,
     kTraitElementwise | kTraitRandom, 0, "seed=i"},
};

}  // namespace

std::span<const OpSchema> generatorSchemas() { return kSchemas; }

}  // namespace max
