// SPDX-License-Identifier: Apache-2.0
// The domain ai.onnx.ml: classifiers, regressors and feature preparation, as in scikit-learn pipelines.
#include "graph/readers/ml.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";

// Inputs of models are rows of features; a list is one row.
Dim rowsOf(const InferContext& context, size_t input) {
  if (!context.ranked(input)) return context.unknownDim();
  const int rank = context.rank(input);
  if (rank != 1 && rank != 2) context.fail("input ", input, " must have 1 or 2 dimensions, not ", rank);
  return rank == 1 ? Dim(1) : context.dims(input)[0];
}

int64_t sizeOf(const InferContext& context, std::string_view attribute) {
  const Attribute* found = context.attributes().find(attribute);
  if (!found) return 0;
  if (const auto* integers = std::get_if<std::vector<int64_t>>(found)) return static_cast<int64_t>(integers->size());
  if (const auto* floats = std::get_if<std::vector<float>>(found)) return static_cast<int64_t>(floats->size());
  if (const auto* strings = std::get_if<std::vector<std::string>>(found)) return static_cast<int64_t>(strings->size());
  context.fail("attribute '", attribute, "' is not a list of numbers or strings");
}

void setLabels(InferContext& context, const ml::LabelReader& labels) {
  context.setOutput(0, TensorType::of(labels.dtype(), {rowsOf(context, 0)}));
}

void setScores(InferContext& context, size_t output, size_t columns) {
  context.setShape(output, {rowsOf(context, 0), Dim(static_cast<int64_t>(columns))});
}

// Features per row; nullopt if unknown.
std::optional<int64_t> featuresOf(const InferContext& context) {
  if (!context.ranked(0) || !context.dims(0).back().isKnown()) return std::nullopt;
  return context.dims(0).back().value();
}

void inferTreeClassifier(InferContext& context) {
  const ml::LabelReader labels = ml::treeLabels(context.node());
  if (labels.count() == 0) context.fail("has no class labels");
  setLabels(context, labels);
  setScores(context, 1, labels.count());
}

void inferTreeRegressor(InferContext& context) {
  setScores(context, 0, static_cast<size_t>(ml::readTargets(context.node(), "n_targets")));
}

// Classifiers have labels first.
template <class Reader>
void inferScores(InferContext& context) {
  const Reader reader(context.node());
  if (reader.isClassifier) setLabels(context, reader.labels);
  setScores(context, reader.isClassifier ? 1 : 0, reader.columns);
  if (const auto features = featuresOf(context)) reader.requireFeatures(context.node(), *features);
}

void inferNormalizer(InferContext& context) {
  (void)rowsOf(context, 0);
  rules::sameAsFirst(context);
}

// The indices choose from the last axis; a list is one row.
void inferFeatureExtractor(InferContext& context) {
  if (!context.ranked(0)) return;
  SymbolicShape shape = context.dims(0);
  if (shape.empty()) context.fail("input 0 has no axis to choose from");
  if (shape.size() == 1) shape = {1, shape[0]};
  Dim count = context.ranked(1) ? Dim(1) : context.unknownDim();
  if (context.ranked(1))
    for (const Dim& dim : context.dims(1)) count = count * dim;
  shape.back() = count;
  context.setShape(0, std::move(shape));
}

void inferFeatureVectorizer(InferContext& context) {
  const std::span<const int64_t> widths = ml::readWidths(context.node());
  int64_t columns = 0;
  Dim rows = rowsOf(context, 0);
  for (size_t i = 0; i < widths.size(); ++i) {
    columns = checkedAdd(columns, widths[i]);
    rows = rules::merge(context, rows, rowsOf(context, i), "the numbers of rows");
  }
  context.setShape(0, {rows, Dim(columns)});
}

void inferOneHotEncoder(InferContext& context) {
  const int64_t strings = sizeOf(context, "cats_strings"), integers = sizeOf(context, "cats_int64s");
  if ((strings == 0) == (integers == 0)) context.fail("needs one of 'cats_strings' and 'cats_int64s'");
  if ((strings > 0) != (context.dtype(0) == DType::String) && context.dtype(0) != DType::Invalid)
    context.fail("input 0 is ", context.dtype(0), ", the categories are ", strings ? "strings" : "integers");
  if (!context.ranked(0)) return;
  SymbolicShape shape = context.dims(0);
  shape.emplace_back(strings + integers);
  context.setShape(0, std::move(shape));
}

// The type of keys or values, which are attributes with integers, floats, strings or a tensor. Invalid if there is
// none.
DType typeOfList(const InferContext& context, const std::string& prefix) {
  if (const Ref<Tensor> tensor = context.attributes().getTensor(prefix + "tensor")) return tensor->dtype();
  if (sizeOf(context, prefix + "strings")) return DType::String;
  if (sizeOf(context, prefix + "int64s")) return DType::Int64;
  return sizeOf(context, prefix + "floats") ? DType::Float32 : DType::Invalid;
}

