// SPDX-License-Identifier: Apache-2.0
// Understands enough C++ to find declarations and their scopes.
#include "kernel/cpu_source.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kernel/cpu_tokens.h"

namespace max {

namespace {

// What a brace opens: a namespace, a transparent scope such as extern "C", or something else.
struct Scope {
  bool isFunction;
  std::string name;
};

// A kernel with an entry in the table: a definition, or a template instance.
struct Kernel {
  std::string scope;       // "::a::b::"
  std::string function;    // expression for its address in that scope; empty = none
  std::string maxThreads;  // "0" = not given
};

// Specifiers around __shared__, between tokens `first` and `end`.
struct Specifiers {
  size_t first = 0;
  size_t end = 0;
  bool isExtern = false;
  std::string alignment;   // alignas(...)
  std::string attributes;  // __attribute__((...))
  std::string qualifiers;  // const and volatile
};

// More than any GPU gives a kernel by default.
constexpr size_t kMostShared = 64 << 10;

class Rewriter {
 public:
  explicit Rewriter(std::string_view source) : source_(source), tokens_(source) {}

  std::string run() {
    for (size_t i = 0; i < tokens_.size();) {
      i = step(i);
      if (!announced_.function.empty() && i > announcedAt_) enter();
    }
    copyUpTo(source_.size());
    // A source with a missing bracket gets no table, so that the compiler reports the bracket.
    if (scopes_.empty()) appendTable();
    return std::move(result_);
  }

 private:
  size_t step(size_t at) {
    const std::string_view text = tokens_.text(at);
    if (tokens_[at].kind == TokenKind::Sign) return stepSign(at, text[0]);
    if (text == "__global__") return kernel(at);
    if (text == "__shared__") return shared(at);
    if (text == "__launch_bounds__") return bounds(at);
    if (text == "__max_place") return replace(at, at + 1, std::to_string(++places_));
    // Inside __attribute__((...)) the compiler understands it.
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
    replace(at, at + 1,
            isInstance ? "" : concat(isInline(at) ? "" : "inline ", "__attribute__((always_inline, used))"));
    const size_t open = parametersOf(at + 1);
    if (open >= tokens_.size()) return tokens_.size();
    size_t after = tokens_.pastBrackets(open);
    const size_t close = after - 1;
    while (after < tokens_.size() && !tokens_.is(after, "{") && !tokens_.is(after, ";"))
      after = tokens_.is(after, "__launch_bounds__") ? bounds(after) : after + 1;
    const bool isDefined = tokens_.is(after, isInstance ? ";" : "{");
    if (isDefined && isTemplate == isInstance) announce(open, close, after, isInstance);
    return after;
  }
  // The bracket that opens the parameters of the function declared here.
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

  // Whether the declaration itself says so.
  bool isInline(size_t at) const {
    for (size_t i = statement_; i < tokens_.size() && (i <= at || !tokens_.is(i, "(")); ++i)
      if (tokens_.is(i, "inline") || tokens_.is(i, "__inline__")) return true;
    return false;
  }

  // "add", "add<float>", or "names::add<float>".
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
    while (first > 1 && tokens_.is(first - 1, ":") && tokens_.is(first - 2, ":")) {
      first -= 2;
      if (first > 0 && tokens_.isWord(first - 1) && !tokens_.is(first - 1, "void")) --first;
    }
    return tokens_.between(first, open);
  }

  // The parameter types as in a pointer to the function: without default arguments.
  std::string parametersBetween(size_t open, size_t close) const {
    std::string text;
    for (size_t i = open + 1; i < close; ++i) {
      if (tokens_.is(i, "="))
        while (i < close && !tokens_.is(i, ",")) i = isOpening(i) ? tokens_.pastBrackets(i) : i + 1;
      if (i < close) text.append(tokens_.text(i)) += ' ';
    }
    return text;
  }

  bool isOpening(size_t at) const { return tokens_.is(at, "(") || tokens_.is(at, "[") || tokens_.is(at, "{"); }

