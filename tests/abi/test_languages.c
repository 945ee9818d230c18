/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How other languages use each pattern of the C API, written down in C: what cffi (Python), bindgen (Rust) and cgo
 * (Go) do with it step by step. A pattern that is awkward here is awkward in a binding.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "../capi/check.h"

/*
 * Errors. Each language has one helper that turns a status and the message into its own error. The message is copied
 * before anything else runs on the thread; Go locks the goroutine to its thread around both calls.
 */
struct language_error {
  MaxStatus status;
  char name[24];
  char summary[200];
};

static struct language_error take_error(MaxStatus status) {
  struct language_error error = {status, "", ""};
  snprintf(error.name, sizeof error.name, "%s", maxStatusGetName(status));
  snprintf(error.summary, sizeof error.summary, "%.*s", (int)strcspn(maxGetLastErrorMessage(), "\n"),
           maxGetLastErrorMessage());
  return error;
}

static void test_errors_are_read_in_one_helper(void** state) {
  (void)state;
  MaxDevice* device = NULL;
  const struct language_error error = take_error(maxDeviceCreate("cuda", 0, NULL, &device));
  assert_int_equal(error.status, MAX_STATUS_UNAVAILABLE);
  assert_string_equal(error.name, "UNAVAILABLE");
  assert_non_null(strstr(error.summary, "cuda:0"));
}

/*
 * Handles. cffi: ffi.gc(pointer, lib.maxBufferRelease) needs a function of one pointer that returns nothing. Rust:
 * Drop = Release, Clone = Retain, both take *const. Go: Close and a finalizer, which runs on any thread, in any order.
 */
static void test_any_order_of_release_is_legal(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = NULL;
  MaxEvent* event = NULL;
  CHECK(maxStreamCreate(device, NULL, &stream));
  CHECK(maxEventCreate(device, NULL, &event));
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_INT32, 1, (const int64_t[]){4});
  MaxBuffer* view = NULL;
  CHECK(maxBufferView(buffer, MAX_DTYPE_INT8, -1, NULL, &view));
  maxDeviceRelease(device); /* a garbage collector may take the parent first */
  maxStreamRelease(stream);
  maxBufferRelease(buffer);
  maxEventRelease(event);
  assert_int_equal(info_of(view).rank, 1);
  maxBufferRelease(view);
}

static void* release_buffer(void* buffer) {
  maxBufferRelease(buffer);
  return NULL;
}

static void test_finalizers_run_on_other_threads(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_INT32, 1, (const int64_t[]){4});
  maxDeviceRelease(device);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, release_buffer, buffer), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
}

/*
 * Options. cffi: ffi.new("MaxBufferOptions*", {"structSize": ffi.sizeof("MaxBufferOptions")}): the rest is zero. Rust:
 * MaxBufferOptions { structSize: size_of::<MaxBufferOptions>(), ..zeroed() }. Go: C.MaxBufferOptions{structSize: ...}.
 */
static void test_options_are_zeroed_memory_with_a_size(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBufferOptions* options = calloc(1, sizeof *options);
  options->structSize = sizeof *options;
  options->zeroed = 1;
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferCreate(device, MAX_DTYPE_INT32, 1, (const int64_t[]){2}, options, &buffer));
  free(options); /* options are copied by the call */
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

/*
 * Lists and strings. A count, then each element; borrowed strings are copied into the language's own at once. Shapes
 * are read as rank numbers: ffi.unpack(pointer, rank), slice::from_raw_parts, unsafe.Slice.
 */
static void test_lists_are_counts_and_getters(void** state) {
  (void)state;
  int32_t count = 0;
  CHECK(maxDeviceScan(&count));
  char names[4][16];
  for (int32_t i = 0; i < count && i < 4; ++i) {
    const char* label = NULL;
    int32_t id = 0;
    CHECK(maxDeviceGetScanned(i, &label, &id));
    snprintf(names[i], sizeof names[i], "%s:%d", label, id);
  }
  assert_string_equal(names[0], "cpu:0");
}

