// SPDX-License-Identifier: Apache-2.0
#include "artefact.h"

#include <elf.h>

#include <cstddef>
#include <cstring>

namespace fake {

namespace {

constexpr std::string_view kPtxStart = "//\n// Made by a fake compiler: object code of the host in comments\n//\n";
constexpr std::string_view kLineStart = "// ";
constexpr size_t kBytesPerLine = 64;
constexpr char kDigits[] = "0123456789abcdef";

int digit(char c) {
  const char* at = static_cast<const char*>(std::memchr(kDigits, c, 16));
  return at ? static_cast<int>(at - kDigits) : -1;
}

// Linkers put the table of sections last, so that it tells how long a file is whose size the driver's call leaves out.
size_t sizeOf(const Elf64_Ehdr& header) { return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize; }

std::string withMachine(std::string_view object, uint16_t machine) {
  std::string result(object);
  if (result.size() < sizeof(Elf64_Ehdr)) return {};
  std::memcpy(&result[offsetof(Elf64_Ehdr, e_machine)], &machine, sizeof machine);
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

std::string toBinary(std::string_view object, uint16_t machine) { return withMachine(object, machine); }

std::string toPtx(std::string_view object, std::string_view architecture) {
  std::string text(kPtxStart);
  for (size_t i = 0; i < object.size(); ++i) {
    if (i % kBytesPerLine == 0) text += kLineStart;
    const auto byte = static_cast<unsigned char>(object[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
    if ((i + 1) % kBytesPerLine == 0 || i + 1 == object.size()) text += '\n';
  }
  text += ".version 8.0\n.target ";
  text += architecture;
  text += "\n.address_size 64\n";
  return text;
}

std::string objectOf(const void* image, uint16_t machine) {
  const char* bytes = static_cast<const char*>(image);
  if (machine == kCudaMachine && std::strncmp(bytes, kPtxStart.data(), kPtxStart.size()) == 0)
    return objectInPtx(bytes);
  if (std::strncmp(bytes, ELFMAG, SELFMAG) != 0) return {};
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (header.e_machine != machine) return {};
  return withMachine({bytes, sizeOf(header)}, kHostMachine);
}

}  // namespace fake
