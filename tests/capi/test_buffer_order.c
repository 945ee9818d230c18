/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to a buffer come after the work that uses it, on any streams. These tests never wait explicitly.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlpack_declarations.h"
#include "models.h"

enum { COUNT = 1000 };

static void sleep_a_while(void* user_data, MaxStatus status) {
  (void)user_data;
  (void)status;
  sleep_ms(20);
}

static MaxStream* new_stream(MaxDevice* device) {
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(device, NULL, &stream));
  return stream;
}

static MaxBuffer* new_on(MaxDevice* device, MaxStream* stream) {
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.stream = stream;
  options.zeroed = 1;
  MaxBuffer* buffer = NULL;
  CHECK(maxBufferCreate(device, MAX_DTYPE_FLOAT32, 1, (const int64_t[]){COUNT}, &options, &buffer));
  return buffer;
}

/* What the host sees at once. */
static void check_all(MaxBuffer* buffer, float value) {
  const float* values = data_of(buffer);
  for (int i = 0; i < COUNT; ++i)
    if (values[i] != value) fail_msg("element %d is %g, not %g", i, (double)values[i], (double)value);
}

/* The buffer is filled on the stream in a while. */
static void fill_late(MaxBuffer* buffer, MaxStream* chosen, float value) {
  MaxStream* stream = chosen ? chosen : info_of(buffer).stream;
  CHECK(maxStreamEnqueueHostFunction(stream, sleep_a_while, NULL));
  CHECK(maxBufferFill(buffer, &value, sizeof value, stream));
}

struct fixture {
  MaxDevice* device;
  MaxStream* streams[2];
};

static struct fixture set_up(void) {
  struct fixture f = {open_cpu(), {NULL, NULL}};
  for (int i = 0; i < 2; ++i) f.streams[i] = new_stream(f.device);
  return f;
}

static void tear_down(struct fixture* f) {
  for (int i = 0; i < 2; ++i) maxStreamRelease(f->streams[i]);
  maxDeviceRelease(f->device);
}

/* Readers on the default stream: each gives a buffer of what it has read, or checks itself and gives NULL. */
typedef MaxBuffer* (*Reader)(struct fixture* f, MaxBuffer* source);

static MaxBuffer* by_copy(struct fixture* f, MaxBuffer* source) {
  MaxBuffer* target = new_on(f->device, NULL);
  CHECK(maxBufferCopy(target, 0, source, 0, COUNT * sizeof(float), NULL));
  return target;
}

static MaxBufferCopyOptions default_stream(const struct fixture* f) {
  MaxBufferCopyOptions options = MAX_BUFFER_COPY_OPTIONS_INIT;
  CHECK(maxDeviceGetDefaultStream(f->device, &options.stream));
  return options;
}

static MaxBuffer* by_clone(struct fixture* f, MaxBuffer* source) {
  const MaxBufferCopyOptions options = default_stream(f);
  MaxBuffer* target = NULL;
  CHECK(maxBufferClone(source, NULL, &options, &target));
  return target;
}

static MaxBuffer* by_contiguous(struct fixture* f, MaxBuffer* source) {
  const MaxBufferCopyOptions options = default_stream(f);
  MaxBuffer *all = NULL, *target = NULL;
  CHECK(maxBufferSlice(source, (const MaxSliceKind[]){MAX_SLICE_KIND_RANGE}, (const int64_t[]){MAX_SLICE_OMITTED}, NULL,
                       (const int64_t[]){-1}, 1, &all)); /* backwards */
  CHECK(maxBufferContiguous(all, &options, &target));
  maxBufferRelease(all);
  return target;
}

static MaxBuffer* by_copy_to_host(struct fixture* f, MaxBuffer* source) {
  MaxBuffer* target = new_on(f->device, NULL);
  CHECK(maxBufferCopyToHost(source, 0, data_of(target), COUNT * sizeof(float), default_stream(f).stream));
  return target;
}

