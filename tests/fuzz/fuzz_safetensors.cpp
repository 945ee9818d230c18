// SPDX-License-Identifier: Apache-2.0
// Reads whatever it is given as a .safetensors file.
extern "C" {
#include "fuzz.h"
}

#include "cli/failure.h"
#include "cli/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char path[64];
  const int file = openMemoryFile(data, size, path);
  try {
    size_t bytes = 0;
    for (const auto& [name, array] : max::cli::readSafetensors(path)) bytes += array.bytes.size();
    check(bytes <= size);
  } catch (const max::cli::Failure& failure) {
    check(failure.what()[0] != '\0');
  }
  check(close(file) == 0);
  return 0;
}
