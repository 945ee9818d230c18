// SPDX-License-Identifier: Apache-2.0
// A private temporary folder, removed by the destructor.
#pragma once

#include <string>
#include <string_view>

namespace max {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string path(std::string_view name) const;
  // Writes a file below `part`, creating folders as needed. INVALID_ARGUMENT if the name is outside.
  void write(const std::string& name, std::string_view text, const std::string& part = "") const;
  // Empty if there is no such file.
  std::string read(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace max
