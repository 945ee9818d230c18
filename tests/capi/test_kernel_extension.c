/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel sources that declare operators, and all that can be wrong with them. */
#include <pthread.h>
#include <unistd.h>

#include "models.h"

static MaxSession* session;
static MaxGraph* graph;
static char folder[] = "/tmp/max_kernels_XXXXXX";

static int set_up(void** state) {
  (void)state;
  session = new_session(0);
  graph = new_graph("test");
  return 0;
}

static int tear_down(void** state) {
  maxGraphRelease(graph);
  maxSessionRelease(session);
  return check_no_leaks(state);
}

static MaxStatus load_text(const char* text) {
  char path[64];
  snprintf(path, sizeof path, "%s/test.cu", folder);
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
  const MaxStatus status = maxExtensionLoad(path);
  remove(path);
  return status;
}

static MaxStatus try_node(const char* op, MaxGraphValue* const* inputs, int32_t count, const MaxAttributes* attributes,
                          MaxGraphValue** out) {
  return maxGraphAddNode(graph, "example", op, "it", inputs, count, attributes, out, 1);
}

/* The example's operators: [rows, 100] twice, added and summed by rows. */
static MaxModel* new_example(void) {
  const char* const names[] = {"rows", NULL};
  const int64_t shape[] = {-1, 100};
  MaxGraphValue *inputs[2] = {NULL, NULL}, *sum = NULL, *rows = NULL;
  MaxAttributes* attributes = NULL;
  CHECK(maxGraphAddInput(graph, "a", MAX_DTYPE_FLOAT32, 2, shape, NAMED(names), &inputs[0]));
  CHECK(maxGraphAddInput(graph, "b", MAX_DTYPE_FLOAT32, 2, shape, NAMED(names), &inputs[1]));
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetFloat(attributes, "factor", 3));
  CHECK(try_node("AddScaled", inputs, 2, attributes, &sum));
  maxAttributesRelease(attributes);
  CHECK(try_node("RowSum", &sum, 1, NULL, &rows));
  assert_string_equal(value_info(rows).dimensionNames[0], "rows");
  CHECK(maxGraphAddOutput(graph, rows, "y"));
  MaxModel* model = NULL;
  CHECK(maxModelCompile(session, graph, NULL, &model));
  return model;
}

static void run_example(const MaxModel* model, int64_t rows) {
  const int64_t shape[] = {rows, 100};
  MaxBuffer *inputs[] = {new_floats(2, shape, 1), new_floats(2, shape, 2)}, *output = NULL;
  CHECK(maxModelExecute(model, inputs, 2, NULL, &output, 1));
  for (int64_t i = 0; i < rows; ++i) assert_true(((float*)data_of(output))[i] == 700);
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxBufferRelease(output);
}

static void test_the_example_runs(void** state) {
  (void)state;
  CHECK(maxExtensionLoad(MAX_EXTENSION_KERNELS));
  CHECK(maxExtensionLoad(MAX_EXTENSION_KERNELS));
  MaxModel* model = new_example();
  for (int64_t rows = 0; rows < 100; rows = 3 * rows + 1) run_example(model, rows);
  maxModelRelease(model);
}

static void* run_in_thread(void* model) {
  for (int64_t rows = 1; rows < 20; ++rows) run_example(model, rows);
  return NULL;
}

static void test_threads_share_an_operator(void** state) {
  (void)state;
  pthread_t threads[3];
  CHECK(maxExtensionLoad(MAX_EXTENSION_KERNELS));
  MaxModel* model = new_example();
  for (size_t i = 0; i < COUNT_OF(threads); ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, run_in_thread, model), 0);
  for (size_t i = 0; i < COUNT_OF(threads); ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  maxModelRelease(model);
}

#define KERNELS                                                                                 \
  "extern \"C\" __global__ void f(const float* x, float* y, int n) {\n"                         \
  "  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i % 3] + 0.0f * threadIdx.x;\n" \
  "}\n"                                                                                         \
  "extern \"C\" __global__ void __launch_bounds__(64) h(const int* x, int* y, long long n) {\n" \
  "  for (long long i = threadIdx.x; i < n; i += blockDim.x) y[i] = (int)n + x[0];\n"           \
  "}\n"
