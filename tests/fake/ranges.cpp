// SPDX-License-Identifier: Apache-2.0
// Libraries of named ranges, which show them as text: "call(first()second())". FAKE_RANGE is the start of their names.
#include <mutex>
#include <string>

#define FAKE_API extern "C" __attribute__((visibility("default")))
#define FAKE_JOIN(a, b) a##b
#define FAKE_NAME(prefix, name) FAKE_JOIN(prefix, name)

namespace {

std::mutex& mutex() {
  static auto& one = *new std::mutex;
  return one;
}

std::string& text() {
  static auto& one = *new std::string;
  return one;
}

thread_local int depth = 0;

int add(const std::string& part) {
  const std::lock_guard lock(mutex());
  text() += part;
  return depth;
}

}  // namespace

FAKE_API int FAKE_NAME(FAKE_RANGE, RangePushA)(const char* name) {
  ++depth;
  return add(std::string(name) + "(");
}

FAKE_API int FAKE_NAME(FAKE_RANGE, RangePop)(void) {
  --depth;
  return add(depth < 0 ? "no range" : ")");
}

/* What has been shown since the last call; valid until the thread's next one. */
FAKE_API const char* fakeRangesTakeText(void) {
  static thread_local std::string taken;
  const std::lock_guard lock(mutex());
  taken.clear();
  taken.swap(text());
  return taken.c_str();
}
