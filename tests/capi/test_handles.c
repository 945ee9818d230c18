/* SPDX-License-Identifier: Apache-2.0 */
/* References to handles of every kind, and what is given for a handle: it is looked at before it is used. */
#include "check.h"

static MaxStatus use_device(void* handle) {
  const char* name = NULL;
  return maxDeviceGetName(handle, &name);
}

static MaxStatus use_stream(void* handle) {
  MaxDevice* device = NULL;
  return maxStreamGetDevice(handle, &device);
}

static MaxStatus use_event(void* handle) {
  MaxDevice* device = NULL;
  return maxEventGetDevice(handle, &device);
}

static MaxStatus use_buffer(void* handle) {
  const void* data = NULL;
  return maxBufferGetData(handle, &data);
}

static MaxStatus use_value(void* handle) {
  MaxValueKind kind = 0;
  return maxValueGetKind(handle, &kind);
}

static MaxStatus use_graph(void* handle) {
  int32_t count = 0;
  return maxGraphGetNodeCount(handle, &count);
}

static MaxStatus use_attributes(void* handle) { return maxAttributesSetInt(handle, "axis", 1); }

static MaxStatus use_session(void* handle) {
  int32_t count = 0;
  return maxSessionGetDeviceCount(handle, &count);
}

static MaxStatus use_model(void* handle) {
  int32_t count = 0;
  return maxModelGetInputCount(handle, &count);
}

static MaxStatus use_info(void* handle) {
  int32_t count = 0;
  return maxModelInfoGetOpsetCount(handle, &count);
}

static MaxStatus use_cancellation(void* handle) { return maxCancellationCancel(handle); }

static MaxStatus use_module(void* handle) {
  MaxDevice* device = NULL;
  return maxModuleGetDevice(handle, &device);
}

enum { DEVICE, STREAM, EVENT, BUFFER, VALUE, GRAPH, ATTRIBUTES, SESSION, MODEL, INFO, CANCELLATION, MODULE, KINDS };

static const struct kind {
  const char* name;
  MaxStatus (*use)(void* handle);
} kinds[KINDS] = {
    {"MaxDevice", use_device},
    {"MaxStream", use_stream},
    {"MaxEvent", use_event},
    {"MaxBuffer", use_buffer},
    {"MaxValue", use_value},
    {"MaxGraph", use_graph},
    {"MaxAttributes", use_attributes},
    {"MaxSession", use_session},
    {"MaxModel", use_model},
    {"MaxModelInfo", use_info},
    {"MaxCancellation", use_cancellation},
    {"MaxModule", use_module},
};

static MaxModel* new_model(MaxSession* session, MaxGraph* graph) {
  const int64_t shape[] = {2};
  MaxGraphValue* x = NULL;
  MaxModel* model = NULL;
  CHECK(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 1, shape, NULL, &x));
  CHECK(maxGraphAddOutput(graph, x, "y"));
  CHECK(maxModelCompile(session, graph, NULL, &model));
  return model;
}

static void open_all(void* all[KINDS]) {
  MaxDevice* device = open_cpu();
  MaxStream* stream = NULL;
  MaxEvent* event = NULL;
  MaxValue* value = NULL;
  MaxGraph* graph = NULL;
  MaxAttributes* attributes = NULL;
  MaxSession* session = NULL;
  MaxModelInfo* info = NULL;
  MaxCancellation* cancellation = NULL;
  MaxModule* module = NULL;
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_INT32, 1, (const int64_t[]){2});
  CHECK(maxStreamCreate(device, NULL, &stream));
  CHECK(maxEventCreate(device, NULL, &event));
  CHECK(maxValueCreateTensor(buffer, &value));
  CHECK(maxGraphCreate("graph", &graph));
  CHECK(maxAttributesCreate(&attributes));
  CHECK(maxSessionCreate(NULL, &session));
  MaxModel* model = new_model(session, graph);
  CHECK(maxModelGetInfo(model, &info));
  CHECK(maxCancellationCreate(&cancellation));
  CHECK(maxModuleCompile(device, "extern \"C\" __global__ void nothing() {}", NULL, NULL, &module));
  void* const made[KINDS] = {device,     stream,  event, buffer, value,        graph,
                             attributes, session, model, info,   cancellation, module};
  memcpy(all, made, sizeof made);
}

static void release_all(void* const all[KINDS]) {
  maxModuleRelease(all[MODULE]);
  maxCancellationRelease(all[CANCELLATION]);
  maxModelRelease(all[MODEL]); /* holds what is told of it */
  maxSessionRelease(all[SESSION]);
  maxAttributesRelease(all[ATTRIBUTES]);
  maxGraphRelease(all[GRAPH]);
  maxValueRelease(all[VALUE]);
  maxBufferRelease(all[BUFFER]);
  maxEventRelease(all[EVENT]);
  maxStreamRelease(all[STREAM]);
  maxDeviceRelease(all[DEVICE]);
}

static void retain_all(void* const all[KINDS]) {
  maxDeviceRetain(all[DEVICE]);
  maxStreamRetain(all[STREAM]);
  maxEventRetain(all[EVENT]);
  maxBufferRetain(all[BUFFER]);
  maxValueRetain(all[VALUE]);
  maxGraphRetain(all[GRAPH]);
  maxAttributesRetain(all[ATTRIBUTES]);
  maxSessionRetain(all[SESSION]);
  maxModelRetain(all[MODEL]);
  maxModelInfoRetain(all[INFO]);
  maxCancellationRetain(all[CANCELLATION]);
  maxModuleRetain(all[MODULE]);
}

