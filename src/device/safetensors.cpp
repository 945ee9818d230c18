// SPDX-License-Identifier: Apache-2.0
// The format: a 64-bit little-endian size of the header, a JSON object
// {name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, "__metadata__": {text: text}}, the bytes.
// The parser supports only this subset of JSON, so that no file can make it recurse or build a tree.
#include "device/safetensors.h"

#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "base/checked.h"

namespace max {

namespace {

constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit

struct TypeRow {
  std::string_view name;
  DType dtype;
};

constexpr TypeRow kTypes[] = {
    {"BOOL", DType::Bool},          {"I8", DType::Int8},
    {"U8", DType::UInt8},           {"I16", DType::Int16},
    {"U16", DType::UInt16},         {"I32", DType::Int32},
    {"U32", DType::UInt32},         {"I64", DType::Int64},
    {"U64", DType::UInt64},         {"F16", DType::Float16},
    {"BF16", DType::BFloat16},      {"F32", DType::Float32},
    {"F64", DType::Float64},        {"F8_E4M3", DType::Float8E4M3FN},
    {"F8_E5M2", DType::Float8E5M2}, {"F8_E8M0", DType::Float8E8M0FNU},
    {"F4", DType::Float4E2M1FN},    {"C64", DType::Complex64},
};

[[noreturn]] void badFile(const std::string& path, const std::string& problem) {
  fail(MAX_STATUS_DATA_LOSS, "File '", path, "' is not a readable .safetensors file: ", problem);
}

DType dtypeOf(const std::string& path, const std::string& tensor, std::string_view name) {
  for (const TypeRow& row : kTypes)
    if (name == row.name) return row.dtype;
  fail(MAX_STATUS_UNIMPLEMENTED, "File '", path, "': tensor '", tensor, "' has the unknown type '", name, "'");
}

void appendUtf8(std::string& text, uint32_t code) {
  const auto append = [&text](uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return append(code);
  if (code < 0x800) {
    append(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      append(0xE0 | code >> 12);
    } else {
      append(0xF0 | code >> 18);
      append(0x80 | (code >> 12 & 0x3F));
    }
    append(0x80 | (code >> 6 & 0x3F));
  }
  append(0x80 | (code & 0x3F));
}

// Reads JSON from left to right.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  // Calls visit(key) for each member; visit reads its value.
  template <class Visit>
  void object(Visit visit) {
    expect('{');
    if (accept('}')) return;
    do {
      const std::string key = string();
      expect(':');
      visit(key);
    } while (accept(','));
    expect('}');
  }

  template <class Visit>
  void array(Visit visit) {
    expect('[');
    if (accept(']')) return;
    do visit();
    while (accept(','));
    expect(']');
  }

  std::string string() {
    expect('"');
    std::string result;
    while (true) {
      const char c = take();
      if (c == '"') return result;
      if (static_cast<unsigned char>(c) < 0x20) failHere("a control character");
      if (c == '\\')
        escape(result);
      else
        result += c;
    }
  }

  uint64_t number() {
    skipSpace();
    if (at_ == text_.size() || !isDigit(text_[at_])) failHere("no integer");
    uint64_t value = 0;
    while (at_ < text_.size() && isDigit(text_[at_])) {
      const auto digit = static_cast<uint64_t>(text_[at_++] - '0');
      if (value > (UINT64_MAX - digit) / 10) failHere("a number that is too large");
      value = value * 10 + digit;
    }
    return value;
  }

  void end() {
    skipSpace();
    if (at_ != text_.size()) failHere("more than one object");
  }

  [[noreturn]] void failHere(const std::string& found) const {
    badFile(path_, concat("its header has ", found, " at byte ", at_));
  }

 private:
  static bool isDigit(char c) { return c >= '0' && c <= '9'; }

  void skipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }
  bool accept(char c) {
    skipSpace();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) failHere(concat("no '", c, "'"));
  }
  char take() {
    if (at_ == text_.size()) failHere("an unterminated string");
    return text_[at_++];
  }