#define OPERATOR(name) "//@ operator example." name "\n//@ inputs x\n//@ outputs y\n"
#define REST "//@ grid 1\n//@ block 32\n//@ arguments x, y, y.size\n"
#define TYPES "//@ types T->T; T=float32|int32\n"

static void test_sizes_are_computed_from_shapes_and_attributes(void** state) {
  (void)state;
  CHECK(load_text(OPERATOR(
      "Sizes") "//@ types T->T; T=float32|int32|int64\n//@ attribute extra int 2\n"
               "//@ kernel f float32\n//@ kernel h int32\n"
               "//@ shape y = [min(x.0, 4) * 2 - 1 + extra, max(x.rank, x.size % 2), (x.0 + 1) / 2]\n" REST KERNELS));
  const int64_t shape[] = {3}, expected[] = {3 * 2 - 1 + 5, 1, 2};
  MaxGraphValue *x = add_input(graph, "x", MAX_DTYPE_INT32, 1, shape), *y = NULL, *wrong = NULL;
  MaxAttributes* attributes = NULL;
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetInt(attributes, "extra", 5));
  CHECK(try_node("Sizes", &x, 1, attributes, &y));
  CHECK(maxAttributesSetInt(attributes, "extra", -9));
  CHECK_FAILS(try_node("Sizes", &x, 1, attributes, &wrong), MAX_STATUS_INVALID_ARGUMENT, "would have the shape");
  maxAttributesRelease(attributes);
  assert_memory_equal(value_info(y).shape, expected, sizeof expected);
  CHECK(maxGraphAddOutput(graph, y, "y"));
  MaxModel* model = NULL;
  CHECK(maxModelCompile(session, graph, NULL, &model));
  MaxDevice* cpu = open_cpu();
  MaxBuffer *input = new_counting(cpu, 1, shape), *output = execute(model, input);
  assert_int_equal(((int32_t*)data_of(output))[19], 20);
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
  x = add_input(graph, "other", MAX_DTYPE_INT64, 1, shape);
  CHECK_FAILS(try_node("Sizes", &x, 1, NULL, &y), MAX_STATUS_INVALID_ARGUMENT, "declares no kernel for int64");
  x = add_input(graph, "scalar", MAX_DTYPE_FLOAT32, 0, NULL);
  CHECK_FAILS(try_node("Sizes", &x, 1, NULL, &y), MAX_STATUS_INVALID_ARGUMENT, "'x.0': 'x' has 0 dimensions");
}

static void test_inputs_must_agree(void** state) {
  (void)state;
  MaxModel* model = NULL;
  MaxGraphValue* inputs[] = {add_input(graph, "a", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1}),
                             add_input(graph, "b", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){7}),
                             add_input(graph, "c", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){8})};
  MaxGraphValue* y = NULL;
  CHECK(maxExtensionLoad(MAX_EXTENSION_KERNELS));
  CHECK_FAILS(try_node("AddScaled", inputs + 1, 2, NULL, &y), MAX_STATUS_INVALID_ARGUMENT,
              "'a' and 'b' have the shapes [7] and [8], which must be equal");
  CHECK(try_node("AddScaled", inputs, 2, NULL, &y));
  CHECK(maxGraphAddOutput(graph, y, "y"));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  MaxBuffer *buffers[] = {new_vector(9, 1), new_vector(7, 1), new_vector(8, 1)}, *output = NULL;
  CHECK_FAILS(maxModelExecute(model, buffers, 3, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT, "which must be equal");
  for (int i = 0; i < 3; ++i) maxBufferRelease(buffers[i]);
  maxModelRelease(model);
}

