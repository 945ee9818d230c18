/* SPDX-License-Identifier: Apache-2.0 */
/* Values: strings, sequences, optionals, maps; models that take and give them. */
#include <pthread.h>

#include "check.h"

#define MODEL(name) MAX_TEST_DATA "/models/" name ".onnx"

static MaxModel* load(const char* path) {
  MaxSession* session = NULL;
  MaxModel* model = NULL;
  CHECK(maxSessionCreate(NULL, &session));
  CHECK(maxModelLoad(session, path, NULL, &model));
  maxSessionRelease(session);
  return model;
}

static MaxBuffer* new_strings(int32_t count, const char* const* texts) {
  MaxDevice* cpu = open_cpu();
  const int64_t shape[] = {count};
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferCreateStrings(cpu, texts, NULL, 1, shape, &buffer));
  maxDeviceRelease(cpu);
  return buffer;
}

static MaxBuffer* new_scalar(int64_t value) {
  MaxDevice* cpu = open_cpu();
  MaxBuffer* buffer = new_buffer(cpu, MAX_DTYPE_INT64, 0, NULL);
  *(int64_t*)data_of(buffer) = value;
  maxDeviceRelease(cpu);
  return buffer;
}

/* The value holds the buffer. */
static MaxValue* tensor_value(MaxBuffer* buffer) {
  MaxValue* value = NULL;
  CHECK(maxValueCreateTensor(buffer, &value));
  maxBufferRelease(buffer);
  return value;
}

static void expect_text(const MaxBuffer* buffer, int64_t index, const char* expected) {
  size_t length = 0;
  assert_string_equal(string_of(buffer, index, &length), expected);
  assert_int_equal(length, strlen(expected));
}

static void expect_number(const MaxBuffer* buffer, int64_t index, float expected) {
  const void* data = NULL;
  CHECK(maxBufferGetData(buffer, &data));
  if (((const float*)data)[index] != expected) fail_msg("%g", (double)((const float*)data)[index]);
}

static MaxBuffer* buffer_of(const MaxValue* value) {
  MaxBuffer* buffer = NULL;
  CHECK(maxValueGetBuffer(value, &buffer));
  return buffer;
}

static MaxBuffer* element_buffer(const MaxValue* value, int32_t index) {
  MaxValue* element = NULL;
  CHECK(maxValueGetElements(value, index, 1, &element));
  return buffer_of(element);
}

static void string_buffers_hold_any_bytes(void** state) {
  (void)state;
  MaxDevice* cpu = open_cpu();
  const char* const texts[] = {"", "a\0b", "\xc3\xa4", "tail"};
  const size_t lengths[] = {0, 3, 2, 2};
  const int64_t shape[] = {2, 2};
  MaxBuffer *buffer = NULL, *column = NULL, *copy = NULL;
  CHECK(maxBufferCreateStrings(cpu, texts, lengths, 2, shape, &buffer));
  size_t length = 0;
  const char* text = string_of(buffer, 1, &length);
  assert_int_equal(length, 3);
  assert_memory_equal(text, "a\0b", 4);
  expect_text(buffer, 0, "");
  expect_text(buffer, 3, "ta");
  /* A column: views and copies keep the strings. */
  const MaxSliceKind kinds[] = {MAX_SLICE_KIND_RANGE, MAX_SLICE_KIND_INDEX};
  const int64_t starts[] = {0, 1}, stops[] = {2, 0}, steps[] = {1, 1};
  CHECK(maxBufferSlice(buffer, kinds, starts, stops, steps, 2, &column));
  maxBufferRelease(buffer);
  CHECK(maxBufferContiguous(column, NULL, &copy));
  maxBufferRelease(column);
  expect_text(copy, 1, "ta");
  maxBufferRelease(copy);
  maxDeviceRelease(cpu);
}

