// SPDX-License-Identifier: Apache-2.0
#include "npy.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/new_file.h"
#include "failure.h"

namespace max::cli {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;
constexpr size_t kMaxRank = 64;

struct DescriptorRow {
  const char* text;
  MaxDType dtype;
};

constexpr DescriptorRow kDescriptors[] = {
    {"|b1", MAX_DTYPE_BOOL},      {"|i1", MAX_DTYPE_INT8},       {"|u1", MAX_DTYPE_UINT8},   {"<i2", MAX_DTYPE_INT16},
    {"<u2", MAX_DTYPE_UINT16},    {"<i4", MAX_DTYPE_INT32},      {"<u4", MAX_DTYPE_UINT32},  {"<i8", MAX_DTYPE_INT64},
    {"<u8", MAX_DTYPE_UINT64},    {"<f2", MAX_DTYPE_FLOAT16},    {"<f4", MAX_DTYPE_FLOAT32}, {"<f8", MAX_DTYPE_FLOAT64},
    {"<c8", MAX_DTYPE_COMPLEX64}, {"<c16", MAX_DTYPE_COMPLEX128}};

[[noreturn]] void badFile(const std::string& path, const std::string& problem) {
  throw Failure("DATA_LOSS", "File \"" + path + "\" is not a readable .npy file: " + problem);
}

// The text after a key of the header's dictionary, without leading blanks.
std::string valueOf(const std::string& path, const std::string& header, const char* key) {
  const size_t at = header.find(std::string("'") + key + "'");
  const size_t colon = at == std::string::npos ? at : header.find(':', at);
  const size_t value = colon == std::string::npos ? colon : header.find_first_not_of(" ", colon + 1);
  if (value == std::string::npos) badFile(path, std::string("its header lacks '") + key + "'");
  return header.substr(value);
}

std::string descriptorOf(const std::string& path, const std::string& header) {
  const std::string value = valueOf(path, header, "descr");
  const size_t end = value.size() > 1 && value[0] == '\'' ? value.find('\'', 1) : std::string::npos;
  if (end == std::string::npos) badFile(path, "structured types are not supported");
  return value.substr(1, end - 1);
}

std::vector<int64_t> shapeOf(const std::string& path, const std::string& header) {
  const std::string value = valueOf(path, header, "shape");
  std::vector<int64_t> shape;
  const char* at = value.c_str();
  if (*at++ != '(') badFile(path, "its shape is not a tuple");
  while (*at == ' ' || *at == ',') ++at;
  while (*at != ')') {
    char* end = nullptr;
    errno = 0;
    const int64_t dim = std::strtoll(at, &end, 10);
    if (end == at || errno || dim < 0 || shape.size() == kMaxRank) badFile(path, "its shape is malformed");
    shape.push_back(dim);
    for (at = end; *at == ' ' || *at == ',' || *at == 'L'; ++at) {
    }
  }
  return shape;
}

bool isColumnMajor(const std::string& path, const std::string& header) {
  const std::string value = valueOf(path, header, "fortran_order");
  const std::string word = value.substr(0, value.find_first_of(",} "));
  if (word != "True" && word != "False") badFile(path, "'fortran_order' is neither True nor False");
  return word == "True";
}

// Characters per element of a type such as "<U12"; 0 for other types.
size_t charactersOf(const std::string& descriptor) {
  if (descriptor.size() < 3 || descriptor.size() > 10 || descriptor.compare(0, 2, "<U") != 0) return 0;
  size_t count = 0;
  for (const char c : descriptor.substr(2)) {
    if (c < '0' || c > '9') return 0;
    count = count * 10 + static_cast<size_t>(c - '0');
  }
  return count;
}

void appendUtf8(std::string& text, uint32_t character) {
  if (character < 0x80) {
    text += static_cast<char>(character);
    return;
  }
  const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  constexpr unsigned kFirst[] = {0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(kFirst[more] | character >> (6 * more));
  for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | ((character >> (6 * i)) & 0x3F));
}

// The code points of a string; bytes that are not UTF-8 become code points of the same value.
std::vector<uint32_t> charactersOfText(const std::string& text) {
  std::vector<uint32_t> characters;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    uint32_t character = more ? first & (0x3Fu >> more) : first;
    size_t used = 1;
    for (; used <= more && i + used < text.size() && (text[i + used] & 0xC0) == 0x80; ++used)
      character = character << 6 | (static_cast<unsigned char>(text[i + used]) & 0x3F);
    if (used != more + 1 || character > 0x10FFFF) character = first, used = 1;
    characters.push_back(character);
    i += used;
  }
  return characters;
}

