// SPDX-License-Identifier: Apache-2.0
// The cache of compiled kernels: in memory, on disk, shared by processes, damaged, bounded, without a folder.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "kernel/cache.h"
#include "kernel/hash.h"

namespace max {
namespace {

namespace fs = std::filesystem;

Digest keyOf(std::string_view text) {
  Hasher hasher;
  hasher.add(text);
  return hasher.finish();
}

Ref<const CacheEntry> entryOf(const std::string& text, size_t bytes = 100) {
  auto entry = makeRef<CacheEntry>();
  entry->add("ptx", text);
  entry->add("cubin", std::string(bytes, static_cast<char>(text.empty() ? 0 : text[0])));
  return entry;
}

// The entry of the key, else what `make` returns, which is kept then.
template <class Make>
Ref<const CacheEntry> findOrMake(CompileCache&& cache, const Digest& key, Make make) {
  if (Ref<const CacheEntry> entry = cache.find(key)) return entry;
  Ref<const CacheEntry> entry = make();
  cache.store(key, entry);
  return entry;
}
template <class Make>
Ref<const CacheEntry> findOrMake(CompileCache& cache, const Digest& key, Make make) {
  return findOrMake(std::move(cache), key, make);
}

bool equal(const CacheEntry& a, const CacheEntry& b) { return a.parts == b.parts; }

// Runs `work` in a child process; true if it returned true.
bool inChild(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = (fs::temp_directory_path() / "max-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (!fs::exists(folder_ / "kernels")) return found;
    for (const auto& each : fs::directory_iterator(folder_ / "kernels")) found.push_back(each.path());
    return found;
  }
  CompileCache open(CacheLimits limits = {}) const { return CompileCache(folder_.string(), limits); }

  fs::path folder_;
};

TEST(Hash, GivesThePublishedDigests) {
  const auto digest = [](std::string_view text) {
    Hasher hasher;
    hasher.addBytes(text);
    return hexText(hasher.finish());
  };
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1000, 'a')), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

TEST(Hash, TellsFieldsApart) {
  Hasher one, other;
  one.add("ab"), one.add("c");
  other.add("a"), other.add("bc");
  EXPECT_NE(one.finish(), other.finish());
}

TEST_F(Cache, RemembersInMemory) {
  CompileCache cache("");
  EXPECT_FALSE(cache.find(keyOf("a")));
  const Ref<const CacheEntry> entry = entryOf("a");
  cache.store(keyOf("a"), entry);
  EXPECT_EQ(cache.find(keyOf("a")), entry);
  EXPECT_FALSE(cache.find(keyOf("b")));
}

TEST_F(Cache, ForgetsWhatWasUsedLeastRecently) {
  CompileCache cache("", {.memoryBytes = 3 * entryOf("a", 1000)->size()});
  for (const char* name : {"a", "b", "c"}) cache.store(keyOf(name), entryOf(name, 1000));
  EXPECT_TRUE(cache.find(keyOf("a")));
  cache.store(keyOf("d"), entryOf("d", 1000));
  EXPECT_FALSE(cache.find(keyOf("b")));
  for (const char* name : {"a", "c", "d"}) EXPECT_TRUE(cache.find(keyOf(name))) << name;
  cache.store(keyOf("large"), entryOf("large", 10000));
  EXPECT_FALSE(cache.find(keyOf("large")));
}

TEST_F(Cache, OtherProcessesFindEntriesOnDisk) {
  open().store(keyOf("a"), entryOf("a"));
  ASSERT_EQ(files().size(), 1u);
  CompileCache other = open();
  const Ref<const CacheEntry> found = other.find(keyOf("a"));
  ASSERT_TRUE(found);
  EXPECT_TRUE(equal(*found, *entryOf("a")));
  EXPECT_EQ(*found->find("ptx"), "a");
  EXPECT_EQ(found->find("asm"), nullptr);
  EXPECT_EQ(other.find(keyOf("a")), found);  // from memory now
}

TEST_F(Cache, MakesWhatIsMissingOnce) {
  int made = 0;
  const auto make = [&]() -> Ref<const CacheEntry> {
    ++made;
    return entryOf("made");
  };
  CompileCache cache = open();
  EXPECT_EQ(findOrMake(cache, keyOf("a"), make), findOrMake(cache, keyOf("a"), make));
  EXPECT_TRUE(findOrMake(open(), keyOf("a"), make));
  EXPECT_EQ(made, 1);
}

// Whatever is cut off or flipped, the entry is made anew, and is right then.
TEST_F(Cache, RebuildsDamagedEntries) {
  open().store(keyOf("a"), entryOf("a"));
  const fs::path path = files().at(0);
  const auto size = fs::file_size(path);
  std::string good(size, '\0');
  std::ifstream(path, std::ios::binary).read(good.data(), static_cast<std::streamsize>(size));
  for (size_t i = 0; i < size; ++i) {
    std::string bad = good;
    if (i % 2 == 0)
      bad.resize(i);
    else
      bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    std::ofstream(path, std::ios::binary) << bad;
    EXPECT_FALSE(open().find(keyOf("a"))) << i;
  }
  std::ofstream(path, std::ios::binary) << good << "x";
  EXPECT_FALSE(open().find(keyOf("a")));
  EXPECT_TRUE(findOrMake(open(), keyOf("a"), []() -> Ref<const CacheEntry> { return entryOf("a"); }));
  EXPECT_TRUE(open().find(keyOf("a")));
}

TEST_F(Cache, AnEntryUnderTheNameOfAnotherIsNotTaken) {
  open().store(keyOf("a"), entryOf("a"));
  open().store(keyOf("b"), entryOf("b"));
  fs::copy_file(files().at(0), files().at(1), fs::copy_options::overwrite_existing);
  EXPECT_NE(static_cast<bool>(open().find(keyOf("a"))), static_cast<bool>(open().find(keyOf("b"))));
}

// Sixteen processes begin at the same time with an empty folder; each sees only complete and right entries.
TEST_F(Cache, ManyProcessesShareAColdFolder) {
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  std::vector<pid_t> children;
  for (int process = 0; process < 16; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      close(gate[1]);
      char byte;
      static_cast<void>(!read(gate[0], &byte, 1));  // ends when the parent closes its end
      bool good = true;
      CompileCache cache = open();
      for (int i = 0; i < 20; ++i) {
        const std::string name = std::to_string(i);
        const auto entry =
            findOrMake(cache, keyOf(name), [&]() -> Ref<const CacheEntry> { return entryOf(name, 50000); });
        good = good && equal(*entry, *entryOf(name, 50000));
        const auto again = open().find(keyOf(name));
        good = good && again && equal(*again, *entry);
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  close(gate[0]);
  close(gate[1]);
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files().size(), 20u);  // and nothing half-written
}

TEST_F(Cache, ThreadsShareIt) {
  CompileCache cache = open({.diskBytes = 20000, .memoryBytes = 5000});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const std::string name = std::to_string((i * 7 + thread) % 10);
        const auto entry =
            findOrMake(cache, keyOf(name), [&]() -> Ref<const CacheEntry> { return entryOf(name, 1000); });
        wrong += equal(*entry, *entryOf(name, 1000)) ? 0 : 1;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Cache, TheFolderStaysWithinItsBound) {
  CompileCache cache = open({.diskBytes = 100000});
  for (int i = 0; i < 50; ++i) {
    cache.store(keyOf(std::to_string(i)), entryOf("x", 9000));
    uint64_t bytes = 0;
    for (const fs::path& file : files()) bytes += fs::file_size(file);
    ASSERT_LE(bytes, 100000u);
  }
  EXPECT_TRUE(open().find(keyOf("49")));
  EXPECT_FALSE(open().find(keyOf("0")));
  cache.store(keyOf("large"), entryOf("large", 200000));
  EXPECT_FALSE(open().find(keyOf("large")));
}

TEST_F(Cache, RemovesWhatKilledWritersLeft) {
  open().store(keyOf("a"), entryOf("a"));
  const fs::path left = folder_ / "kernels/.tmp-abc123", fresh = folder_ / "kernels/.tmp-def456";
  for (const fs::path& path : {left, fresh}) std::ofstream(path) << "half";
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  open().store(keyOf("b"), entryOf("b"));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh));  // may still be being written
}