  // The kernel's entry follows its definition, where its names resolve in the same way.
  void announce(size_t open, size_t close, size_t after, bool isInstance) {
    bool isVoid = false;
    for (size_t i = statement_; i < open; ++i) isVoid = isVoid || tokens_.is(i, "void");
    const std::string name(nameBefore(open));
    if (!isVoid)
      check_ = concat(" static_assert(::__max_is_kernel<decltype(&", name,
                      ")>, \"a __global__ function must have a void return type\");");
    announced_ = {scopeName(), concat('&', name), bounds_.empty() ? "0" : bounds_};
    // Index among several with this name.
    if (isVoid)
      announced_.function = concat("static_cast<void (*)(", parametersBetween(open, close), ")>(&", name, ")");
    if (parametersBetween(open, close).find('&') != std::string::npos)
      check_ += concat(" static_assert(::__max_takes_values<decltype(", announced_.function,
                       ")>, \"a __global__ function must not have parameters that are references\");");
    announcedDepth_ = scopes_.size();
    announcedAt_ = isInstance ? after : tokens_.pastBrackets(after) - 1;
  }

  void enter() {
    if (scopes_.size() != announcedDepth_) return announced_.function.clear();  // its bracket is missing
    copyUpTo(tokens_[announcedAt_].end);
    result_ += std::exchange(check_, {});
    result_ += concat(" static ::MaxCpuKernel __max_kernel_", kernels_.size(), "() { return ::__max_entry<",
                      announced_.function, ">::get(", announced_.maxThreads, "); }");
    kernels_.push_back(std::exchange(announced_, {}).scope);
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

  bool isSpecifier(size_t at) const { return tokens_.is(at, "extern") || tokens_.is(at, "static") || isQualifier(at); }
  bool isQualifier(size_t at) const { return tokens_.is(at, "volatile") || tokens_.is(at, "const"); }
  bool isAttribute(size_t at) const { return tokens_.is(at, "__attribute__") || tokens_.is(at, "alignas"); }

  // The attribute whose last bracket is the token before `at`; `at` if there is none.
  size_t attributeBefore(size_t at) const {
    size_t depth = 0;
    for (size_t i = at; i-- > 0;) {
      if (tokens_.is(i, ")")) ++depth;
      if (tokens_.is(i, "(") && --depth == 0) return i > 0 && isAttribute(i - 1) ? i - 1 : at;
      if (depth == 0) return at;
    }
    return at;
  }

  // The storage specifiers around __shared__.
  Specifiers specifiersAround(size_t at) const {
    Specifiers found;
    found.first = at, found.end = at + 1;
    for (size_t before = at; before > 0 && tokens_[before - 1].begin >= copied_; found.first = before) {
      const size_t next = isSpecifier(before - 1) ? before - 1 : attributeBefore(before);
      if (next == before || tokens_[next].begin < copied_) break;
      before = next;
    }
    while (isSpecifier(found.end) || isAttribute(found.end))
      found.end = isAttribute(found.end) ? tokens_.pastBrackets(found.end + 1) : found.end + 1;
    found.end = std::min(found.end, tokens_.size());
    for (size_t i = found.first; i < found.end;) {
      const size_t next = isAttribute(i) ? std::min(tokens_.pastBrackets(i + 1), found.end) : i + 1;
      found.isExtern = found.isExtern || tokens_.is(i, "extern");
      std::string* kind = tokens_.is(i, "alignas") ? &found.alignment
                          : isAttribute(i)         ? &found.attributes
                          : isQualifier(i)         ? &found.qualifiers
                                                   : nullptr;
      if (kind) kind->append(tokens_.between(i, next)) += ' ';
      i = next;
    }
    return found;
  }

  // Shared memory is a thread_local variable of the thread that runs the block; dynamic shared memory is a pointer.
  size_t shared(size_t at) {
    const Specifiers specifiers = specifiersAround(at);
    size_t end = specifiers.end;
    while (end < tokens_.size() && !tokens_.is(end, ";")) ++end;
    if (specifiers.isExtern) return dynamicShared(at, specifiers, end);
    replace(specifiers.first, specifiers.end,
            concat(specifiers.alignment, "static thread_local ", specifiers.attributes, specifiers.qualifiers));
    if (end == tokens_.size()) return end;
    copyUpTo(tokens_[end].end);
    for (const std::string_view name : declaredNames(specifiers.end, end))
      result_ +=
          concat(" static_assert(sizeof(", name, ") <= ", kMostShared,
                 ", \"__shared__ memory whose size the launch does not decide is at most ", kMostShared, " bytes\");");
    statement_ = end + 1;
    return end + 1;
  }

  // The variables of a declaration: names before brackets, commas and the end, outside template arguments.
  std::vector<std::string_view> declaredNames(size_t first, size_t end) const {
    std::vector<std::string_view> names;
    int depth = 0;
    for (size_t i = first; i < end; i = isOpening(i) ? tokens_.pastBrackets(i) : i + 1) {
      depth += tokens_.is(i, "<") ? 1 : tokens_.is(i, ">") ? -1 : 0;
      const bool isLast = tokens_.is(i + 1, "[") || tokens_.is(i + 1, ",") || tokens_.is(i + 1, ";");
      if (depth == 0 && i > first && isLast && tokens_.isWord(i)) names.push_back(tokens_.text(i));
    }
    return names;
  }

  size_t dynamicShared(size_t at, const Specifiers& specifiers, size_t end) {
    const size_t first = specifiers.end;
    size_t bracket = first;
    while (bracket < end && !tokens_.is(bracket, "[")) ++bracket;
    if (bracket >= end || bracket <= first + 1 || !tokens_.is(bracket + 1, "]")) return at + 1;
    const std::string name(tokens_.text(bracket - 1));
    size_t past = bracket + 2;
    while (tokens_.is(past, "[")) past = tokens_.pastBrackets(past);
    const std::string inner(tokens_.between(bracket + 2, std::min(past, end)));  // further dimensions
    std::string element(tokens_.between(first, bracket - 1));
    if (const size_t attribute = element.find("__attribute__"); attribute != std::string::npos)
      element.resize(attribute);
    element.insert(0, specifiers.qualifiers);
    const bool isPlain = inner.empty();
    const std::string type = concat(element, isPlain ? " *" : " (*)", inner);
    const std::string_view value = insideFunction() ? "__max_dynamic" : "__max_runtime->sharedMemory()";
    const std::string_view storage = insideFunction() ? "" : "static thread_local ";
    std::string declaration = concat(storage, element, isPlain ? " *const " : " (*const ", name, isPlain ? "" : ")",
                                     inner, " = static_cast<", type, ">(", value, ")");
    // Outside functions it may be declared any number of times.
    if (!insideFunction() && !declared_.insert(scopeName() + name).second) declaration.clear();
    return replace(specifiers.first, end, declaration);
  }

  // Keeps line numbers.
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

  // On one line after the source's last line. A missing semicolon before it is reported at its start.
  void appendTable() {
    result_.resize(result_.find_last_not_of(" \n") + 1);
    result_ += "\nstatic_assert(true); extern \"C\" const MaxCpuLibrary* maxCpuLibrary() {";
    result_ += " static const MaxCpuKernel kernels[] = {";
    for (size_t i = 0; i < kernels_.size(); ++i) result_ += concat(kernels_[i], "__max_kernel_", i, "(), ");
    result_ += concat("{}}; static const MaxCpuLibrary library = {kMaxCpuAbi, ", kernels_.size(),
                      ", kernels, &__max_runtime}; return &library; }\n");
  }

  std::string_view source_;
  Tokens tokens_;
  std::string result_;
  size_t copied_ = 0;
  size_t statement_ = 0;  // first token of the declaration
  std::string bounds_;
  std::vector<Scope> scopes_;
  Kernel announced_;   // whose definition is being parsed
  std::string check_;  // of its type
  size_t announcedDepth_ = 0;
  size_t announcedAt_ = 0;            // its last token
  std::vector<std::string> kernels_;  // the scopes of all kernels
  std::set<std::string> declared_;    // dynamic shared memory outside functions
  int places_ = 0;
};

}  // namespace

std::string hostSourceOf(std::string_view preprocessed) { return Rewriter(preprocessed).run(); }

}  // namespace max
