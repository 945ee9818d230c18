// SPDX-License-Identifier: Apache-2.0
// A temporary file.
#pragma once

#include <string>

namespace max::cli {

// Created empty, removed at the end.
class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace max::cli
