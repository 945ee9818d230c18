// SPDX-License-Identifier: Apache-2.0
#include "artefact.h"

#include <elf.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace fake {

namespace {

constexpr std::string_view kPtxStart = "//\n// Made by a fake compiler: object code of the host in comments\n//\n";
constexpr std::string_view kLineStart = "// ";
constexpr size_t kBytesPerLine = 64;
constexpr uint32_t kOnlyThisChip = 1U << 31;
constexpr uint32_t kChipMask = 0xffff;
constexpr int kMajorShift = 16;
// PTX has versions of its own: 8.4 is that of CUDA 12.4.
constexpr int kPtxBehind = 4;
constexpr std::string_view kPtxVersion = ".version ";
constexpr char kDigits[] = "0123456789abcdef";

int digit(char c) {
  const char* at = static_cast<const char*>(std::memchr(kDigits, c, 16));
  return at ? static_cast<int>(at - kDigits) : -1;
}

// Linkers put the table of sections last, so that it tells how long a file is whose size the driver's call leaves out.
size_t sizeOf(const Elf64_Ehdr& header) { return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize; }

bool isBinary(const void* image) { return std::strncmp(static_cast<const char*>(image), ELFMAG, SELFMAG) == 0; }

uint32_t flagsOf(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header.e_flags;
}

std::string withMachine(std::string_view object, uint16_t machine, uint32_t flags) {
  std::string result(object);
  if (result.size() < sizeof(Elf64_Ehdr)) return {};
  std::memcpy(&result[offsetof(Elf64_Ehdr, e_machine)], &machine, sizeof machine);
  std::memcpy(&result[offsetof(Elf64_Ehdr, e_flags)], &flags, sizeof flags);
  return result;
}

std::string objectInPtx(std::string_view text) {
  std::string object;
  size_t line = kPtxStart.size();
  while (text.compare(line, kLineStart.size(), kLineStart) == 0) {
    line += kLineStart.size();
    for (; digit(text[line]) >= 0; line += 2)
      object += static_cast<char>(digit(text[line]) * 16 + digit(text[line + 1]));
    ++line;
  }
  return object;
}

}  // namespace

std::string toBinary(std::string_view object, uint16_t machine, uint32_t flags) {
  return withMachine(object, machine, flags);
}

uint32_t cubinFlags(std::string_view architecture, int version) {
  uint32_t number = 0;
  for (const char c : architecture)
    if (c >= '0' && c <= '9') number = number * 10 + static_cast<uint32_t>(c - '0');
  return number | static_cast<uint32_t>(version / 1000) << kMajorShift |
         (architecture.ends_with('a') ? kOnlyThisChip : 0);
}

unsigned lanesOf(const void* image, uint16_t machine) {
  return machine == kAmdMachine && isBinary(image) && flagsOf(image) == 64 ? 64 : 32;
}

bool isForChip(const void* image, int chip) {
  if (!isBinary(image)) return true;
  const uint32_t flags = flagsOf(image);
  const int number = static_cast<int>(flags & kChipMask);
  if (flags & kOnlyThisChip) return number == chip;
  return number / 10 == chip / 10 && number <= chip;
}

bool isForDriver(const void* image, int version) {
  if (isBinary(image)) return static_cast<int>((flagsOf(image) & ~kOnlyThisChip) >> kMajorShift) <= version / 1000;
  const char* at = std::strstr(static_cast<const char*>(image), kPtxVersion.data());
  int major = 0, minor = 0;
  if (!at || std::sscanf(at + kPtxVersion.size(), "%d.%d", &major, &minor) != 2) return true;
  return (major + kPtxBehind) * 1000 + minor * 10 <= version;
}

std::string toPtx(std::string_view object, std::string_view architecture, int version) {
  std::string text(kPtxStart);
  for (size_t i = 0; i < object.size(); ++i) {
    if (i % kBytesPerLine == 0) text += kLineStart;
    const auto byte = static_cast<unsigned char>(object[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
    if ((i + 1) % kBytesPerLine == 0 || i + 1 == object.size()) text += '\n';
  }
  text += kPtxVersion;
  text += std::to_string(version / 1000 - kPtxBehind) + '.' + std::to_string(version % 1000 / 10);
  text += "\n.target ";
  text += architecture;
  text += "\n.address_size 64\n";
  return text;
}

std::string objectOf(const void* image, uint16_t machine) {
  const char* bytes = static_cast<const char*>(image);
  if (machine == kCudaMachine && std::strncmp(bytes, kPtxStart.data(), kPtxStart.size()) == 0)
    return objectInPtx(bytes);
  if (!isBinary(image)) return {};
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (header.e_machine != machine) return {};
  return withMachine({bytes, sizeOf(header)}, kHostMachine, 0);
}

}  // namespace fake
