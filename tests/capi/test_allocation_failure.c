/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of a load and of a run fails once: the call answers RESOURCE_EXHAUSTED (or does without that memory),
 * nothing leaks, and the next call works. This program takes malloc's place. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAN_FAIL 0
#else
#define CAN_FAIL 1
#endif

#define MOST_TRIALS 10000 /* of one model; more allocations than that are sampled */
#define NEVER INT64_MAX

static int64_t chosen = NEVER; /* the one trial that is asked for */
static const char* chosenModel;
static int64_t allocations; /* made so far; one thread allocates here */
static int64_t failing = NEVER;
static int64_t live; /* blocks that were not freed */

#if CAN_FAIL
/* glibc's own functions under the names that malloc's replacements may use. */
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* pointer, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* pointer);

static int fails(void) {
  if (allocations++ != failing) return 0;
  errno = ENOMEM;
  return 1;
}

static void* counted(void* block) {
  if (block) ++live;
  return block;
}

void* malloc(size_t size) { return fails() ? NULL : counted(__libc_malloc(size)); }
void* calloc(size_t count, size_t size) { return fails() ? NULL : counted(__libc_calloc(count, size)); }
void* aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : counted(__libc_memalign(alignment, size));
}

void* realloc(void* pointer, size_t size) {
  if (fails()) return NULL;
  void* block = __libc_realloc(pointer, size);
  if (!pointer && block) ++live;
  return block;
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = fails() ? NULL : counted(__libc_memalign(alignment, size));
  return *out ? 0 : ENOMEM;
}

void free(void* pointer) {
  if (pointer) --live;
  __libc_free(pointer);
}

void* mmap(void* address, size_t length, int protection, int flags, int file, off_t offset) {
  if (fails()) return MAP_FAILED;
  void* block = (void*)syscall(SYS_mmap, address, length, protection, flags, file, offset);
  if (block != MAP_FAILED) ++live;
  return block;
}

int munmap(void* address, size_t length) {
  --live;
  return (int)syscall(SYS_munmap, address, length);
}
#endif

#define MOST_INPUTS 8
#define MOST_OUTPUTS 8

struct Trial {
  MaxSession* session;
  const char* path;
  MaxBuffer* inputs[MOST_INPUTS];
  MaxValue* values[MOST_INPUTS];
  int takesValues; /* some input or output is not a tensor */
  int32_t inputCount;
  int32_t outputCount;
};

/* Zeros, or words. An element of a sequence is a vector. */
static MaxBuffer* make_input(const MaxModel* model, int32_t index) {
  static const char* const words[] = {"one two", "", "three", "4"};
  const MaxTensorInfo info = input_of(model, index);
  MaxBuffer* buffer = NULL;
  int32_t rank = info.rank;
  int64_t dims[16];
  for (int32_t i = 0; i < rank; ++i) dims[i] = info.shape[i] == MAX_DIMENSION_DYNAMIC ? 2 : info.shape[i];
  if (info.kind != MAX_VALUE_KIND_TENSOR) dims[0] = 2, rank = 1;
  if (info.dtype == MAX_DTYPE_STRING) {
    int64_t count = 1;
    for (int32_t i = 0; i < rank; ++i) count *= dims[i];
    assert_true(count <= (int64_t)COUNT_OF(words));
    CHECK(maxBufferCreateStrings(info.device, words, NULL, rank, dims, &buffer));
    return buffer;
  }
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.zeroed = 1;
  CHECK(maxBufferCreate(info.device, info.dtype, rank, dims, &options, &buffer));
  return buffer;
}

/* A sequence of two tensors, or the tensor. */
static MaxValue* make_value(const MaxModel* model, int32_t index, MaxBuffer* buffer) {
  MaxValue *tensor = NULL, *sequence = NULL;
  CHECK(maxValueCreateTensor(buffer, &tensor));
  if (input_of(model, index).kind == MAX_VALUE_KIND_TENSOR) return tensor;
  MaxValue* const pair[] = {tensor, tensor};
  CHECK(maxValueCreateSequence(pair, 2, &sequence));
  maxValueRelease(tensor);
  return sequence;
}

