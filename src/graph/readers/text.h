// SPDX-License-Identifier: Apache-2.0
// What operators on texts and tokens read of their attributes.
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

// How it counts n-grams, and those that it counts.
struct GramPool {
  int64_t least, most;  // tokens of an n-gram, at least 1
  int64_t skips;        // most tokens between two of an n-gram
  std::string mode;     // "TF", "IDF", "TFIDF"
  GramColumns columns;
  std::vector<float> weights;   // of the n-grams; empty = none count
  std::vector<int64_t> begins;  // in the pool, of all n-grams of a length
  std::vector<std::string> strings;
  std::vector<int64_t> integers;  // one of the two lists is empty

  explicit GramPool(const Attributes& attributes);
};

// What bounds how often it compares.
struct GramSearch {
  int64_t most, skips;

  explicit GramSearch(const Attributes& attributes);
};

// Tokenizer of com.microsoft: expressions for the tokens, or for what separates them.
struct Tokens {
  int64_t leastCharacters;
  bool isMarked;
  std::string padding;
  std::string expression;               // "" = there are separators
  std::vector<std::string> separators;  // an empty one alone: every character is a token

  explicit Tokens(const Attributes& attributes);
};

}  // namespace max::readers
