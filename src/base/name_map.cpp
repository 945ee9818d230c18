// SPDX-License-Identifier: Apache-2.0
#include "base/name_map.h"

#include <sys/random.h>

#include <bit>
#include <chrono>
#include <cstring>

namespace max {

namespace {

struct Key {
  uint64_t first, second;
};

// Without random bits from the system (early in boot), use addresses and the clock.
Key drawKey() noexcept {
  Key key{};
  if (getrandom(&key, sizeof key, GRND_NONBLOCK) == sizeof key) return key;
  key.first = reinterpret_cast<uintptr_t>(&key);
  key.second = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return key;
}

const Key& processKey() noexcept {
  static const Key key = drawKey();
  return key;
}

class SipState {
 public:
  explicit SipState(const Key& key)
      : a_(key.first ^ 0x736F6D6570736575u),
        b_(key.second ^ 0x646F72616E646F6Du),
        c_(key.first ^ 0x6C7967656E657261u),
        d_(key.second ^ 0x7465646279746573u) {}

  void add(uint64_t word) {
    d_ ^= word;
    round();
    a_ ^= word;
  }
  uint64_t finish() {
    c_ ^= 0xFF;
    for (int i = 0; i < 3; ++i) round();
    return a_ ^ b_ ^ c_ ^ d_;
  }

 private:
  void round() {
    a_ += b_;
    b_ = std::rotl(b_, 13) ^ a_;
    a_ = std::rotl(a_, 32);
    c_ += d_;
    d_ = std::rotl(d_, 16) ^ c_;
    a_ += d_;
    d_ = std::rotl(d_, 21) ^ a_;
    c_ += b_;
    b_ = std::rotl(b_, 17) ^ c_;
    c_ = std::rotl(c_, 32);
  }

  uint64_t a_, b_, c_, d_;
};

uint64_t wordAt(const char* bytes, size_t count) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

}  // namespace

uint64_t keyedHash(std::string_view bytes) {
  SipState state(processKey());
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) state.add(wordAt(at, 8));
  state.add((left > 0 ? wordAt(at, left) : 0) | static_cast<uint64_t>(bytes.size()) << 56);
  return state.finish();
}

uint64_t keyedHash(uint64_t number) {
  SipState state(processKey());
  state.add(number);
  return state.finish();
}

}  // namespace max