static MaxBuffer* by_execute(struct fixture* f, MaxBuffer* source) {
  (void)f;
  MaxSession* session = new_session(0);
  MaxModel* model = new_unary(session, "Identity", "same");
  MaxBuffer* target = execute(model, source);
  maxModelRelease(model);
  maxSessionRelease(session);
  return target;
}

static MaxBuffer* by_execute_values(struct fixture* f, MaxBuffer* source) {
  (void)f;
  MaxSession* session = new_session(0);
  MaxModel* model = new_unary(session, "Identity", "same");
  MaxValue *input = NULL, *output = NULL;
  MaxBuffer* target = NULL;
  CHECK(maxValueCreateTensor(source, &input));
  CHECK(maxModelExecuteValues(model, &input, 1, NULL, &output, 1));
  CHECK(maxValueGetBuffer(output, &target));
  maxBufferRetain(target);
  maxValueRelease(input);
  maxValueRelease(output);
  maxModelRelease(model);
  maxSessionRelease(session);
  return target;
}

static MaxBuffer* by_capture(struct fixture* f, MaxBuffer* source) {
  (void)f;
  MaxSession* session = new_session(0);
  MaxModel* model = new_unary(session, "Identity", "same");
  MaxBuffer* target = NULL;
  CHECK(maxModelCapture(model, 1, &source, 1, NULL, &target, 1));
  maxModelRelease(model);
  maxSessionRelease(session);
  return target;
}

static MaxBuffer* by_graph_constant(struct fixture* f, MaxBuffer* source) {
  (void)f;
  MaxSession* session = new_session(0);
  MaxGraph* graph = new_graph("constant");
  MaxGraphValue* x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){COUNT});
  MaxGraphValue* constant = NULL;
  CHECK(maxGraphAddConstant(graph, "c", source, &constant));
  CHECK(maxGraphAddOutput(graph, add_node(graph, "Add", "sum", x, constant), "y"));
  MaxModel* model = compile(session, graph);
  MaxBuffer* zero = new_floats(1, (const int64_t[]){COUNT}, 0);
  MaxBuffer* target = execute(model, zero);
  maxBufferRelease(zero);
  maxModelRelease(model);
  maxSessionRelease(session);
  return target;
}

static MaxBuffer* by_export(struct fixture* f, MaxBuffer* source) {
  (void)f;
  DLManagedTensorVersioned* tensor = NULL;
  CHECK(maxBufferToDlpack(source, NULL, &tensor));
  MaxBuffer* target = NULL;
  MaxDlpackOptions options = MAX_DLPACK_OPTIONS_INIT;
  options.copy = MAX_DLPACK_COPY_ALWAYS;
  CHECK(maxBufferFromDlpack(tensor, &options, &target));
  return target;
}

static MaxBuffer* by_save(struct fixture* f, MaxBuffer* source) {
  (void)f;
  MaxBuffer* target = NULL;
  CHECK(maxBufferSave(source, "/tmp/max_test_buffer_order.max", NULL));
  CHECK(maxBufferLoad("/tmp/max_test_buffer_order.max", &target));
  unlink("/tmp/max_test_buffer_order.max");
  return target;
}

static MaxBuffer* by_mapping(struct fixture* f, MaxBuffer* source) {
  MaxBuffer* target = new_on(f->device, NULL);
  void* data = NULL;
  CHECK(maxBufferMapToHost(source, MAX_HOST_ACCESS_READ, &data));
  memcpy(data_of(target), data, COUNT * sizeof(float));
  CHECK(maxBufferUnmapFromHost(source));
  return target;
}

static MaxBuffer* by_reading(struct fixture* f, MaxBuffer* source) {
  MaxBuffer* target = new_on(f->device, NULL);
  float* values = data_of(target);
  for (int64_t i = 0; i < COUNT; ++i) CHECK(maxBufferRead(source, &i, 1, sizeof(float), &values[i]));
  return target;
}

