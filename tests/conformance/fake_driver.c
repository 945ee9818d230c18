/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "fake_driver.h"

#include <ctype.h>
#include <dlfcn.h>

#include "conformance.h"

/* A function of a driver's library; C has no cast for it. */
static int find(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

int find_fake_driver(const char* api, struct fake_driver* driver) {
  char variable[32] = "MAX_";
  for (size_t i = 0; api[i] && i < 8; ++i) variable[4 + i] = (char)toupper((unsigned char)api[i]);
  strcat(variable, "_LIBRARY");
  const char* path = getenv(variable);
  if (!path) return 0;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library) find(library, "fakeGpuDescribeLaunch", &driver->describe_launch);
  return library && find(library, "fakeGpuGetLiveObjectCount", &driver->live_objects) &&
         find(library, "fakeGpuDescribeLiveObjects", &driver->describe) &&
         find(library, "fakeGpuGetViolationCount", &driver->violations) &&
         find(library, "fakeGpuGetCallCount", &driver->calls) && find(library, "fakeGpuFailCall", &driver->fail_call) &&
         find(library, "fakeGpuGetFailedCall", &driver->failed_call) &&
         find(library, "fakeGpuLoseDevice", &driver->lose_device) && find(library, "fakeGpuGetCount", &driver->count);
}

/* The thread that watches work in flight may hold the last reference for a moment. */
static int64_t objects_left(const struct fake_driver* driver) {
  int64_t left = driver->live_objects();
  for (int i = 0; i < 1000 && left != 0; ++i) {
    short_sleep();
    left = driver->live_objects();
  }
  return left;
}

int check_fake_driver(void** state) {
  (void)state;
  struct fake_driver driver;
  if (!find_fake_driver(device_api, &driver)) return 0;
  const int64_t left = objects_left(&driver);
  const int64_t violations = driver.violations();
  if (left) print_error("the driver still has %s\n", driver.describe());
  if (violations) print_error("the driver saw %lld violations\n", (long long)violations);
  return left || violations ? -1 : 0;
}
