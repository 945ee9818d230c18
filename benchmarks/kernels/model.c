/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures one model with MAX or with ONNX Runtime, in the same loop through the C API of each; benchmarks/compare.py
 * runs it.
 *
 *     model_bench LIBRARY MODEL THREADS SECONDS [NAME DTYPE DIMS FILE]...     prints JSON
 *
 * LIBRARY is "max" or the path of libonnxruntime.so. FILE holds the bytes of an input, DIMS are numbers joined by "x".
 * A call makes its outputs anew, and their release counts as a part of it.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <max/max.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 16, WARM_UP = 5 };

struct input {
  const char* name;
  MaxDType dtype;
  int32_t ortType, rank;
  int64_t shape[MAX_BUFFER_RANK_LIMIT];
  void* data;
  size_t bytes;
};

static struct input inputs[MOST];
static int32_t inputCount, outputCount;

static void fail(const char* reason) {
  fprintf(stderr, "%s\n", reason);
  exit(1);
}

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* MAX */

static MaxModel* model;
static MaxBuffer *buffers[MOST], *outputs[MOST];

static void check(MaxStatus status) {
  if (status != MAX_STATUS_OK) fail(maxGetLastErrorMessage());
}

static void loadWithMax(const char* path, int threads) {
  MaxSession* session;
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.threadCount = threads;
  check(maxSessionCreate(&options, &session));
  check(maxModelLoad(session, path, NULL, &model));
}

static void prepareMax(void) {
  int32_t index;
  void* data;
  check(maxModelGetOutputCount(model, &outputCount));
  for (int32_t i = 0; i < inputCount; ++i) {
    const struct input* one = &inputs[i];
    check(maxModelFindInput(model, one->name, &index));
    check(maxBufferCreate(NULL, one->dtype, one->rank, one->shape, NULL, &buffers[index]));
    check(maxBufferGetMutableData(buffers[index], &data));
    memcpy(data, one->data, one->bytes);
  }
}

static void callMax(void) {
  check(maxModelExecute(model, buffers, inputCount, NULL, outputs, outputCount));
  for (int32_t i = 0; i < outputCount; ++i) maxBufferRelease(outputs[i]);
}

/* ONNX Runtime. Its package for Python has the library without headers. Its API is a table of functions that only grows
   at its end; these are their places in it. */

enum {
  GET_ERROR_MESSAGE = 2,
  CREATE_ENV = 3,
  CREATE_SESSION = 7,
  RUN = 9,
  CREATE_SESSION_OPTIONS = 10,
  SET_SESSION_EXECUTION_MODE = 13,
  SET_INTRA_OP_NUM_THREADS = 24,
  SET_INTER_OP_NUM_THREADS = 25,
  SESSION_GET_OUTPUT_COUNT = 31,
  SESSION_GET_OUTPUT_NAME = 37,
  CREATE_TENSOR_WITH_DATA_AS_ORT_VALUE = 49,
  CREATE_CPU_MEMORY_INFO = 69,
  GET_ALLOCATOR_WITH_DEFAULT_OPTIONS = 78,
  RELEASE_VALUE = 96,
};

typedef void (*Function)(void);
typedef void* Status;

struct ortApiBase {
  const Function* (*getApi)(uint32_t version);
  const char* (*getVersionString)(void);
};

static const Function* ort;
static void *env, *session, *values[MOST], *results[MOST];
static const char *inputNames[MOST], *outputNames[MOST];
static Status (*run)(void*, const void*, const char* const*, void* const*, size_t, const char* const*, size_t, void**);
static void (*releaseValue)(void*);

static void checkOrt(Status status) {
  if (status) fail(((const char* (*)(Status))ort[GET_ERROR_MESSAGE])(status));
}

static void openOrt(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  struct ortApiBase* (*getBase)(void) = NULL;
  if (library) *(void**)&getBase = dlsym(library, "OrtGetApiBase");
  if (!getBase) fail(dlerror());
  ort = getBase()->getApi(1);
  run = (Status(*)(void*, const void*, const char* const*, void* const*, size_t, const char* const*, size_t,
                   void**))ort[RUN];
  releaseValue = (void (*)(void*))ort[RELEASE_VALUE];
  checkOrt(((Status(*)(int, const char*, void**))ort[CREATE_ENV])(3, "bench", &env)); /* 3: errors only */
}

static void loadWithOrt(const char* path, int threads) {
  void* options;
  checkOrt(((Status(*)(void**))ort[CREATE_SESSION_OPTIONS])(&options));
  checkOrt(((Status(*)(void*, int))ort[SET_SESSION_EXECUTION_MODE])(options, 0)); /* 0: sequential */
  checkOrt(((Status(*)(void*, int))ort[SET_INTRA_OP_NUM_THREADS])(options, threads));
  checkOrt(((Status(*)(void*, int))ort[SET_INTER_OP_NUM_THREADS])(options, 1));
  checkOrt(((Status(*)(void*, const char*, void*, void**))ort[CREATE_SESSION])(env, path, options, &session));
}

