/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of one model by several threads at the same time.
 *
 *     thread_bench MODEL THREADS SECONDS [LANES]     prints calls per second
 *
 * The model takes one float32 tensor; sizes that are open are 1. A call uses LANES threads, by default one; 0 = as the
 * library chooses. The threads start together.
 */
#define _POSIX_C_SOURCE 200809L
#include <max/max.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_THREADS = 64 };

static MaxModel* model;
static double secondsOfAll;

/* Ends the program with the library's message if a call failed. */
static void check(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", maxStatusGetName(status), maxGetLastErrorMessage());
  exit(1);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static MaxBuffer* makeInput(void) {
  MaxTensorInfo info = {.structSize = sizeof info};
  int64_t shape[MAX_BUFFER_RANK_LIMIT];
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  MaxBuffer* input = NULL;
  check(maxModelGetInput(model, 0, &info));
  for (int32_t i = 0; i < info.rank; ++i) shape[i] = info.shape[i] < 0 ? 1 : info.shape[i];
  options.zeroed = 1;
  check(maxBufferCreate(NULL, MAX_DTYPE_FLOAT32, info.rank, shape, &options, &input));
  return input;
}

static void* callForAWhile(void* calls) {
  MaxBuffer *input = makeInput(), *output = NULL;
  const double end = seconds() + secondsOfAll;
  do {
    check(maxModelExecute(model, &input, 1, NULL, &output, 1));
    maxBufferRelease(output);
    ++*(long*)calls;
  } while (seconds() < end);
  maxBufferRelease(input);
  return NULL;
}

int main(int argc, char** argv) {
  const int threadCount = argc == 4 || argc == 5 ? atoi(argv[2]) : 0;
  if (threadCount < 1 || threadCount > MOST_THREADS) {
    fprintf(stderr, "usage: thread_bench MODEL THREADS SECONDS [LANES]\n");
    return 2;
  }
  secondsOfAll = atof(argv[3]);
  MaxSession* session = NULL;
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.threadCount = argc == 5 ? atoi(argv[4]) : 1;
  check(maxSessionCreate(&options, &session));
  check(maxModelLoad(session, argv[1], NULL, &model));
  pthread_t threads[MOST_THREADS];
  long calls[MOST_THREADS] = {0}, total = 0;
  for (int i = 0; i < threadCount; ++i)
    if (pthread_create(&threads[i], NULL, callForAWhile, &calls[i])) return 1;
  for (int i = 0; i < threadCount; ++i) {
    pthread_join(threads[i], NULL);
    total += calls[i];
  }
  printf("%.1f\n", (double)total / secondsOfAll);
  maxModelRelease(model);
  maxSessionRelease(session);
  return 0;
}