static void strings_come_and_go_in_bulk(void** state) {
  (void)state;
  MaxDevice* cpu = open_cpu();
  /* "on", "", "a\0b" and a byte in front that belongs to none. */
  static const char block[] = "-ona\0b";
  const int64_t offsets[] = {1, 3, 3, 6}, shape[] = {3};
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferCreateStringsFromBytes(cpu, block, 6, offsets, 1, shape, &buffer));
  const char* texts[3] = {NULL, NULL, NULL};
  size_t lengths[3] = {9, 9, 9};
  CHECK(maxBufferGetStrings(buffer, 0, 3, texts, lengths));
  assert_string_equal(texts[0], "on");
  assert_string_equal(texts[1], "");
  assert_memory_equal(texts[2], "a\0b", 4);
  assert_memory_equal(lengths, ((const size_t[]){2, 0, 3}), sizeof lengths);
  CHECK(maxBufferGetStrings(buffer, 2, 1, texts, lengths));
  assert_memory_equal(texts[0], "a\0b", 4);
  maxBufferRelease(buffer);
  const int64_t none[] = {0}, empty[] = {0, 4};
  CHECK(maxBufferCreateStringsFromBytes(cpu, NULL, 0, none, 2, empty, &buffer));
  maxBufferRelease(buffer);
  const int64_t back[] = {3, 1, 3, 6}, beyond[] = {1, 3, 3, 7}, before[] = {-1, 3, 3, 6};
  CHECK_FAILS(maxBufferCreateStringsFromBytes(cpu, block, 6, back, 1, shape, &buffer), MAX_STATUS_OUT_OF_RANGE,
              "Offset 1 of the strings is 1; it must be between 3 and 6");
  CHECK_FAILS(maxBufferCreateStringsFromBytes(cpu, block, 6, beyond, 1, shape, &buffer), MAX_STATUS_OUT_OF_RANGE,
              "Offset 3 of the strings is 7");
  CHECK_FAILS(maxBufferCreateStringsFromBytes(cpu, block, 6, before, 1, shape, &buffer), MAX_STATUS_OUT_OF_RANGE,
              "Offset 0 of the strings is -1");
  CHECK_FAILS(maxBufferCreateStringsFromBytes(cpu, NULL, 6, offsets, 1, shape, &buffer), MAX_STATUS_INVALID_ARGUMENT,
              "'bytes' is NULL");
  CHECK_FAILS(maxBufferCreateStringsFromBytes(cpu, block, 6, NULL, 1, shape, &buffer), MAX_STATUS_INVALID_ARGUMENT,
              "'offsets' is NULL");
  CHECK_FAILS(maxBufferCreateStringsFromBytes(cpu, block, 6, offsets, 1, shape, NULL), MAX_STATUS_INVALID_ARGUMENT,
              "'outBuffer' is NULL");
  assert_null(buffer);
  maxDeviceRelease(cpu);
}

