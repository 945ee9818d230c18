// SPDX-License-Identifier: Apache-2.0
// A file that is replaced atomically, or not at all.
//
// While it is written it has no name (O_TMPFILE), or, if the file system does not support that, a new random one
// (O_EXCL). All steps use the descriptor of its folder, so that replacing the folder meanwhile has no effect. Several
// writers may write to one path at the same time: a reader sees the old file or one of the new ones, complete.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace max {

class NewFile {
 public:
  // How the file exists until it is in place; Automatic is Nameless if the file system supports that.
  enum class Form { Automatic, Named };

  // Replaces what is at `path`: a file, whose permissions stay, or a link, which is not followed. NOT_FOUND if the
  // folder does not exist; INVALID_ARGUMENT if the path is a folder, a pipe or a device, or a link to one.
  explicit NewFile(const std::string& path, Form form = Form::Automatic);
  // `name` in an open folder, private to this user. `path` is for messages.
  NewFile(const Descriptor& folder, std::string name, std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int descriptor() const { return file_.number(); }
  const std::string& path() const { return path_; }
  void write(const void* data, size_t size) const;
  void write(std::string_view text) const { write(text.data(), text.size()); }
  // Moves the file into place once all bytes are on disk. A failure here or before leaves only the old file, unchanged.
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

// Prefix of the files that a killed writer may leave behind.
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";

}  // namespace max
