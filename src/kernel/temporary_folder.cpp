// SPDX-License-Identifier: Apache-2.0
#include "kernel/temporary_folder.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/file.h"

namespace max {

namespace {

struct Close {
  void operator()(FILE* file) const { std::fclose(file); }
};
using Stream = std::unique_ptr<FILE, Close>;

// Whether all parts of a relative path are plain names.
bool staysInside(const std::filesystem::path& path) {
  if (path.empty() || path.is_absolute()) return false;
  for (const std::filesystem::path& part : path)
    if (part == ".." || part.empty()) return false;
  return true;
}

}  // namespace

TemporaryFolder::TemporaryFolder() : path_("/tmp/max-XXXXXX") {
  if (!mkdtemp(path_.data())) failErrno(errno, "create a folder like", path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::path(std::string_view name) const { return concat(path_, '/', name); }

void TemporaryFolder::write(const std::string& name, std::string_view text, const std::string& part) const {
  require(staysInside(name), MAX_STATUS_INVALID_ARGUMENT, "Header name '", name, "' is not a relative path");
  const std::filesystem::path target = std::filesystem::path(path_) / part / name;
  std::error_code error;
  std::filesystem::create_directories(target.parent_path(), error);
  const std::string full = target.string();
  const Stream file(std::fopen(full.c_str(), "we"));
  if (!file) failErrno(errno, "write", full);
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0)
    failErrno(errno, "write", full);
}

std::string TemporaryFolder::read(std::string_view name) const {
  std::string content;
  const Stream file(std::fopen(path(name).c_str(), "re"));
  if (!file) return content;
  char block[1 << 14];
  while (const size_t count = std::fread(block, 1, sizeof block, file.get())) content.append(block, count);
  return content;
}

}  // namespace max
