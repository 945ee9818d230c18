// SPDX-License-Identifier: Apache-2.0
// Attributes of the classifiers and regressors of ai.onnx.ml. Counts of labels, scores and coefficients are checked
// against each other here, so that output sizes and kernels use the same numbers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace max::ml {

// List attributes, without a copy: nodes outlive their kernels. Empty if absent; INVALID_ARGUMENT if of another type.
std::span<const float> floatsOf(const Node& node, std::string_view attribute);
std::span<const int64_t> integersOf(const Node& node, std::string_view attribute);
std::span<const std::string> stringsOf(const Node& node, std::string_view attribute);
// Throws naming the node unless a list has `needed` elements.
void requireCount(const Node& node, const char* attribute, size_t count, size_t needed);

// Class labels, integers or strings.
struct LabelReader {
  std::span<const int64_t> integers;
  std::span<const std::string> strings;

  LabelReader(const Node& node, std::string_view integersName, std::string_view stringsName);
  size_t count() const { return integers.size() + strings.size(); }  // one of them is empty
  DType dtype() const { return strings.empty() ? DType::Int64 : DType::String; }
};
LabelReader linearLabels(const Node& node);  // of LinearClassifier and SVMClassifier
LabelReader treeLabels(const Node& node);    // of TreeEnsembleClassifier

// Numbers per row of a regressor's result, from the attribute that counts them.
int64_t readTargets(const Node& node, std::string_view attribute);

// CastMap.
struct MapCast {
  DType dtype;
  bool isDense;     // as many numbers as map entries
  int64_t columns;  // number of columns of a sparse result

  explicit MapCast(const Node& node);
};

// FeatureVectorizer: the columns of each input, without a copy.
std::span<const int64_t> readWidths(const Node& node);

// LinearClassifier and LinearRegressor: scores[i] = intercepts[i] + coefficients[i] * x
struct LinearReader {
  bool isClassifier;
  LabelReader labels;
  std::span<const float> coefficients, intercepts;
  size_t scores;   // per row of features
  bool isPair;     // one score for two labels
  size_t columns;  // per row of the output

  explicit LinearReader(const Node& node);
  void requireFeatures(const Node& node, int64_t features) const;
};

// SVMClassifier and SVMRegressor.
struct SvmReader {
  bool isClassifier;
  LabelReader labels;
  std::span<const float> coefficients, rho, probA, probB;
  size_t classes;   // 1 for regressors
  size_t supports;  // support vectors; 0 = the model is linear
  size_t pairs;     // number of class pairs
  bool hasProbabilities;
  size_t columns;  // per row of scores

  explicit SvmReader(const Node& node);
  void requireFeatures(const Node& node, int64_t features) const;

 private:
  void checkClassifier(const Node& node) const;
};

}  // namespace max::ml
