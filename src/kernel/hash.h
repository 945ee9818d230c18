// SPDX-License-Identifier: Apache-2.0
// SHA-256: cache keys, so that two different requests never share an entry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace max {

using Digest = std::array<uint8_t, 32>;

class Hasher {
 public:
  // Bytes as they are.
  void addBytes(std::string_view bytes);
  // A field: its length comes first, so that ("ab", "c") and ("a", "bc") differ.
  void add(std::string_view field);
  void add(uint64_t number);
  // Ends the message; nothing may be added afterwards.
  Digest finish();

 private:
  void addBlock(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_{};
  size_t filled_ = 0;
  uint64_t bytes_ = 0;
};

// 64 lower-case digits.
std::string hexText(const Digest& digest);

}  // namespace max
