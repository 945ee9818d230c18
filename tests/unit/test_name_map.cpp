// SPDX-License-Identifier: Apache-2.0
// Names and numbers that fall into one place of ordinary tables do not in those that files fill.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/name_map.h"

namespace max::test {
namespace {

constexpr size_t kCount = 4000;
constexpr size_t kMostInBucket = 16;

// Of 16 bytes, with one hash under MurmurHash64A, which std::hash is.
std::string alike(uint64_t number) {
  constexpr uint64_t kFactor = 0xC6A4A7935BD1E995u, kSeed = 0xC70F6907u;
  uint64_t inverse = kFactor;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kFactor * inverse;
  const auto mix = [](uint64_t word, uint64_t factor) {
    word *= factor;
    return (word ^ word >> 47) * factor;
  };
  const uint64_t after = (kSeed ^ 16 * kFactor ^ mix(number, kFactor)) * kFactor;
  const uint64_t words[] = {number, mix(after ^ 0x1234567812345678u, inverse)};
  return {reinterpret_cast<const char*>(words), sizeof words};
}

template <class Table>
size_t largestBucket(const Table& table) {
  size_t largest = 0;
  for (size_t i = 0; i < table.bucket_count(); ++i) largest = std::max(largest, table.bucket_size(i));
  return largest;
}

TEST(NameMap, NamesOfOneHashAreApart) {
  std::unordered_set<std::string> ordinary;
  NameSet set;
  NameMap<int> map;
  NameViewSet views;
  for (size_t i = 0; i < kCount; ++i) {
    const std::string name = alike(i);
    ordinary.insert(name);
    map.emplace(name, 1);
    views.insert(*set.insert(name).first);
  }
  EXPECT_EQ(set.size(), kCount);
  EXPECT_EQ(largestBucket(ordinary), kCount);  // else these names prove nothing
  EXPECT_LE(largestBucket(set), kMostInBucket);
  EXPECT_LE(largestBucket(map), kMostInBucket);
  EXPECT_LE(largestBucket(views), kMostInBucket);
}

TEST(NameMap, NumbersOfOnePlaceAreApart) {
  NumberMap<int> map;
  map.reserve(kCount);
  std::unordered_map<uint64_t, int> ordinary;
  ordinary.reserve(kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    map.emplace(i * ordinary.bucket_count(), 1);
    ordinary.emplace(i * ordinary.bucket_count(), 1);
  }
  EXPECT_EQ(largestBucket(ordinary), kCount);
  EXPECT_LE(largestBucket(map), kMostInBucket);
}

TEST(NameMap, HashesTellBytesAndLengthsApart) {
  const std::string zeros(64, '\0');
  std::unordered_set<uint64_t> hashes;
  for (size_t length = 0; length <= zeros.size(); ++length)
    hashes.insert(keyedHash(std::string_view(zeros).substr(0, length)));
  for (size_t place = 0; place < zeros.size(); ++place) {
    std::string changed = zeros;
    changed[place] = 1;
    hashes.insert(keyedHash(changed));
  }
  EXPECT_EQ(hashes.size(), 2 * zeros.size() + 1);
  EXPECT_EQ(keyedHash(zeros), keyedHash(std::string(64, '\0')));
}

}  // namespace
}  // namespace max::test