// Works without the disk, and says nothing.
void expectWorksWithoutDisk(CompileCache& cache) {
  const auto make = []() -> Ref<const CacheEntry> { return entryOf("made"); };
  EXPECT_TRUE(equal(*findOrMake(cache, keyOf("new"), make), *entryOf("made")));
  EXPECT_TRUE(cache.find(keyOf("new")));
}

TEST_F(Cache, WorksWhereNoFolderCanBe) {
  std::ofstream(folder_ / "file") << "x";
  CompileCache inFile((folder_ / "file").string()), nowhere("/proc/none/such");
  expectWorksWithoutDisk(inFile);
  expectWorksWithoutDisk(nowhere);
}

TEST_F(Cache, ReadsAFolderThatItCannotWriteInto) {
  open().store(keyOf("a"), entryOf("a"));
  fs::permissions(folder_, fs::perms(0755));
  fs::permissions(folder_ / "kernels", fs::perms(0555));
  fs::permissions(files().at(0), fs::perms(0444));
  EXPECT_TRUE(inChild([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return false;
    CompileCache cache = open();
    expectWorksWithoutDisk(cache);
    return cache.find(keyOf("a")) && !open().find(keyOf("new")) && !HasFailure();
  }));
  fs::permissions(folder_ / "kernels", fs::perms(0755));
}