/* Objects with their own reference stay, in whatever order the others are released. */
static void test_references(void** state) {
  (void)state;
  void* all[KINDS];
  open_all(all);
  retain_all(all);
  release_all(all);
  maxModelRelease(all[MODEL]); /* what is told of it has its own */
  for (int kind = 0; kind < KINDS; ++kind)
    if (kind != MODEL) CHECK(kinds[kind].use(all[kind]));
  maxModelInfoRelease(all[INFO]);
  all[MODEL] = NULL;
  release_all(all);
}

static void test_null_is_no_reference(void** state) {
  (void)state;
  void* const none[KINDS] = {NULL};
  const int64_t before = live_objects();
  retain_all(none);
  release_all(none);
  maxModelInfoRelease(none[INFO]);
  assert_int_equal(live_objects(), before);
}

static void test_each_kind_in_place_of_each_other(void** state) {
  (void)state;
  void* all[KINDS];
  char expected[128];
  open_all(all);
  for (int wanted = 0; wanted < KINDS; ++wanted) {
    for (int given = 0; given < KINDS; ++given) {
      snprintf(expected, sizeof expected, "' is a %s, not a %s", kinds[given].name, kinds[wanted].name);
      if (given == wanted)
        CHECK(kinds[wanted].use(all[given]));
      else
        CHECK_FAILS(kinds[wanted].use(all[given]), MAX_STATUS_INVALID_ARGUMENT, expected);
    }
  }
  release_all(all);
}

/* The address of a pointer is what languages without types of pointers pass by mistake. */
static void test_addresses_of_handles(void** state) {
  (void)state;
  void* all[KINDS];
  char expected[128];
  open_all(all);
  for (int wanted = 0; wanted < KINDS; ++wanted) {
    void* pair[2] = {all[wanted], all[wanted]};
    snprintf(expected, sizeof expected, "' is not a %s; ", kinds[wanted].name);
    CHECK_FAILS(kinds[wanted].use(&pair[0]), MAX_STATUS_INVALID_ARGUMENT, expected);
    CHECK_FAILS(kinds[wanted].use(&pair[1]), MAX_STATUS_INVALID_ARGUMENT, expected);
  }
  release_all(all);
}

/* Default streams are parts of their devices, and stream arguments are optional. */
static void test_streams_that_are_optional(void** state) {
  (void)state;
  MaxDevice* device = open_cpu();
  MaxStream* stream = NULL;
  CHECK(maxDeviceGetDefaultStream(device, &stream));
  CHECK(use_stream(stream));
  MaxBuffer* buffer = new_buffer(device, MAX_DTYPE_INT32, 1, (const int64_t[]){2});
  const int32_t value = 3;
  void* const wrong = buffer;
  CHECK(maxBufferFill(buffer, &value, sizeof value, stream));
  CHECK_FAILS(maxBufferFill(buffer, &value, sizeof value, wrong), MAX_STATUS_INVALID_ARGUMENT,
              "'stream' is a MaxBuffer, not a MaxStream");
  MaxDlpackExportOptions export = MAX_DLPACK_EXPORT_OPTIONS_INIT;
  export.stream = (MaxStream*)buffer;
  struct DLManagedTensorVersioned* tensor = NULL;
  CHECK_FAILS(maxBufferToDlpack(buffer, &export, &tensor), MAX_STATUS_INVALID_ARGUMENT,
              "'options.stream' is a MaxBuffer, not a MaxStream");
  maxBufferRelease(buffer);
  maxDeviceRelease(device);
}

/* In lists and options the message says where. */
static void test_lists_and_options(void** state) {
  (void)state;
  void* all[KINDS];
  open_all(all);
  MaxBuffer *right = new_vector(2, 1), *output = NULL;
  MaxBuffer* const wrong[] = {all[STREAM]};
  MaxValue* const elements[] = {all[VALUE], all[BUFFER]};
  MaxDevice* const devices[] = {all[SESSION]};
  MaxValue* sequence = NULL;
  MaxSession* session = NULL;
  MaxSessionOptions session_options = MAX_SESSION_OPTIONS_INIT;
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  CHECK(maxModelExecute(all[MODEL], &right, 1, &options, &output, 1));
  maxBufferRelease(output);
  CHECK_FAILS(maxModelExecute(all[MODEL], wrong, 1, NULL, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Input 0 ('x') is a MaxStream, not a MaxBuffer");
  options.stream = all[EVENT];
  CHECK_FAILS(maxModelExecute(all[MODEL], &right, 1, &options, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Argument 'options.stream' is a MaxEvent, not a MaxStream");
  options.stream = NULL;
  options.cancellation = all[EVENT];
  CHECK_FAILS(maxModelExecute(all[MODEL], &right, 1, &options, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "'options.cancellation' is a MaxEvent");
  options.cancellation = NULL;
  options.outputs = wrong;
  CHECK_FAILS(maxModelExecute(all[MODEL], &right, 1, &options, &output, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Output 0 ('y') is a MaxStream, not a MaxBuffer");
  CHECK_FAILS(maxValueCreateSequence(elements, 2, &sequence), MAX_STATUS_INVALID_ARGUMENT,
              "Element 1 is a MaxBuffer, not a MaxValue");
  session_options.devices = devices;
  session_options.deviceCount = 1;
  CHECK_FAILS(maxSessionCreate(&session_options, &session), MAX_STATUS_INVALID_ARGUMENT,
              "Device 0 is a MaxSession, not a MaxDevice");
  CHECK_FAILS(maxModelReplaceWeights(all[MODEL], (const char* const[]){"w"}, wrong, 1), MAX_STATUS_INVALID_ARGUMENT,
              "Weight 0 ('w') is a MaxStream");
  maxBufferRelease(right);
  release_all(all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_references),           TEST(test_null_is_no_reference), TEST(test_each_kind_in_place_of_each_other),
      TEST(test_addresses_of_handles), TEST(test_lists_and_options),    TEST(test_streams_that_are_optional),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
