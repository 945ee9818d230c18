// SPDX-License-Identifier: Apache-2.0
// Reads whatever it is given as a .npy file; the first byte says which dtype is expected. What was one is written and
// read again.
extern "C" {
#include "fuzz.h"
}

#include <string>

#include "cli/failure.h"
#include "cli/npy.h"

using max::cli::Array;

namespace {

void writeAndRead(const Array& array) {
  const std::string path = "/tmp/max-fuzz-" + std::to_string(getpid()) + ".npy";
  max::cli::writeNpy(path, array);
  const Array again = max::cli::readNpy(path, array.dtype);
  check(unlink(path.c_str()) == 0);
  check(again.dtype == array.dtype && again.shape == array.shape && again.bytes.size() == array.bytes.size());
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto expected = static_cast<MaxDType>(data[0]);
  char path[64];
  const int file = openMemoryFile(data + 1, size - 1, path);
  try {
    writeAndRead(max::cli::readNpy(path, expected));
  } catch (const max::cli::Failure& failure) {
    check(failure.what()[0] != '\0');
  }
  check(close(file) == 0);
  return 0;
}
