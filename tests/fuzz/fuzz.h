/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzzers share: checks that end the process, files in memory, and a run of whatever loads. */
#ifndef MAX_TESTS_FUZZ_H
#define MAX_TESTS_FUZZ_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "max/experimental.h"
#include "max/max.h"

#define MOST_INPUTS 16
#define MOST_ELEMENTS 4096 /* of one input */
#define DYNAMIC_SIZE 2     /* of dimensions that a call chooses */
#define SMALL_FILE 1024    /* loads within the session's limit, which is below 64 MB */
#define MEMORY_LIMIT (60 << 20)

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static inline void check(int condition) {
  if (!condition) abort();
}

static inline int64_t liveObjects(void) {
  int64_t count = 0;
  check(maxExperimentalGetLiveObjectCount(&count) == MAX_STATUS_OK);
  return count;
}

/* Nothing that a terminal would obey; `lines`: line feeds and tabs may be there. */
static inline void checkPrintable(const char* text, int lines) {
  for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
    check(*c >= 0x20 ? *c != 0x7F : lines && (*c == '\n' || *c == '\t'));
    check(c[0] != 0xC2 || c[1] >= 0xA0);                                    /* control characters of eight bits */
    check(c[0] != 0xE2 || c[1] != 0x80 || !(c[2] >= 0xA8 && c[2] <= 0xAE)); /* order of what follows */
  }
}

/* A failure is not an internal error, and has a one-line message. */
static inline void checkFailure(MaxStatus status) {
  check(status != MAX_STATUS_INTERNAL && status != MAX_STATUS_UNKNOWN);
  const char* message = maxGetLastErrorMessage();
  check(message[0] != '\0');
  checkPrintable(message, 0);
}

/* A path of this process alone, in memory where the machine has such a folder. */
static inline void scratchPath(char path[64], const char* extension) {
  snprintf(path, 64, "%s/max-fuzz-%d.%s", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid(),
           extension);
}

/* A file that lives in memory; `path` gets its name. */
static inline int openMemoryFile(const uint8_t* data, size_t size, char path[64]) {
  const int file = memfd_create("fuzz", 0);
  check(file >= 0 && write(file, data, size) == (ssize_t)size);
  snprintf(path, 64, "/proc/self/fd/%d", file);
  return file;
}

static inline void fillElement(void* data, MaxDType dtype, int64_t i) {
  switch (dtype) {
    case MAX_DTYPE_FLOAT32:
      ((float*)data)[i] = (float)(i % 7 - 3) * 0.5f;
      break;
    case MAX_DTYPE_FLOAT64:
      ((double*)data)[i] = (double)(i % 7 - 3) * 0.5;
      break;
    case MAX_DTYPE_INT64:
      ((int64_t*)data)[i] = i % 3;
      break;
    case MAX_DTYPE_INT32:
      ((int32_t*)data)[i] = (int32_t)(i % 3);
      break;
    default:
      break; /* zero */
  }
}

/* At most MOST_ELEMENTS strings. */
static inline MaxBuffer* makeStrings(MaxDevice* device, int32_t rank, const int64_t* shape, int64_t count) {
  static const char* const kWords[] = {"one", "", "2.5", "two words", "a,b,,c", "\xff\xfe", "\xc3\xa4NaN"};
  static const char* strings[MOST_ELEMENTS];
  MaxBuffer* buffer = NULL;
  for (int64_t i = 0; i < count; ++i) strings[i] = kWords[i % 7];
  check(maxBufferCreateStrings(device, strings, NULL, rank, shape, &buffer) == MAX_STATUS_OK);
  return buffer;
}

/* A tensor; one element of a sequence or optional. NULL if it is too large. */
static inline MaxBuffer* makeInput(const MaxModel* model, int32_t index) {
  MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
  MaxBuffer* buffer = NULL;
  int64_t dims[64], count = 1;
  check(maxModelGetInput(model, index, &info) == MAX_STATUS_OK);
  int32_t rank = info.rank;
  for (int32_t i = 0; i < rank; ++i) {
    dims[i] = info.shape[i] < 0 ? DYNAMIC_SIZE : info.shape[i];
    if (dims[i] > MOST_ELEMENTS || (count *= dims[i]) > MOST_ELEMENTS) return NULL;
  }
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.zeroed = 1;
  if (info.kind != MAX_VALUE_KIND_TENSOR) {
    rank = 1;
    count = dims[0] = 3;
  }
  if (rank >= 0 && info.dtype == MAX_DTYPE_STRING) return makeStrings(info.device, rank, dims, count);
  if (rank < 0 || maxBufferCreate(info.device, info.dtype, rank, dims, &options, &buffer) != MAX_STATUS_OK) return NULL;
  void* data = NULL;
  check(maxBufferGetMutableData(buffer, &data) == MAX_STATUS_OK);
  for (int64_t i = 0; i < count; ++i) fillElement(data, info.dtype, i);
  return buffer;
}

