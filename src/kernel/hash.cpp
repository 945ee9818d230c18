// SPDX-License-Identifier: Apache-2.0
#include "kernel/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace max {

namespace {

// Fractional parts of the cube roots of the first 64 primes (FIPS 180-4).
constexpr std::array<uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t loadBigEndian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

template <size_t kBytes, class T>
std::array<uint8_t, kBytes> bigEndian(T value) {
  std::array<uint8_t, kBytes> bytes;
  for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * (kBytes - 1 - i)));
  return bytes;
}

std::array<uint32_t, 64> expand(const uint8_t* block) {
  std::array<uint32_t, 64> words;
  for (size_t i = 0; i < 16; ++i) words[i] = loadBigEndian(block + 4 * i);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = words[i - 15], b = words[i - 2];
    const uint32_t low = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
    const uint32_t high = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
    words[i] = words[i - 16] + low + words[i - 7] + high;
  }
  return words;
}

std::string_view textOf(const uint8_t* bytes, size_t count) { return {reinterpret_cast<const char*>(bytes), count}; }

}  // namespace

void Hasher::addBlock(const uint8_t* block) {
  const std::array<uint32_t, 64> words = expand(block);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t sumE = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t sumA = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t first = h + sumE + ((e & f) ^ (~e & g)) + kRounds[i] + words[i];
    const uint32_t second = sumA + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const std::array<uint32_t, 8> change = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state_.size(); ++i) state_[i] += change[i];
}

void Hasher::addBytes(std::string_view bytes) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const size_t count = std::min(bytes.size(), block_.size() - filled_);
    std::memcpy(block_.data() + filled_, bytes.data(), count);
    filled_ += count;
    bytes.remove_prefix(count);
    if (filled_ < block_.size()) return;
    addBlock(block_.data());
    filled_ = 0;
  }
}

void Hasher::add(uint64_t number) {
  const auto bytes = bigEndian<8>(number);
  addBytes(textOf(bytes.data(), bytes.size()));
}

void Hasher::add(std::string_view field) {
  add(uint64_t{field.size()});
  addBytes(field);
}

Digest Hasher::finish() {
  const uint64_t bits = bytes_ * 8;
  addBytes(std::string_view("\x80", 1));
  while (filled_ != block_.size() - 8) addBytes(std::string_view("\0", 1));
  add(bits);
  Digest digest;
  for (size_t i = 0; i < state_.size(); ++i) {
    const auto bytes = bigEndian<4>(state_[i]);
    std::copy(bytes.begin(), bytes.end(), digest.begin() + static_cast<std::ptrdiff_t>(4 * i));
  }
  return digest;
}

std::string hexText(const Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace max