static const Reader readers[] = {by_copy,    by_clone,          by_contiguous, by_copy_to_host,
                                 by_execute, by_execute_values, by_capture,    by_graph_constant,
                                 by_export,  by_save,           by_mapping,    by_reading};

/* The defect that was seen: the default stream read what the buffer's own stream had not written yet. */
static void reads_come_after_the_stream_of_the_buffer(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* buffer = new_on(f.device, f.streams[0]);
  for (size_t i = 0; i < COUNT_OF(readers); ++i) {
    fill_late(buffer, NULL, (float)i + 1);
    MaxBuffer* seen = readers[i](&f, buffer);
    check_all(seen, (float)i + 1);
    maxBufferRelease(seen);
  }
  maxBufferRelease(buffer);
  tear_down(&f);
}

/* What is queued on another stream is noted with the memory: the buffer is bound to the default stream. */
static void reads_come_after_writes_on_other_streams(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* buffer = new_on(f.device, NULL);
  for (size_t i = 0; i < COUNT_OF(readers); ++i) {
    fill_late(buffer, f.streams[i % 2], (float)i + 1);
    MaxBuffer* seen = readers[i](&f, buffer);
    check_all(seen, (float)i + 1);
    maxBufferRelease(seen);
  }
  maxBufferRelease(buffer);
  tear_down(&f);
}

static void views_know_of_writes(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* buffer = new_on(f.device, NULL);
  MaxBuffer *before = NULL, *after = NULL;
  CHECK(maxBufferView(buffer, MAX_DTYPE_FLOAT32, 1, (const int64_t[]){COUNT}, &before));
  fill_late(buffer, f.streams[0], 1);
  CHECK(maxBufferView(buffer, MAX_DTYPE_FLOAT32, 1, (const int64_t[]){COUNT}, &after));
  MaxBuffer* seen = by_clone(&f, after);
  check_all(seen, 1);
  maxBufferRelease(seen);
  fill_late(before, f.streams[0], 2);
  seen = by_clone(&f, buffer);
  check_all(seen, 2);
  maxBufferRelease(seen);
  maxBufferRelease(before);
  maxBufferRelease(after);
  maxBufferRelease(buffer);
  tear_down(&f);
}

static void created_streams_wait_for_each_other(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* bound = new_on(f.device, f.streams[0]);
  MaxBuffer* free = new_on(f.device, NULL);
  MaxBufferCopyOptions second = MAX_BUFFER_COPY_OPTIONS_INIT;
  second.stream = f.streams[1];
  for (int round = 1; round < 4; ++round) {
    MaxBuffer* copies[2] = {NULL, NULL};
    fill_late(bound, NULL, (float)round);
    fill_late(free, f.streams[0], (float)round);
    CHECK(maxBufferClone(bound, NULL, &second, &copies[0]));
    CHECK(maxBufferClone(free, NULL, &second, &copies[1]));
    const float other = -1; /* and the first stream's next write comes after these reads */
    CHECK(maxBufferFill(bound, &other, sizeof other, NULL));
    CHECK(maxBufferFill(free, &other, sizeof other, f.streams[0]));
    CHECK(maxStreamSynchronize(f.streams[1], 0));
    for (int i = 0; i < 2; ++i) {
      check_all(copies[i], (float)round);
      maxBufferRelease(copies[i]);
    }
  }
  maxBufferRelease(bound);
  maxBufferRelease(free);
  tear_down(&f);
}

/* A write must not overtake a read that is queued. */
typedef void (*Writer)(struct fixture* f, MaxBuffer* target, float value);

static void by_fill(struct fixture* f, MaxBuffer* target, float value) {
  CHECK(maxBufferFill(target, &value, sizeof value, default_stream(f).stream));
}

static void by_copy_from_host(struct fixture* f, MaxBuffer* target, float value) {
  CHECK(maxBufferCopyFromHost(target, 0, &value, sizeof value, default_stream(f).stream));
}

