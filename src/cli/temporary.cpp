// SPDX-License-Identifier: Apache-2.0
#include "temporary.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "failure.h"

namespace max::cli {

TemporaryFile::TemporaryFile() {
  std::error_code error;
  path_ = (std::filesystem::temp_directory_path(error) / "max-XXXXXX").string();
  const int descriptor = mkstemp(path_.data());
  if (error || descriptor < 0) throw Failure("UNAVAILABLE", "Cannot create a temporary file at \"" + path_ + "\"");
  close(descriptor);
}

TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }

}  // namespace max::cli