static inline MaxModelExecuteOptions runOptions(void) {
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.timeoutNs = 1000000000; /* loops may run for as long as they like */
  return options;
}

static inline void execute(const MaxModel* model, MaxBuffer* const* inputs, int32_t inputCount) {
  int32_t outputCount = 0;
  check(maxModelGetOutputCount(model, &outputCount) == MAX_STATUS_OK);
  MaxBuffer** outputs = (MaxBuffer**)calloc((size_t)outputCount + 1, sizeof *outputs);
  check(outputs != NULL);
  const MaxModelExecuteOptions options = runOptions();
  for (int turn = 0; turn < 2; ++turn) { /* with a plan that is made, and with one that is there */
    const MaxStatus status = maxModelExecute(model, inputs, inputCount, &options, outputs, outputCount);
    if (status != MAX_STATUS_OK) checkFailure(status);
    for (int32_t i = 0; i < outputCount; ++i) {
      check((status == MAX_STATUS_OK) == (outputs[i] != NULL));
      maxBufferRelease(outputs[i]);
    }
  }
  free(outputs);
}

/* A tensor; a sequence of two such tensors; an optional with one; a map from words or numbers to them. */
static inline MaxValue* makeValue(const MaxModel* model, int32_t index, MaxBuffer* buffer) {
  MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
  MaxValue *tensor = NULL, *value = NULL;
  check(maxModelGetInput(model, index, &info) == MAX_STATUS_OK);
  const MaxValueKind kind = info.kind;
  check(maxValueCreateTensor(buffer, &tensor) == MAX_STATUS_OK);
  if (kind == MAX_VALUE_KIND_TENSOR) return tensor;
  MaxValue* const pair[] = {tensor, tensor};
  MaxStatus status = MAX_STATUS_OK;
  if (kind == MAX_VALUE_KIND_SEQUENCE) status = maxValueCreateSequence(pair, 2, &value);
  if (kind == MAX_VALUE_KIND_OPTIONAL) status = maxValueCreateOptional(tensor, &value);
  if (kind == MAX_VALUE_KIND_MAP) status = maxValueCreateMap(buffer, buffer, &value);
  if (status != MAX_STATUS_OK) checkFailure(status);
  maxValueRelease(tensor);
  return value;
}

static inline void executeValues(const MaxModel* model, MaxBuffer* const* buffers, int32_t inputCount) {
  MaxValue* inputs[MOST_INPUTS] = {NULL};
  int32_t outputCount = 0, made = 0;
  check(maxModelGetOutputCount(model, &outputCount) == MAX_STATUS_OK);
  MaxValue** outputs = (MaxValue**)calloc((size_t)outputCount + 1, sizeof *outputs);
  check(outputs != NULL);
  while (made < inputCount && (inputs[made] = makeValue(model, made, buffers[made])) != NULL) ++made;
  if (made == inputCount) {
    const MaxModelExecuteOptions options = runOptions();
    const MaxStatus status = maxModelExecuteValues(model, inputs, inputCount, &options, outputs, outputCount);
    if (status != MAX_STATUS_OK) checkFailure(status);
    for (int32_t i = 0; i < outputCount; ++i) {
      check((status == MAX_STATUS_OK) == (outputs[i] != NULL));
      maxValueRelease(outputs[i]);
    }
  }
  for (int32_t i = 0; i < made; ++i) maxValueRelease(inputs[i]);
  free(outputs);
}

/* Runs a model on small inputs, if it has such. */
static inline void runModel(const MaxModel* model) {
  MaxBuffer* inputs[MOST_INPUTS] = {NULL};
  int32_t count = 0, made = 0;
  check(maxModelGetInputCount(model, &count) == MAX_STATUS_OK);
  if (count > MOST_INPUTS) return;
  while (made < count && (inputs[made] = makeInput(model, made)) != NULL) ++made;
  if (made == count) execute(model, inputs, count);
  if (made == count) executeValues(model, inputs, count);
  for (int32_t i = 0; i < made; ++i) maxBufferRelease(inputs[i]);
}

/* The session of all models of a fuzzer. */
static inline MaxSession* openSession(void) {
  MaxSession* session = NULL;
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.threadCount = 1;
  options.memoryLimit = MEMORY_LIMIT;
  check(maxSessionCreate(&options, &session) == MAX_STATUS_OK);
  return session;
}

/* What every load of a file of so many bytes must keep to; runs and releases the model. */
static inline void finishModel(MaxStatus status, MaxModel* model, size_t size) {
  check((status == MAX_STATUS_OK) == (model != NULL));
  if (model) {
    runModel(model);
  } else {
    checkFailure(status);
    check(size > SMALL_FILE || status != MAX_STATUS_RESOURCE_EXHAUSTED ||
          !strstr(maxGetLastErrorMessage(), "Memory limit of the session"));
  }
  maxModelRelease(model);
}

