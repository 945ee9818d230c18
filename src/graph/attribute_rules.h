// SPDX-License-Identifier: Apache-2.0
// Which attributes an operator has, of which types, with which values: the parsed form of the `attributes` text of its
// row.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.h"

namespace max {

// "axis=i perm=I mode=s{linear,cubic} size=i[1..] lag=i[0..1]": i, f, s, t, g mean int, float, string, tensor, graph,
// and I, F, S lists. Braces hold the strings that there are, brackets the least and the greatest number; both hold for
// each entry of a list.
struct AttributeRule {
  std::string_view name;
  char type;
  std::vector<std::string_view> words = {};  // empty = any string
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
};

class AttributeRules {
 public:
  // Throws INVALID_ARGUMENT if the text is malformed. Views of it are kept.
  explicit AttributeRules(std::string_view text);

  bool allowsAll() const { return allowsAll_; }
  const std::vector<AttributeRule>& all() const { return rules_; }
  const AttributeRule* find(std::string_view name) const;  // NULL if there is none
  std::string names() const;                               // "there are none", "known are axis, perm"

 private:
  bool allowsAll_ = false;  // the text is "*"
  std::vector<AttributeRule> rules_;
};

// What is wrong with an attribute under this name; empty if nothing is.
std::string wrongAttribute(const AttributeRules& rules, std::string_view name, const Attribute& attribute);
// The same for one that must be as `rule` says.
std::string wrongAttribute(const AttributeRule& rule, const Attribute& attribute);

}  // namespace max