static void strings_are_no_bytes(void** state) {
  (void)state;
  MaxDevice* cpu = open_cpu();
  const char* const texts[] = {"one", "two"};
  MaxBuffer *strings = new_strings(2, texts), *numbers = new_vector(4, 0), *view = NULL;
  const void* data = NULL;
  void* mutable_data = NULL;
  const char* text = NULL;
  size_t size = 1;
  CHECK_FAILS(maxBufferGetData(strings, &data), MAX_STATUS_INVALID_ARGUMENT, "maxBufferGetStrings");
  CHECK_FAILS(maxBufferGetMutableData(strings, &mutable_data), MAX_STATUS_FAILED_PRECONDITION, "read-only");
  CHECK_FAILS(maxBufferView(strings, MAX_DTYPE_INT64, -1, NULL, &view), MAX_STATUS_INVALID_ARGUMENT, "another type");
  CHECK_FAILS(maxBufferView(numbers, MAX_DTYPE_STRING, -1, NULL, &view), MAX_STATUS_UNIMPLEMENTED, "Strings");
  CHECK_FAILS(maxBufferCopy(strings, 0, numbers, 0, 16, NULL), MAX_STATUS_FAILED_PRECONDITION, "read-only");
  CHECK_FAILS(maxBufferCopy(numbers, 0, strings, 0, 16, NULL), MAX_STATUS_INVALID_ARGUMENT, "strings");
  CHECK_FAILS(maxBufferMapToHost(strings, MAX_HOST_ACCESS_READ, &mutable_data), MAX_STATUS_INVALID_ARGUMENT, "mapped");
  CHECK_FAILS(maxBufferCreate(cpu, MAX_DTYPE_STRING, 0, NULL, NULL, &view), MAX_STATUS_UNIMPLEMENTED,
              "maxBufferCreateStrings");
  CHECK_FAILS(maxBufferCreate(cpu, (MaxDType)240, 0, NULL, NULL, &view), MAX_STATUS_INVALID_ARGUMENT, "240");
  CHECK_FAILS(maxBufferGetStrings(numbers, 0, 1, &text, &size), MAX_STATUS_FAILED_PRECONDITION, "not hold strings");
  CHECK_FAILS(maxBufferGetStrings(strings, 1, 2, &text, &size), MAX_STATUS_OUT_OF_RANGE, "The 2 strings from 1 on");
  CHECK_FAILS(maxBufferGetStrings(strings, -1, 1, &text, &size), MAX_STATUS_OUT_OF_RANGE, "there are 2");
  CHECK_FAILS(maxBufferGetStrings(strings, 0, -1, &text, &size), MAX_STATUS_OUT_OF_RANGE, "there are 2");
  CHECK_FAILS(maxBufferGetStrings(strings, 0, 1, NULL, &size), MAX_STATUS_INVALID_ARGUMENT, "'outStrings' is NULL");
  CHECK_FAILS(maxBufferGetStrings(strings, 0, 1, &text, NULL), MAX_STATUS_INVALID_ARGUMENT, "'outLengths' is NULL");
  CHECK(maxBufferGetStrings(strings, 2, 0, NULL, NULL));
  size = info_of(strings).elementSize;
  assert_int_equal(size, 0);
  const char* const missing[] = {"one", NULL};
  const int64_t shape[] = {2};
  CHECK_FAILS(maxBufferCreateStrings(cpu, missing, NULL, 1, shape, &view), MAX_STATUS_INVALID_ARGUMENT, "String 1");
  maxBufferRelease(strings);
  maxBufferRelease(numbers);
  maxDeviceRelease(cpu);
}

static void models_take_and_give_strings(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("strings"));
  const char* const words[] = {"one", "two", "three"};
  for (int round = 0; round < 3; ++round) {
    MaxDevice* cpu = open_cpu();
    const int64_t shape[] = {2};
    MaxBuffer* inputs[] = {new_strings(3, words), new_buffer(cpu, MAX_DTYPE_INT64, 1, shape)};
    MaxBuffer* outputs[2] = {NULL, NULL};
    ((int64_t*)data_of(inputs[1]))[0] = 2;
    ((int64_t*)data_of(inputs[1]))[1] = 0;
    CHECK(maxModelExecute(model, inputs, 2, NULL, outputs, 2));
    maxBufferRelease(inputs[0]); /* results own their strings */
    expect_text(outputs[0], 1, "two!");
    expect_text(outputs[1], 0, "three!");
    expect_text(outputs[1], 1, "one!");
    maxBufferRelease(inputs[1]);
    maxBufferRelease(outputs[0]);
    maxBufferRelease(outputs[1]);
    maxDeviceRelease(cpu);
  }
  maxModelRelease(model);
}

static void sequences_go_in_and_out(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("sequences"));
  const MaxTensorInfo info = input_of(model, 0);
  assert_int_equal(info.kind, MAX_VALUE_KIND_SEQUENCE);
  assert_int_equal(info.dtype, MAX_DTYPE_FLOAT32);
  assert_string_equal(info.typeName, "sequence of float32");
  assert_int_equal(info.rank, MAX_RANK_DYNAMIC);
  assert_int_equal(info.validMask & (MAX_TENSOR_INFO_RANK | MAX_TENSOR_INFO_SHAPE | MAX_TENSOR_INFO_DIMENSION_NAMES),
                   0);
  assert_null(info.shape);
  assert_null(info.dimensionNames);
  assert_int_equal(output_of(model, 1).kind, MAX_VALUE_KIND_TENSOR);

  for (int64_t count = 0; count < 3; ++count) {
    MaxValue* elements[] = {tensor_value(new_vector(2, 0)), tensor_value(new_vector(3, 10))};
    MaxValue* inputs[2] = {NULL, tensor_value(new_vector(1, 7))};
    MaxValue* outputs[3] = {NULL, NULL, NULL};
    CHECK(maxValueCreateSequence(elements, (int32_t)count, &inputs[0]));
    maxValueRelease(elements[0]);
    maxValueRelease(elements[1]);
    CHECK(maxModelExecuteValues(model, inputs, 2, NULL, outputs, 3));
    maxValueRelease(inputs[0]);
    maxValueRelease(inputs[1]);
    int32_t length = -1;
    CHECK(maxValueGetCount(outputs[0], &length));
    assert_int_equal(length, count + 1);
    expect_number(element_buffer(outputs[0], length - 1), 0, 7);
    const void* data = NULL;
    CHECK(maxBufferGetData(buffer_of(outputs[1]), &data));
    assert_int_equal(*(const int64_t*)data, count + 1);
    expect_number(buffer_of(outputs[2]), count == 0 ? 0 : count == 1 ? 2 : 5, 7);
    for (size_t i = 0; i < 3; ++i) maxValueRelease(outputs[i]);
  }
  maxModelRelease(model);
}