// Elements are padded with zeros to one width.
std::vector<std::string> stringsOf(const std::string& path, const std::vector<std::byte>& bytes, size_t width) {
  std::vector<std::string> strings(bytes.size() / 4 / width);
  for (size_t i = 0; i < strings.size(); ++i) {
    std::vector<uint32_t> characters(width);
    std::memcpy(characters.data(), bytes.data() + i * width * 4, width * 4);
    while (!characters.empty() && characters.back() == 0) characters.pop_back();
    for (const uint32_t character : characters) {
      if (character > 0x10FFFF) badFile(path, "it contains an invalid character");
      appendUtf8(strings[i], character);
    }
  }
  return strings;
}

size_t widthOf(const Array& array) {
  size_t width = 1;
  for (const std::string& text : array.strings) width = std::max(width, charactersOfText(text).size());
  return width;
}

// All as wide as the widest.
std::vector<std::byte> wideStrings(const Array& array) {
  const size_t count = array.strings.size(), width = widthOf(array);
  if (count > kMostText / 4 / width)
    throw Failure("RESOURCE_EXHAUSTED",
                  std::to_string(count) + " strings of up to " + std::to_string(width) +
                      " characters are too many for a .npy file, which pads all to the same length");
  std::vector<std::byte> bytes(count * width * 4);
  for (size_t i = 0; i < count; ++i) {
    const std::vector<uint32_t> characters = charactersOfText(array.strings[i]);
    if (!characters.empty()) std::memcpy(bytes.data() + i * width * 4, characters.data(), characters.size() * 4);
  }
  return bytes;
}

MaxDType dtypeOf(const std::string& path, const std::string& descriptor, MaxDType expected) {
  for (const DescriptorRow& row : kDescriptors)
    if (descriptor == row.text || (descriptor.size() > 1 && descriptor.substr(1) == row.text + 1 && row.text[0] == '|'))
      return row.dtype;
  if (charactersOf(descriptor) > 0) return MAX_DTYPE_STRING;
  const size_t bits = maxDTypeGetBits(expected);
  if (descriptor == "|V2" && expected == MAX_DTYPE_BFLOAT16) return expected;
  if (descriptor == "|V1" && bits && bits <= 8) return expected;
  throw Failure("INVALID_ARGUMENT", "File \"" + path + "\" has elements of type \"" + descriptor +
                                        "\", which cannot be read as " + maxDTypeGetName(expected));
}

// Reads parts from the start of the file.
class FileReader {
 public:
  explicit FileReader(const std::string& path) : file_(File::openForRead(path)), left_(file_.size()) {}
  uint64_t left() const { return left_; }
  // False if the file ends first.
  bool read(void* target, size_t count) {
    if (count > left_) return false;
    file_.read(target, count, at_);
    at_ += count;
    left_ -= count;
    return true;
  }

 private:
  File file_;
  uint64_t at_ = 0, left_;
};

// Reads the header; the file is then at the first element.
std::string readHeader(const std::string& path, FileReader& file) {
  char start[kMagicSize + 2];
  if (!file.read(start, sizeof start) || std::memcmp(start, kMagic, kMagicSize) != 0)
    badFile(path, "wrong magic bytes");
  unsigned char size[4] = {};
  const size_t width = start[kMagicSize] == 1 ? 2 : 4;
  if (!file.read(size, width)) badFile(path, "it ends within its header");
  const uint32_t length =
      size[0] | size[1] << 8 | static_cast<uint32_t>(size[2]) << 16 | static_cast<uint32_t>(size[3]) << 24;
  if (length > 1u << 20) badFile(path, "its header is too large");
  std::string header(length, '\0');
  if (!file.read(header.data(), length)) badFile(path, "it ends within its header");
  return header;
}

// Bytes per element in the file: types below 8 bits use one byte per element.
size_t fileElementSize(MaxDType dtype) { return (maxDTypeGetBits(dtype) + 7) / 8; }