static int has_values(const MaxModel* model, int32_t inputCount, int32_t outputCount) {
  MaxValueKind kind = MAX_VALUE_KIND_TENSOR;
  for (int32_t i = 0; i < inputCount && kind == MAX_VALUE_KIND_TENSOR; ++i) kind = input_of(model, i).kind;
  for (int32_t i = 0; i < outputCount && kind == MAX_VALUE_KIND_TENSOR; ++i) kind = output_of(model, i).kind;
  return kind != MAX_VALUE_KIND_TENSOR;
}

static MaxStatus execute_values(const struct Trial* trial, const MaxModel* model) {
  MaxValue* outputs[MOST_OUTPUTS] = {NULL};
  const MaxStatus status =
      maxModelExecuteValues(model, trial->values, trial->inputCount, NULL, outputs, trial->outputCount);
  for (int32_t i = 0; i < trial->outputCount; ++i) {
    if ((status == MAX_STATUS_OK) != (outputs[i] != NULL)) fail_msg("output %d of a call with status %d", i, status);
    maxValueRelease(outputs[i]);
  }
  return status;
}

static MaxStatus execute(const struct Trial* trial, const MaxModel* model) {
  if (trial->takesValues) return execute_values(trial, model);
  MaxBuffer* outputs[MOST_OUTPUTS] = {NULL};
  const MaxStatus status = maxModelExecute(model, trial->inputs, trial->inputCount, NULL, outputs, trial->outputCount);
  for (int32_t i = 0; i < trial->outputCount; ++i) {
    if ((status == MAX_STATUS_OK) != (outputs[i] != NULL)) fail_msg("output %d of a call with status %d", i, status);
    maxBufferRelease(outputs[i]);
  }
  return status;
}

/* Loads and runs without failures, so that what is made once per process is there. */
static void set_up_trial(struct Trial* trial, const char* path) {
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.threadCount = 1;
  MaxModel* model = NULL;
  trial->path = path;
  CHECK(maxSessionCreate(&options, &trial->session));
  CHECK(maxExtensionLoad(MAX_EXTENSION_LIBRARY));
  CHECK(maxModelLoad(trial->session, path, NULL, &model));
  CHECK(maxModelGetInputCount(model, &trial->inputCount));
  CHECK(maxModelGetOutputCount(model, &trial->outputCount));
  assert_true(trial->inputCount <= MOST_INPUTS && trial->outputCount <= MOST_OUTPUTS);
  for (int32_t i = 0; i < trial->inputCount; ++i) {
    trial->inputs[i] = make_input(model, i);
    trial->values[i] = make_value(model, i, trial->inputs[i]);
  }
  trial->takesValues = has_values(model, trial->inputCount, trial->outputCount);
  CHECK(execute(trial, model));
  maxModelRelease(model);
  /* The message of a failure has its place from now on. */
  assert_int_not_equal(maxModelLoad(trial->session, "/a/rather/long/path/of/a/model/that/is/not/there", NULL, &model),
                       MAX_STATUS_OK);
}

static void tear_down_trial(struct Trial* trial) {
  for (int32_t i = 0; i < trial->inputCount; ++i) {
    maxValueRelease(trial->values[i]);
    maxBufferRelease(trial->inputs[i]);
  }
  maxSessionRelease(trial->session);
}

static void check_status(const struct Trial* trial, const char* what, int64_t index, MaxStatus status) {
  if (status == MAX_STATUS_OK || status == MAX_STATUS_RESOURCE_EXHAUSTED) return;
  fail_msg("%s: allocation %lld of the %s: %s: %s", trial->path, (long long)index, what, maxStatusGetName(status),
           maxGetLastErrorMessage());
}

/* A load and a run of which the allocation with this number fails; returns how many allocations there were. */
static int64_t load_and_run(const struct Trial* trial, int64_t index, int* exhausted) {
  MaxModel* model = NULL;
  const int64_t first = allocations;
  failing = index == NEVER ? NEVER : first + index;
  const MaxStatus loaded = maxModelLoad(trial->session, trial->path, NULL, &model);
  check_status(trial, "load", index, loaded);
  const MaxStatus ran = model ? execute(trial, model) : MAX_STATUS_OK;
  const int64_t made = allocations - first;
  failing = NEVER;
  check_status(trial, "run", index, ran);
  *exhausted += loaded != MAX_STATUS_OK || ran != MAX_STATUS_OK;
  if (model) CHECK(execute(trial, model)); /* it is usable after the failure */
  maxModelRelease(model);
  return made;
}