static void by_write(struct fixture* f, MaxBuffer* target, float value) {
  (void)f;
  CHECK(maxBufferWrite(target, (const int64_t[]){0}, 1, &value, sizeof value));
}

static void by_write_mapping(struct fixture* f, MaxBuffer* target, float value) {
  (void)f;
  void* data = NULL;
  CHECK(maxBufferMapToHost(target, MAX_HOST_ACCESS_READ | MAX_HOST_ACCESS_WRITE, &data));
  *(float*)data = value;
  CHECK(maxBufferUnmapFromHost(target));
}

static void by_given_output(struct fixture* f, MaxBuffer* target, float value) {
  (void)f;
  MaxSession* session = new_session(0);
  MaxModel* model = new_unary(session, "Identity", "same");
  MaxBuffer* input = new_floats(1, (const int64_t[]){COUNT}, value);
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.outputs = &target;
  MaxBuffer* output = NULL;
  CHECK(maxModelExecute(model, &input, 1, &options, &output, 1));
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void writes_come_after_reads_on_other_streams(void** state) {
  (void)state;
  static const Writer writers[] = {by_fill, by_copy_from_host, by_write, by_write_mapping, by_given_output};
  struct fixture f = set_up();
  MaxBufferCopyOptions first = MAX_BUFFER_COPY_OPTIONS_INIT;
  first.stream = f.streams[0];
  for (size_t i = 0; i < COUNT_OF(writers); ++i) {
    MaxBuffer* buffer = new_on(f.device, NULL);
    CHECK(maxStreamEnqueueHostFunction(f.streams[0], sleep_a_while, NULL));
    MaxBuffer* copy = NULL;
    CHECK(maxBufferClone(buffer, NULL, &first, &copy));
    writers[i](&f, buffer, 9);
    assert_true(first_of(buffer) == 9.0f);
    CHECK(maxStreamSynchronize(f.streams[0], 0));
    check_all(copy, 0);
    maxBufferRelease(copy);
    maxBufferRelease(buffer);
  }
  tear_down(&f);
}

/* Queued calls of models read and write like all other work. */
static void models_on_streams_take_part(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxSession* session = new_session(0);
  MaxModel* model = new_unary(session, "Neg", "negative");
  MaxBuffer* input = new_on(f.device, NULL);
  MaxBuffer* given = new_on(f.device, NULL);
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.stream = f.streams[0];
  options.outputs = &given;
  for (int round = 1; round < 4; ++round) {
    const float value = (float)round;
    MaxBuffer* output = NULL;
    CHECK(maxBufferFill(input, &value, sizeof value, f.streams[1]));
    CHECK(maxStreamEnqueueHostFunction(f.streams[0], sleep_a_while, NULL));
    CHECK(maxModelExecute(model, &input, 1, &options, &output, 1));
    const float other = 70;
    CHECK(maxBufferFill(input, &other, sizeof other, NULL)); /* after the call has read it */
    MaxBuffer* seen = by_clone(&f, output);
    check_all(seen, -value);
    maxBufferRelease(seen);
    maxBufferRelease(output);
  }
  options.outputs = NULL;
  MaxBuffer* captured = NULL;
  CHECK(maxModelCapture(model, 7, &input, 1, NULL, &captured, 1));
  fill_late(input, f.streams[1], 5);
  CHECK(maxStreamEnqueueHostFunction(f.streams[0], sleep_a_while, NULL));
  CHECK(maxModelReplay(model, 7, &input, 1, &options));
  by_fill(&f, input, 6);
  MaxBuffer* seen = by_clone(&f, captured);
  check_all(seen, -5);
  maxBufferRelease(seen);
  maxBufferRelease(captured);
  maxBufferRelease(given);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
  tear_down(&f);
}

/* An exported tensor's consumer is waited for up to the work that its stream has when the tensor goes. */
static void consumers_of_exports_take_part(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* buffer = new_on(f.device, NULL);
  MaxBuffer* target = new_on(f.device, f.streams[0]);
  MaxDlpackExportOptions options = MAX_DLPACK_EXPORT_OPTIONS_INIT;
  options.stream = f.streams[0];
  fill_late(buffer, f.streams[1], 3);
  DLManagedTensorVersioned* tensor = NULL;
  CHECK(maxBufferToDlpack(buffer, &options, &tensor));
  CHECK(maxStreamEnqueueHostFunction(f.streams[0], sleep_a_while, NULL));
  CHECK(maxMemoryCopy(data_of(target), tensor->dl_tensor.data, COUNT * sizeof(float), MAX_COPY_KIND_HOST_TO_HOST,
                      f.streams[0]));
  tensor->deleter(tensor);
  by_fill(&f, buffer, 4);
  CHECK(maxStreamSynchronize(f.streams[0], 0));
  check_all(target, 3);
  maxBufferRelease(target);
  maxBufferRelease(buffer);
  tear_down(&f);
}

struct inside {
  struct fixture* f;
  MaxBuffer* buffer;
  MaxStatus status;
  float seen;
  sem_t done;
};

static void post(void* semaphore, MaxStatus status) {
  (void)status;
  sem_post(semaphore);
}

static void read_inside(void* user_data, MaxStatus status) {
  struct inside* inside = user_data;
  (void)status;
  MaxStream* stream = NULL;
  MaxBuffer* copy = NULL;
  MaxBufferCopyOptions options = MAX_BUFFER_COPY_OPTIONS_INIT;
  inside->status = maxDeviceGetDefaultStream(inside->f->device, &stream);
  options.stream = stream;
  if (inside->status == MAX_STATUS_OK) inside->status = maxBufferClone(inside->buffer, NULL, &options, &copy);
  const void* data = NULL;
  if (inside->status == MAX_STATUS_OK) inside->status = maxBufferGetData(copy, &data);
  if (inside->status == MAX_STATUS_OK) inside->seen = *(const float*)data;
  maxBufferRelease(copy);
}

/* It sees what came before it on its stream, and does not wait for itself. */
static void host_functions_do_not_wait_for_themselves(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* buffers[] = {new_on(f.device, f.streams[0]), new_on(f.device, NULL)};
  for (size_t i = 0; i < COUNT_OF(buffers); ++i) {
    struct inside inside = {.f = &f, .buffer = buffers[i], .status = -1};
    assert_int_equal(sem_init(&inside.done, 0, 0), 0);
    fill_late(buffers[i], f.streams[0], 3);
    CHECK(maxStreamEnqueueHostFunction(f.streams[0], read_inside, &inside));
    CHECK(maxStreamEnqueueHostFunction(f.streams[0], post, &inside.done));
    fill_late(buffers[i], f.streams[0], 4);
    sem_wait(&inside.done);
    assert_int_equal(inside.status, MAX_STATUS_OK);
    assert_true(inside.seen == 3.0f);
    MaxBuffer* seen = by_clone(&f, buffers[i]); /* what was behind the function is not forgotten */
    check_all(seen, 4);
    maxBufferRelease(seen);
    sem_destroy(&inside.done);
    maxBufferRelease(buffers[i]);
  }
  tear_down(&f);
}

/* A model whose lookup fails when the queued call runs. */
static void fail_on(MaxStream* stream, MaxDevice* device) {
  MaxSession* session = new_session(0);
  MaxGraph* graph = new_graph("lookup");
  MaxGraphValue* x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 1, (const int64_t[]){2});
  MaxGraphValue* i = add_input(graph, "i", MAX_DTYPE_INT64, 1, (const int64_t[]){1});
  CHECK(maxGraphAddOutput(graph, add_node(graph, "Gather", "lookup", x, i), "y"));
  MaxModel* model = compile(session, graph);
  MaxBuffer* inputs[] = {new_vector(2, 0), new_buffer(device, MAX_DTYPE_INT64, 1, (const int64_t[]){1})};
  *(int64_t*)data_of(inputs[1]) = 5;
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.stream = stream;
  MaxBuffer* output = NULL;
  CHECK(maxModelExecute(model, inputs, 2, &options, &output, 1));
  maxBufferRelease(output);
  maxBufferRelease(inputs[0]);
  maxBufferRelease(inputs[1]);
  maxModelRelease(model);
  maxSessionRelease(session);
}

