// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/ml.h"

#include <algorithm>

#include "base/checked.h"

namespace max::ml {

namespace {

template <class T>
std::span<const T> listOf(const Node& node, std::string_view name, const char* type) {
  const Attribute* attribute = node.attributes.find(name);
  if (!attribute) return {};
  const auto* list = std::get_if<std::vector<T>>(attribute);
  require(list != nullptr, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": attribute '", name,
          "' is not a list of ", type);
  return *list;
}

// Number of support vectors of a node.
size_t supportsOf(const Node& node, bool isClassifier) {
  int64_t sum = isClassifier ? 0 : node.attributes.getInt("n_supports", 0);
  for (int64_t count : integersOf(node, "vectors_per_class")) {
    require(count >= 0, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": attribute 'vectors_per_class' contains ",
            count);
    sum = checkedAdd(sum, count);
  }
  require(sum >= 0 && sum <= INT32_MAX, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": has ", sum,
          " support vectors");
  return static_cast<size_t>(sum);
}

// Without probabilities, support vectors give a score for each pair of classes; a single pair is written as two scores.
size_t columnsOf(const SvmReader& svm) {
  if (!svm.isClassifier) return 1;
  if (svm.supports == 0 || svm.hasProbabilities || svm.classes == 2) return svm.classes;
  return svm.pairs;
}

}  // namespace

std::span<const float> floatsOf(const Node& node, std::string_view attribute) {
  return listOf<float>(node, attribute, "floats");
}
std::span<const int64_t> integersOf(const Node& node, std::string_view attribute) {
  return listOf<int64_t>(node, attribute, "integers");
}
std::span<const std::string> stringsOf(const Node& node, std::string_view attribute) {
  return listOf<std::string>(node, attribute, "strings");
}

void requireCount(const Node& node, const char* attribute, size_t count, size_t needed) {
  require(count == needed, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": attribute '", attribute, "' has ", count,
          " elements, needs ", needed);
}

LabelReader::LabelReader(const Node& node, std::string_view integersName, std::string_view stringsName)
    : integers(integersOf(node, integersName)), strings(stringsOf(node, stringsName)) {
  require(integers.empty() || strings.empty(), MAX_STATUS_INVALID_ARGUMENT, node.description(),
          ": has both attributes '", integersName, "' and '", stringsName, "'");
}

LabelReader linearLabels(const Node& node) { return {node, "classlabels_ints", "classlabels_strings"}; }
LabelReader treeLabels(const Node& node) { return {node, "classlabels_int64s", "classlabels_strings"}; }

int64_t readTargets(const Node& node, std::string_view attribute) {
  const int64_t count = node.attributes.getInt(attribute, 1);
  require(count >= 1 && count <= INT32_MAX, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": attribute '", attribute,
          "' is ", count);
  return count;
}

MapCast::MapCast(const Node& node)
    : dtype(DType::String),
      isDense(node.attributes.getString("map_form", "DENSE") == "DENSE"),
      columns(isDense ? 0 : readTargets(node, "max_map")) {
  const std::string type = node.attributes.getString("cast_to", "TO_FLOAT");
  if (type == "TO_FLOAT") dtype = DType::Float32;
  if (type == "TO_INT64") dtype = DType::Int64;
}

std::span<const int64_t> readWidths(const Node& node) {
  const std::span<const int64_t> widths = integersOf(node, "inputdimensions");
  requireCount(node, "inputdimensions", widths.size(), node.inputs.size());
  for (const int64_t width : widths)
    require(width >= 0, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": attribute 'inputdimensions' contains ",
            width);
  return widths;
}

LinearReader::LinearReader(const Node& node)
    : isClassifier(node.op() == "LinearClassifier"),
      labels(linearLabels(node)),
      coefficients(floatsOf(node, "coefficients")),
      intercepts(floatsOf(node, "intercepts")) {
  if (!isClassifier)
    scores = static_cast<size_t>(readTargets(node, "targets"));
  else
    scores = intercepts.empty() ? std::max<size_t>(labels.count(), 1) : intercepts.size();
  isPair = isClassifier && scores == 1 && labels.count() == 2;
  columns = isPair ? 2 : scores;
  if (!intercepts.empty()) requireCount(node, "intercepts", intercepts.size(), scores);
  // A single score selects one of two labels.
  const size_t needed = scores == 1 ? 2 : scores;
  require(!isClassifier || labels.count() == 0 || labels.count() >= needed, MAX_STATUS_INVALID_ARGUMENT,
          node.description(), ": has ", labels.count(), " class labels for ", scores, " scores");
}

void LinearReader::requireFeatures(const Node& node, int64_t features) const {
  require(features > 0, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": its input has no features");
  requireCount(node, "coefficients", coefficients.size(), checkedMultiply(scores, static_cast<size_t>(features)));
}

SvmReader::SvmReader(const Node& node)
    : isClassifier(node.op() == "SVMClassifier"),
      labels(linearLabels(node)),
      coefficients(floatsOf(node, "coefficients")),
      rho(floatsOf(node, "rho")),
      probA(floatsOf(node, "prob_a")),
      probB(floatsOf(node, "prob_b")),
      classes(isClassifier ? std::max<size_t>(labels.count(), 1) : 1),
      supports(supportsOf(node, isClassifier)),
      pairs(checkedMultiply(classes, classes - 1) / 2),
      hasProbabilities(isClassifier && supports > 0 && !probA.empty()) {
  columns = columnsOf(*this);
  if (isClassifier && supports > 0) checkClassifier(node);
  require(!rho.empty(), MAX_STATUS_INVALID_ARGUMENT, node.description(), ": has no attribute 'rho'");
}

void SvmReader::checkClassifier(const Node& node) const {
  requireCount(node, "vectors_per_class", integersOf(node, "vectors_per_class").size(), classes);
  require(rho.size() >= pairs, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": attribute 'rho' has ", rho.size(),
          " elements, needs ", pairs);
  if (!hasProbabilities) return;
  requireCount(node, "prob_a", probA.size(), pairs);
  requireCount(node, "prob_b", probB.size(), pairs);
}

void SvmReader::requireFeatures(const Node& node, int64_t features) const {
  require(features > 0, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": its input has no features");
  const size_t each = supports > 0 ? supports : static_cast<size_t>(features);
  const size_t count = supports > 0 && isClassifier ? classes - 1 : classes;
  requireCount(node, "coefficients", coefficients.size(), checkedMultiply(count, each));
}

}  // namespace max::ml
