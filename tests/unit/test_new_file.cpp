// SPDX-License-Identifier: Apache-2.0
// How files are written: whole or not at all, whatever others do in the folder meanwhile.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/new_file.h"

namespace max {
namespace {

namespace fs = std::filesystem;

template <class Function>
MaxStatus statusOf(Function function) {
  try {
    function();
    return MAX_STATUS_OK;
  } catch (const Error& error) {
    return error.status();
  }
}

std::string contentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void put(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// Runs `work` in a child process; true if it returned true.
bool inChild(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Both ways of holding a file that has no place yet.
class NewFiles : public testing::TestWithParam<NewFile::Form> {
 protected:
  void SetUp() override {
    std::string path = (fs::temp_directory_path() / "max-new-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
    target_ = folder_ / "target";
  }
  void TearDown() override { fs::remove_all(folder_); }

  void save(const std::string& text) const { saveTo(target_, text); }
  static void saveTo(const fs::path& path, const std::string& text) {
    NewFile file(path.string(), GetParam());
    file.write(text);
    file.keep();
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  void expectRefused(const fs::path& path) const {
    const struct stat before = look(path);
    EXPECT_EQ(statusOf([&] { saveTo(path, "new"); }), MAX_STATUS_INVALID_ARGUMENT) << path;
    const struct stat after = look(path);
    EXPECT_EQ(before.st_ino, after.st_ino) << path;
    EXPECT_EQ(before.st_mode, after.st_mode) << path;
  }
  static struct stat look(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info;
  }

  fs::path folder_, target_;
};

INSTANTIATE_TEST_SUITE_P(Forms, NewFiles, testing::Values(NewFile::Form::Automatic, NewFile::Form::Named));

TEST_P(NewFiles, AppearWhenTheyAreKept) {
  {
    NewFile file(target_.string(), GetParam());
    file.write("one");
    EXPECT_FALSE(fs::exists(target_));
    file.keep();
  }
  EXPECT_EQ(contentOf(target_), "one");
  { NewFile(target_.string(), GetParam()).write("half of two"); }
  EXPECT_EQ(contentOf(target_), "one");
  save("three");
  EXPECT_EQ(contentOf(target_), "three");
  EXPECT_EQ(entries(), 1u);
}

TEST_P(NewFiles, ReplaceLinksAndLeaveWhatTheyLeadTo) {
  const fs::path other = folder_ / "other";
  put(other, "other's");
  fs::create_symlink(other, target_);
  save("one");
  EXPECT_FALSE(fs::is_symlink(target_));
  EXPECT_EQ(contentOf(target_), "one");
  EXPECT_EQ(contentOf(other), "other's");

  fs::remove(target_);
  fs::create_symlink(folder_ / "nowhere", target_);
  save("two");
  EXPECT_EQ(contentOf(target_), "two");
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));

  fs::remove(target_);
  fs::create_hard_link(other, target_);
  save("three");
  EXPECT_EQ(contentOf(target_), "three");
  EXPECT_EQ(contentOf(other), "other's");
  EXPECT_EQ(fs::hard_link_count(other), 1u);
  EXPECT_EQ(entries(), 2u);
}

TEST_P(NewFiles, LeaveFoldersPipesAndDevicesAlone) {
  fs::create_directory(folder_ / "folder");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/null", folder_ / "device");
  fs::create_symlink("folder", folder_ / "linked");
  fs::create_symlink("/proc/self/fd/1", folder_ / "stdout");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder_ / "socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
  const int plug = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(plug, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const char* name : {"folder", "pipe", "device", "linked", "stdout", "socket"}) expectRefused(folder_ / name);
  close(plug);
  expectRefused("/dev/null");
  expectRefused("/");
  EXPECT_EQ(statusOf([&] { saveTo(folder_ / "folder/", "new"); }), MAX_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([&] { saveTo(folder_ / "folder/..", "new"); }), MAX_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([&] { saveTo("", "new"); }), MAX_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([&] { saveTo(folder_ / "none/file", "new"); }), MAX_STATUS_NOT_FOUND);
  EXPECT_EQ(statusOf([&] { saveTo(folder_ / std::string(300, 'x'), "new"); }), MAX_STATUS_INVALID_ARGUMENT);
}

// Links with names that a writer might use lead to a file that must not change.
TEST_P(NewFiles, UseNoNameThatIsKnownBefore) {
  const fs::path victim = folder_ / "victim";
  put(victim, "victim's");
  const std::string pid = std::to_string(getpid());
  for (const std::string& name : {"target." + pid + ".tmp", std::string("target.tmp"), std::string(".tmp-"),
                                  ".tmp-" + pid, std::string("target~"), std::string(".target.swp")})
    fs::create_symlink(victim, folder_ / name);
  const size_t before = entries();
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) {
    NewFile file(target_.string(), GetParam());
    for (const auto& each : fs::directory_iterator(folder_))
      if (!each.is_symlink() && each.path() != victim && each.path() != target_)
        names.push_back(each.path().filename());
    file.write("new");
    file.keep();
  }
  EXPECT_EQ(contentOf(victim), "victim's");
  EXPECT_EQ(entries(), before + 1);
  if (GetParam() == NewFile::Form::Automatic) return;
  ASSERT_EQ(names.size(), 3u);
  for (const std::string& name : names) EXPECT_EQ(name.size(), kTemporaryPrefix.size() + 32) << name;
  EXPECT_NE(names[0], names[1]);
  EXPECT_NE(names[1], names[2]);
}

// The folder that was there at the beginning gets the file; what a link leads to now gets nothing.
TEST_P(NewFiles, StayInTheirFolder) {
  const fs::path real = folder_ / "real", moved = folder_ / "moved", bait = folder_ / "bait";
  fs::create_directory(real);
  fs::create_directory(bait);
  put(bait / "target", "bait's");
  for (const bool isLink : {true, false}) {
    NewFile file((real / "target").string(), GetParam());
    file.write("new");
    fs::rename(real, moved);
    isLink ? fs::create_directory_symlink(bait, real) : fs::copy(bait, real);
    file.keep();
    EXPECT_EQ(contentOf(bait / "target"), "bait's");
    EXPECT_EQ(contentOf(real / "target"), "bait's");
    EXPECT_EQ(contentOf(moved / "target"), "new");
    fs::remove_all(real);
    fs::rename(moved, real);
    fs::remove(real / "target");
  }
  NewFile file((real / "target").string(), GetParam());
  fs::remove_all(real);
  EXPECT_EQ(statusOf([&] { file.keep(); }), MAX_STATUS_NOT_FOUND);
}

TEST_P(NewFiles, KeepPermissions) {
  const mode_t mask = umask(022);
  save("one");
  EXPECT_EQ(look(target_).st_mode & 0777, 0644u);
  for (const mode_t mode : {0600, 0444, 0666}) {
    ASSERT_EQ(chmod(target_.c_str(), mode), 0);
    save("two");
    EXPECT_EQ(look(target_).st_mode & 0777, mode == 0666 ? 0644u : mode);
  }
  umask(mask);
}

// As on a full disk: what was there stays, and nothing is left behind.
TEST_P(NewFiles, LeaveTheOldFileWhereThereIsNoRoom) {
  save("old");
  EXPECT_TRUE(inChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    try {
      save(std::string(100000, 'x'));
      return false;
    } catch (const Error& error) {
      return error.status() == MAX_STATUS_RESOURCE_EXHAUSTED && error.message().find("target'") != std::string::npos;
    }
  }));
  EXPECT_EQ(contentOf(target_), "old");
  EXPECT_EQ(entries(), 1u);
}

// A disk of 64 KB, in a separate namespace.
TEST_P(NewFiles, LeaveTheOldFileOnAFullDisk) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root";
  EXPECT_TRUE(inChild([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return true;
    if (mount("none", folder_.c_str(), "tmpfs", 0, "size=64k") != 0) return true;  // not in every container
    const std::string old(20000, 'o');
    save(old);
    bool good = true;
    for (int i = 0; i < 10; ++i) {
      try {
        save(std::string(200000, 'x'));
        good = false;
      } catch (const Error& error) {
        good = good && error.status() == MAX_STATUS_RESOURCE_EXHAUSTED &&
               error.message().find("No space left") != std::string::npos;
      }
      good = good && contentOf(target_) == old && entries() == 1;
    }
    save(std::string(30000, 'n'));  // there is room again
    return good && contentOf(target_).size() == 30000;
  }));
}

// Two threads in each of two processes write, while this one reads.
TEST_P(NewFiles, ReadersSeeOneOfManyWritersWhole) {
  constexpr int kReads = 3000;
  const auto textOf = [](int writer) {
    return std::string(static_cast<size_t>(20000 * (writer + 1)), static_cast<char>('a' + writer));
  };
  save(textOf(0));
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const auto write = [&](int writer) {
        while (true) save(textOf(writer));
      };
      std::thread other(write, 2 * process);
      write(2 * process + 1);
    }
    children.push_back(child);
  }
  int changes = 0;
  char last = 0;
  for (int i = 0; i < kReads || changes < 20; ++i) {
    const File file = File::openForRead(target_.string());
    std::string text(file.size(), '\0');
    file.read(text.data(), text.size(), 0);
    ASSERT_FALSE(text.empty());
    const int writer = text[0] - 'a';
    ASSERT_TRUE(writer >= 0 && writer < 4) << writer;
    ASSERT_TRUE(text == textOf(writer)) << "a mixture of " << text.size() << " bytes";
    changes += text[0] != last;
    last = text[0];
  }
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  // The names of files that had none are those of a rename that was under way.
  EXPECT_LE(entries(), 1u + 4u);
}

}  // namespace
}  // namespace max
