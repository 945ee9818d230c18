// SPDX-License-Identifier: Apache-2.0
#include "kernel/amd_parameters.h"

#include <elf.h>

#include <cstdint>
#include <cstring>

namespace max {

namespace {

// NT_AMDGPU_METADATA: MessagePack, see LLVM's documentation of the AMDGPU target.
constexpr uint32_t kMetadata = 32;
constexpr std::string_view kOwner = std::string_view("AMDGPU\0", 7);
constexpr std::string_view kHidden = "hidden_";  // filled in by the driver

// Untrusted bytes; after a read past their end, all reads give nothing.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  std::string_view take(uint64_t count) {
    if (count > rest_.size()) {
      ok_ = false;
      rest_ = {};
    }
    const std::string_view taken = rest_.substr(0, ok_ ? count : 0);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

template <class T>
bool readAt(std::string_view bytes, uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

uint64_t padded(uint32_t size) { return (uint64_t{size} + 3) / 4 * 4; }

std::optional<std::string_view> metadataIn(std::string_view notes) {
  Bytes bytes(notes);
  while (!bytes.empty()) {
    Elf64_Nhdr header{};
    if (!readAt(bytes.take(sizeof header), 0, header)) break;
    const std::string_view owner = bytes.take(padded(header.n_namesz)).substr(0, header.n_namesz);
    const std::string_view content = bytes.take(padded(header.n_descsz)).substr(0, header.n_descsz);
    if (!bytes.ok()) break;
    if (header.n_type == kMetadata && owner == kOwner) return content;
  }
  return std::nullopt;
}

std::optional<std::string_view> metadataOf(std::string_view code) {
  Elf64_Ehdr header{};
  if (!code.starts_with(std::string_view(ELFMAG, SELFMAG)) || !readAt(code, 0, header)) return std::nullopt;
  uint64_t unread = code.size();  // notes do not overlap: together they are no larger than the file
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (header.e_shoff > code.size() || !readAt(code, header.e_shoff + i * sizeof section, section))
      return std::nullopt;
    if (section.sh_type != SHT_NOTE || section.sh_offset > code.size()) continue;
    if (section.sh_size > unread) return std::nullopt;
    unread -= section.sh_size;
    if (auto found = metadataIn(code.substr(section.sh_offset, section.sh_size))) return found;
  }
  return std::nullopt;
}

enum class Kind { Number, Text, List, Map, Other };

// The head of a value: a number, the length of a string, or the number of elements (pairs of a map).
struct Head {
  Kind kind = Kind::Other;
  uint64_t value = 0;
};

class MessagePack : public Bytes {
 public:
  using Bytes::Bytes;

  Head head() {
    const uint64_t byte = number(1);
    if (byte < 0x80) return {Kind::Number, byte};
    if (byte < 0x90) return {Kind::Map, byte & 15};
    if (byte < 0xa0) return {Kind::List, byte & 15};
    if (byte < 0xc0) return {Kind::Text, byte & 31};
    return longHead(byte);
  }

  std::string_view text() {
    const Head found = head();
    return found.kind == Kind::Text ? take(found.value) : std::string_view();
  }

  // A complete value.
  void skip() {
    for (uint64_t left = 1; left > 0 && ok(); --left) {
      const Head found = head();
      if (found.kind == Kind::Text) take(found.value);
      if (found.kind == Kind::List) left += found.value;
      if (found.kind == Kind::Map) left += 2 * found.value;
    }
  }

 private:
  uint64_t number(int count) {
    uint64_t value = 0;
    for (const char byte : take(static_cast<uint64_t>(count))) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  Head longHead(uint64_t byte) {
    switch (byte) {
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return {Kind::Number, number(1 << (byte - 0xcc))};
      case 0xc4:  // bytes
      case 0xc5:
      case 0xc6:
        return {Kind::Text, number(1 << (byte - 0xc4))};
      case 0xca:  // numbers that are not needed
      case 0xcb:
        number(byte == 0xca ? 4 : 8);
        return {};
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
        number(1 << (byte - 0xd0));
        return {};
      case 0xd9:
      case 0xda:
      case 0xdb:
        return {Kind::Text, number(1 << (byte - 0xd9))};
      case 0xdc:
      case 0xdd:
        return {Kind::List, number(byte == 0xdc ? 2 : 4)};
      case 0xde:
      case 0xdf:
        return {Kind::Map, number(byte == 0xde ? 2 : 4)};
      default:  // nothing, false, true, a small negative number
        return {};
    }
  }
};

// Calls visit(key) for each pair of a map; visit reads the value.
template <class Function>
void forEachPair(MessagePack& pack, Function&& visit) {
  const Head map = pack.head();
  if (map.kind != Kind::Map) return;
  for (uint64_t i = 0; i < map.value && pack.ok(); ++i) visit(pack.text());
}

// Of the caller's arguments.
std::vector<size_t> parameterSizes(MessagePack& pack) {
  std::vector<size_t> sizes;
  const Head list = pack.head();
  for (uint64_t i = 0; list.kind == Kind::List && i < list.value && pack.ok(); ++i) {
    size_t size = 0;
    bool isHidden = false;
    forEachPair(pack, [&](std::string_view key) {
      if (key == ".size")
        size = pack.head().value;
      else if (key == ".value_kind")
        isHidden = pack.text().starts_with(kHidden);
      else
        pack.skip();
    });
    if (!isHidden) sizes.push_back(size);
  }
  return sizes;
}

struct KernelEntry {
  std::string_view name;
  std::vector<size_t> sizes;
};

KernelEntry readKernel(MessagePack& pack) {
  KernelEntry entry;
  forEachPair(pack, [&](std::string_view key) {
    if (key == ".name")
      entry.name = pack.text();
    else if (key == ".args")
      entry.sizes = parameterSizes(pack);
    else
      pack.skip();
  });
  return entry;
}

}  // namespace

std::optional<std::vector<size_t>> amdParameterSizes(std::string_view code, std::string_view kernel) {
  const std::optional<std::string_view> metadata = metadataOf(code);
  if (!metadata) return std::nullopt;
  std::optional<std::vector<size_t>> found;
  MessagePack pack(*metadata);
  forEachPair(pack, [&](std::string_view key) {
    if (key != "amdhsa.kernels") return pack.skip();
    const Head list = pack.head();
    for (uint64_t i = 0; list.kind == Kind::List && i < list.value && pack.ok(); ++i) {
      KernelEntry entry = readKernel(pack);
      if (entry.name == kernel && pack.ok()) found = std::move(entry.sizes);
    }
  });
  return found;
}

}  // namespace max