static void optionals_may_be_empty(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("optional"));
  MaxValue* tensor = tensor_value(new_vector(2, 5));
  MaxValue* inputs[3] = {NULL, NULL, tensor}; /* what it would hold is taken, too */
  CHECK(maxValueCreateOptional(NULL, &inputs[0]));
  CHECK(maxValueCreateOptional(tensor, &inputs[1]));
  for (int i = 0; i < 3; ++i) {
    MaxValue* outputs[2] = {NULL, NULL};
    CHECK(maxModelExecuteValues(model, &inputs[i], 1, NULL, outputs, 2));
    const void* has = NULL;
    CHECK(maxBufferGetData(buffer_of(outputs[0]), &has));
    assert_int_equal(*(const uint8_t*)has, i > 0);
    MaxValueKind kind = -1;
    CHECK(maxValueGetKind(outputs[1], &kind));
    assert_int_equal(kind, i < 2 ? MAX_VALUE_KIND_OPTIONAL : MAX_VALUE_KIND_TENSOR);
    if (i == 1) expect_number(element_buffer(outputs[1], 0), 1, 6);
    maxValueRelease(outputs[0]);
    maxValueRelease(outputs[1]);
  }
  for (int i = 0; i < 3; ++i) maxValueRelease(inputs[i]);
  maxModelRelease(model);
}

static void loops_carry_strings_and_sequences(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("loop"));
  for (int64_t n = 0; n < 40; n += 13) {
    MaxValue* input = tensor_value(new_scalar(n));
    MaxValue* outputs[3] = {NULL, NULL, NULL};
    CHECK(maxModelExecuteValues(model, &input, 1, NULL, outputs, 3));
    maxValueRelease(input);
    int32_t count = -1;
    CHECK(maxValueGetCount(outputs[0], &count));
    assert_int_equal(count, n);
    size_t length = 0;
    string_of(buffer_of(outputs[1]), 0, &length);
    assert_int_equal(length, n);
    for (int64_t i = 0; i < n; ++i) {
      const void* data = NULL;
      CHECK(maxBufferGetData(element_buffer(outputs[0], (int32_t)i), &data));
      assert_int_equal(*(const int64_t*)data, i);
      string_of(buffer_of(outputs[2]), i, &length);
      assert_int_equal(length, i + 1);
    }
    for (size_t i = 0; i < 3; ++i) maxValueRelease(outputs[i]);
  }
  maxModelRelease(model);
}

/* `count` times the text. */
static void expect_repeated(const MaxBuffer* buffer, int64_t index, const char* part, int count, const char* end) {
  char expected[400] = "";
  for (int i = 0; i < count; ++i) strcat(expected, part);
  strcat(expected, end);
  expect_text(buffer, index, expected);
}

static void run_nested(const MaxModel* model, const char* word, int64_t n, const MaxModelExecuteOptions* options) {
  char marked[40];
  snprintf(marked, sizeof marked, "!%s", word);
  MaxBuffer* inputs[] = {new_strings(1, &word), new_scalar(n)};
  MaxBuffer* outputs[2] = {NULL, NULL};
  CHECK(maxModelExecute(model, inputs, 2, options, outputs, 2));
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  int64_t count = info_of(outputs[0]).elementCount;
  assert_int_equal(count, n / 2);
  for (int i = 0; i < n / 2; ++i) expect_repeated(outputs[0], i, word, 4 * (i + 1), marked);
  for (int i = 0; i < n; ++i) expect_repeated(outputs[1], i, word, 2 * (i + 1), "");
  maxBufferRelease(outputs[0]);
  maxBufferRelease(outputs[1]);
}

