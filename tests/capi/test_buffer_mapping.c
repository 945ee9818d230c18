/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings to the host: they belong to the memory, whichever handle it is reached by. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>

#include "dlpack_declarations.h"
#include "models.h"

enum { COUNT = 8 };
#define WRITE MAX_HOST_ACCESS_WRITE
#define READ MAX_HOST_ACCESS_READ
#define EXCLUSIVE MAX_HOST_ACCESS_EXCLUSIVE

static const int64_t shape[] = {COUNT};

static MaxBuffer* view_of(const MaxBuffer* buffer) {
  MaxBuffer* view = NULL;
  CHECK(maxBufferView(buffer, MAX_DTYPE_FLOAT32, 1, shape, &view));
  return view;
}

struct fixture {
  MaxDevice* device;
  MaxSession* session;
  MaxModel* model;
  MaxBuffer* buffer;
  MaxBuffer* other;
};

static struct fixture set_up(void) {
  struct fixture f = {open_cpu(), new_session(0), NULL, new_floats(1, shape, 1), new_floats(1, shape, 2)};
  f.model = new_unary(f.session, "Identity", "same");
  return f;
}

static void tear_down(struct fixture* f) {
  maxBufferRelease(f->buffer);
  maxBufferRelease(f->other);
  maxModelRelease(f->model);
  maxSessionRelease(f->session);
  maxDeviceRelease(f->device);
}

enum { WRITES = 8, READS = 9 };

/* Each way to write the buffer's contents. */
static void try_writes(struct fixture* f, MaxBuffer* buffer, MaxStatus statuses[WRITES]) {
  const float value = 5;
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(f->device, NULL, &stream));
  MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
  options.outputs = &buffer;
  MaxBuffer* output = NULL;
  void* data = NULL;
  DLManagedTensorVersioned* tensor = NULL;
  statuses[0] = maxBufferFill(buffer, &value, sizeof value, NULL);
  statuses[1] = maxBufferFill(buffer, &value, sizeof value, stream);
  statuses[2] = maxBufferCopy(buffer, 0, f->other, 0, 4, NULL);
  statuses[3] = maxBufferCopyFromHost(buffer, 0, &value, sizeof value, NULL);
  statuses[4] = maxBufferWrite(buffer, (const int64_t[]){0}, 1, &value, sizeof value);
  statuses[5] = maxModelExecute(f->model, &f->other, 1, &options, &output, 1);
  maxBufferRelease(output);
  MaxBuffer* alias = view_of(buffer);
  statuses[6] = maxBufferMapToHost(alias, WRITE, &data);
  maxBufferRelease(alias); /* ends the mapping, if there is one */
  statuses[7] = maxBufferToDlpack(buffer, NULL, &tensor);
  if (tensor) tensor->deleter(tensor);
  CHECK(maxStreamSynchronize(stream, 0));
  maxStreamRelease(stream);
}

/* Each way to read them. */
static void try_reads(struct fixture* f, MaxBuffer* buffer, MaxStatus statuses[READS]) {
  float value = 0;
  MaxBuffer* made[4] = {NULL};
  void* data = NULL;
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(f->device, NULL, &stream));
  MaxBufferCopyOptions options = MAX_BUFFER_COPY_OPTIONS_INIT;
  options.stream = stream;
  statuses[0] = maxBufferClone(buffer, NULL, NULL, &made[0]);
  statuses[1] = maxBufferClone(buffer, NULL, &options, &made[1]);
  statuses[2] = maxBufferCopy(f->other, 0, buffer, 0, 4, NULL);
  statuses[3] = maxBufferCopyToHost(buffer, 0, &value, sizeof value, NULL);
  statuses[4] = maxBufferRead(buffer, (const int64_t[]){0}, 1, sizeof value, &value);
  statuses[5] = maxModelExecute(f->model, &buffer, 1, NULL, &made[2], 1);
  statuses[6] = maxBufferSave(buffer, "/tmp/max_test_buffer_mapping.max", NULL);
  remove("/tmp/max_test_buffer_mapping.max");
  statuses[7] = maxBufferContiguous(buffer, NULL, &made[3]);
  MaxBuffer* alias = view_of(buffer);
  statuses[8] = maxBufferMapToHost(alias, READ, &data);
  maxBufferRelease(alias);
  CHECK(maxStreamSynchronize(stream, 0));
  for (size_t i = 0; i < COUNT_OF(made); ++i) maxBufferRelease(made[i]);
  maxStreamRelease(stream);
}

