// SPDX-License-Identifier: Apache-2.0
#include "kernel/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace max {

namespace {

// The child's standard streams and working folder.
class Actions {
 public:
  Actions(const std::string& folder, const std::string& output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// The child starts with no signal blocked or ignored, regardless of this process.
class Attributes {
 public:
  Attributes() {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// This process's environment, with messages in English.
std::vector<char*> childEnvironment() {
  static char locale[] = "LC_ALL=C";
  std::vector<char*> variables;
  for (char** variable = environ; variable && *variable; ++variable)
    if (std::strncmp(*variable, "LC_ALL=", 7) != 0) variables.push_back(*variable);
  variables.push_back(locale);
  variables.push_back(nullptr);
  return variables;
}

}  // namespace

bool runProgram(const std::vector<std::string>& command, const std::string& folder, const std::string& output) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const Actions actions(folder, output);
  const Attributes attributes;
  std::vector<char*> environment = childEnvironment();
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], actions.get(), attributes.get(), arguments.data(), environment.data()) != 0)
    return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return true;  // the host program reaps all children itself: check the output instead
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace max