// Strings to numbers, or numbers to strings.
DType otherLabel(const InferContext& context) {
  const DType given = context.dtype(0);
  if (given == DType::Invalid) return given;
  if (given != DType::String && given != DType::Int64) context.fail("input 0 is ", given, ", neither string nor int64");
  return given == DType::String ? DType::Int64 : DType::String;
}

// Version 1 has the attribute 'classes_strings', later ones keys and values.
void inferLabelEncoder(InferContext& context) {
  rules::sameAsFirst(context);
  if (sizeOf(context, "classes_strings")) return context.setDType(0, otherLabel(context));
  const DType keys = typeOfList(context, "keys_"), values = typeOfList(context, "values_");
  if (keys == DType::Invalid || values == DType::Invalid)
    context.fail("has no ", keys == DType::Invalid ? "keys" : "values");
  if (context.dtype(0) != DType::Invalid && context.dtype(0) != keys)
    context.fail("input 0 is ", context.dtype(0), ", the keys are ", keys);
  context.setDType(0, values);
}

void inferCategoryMapper(InferContext& context) {
  rules::sameAsFirst(context);
  context.setDType(0, otherLabel(context));
}

void inferZipMap(InferContext& context) {
  const int64_t strings = sizeOf(context, "classlabels_strings"), integers = sizeOf(context, "classlabels_int64s");
  if ((strings == 0) == (integers == 0)) context.fail("needs one of 'classlabels_strings' and 'classlabels_int64s'");
  (void)rowsOf(context, 0);
  if (context.ranked(0))
    rules::requireEqual(context, context.dims(0).back(), Dim(strings + integers), "the columns and the class labels");
  TensorType type = TensorType::of(DType::Sequence, {});
  type.inner = {DType::Map, strings ? DType::String : DType::Int64, DType::Float32, DType::Invalid};
  context.setOutput(0, std::move(type));
}

void inferDictVectorizer(InferContext& context) {
  const int64_t strings = sizeOf(context, "string_vocabulary"), integers = sizeOf(context, "int64_vocabulary");
  if ((strings == 0) == (integers == 0)) context.fail("needs one of 'string_vocabulary' and 'int64_vocabulary'");
  // Plans only know that it is a map.
  const DType held = context.node().inputs[0]->type.inner[1];
  if (held == DType::Invalid || isObject(held))
    context.fail("the map's values are not numbers or strings of a known type");
  context.setOutput(0, TensorType::of(held, {Dim(1), Dim(strings + integers)}));
}

// A dense result has as many elements as the map; a sparse one has room for all keys.
void inferCastMap(InferContext& context) {
  const ml::MapCast cast(context.node());
  context.setOutput(0, TensorType::of(cast.dtype, {Dim(1), cast.isDense ? context.unknownDim() : Dim(cast.columns)}));
}

constexpr std::string_view kLabels = "string|int64|float32|int32|int16|float64->*";
constexpr std::string_view kFeatures = "T->T; T=float32|float64|int64|int32";
constexpr std::string_view kToFloat = "T->float32; T=float32|float64|int64|int32";
constexpr std::string_view kToLabels = "T->*,float32; T=float32|float64|int64|int32";

