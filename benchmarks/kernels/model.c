/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures one model with MAX, ONNX Runtime or OpenVINO, in the same loop through the C API of each;
 * benchmarks/compare.py runs it.
 *
 *     model_bench LIBRARY MODEL PRECISION THREADS SECONDS[,PAUSE] [NAME DTYPE DIMS FILE]...     prints JSON
 *
 * LIBRARY is "max" or the path of libonnxruntime.so or libopenvino_c.so. PRECISION is f32 or bf16, of products. FILE
 * holds the bytes of an input, DIMS are numbers joined by "x". A call of MAX and of ONNX Runtime makes its outputs
 * anew, and their release counts as a part of it; OpenVINO's request keeps its own. PAUSE, in milliseconds, lies before
 * each call, as in a service that waits for requests.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <math.h>
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
static int bfloat16;

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
  MaxModelLoadOptions loadOptions = MAX_MODEL_LOAD_OPTIONS_INIT;
  loadOptions.precision = bfloat16 ? MAX_PRECISION_MEDIUM : MAX_PRECISION_HIGHEST;
  check(maxModelLoad(session, path, &loadOptions, &model));
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

static void openOrt(const struct ortApiBase* (*getBase)(void)) {
  ort = getBase()->getApi(1);
  run = (Status(*)(void*, const void*, const char* const*, void* const*, size_t, const char* const*, size_t,
                   void**))ort[RUN];
  releaseValue = (void (*)(void*))ort[RELEASE_VALUE];
  checkOrt(((Status(*)(int, const char*, void**))ort[CREATE_ENV])(3, "bench", &env)); /* 3: errors only */
}