static void strings_pass_through_nested_bodies(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("nested"));
  run_nested(model, "ab", 5, NULL);
  run_nested(model, "", 2, NULL);
  run_nested(model, "a longer word", 9, NULL);
  /* A failure on the way leaves nothing behind. */
  const char* const words[] = {"x"};
  MaxBuffer* inputs[] = {new_strings(1, words), new_scalar(1)};
  MaxBuffer* outputs[2] = {NULL, NULL};
  CHECK_FAILS(maxModelExecute(model, inputs, 2, NULL, outputs, 2), MAX_STATUS_INVALID_ARGUMENT, "sequence is empty");
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  run_nested(model, "ab", 5, NULL);
  /* On a created stream the call waits inside. */
  MaxDevice* cpu = open_cpu();
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  CHECK(maxStreamCreate(cpu, NULL, &options.stream));
  run_nested(model, "stream", 4, &options);
  maxStreamRelease(options.stream);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
}

static void* run_often(void* model) {
  for (int64_t i = 0; i < 20; ++i) run_nested(model, i % 2 ? "odd" : "even", 2 + i % 5, NULL);
  return NULL;
}

static void threads_share_a_model_of_strings(void** state) {
  (void)state;
  MaxModel* model = load(MODEL("nested"));
  pthread_t threads[4];
  for (size_t i = 0; i < 4; ++i) assert_int_equal(pthread_create(&threads[i], NULL, run_often, model), 0);
  for (size_t i = 0; i < 4; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  maxModelRelease(model);
}

/* Each node joins its input with itself: of a text, or of a tensor by way of a sequence. */
static MaxModel* new_doubling(MaxSession* session, int sequences, int times) {
  MaxGraph* graph = NULL;
  MaxGraphValue* value = NULL;
  MaxModel* model = NULL;
  MaxAttributes* attributes = NULL;
  const char* const word = "0123456789";
  CHECK(maxGraphCreate("bomb", &graph));
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxAttributesSetInt(attributes, "axis", 0));
  MaxBuffer* first = sequences ? new_vector(100, 0) : new_strings(1, &word);
  CHECK(maxGraphAddConstant(graph, NULL, first, &value));
  maxBufferRelease(first);
  for (int i = 0; i < times; ++i) {
    MaxGraphValue* pair[] = {value, value};
    MaxGraphValue* joined = NULL;
    const char* op = sequences ? "SequenceConstruct" : "StringConcat";
    CHECK(maxGraphAddNode(graph, NULL, op, NULL, pair, 2, NULL, &joined, 1));
    if (sequences)
      CHECK(maxGraphAddNode(graph, NULL, "ConcatFromSequence", NULL, &joined, 1, attributes, &value, 1));
    else
      value = joined;
  }
  CHECK(maxGraphAddOutput(graph, value, "y"));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  maxAttributesRelease(attributes);
  maxGraphRelease(graph);
  return model;
}

static void limits_of_memory_hold_for_strings_and_sequences(void** state) {
  (void)state;
  MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
  options.memoryLimit = 32 << 20;
  MaxSession* session = NULL;
  CHECK(maxSessionCreate(&options, &session));
  for (int sequences = 0; sequences < 2; ++sequences) {
    MaxModel *bomb = new_doubling(session, sequences, 40), *small = new_doubling(session, sequences, 3);
    for (int turn = 0; turn < 2; ++turn) {
      MaxBuffer* output = NULL;
      CHECK_FAILS(maxModelExecute(bomb, NULL, 0, NULL, &output, 1), MAX_STATUS_RESOURCE_EXHAUSTED, "limit");
      CHECK(maxModelExecute(small, NULL, 0, NULL, &output, 1));
      maxBufferRelease(output);
    }
    maxModelRelease(bomb);
    maxModelRelease(small);
  }
  maxSessionRelease(session);
}

