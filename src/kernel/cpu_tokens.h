// SPDX-License-Identifier: Apache-2.0
// A scanner of the tokens of preprocessed C++.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace max {

enum class TokenKind { Word, Text, Sign };

struct Token {
  TokenKind kind;
  size_t begin;
  size_t end;
};

// Non-ASCII bytes are letters: parts of names outside strings and comments.
inline bool isWordStart(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalpha(byte) || c == '_' || c == '$' || byte >= 0x80;
}
inline bool isWordPart(char c) { return isWordStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {
    size_t at = 0;
    while (at < text.size()) at = next(at);
  }

  size_t size() const { return tokens_.size(); }
  const Token& operator[](size_t index) const { return tokens_[index]; }
  std::string_view text(size_t index) const {
    if (index >= tokens_.size()) return "";
    return text_.substr(tokens_[index].begin, tokens_[index].end - tokens_[index].begin);
  }
  bool is(size_t index, std::string_view what) const { return text(index) == what; }
  bool isWord(size_t index) const { return index < size() && tokens_[index].kind == TokenKind::Word; }
  // The source from one token up to another.
  std::string_view between(size_t first, size_t end) const {
    if (first >= end) return "";
    return text_.substr(tokens_[first].begin, tokens_[end - 1].end - tokens_[first].begin);
  }
  // The token after the bracket that closes the one at `open`.
  size_t pastBrackets(size_t open) const {
    size_t depth = 0;
    for (size_t i = open; i < size(); ++i) {
      const char sign = text_[tokens_[i].begin];
      if (tokens_[i].kind != TokenKind::Sign) continue;
      if (sign == '(' || sign == '[' || sign == '{') ++depth;
      if ((sign == ')' || sign == ']' || sign == '}') && --depth == 0) return i + 1;
    }
    return size();
  }

 private:
  size_t next(size_t at) {
    const char c = text_[at];
    if (std::isspace(static_cast<unsigned char>(c))) {
      atLineStart_ = atLineStart_ || c == '\n';
      return at + 1;
    }
    if (c == '#' && atLineStart_) return std::min(text_.find('\n', at), text_.size());
    atLineStart_ = at == 0 && c == '\n';
    if (isWordStart(c)) return word(at);
    if (std::isdigit(static_cast<unsigned char>(c))) return add(TokenKind::Text, at, numberEnd(at));
    if (c == '"' || c == '\'') return add(TokenKind::Text, at, quotedEnd(at));
    return add(TokenKind::Sign, at, at + 1);
  }

  size_t word(size_t at) {
    size_t end = at;
    while (end < text_.size() && isWordPart(text_[end])) ++end;
    const std::string_view found = text_.substr(at, end - at);
    const bool raw = end < text_.size() && text_[end] == '"' && found.back() == 'R' && found.size() <= 3;
    return raw ? add(TokenKind::Text, at, rawEnd(end)) : add(TokenKind::Word, at, end);
  }

  // Digits may be separated by quotes: 1'000.
  size_t numberEnd(size_t at) const {
    while (at < text_.size() && (isWordPart(text_[at]) || text_[at] == '.' ||
                                 (text_[at] == '\'' && at + 1 < text_.size() && isWordPart(text_[at + 1]))))
      ++at;
    return at;
  }

  size_t quotedEnd(size_t at) const {
    const char quote = text_[at++];
    while (at < text_.size() && text_[at] != quote) at += text_[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text_.size());
  }

  size_t rawEnd(size_t quote) const {
    const size_t open = text_.find('(', quote);
    if (open == std::string_view::npos) return text_.size();
    const std::string close = ")" + std::string(text_.substr(quote + 1, open - quote - 1)) + "\"";
    const size_t end = text_.find(close, open);
    return end == std::string_view::npos ? text_.size() : end + close.size();
  }

  size_t add(TokenKind kind, size_t begin, size_t end) {
    tokens_.push_back({kind, begin, end});
    return end;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  bool atLineStart_ = true;
};

}  // namespace max