static void a_failure_stays_with_its_stream(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* bound = new_on(f.device, f.streams[0]);
  MaxBuffer* other = new_on(f.device, NULL);
  fill_late(bound, NULL, 2);
  fill_late(other, f.streams[0], 2);
  fail_on(f.streams[0], f.device);
  CHECK(maxStreamSynchronize(f.streams[1], 0));
  MaxBuffer* const buffers[] = {bound, other};
  for (size_t i = 0; i < COUNT_OF(buffers); ++i) {
    MaxBuffer* seen = by_clone(&f, buffers[i]);
    check_all(seen, 2);
    maxBufferRelease(seen);
    by_fill(&f, buffers[i], 3);
    MaxBuffer* copy = NULL;
    MaxBufferCopyOptions second = MAX_BUFFER_COPY_OPTIONS_INIT;
    second.stream = f.streams[1];
    CHECK(maxBufferClone(buffers[i], NULL, &second, &copy));
    CHECK(maxStreamSynchronize(f.streams[1], 0));
    check_all(copy, 3);
    maxBufferRelease(copy);
  }
  CHECK_FAILS(maxBufferFill(bound, "x", 1, NULL), MAX_STATUS_OUT_OF_RANGE, "lookup");
  CHECK_FAILS(maxStreamSynchronize(f.streams[0], 0), MAX_STATUS_OUT_OF_RANGE, "lookup");
  CHECK(maxStreamSynchronize(f.streams[0], 0));
  maxBufferRelease(bound);
  maxBufferRelease(other);
  tear_down(&f);
}

