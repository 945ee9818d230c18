// SPDX-License-Identifier: Apache-2.0
// Operators on strings, and operators that convert tokens to numbers.
#include "graph/readers/string.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

void inferStringSplit(InferContext& context) {
  if (!context.ranked(0)) return;
  SymbolicShape parts = context.dims(0);
  parts.push_back(context.unknownDim());
  context.setShape(0, std::move(parts));
  context.setShape(1, context.dims(0));
}

// [C] or [1, C]; the size without stop words is known at run time.
void inferStringNormalizer(InferContext& context) {
  if (!context.ranked(0)) return;
  if (context.rank(0) != 1 && context.rank(0) != 2) context.fail("input 0 must have 1 or 2 dimensions");
  if (context.rank(0) == 2) rules::requireEqual(context, context.dims(0)[0], 1, "the first dimension and 1");
  SymbolicShape shape = context.dims(0);
  shape.back() = context.unknownDim();
  context.setShape(0, std::move(shape));
}

void inferTfIdfVectorizer(InferContext& context) {
  const readers::GramColumns read(context.attributes());
  if (!context.ranked(0)) return;
  if (context.rank(0) > 2) context.fail("input 0 must have 1 or 2 dimensions");
  SymbolicShape shape = {read.count};
  if (context.rank(0) == 2) shape.insert(shape.begin(), context.dims(0)[0]);
  context.setShape(0, std::move(shape));
}

void inferTokenizer(InferContext& context) {
  [[maybe_unused]] const readers::Tokens checked(context.attributes());
  if (!context.ranked(0)) return;
  SymbolicShape shape = context.dims(0);
  shape.push_back(context.unknownDim());
  context.setShape(0, std::move(shape));
}

const OpSchema kSchemas[] = {
    {"", "StringConcat", 2, 2, 1, 1, "string,string->string", rules::broadcastAll, 0, 0, ""},
    {"", "StringSplit", 1, 1, 1, 2, "string->string,int64", inferStringSplit, kTraitDataDependent, 0,
     "delimiter=s maxsplit=i"},
    {"", "StringNormalizer", 1, 1, 1, 1, "string->string", inferStringNormalizer, kTraitDataDependent, 0,
     "case_change_action=s{NONE,LOWER,UPPER} is_case_sensitive=i locale=s stopwords=S"},
    {"", "RegexFullMatch", 1, 1, 1, 1, "string->bool", rules::sameAsFirst, 0, 0, "pattern=s"},
    {"", "TfIdfVectorizer", 1, 1, 1, 1, "string|index->float32", inferTfIdfVectorizer, 0, 0,
     "max_gram_length=i max_skip_count=i min_gram_length=i mode=s{TF,IDF,TFIDF} ngram_counts=I ngram_indexes=I "
     "pool_int64s=I "
     "pool_strings=S weights=F"},
    {"com.microsoft", "Tokenizer", 1, 1, 1, 1, "string->string", inferTokenizer, kTraitDataDependent, 0,
     "mark=i mincharnum=i pad_value=s separators=S stopwords=S tokenexp=s"},
};

}  // namespace

std::span<const OpSchema> stringSchemas() { return kSchemas; }

}  // namespace max
