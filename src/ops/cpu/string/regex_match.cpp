// SPDX-License-Identifier: Apache-2.0
// RegexFullMatch.
#include "ops/cpu/string/regex.h"
#include "ops/families.h"
#include "ops/value_function.h"

namespace max {

namespace {

class PreparedRegex final : public Prepared {
 public:
  explicit PreparedRegex(const Node& node) : regex(node.attributes.getString("pattern", "")) {}
  Regex regex;
};

// Invalid patterns fail at load.
Ref<Prepared> prepareRegex(const Node& node, std::span<const Tensor* const>) { return makeRef<PreparedRegex>(node); }

Results regexFullMatch(const Node& node, Arguments inputs) {
  Ref<const Prepared> prepared(node.prepared.get());
  if (!prepared) prepared = makeRef<PreparedRegex>(node);
  RegexMatcher matcher(static_cast<const PreparedRegex&>(*prepared).regex);
  Ref<Tensor> result = Tensor::allocate(DType::Bool, inputs[0]->shape());
  bool* out = static_cast<bool*>(result->mutableData());
  for (int64_t i = 0; i < result->count(); ++i) out[i] = matcher.matches(textAt(*inputs[0], i));
  return {std::move(result)};
}

const OpRow kRows[] = {
    {"", "RegexFullMatch", kFunction<regexFullMatch>, prepareRegex},
};

}  // namespace

std::span<const OpRow> regexOps() { return kRows; }

}  // namespace max