static void loadWithOrt(const char* path, int threads) {
  void* options;
  if (bfloat16) fail("ONNX Runtime has no bfloat16 products of float32 models here");
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

/* OpenVINO, told the inputs' shapes, and to answer one call at a time as soon as it can. */

typedef int OvStatus;
struct ovShape {
  int64_t rank, *dims;
};
struct ovDimension {
  int64_t least, most;
};
struct ovPartialShape {
  struct ovDimension rank, *dims;
};

static struct {
  OvStatus (*createCore)(void**);
  OvStatus (*readModel)(void*, const char*, const char*, void**);
  OvStatus (*reshape)(void*, const char**, struct ovPartialShape*, size_t);
  OvStatus (*compile)(void*, void*, const char*, size_t, void**, ...);
  OvStatus (*createRequest)(void*, void**);
  OvStatus (*countOutputs)(void*, size_t*);
  OvStatus (*findInput)(void*, const char*, void**);
  OvStatus (*getType)(void*, int*);
  OvStatus (*createTensor)(int, struct ovShape, void*, void**);
  OvStatus (*setTensor)(void*, const char*, void*);
  OvStatus (*infer)(void*);
  const char* (*getMessage)(void);
} ov;
static const char* const ovNames[] = {
    "ov_core_create",
    "ov_core_read_model",
    "ov_model_reshape",
    "ov_core_compile_model",
    "ov_compiled_model_create_infer_request",
    "ov_compiled_model_outputs_size",
    "ov_compiled_model_input_by_name",
    "ov_port_get_element_type",
    "ov_tensor_create_from_host_ptr",
    "ov_infer_request_set_tensor",
    "ov_infer_request_infer",
    "ov_get_last_err_msg",
};
static void *ovCompiled, *ovRequest;

static void checkOv(OvStatus status) {
  if (status) fail(ov.getMessage());
}

static void openOv(void* library) {
  for (size_t i = 0; i < sizeof ovNames / sizeof *ovNames; ++i)
    if (!(((void**)&ov)[i] = dlsym(library, ovNames[i]))) fail(dlerror());
}

static void fixShapes(void* network) {
  static struct ovDimension dims[MOST][MAX_BUFFER_RANK_LIMIT];
  struct ovPartialShape shapes[MOST];
  const char* names[MOST];
  for (int32_t i = 0; i < inputCount; ++i) {
    const struct input* one = &inputs[i];
    for (int32_t axis = 0; axis < one->rank; ++axis)
      dims[i][axis] = (struct ovDimension){one->shape[axis], one->shape[axis]};
    shapes[i] = (struct ovPartialShape){{one->rank, one->rank}, dims[i]};
    names[i] = one->name;
  }
  checkOv(ov.reshape(network, names, shapes, (size_t)inputCount));
}

static void loadWithOv(const char* path, int threads) {
  void *core, *network;
  char count[16];
  snprintf(count, sizeof count, "%d", threads);
  checkOv(ov.createCore(&core));
  checkOv(ov.readModel(core, path, NULL, &network));
  fixShapes(network);
  checkOv(ov.compile(core, network, "CPU", 8, &ovCompiled, "PERFORMANCE_HINT", "LATENCY", "INFERENCE_NUM_THREADS",
                     count, "INFERENCE_PRECISION_HINT", bfloat16 ? "bf16" : "f32", "NUM_STREAMS", "1"));
}

static void prepareOv(void) {
  size_t count;
  checkOv(ov.createRequest(ovCompiled, &ovRequest));
  checkOv(ov.countOutputs(ovCompiled, &count));
  outputCount = (int32_t)count;
  for (int32_t i = 0; i < inputCount; ++i) {
    struct input* one = &inputs[i];
    void *port, *tensor;
    int type;
    checkOv(ov.findInput(ovCompiled, one->name, &port));
    checkOv(ov.getType(port, &type));
    checkOv(ov.createTensor(type, (struct ovShape){one->rank, one->shape}, one->data, &tensor));
    checkOv(ov.setTensor(ovRequest, one->name, tensor));
  }
}

static void callOv(void) { checkOv(ov.infer(ovRequest)); }

/* The same for all. */

struct library {
  void (*load)(const char* path, int threads);
  void (*prepare)(void);
  void (*call)(void);
};

static struct library openLibrary(const char* path) {
  if (strcmp(path, "max") == 0) return (struct library){loadWithMax, prepareMax, callMax};
  void* handle = dlopen(path, RTLD_NOW);
  if (!handle) fail(dlerror());
  const struct ortApiBase* (*getBase)(void);
  *(void**)&getBase = dlsym(handle, "OrtGetApiBase");
  if (getBase) {
    openOrt(getBase);
    return (struct library){loadWithOrt, prepareOrt, callOrt};
  }
  openOv(handle);
  return (struct library){loadWithOv, prepareOv, callOv};
}

static void readInput(struct input* one, char** arguments) {
  static const struct {
    const char* name;
    MaxDType dtype;
    int32_t ortType;
    size_t size;
  } types[] = {{"float32", MAX_DTYPE_FLOAT32, 1, 4}, {"uint8", MAX_DTYPE_UINT8, 2, 1}, {"int8", MAX_DTYPE_INT8, 3, 1},
               {"int32", MAX_DTYPE_INT32, 6, 4},     {"int64", MAX_DTYPE_INT64, 7, 8}, {"bool", MAX_DTYPE_BOOL, 9, 1},
               {"float64", MAX_DTYPE_FLOAT64, 11, 8}};
  const size_t count = sizeof types / sizeof *types;
  size_t t = 0;
  while (t < count && strcmp(types[t].name, arguments[1]) != 0) ++t;
  if (t == count) fail("an input is of another type than float32, float64, uint8, int8, int32, int64 and bool");
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

struct times {
  double p50, p99;
  size_t count;
};

static void wait(double pause) {
  const struct timespec time = {(time_t)(pause / 1e3), (long)(1e6 * fmod(pause, 1e3))};
  if (pause > 0) nanosleep(&time, NULL);
}

/* Calls for a while; the times in milliseconds. */
static struct times measure(void (*call)(void), double seconds, double pause) {
  size_t capacity = 1 << 16;
  double *times = malloc(capacity * sizeof *times), before = milliseconds();
  const double end = before + 1e3 * seconds;
  size_t count = 0;
  do {
    wait(pause);
    if (pause > 0) before = milliseconds();
    call();
    const double after = milliseconds();
    if (count == capacity) times = realloc(times, (capacity *= 2) * sizeof *times);
    if (!times) fail("no memory");
    times[count++] = after - before;
    before = after;
  } while (before < end);
  qsort(times, count, sizeof *times, compareTimes);
  const struct times result = {times[count / 2], times[count - 1 - count / 100], count};
  free(times);
  return result;
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
  enum { FIXED = 6 };
  if (argc < FIXED || (argc - FIXED) % 4 || (argc - FIXED) / 4 > MOST)
    fail("usage: model_bench LIBRARY MODEL PRECISION THREADS SECONDS[,PAUSE] [NAME DTYPE DIMS FILE]...");
  bfloat16 = strcmp(argv[3], "bf16") == 0;
  if (!bfloat16 && strcmp(argv[3], "f32") != 0) fail("the precision is f32 or bf16");
  for (int i = FIXED; i < argc; i += 4) readInput(&inputs[inputCount++], argv + i);
  const char* pause = strchr(argv[5], ',');
  const double empty = peakMegabytes();
  const struct library library = openLibrary(argv[1]);
  const double start = milliseconds();
  library.load(argv[2], atoi(argv[4]));
  const double load = milliseconds() - start;
  library.prepare();
  if (outputCount > MOST) fail("the model has too many outputs");
  const double first = measure(library.call, 0, 0).p50;
  for (int i = 0; i < WARM_UP; ++i) library.call();
  const double peak = peakMegabytes(); /* before the times of many calls take memory, too */
  const struct times calls = measure(library.call, atof(argv[5]), pause ? atof(pause + 1) : 0);
  printf(
      "{\"load_ms\": %.6f, \"first_ms\": %.6f, \"call_ms\": %.6f, \"p99_ms\": %.6f, \"calls\": %zu, "
      "\"added_mb\": %.1f}\n",
      load, first, calls.p50, calls.p99, calls.count, peak - empty);
  return 0;
}