static void expect_writes(struct fixture* f, MaxBuffer* buffer, MaxStatus expected) {
  MaxStatus statuses[WRITES];
  try_writes(f, buffer, statuses);
  for (int i = 0; i < WRITES; ++i)
    if (statuses[i] != expected) fail_msg("write %d: %s", i, maxStatusGetName(statuses[i]));
}

static void expect_reads(struct fixture* f, MaxBuffer* buffer, MaxStatus expected) {
  MaxStatus statuses[READS];
  try_reads(f, buffer, statuses);
  for (int i = 0; i < READS; ++i)
    if (statuses[i] != expected) fail_msg("read %d: %s", i, maxStatusGetName(statuses[i]));
}

static void writes_are_refused_while_the_host_reads(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* view = view_of(f.buffer);
  void* data = NULL;
  CHECK(maxBufferMapToHost(f.buffer, READ, &data));
  CHECK_FAILS(maxBufferFill(view, "x", 1, NULL), MAX_STATUS_FAILED_PRECONDITION, "is mapped to the host for reading");
  expect_writes(&f, f.buffer, MAX_STATUS_FAILED_PRECONDITION);
  expect_writes(&f, view, MAX_STATUS_FAILED_PRECONDITION);
  expect_reads(&f, f.buffer, MAX_STATUS_OK);
  expect_reads(&f, view, MAX_STATUS_OK);
  assert_true(*(float*)data == 1.0f);
  CHECK(maxBufferUnmapFromHost(f.buffer));
  expect_writes(&f, view, MAX_STATUS_OK);
  maxBufferRelease(view);
  tear_down(&f);
}

static void all_else_is_refused_while_the_host_writes(void** state) {
  (void)state;
  struct fixture f = set_up();
  static const MaxHostAccess accesses[] = {WRITE, READ | WRITE, READ | EXCLUSIVE, WRITE | EXCLUSIVE};
  for (size_t i = 0; i < COUNT_OF(accesses); ++i) {
    void* data = NULL;
    CHECK(maxBufferMapToHost(f.buffer, accesses[i], &data));
    MaxBuffer* view = view_of(f.buffer);
    CHECK_FAILS(maxBufferFill(view, "x", 1, NULL), MAX_STATUS_FAILED_PRECONDITION, "is mapped to the host for writing");
    expect_writes(&f, f.buffer, MAX_STATUS_FAILED_PRECONDITION);
    expect_writes(&f, view, MAX_STATUS_FAILED_PRECONDITION);
    expect_reads(&f, view, MAX_STATUS_FAILED_PRECONDITION);
    maxBufferRelease(view);
    CHECK(maxBufferUnmapFromHost(f.buffer));
    expect_reads(&f, f.buffer, MAX_STATUS_OK);
    expect_writes(&f, f.buffer, MAX_STATUS_OK);
  }
  tear_down(&f);
}

static void readers_share_the_memory(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxBuffer* view = view_of(f.buffer);
  void *first = NULL, *second = NULL, *third = NULL;
  CHECK(maxBufferMapToHost(f.buffer, READ, &first));
  CHECK(maxBufferMapToHost(view, READ, &second));
  assert_ptr_equal(first, second);
  CHECK_FAILS(maxBufferMapToHost(view, READ, &third), MAX_STATUS_FAILED_PRECONDITION, "is already mapped");
  CHECK(maxBufferUnmapFromHost(f.buffer));
  CHECK_FAILS(maxBufferUnmapFromHost(f.buffer), MAX_STATUS_FAILED_PRECONDITION, "is not mapped");
  expect_writes(&f, f.buffer, MAX_STATUS_FAILED_PRECONDITION); /* the view still reads */
  maxBufferRelease(view);                                      /* until it goes */
  expect_writes(&f, f.buffer, MAX_STATUS_OK);
  tear_down(&f);
}