/* Saves a model, loads and runs what was saved, and looks at what is said about it. */
static inline void saveModel(const MaxSession* session, const MaxModel* model) {
  char path[64];
  const char* text = NULL;
  MaxModel* again = NULL;
  MaxModelInfo* info = NULL;
  if (maxModelGetGraph(model, &text) == MAX_STATUS_OK) checkPrintable(text, 1);
  scratchPath(path, "maxc");
  MaxStatus status = maxModelSave(model, path);
  if (status != MAX_STATUS_OK) {
    checkFailure(status);
    check(access(path, F_OK) != 0); /* nothing is left */
    return;
  }
  status = maxModelLoad(session, path, NULL, &again);
  if (status == MAX_STATUS_OK) runModel(again);
  if (status != MAX_STATUS_OK) checkFailure(status);
  maxModelRelease(again);
  status = maxModelInfoLoad(path, &info);
  if (status == MAX_STATUS_OK && maxModelInfoGetGraph(info, &text) == MAX_STATUS_OK) checkPrintable(text, 1);
  if (status != MAX_STATUS_OK) checkFailure(status);
  maxModelInfoRelease(info);
  check(unlink(path) == 0);
}

/* Gives a file of weights to a model of y = (i + a) * x, gathered by b. */
static inline void useWeights(const MaxSession* session, const char* path) {
  static const unsigned char kModel[] = {
      8,  10, 58, 161, 1,  10,  14,  10, 1,   105, 10,  1,   97,  18,  1,   116, 34, 3,   65, 100, 100, 10,
      14, 10, 1,  116, 10, 1,   120, 18, 1,   117, 34,  3,   77,  117, 108, 10,  17, 10,  1,  117, 10,  1,
      98, 18, 1,  121, 34, 6,   71,  97, 116, 104, 101, 114, 18,  1,   119, 42,  27, 8,   2,  8,   2,   16,
      1,  66, 1,  97,  74, 16,  0,   0,  0,   0,   0,   0,   128, 63,  0,   0,   0,  64,  0,  0,   64,  64,
      42, 17, 8,  2,   16, 1,   66,  1,  120, 74,  8,   0,   0,   0,   0,   0,   0,  128, 63, 42,  25,  8,
      2,  16, 7,  66,  1,  98,  74,  16, 0,   0,   0,   0,   0,   0,   0,   0,   1,  0,   0,  0,   0,   0,
      0,  0,  90, 19,  10, 1,   105, 18, 14,  10,  12,  8,   1,   18,  8,   10,  2,  8,   2,  10,  2,   8,
      2,  98, 9,  10,  1,  121, 18,  4,  10,  2,   8,   1,   66,  4,   10,  0,   16, 21,
  };
  for (int32_t ignoresUnknown = 0; ignoresUnknown < 2; ++ignoresUnknown) {
    MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
    MaxModel* model = NULL;
    options.weightsPath = path;
    options.ignoreUnknownWeights = ignoresUnknown;
    const MaxStatus status = maxModelLoadFromMemory(session, kModel, sizeof kModel, &options, &model);
    if (status == MAX_STATUS_OK) {
      runModel(model);
      saveModel(session, model);
    } else {
      checkFailure(status);
    }
    maxModelRelease(model);
  }
}

/* Saves a buffer as a checkpoint and reads it back: the same bytes, under the same name. */
static inline void saveBuffer(const MaxBuffer* buffer, const char* key) {
  char path[64];
  scratchPath(path, "max");
  MaxBuffer* again = NULL;
  const MaxStatus status = maxBufferSave(buffer, path, key);
  if (status != MAX_STATUS_OK) {
    checkFailure(status);
    check(access(path, F_OK) != 0);
    return;
  }
  check(maxBufferLoad(path, &again) == MAX_STATUS_OK);
  const void* data[2] = {NULL, NULL};
  MaxBufferInfo infos[2] = {MAX_BUFFER_INFO_INIT, MAX_BUFFER_INFO_INIT};
  check(maxBufferGetData(buffer, &data[0]) == MAX_STATUS_OK && maxBufferGetData(again, &data[1]) == MAX_STATUS_OK);
  check(maxBufferGetInfo(buffer, &infos[0]) == MAX_STATUS_OK && maxBufferGetInfo(again, &infos[1]) == MAX_STATUS_OK);
  const size_t bytes = infos[0].byteCount;
  check(bytes == infos[1].byteCount && (bytes == 0 || memcmp(data[0], data[1], bytes) == 0));
  maxBufferRelease(again);
  check(unlink(path) == 0);
}

#endif