// A write that fails midway, as on a full disk, leaves nothing behind.
TEST_F(Cache, WorksOnAFullDisk) {
  EXPECT_TRUE(inChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    CompileCache cache = open();
    cache.store(keyOf("a"), entryOf("a", 100000));
    return cache.find(keyOf("a")) && !open().find(keyOf("a")) && files().empty();
  }));
}

// Other users must not be able to plant code that this process would run.
TEST_F(Cache, AFolderThatOthersMayWriteIntoIsNotUsed) {
  open().store(keyOf("a"), entryOf("a"));
  fs::permissions(folder_ / "kernels", fs::perms(0777));
  EXPECT_FALSE(open().find(keyOf("a")));
  open().store(keyOf("b"), entryOf("b"));
  EXPECT_EQ(files().size(), 1u);
  fs::permissions(folder_ / "kernels", fs::perms(0700));
  EXPECT_TRUE(open().find(keyOf("a")));
}

// The folder itself may be anybody's: entries go into one of their own, which only this user can use.
TEST_F(Cache, MakesAFolderForThisUserAlone) {
  fs::permissions(folder_, fs::perms(0777));
  open().store(keyOf("a"), entryOf("a"));
  EXPECT_EQ(fs::status(folder_ / "kernels").permissions(), fs::perms(0700));
  EXPECT_TRUE(open().find(keyOf("a")));
}

// Links lead out of the checked folders, no matter who created them.
TEST_F(Cache, ALinkInPlaceOfTheFolderIsNotUsed) {
  open().store(keyOf("a"), entryOf("a"));
  fs::rename(folder_ / "kernels", folder_ / "elsewhere");
  for (const fs::path& to : {folder_ / "elsewhere", folder_ / "none", fs::path("/tmp")}) {
    fs::create_directory_symlink(to, folder_ / "kernels");
    EXPECT_FALSE(open().find(keyOf("a")));
    open().store(keyOf("b"), entryOf("b"));
    EXPECT_TRUE(fs::is_symlink(folder_ / "kernels"));
    fs::remove(folder_ / "kernels");
  }
  fs::rename(folder_ / "elsewhere", folder_ / "kernels");
  EXPECT_TRUE(open().find(keyOf("a")));
  EXPECT_FALSE(open().find(keyOf("b")));
  EXPECT_EQ(files().size(), 1u);
}

