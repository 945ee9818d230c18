// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/string.h"

#include <algorithm>

#include "base/error.h"

namespace max::readers {

namespace {

int64_t readLength(const Attributes& attributes, std::string_view name) {
  const int64_t length = attributes.getInt(name, 0);
  if (length < 1) invalidArgument("attribute '", name, "' is ", length);
  return length;
}

}  // namespace

GramColumns::GramColumns(const Attributes& attributes) : columns(attributes.getInts("ngram_indexes")) {
  if (columns.empty()) invalidArgument("attribute 'ngram_indexes' is missing or empty");
  const auto [least, most] = std::minmax_element(columns.begin(), columns.end());
  constexpr int64_t kLargest = int64_t{1} << 24;  // a row of 64 MB
  if (*least < 0 || *most >= kLargest)
    invalidArgument("attribute 'ngram_indexes' has the entry ", *least < 0 ? *least : *most);
  count = *most + 1;
}

GramPool::GramPool(const Attributes& attributes)
    : least(readLength(attributes, "min_gram_length")),
      most(readLength(attributes, "max_gram_length")),
      skips(GramSearch(attributes).skips),
      mode(attributes.getString("mode", "")),
      columns(attributes),
      weights(attributes.getFloats("weights")),
      begins(attributes.getInts("ngram_counts")),
      strings(attributes.getStrings("pool_strings")),
      integers(attributes.getInts("pool_int64s")) {
  if (most < least) invalidArgument("max_gram_length ", most, " is less than min_gram_length ", least);
  if (skips < 0 || skips == INT64_MAX) invalidArgument("max_skip_count is ", skips);
  if (mode.empty()) invalidArgument("attribute 'mode' is missing");
  if (mode == "TF") weights.clear();
  if (!weights.empty() && weights.size() != columns.columns.size())
    invalidArgument(weights.size(), " weights for ", columns.columns.size(), " n-grams");
  if (strings.empty() == integers.empty()) invalidArgument("needs one of pool_strings and pool_int64s");
}

GramSearch::GramSearch(const Attributes& attributes)
    : most(attributes.getInt("max_gram_length", 1)), skips(attributes.getInt("max_skip_count", 0)) {}

Tokens::Tokens(const Attributes& attributes)
    : leastCharacters(std::max<int64_t>(attributes.getInt("mincharnum", 1), 0)),
      isMarked(attributes.getInt("mark", 0) != 0),
      padding(attributes.getString("pad_value", "")),
      expression(attributes.getString("tokenexp", "")),
      separators(attributes.getStrings("separators")) {
  if (expression.empty() == separators.empty())
    invalidArgument("needs one of the attributes 'tokenexp' and 'separators'");
}

}  // namespace max::readers