/* The stream may be released with its work queued: what it does to the buffer is waited for all the same. */
static void work_of_released_streams_counts(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* buffer = new_on(f.device, NULL);
  fill_late(buffer, f.streams[0], 8);
  maxStreamRelease(f.streams[0]);
  f.streams[0] = NULL;
  MaxBuffer* seen = by_clone(&f, buffer);
  check_all(seen, 8);
  maxBufferRelease(seen);
  /* And a note of it holds neither the stream nor the buffer. */
  const int64_t before = live_objects();
  MaxStream* brief = new_stream(f.device);
  CHECK(maxBufferFill(buffer, "\1", 1, brief));
  CHECK(maxStreamSynchronize(brief, 0));
  maxStreamRelease(brief);
  assert_int_equal(live_objects(), before);
  maxBufferRelease(buffer);
  tear_down(&f);
}

/* In a child process: what was done before the fork is there, what was not will never be. */
static int child_status(struct fixture* f, MaxBuffer* done, MaxBuffer* pending) {
  alarm(20);
  MaxBuffer* copy = NULL;
  const MaxBufferCopyOptions options = default_stream(f);
  if (maxBufferClone(done, NULL, &options, &copy) != MAX_STATUS_OK) return 1;
  if (first_of(copy) != 1.0f) return 2;
  maxBufferRelease(copy);
  if (maxBufferClone(pending, NULL, &options, &copy) != MAX_STATUS_FAILED_PRECONDITION) return 3;
  if (!strstr(maxGetLastErrorMessage(), "forked")) return 4;
  const float two = 2; /* the writer takes ownership of the memory */
  if (maxBufferFill(pending, &two, sizeof two, NULL) != MAX_STATUS_OK) return 5;
  if (maxBufferClone(pending, NULL, &options, &copy) != MAX_STATUS_OK) return 6;
  if (first_of(copy) != 2.0f) return 7;
  maxBufferRelease(copy);
  maxBufferRelease(pending);
  return 0;
}

