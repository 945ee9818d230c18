// SPDX-License-Identifier: Apache-2.0
#include "extension/kernel_declaration.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace max {

namespace {

constexpr size_t kMaxOperators = 1024;
constexpr size_t kMaxItems = 64;  // inputs, arguments and the like of an operator

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view takeWord(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text = trimmed(text.substr(word.size()));
  return word;
}

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trimmed(text)).empty()) words.emplace_back(takeWord(text));
  return words;
}

// Commas outside of parentheses separate.
std::vector<std::string_view> itemsOf(std::string_view text) {
  std::vector<std::string_view> items;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (i < text.size() && (c != ',' || depth > 0)) continue;
    items.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return items;
}

bool isIdentifier(std::string_view text) {
  const auto isPart = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::all_of(text.begin(), text.end(), isPart);
}

int indexOf(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

template <class Number>
bool parseNumber(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// One operator's lines.
class OperatorParser {
 public:
  explicit OperatorParser(DeclaredOperator& op) : op_(op) {}

  struct Row {
    std::string_view keyword;
    void (OperatorParser::*parse)(std::string_view rest);
  };

  void parse(std::string_view keyword, std::string_view rest) {
    static constexpr Row kRows[] = {
        {"inputs", &OperatorParser::parseInputs}, {"outputs", &OperatorParser::parseOutputs},
        {"types", &OperatorParser::parseTypes},   {"attribute", &OperatorParser::parseAttribute},
        {"shape", &OperatorParser::parseShape},   {"kernel", &OperatorParser::parseKernel},
        {"grid", &OperatorParser::parseGrid},     {"block", &OperatorParser::parseBlock},
        {"shared", &OperatorParser::parseShared}, {"arguments", &OperatorParser::parseArguments},
    };
    for (const Row& row : kRows)
      if (row.keyword == keyword) return (this->*row.parse)(rest);
    invalidArgument("'", keyword,
                    "' is not operator, inputs, outputs, types, attribute, shape, kernel, grid, block, "
                    "shared or arguments");
  }

  void finish() {
    const auto need = [&](bool isThere, const char* what) {
      if (!isThere) invalidArgument("operator '", op_.domain, ".", op_.name, "' has no ", what);
    };
    need(!op_.inputs.empty(), "inputs");
    need(!op_.outputs.empty(), "outputs");
    need(!op_.types.empty(), "types");
    need(!op_.kernels.empty(), "kernel");
    need(!op_.grid.empty(), "grid");
    need(!op_.block.empty(), "block");
    need(!op_.arguments.empty(), "arguments");
    for (size_t i = 0; i < op_.outputs.size(); ++i)
      if (op_.shapes[i].kind == DeclaredShape::None) need(false, ("shape of output '" + op_.outputs[i] + "'").c_str());
    resolveTerms();
  }

 private:
  void parseInputs(std::string_view rest) { addNames(op_.inputs, rest); }

  void parseOutputs(std::string_view rest) {
    addNames(op_.outputs, rest);
    op_.shapes.resize(op_.outputs.size());
  }

  void addNames(std::vector<std::string>& names, std::string_view rest) {
    for (std::string& name : wordsOf(rest)) {
      requireNew(name);
      names.push_back(std::move(name));
      if (names.size() > kMaxItems) invalidArgument("there are more than ", kMaxItems);
    }
  }

  void requireNew(const std::string& name) const {
    if (!isIdentifier(name)) invalidArgument("'", name, "' is not a name");
    if (op_.findInput(name) >= 0 || op_.findOutput(name) >= 0 || op_.findAttribute(name) >= 0)
      invalidArgument("the name '", name, "' occurs twice");
  }

  void parseTypes(std::string_view rest) { op_.types = std::string(rest); }

  // "alpha float 1.5", "axis int 0"
  void parseAttribute(std::string_view rest) {
    DeclaredAttribute attribute;
    attribute.name = std::string(takeWord(rest));
    requireNew(attribute.name);
    const std::string_view type = takeWord(rest);
    attribute.isFloat = type == "float";
    const bool isGood =
        attribute.isFloat ? parseNumber(rest, attribute.number) : type == "int" && parseNumber(rest, attribute.integer);
    if (!isGood) invalidArgument("an attribute has the form NAME float DEFAULT or NAME int DEFAULT");
    if (op_.attributes.size() >= kMaxItems) invalidArgument("there are more than ", kMaxItems, " attributes");
    op_.attributes.push_back(std::move(attribute));
  }

  // "y = like x", "y = like a b", "y = broadcast a b", "y = [x.0, 2 * x.1]"
  void parseShape(std::string_view rest) {
    const std::string_view name = takeWord(rest);
    const int output = op_.findOutput(name);
    if (output < 0) invalidArgument("there is no output '", name, "'");
    if (takeWord(rest) != "=")
      invalidArgument("a shape has the form OUTPUT = like INPUT ..., broadcast INPUT INPUT or [...]");
    DeclaredShape& shape = op_.shapes[static_cast<size_t>(output)];
    if (rest.starts_with('[') && rest.ends_with(']')) {
      shape.kind = DeclaredShape::Dimensions;
      shape.dimensions = sizesOf(rest.substr(1, rest.size() - 2), kMaxRank);
      return;
    }
    const std::string_view rule = takeWord(rest);
    shape.inputs.clear();
    for (const std::string& input : wordsOf(rest)) shape.inputs.push_back(requiredInput(input));
    shape.kind = rule == "like" ? DeclaredShape::Like : DeclaredShape::Broadcast;
    const bool isLike = rule == "like" && !shape.inputs.empty();
    if (!isLike && (rule != "broadcast" || shape.inputs.size() != 2))
      invalidArgument("a shape has the form OUTPUT = like INPUT ..., broadcast INPUT INPUT or [...]");
  }

  size_t requiredInput(const std::string& name) const {
    const int input = op_.findInput(name);
    if (input < 0) invalidArgument("there is no input '", name, "'");
    return static_cast<size_t>(input);
  }

  static std::vector<SizeExpression> sizesOf(std::string_view text, size_t most) {
    std::vector<SizeExpression> sizes;
    if (trimmed(text).empty()) return sizes;
    for (const std::string_view item : itemsOf(text)) sizes.push_back(SizeExpression::parse(item));
    if (sizes.size() > most) invalidArgument("there are ", sizes.size(), " sizes, at most ", most);
    return sizes;
  }

  // "scale", "scale_half float16"
  void parseKernel(std::string_view rest) {
    const std::string name(takeWord(rest));
    const auto dtype = rest.empty() ? DType::Invalid : dtypeFromName(rest);
    if (!isIdentifier(name) || !dtype) invalidArgument("a kernel has the form NAME or NAME TYPE");
    if (op_.kernels.size() >= kMaxItems) invalidArgument("there are more than ", kMaxItems, " kernels");
    op_.kernels.emplace_back(name, *dtype);
  }

  void parseGrid(std::string_view rest) { op_.grid = sizesOf(rest, 3); }
  void parseBlock(std::string_view rest) { op_.block = sizesOf(rest, 3); }
  void parseShared(std::string_view rest) { op_.shared = sizesOf(rest, 1); }

  void parseArguments(std::string_view rest) {
    for (const std::string_view item : itemsOf(rest)) op_.arguments.emplace_back().text = item;
    if (op_.arguments.size() > kMaxItems) invalidArgument("there are more than ", kMaxItems, " arguments");
  }

  // Names stand for something, and for outputs only where their shapes are known.
  void resolveTerms() {
    for (DeclaredShape& shape : op_.shapes)
      for (SizeExpression& size : shape.dimensions) resolve(size, false);
    for (auto* sizes : {&op_.grid, &op_.block, &op_.shared})
      for (SizeExpression& size : *sizes) resolve(size, true);
    for (DeclaredArgument& argument : op_.arguments) resolve(argument);
  }

  void resolve(DeclaredArgument& argument) {
    const int input = op_.findInput(argument.text), output = op_.findOutput(argument.text);
    const int attribute = op_.findAttribute(argument.text);
    if (input >= 0 || output >= 0) {
      argument.kind = input >= 0 ? DeclaredArgument::Input : DeclaredArgument::Output;
      argument.index = static_cast<size_t>(input >= 0 ? input : output);
    } else if (attribute >= 0 && op_.attributes[static_cast<size_t>(attribute)].isFloat) {
      argument.kind = DeclaredArgument::Float;
      argument.index = static_cast<size_t>(attribute);
    } else {
      argument.size.push_back(SizeExpression::parse(argument.text));
      resolve(argument.size[0], true);
    }
  }

  void resolve(SizeExpression& size, bool mayUseOutputs) const {
    const auto resolveTerm = [&](SizeTerm& term) {
      const int attribute = op_.findAttribute(term.name), input = op_.findInput(term.name);
      const int output = mayUseOutputs ? op_.findOutput(term.name) : -1;
      const bool isInteger = attribute >= 0 && !op_.attributes[static_cast<size_t>(attribute)].isFloat;
      if (term.kind == SizeTerm::Plain ? !isInteger : input < 0 && output < 0)
        invalidArgument("'", size.text(), "': '", term.name, "' is ",
                        term.kind == SizeTerm::Plain ? "not an attribute of type int" : "not a value known here");
      term.owner = term.kind == SizeTerm::Plain ? SizeTerm::Attribute : input >= 0 ? SizeTerm::Input : SizeTerm::Output;
      term.index = static_cast<size_t>(isInteger && term.kind == SizeTerm::Plain ? attribute : std::max(input, output));
    };
    size.forEachTerm(resolveTerm);
  }

  DeclaredOperator& op_;
};

DeclaredOperator begun(std::string_view rest, int line) {
  const std::string_view whole = takeWord(rest);
  const size_t dot = whole.rfind('.');
  if (dot == whole.npos || !rest.empty()) invalidArgument("an operator has the form DOMAIN.NAME");
  DeclaredOperator op;
  op.line = line;
  op.domain = std::string(whole.substr(0, dot));
  op.name = std::string(whole.substr(dot + 1));
  return op;
}

constexpr std::string_view kMark = "//@";

std::string_view takeLine(std::string_view& source) {
  const std::string_view line = source.substr(0, source.find('\n'));
  source.remove_prefix(std::min(line.size() + 1, source.size()));
  return line;
}

bool isDeclaration(std::string_view line) { return trimmed(line).starts_with(kMark); }

void addLine(std::vector<DeclaredOperator>& operators, std::string_view line, int number) {
  std::string_view text = trimmed(line).substr(kMark.size());
  const std::string_view keyword = takeWord(text);
  if (keyword != "operator") {
    if (operators.empty()) invalidArgument("'operator DOMAIN.NAME' must come first");
    return OperatorParser(operators.back()).parse(keyword, text);
  }
  if (!operators.empty()) OperatorParser(operators.back()).finish();
  if (operators.size() >= kMaxOperators) invalidArgument("there are more than ", kMaxOperators, " operators");
  operators.push_back(begun(text, number));
}

}  // namespace

int DeclaredOperator::findInput(std::string_view text) const { return indexOf(inputs, text); }
int DeclaredOperator::findOutput(std::string_view text) const { return indexOf(outputs, text); }
int DeclaredOperator::findAttribute(std::string_view text) const {
  for (size_t i = 0; i < attributes.size(); ++i)
    if (attributes[i].name == text) return static_cast<int>(i);
  return -1;
}

std::vector<DeclaredOperator> parseDeclarations(const std::string& name, std::string_view source) {
  std::vector<DeclaredOperator> operators;
  int line = 0;
  try {
    while (!source.empty()) {
      ++line;
      if (std::string_view text = takeLine(source); isDeclaration(text)) addLine(operators, text, line);
    }
    if (!operators.empty()) OperatorParser(operators.back()).finish();
  } catch (const Error& error) {
    fail(error.status(), name, ":", line, ": ", error.message());
  }
  return operators;
}

std::string withoutDeclarations(std::string_view source) {
  std::string result;
  while (!source.empty()) {
    const std::string_view line = takeLine(source);
    if (!isDeclaration(line)) result += line;
    result += '\n';
  }
  return result;
}

}  // namespace max
