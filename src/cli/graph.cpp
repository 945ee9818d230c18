// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/new_file.h"
#include "model.h"

extern char** environ;

namespace max::cli {
namespace {

using Info = Owned<MaxModelInfo, maxModelInfoRelease>;

std::string dotOf(const GraphOptions& options) {
  const char* text = nullptr;
  if (options.optimized) {
    ModelOptions open;
    open.model = options.model;
    const OpenModel model = openModel(open);
    check(maxModelGetGraph(model.model, &text));
    return text;
  }
  Info info;
  check(maxModelInfoLoad(options.model.c_str(), info.out()));
  check(maxModelInfoGetGraph(info, &text));
  return text;
}

// An unnamed file, positioned at its start.
Descriptor fileInMemory(const std::string& text) {
  Descriptor file(memfd_create("max-graph", MFD_CLOEXEC));
  for (size_t done = 0; file && done < text.size();) {
    const ssize_t count = write(file.number(), text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) file = Descriptor();
    done += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  if (!file || lseek(file.number(), 0, SEEK_SET) != 0)
    throw Failure("RESOURCE_EXHAUSTED", "Out of memory for the graph's text");
  return file;
}

// A program's exit status, -1 if it could not be started. Its messages are dropped: we print one line.
int runQuietly(std::vector<std::string> command, int input, int output) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

void drawModel(const GraphOptions& options) {
  const std::string extension = std::filesystem::path(options.output).extension().string();
  if (extension != ".dot" && extension != ".svg" && extension != ".png")
    throw UsageError("--output: \"" + options.output + "\" does not end in .dot, .svg or .png");
  const std::string dot = dotOf(options);
  if (extension == ".dot") return writeFile(options.output, dot);
  NewFile picture(options.output);
  constexpr int kNotFound = 127;
  const Descriptor source = fileInMemory(dot);
  const int status = runQuietly({"dot", "-T" + extension.substr(1)}, source.number(), picture.descriptor());
  if (status == -1 || status == kNotFound)
    throw Failure("UNAVAILABLE", "Graphviz's program \"dot\" was not found; it is needed for " + extension +
                                     " files, but not for .dot files");
  if (status != 0)
    throw Failure("UNAVAILABLE",
                  "Graphviz could not draw \"" + options.output + "\" (status " + std::to_string(status) + ")");
  picture.keep();
}

}  // namespace max::cli
