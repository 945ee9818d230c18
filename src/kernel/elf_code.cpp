// SPDX-License-Identifier: Apache-2.0
#include "kernel/elf_code.h"

#include <elf.h>

#include <cstring>

namespace max {

namespace {

// The driver gets no size, so the tables, and everything they refer to, must be inside.
bool isWhole(std::string_view code, const Elf64_Ehdr& header) {
  if (!liesInside(header.e_shoff, header.e_shnum, header.e_shentsize, code.size()) ||
      !liesInside(header.e_phoff, header.e_phnum, header.e_phentsize, code.size()) ||
      (header.e_shnum > 0 && header.e_shentsize != sizeof(Elf64_Shdr)))
    return false;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, code.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS && !liesInside(section.sh_offset, section.sh_size, 1, code.size())) return false;
  }
  return true;
}

}  // namespace

bool isElf(std::string_view code) { return code.starts_with(std::string_view(ELFMAG, SELFMAG)); }

bool liesInside(uint64_t offset, uint64_t count, uint64_t size, uint64_t total) {
  return offset <= total && (size == 0 || count <= (total - offset) / size);
}

bool isElfFor(std::string_view code, uint16_t machine) {
  Elf64_Ehdr header;
  if (!isElf(code) || code.size() < sizeof header) return false;
  std::memcpy(&header, code.data(), sizeof header);
  return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == machine && isWhole(code, header);
}

}  // namespace max
