/* SPDX-License-Identifier: Apache-2.0 */
/* What a load makes for the first call of a model whose inputs have known shapes. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>

#include "models.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Of a square whose pages are small ones, and many. */
enum { SIZE = 600 };
static const uint64_t square = SIZE * SIZE * sizeof(float);
static const uint64_t page = 4096;

/* y = -x * -x for a square of a fixed size. */
static MaxModel* new_fixed(MaxSession* session, int64_t size) {
  MaxGraph* graph = new_graph("fixed");
  MaxGraphValue* x = add_input(graph, "x", MAX_DTYPE_FLOAT32, 2, (const int64_t[]){size, size});
  MaxGraphValue* a = add_node(graph, "Neg", "negate", x, NULL);
  CHECK(maxGraphAddOutput(graph, add_node(graph, "MatMul", "multiply", a, a), "y"));
  return compile(session, graph);
}

static MaxModelMemory memory_of(const MaxModel* model) {
  MaxModelMemory memory = MAX_MODEL_MEMORY_INIT;
  CHECK(maxModelGetMemory(model, &memory));
  return memory;
}

static long page_faults(void) {
  struct rusage usage;
  assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_minflt;
}

static void plan_and_memory_are_made_at_load(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_fixed(session, SIZE);
  const MaxModelMemory before = memory_of(model);
  assert_true(before.plans > 0);
  assert_true(before.arenas >= square);
  assert_true(before.outputs >= square);
  MaxBuffer* input = new_square(SIZE, 1);
  MaxBuffer* output = execute(model, input);
  assert_float_equal(first_of(output), SIZE, 0);
  maxBufferRelease(output);
  const MaxModelMemory after = memory_of(model);
  assert_int_equal(after.plans, before.plans);
  assert_int_equal(after.arenas, before.arenas);
  assert_int_equal(after.outputs, before.outputs);
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
}

/* The kernel can give pages before their first use. */
static int populates(void) {
  void* block = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int is_possible = madvise(block, page, MADV_POPULATE_WRITE) == 0;
  munmap(block, page);
  return is_possible;
}

static void the_first_call_finds_its_pages(void** state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip(); /* their own memory has faults, too */
#endif
  if (!populates()) skip();
  MaxSession* session = new_session(0);
  MaxModel* model = new_fixed(session, SIZE);
  MaxBuffer* input = new_square(SIZE, 1);
  const long before = page_faults();
  maxBufferRelease(execute(model, input));
  assert_in_range(page_faults() - before, 0,
                  square / page / 2); /* the arena and the output have more than twice that */
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
}

/* A small model does not take much memory before a program calls it. */
static void large_memory_is_left_to_the_call(void** state) {
  (void)state;
  MaxSession* session = new_session(0);
  MaxModel* model = new_fixed(session, 8000);
  const MaxModelMemory memory = memory_of(model);
  assert_true(memory.plans > 0);
  assert_int_equal(memory.arenas, 0);
  assert_int_equal(memory.outputs, 0);
  maxModelRelease(model);
  maxSessionRelease(session);
}

/* Nothing that others keep goes for it, and a load does not fail because its call would. */
static void limits_hold(void** state) {
  (void)state;
  MaxSession* session = new_session(4 * square);
  MaxModel* first = new_fixed(session, SIZE);
  const MaxModelMemory kept = memory_of(first);
  assert_true(kept.arenas >= square && kept.outputs >= square);
  MaxModel* second = new_fixed(session, SIZE);
  assert_int_equal(memory_of(first).total, kept.total);
  assert_true(memory_of(second).total < 2 * square);
  MaxBuffer* input = new_square(SIZE, 1);
  maxBufferRelease(execute(second, input));
  maxBufferRelease(execute(first, input));
  maxModelRelease(second);
  maxModelRelease(first);
  maxSessionRelease(session);

  session = new_session(square);
  MaxModel* model = new_fixed(session, SIZE);
  MaxBuffer* output = NULL;
  CHECK_FAILS(maxModelExecute(model, &input, 1, NULL, &output, 1), MAX_STATUS_RESOURCE_EXHAUSTED, "the limit is");
  maxBufferRelease(input);
  maxModelRelease(model);
  maxSessionRelease(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(plan_and_memory_are_made_at_load),
      TEST(the_first_call_finds_its_pages),
      TEST(large_memory_is_left_to_the_call),
      TEST(limits_hold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
