// SPDX-License-Identifier: Apache-2.0
// A scanner of tokens that knows as much of C++ as it takes to find declarations and the scopes they stand in.
#include "kernel/cpu_source.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace max {

namespace {

enum class TokenKind { Word, Text, Sign };

struct Token {
  TokenKind kind;
  size_t begin;
  size_t end;
};

bool isWordStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool isWordPart(char c) { return isWordStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

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

  // Digits may be parted by quotes: 1'000.
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

// What a brace opens: a namespace, something as transparent as extern "C", or anything else.
struct Scope {
  bool isFunction;
  std::string name;
};

struct Kernel {
  std::string scope;  // "::a::b::"
  std::string name;
  std::string maxThreads;  // an expression in that scope; empty = not said
};

class Rewriter {
 public:
  explicit Rewriter(std::string_view source) : source_(source), tokens_(source) {}

  std::string run() {
    for (size_t i = 0; i < tokens_.size();) i = step(i);
    copyUpTo(source_.size());
    appendTable();
    return std::move(result_);
  }

 private:
  size_t step(size_t at) {
    const std::string_view text = tokens_.text(at);
    if (tokens_[at].kind == TokenKind::Sign) return stepSign(at, text[0]);
    if (text == "__global__") return kernel(at);
    if (text == "__shared__") return shared(at);
    if (text == "__launch_bounds__") return bounds(at);
    // Inside __attribute__((...)) the compiler knows it.
    if (text == "__noinline__" && !tokens_.is(at - 1, "(") && !tokens_.is(at - 1, ","))
      return replace(at, at + 1, "__attribute__((noinline))");
    return at + 1;
  }

  size_t stepSign(size_t at, char sign) {
    if (sign == '{') scopes_.push_back(scopeAt(at));
    if (sign == '}' && !scopes_.empty()) scopes_.pop_back();
    if (sign == '{' || sign == '}' || sign == ';') {
      statement_ = at + 1;
      bounds_.clear();
    }
    return at + 1;
  }

  Scope scopeAt(size_t brace) const {
    size_t at = statement_;
    if (tokens_.is(at, "inline")) ++at;
    if (tokens_.is(at, "extern") && at + 2 == brace) return {false, ""};
    if (!tokens_.is(at, "namespace")) return {true, ""};
    std::string name;
    for (++at; at < brace; ++at) {
      if (tokens_.is(at, "__attribute__") || tokens_.is(at, "[")) break;
      name += tokens_.text(at);
    }
    return {false, name};
  }

  bool insideFunction() const {
    return std::any_of(scopes_.begin(), scopes_.end(), [](const Scope& scope) { return scope.isFunction; });
  }

  std::string scopeName() const {
    std::string full = "::";
    for (const Scope& scope : scopes_)
      if (!scope.name.empty()) full += scope.name + "::";
    return full;
  }

  // From __global__ to the end of the parameters.
  size_t kernel(size_t at) {
    const bool isTemplate = tokens_.is(statement_, "template");
    const bool isInstance = isTemplate && !tokens_.is(statement_ + 1, "<");
    replace(at, at + 1, isInstance ? "" : "inline __attribute__((always_inline, used))");
    const size_t open = parametersOf(at + 1);
    if (open >= tokens_.size()) return tokens_.size();
    size_t after = tokens_.pastBrackets(open);
    while (after < tokens_.size() && !tokens_.is(after, "{") && !tokens_.is(after, ";"))
      after = tokens_.is(after, "__launch_bounds__") ? bounds(after) : after + 1;
    const bool isDefined = tokens_.is(after, isInstance ? ";" : "{");
    if (isDefined && isTemplate == isInstance)
      kernels_.push_back({scopeName(), std::string(nameBefore(open)), bounds_});
    return after;
  }

  // The bracket that opens the parameters of the function declared from here on.
  size_t parametersOf(size_t at) {
    while (at < tokens_.size() && !tokens_.is(at, "(") && !tokens_.is(at, ";") && !tokens_.is(at, "{")) {
      if (tokens_.is(at, "__launch_bounds__"))
        at = bounds(at);
      else if (tokens_.is(at, "__attribute__") || tokens_.is(at, "alignas"))
        at = tokens_.pastBrackets(at + 1);
      else
        ++at;
    }
    return tokens_.is(at, "(") ? at : tokens_.size();
  }

  // "add", or "add<float>".
  std::string_view nameBefore(size_t open) const {
    size_t first = open - 1;
    if (tokens_.is(first, ">")) {
      int depth = 1;
      while (first > 0 && depth > 0) {
        --first;
        depth += tokens_.is(first, ">") ? 1 : tokens_.is(first, "<") ? -1 : 0;
      }
      if (first > 0) --first;
    }
    return tokens_.between(first, open);
  }

  // __launch_bounds__(threads, ...): remembered until the declaration ends.
  size_t bounds(size_t at) {
    const size_t end = tokens_.is(at + 1, "(") ? tokens_.pastBrackets(at + 1) : at + 1;
    size_t comma = at + 2;
    while (comma + 1 < end && !tokens_.is(comma, ","))
      comma = tokens_.is(comma, "(") ? tokens_.pastBrackets(comma) : comma + 1;
    if (end > at + 2) bounds_ = tokens_.between(at + 2, std::min(comma, end - 1));
    return replace(at, end, "");
  }

  // Shared memory is a variable of the thread that runs the block; that whose size the launch decides is a pointer.
  size_t shared(size_t at) {
    if (tokens_.is(at - 1, "static")) return replace(at, at + 1, "thread_local");
    if (!tokens_.is(at - 1, "extern")) return replace(at, at + 1, "static thread_local");
    size_t end = at + 1;
    while (end < tokens_.size() && !tokens_.is(end, ";")) ++end;
    size_t first = at + 1;
    while (tokens_.is(first, "__attribute__") || tokens_.is(first, "alignas")) first = tokens_.pastBrackets(first + 1);
    size_t bracket = first;
    while (bracket < end && !tokens_.is(bracket, "[")) ++bracket;
    if (bracket >= end || bracket <= first + 1 || !tokens_.is(bracket + 1, "]")) return at + 1;
    const std::string_view name = tokens_.text(bracket - 1);
    const std::string inner(tokens_.between(bracket + 2, end));  // further dimensions
    std::string element(tokens_.between(first, bracket - 1));
    if (const size_t attribute = element.find("__attribute__"); attribute != std::string::npos)
      element.resize(attribute);
    const std::string type = element + " (*)" + inner;
    const std::string value = insideFunction() ? "(__max_dynamic)" : "(__max_runtime->sharedMemory())";
    const std::string_view storage = insideFunction() ? "" : "static thread_local ";
    return replace(
        at - 1, end,
        std::string(storage) + element + " (*const " + std::string(name) + ")" + inner + " = (" + type + ")" + value);
  }

  // Lines stay where they are.
  size_t replace(size_t first, size_t end, std::string_view text) {
    copyUpTo(tokens_[first].begin);
    copied_ = tokens_[end - 1].end;
    result_ += text;
    const std::string_view before = tokens_.between(first, end);
    result_.append(static_cast<size_t>(std::count(before.begin(), before.end(), '\n')), '\n');
    result_ += ' ';
    return end;
  }

  void copyUpTo(size_t position) {
    if (position > copied_) result_ += source_.substr(copied_, position - copied_);
    copied_ = std::max(copied_, position);
  }

  static std::string threadsOf(const Kernel& kernel) {
    if (kernel.maxThreads.empty()) return "0";
    if (kernel.scope == "::") return kernel.maxThreads;
    const std::string scope = kernel.scope.substr(0, kernel.scope.size() - 2);
    return "[] { using namespace " + scope + "; return (int)(" + kernel.maxThreads + "); }()";
  }

  void appendTable() {
    result_ += "\n# 1 \"(kernels)\"\n";
    result_ += "extern \"C\" const MaxCpuLibrary* maxCpuLibrary() {\n  static const MaxCpuKernel kernels[] = {\n";
    for (const Kernel& kernel : kernels_)
      result_ += "    __max_entry<&" + kernel.scope + kernel.name + ">::get(" + threadsOf(kernel) + "),\n";
    result_ += "    {}};\n  static const MaxCpuLibrary library = {kMaxCpuAbi, " + std::to_string(kernels_.size()) +
               ", kernels, &__max_runtime};\n  return &library;\n}\n";
  }

  std::string_view source_;
  Tokens tokens_;
  std::string result_;
  size_t copied_ = 0;
  size_t statement_ = 0;  // first token of the declaration
  std::string bounds_;
  std::vector<Scope> scopes_;
  std::vector<Kernel> kernels_;
};

}  // namespace

std::string hostSourceOf(std::string_view preprocessed) { return Rewriter(preprocessed).run(); }

}  // namespace max