static void graphs_built_in_code_take_values(void** state) {
  (void)state;
  MaxSession* session = NULL;
  MaxGraph* graph = NULL;
  MaxModel* model = NULL;
  MaxGraphValue *input = NULL, *maybe = NULL, *length = NULL, *has = NULL;
  CHECK(maxSessionCreate(NULL, &session));
  CHECK(maxGraphCreate("values", &graph));
  CHECK_FAILS(maxGraphAddValueInput(graph, "m", MAX_VALUE_KIND_MAP, MAX_DTYPE_INT64, &input),
              MAX_STATUS_INVALID_ARGUMENT, "kind 3");
  CHECK_FAILS(maxGraphAddValueInput(graph, "s", MAX_VALUE_KIND_SEQUENCE, 240, &input), MAX_STATUS_INVALID_ARGUMENT,
              "240");
  CHECK(maxGraphAddValueInput(graph, "s", MAX_VALUE_KIND_SEQUENCE, MAX_DTYPE_FLOAT32, &input));
  CHECK(maxGraphAddValueInput(graph, "o", MAX_VALUE_KIND_OPTIONAL, MAX_DTYPE_STRING, &maybe));
  assert_int_equal(value_info(input).kind, MAX_VALUE_KIND_SEQUENCE);
  assert_int_equal(value_info(maybe).dtype, MAX_DTYPE_STRING);
  CHECK(maxGraphAddNode(graph, NULL, "SequenceLength", NULL, &input, 1, NULL, &length, 1));
  CHECK(maxGraphAddNode(graph, NULL, "OptionalHasElement", NULL, &maybe, 1, NULL, &has, 1));
  assert_int_equal(value_info(length).kind, MAX_VALUE_KIND_TENSOR);
  CHECK(maxGraphAddOutput(graph, length, "length"));
  CHECK(maxGraphAddOutput(graph, has, "has"));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  MaxValue *inputs[2] = {NULL, NULL}, *outputs[2] = {NULL, NULL};
  CHECK(maxValueCreateSequence(NULL, 0, &inputs[0]));
  CHECK(maxValueCreateOptional(NULL, &inputs[1]));
  CHECK(maxModelExecuteValues(model, inputs, 2, NULL, outputs, 2));
  const void* data = NULL;
  CHECK(maxBufferGetData(buffer_of(outputs[0]), &data));
  assert_int_equal(*(const int64_t*)data, 0);
  for (size_t i = 0; i < 2; ++i) {
    maxValueRelease(inputs[i]);
    maxValueRelease(outputs[i]);
  }
  maxModelRelease(model);
  maxGraphRelease(graph);
  maxSessionRelease(session);
}

static void maps_pair_keys_with_values(void** state) {
  (void)state;
  const char* const names[] = {"yes", "no"};
  const char* const twice[] = {"yes", "yes"};
  MaxBuffer *keys = new_strings(2, names), *same = new_strings(2, twice), *values = new_vector(2, 1), *found = NULL;
  MaxBuffer* more = new_vector(3, 1);
  MaxValue *map = NULL, *sequence = NULL, *element = NULL;
  CHECK_FAILS(maxValueCreateMap(same, values, &map), MAX_STATUS_INVALID_ARGUMENT, "twice");
  CHECK_FAILS(maxValueCreateMap(keys, more, &map), MAX_STATUS_INVALID_ARGUMENT, "2 keys and 3 values");
  CHECK_FAILS(maxValueCreateMap(values, values, &map), MAX_STATUS_INVALID_ARGUMENT, "float32");
  assert_null(map);
  CHECK(maxValueCreateMap(keys, values, &map));
  CHECK(maxValueCreateSequence(&map, 1, &sequence));
  maxValueRelease(map);
  CHECK(maxValueGetElements(sequence, 0, 1, &element));
  int32_t count = -1;
  CHECK(maxValueGetCount(element, &count));
  assert_int_equal(count, 2);
  CHECK(maxValueGetMapKeys(element, &found));
  expect_text(found, 1, "no");
  CHECK(maxValueGetMapValues(element, &found));
  expect_number(found, 1, 2);
  CHECK_FAILS(maxValueGetElements(element, 0, 1, &map), MAX_STATUS_FAILED_PRECONDITION, "is a map");
  CHECK_FAILS(maxValueGetMapKeys(sequence, &found), MAX_STATUS_FAILED_PRECONDITION, "is a sequence");
  maxValueRelease(sequence);
  maxBufferRelease(keys);
  maxBufferRelease(same);
  maxBufferRelease(values);
  maxBufferRelease(more);
}

