// SPDX-License-Identifier: Apache-2.0
// A file that takes its place whole, or vanishes.
//
// While it is written it has no name (O_TMPFILE), or, where the file system knows no such files, one that nobody can
// guess and that nothing had before (O_EXCL). All steps start from the handle of its folder, so that whoever exchanges
// the folder meanwhile changes nothing. Many may write to one path at the same time: a reader sees what was there
// before, or what one of them wrote, from its first byte to its last.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace max {

class NewFile {
 public:
  // How the file is held while it has no place; Automatic is Nameless where the file system can do that.
  enum class Form { Automatic, Named };

  // Replaces what is at `path`: a file, whose permissions stay, or a link, which is not followed. NOT_FOUND without the
  // folder; INVALID_ARGUMENT where a folder, a pipe or a device is, or a link to one.
  explicit NewFile(const std::string& path, Form form = Form::Automatic);
  // `name` in an open folder, for this user alone. `path` is for messages.
  NewFile(const Descriptor& folder, std::string name, std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int descriptor() const { return file_.number(); }
  const std::string& path() const { return path_; }
  void write(const void* data, size_t size) const;
  void write(std::string_view text) const { write(text.data(), text.size()); }
  // Once all bytes are on the disk, the file takes its place. Whatever fails, here or before, leaves the old file as it
  // was, and nothing else.
  void keep();

 private:
  void open(Form form, mode_t mode);
  void openNamed(mode_t mode);
  void moveInto(const std::string& temporaryName);
  [[noreturn]] void failWrite(int error) const;

  std::string path_, name_;
  Descriptor folder_, file_;
  std::string temporaryName_;  // in the folder; empty while the file has none
};

// Writes a whole file.
void writeFile(const std::string& path, std::string_view bytes);

// Files that writers leave which are killed between two of their steps have names that start so.
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";

}  // namespace max
