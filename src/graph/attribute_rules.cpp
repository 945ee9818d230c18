// SPDX-License-Identifier: Apache-2.0
#include "graph/attribute_rules.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace max {

namespace {

// The letters of Attribute's alternatives, in order; lists of graphs have none.
constexpr std::string_view kLetters = "ifsIFStg-";
constexpr std::string_view kTypes[] = {"int",     "float",  "string", "ints",  "floats",
                                       "strings", "tensor", "graph",  "graphs"};
static_assert(std::size(kTypes) == std::variant_size_v<Attribute> && kLetters.size() == std::size(kTypes));

[[noreturn]] void refuse(std::string_view part) {
  invalidArgument("'", part, "' is not NAME=TYPE with a type of i, f, s, t, g, I, F, S");
}

// "{a,b}" without the braces.
std::vector<std::string_view> wordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

void readBound(std::string_view part, std::string_view text, int64_t& bound) {
  if (text.empty()) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bound);
  if (error != std::errc() || end != text.data() + text.size()) refuse(part);
}

AttributeRule ruleOf(std::string_view part) {
  const size_t equals = part.find('=');
  if (equals == part.npos || equals == 0 || equals + 1 == part.size()) refuse(part);
  AttributeRule rule{part.substr(0, equals), part[equals + 1]};
  if (rule.type == '-' || kLetters.find(rule.type) == kLetters.npos) refuse(part);
  const std::string_view limits = part.substr(equals + 2);
  if (limits.empty()) return rule;
  const bool isNumber = rule.type == 'i' || rule.type == 'I', isText = rule.type == 's' || rule.type == 'S';
  const std::string_view inside = limits.size() < 2 ? "" : limits.substr(1, limits.size() - 2);
  if (isText && limits.front() == '{' && limits.back() == '}') {
    rule.words = wordsOf(inside);
  } else if (isNumber && limits.front() == '[' && limits.back() == ']' && inside.find("..") != inside.npos) {
    readBound(part, inside.substr(0, inside.find("..")), rule.least);
    readBound(part, inside.substr(inside.find("..") + 2), rule.most);
  } else {
    refuse(part);
  }
  return rule;
}

bool isAllowed(const AttributeRule& rule, std::string_view word) {
  return rule.words.empty() || std::find(rule.words.begin(), rule.words.end(), word) != rule.words.end();
}

std::string wordsAllowed(const AttributeRule& rule) {
  std::string text;
  for (const std::string_view word : rule.words) {
    if (!text.empty()) text += ", ";
    text += word.empty() ? "''" : word;
  }
  return text;
}

std::string numbersAllowed(const AttributeRule& rule) {
  using Limits = std::numeric_limits<int64_t>;
  if (rule.most == Limits::max()) return concat(rule.least, " or more");
  if (rule.least == Limits::min()) return concat(rule.most, " or less");
  return concat(rule.least, " to ", rule.most);
}

std::string wrongWord(const AttributeRule& rule, std::string_view verb, std::string_view word) {
  if (isAllowed(rule, word)) return {};
  return concat("attribute '", rule.name, "' ", verb, " '", word, "'; allowed are ", wordsAllowed(rule));
}

std::string wrongNumber(const AttributeRule& rule, std::string_view verb, int64_t number) {
  if (number >= rule.least && number <= rule.most) return {};
  return concat("attribute '", rule.name, "' ", verb, " ", number, "; allowed are ", numbersAllowed(rule));
}

}  // namespace

AttributeRules::AttributeRules(std::string_view text) : allowsAll_(text == "*") {
  if (allowsAll_) return;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    rules_.push_back(ruleOf(text.substr(at, end - at)));
    at = end + 1;
  }
}

const AttributeRule* AttributeRules::find(std::string_view name) const {
  for (const AttributeRule& rule : rules_)
    if (rule.name == name) return &rule;
  return nullptr;
}

std::string AttributeRules::names() const {
  std::string names;
  for (const AttributeRule& rule : rules_) names += concat(names.empty() ? "known are " : ", ", rule.name);
  return names.empty() ? "there are none" : names;
}

std::string wrongAttribute(const AttributeRule& rule, const Attribute& attribute) {
  if (rule.type != kLetters[attribute.index()])
    return concat("attribute '", rule.name, "' has type ", kTypes[attribute.index()], ", not ",
                  kTypes[kLetters.find(rule.type)]);
  if (const auto* number = std::get_if<int64_t>(&attribute)) return wrongNumber(rule, "is", *number);
  if (const auto* word = std::get_if<std::string>(&attribute)) return wrongWord(rule, "is", *word);
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&attribute))
    for (const int64_t number : *numbers)
      if (std::string wrong = wrongNumber(rule, "contains", number); !wrong.empty()) return wrong;
  if (const auto* words = std::get_if<std::vector<std::string>>(&attribute))
    for (const std::string& word : *words)
      if (std::string wrong = wrongWord(rule, "contains", word); !wrong.empty()) return wrong;
  return {};
}

std::string wrongAttribute(const AttributeRules& rules, std::string_view name, const Attribute& attribute) {
  if (rules.allowsAll()) return {};
  const AttributeRule* rule = rules.find(name);
  return rule ? wrongAttribute(*rule, attribute) : concat("unknown attribute '", name, "'; ", rules.names());
}

}  // namespace max
