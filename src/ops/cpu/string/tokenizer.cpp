// SPDX-License-Identifier: Apache-2.0
// Tokenizer of com.microsoft, with which converters of text pipelines split texts into words or characters.
#include <algorithm>

#include "base/interrupt_point.h"
#include "graph/readers/string.h"
#include "ops/cpu/ml/scores.h"
#include "ops/cpu/string/regex.h"
#include "ops/cpu/string/text.h"
#include "ops/families.h"
#include "ops/value_function.h"

namespace max {

namespace {

using Tokens = WorkVector<std::string_view>;

class Tokenizer final : public Prepared {
 public:
  explicit Tokenizer(const readers::Tokens& read)
      : least_(read.leastCharacters),
        isMarked_(read.isMarked),
        padding_(read.padding),
        areTokens_(read.separators.empty()) {
    if (areTokens_) expressions_.emplace_back(read.expression);
    if (read.separators.size() == 1 && read.separators[0].empty()) return;  // every character is a token
    for (const std::string& separator : read.separators) expressions_.emplace_back(separator);
  }

  std::string_view padding() const { return padding_; }

  // Finds the expressions in many texts.
  std::vector<RegexSearch> searches() const {
    return std::vector<RegexSearch>(expressions_.begin(), expressions_.end());
  }

  Tokens tokensOf(std::string_view text, std::vector<RegexSearch>& searches) const {
    Tokens tokens = searches.empty() ? charactersOf(text)
                    : areTokens_     ? searches[0].findAll(text)
                                     : partsOf(text, searches);
    WorkCounter work;
    std::erase_if(tokens, [&](std::string_view token) {
      work.pass(16 + 2 * std::min(least_, static_cast<int64_t>(token.size())));
      return token.empty() || (least_ > 1 && isShort(token));
    });
    if (isMarked_) {
      tokens.insert(tokens.begin(), "\x02");
      tokens.emplace_back("\x03");
    }
    return tokens;
  }

 private:
  bool isShort(std::string_view token) const {
    int64_t count = 0;
    for (; !token.empty() && count < least_; ++count) token.remove_prefix(firstCharacter(token).bytes);
    return count < least_;
  }

  static Tokens charactersOf(std::string_view text) {
    Tokens tokens;
    WorkCounter work;
    for (; !text.empty(); text.remove_prefix(tokens.back().size()), work.pass(16))
      tokens.push_back(text.substr(0, firstCharacter(text).bytes));
    return tokens;
  }

  // Each separator splits the results of the one before.
  static Tokens partsOf(std::string_view text, std::vector<RegexSearch>& separators) {
    Tokens parts = {text};
    for (RegexSearch& separator : separators) {
      Tokens smaller;
      for (std::string_view part : parts) {
        for (std::string_view between : separator.findAll(part)) {
          smaller.push_back({part.data(), static_cast<size_t>(between.data() - part.data())});
          part.remove_prefix(smaller.back().size() + between.size());
        }
        smaller.push_back(part);
      }
      parts = std::move(smaller);
    }
    return parts;
  }

  int64_t least_;
  bool isMarked_;
  std::string padding_;
  bool areTokens_;  // or separators
  std::vector<Regex> expressions_;
};

Ref<Prepared> prepareTokenizer(const Node& node, std::span<const Tensor* const>) {
  return makeRef<Tokenizer>(readers::Tokens(node.attributes));
}

Results tokenize(const Node& node, Arguments inputs) {
  Ref<const Tokenizer> tokenizer(static_cast<const Tokenizer*>(node.prepared.get()));
  if (!tokenizer) tokenizer = makeRef<Tokenizer>(readers::Tokens(node.attributes));
  std::vector<RegexSearch> searches = tokenizer->searches();
  TextLists lists;
  for (int64_t i = 0; i < inputs[0]->count(); ++i) lists.add(tokenizer->tokensOf(textAt(*inputs[0], i), searches));
  return {lists.tensor(node, inputs[0]->shape(), tokenizer->padding())};
}

const OpRow kRows[] = {
    {"com.microsoft", "Tokenizer", {}, prepareTokenizer, tokenize},
};

}  // namespace

std::span<const OpRow> tokenizerOps() { return kRows; }

}  // namespace max