static void test_shapes_are_a_rank_and_a_pointer(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_INT32, 3, (const int64_t[]){2, 3, 4});
  int32_t rank = 0;
  const int64_t* dims = NULL;
  rank = info_of(buffer).rank;
  dims = info_of(buffer).shape;
  int64_t copied[MAX_BUFFER_RANK_LIMIT];
  memcpy(copied, dims, (size_t)rank * sizeof *dims);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
  assert_int_equal(copied[0] * copied[1] * copied[2], 24);
}

/*
 * Numbers. Enumerations are int32_t, so a number that a later library returns
 * is not undefined behaviour in Rust, and cffi and cgo see plain integers.
 */
static void test_enumerations_are_plain_numbers(void** state) {
  (void)state;
  assert_int_equal(sizeof(MaxStatus), 4);
  assert_int_equal(sizeof(MaxDType), 4);
  assert_int_equal(sizeof(MaxSliceKind), 4);
  assert_true((MaxStatus)-1 < 0);
  const MaxDType from_later = 4711;
  assert_string_equal(maxDTypeGetName(from_later), "invalid");
}

/*
 * Callbacks. The language boxes its closure and passes the box's address as userData: ffi.new_handle, Box::into_raw,
 * cgo.NewHandle. Each callback is called exactly once, so that the box is freed in it and nowhere else.
 */
struct box {
  atomic_int* calls;
  MaxStatus status;
};

static void run_and_free_box(void* user_data, MaxStatus status) {
  struct box* box = user_data;
  box->status = status;
  ++*box->calls;
  free(box);
}

static void free_array(void* user_data) { free(user_data); }

static void test_callbacks_own_a_box(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(device, NULL, &stream));
  atomic_int calls = 0;
  for (int i = 0; i < 10; ++i) {
    struct box* box = malloc(sizeof *box);
    box->calls = &calls;
    if (maxStreamEnqueueHostFunction(stream, run_and_free_box, box) != MAX_STATUS_OK) free(box);
  }
  CHECK(maxStreamSynchronize(stream, 0));
  assert_int_equal(calls, 10);
  maxStreamRelease(stream);

  /* An array of the language lends its memory: Python's buffer protocol, a Rust Vec, pinned Go memory. */
  float* array = calloc(6, sizeof *array);
  MaxBufferWrapOptions options = MAX_BUFFER_WRAP_OPTIONS_INIT;
  options.release = free_array;
  options.userData = array;
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferWrap(device, array, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){2, 3}, &options, &buffer));
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

/*
 * Host access. Python's `with`, a Rust guard and a Go closure map and unmap; a safe language never sees a pointer
 * outside of them.
 */
static void test_map_guards(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_INT32, 1, (const int64_t[]){2});
  void* data = NULL;
  CHECK(maxBufferMapToHost(buffer, MAX_HOST_ACCESS_READ | MAX_HOST_ACCESS_WRITE, &data));
  ((int32_t*)data)[1] = 5;
  CHECK(maxBufferUnmapFromHost(buffer));
  int32_t item = 0;
  CHECK(maxBufferRead(buffer, (const int64_t[]){1}, 1, sizeof item, &item));
  assert_int_equal(item, 5);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

/*
 * Slices. x[1, ..., ::-1] becomes parallel arrays, one entry per item of the index; None in a slice is the omitted
 * number. No array of structures has to be laid out.
 */
