// SPDX-License-Identifier: Apache-2.0
// The names, types and values of an operator's attributes: the parsed form of the `attributes` string of its row.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.h"

namespace max {

// "axis=i perm=I mode=s{linear,cubic} size=i[1..] lag=i[0..1]": i, f, s, t, g mean int, float, string, tensor, graph,
// and I, F, S lists. Braces list the allowed strings, brackets give the minimum and maximum; both apply to each entry
// of a list.
struct AttributeRule {
  std::string_view name;
  char type;
  std::vector<std::string_view> words = {};  // empty = any string
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
};

class AttributeRules {
 public:
  // Throws INVALID_ARGUMENT if the text is malformed. Keeps views of the text.
  explicit AttributeRules(std::string_view text);

  bool allowsAll() const { return allowsAll_; }
  const std::vector<AttributeRule>& all() const { return rules_; }
  const AttributeRule* find(std::string_view name) const;  // NULL if there is none
  std::string names() const;                               // "there are none", "known are axis, perm"

 private:
  bool allowsAll_ = false;  // the text is "*"
  std::vector<AttributeRule> rules_;
};

// Why an attribute with this name is invalid; empty if it is valid.
std::string wrongAttribute(const AttributeRules& rules, std::string_view name, const Attribute& attribute);
// The same for an attribute that must follow `rule`.
std::string wrongAttribute(const AttributeRule& rule, const Attribute& attribute);

}  // namespace max