static void exclusive_access_needs_the_only_holder(void** state) {
  (void)state;
  struct fixture f = set_up();
  void* data = NULL;
  maxBufferRetain(f.buffer);
  CHECK_FAILS(maxBufferMapToHost(f.buffer, WRITE | EXCLUSIVE, &data), MAX_STATUS_FAILED_PRECONDITION, "held 2 times");
  assert_null(data);
  maxBufferRelease(f.buffer);
  MaxBuffer* view = view_of(f.buffer);
  CHECK_FAILS(maxBufferMapToHost(f.buffer, READ | EXCLUSIVE, &data), MAX_STATUS_FAILED_PRECONDITION, "views, exports");
  CHECK_FAILS(maxBufferMapToHost(view, READ | EXCLUSIVE, &data), MAX_STATUS_FAILED_PRECONDITION, "views, exports");
  maxBufferRelease(view);
  DLManagedTensorVersioned* tensor = NULL;
  CHECK(maxBufferToDlpack(f.buffer, NULL, &tensor));
  CHECK_FAILS(maxBufferMapToHost(f.buffer, WRITE | EXCLUSIVE, &data), MAX_STATUS_FAILED_PRECONDITION, "exclusive");
  tensor->deleter(tensor);
  MaxBuffer* output = NULL;
  CHECK(maxModelCapture(f.model, 1, &f.buffer, 1, NULL, &output, 1));
  CHECK_FAILS(maxBufferMapToHost(f.buffer, WRITE | EXCLUSIVE, &data), MAX_STATUS_FAILED_PRECONDITION, "exclusive");
  CHECK(maxModelForgetCaptured(f.model, 1));
  maxBufferRelease(output);
  expect_writes(&f, f.buffer, MAX_STATUS_OK); /* what was refused has left nothing behind */
  CHECK(maxBufferMapToHost(f.buffer, READ | WRITE | EXCLUSIVE, &data));
  CHECK(maxBufferUnmapFromHost(f.buffer));
  CHECK_FAILS(maxBufferMapToHost(f.buffer, EXCLUSIVE, &data), MAX_STATUS_INVALID_ARGUMENT, "Host access is 4");
  CHECK_FAILS(maxBufferMapToHost(f.buffer, 8 | READ, &data), MAX_STATUS_INVALID_ARGUMENT, "Host access is 9");
  tear_down(&f);
}

static void sleep_a_while(void* user_data, MaxStatus status) {
  (void)user_data;
  (void)status;
  sleep_ms(20);
}

/* Queued work is waited for, and then does not hold the memory any more. */
static void exclusive_access_waits_for_queued_work(void** state) {
  (void)state;
  struct fixture f = set_up();
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(f.device, NULL, &stream));
  CHECK(maxStreamEnqueueHostFunction(stream, sleep_a_while, NULL));
  const float value = 6;
  CHECK(maxBufferFill(f.buffer, &value, sizeof value, stream));
  void* data = NULL;
  CHECK(maxBufferMapToHost(f.buffer, READ | WRITE | EXCLUSIVE, &data));
  assert_true(*(float*)data == 6.0f);
  CHECK(maxBufferUnmapFromHost(f.buffer));
  maxStreamRelease(stream);
  tear_down(&f);
}

struct racer {
  MaxBuffer* buffer;
  atomic_int* inside;
  atomic_int* failures;
  int maps;
};

static void* map_again_and_again(void* user_data) {
  struct racer* racer = user_data;
  for (int i = 0; i < 3000; ++i) {
    void* data = NULL;
    const MaxHostAccess access = i % 4 == 0 ? READ : READ | WRITE;
    const MaxStatus status = maxBufferMapToHost(racer->buffer, access, &data);
    if (status == MAX_STATUS_FAILED_PRECONDITION) continue;
    if (status != MAX_STATUS_OK) ++*racer->failures;
    ++racer->maps;
    if (access != READ) {
      if (++*racer->inside != 1) ++*racer->failures;
      *(float*)data += 1;
      --*racer->inside;
    } else if (*racer->inside != 0) {
      ++*racer->failures;
    }
    if (maxBufferUnmapFromHost(racer->buffer) != MAX_STATUS_OK) ++*racer->failures;
  }
  return NULL;
}

/* Two threads by one handle, two by views: no writes while another thread has the memory. */
static void threads_map_in_turn(void** state) {
  (void)state;
  struct fixture f = set_up();
  atomic_int inside = 0, failures = 0;
  MaxBuffer* views[] = {view_of(f.buffer), view_of(f.buffer)};
  struct racer racers[] = {{f.buffer, &inside, &failures, 0},
                           {f.buffer, &inside, &failures, 0},
                           {views[0], &inside, &failures, 0},
                           {views[1], &inside, &failures, 0}};
  pthread_t threads[COUNT_OF(racers)];
  for (size_t i = 0; i < COUNT_OF(racers); ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, map_again_and_again, &racers[i]), 0);
  int maps = 0;
  for (size_t i = 0; i < COUNT_OF(racers); ++i) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    maps += racers[i].maps;
  }
  assert_int_equal(failures, 0);
  assert_true(maps > 0);
  for (size_t i = 0; i < COUNT_OF(views); ++i) maxBufferRelease(views[i]);
  expect_writes(&f, f.buffer, MAX_STATUS_OK);
  tear_down(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(writes_are_refused_while_the_host_reads),
      TEST(all_else_is_refused_while_the_host_writes),
      TEST(readers_share_the_memory),
      TEST(exclusive_access_needs_the_only_holder),
      TEST(exclusive_access_waits_for_queued_work),
      TEST(threads_map_in_turn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
