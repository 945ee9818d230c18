// SPDX-License-Identifier: Apache-2.0
// NVRTC and HIPRTC in unit tests.
#pragma once

#include <glob.h>

#include <cstdlib>
#include <string>

namespace max {

#if defined(__has_feature)
#define MAX_TEST_FEATURE(name) __has_feature(name)
#else
#define MAX_TEST_FEATURE(name) 0
#endif
// The vendors' libraries are not made for sanitizers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || MAX_TEST_FEATURE(address_sanitizer) || \
    MAX_TEST_FEATURE(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// The one of the tests' Python packages, where no other is named.
inline void nameNvrtc() {
  glob_t found{};
  const std::string pattern = MAX_TEST_DATA "/../../build/venv/lib/python3*/site-packages/nvidia/cu*/lib/libnvrtc.so.*";
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) setenv("MAX_NVRTC_LIBRARY", found.gl_pathv[0], 0);
  globfree(&found);
}

}  // namespace max
