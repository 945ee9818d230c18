// SPDX-License-Identifier: Apache-2.0
// Reads whatever it is given as a .npy file; the first byte says which dtype is expected. What was one is used as an
// input, shown, written and read again.
extern "C" {
#include "fuzz.h"
}

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/printable.h"
#include "cli/failure.h"
#include "cli/model.h"
#include "cli/npy.h"
#include "cli/values.h"

using max::cli::Array;

namespace {

void writeAndRead(const Array& array) {
  char path[64];
  scratchPath(path, "npy");
  max::cli::writeNpy(path, array);
  const Array again = max::cli::readNpy(path, array.dtype);
  check(unlink(path) == 0);
  check(again.dtype == array.dtype && again.shape == array.shape && again.bytes.size() == array.bytes.size());
}

// As an input of a model, back again, and as text.
void use(const Array& array) {
  const max::cli::Device host = max::cli::openDevice("cpu");
  const max::cli::Buffer buffer = max::cli::toBuffer(host, array);
  max::cli::Value value;
  max::cli::check(maxValueCreateTensor(buffer, value.out()));
  check(max::cli::valueText(value).size() < 1000);
  const Array again = max::cli::toArray(buffer);
  check(again.shape == array.shape && again.strings == array.strings);
  for (int64_t i = 0; i < std::min<int64_t>(max::cli::elementCount(array.shape), 8); ++i)
    checkPrintable(max::printable(max::cli::elementText(array, i)).c_str(), 0);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto expected = static_cast<MaxDType>(data[0]);
  char path[64];
  const int file = openMemoryFile(data + 1, size - 1, path);
  try {
    const Array array = max::cli::readNpy(path, expected);
    use(array);
    writeAndRead(array);
  } catch (const max::cli::Failure& failure) {
    check(failure.what()[0] != '\0');
  } catch (const max::Error& error) {
    check(error.message()[0] != '\0');
  }
  check(close(file) == 0);
  return 0;
}