std::vector<std::byte> toRowMajor(const std::vector<std::byte>& columns, const std::vector<int64_t>& shape,
                                  size_t size) {
  std::vector<std::byte> rows(columns.size());
  std::vector<int64_t> index(shape.size(), 0);
  const size_t count = columns.size() / size;
  for (size_t to = 0; to < count; ++to) {
    size_t from = 0, stride = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      from += static_cast<size_t>(index[axis]) * stride;
      stride *= static_cast<size_t>(shape[axis]);
    }
    std::memcpy(rows.data() + to * size, columns.data() + from * size, size);
    for (size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) index[axis] = 0;
  }
  return rows;
}

// One element per byte to the packed form, lowest bits first.
std::vector<std::byte> pack(const std::vector<std::byte>& bytes, unsigned bits) {
  const size_t perByte = 8 / bits;
  std::vector<std::byte> packed((bytes.size() + perByte - 1) / perByte);
  for (size_t i = 0; i < bytes.size(); ++i)
    packed[i / perByte] |= (bytes[i] & std::byte((1u << bits) - 1)) << (i % perByte * bits);
  return packed;
}

std::vector<std::byte> unpack(const Array& array, unsigned bits) {
  const bool isSigned = array.dtype == MAX_DTYPE_INT2 || array.dtype == MAX_DTYPE_INT4;
  const size_t perByte = 8 / bits;
  std::vector<std::byte> bytes(static_cast<size_t>(elementCount(array.shape)));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(array.bytes[i / perByte]);
    unsigned value = (byte >> (i % perByte * bits)) & ((1u << bits) - 1);
    if (isSigned && value >> (bits - 1)) value |= ~0u << bits;
    bytes[i] = static_cast<std::byte>(value);
  }
  return bytes;
}

std::string descriptorOf(const Array& array) {
  if (array.dtype == MAX_DTYPE_STRING) return "<U" + std::to_string(widthOf(array));
  for (const DescriptorRow& row : kDescriptors)
    if (row.dtype == array.dtype) return row.text;
  return fileElementSize(array.dtype) == 2 ? "|V2" : "|V1";
}

}  // namespace

Array readNpy(const std::string& path, MaxDType expected) {
  FileReader file(path);
  const std::string header = readHeader(path, file);
  Array array;
  array.shape = shapeOf(path, header);
  const bool hasColumns = isColumnMajor(path, header);
  std::string descriptor = descriptorOf(path, header);
  if (descriptor.rfind('=', 0) == 0) descriptor[0] = '<';  // the byte order of this machine
  array.dtype = dtypeOf(path, descriptor, expected);

  const size_t width = charactersOf(descriptor);  // of strings
  const size_t size = width ? 4 * width : fileElementSize(array.dtype);
  const auto count = static_cast<size_t>(elementCount(array.shape));
  if (count > file.left() / size)
    badFile(path, "shape " + shapeText(array.shape) + " needs more than the " + std::to_string(file.left()) +
                      " bytes in the file");
  array.bytes.resize(count * size);
  file.read(array.bytes.data(), array.bytes.size());

  if (hasColumns) array.bytes = toRowMajor(array.bytes, array.shape, size);
  if (width) {
    array.strings = stringsOf(path, array.bytes, width);
    array.bytes.clear();
    return array;
  }
  const auto bits = static_cast<unsigned>(maxDTypeGetBits(array.dtype));
  if (bits < 8) array.bytes = pack(array.bytes, bits);
  return array;
}

std::string npyHeader(const Array& array) {
  std::string shape = "(";
  for (int64_t dim : array.shape) shape += std::to_string(dim) + (array.shape.size() == 1 ? "," : ", ");
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string text = "{'descr': '" + descriptorOf(array) + "', 'fortran_order': False, 'shape': " + shape + "), }";
  // The elements are aligned to 64 bytes; the header ends with a line feed.
  text.append((64 - (kMagicSize + 4 + text.size() + 1) % 64) % 64, ' ');
  return text + "\n";
}

void writeNpy(const std::string& path, const Array& array) {
  const std::string header = npyHeader(array);
  const auto bits = static_cast<unsigned>(maxDTypeGetBits(array.dtype));
  const std::vector<std::byte> bytes = array.dtype == MAX_DTYPE_STRING ? wideStrings(array)
                                       : bits < 8                      ? unpack(array, bits)
                                                                       : array.bytes;
  const char version[2] = {1, 0};
  const char size[2] = {static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  NewFile file(path);
  file.write(kMagic, kMagicSize);
  file.write(version, sizeof version);
  file.write(size, sizeof size);
  file.write(header);
  file.write(bytes.data(), bytes.size());
  file.keep();
}

}  // namespace max::cli