// What lies in an entry's place is not read, and does not block.
TEST_F(Cache, EntriesAreFilesOfTheirOwn) {
  open().store(keyOf("a"), entryOf("a"));
  const fs::path path = files().at(0), elsewhere = folder_ / "entry";
  fs::rename(path, elsewhere);
  fs::create_symlink(elsewhere, path);
  EXPECT_FALSE(open().find(keyOf("a")));
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(open().find(keyOf("a")));
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(open().find(keyOf("a")));
  open().store(keyOf("a"), entryOf("a"));  // is not possible, and says nothing
  fs::remove(path);
  fs::create_symlink(elsewhere, path);
  open().store(keyOf("a"), entryOf("a"));  // in the place of the link
  EXPECT_FALSE(fs::is_symlink(path));
  EXPECT_TRUE(open().find(keyOf("a")));
  fs::permissions(path, fs::perms(0622));
  EXPECT_FALSE(open().find(keyOf("a")));
  fs::permissions(path, fs::perms(0600));
  EXPECT_TRUE(open().find(keyOf("a")));
}

TEST_F(Cache, WhatBelongsToOthersIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root";
  constexpr uid_t kOther = 12345, kUser = 65534;
  open().store(keyOf("a"), entryOf("a"));
  const fs::path folder = folder_ / "kernels", path = files().at(0);
  ASSERT_EQ(chown(path.c_str(), kOther, 0), 0);
  EXPECT_FALSE(open().find(keyOf("a")));
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  EXPECT_TRUE(open().find(keyOf("a")));
  ASSERT_EQ(chown(folder.c_str(), kOther, 0), 0);
  EXPECT_FALSE(open().find(keyOf("a")));
  open().store(keyOf("b"), entryOf("b"));
  EXPECT_EQ(files().size(), 1u);
  // The user's own folder is used; another user's folder in it is not.
  for (const auto& each : {folder_, folder, path}) ASSERT_EQ(chown(each.c_str(), kUser, 0), 0);
  EXPECT_TRUE(inChild([&] { return setuid(kUser) == 0 && open().find(keyOf("a")); }));
  ASSERT_EQ(chown(path.c_str(), kOther, 0), 0);
  fs::permissions(path, fs::perms(0644));
  EXPECT_TRUE(inChild([&] { return setuid(kUser) == 0 && !open().find(keyOf("a")); }));
}

template <class F>
std::chrono::nanoseconds bestOf(int rounds, F&& f) {
  auto best = std::chrono::nanoseconds::max();
  for (int i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f();
    best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
  }
  return best;
}

// The scale is what hashing as many bytes costs.
TEST_F(Cache, AWarmHitCostsLittle) {
  constexpr int kRounds = 50;
  constexpr size_t kBytes = 200000;
  open().store(keyOf("a"), entryOf("a", kBytes));
  const auto hit = bestOf(kRounds, [&] { ASSERT_TRUE(open().find(keyOf("a"))); });
  const std::string text(kBytes, 'x');
  const auto hashing = bestOf(kRounds, [&] {
    Hasher hasher;
    hasher.add(text);
    EXPECT_NE(hasher.finish(), Digest{});
  });
  std::printf("a hit of %zu bytes: %.3f ms, hashing them: %.3f ms\n", kBytes, static_cast<double>(hit.count()) * 1e-6,
              static_cast<double>(hashing.count()) * 1e-6);
  EXPECT_LE(hit.count(), 10 * hashing.count());
}

}  // namespace
}  // namespace max
