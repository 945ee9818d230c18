// SPDX-License-Identifier: Apache-2.0
// Threads of the library: they outlive main and handle no signals.
#pragma once

#include <pthread.h>

#include <csignal>
#include <cstddef>

namespace max {

// False if it cannot be started. The host program's signal handlers must not
// run on threads it does not know. `stackBytes`: 0 = the system's default.
inline bool startDetachedThread(void* (*function)(void*), void* argument, size_t stackBytes = 0) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stackBytes > 0) pthread_attr_setstacksize(&attributes, stackBytes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, function, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

}  // namespace max