static void fail_each_allocation(const char* path) {
  if (!CAN_FAIL) skip();
  if (access(path, R_OK) != 0) {
    print_message("%s is not there\n", path);
    skip();
  }
  struct Trial trial = {0};
  set_up_trial(&trial, path);
  int exhausted = 0, trials = 0;
  const int64_t count = load_and_run(&trial, NEVER, &exhausted);
  load_and_run(&trial, NEVER, &exhausted);
  const int64_t stride = count / MOST_TRIALS + 1, before = live, objects = live_objects();
  for (int64_t i = 0; i < count; i += stride, ++trials) {
    if (chosen != NEVER) i = chosen;
    load_and_run(&trial, i, &exhausted);
    if (live != before || live_objects() != objects)
      fail_msg("%s: after a failure of allocation %lld: %lld blocks, %lld objects too many", path, (long long)i,
               (long long)(live - before), (long long)(live_objects() - objects));
    if (chosen != NEVER) break;
  }
  print_message("%s: %d of %lld allocations failed, %d calls ended so\n", path, trials, (long long)count, exhausted);
  assert_true(exhausted >= trials / 2);
  tear_down_trial(&trial);
}

static void a_child_starts(const char* path, int64_t index) {
  MaxSession* session = NULL;
  MaxModel* model = NULL;
  failing = allocations + index;
  const MaxStatus opened = maxSessionCreate(NULL, &session);
  const MaxStatus loaded = session ? maxModelLoad(session, path, NULL, &model) : opened;
  failing = NEVER;
  if (loaded != MAX_STATUS_OK && loaded != MAX_STATUS_RESOURCE_EXHAUSTED) _exit(1);
  maxModelRelease(model);
  maxSessionRelease(session);
  if (maxSessionCreate(NULL, &session) != MAX_STATUS_OK) _exit(2);
  if (maxModelLoad(session, path, NULL, &model) != MAX_STATUS_OK) _exit(3);
  maxModelRelease(model);
  maxSessionRelease(session);
  _exit(live_objects() == 0 ? 0 : 4);
}

/* In a new process each, where tables that are made once are not there yet. Runs before all other tests. */
static void first_loads_survive(void** state) {
  (void)state;
  if (!CAN_FAIL) skip();
  for (int64_t i = 0; i < 6000; i += 1 + i / 40) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      a_child_starts(MAX_TEST_DATA "/models/branch.onnx", i);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0) fail_msg("allocation %d of a new process: the child ended with status %d", (int)i, status);
  }
}

static MaxStatus infer_like(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  (void)user_data;
  (void)node;
  return maxShapeContextSetOutputLike(context, 0, 0);
}

static MaxStatus do_nothing(void* user_data, const MaxOperatorNode* node, void* state, const MaxOperatorCall* call) {
  (void)user_data;
  (void)node;
  (void)state;
  (void)call;
  return MAX_STATUS_OK;
}

/* Each allocation of a call that adds two operators fails once; the same call adds them then. */
static void operators_are_added_after_failures(void** state) {
  (void)state;
  if (!CAN_FAIL) skip();
  MaxSession* session = NULL;
  MaxGraph* graph = NULL;
  MaxGraphValue *x = NULL, *y = NULL;
  CHECK(maxSessionCreate(NULL, &session));
  CHECK(maxGraphCreate("test", &graph));
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 0, NULL, NULL, &x));
  MaxStatus status = MAX_STATUS_RESOURCE_EXHAUSTED;
  int64_t index = 0;
  for (; status != MAX_STATUS_OK; ++index) {
    char names[2][64];
    MaxOperator rows[2] = {MAX_OPERATOR_INIT, MAX_OPERATOR_INIT};
    const MaxOperator* operators[] = {&rows[0], &rows[1]};
    MaxExtensionTable table = MAX_EXTENSION_TABLE_INIT;
    for (int i = 0; i < 2; ++i) {
      snprintf(names[i], sizeof names[i], "AnOperatorWithALongName%lld_%d", (long long)index, i);
      rows[i].domain = "a.domain.with.a.long.name";
      rows[i].name = names[i];
      rows[i].types = "T->T; T=float32";
      rows[i].minInputs = rows[i].maxInputs = rows[i].minOutputs = rows[i].maxOutputs = 1;
      rows[i].infer = infer_like;
      rows[i].execute = do_nothing;
    }
    table.abiVersion = MAX_EXTENSION_ABI_VERSION;
    table.operatorCount = 2;
    table.operators = operators;
    failing = allocations + index;
    status = maxExtensionAdd("an extension with a long name", &table);
    failing = NEVER;
    if (status != MAX_STATUS_OK) assert_int_equal(status, MAX_STATUS_RESOURCE_EXHAUSTED);
    CHECK(maxExtensionAdd("an extension with a long name", &table));
    for (int i = 0; i < 2; ++i) CHECK(maxGraphAddNode(graph, rows[i].domain, names[i], NULL, &x, 1, NULL, &y, 1));
  }
  assert_true(index > 10);
  maxGraphRelease(graph);
  maxSessionRelease(session);
}