static void test_slices_are_parallel_arrays(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxBuffer* buffer = new_counting(device, 3, (const int64_t[]){2, 2, 3});
  const MaxSliceKind kinds[] = {MAX_SLICE_KIND_INDEX, MAX_SLICE_KIND_ELLIPSIS, MAX_SLICE_KIND_RANGE};
  const int64_t starts[] = {1, 0, MAX_SLICE_OMITTED};
  const int64_t stops[] = {0, 0, MAX_SLICE_OMITTED};
  const int64_t steps[] = {0, 0, -1};
  MaxBuffer* view = NULL;
  CHECK(maxBufferSlice(buffer, kinds, starts, stops, steps, 3, &view));
  int32_t item = 0;
  CHECK(maxBufferRead(view, (const int64_t[]){0, 0}, 2, sizeof item, &item));
  assert_int_equal(item, 8);
  maxBufferRelease(view);
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

/*
 * Values. Python: list, dict and None become values and back, by the kind of each; Rust: an enum Value { Tensor,
 * Sequence, Optional, Map }; Go: an interface with a method Kind. A binding walks down by count and index; what it gets
 * is borrowed, so it retains what it keeps. Strings cross as pointer and length: bytes in Python, &[u8] in Rust,
 * C.GoStringN in Go.
 */
static void test_values_are_walked_by_count_and_index(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  const char* const words[] = {"\xc3\xa4", "b"}; /* cgo and ctypes build such arrays; no NUL is needed with lengths */
  const size_t lengths[] = {2, 1};
  MaxBuffer *buffer = NULL, *inner = NULL;
  CHECK(maxBufferCreateStrings(device, words, lengths, 1, (const int64_t[]){2}, &buffer));
  MaxValue *tensor = NULL, *sequence = NULL, *kept = NULL;
  CHECK(maxValueCreateTensor(buffer, &tensor));
  CHECK(maxValueCreateSequence((MaxValue* const[]){tensor, tensor}, 2, &sequence));
  maxBufferRelease(buffer);
  maxValueRelease(tensor);
  int32_t count = 0;
  MaxValueKind kind = MAX_VALUE_KIND_MAP;
  CHECK(maxValueGetCount(sequence, &count));
  for (int32_t i = 0; i < count; ++i) {
    CHECK(maxValueGetElements(sequence, i, 1, &kept));
    CHECK(maxValueGetKind(kept, &kind));
    assert_int_equal(kind, MAX_VALUE_KIND_TENSOR);
  }
  maxValueRetain(kept);
  maxValueRelease(sequence);
  const char* text = NULL;
  size_t length = 0;
  CHECK(maxValueGetBuffer(kept, &inner));
  CHECK(maxBufferGetStrings(inner, 0, 1, &text, &length));
  assert_int_equal(length, 2);
  assert_memory_equal(text, words[0], length);
  maxValueRelease(kept);
  maxDeviceRelease(device);
}

/*
 * Operators. A language adds its own through a table: Python with ffi.callback or def_extern and new_handle as
 * userData, Rust with extern "C" functions and Box::leak, Go with exported functions and cgo.NewHandle. Rows, texts and
 * closures live as long as the process: Python keeps them in a module's list. Inputs and outputs become views while the
 * call runs: ffi.buffer with numpy.frombuffer, slice::from_raw_parts, unsafe.Slice; an error is returned through
 * maxExtensionFail, never thrown.
 */
struct closure {
  float factor;
};

static MaxStatus closure_infer(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  (void)user_data;
  (void)node;
  return maxShapeContextSetOutputLike(context, 0, 0);
}

static MaxStatus closure_execute(void* user_data, const MaxOperatorNode* node, void* state,
                                 const MaxOperatorCall* call) {
  const struct closure* closure = user_data;
  const float* x = call->inputs[0];
  float* y = call->outputs[0];
  (void)node;
  (void)state;
  for (int64_t i = 0; i < call->inputElementCounts[0]; ++i) {
    if (x[i] < 0) return maxExtensionFail(MAX_STATUS_OUT_OF_RANGE, "ValueError: below zero");
    y[i] = closure->factor * x[i];
  }
  return MAX_STATUS_OK;
}

static MaxModel* model_of_closure(MaxSession* session) {
  const int64_t shape[] = {MAX_DIMENSION_DYNAMIC};
  MaxGraph* graph = NULL;
  MaxGraphValue *x = NULL, *y = NULL;
  MaxModel* model = NULL;
  CHECK(maxGraphCreate("closure", &graph));
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 1, shape, NULL, &x));
  CHECK(maxGraphAddNode(graph, "language", "Closure", "scaled", &x, 1, NULL, &y, 1));
  CHECK(maxGraphAddOutput(graph, y, "y"));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  maxGraphRelease(graph);
  return model;
}