static void prepareOrt(void) {
  void *memory, *allocator;
  size_t count;
  checkOrt(((Status(*)(int, int, void**))ort[CREATE_CPU_MEMORY_INFO])(0, 0, &memory));
  checkOrt(((Status(*)(void**))ort[GET_ALLOCATOR_WITH_DEFAULT_OPTIONS])(&allocator));
  checkOrt(((Status(*)(const void*, size_t*))ort[SESSION_GET_OUTPUT_COUNT])(session, &count));
  outputCount = (int32_t)count;
  for (size_t i = 0; i < count; ++i)
    checkOrt(((Status(*)(const void*, size_t, void*, const char**))ort[SESSION_GET_OUTPUT_NAME])(session, i, allocator,
                                                                                                 &outputNames[i]));
  for (int32_t i = 0; i < inputCount; ++i) {
    const struct input* one = &inputs[i];
    inputNames[i] = one->name;
    checkOrt(((Status(*)(const void*, void*, size_t, const int64_t*, size_t, int32_t,
                         void**))ort[CREATE_TENSOR_WITH_DATA_AS_ORT_VALUE])(
        memory, one->data, one->bytes, one->shape, (size_t)one->rank, one->ortType, &values[i]));
  }
}

static void callOrt(void) {
  memset(results, 0, sizeof results);
  checkOrt(run(session, NULL, inputNames, values, (size_t)inputCount, outputNames, (size_t)outputCount, results));
  for (int32_t i = 0; i < outputCount; ++i) releaseValue(results[i]);
}

/* The same for both. */

static void readInput(struct input* one, char** arguments) {
  static const struct {
    const char* name;
    MaxDType dtype;
    int32_t ortType;
    size_t size;
  } types[] = {
      {"float32", MAX_DTYPE_FLOAT32, 1, 4}, {"int32", MAX_DTYPE_INT32, 6, 4}, {"int64", MAX_DTYPE_INT64, 7, 8}};
  size_t t = 0;
  while (t < 3 && strcmp(types[t].name, arguments[1]) != 0) ++t;
  if (t == 3) fail("an input is float32, int32 or int64");
  *one = (struct input){
      .name = arguments[0], .dtype = types[t].dtype, .ortType = types[t].ortType, .bytes = types[t].size};
  for (char* dims = arguments[2]; *dims; dims += *dims == 'x') {
    one->shape[one->rank] = strtoll(dims, &dims, 10);
    one->bytes *= (size_t)one->shape[one->rank++];
  }
  one->data = aligned_alloc(64, (one->bytes + 63) / 64 * 64);
  FILE* file = fopen(arguments[3], "rb");
  if (!one->data || !file || fread(one->data, 1, one->bytes, file) != one->bytes) fail(arguments[3]);
  fclose(file);
}

static int compareTimes(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Calls for a while; the median, in milliseconds. */
static double medianOf(void (*call)(void), double seconds, size_t* count) {
  size_t capacity = 1 << 16;
  double *times = malloc(capacity * sizeof *times), before = milliseconds();
  const double end = before + 1e3 * seconds;
  *count = 0;
  do {
    call();
    const double after = milliseconds();
    if (*count == capacity) times = realloc(times, (capacity *= 2) * sizeof *times);
    if (!times) fail("no memory");
    times[(*count)++] = after - before;
    before = after;
  } while (before < end);
  qsort(times, *count, sizeof *times, compareTimes);
  return times[*count / 2];
}

static double peakMegabytes(void) {
  char line[256];
  double kilobytes = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %lf", &kilobytes);
  if (status) fclose(status);
  return kilobytes / 1e3;
}

int main(int argc, char** argv) {
  size_t count;
  if (argc < 5 || (argc - 5) % 4 || (argc - 5) / 4 > MOST)
    fail("usage: model_bench LIBRARY MODEL THREADS SECONDS [NAME DTYPE DIMS FILE]...");
  const int isMax = strcmp(argv[1], "max") == 0, threads = atoi(argv[3]);
  for (int i = 5; i < argc; i += 4) readInput(&inputs[inputCount++], argv + i);
  if (!isMax) openOrt(argv[1]);
  const double start = milliseconds();
  (isMax ? loadWithMax : loadWithOrt)(argv[2], threads);
  const double load = milliseconds() - start;
  (isMax ? prepareMax : prepareOrt)();
  void (*call)(void) = isMax ? callMax : callOrt;
  if (outputCount > MOST) fail("the model has too many outputs");
  const double first = medianOf(call, 0, &count);
  for (int i = 0; i < WARM_UP; ++i) call();
  const double peak = peakMegabytes(); /* before the times of many calls take memory, too */
  const double median = medianOf(call, atof(argv[4]), &count);
  printf("{\"load_ms\": %.6f, \"first_ms\": %.6f, \"call_ms\": %.6f, \"calls\": %zu, \"peak_rss_mb\": %.1f}\n", load,
         first, median, count, peak);
  return 0;
}