const OpSchema kSchemas[] = {
    {kDomain, "ArrayFeatureExtractor", 2, 2, 1, 1, "T,int64->T; T=float32|float64|int64|int32|string",
     inferFeatureExtractor, 0, 0, ""},
    {kDomain, "Binarizer", 1, 1, 1, 1, kFeatures, rules::sameAsFirst, 0, 0, "threshold=f"},
    {kDomain, "CastMap", 1, 1, 1, 1, "map->*", inferCastMap, kTraitDataDependent, 0,
     "cast_to=s{TO_FLOAT,TO_STRING,TO_INT64} map_form=s{DENSE,SPARSE} max_map=i"},
    {kDomain, "CategoryMapper", 1, 1, 1, 1, "string|int64->*", inferCategoryMapper, 0, 0,
     "cats_int64s=I cats_strings=S default_int64=i default_string=s"},
    {kDomain, "DictVectorizer", 1, 1, 1, 1, "map->*", inferDictVectorizer, 0, 0,
     "int64_vocabulary=I string_vocabulary=S"},
    {kDomain, "FeatureVectorizer", 1, 1, 1, 1, "float32|float64|int64|int32...->float32", inferFeatureVectorizer,
     kTraitVariadic, 0, "inputdimensions=I"},
    {kDomain, "Imputer", 1, 1, 1, 1, kFeatures, rules::sameAsFirst, 0, 0,
     "imputed_value_floats=F imputed_value_int64s=I replaced_value_float=f replaced_value_int64=i"},
    {kDomain, "LabelEncoder", 1, 1, 1, 1, kLabels, inferLabelEncoder, 0, 0,
     "classes_strings=S default_float=f default_int64=i default_string=s default_tensor=t keys_floats=F keys_int64s=I "
     "keys_strings=S keys_tensor=t values_floats=F values_int64s=I values_strings=S values_tensor=t"},
    {kDomain, "LinearClassifier", 1, 1, 1, 2, kToLabels, inferScores<ml::LinearReader>, 0, 0,
     "classlabels_ints=I classlabels_strings=S coefficients=F intercepts=F multi_class=i "
     "post_transform=s{NONE,SOFTMAX,LOGISTIC,SOFTMAX_ZERO,PROBIT}"},
    {kDomain, "LinearRegressor", 1, 1, 1, 1, kToFloat, inferScores<ml::LinearReader>, 0, 0,
     "coefficients=F intercepts=F post_transform=s{NONE,SOFTMAX,LOGISTIC,SOFTMAX_ZERO,PROBIT} targets=i"},
    {kDomain, "Normalizer", 1, 1, 1, 1, kToFloat, inferNormalizer, 0, 0, "norm=s{MAX,L1,L2}"},
    {kDomain, "OneHotEncoder", 1, 1, 1, 1, "string|float32|float64|int64|int32->float32", inferOneHotEncoder, 0, 0,
     "cats_int64s=I cats_strings=S zeros=i"},
    {kDomain, "SVMClassifier", 1, 1, 1, 2, kToLabels, inferScores<ml::SvmReader>, 0, 0,
     "classlabels_ints=I classlabels_strings=S coefficients=F kernel_params=F kernel_type=s{LINEAR,POLY,RBF,SIGMOID} "
     "post_transform=s{NONE,SOFTMAX,LOGISTIC,SOFTMAX_ZERO,PROBIT} prob_a=F "
     "prob_b=F rho=F support_vectors=F vectors_per_class=I"},
    {kDomain, "SVMRegressor", 1, 1, 1, 1, kToFloat, inferScores<ml::SvmReader>, 0, 0,
     "coefficients=F kernel_params=F kernel_type=s{LINEAR,POLY,RBF,SIGMOID} n_supports=i one_class=i "
     "post_transform=s{NONE,SOFTMAX,LOGISTIC,SOFTMAX_ZERO,PROBIT} rho=F support_vectors=F"},
    {kDomain, "Scaler", 1, 1, 1, 1, kToFloat, rules::sameAsFirst, 0, 0, "offset=F scale=F"},
    {kDomain, "TreeEnsemble", 1, 1, 1, 1, "T->T; T=float16|float32|float64", inferTreeRegressor, 0, 0,
     "aggregate_function=i[0..3] leaf_targetids=I leaf_weights=t membership_values=t n_targets=i nodes_falseleafs=I "
     "nodes_falsenodeids=I nodes_featureids=I nodes_hitrates=t nodes_missing_value_tracks_true=I nodes_modes=t "
     "nodes_splits=t nodes_trueleafs=I nodes_truenodeids=I post_transform=i[0..4] tree_roots=I"},
    {kDomain, "TreeEnsembleClassifier", 1, 1, 1, 2, kToLabels, inferTreeClassifier, 0, 0,
     "base_values=F base_values_as_tensor=t class_ids=I class_nodeids=I class_treeids=I class_weights=F "
     "class_weights_as_tensor=t classlabels_int64s=I classlabels_strings=S nodes_falsenodeids=I nodes_featureids=I "
     "nodes_hitrates=F nodes_hitrates_as_tensor=t nodes_missing_value_tracks_true=I "
     "nodes_modes=S{BRANCH_LEQ,BRANCH_LT,BRANCH_GTE,BRANCH_GT,BRANCH_EQ,BRANCH_NEQ,BRANCH_MEMBER,LEAF} nodes_nodeids=I "
     "nodes_treeids=I nodes_truenodeids=I nodes_values=F nodes_values_as_tensor=t "
     "post_transform=s{NONE,SOFTMAX,LOGISTIC,SOFTMAX_ZERO,PROBIT}"},
    {kDomain, "TreeEnsembleRegressor", 1, 1, 1, 1, kToFloat, inferTreeRegressor, 0, 0,
     "aggregate_function=s{AVERAGE,SUM,MIN,MAX} base_values=F base_values_as_tensor=t n_targets=i nodes_falsenodeids=I "
     "nodes_featureids=I "
     "nodes_hitrates=F nodes_hitrates_as_tensor=t nodes_missing_value_tracks_true=I "
     "nodes_modes=S{BRANCH_LEQ,BRANCH_LT,BRANCH_GTE,BRANCH_GT,BRANCH_EQ,BRANCH_NEQ,BRANCH_MEMBER,LEAF} nodes_nodeids=I "
     "nodes_treeids=I nodes_truenodeids=I nodes_values=F nodes_values_as_tensor=t "
     "post_transform=s{NONE,SOFTMAX,LOGISTIC,SOFTMAX_ZERO,PROBIT} target_ids=I "
     "target_nodeids=I target_treeids=I target_weights=F target_weights_as_tensor=t"},
    {kDomain, "ZipMap", 1, 1, 1, 1, "float32->sequence", inferZipMap, 0, 0,
     "classlabels_int64s=I classlabels_strings=S"},
};

}  // namespace

std::span<const OpSchema> mlSchemas() { return kSchemas; }

}  // namespace max