static void test_launches_that_are_refused(void** state) {
  (void)state;
  static const struct {
    const char *what, *message;
  } cases[] = {
      {"LargeBlock", "extension '/tmp/max_kernels_"},
      {"LargeBlock", "block has 2048 threads; at most 1024 are allowed for kernel 'f'"},
      {"Bounded", "block has 65 threads; at most 64 are allowed for kernel 'h'"},
      {"DeepBlock", "block x.0 * 64 is 128; at most 64 is allowed"},
      {"NoBlock", "block has no threads"},
      {"LargeGrid", "grid 65536 is 65536; at most 65535 is allowed"},
      {"LargeShared", "shared is 1000000 bytes, at most 232448"},
      {"ByZero", "divides by zero"},
  };
  CHECK(load_text(OPERATOR("LargeBlock") TYPES "//@ shape y = like x\n//@ kernel f\n//@ grid 1\n"
                                               "//@ block 64, 32\n//@ arguments x, y, y.size\n" OPERATOR("DeepBlock")
                                                   TYPES
                  "//@ shape y = like x\n//@ kernel f\n//@ grid 1\n"
                  "//@ block 1, 1, x.0 * 64\n//@ arguments x, y, y.size\n" OPERATOR("NoBlock") TYPES
                  "//@ shape y = like x\n//@ kernel f\n//@ grid 1\n"
                  "//@ block x.0 - 2\n//@ arguments x, y, y.size\n" OPERATOR("LargeGrid") TYPES
                  "//@ shape y = like x\n//@ kernel f\n//@ grid 1, 65536\n"
                  "//@ block 32\n//@ arguments x, y, y.size\n" OPERATOR("LargeShared") TYPES
                  "//@ shape y = like x\n//@ kernel f\n//@ grid 1\n"
                  "//@ block 32\n//@ shared 1000000\n//@ arguments x, y, y.size\n" OPERATOR("ByZero") TYPES
                  "//@ shape y = like x\n//@ kernel f\n//@ grid 1 / (x.0 - 2)\n"
                  "//@ block 32\n//@ arguments x, y, y.size\n" OPERATOR("Bounded") TYPES
                  "//@ shape y = like x\n//@ kernel h\n//@ grid 1\n"
                  "//@ block 65\n//@ arguments x, y, y.size\n" KERNELS));
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    maxGraphRelease(graph);
    graph = new_graph("test");
    MaxGraphValue *x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){-1}), *y = NULL;
    MaxModel* model = NULL;
    CHECK(try_node(cases[i].what, &x, 1, NULL, &y));
    CHECK(maxGraphAddOutput(graph, y, "y"));
    CHECK(maxModelCompile(session, graph, NULL, &model));
    MaxBuffer *input = new_vector(2, 1), *output = NULL;
    CHECK_FAILS(maxModelExecute(model, &input, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT, cases[i].message);
    assert_non_null(strstr(maxGetLastErrorMessage(), "node 'it' (example."));
    maxBufferRelease(input);
    maxModelRelease(model);
  }
}

#define GOOD OPERATOR("Bad") TYPES "//@ shape y = like x\n//@ kernel f\n"

