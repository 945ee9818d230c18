// SPDX-License-Identifier: Apache-2.0
// Attributes of operators on strings and tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attributes.h"

namespace max::readers {

// TfIdfVectorizer: the column of each n-gram, from 0 to 2^24 - 1.
struct GramColumns {
  std::vector<int64_t> columns;
  int64_t count;  // of columns

  explicit GramColumns(const Attributes& attributes);
};

// The n-grams and how they are counted.
struct GramPool {
  int64_t least, most;  // tokens of an n-gram, at least 1
  int64_t skips;        // maximum tokens between two tokens of an n-gram
  std::string mode;     // "TF", "IDF", "TFIDF"
  GramColumns columns;
  std::vector<float> weights;   // of the n-grams; empty = none count
  std::vector<int64_t> begins;  // in the pool, for all n-grams of one length
  std::vector<std::string> strings;
  std::vector<int64_t> integers;  // one of the two lists is empty

  explicit GramPool(const Attributes& attributes);
};

// Limits the number of comparisons.
struct GramSearch {
  int64_t most, skips;

  explicit GramSearch(const Attributes& attributes);
};

// Tokenizer of com.microsoft: expressions for tokens or for separators.
struct Tokens {
  int64_t leastCharacters;
  bool isMarked;
  std::string padding;
  std::string expression;               // "" = there are separators
  std::vector<std::string> separators;  // a single empty one: every character is a token

  explicit Tokens(const Attributes& attributes);
};

}  // namespace max::readers