  void escape(std::string& result) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = take();
    if (const size_t found = kLetters.find(letter); found != kLetters.npos)
      result += kMeanings[found];
    else if (letter == 'u')
      appendUtf8(result, codePoint());
    else
      failHere("an unknown escape");
  }

  uint32_t codePoint() {
    const uint32_t first = hexadecimal();
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first > 0xDBFF || take() != '\\' || take() != 'u') failHere("an unpaired surrogate");
    const uint32_t second = hexadecimal();
    if (second < 0xDC00 || second > 0xDFFF) failHere("an unpaired surrogate");
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }

  uint32_t hexadecimal() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = take();
      const char lower = static_cast<char>(c | 0x20);
      if (isDigit(c))
        value = value << 4 | static_cast<uint32_t>(c - '0');
      else if (lower >= 'a' && lower <= 'f')
        value = value << 4 | static_cast<uint32_t>(lower - 'a' + 10);
      else
        failHere("an escape that is not a hexadecimal number");
    }
    return value;
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
};

// One tensor's description; offsets are from the end of the header on.
class EntryReader {
 public:
  EntryReader(Scanner& scanner, const std::string& path, uint64_t dataSize)
      : scanner_(scanner), path_(path), dataSize_(dataSize) {}

  SafetensorsEntry read(const std::string& name) {
    entry_ = {};
    entry_.name = name;
    offsets_.clear();
    dims_.clear();
    seen_ = 0;
    scanner_.object([&](const std::string& key) { readField(key); });
    if (seen_ != 7) failTensor("lacks its dtype, shape or data_offsets");
    checkOffsets();
    return std::move(entry_);
  }

 private:
  [[noreturn]] void failTensor(const std::string& problem) const {
    badFile(path_, concat("tensor '", entry_.name, "' ", problem));
  }

  void readField(const std::string& key) {
    const unsigned before = seen_;
    if (key == "dtype") {
      seen_ |= 1;
      entry_.dtype = dtypeOf(path_, entry_.name, scanner_.string());
    } else if (key == "shape") {
      seen_ |= 2;
      scanner_.array([&] { append(dims_, kMaxRank, "dimensions"); });
    } else if (key == "data_offsets") {
      seen_ |= 4;
      scanner_.array([&] { append(offsets_, 2, "offsets"); });
    } else {
      failTensor(concat("has the unknown field '", key, "'"));
    }
    if (seen_ == before) failTensor(concat("has two fields '", key, "'"));
  }

  void append(std::vector<uint64_t>& list, size_t limit, const char* what) {
    if (list.size() == limit) failTensor(concat("has more than ", limit, " ", what));
    list.push_back(scanner_.number());
  }

  void checkOffsets() {
    for (const uint64_t dim : dims_) {
      if (dim > INT64_MAX) failTensor(concat("has a dimension of ", dim));
      entry_.shape.push(static_cast<int64_t>(dim));
    }
    uint64_t bytes = 0;
    try {
      bytes = bytesFor(entry_.dtype, entry_.shape.count());
    } catch (const Error&) {
      failTensor(concat("has the invalid shape ", entry_.shape));
    }
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1] || offsets_[1] > dataSize_) failTensor("is outside the file");
    if (offsets_[1] - offsets_[0] != bytes)
      failTensor(concat("has ", offsets_[1] - offsets_[0], " bytes; its shape and type need ", bytes));
    entry_.begin = offsets_[0];
  }

  Scanner& scanner_;
  const std::string& path_;
  uint64_t dataSize_;
  SafetensorsEntry entry_;
  std::vector<uint64_t> dims_, offsets_;
  unsigned seen_ = 0;
};

}  // namespace

std::vector<SafetensorsEntry> parseSafetensors(std::span<const std::byte> file, const std::string& path) {
  uint64_t size = 0;
  if (file.size() < sizeof size) badFile(path, "it has no header");
  std::memcpy(&size, file.data(), sizeof size);
  const uint64_t rest = file.size() - sizeof size;
  if (size > kMaxHeader || size > rest) badFile(path, concat("it declares a header of ", size, " bytes"));
  const auto* text = reinterpret_cast<const char*>(file.data()) + sizeof size;
  Scanner scanner({text, static_cast<size_t>(size)}, path);
  EntryReader reader(scanner, path, rest - size);
  std::vector<SafetensorsEntry> entries;
  std::set<std::string> names;
  scanner.object([&](const std::string& name) {
    if (!names.insert(name).second) badFile(path, concat("it has two tensors '", name, "'"));
    if (name == "__metadata__") return scanner.object([&](const std::string&) { scanner.string(); });
    entries.push_back(reader.read(name));
    entries.back().begin += sizeof size + size;
  });
  scanner.end();
  return entries;
}

}  // namespace max
