// SPDX-License-Identifier: Apache-2.0
// Threads of the library that outlive main and handle no signals.
#pragma once

#include <pthread.h>

#include <csignal>

namespace max::gpu {

// Whether it could be started. The host program's signal handlers must not run on threads it does not know.
inline bool startDetachedThread(void* (*function)(void*), void* argument) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, function, argument);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error == 0;
}

}  // namespace max::gpu