static void a_fork_leaves_work_behind(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* done = new_on(f.device, NULL);
  MaxBuffer* pending = new_on(f.device, NULL);
  const float one = 1;
  CHECK(maxBufferFill(done, &one, sizeof one, f.streams[0]));
  CHECK(maxStreamSynchronize(f.streams[0], 0));
  CHECK(maxStreamEnqueueHostFunction(f.streams[1], sleep_a_while, NULL));
  fill_late(pending, f.streams[1], 1);
  const pid_t child = fork();
  if (child == 0) _exit(child_status(&f, done, pending));
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  maxBufferRelease(done);
  maxBufferRelease(pending);
  tear_down(&f);
}

struct hammer {
  MaxDevice* device;
  MaxBuffer* shared;
  MaxStream* stream;
  float value;
};

/* Each thread writes repeatedly on its own stream: a buffer that it copies has one value throughout. */
static void* write_and_read(void* user_data) {
  struct hammer* hammer = user_data;
  MaxBufferCopyOptions options = MAX_BUFFER_COPY_OPTIONS_INIT;
  options.stream = hammer->stream;
  for (int i = 0; i < 100; ++i) {
    MaxBuffer* copy = NULL;
    if (maxBufferFill(hammer->shared, &hammer->value, sizeof(float), hammer->stream) != MAX_STATUS_OK) return "fill";
    if (maxBufferClone(hammer->shared, NULL, &options, &copy) != MAX_STATUS_OK) return "clone";
    maxBufferRelease(copy);
    if (i % 10 == 0 && maxStreamSynchronize(hammer->stream, 0) != MAX_STATUS_OK) return "synchronize";
  }
  return NULL;
}

static void threads_use_buffers_of_their_own_at_the_same_time(void** state) {
  (void)state;
  enum { THREADS = 4 };
  struct fixture f = set_up();
  struct hammer hammers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    hammers[i] = (struct hammer){f.device, new_on(f.device, i % 2 ? f.streams[i / 2] : NULL), new_stream(f.device),
                                 (float)i + 1};
    assert_int_equal(pthread_create(&threads[i], NULL, write_and_read, &hammers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    void* failure = NULL;
    assert_int_equal(pthread_join(threads[i], &failure), 0);
    if (failure) fail_msg("%s", (const char*)failure);
    MaxBuffer* seen = by_clone(&f, hammers[i].shared);
    check_all(seen, hammers[i].value);
    maxBufferRelease(seen);
    maxBufferRelease(hammers[i].shared);
    maxStreamRelease(hammers[i].stream);
  }
  tear_down(&f);
}

/* Two contexts of a device are two streams: they may wait for each other by turns. */
static void streams_may_wait_for_each_other_by_turns(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* buffer = new_on(f.device, NULL);
  for (int i = 0; i < 20; ++i) {
    const float value = (float)i;
    CHECK(maxStreamWaitForStream(f.streams[i % 2], f.streams[(i + 1) % 2]));
    CHECK(maxBufferFill(buffer, &value, sizeof value, f.streams[i % 2]));
  }
  CHECK(maxStreamSynchronize(f.streams[1], 10000000000));
  CHECK(maxStreamSynchronize(f.streams[0], 10000000000));
  check_all(buffer, 19);
  maxBufferRelease(buffer);
  tear_down(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(reads_come_after_the_stream_of_the_buffer),
      TEST(reads_come_after_writes_on_other_streams),
      TEST(views_know_of_writes),
      TEST(created_streams_wait_for_each_other),
      TEST(writes_come_after_reads_on_other_streams),
      TEST(models_on_streams_take_part),
      TEST(consumers_of_exports_take_part),
      TEST(host_functions_do_not_wait_for_themselves),
      TEST(a_failure_stays_with_its_stream),
      TEST(work_of_released_streams_counts),
      TEST(a_fork_leaves_work_behind),
      TEST(threads_use_buffers_of_their_own_at_the_same_time),
      TEST(streams_may_wait_for_each_other_by_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
