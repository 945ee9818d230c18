// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/new_file.h"

namespace max {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(folder_), nullptr); }
  void TearDown() override {
    unlink(path().c_str());
    rmdir(folder_);
  }
  std::string path() const { return std::string(folder_) + "/file"; }
  void write(std::string_view text) { writeFile(path(), text); }
  template <class Function>
  static MaxStatus statusOf(Function function) {
    try {
      function();
      return MAX_STATUS_OK;
    } catch (const Error& error) {
      return error.status();
    }
  }

 private:
  char folder_[32] = "/tmp/max-file-XXXXXX";
};

TEST_F(FileTest, ReadsAndMapsTheSameBytes) {
  write("0123456789");
  const Ref<Storage> copy = readFile(File::openForRead(path()));
  const Ref<MappedFile> mapped = MappedFile::share(File::openForRead(path()));
  ASSERT_EQ(copy->size(), 10u);
  ASSERT_EQ(mapped->size(), 10u);
  EXPECT_EQ(std::memcmp(copy->data(), mapped->data(), 10), 0);
  EXPECT_EQ(std::memcmp(mapped->bytes(8, 2).data(), "89", 2), 0);
  EXPECT_EQ(statusOf([&] { mapped->bytes(8, 3); }), MAX_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(statusOf([&] { mapped->bytes(SIZE_MAX, 2); }), MAX_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(mapped->identity(), MappedFile::share(File::openForRead(path()))->identity());
  EXPECT_EQ(mapped->identity().size, 10u);
}

TEST_F(FileTest, EmptyFiles) {
  write("");
  EXPECT_EQ(readFile(File::openForRead(path()))->size(), 0u);
  EXPECT_EQ(MappedFile::share(File::openForRead(path()))->size(), 0u);
}

TEST_F(FileTest, SmallFilesAreCopiedAndLargeOnesMapped) {
  write("small");
  EXPECT_EQ(dynamic_cast<MappedFile*>(loadFile(File::openForRead(path())).get()), nullptr);
  File::openForWrite(path(), false).extend(kMapThreshold + 1);
  EXPECT_NE(dynamic_cast<MappedFile*>(loadFile(File::openForRead(path())).get()), nullptr);
  EXPECT_EQ(dynamic_cast<MappedFile*>(readFile(File::openForRead(path())).get()), nullptr);
  EXPECT_EQ(std::memcmp(readFile(File::openForRead(path()))->data(), "small", 5), 0);
}

TEST_F(FileTest, ErrorsHaveTheStatusOfTheirCause) {
  EXPECT_EQ(statusOf([&] { readFile(File::openForRead(path())); }), MAX_STATUS_NOT_FOUND);
  EXPECT_EQ(statusOf([&] { readFile(File::openForRead("/tmp")); }), MAX_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([&] { readFile(File::openForRead("/dev/null")); }), MAX_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(statusOf([&] { readFile(File::openForRead(std::string(5000, 'x'))); }), MAX_STATUS_INVALID_ARGUMENT);
  write("12");
  char text[4];
  EXPECT_EQ(statusOf([&] { File::openForRead(path()).read(text, 3, 0); }), MAX_STATUS_DATA_LOSS);
  EXPECT_EQ(statusOf([&] { readFile(File::openForRead(path() + "/below")); }), MAX_STATUS_NOT_FOUND);
}

TEST_F(FileTest, APipeWithoutAWriterDoesNotBlock) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(statusOf([&] { readFile(File::openForRead(path())); }), MAX_STATUS_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace max