static void test_declarations_that_are_refused(void** state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "declares no operators"},
      {"//@ inputs x\n", "test.cu:1: 'operator DOMAIN.NAME' must come first"},
      {"\n//@ operator Bad\n", "test.cu:2: an operator has the form DOMAIN.NAME"},
      {"//@ operator a.b c\n", "test.cu:1: an operator has the form DOMAIN.NAME"},
      {"//@ operator a.b\n//@ colour red\n", "test.cu:2: 'colour' is not operator, inputs"},
      {"//@ operator a.b\n//@ inputs x 2\n", "'2' is not a name"},
      {"//@ operator a.b\n//@ inputs x x\n", "the name 'x' occurs twice"},
      {"//@ operator a.b\n//@ outputs y\n", "operator 'a.b' has no inputs"},
      {"//@ operator a.b\n//@ attribute k int\n", "an attribute has the form"},
      {"//@ operator a.b\n//@ attribute k int 1.5\n", "an attribute has the form"},
      {OPERATOR("Bad") "//@ shape z = like x\n", "there is no output 'z'"},
      {OPERATOR("Bad") "//@ shape y like x\n", "a shape has the form"},
      {OPERATOR("Bad") "//@ shape y = like y\n", "there is no input 'y'"},
      {OPERATOR("Bad") "//@ shape y = broadcast x\n", "a shape has the form"},
      {OPERATOR("Bad") "//@ shape y = [x.0,]\n", "'' is not a size: unexpected end"},
      {OPERATOR("Bad") "//@ shape y = [x.0 x.1]\n", "an operator is missing before 'x.1'"},
      {OPERATOR("Bad") "//@ shape y = [(x.0]\n", "a parenthesis is not closed"},
      {OPERATOR("Bad") "//@ shape y = [x.0)]\n", "has no opening parenthesis"},
      {OPERATOR("Bad") "//@ shape y = [-1]\n", "a value or an operator is missing before '-1'"},
      {OPERATOR("Bad") "//@ shape y = [x.16]\n", "there is no dimension 16"},
      {OPERATOR("Bad") "//@ shape y = [x.width]\n", "'.width' is not .size, .rank or the number of a dimension"},
      {OPERATOR("Bad") "//@ shape y = [min(1)]\n", "min and max take two values"},
      {OPERATOR("Bad") "//@ shape y = [1 ^ 2]\n", "'^' is not an operator"},
      {OPERATOR("Bad") "//@ shape y = [99999999999999999999]\n", "a number is missing or too large"},
      {OPERATOR("Bad") "//@ kernel f floaty\n", "a kernel has the form NAME or NAME TYPE"},
      {OPERATOR("Bad") "//@ grid 1, 1, 1, 1\n", "there are 4 sizes, at most 3"},
      {OPERATOR("Bad") TYPES "//@ shape y = [y.0]\n//@ kernel f\n" REST, "'y' is not a value known here"},
      {OPERATOR("Bad") TYPES "//@ shape y = [n]\n//@ kernel f\n" REST, "'n' is not an attribute of type int"},
      {OPERATOR("Bad") TYPES "//@ kernel f\n" REST, "has no shape of output 'y'"},
      {OPERATOR("Bad") "//@ types floaty->float32\n//@ shape y = like x\n//@ kernel f\n" REST KERNELS, "floaty"},
      {OPERATOR("Bad") TYPES "//@ shape y = like x\n//@ kernel g\n" REST KERNELS, "the source has no kernel 'g'"},
      {GOOD "//@ grid 1\n//@ block 1\n//@ arguments x, y\n" KERNELS,
       "test.cu:1: operator 'example.Bad': kernel 'f' has 3 parameters, the declaration 2 arguments"},
      {GOOD "//@ grid 1\n//@ block 1\n//@ arguments x, y, x\n" KERNELS, "parameter 2 of kernel 'f' has 4 bytes, 'x' 8"},
      {GOOD REST "void wrong() { return nothing; }\n" KERNELS, "nothing"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i)
    CHECK_FAILS(load_text(cases[i].text), MAX_STATUS_INVALID_ARGUMENT, cases[i].message);
  CHECK(load_text(OPERATOR("Once") TYPES "//@ shape y = like x\n//@ kernel f\n" REST KERNELS));
  CHECK_FAILS(load_text("\n" OPERATOR("Once") TYPES "//@ shape y = like x\n//@ kernel f\n" REST KERNELS),
              MAX_STATUS_ALREADY_EXISTS, "is already defined, by extension '");
  CHECK_FAILS(maxExtensionLoad("/tmp/no/such.cu"), MAX_STATUS_NOT_FOUND, "/tmp/no/such.cu");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(test_the_example_runs),
      CASE(test_threads_share_an_operator),
      CASE(test_sizes_are_computed_from_shapes_and_attributes),
      CASE(test_inputs_must_agree),
      CASE(test_launches_that_are_refused),
      CASE(test_declarations_that_are_refused),
  };
  if (!mkdtemp(folder)) return 1;
  setenv("MAX_CACHE_DIR", folder, 1);
  const int result = cmocka_run_group_tests_name("kernel extension", tests, NULL, NULL);
  char command[64];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) == 0 ? result : 1;
}