static void values_of_the_wrong_type_are_refused(void** state) {
  (void)state;
  MaxModel *model = load(MODEL("sequences")), *optional = load(MODEL("optional"));
  MaxBuffer *floats = new_vector(2, 0), *output = NULL;
  MaxValue *tensor = NULL, *integer = tensor_value(new_scalar(1)), *sequence = NULL, *wrong = NULL, *none = NULL;
  CHECK(maxValueCreateTensor(floats, &tensor));
  MaxValue* mixed[] = {tensor, integer};
  CHECK_FAILS(maxValueCreateSequence(mixed, 2, &sequence), MAX_STATUS_INVALID_ARGUMENT, "Element 1");
  CHECK(maxValueCreateSequence(&integer, 1, &wrong));
  CHECK(maxValueCreateSequence(&tensor, 1, &sequence));
  MaxValue* nested = NULL;
  CHECK_FAILS(maxValueCreateSequence(&sequence, 1, &nested), MAX_STATUS_INVALID_ARGUMENT, "is a sequence");
  CHECK(maxValueCreateOptional(sequence, &none));
  CHECK_FAILS(maxValueCreateOptional(none, &nested), MAX_STATUS_INVALID_ARGUMENT, "not an optional");

  MaxValue* outputs[3] = {NULL, NULL, NULL};
  MaxValue* inputs[] = {wrong, tensor};
  CHECK_FAILS(maxModelExecuteValues(model, inputs, 2, NULL, outputs, 3), MAX_STATUS_INVALID_ARGUMENT,
              "is of another type; given sequence of int64, the model takes sequence of float32");
  inputs[0] = tensor;
  CHECK_FAILS(maxModelExecuteValues(model, inputs, 2, NULL, outputs, 3), MAX_STATUS_INVALID_ARGUMENT,
              "is of another type; given float32[2], the model takes sequence");
  inputs[0] = NULL;
  CHECK_FAILS(maxModelExecuteValues(model, inputs, 2, NULL, outputs, 3), MAX_STATUS_INVALID_ARGUMENT, "is NULL");
  CHECK_FAILS(maxModelExecuteValues(model, inputs, 1, NULL, outputs, 3), MAX_STATUS_INVALID_ARGUMENT,
              "Number of inputs is 1, expected 2");
  CHECK_FAILS(maxModelExecuteValues(optional, &none, 1, NULL, outputs, 2), MAX_STATUS_INVALID_ARGUMENT,
              "is of another type; given optional of sequence of float32, the model takes optional of float32");
  /* Buffers alone do not do. */
  MaxBuffer* buffers[] = {floats, floats};
  CHECK_FAILS(maxModelExecute(model, buffers, 2, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "maxModelExecuteValues");
  maxValueRelease(tensor);
  maxValueRelease(integer);
  maxValueRelease(sequence);
  maxValueRelease(wrong);
  maxValueRelease(none);
  maxBufferRelease(floats);
  maxModelRelease(model);
  maxModelRelease(optional);
}

static void null_arguments_are_refused(void** state) {
  (void)state;
  MaxValue* value = NULL;
  MaxBuffer* buffer = NULL;
  int32_t count = 0;
  MaxValueKind kind = 0;
  CHECK_FAILS(maxValueCreateTensor(NULL, &value), MAX_STATUS_INVALID_ARGUMENT, "buffer");
  CHECK_FAILS(maxValueCreateSequence(NULL, 1, &value), MAX_STATUS_INVALID_ARGUMENT, "elements");
  CHECK_FAILS(maxValueCreateSequence(&value, 1, &value), MAX_STATUS_INVALID_ARGUMENT, "Element 0 is NULL");
  CHECK_FAILS(maxValueCreateSequence(NULL, -1, &value), MAX_STATUS_INVALID_ARGUMENT,
              "count is -1; it must be at least 0");
  CHECK_FAILS(maxValueCreateOptional(NULL, NULL), MAX_STATUS_INVALID_ARGUMENT, "outValue");
  CHECK_FAILS(maxValueCreateMap(NULL, NULL, &value), MAX_STATUS_INVALID_ARGUMENT, "keys");
  CHECK_FAILS(maxValueGetKind(NULL, &kind), MAX_STATUS_INVALID_ARGUMENT, "value");
  CHECK_FAILS(maxValueGetBuffer(NULL, &buffer), MAX_STATUS_INVALID_ARGUMENT, "value");
  CHECK_FAILS(maxValueGetCount(NULL, &count), MAX_STATUS_INVALID_ARGUMENT, "value");
  CHECK_FAILS(maxModelExecuteValues(NULL, NULL, 0, NULL, NULL, 0), MAX_STATUS_INVALID_ARGUMENT, "model");
  CHECK(maxValueCreateOptional(NULL, &value));
  CHECK_FAILS(maxValueGetBuffer(value, &buffer), MAX_STATUS_FAILED_PRECONDITION, "is an optional");
  MaxValue* element = NULL;
  CHECK_FAILS(maxValueGetElements(value, 0, 1, &element), MAX_STATUS_OUT_OF_RANGE, "Elements [0, 0 + 1)");
  maxValueRelease(value);
  maxValueRelease(NULL);
  maxValueRetain(NULL);
}

static void elements_come_in_bulk(void** state) {
  (void)state;
  MaxValue *parts[4] = {NULL}, *found[4] = {NULL}, *sequence = NULL, *none = NULL;
  for (int i = 0; i < 4; ++i) parts[i] = tensor_value(new_vector(i, 0));
  CHECK(maxValueCreateSequence(parts, 4, &sequence));
  CHECK(maxValueGetElements(sequence, 0, 4, found));
  assert_memory_equal(found, parts, sizeof found);
  CHECK(maxValueGetElements(sequence, 2, 2, found));
  assert_memory_equal(found, parts + 2, 2 * sizeof *found);
  CHECK(maxValueGetElements(sequence, 4, 0, NULL));
  CHECK_FAILS(maxValueGetElements(sequence, 3, 2, found), MAX_STATUS_OUT_OF_RANGE,
              "Elements [3, 3 + 2) are out of range; the sequence has 4");
  assert_true(found[0] == NULL && found[1] == NULL);
  CHECK_FAILS(maxValueGetElements(sequence, -1, 1, found), MAX_STATUS_OUT_OF_RANGE, "[-1, ");
  CHECK_FAILS(maxValueGetElements(sequence, 0, -1, found), MAX_STATUS_INVALID_ARGUMENT, "count is -1");
  CHECK_FAILS(maxValueGetElements(sequence, 0, 1, NULL), MAX_STATUS_INVALID_ARGUMENT, "outElements");
  CHECK_FAILS(maxValueGetElements(NULL, 0, 1, found), MAX_STATUS_INVALID_ARGUMENT, "value");
  CHECK(maxValueCreateOptional(NULL, &none));
  CHECK_FAILS(maxValueGetElements(none, 0, 1, found), MAX_STATUS_OUT_OF_RANGE, "the optional has 0");
  for (int i = 0; i < 4; ++i) maxValueRelease(parts[i]);
  maxValueRelease(none);
  maxValueRelease(sequence);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(string_buffers_hold_any_bytes),
      TEST(strings_come_and_go_in_bulk),
      TEST(strings_are_no_bytes),
      TEST(models_take_and_give_strings),
      TEST(sequences_go_in_and_out),
      TEST(optionals_may_be_empty),
      TEST(loops_carry_strings_and_sequences),
      TEST(strings_pass_through_nested_bodies),
      TEST(threads_share_a_model_of_strings),
      TEST(limits_of_memory_hold_for_strings_and_sequences),
      TEST(graphs_built_in_code_take_values),
      TEST(maps_pair_keys_with_values),
      TEST(values_of_the_wrong_type_are_refused),
      TEST(null_arguments_are_refused),
      TEST(elements_come_in_bulk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
