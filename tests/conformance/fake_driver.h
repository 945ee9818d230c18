/* SPDX-License-Identifier: Apache-2.0 */
/* The controls of the fake driver that the library has loaded, if it has loaded one. */
#ifndef MAX_TESTS_FAKE_DRIVER_H
#define MAX_TESTS_FAKE_DRIVER_H

#include <stdint.h>

#include "../fake/control.h"

struct fake_driver {
  int64_t (*live_objects)(void);
  const char* (*describe)(void);
  int64_t (*violations)(void);
  int64_t (*calls)(void);
  void (*fail_call)(int64_t n, int32_t code);
  const char* (*failed_call)(void);
  const char* (*describe_launch)(void); /* NULL = launches have no attributes */
  void (*lose_device)(int32_t device, int32_t code);
  int64_t (*count)(int32_t what); /* FAKE_GPU_... */
};

/* 0 = the driver is not a fake, or there is none. */
int find_fake_driver(const char* api, struct fake_driver* driver);

/* Teardown of a group: a fake driver of `device_api` has everything back by now, and has seen nothing wrong. */
int check_fake_driver(void** state);

#endif