#define MODEL_TEST(name, path)     \
  static void name(void** state) { \
    (void)state;                   \
    fail_each_allocation(path);    \
  }
#define CORPUS MAX_TEST_DATA "/../fuzz/corpus/model/"
#define REAL_MODELS MAX_TEST_DATA "/../../build/real_models/"

MODEL_TEST(elementwise, CORPUS "chain.onnx")
MODEL_TEST(a_small_cnn, CORPUS "cnn.onnx")
MODEL_TEST(branches, CORPUS "branches.onnx")
MODEL_TEST(a_loop, CORPUS "loop.onnx")
MODEL_TEST(an_lstm, CORPUS "lstm.onnx")
MODEL_TEST(shapes_that_depend_on_values, CORPUS "nonzero.onnx")
MODEL_TEST(shape_arithmetic, CORPUS "shapes.onnx")
MODEL_TEST(folded_constants, CORPUS "fold.onnx")
MODEL_TEST(attention, CORPUS "attention_4d_with_past_a.onnx")
MODEL_TEST(an_equation, CORPUS "einsum_batch_matmul.onnx")
MODEL_TEST(a_scan, CORPUS "scan_sum.onnx")
MODEL_TEST(quantised, CORPUS "qlinearconv.onnx")
MODEL_TEST(trees, CORPUS "ai_onnx_ml_tree_ensemble.onnx")
MODEL_TEST(unique_values, CORPUS "unique_sorted_with_axis.onnx")
MODEL_TEST(a_sequence, CORPUS "sequence_insert_at_front.onnx")
MODEL_TEST(a_loop_over_sequences, CORPUS "loop13_seq.onnx")
MODEL_TEST(strings, CORPUS "string_split_basic.onnx")
MODEL_TEST(compiled, CORPUS "../compiled/conv.maxc")
MODEL_TEST(an_extension, MAX_EXTENSION_MODEL)
MODEL_TEST(a_transformer, MAX_TEST_DATA "/models/tiny_bert.onnx")
MODEL_TEST(digits, MAX_TEST_DATA "/../../examples/digits/digits.onnx")
MODEL_TEST(silero, REAL_MODELS "silero-vad/silero_vad_16k_sequence.onnx")

static void the_chosen_one(void** state) {
  (void)state;
  fail_each_allocation(chosenModel);
}

/* MODEL [NUMBER]: all allocations of that model, or one alone, to look at a failure. */
static int run_chosen(int count, char** arguments) {
  const struct CMUnitTest test[] = {TEST(the_chosen_one)};
  chosenModel = arguments[1];
  if (count > 2) chosen = strtoll(arguments[2], NULL, 10);
  return cmocka_run_group_tests(test, NULL, NULL);
}

int main(int argc, char** argv) {
  if (argc > 1) return run_chosen(argc, argv);
  const struct CMUnitTest tests[] = {
      TEST(first_loads_survive),
      TEST(operators_are_added_after_failures),
      TEST(elementwise),
      TEST(a_small_cnn),
      TEST(branches),
      TEST(a_loop),
      TEST(an_lstm),
      TEST(shapes_that_depend_on_values),
      TEST(shape_arithmetic),
      TEST(folded_constants),
      TEST(attention),
      TEST(an_equation),
      TEST(a_scan),
      TEST(quantised),
      TEST(trees),
      TEST(unique_values),
      TEST(a_sequence),
      TEST(a_loop_over_sequences),
      TEST(strings),
      TEST(compiled),
      TEST(an_extension),
      TEST(a_transformer),
      TEST(digits),
      TEST(silero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