static void test_operators_are_tables_of_callbacks(void** state) {
  (void)state;
  static struct closure closure = {3};
  static MaxOperator row = MAX_OPERATOR_INIT; /* zeroed memory with a size, as options are */
  const MaxOperator* rows[] = {&row};
  MaxExtensionTable table = MAX_EXTENSION_TABLE_INIT;
  row.domain = "language";
  row.name = "Closure";
  row.types = "T->T; T=float32";
  row.minInputs = row.maxInputs = row.minOutputs = row.maxOutputs = 1;
  row.infer = closure_infer;
  row.execute = closure_execute;
  row.userData = &closure;
  table.abiVersion = MAX_EXTENSION_ABI_VERSION;
  table.operators = rows;
  table.operatorCount = 1;
  MaxSession* session = NULL;
  CHECK(maxSessionCreate(NULL, &session));
  CHECK(maxExtensionAdd("a module", &table));
  MaxModel* model = model_of_closure(session);
  maxSessionRelease(session);
  MaxBuffer *input = new_vector(4, 1), *output = NULL;
  CHECK(maxModelExecute(model, &input, 1, NULL, &output, 1));
  assert_true(((const float*)data_of(output))[3] == 12);
  maxBufferRelease(output);
  maxBufferRelease(input);
  input = new_vector(4, -1);
  const struct language_error error = take_error(maxModelExecute(model, &input, 1, NULL, &output, 1));
  assert_int_equal(error.status, MAX_STATUS_OUT_OF_RANGE);
  assert_non_null(strstr(error.summary, "ValueError: below zero"));
  maxBufferRelease(input);
  maxModelRelease(model);
}

/*
 * Kernels. cffi: arguments = [ffi.cast("void*", buffer), ffi.new("int*", 3)], sizes = [lib.MAX_KERNEL_ARGUMENT_BUFFER,
 * 4]. Rust: &[Argument] of an enum Buffer(&Buffer) or Value(&dyn Pod), made into two arrays on the stack. Go: values
 * are copied into C memory, buffers are passed as their handles. No language keeps anything alive after the call: the
 * values are copied, and the launch holds the buffers and the module.
 */
static void test_launches_take_handles_and_values(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxModule* module = NULL;
  MaxKernel* kernel = NULL;
  MaxStream* stream = NULL;
  CHECK(maxModuleCompile(device, "extern \"C\" __global__ void put(int* x, int y) { x[threadIdx.x] = y; }", NULL, NULL,
                         &module));
  CHECK(maxModuleGetKernel(module, "put", &kernel));
  CHECK(maxStreamCreate(device, NULL, &stream));
  MaxBuffer* x = new_buffer(device, MAX_DTYPE_INT32, 1, (const int64_t[]){2});
  MaxBuffer* view = NULL;
  CHECK(maxBufferView(x, MAX_DTYPE_INT32, 1, (const int64_t[]){2}, &view));
  MaxLaunchConfig* config = calloc(1, sizeof *config);
  const void** arguments = calloc(2, sizeof *arguments);
  size_t* sizes = calloc(2, sizeof *sizes);
  int32_t* value = calloc(1, sizeof *value);
  config->structSize = sizeof *config;
  config->block[0] = 2;
  arguments[0] = x;
  sizes[0] = MAX_KERNEL_ARGUMENT_BUFFER;
  arguments[1] = value;
  sizes[1] = sizeof *value;
  *value = 7;
  CHECK(maxKernelLaunch(kernel, config, arguments, sizes, 2, stream));
  free(config);
  free(arguments);
  free(sizes);
  free(value);
  maxBufferRelease(x);
  maxModuleRelease(module);
  CHECK(maxStreamSynchronize(stream, 0));
  assert_int_equal(((const int32_t*)data_of(view))[1], 7);
  maxBufferRelease(view);
  maxStreamRelease(stream);
  maxDeviceRelease(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_errors_are_read_in_one_helper),
      TEST(test_any_order_of_release_is_legal),
      TEST(test_finalizers_run_on_other_threads),
      TEST(test_options_are_zeroed_memory_with_a_size),
      TEST(test_launches_take_handles_and_values),
      TEST(test_lists_are_counts_and_getters),
      TEST(test_shapes_are_a_rank_and_a_pointer),
      TEST(test_enumerations_are_plain_numbers),
      TEST(test_callbacks_own_a_box),
      TEST(test_map_guards),
      TEST(test_slices_are_parallel_arrays),
      TEST(test_values_are_walked_by_count_and_index),
      TEST(test_operators_are_tables_of_callbacks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
