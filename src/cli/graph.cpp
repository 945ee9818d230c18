// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "model.h"
#include "temporary.h"

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

void writeText(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Failure("UNAVAILABLE", "File \"" + path + "\" cannot be written");
}

// The exit status of a program, -1 if it could not be started. What it prints is dropped: we end with one line.
int runQuietly(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
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
    throw UsageError("--output: \"" + options.output + "\" ends in none of .dot, .svg and .png");
  const std::string dot = dotOf(options);
  if (extension == ".dot") return writeText(options.output, dot);
  const TemporaryFile source;
  writeText(source.path(), dot);
  constexpr int kNotFound = 127;
  const int status = runQuietly({"dot", "-T" + extension.substr(1), "-o", options.output, source.path()});
  if (status == -1 || status == kNotFound)
    throw Failure("UNAVAILABLE", "Graphviz's program \"dot\" is not there, which draws " + extension +
                                     " files; a .dot file needs nothing");
  if (status != 0)
    throw Failure("UNAVAILABLE",
                  "Graphviz could not write \"" + options.output + "\" (status " + std::to_string(status) + ")");
}

}  // namespace max::cli
