// SPDX-License-Identifier: Apache-2.0
// Packed weights on disk: whole entries only, shared by processes, bounded, without a usable folder.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/scaled_storage.h"
#include "ops/cpu/weights_cache.h"

namespace max {
namespace {

namespace fs = std::filesystem;

Digest keyOf(std::string_view text) {
  Hasher hasher;
  hasher.add(text);
  return hasher.finish();
}

Ref<Storage> blockOf(size_t bytes, int seed = 1) {
  Ref<Storage> block = allocateStorage(bytes);
  for (size_t i = 0; i < bytes; ++i)
    static_cast<uint8_t*>(block->data())[i] = static_cast<uint8_t>(i * 31 + i / 256 + static_cast<size_t>(seed));
  return block;
}

bool equal(const Ref<Storage>& found, const Storage& block) {
  return found && found->size() == block.size() && std::memcmp(found->data(), block.data(), block.size()) == 0;
}

class PackedWeightsOnDisk : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = (fs::temp_directory_path() / "max-weights-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override {
    if (fs::exists(folder_ / "weights")) fs::permissions(folder_ / "weights", fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  WeightsCache open(uint64_t limit = uint64_t{1} << 30) const { return WeightsCache(folder_.string(), limit); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& each : fs::directory_iterator(folder_ / "weights")) found.push_back(each.path());
    return found;
  }
  void flip(uint64_t offset) const {
    std::fstream file(files().at(0), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }

  fs::path folder_;
};

TEST_F(PackedWeightsOnDisk, AreFoundByTheirKeyAndSize) {
  for (const size_t bytes : {1, 63, 64, 65, 100'000}) {
    const Ref<Storage> block = blockOf(bytes);
    const Digest key = keyOf(std::to_string(bytes));
    EXPECT_FALSE(open().find(key, bytes));
    open().store(key, *block);
    const Ref<Storage> found = open().find(key, bytes);
    EXPECT_TRUE(equal(found, *block));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found->data()) % 64, 0U);
    EXPECT_FALSE(open().find(key, bytes + 1));
    EXPECT_FALSE(open().find(keyOf("other"), bytes));
  }
}

TEST_F(PackedWeightsOnDisk, DamagedEntriesAreMissingAndReplaced) {
  const size_t bytes = 1000;
  const Ref<Storage> block = blockOf(bytes);
  const Digest key = keyOf("a");
  open().store(key, *block);
  for (const uint64_t offset : {0, 7, 8, 39, 40, 48, 55, 64, 500, 1063}) {  // header, then every part of the data
    flip(offset);
    EXPECT_FALSE(open().find(key, bytes)) << offset;
    flip(offset);
    ASSERT_TRUE(open().find(key, bytes)) << offset;
  }
  for (const uint64_t size : {0, 10, 64, 1063, 1065}) {
    fs::resize_file(files().at(0), size);
    EXPECT_FALSE(open().find(key, bytes)) << size;
    open().store(key, *block);
    EXPECT_TRUE(equal(open().find(key, bytes), *block));
  }
}

TEST_F(PackedWeightsOnDisk, StayMappedWhenTheirEntryIsReplaced) {
  const Digest key = keyOf("a");
  const Ref<Storage> first = blockOf(5000, 1), second = blockOf(5000, 2);
  open().store(key, *first);
  const Ref<Storage> held = open().find(key, 5000);
  open().store(key, *second);
  EXPECT_TRUE(equal(held, *first));
  EXPECT_TRUE(equal(open().find(key, 5000), *second));
}

TEST_F(PackedWeightsOnDisk, FoldersOfOthersAreIgnored) {
  const Digest key = keyOf("a");
  const Ref<Storage> block = blockOf(100);
  open().store(key, *block);
  fs::permissions(files().at(0), fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(open().find(key, 100));
  fs::permissions(files().at(0), fs::perms::group_write, fs::perm_options::remove);
  EXPECT_TRUE(open().find(key, 100));
  fs::permissions(folder_ / "weights", fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(open().find(key, 100));
  open().store(keyOf("b"), *block);
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(PackedWeightsOnDisk, FoldersThatCannotBeWrittenAreIgnored) {
  std::ofstream(folder_ / "weights") << "a file";
  open().store(keyOf("a"), *blockOf(100));
  EXPECT_FALSE(open().find(keyOf("a"), 100));
  WeightsCache("/proc/none").store(keyOf("a"), *blockOf(100));
  EXPECT_FALSE(WeightsCache("/proc/none").find(keyOf("a"), 100));
}

TEST_F(PackedWeightsOnDisk, TheLeastRecentlyUsedGo) {
  const size_t bytes = 1000;
  const auto store = [&](const char* name) { open(8 * (bytes + 64)).store(keyOf(name), *blockOf(bytes)); };
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) store(name), usleep(20'000);
  ASSERT_TRUE(open().find(keyOf("a"), bytes));
  usleep(20'000);
  store("i");
  EXPECT_EQ(files().size(), 6U);
  EXPECT_TRUE(open().find(keyOf("a"), bytes));
  EXPECT_TRUE(open().find(keyOf("i"), bytes));
  EXPECT_FALSE(open().find(keyOf("b"), bytes));
}

// Each process sees nothing or a whole entry.
TEST_F(PackedWeightsOnDisk, ProcessesMayRace) {
  const size_t bytes = 200'000;
  const Ref<Storage> block = blockOf(bytes);
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      bool isGood = true;
      for (int k = 0; k < 8 && isGood; ++k) {
        const Digest key = keyOf(std::to_string(k));
        const Ref<Storage> found = open().find(key, bytes);
        isGood = !found || equal(found, *block);
        open().store(key, *block);
        isGood = isGood && equal(open().find(key, bytes), *block);
      }
      _exit(isGood ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(files().size(), 8U);
}

TEST_F(PackedWeightsOnDisk, KeysAreOfOneStateOfAFile) {
  const size_t bytes = size_t{20} << 20;
  const fs::path path = folder_ / "model";
  std::ofstream(path, std::ios::binary) << std::string(bytes, 'x');
  const auto keyAt = [&](size_t offset, size_t count) -> std::optional<Digest> {
    const Ref<MappedFile> file = MappedFile::share(File::openForRead(path.string()));
    const Tensor weight(DType::Float32, Shape{static_cast<int64_t>(count)},
                        static_cast<const char*>(file->data()) + offset, file);
    std::optional<Hasher> hasher = weightHasher(weight);
    return hasher ? std::optional(hasher->finish()) : std::nullopt;
  };
  EXPECT_FALSE(keyAt(0, 100'000)) << "The file is new.";
  sleep(3);
  const auto first = keyAt(0, 100'000);
  ASSERT_TRUE(first);
  EXPECT_EQ(keyAt(0, 100'000), first);
  EXPECT_NE(keyAt(4, 100'000), first);
  EXPECT_NE(keyAt(0, 100'001), first);
  EXPECT_FALSE(keyAt(0, 100)) << "It is small.";
  // Other contents, with the old time of modification.
  const auto time = fs::last_write_time(path);
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).put('y');
  fs::last_write_time(path, time);
  EXPECT_FALSE(keyAt(0, 100'000));
  sleep(3);
  ASSERT_TRUE(keyAt(0, 100'000));
  EXPECT_NE(keyAt(0, 100'000), first);
}

std::optional<Digest> scaledKey(const Ref<Tensor>& weight, std::vector<float> factors) {
  const auto scaled = makeRef<ScaledStorage>(weight, std::move(factors));
  std::optional<Hasher> hasher = weightHasher(Tensor(DType::Float32, weight->shape(), scaled->data(), scaled));
  return hasher ? std::optional(hasher->finish()) : std::nullopt;
}

// Factors may come from weights that a program gives in place of the file's.
TEST_F(PackedWeightsOnDisk, KeysOfScaledWeightsHaveTheirFactors) {
  const fs::path path = folder_ / "model";
  std::ofstream(path, std::ios::binary) << std::string(size_t{20} << 20, 'x');
  sleep(3);
  const Ref<MappedFile> file = MappedFile::share(File::openForRead(path.string()));
  const auto weight = makeRef<Tensor>(DType::Float32, Shape{2, 50'000}, file->data(), file);
  const auto key = scaledKey(weight, {1, 2});
  ASSERT_TRUE(key);
  EXPECT_EQ(scaledKey(weight, {1, 2}), key);
  EXPECT_NE(scaledKey(weight, {1, 3}), key);
  EXPECT_NE(weightHasher(*weight)->finish(), *key);
  EXPECT_FALSE(scaledKey(Tensor::allocate(DType::Float32, {2, 50'000}, true), {1, 2})) << "It is in no file.";
}

}  // namespace
}  // namespace max
