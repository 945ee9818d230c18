/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kernel_fixture.h"

/* Buffers by handle, values by address. */
static const size_t buffer = MAX_KERNEL_ARGUMENT_BUFFER;

static MaxStatus launch_add(MaxLaunchConfig config, MaxBuffer* a, MaxBuffer* b, MaxBuffer* c, int32_t n,
                            MaxStream* stream) {
  return maxKernelLaunch(kernel_of("add"), &config, (const void*[]){a, b, c, &n},
                         (const size_t[]){buffer, buffer, buffer, sizeof n}, 4, stream);
}

static void test_vector_add(void** state) {
  (void)state;
  MaxBuffer* a = new_vector(1000, 0.0f);
  MaxBuffer* b = new_vector(1000, 5.0f);
  MaxBuffer* c = new_vector(1000, 0.0f);
  CHECK(launch_add(shape(8, 128), a, b, c, 1000, NULL));
  const float* sums = data_of(c);
  for (int i = 0; i < 1000; ++i) assert_true(sums[i] == 2.0f * (float)i + 5.0f);
  maxBufferRelease(a);
  maxBufferRelease(b);
  maxBufferRelease(c);
}

static void test_dimensions(void** state) {
  (void)state;
  uint32_t out[2 * 3 * 2 * 4 * 3 * 2] = {0};
  uint32_t* address = out;
  MaxLaunchConfig config = shape(2, 4);
  config.grid[1] = 3;
  config.grid[2] = 2;
  config.block[1] = 3;
  config.block[2] = 2;
  CHECK(maxKernelLaunch(kernel_of("places"), &config, (const void*[]){&address}, NULL, 1, NULL));
  for (uint32_t i = 0; i < COUNT_OF(out); ++i) assert_int_equal(out[i], i / 24 * 1000 + i % 24);
}

static void test_barriers_and_dynamic_shared_memory(void** state) {
  (void)state;
  int32_t values[64 * 5];
  for (int i = 0; i < (int)COUNT_OF(values); ++i) values[i] = i;
  int32_t* address = values;
  MaxLaunchConfig config = shape(5, 64);
  config.sharedByteCount = 64 * sizeof(int32_t);
  CHECK(maxKernelLaunch(kernel_of("reverse"), &config, (const void*[]){&address}, NULL, 1, NULL));
  for (int i = 0; i < (int)COUNT_OF(values); ++i) assert_int_equal(values[i], i / 64 * 64 + 63 - i % 64);
}

static void test_shuffles(void** state) {
  (void)state;
  MaxBuffer* x = new_vector(256 * 3, 1.0f);
  MaxBuffer* out = new_vector(3, 0.0f);
  const MaxLaunchConfig config = shape(3, 256);
  CHECK(maxKernelLaunch(kernel_of("sum"), &config, (const void*[]){x, out}, (const size_t[]){buffer, buffer}, 2, NULL));
  const float* sums = data_of(out);
  for (int i = 0; i < 3; ++i) assert_true(sums[i] == 256.0f * (256.0f * (float)i + 128.5f));
  maxBufferRelease(x);
  maxBufferRelease(out);
}

/* A variable is set, counted up by many blocks and read, all in the order of a stream. */
static void test_work_in_stream_order(void** state) {
  (void)state;
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  int32_t seen[20] = {0};
  const MaxLaunchConfig many = shape(40, 64), one = shape(1, 1);
  for (int32_t i = 0; i < 20; ++i) {
    const int32_t n = 2000 + i;
    int32_t* address = &seen[i];
    CHECK(maxModuleSetConstant(shared.module, "total", &i, sizeof i, stream));
    CHECK(maxKernelLaunch(kernel_of("count"), &many, (const void*[]){&n}, NULL, 1, stream));
    CHECK(maxKernelLaunch(kernel_of("read"), &one, (const void*[]){&address}, NULL, 1, stream));
  }
  CHECK(maxStreamSynchronize(stream, 0));
  for (int i = 0; i < 20; ++i) assert_int_equal(seen[i], 2000 + 2 * i);
  maxStreamRelease(stream);
}

static void test_large_arguments(void** state) {
  (void)state;
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  int32_t out[500], all[500];
  const MaxLaunchConfig config = shape(1, 1);
  for (int32_t i = 0; i < 500; ++i) {
    int32_t* address = &out[i];
    for (int k = 0; k < 500; ++k) all[k] = i * k;
    CHECK(maxKernelLaunch(kernel_of("pick"), &config, (const void*[]){&address, all, &i}, NULL, 3, stream));
  }
  CHECK(maxStreamSynchronize(stream, 0));
  for (int i = 0; i < 500; ++i) assert_int_equal(out[i], i * i);
  maxStreamRelease(stream);
}

static void sleep_a_little(void* user_data, MaxStatus status) {
  (void)user_data;
  (void)status;
  const struct timespec time = {0, 5000000};
  nanosleep(&time, NULL);
}

static void test_queued_launches_keep_buffers_and_module(void** state) {
  (void)state;
  MaxModule* module = NULL;
  MaxKernel* kernel = NULL;
  MaxStream* stream = NULL;
  CHECK(maxModuleCompile(shared.device, source, "test.cu", NULL, &module));
  CHECK(maxModuleGetKernel(module, "add", &kernel));
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  CHECK(maxStreamEnqueueHostFunction(stream, sleep_a_little, NULL));
  MaxBuffer* a = new_vector(64, 1.0f);
  MaxBuffer* b = new_vector(64, 2.0f);
  MaxBuffer* c = new_vector(64, 0.0f);
  int32_t n = 64;
  const MaxLaunchConfig config = shape(1, 64);
  CHECK(maxKernelLaunch(kernel, &config, (const void*[]){a, b, c, &n}, (const size_t[]){buffer, buffer, buffer, 4}, 4,
                        stream));
  n = 0; /* the value was copied */
  maxBufferRelease(a);
  maxBufferRelease(b);
  maxModuleRelease(module);
  CHECK(maxStreamSynchronize(stream, 0));
  assert_true(((const float*)data_of(c))[63] == 64.0f + 65.0f);
  maxBufferRelease(c);
  maxStreamRelease(stream);
}

static void test_half_precision(void** state) {
  (void)state;
  uint16_t values[2] = {0x3c00, 0xc000}; /* 1, -2 */
  uint16_t* address = values;
  const MaxLaunchConfig config = shape(1, 2);
  CHECK(maxKernelLaunch(kernel_of("half_add"), &config, (const void*[]){&address}, NULL, 1, NULL));
  assert_int_equal(values[0], 0x4100);
  assert_int_equal(values[1], 0xb800);
}

static MaxStatus launch_shape(const char* kernel, MaxLaunchConfig config) {
  return maxKernelLaunch(kernel_of(kernel), &config, NULL, NULL, 0, NULL);
}

/* A configuration that is zero but for its size is a launch of one thread, whatever made it. */
static void test_dimensions_that_are_zero_are_one(void** state) {
  (void)state;
  MaxLaunchConfig* zeroed = calloc(1, sizeof *zeroed);
  const MaxLaunchConfig initial = MAX_LAUNCH_CONFIG_INIT;
  assert_non_null(zeroed);
  zeroed->structSize = sizeof *zeroed;
  assert_memory_equal(zeroed, &initial, sizeof initial);
  uint32_t out[8] = {7, 7, 7, 7, 7, 7, 7, 7};
  uint32_t* address = out;
  CHECK(maxKernelLaunch(kernel_of("places"), zeroed, (const void*[]){&address}, NULL, 1, NULL));
  assert_int_equal(out[0], 0);
  assert_int_equal(out[1], 7);
  zeroed->grid[2] = 3;
  zeroed->block[1] = 2;
  CHECK(maxKernelLaunch(kernel_of("places"), zeroed, (const void*[]){&address}, NULL, 1, NULL));
  for (uint32_t i = 0; i < 6; ++i) assert_int_equal(out[i], i / 2 * 1000 + i % 2);
  assert_int_equal(out[6], 7);
  assert_int_equal(zeroed->grid[0], 0); /* the caller's is left alone */
  free(zeroed);
}

static void test_dimensions_are_checked(void** state) {
  (void)state;
  CHECK(launch_shape("nothing", shape(3, 1024)));
  CHECK_FAILS(launch_shape("nothing", shape(-2, 1)), MAX_STATUS_INVALID_ARGUMENT, "-2 blocks");
  CHECK_FAILS(launch_shape("nothing", shape(1, -1)), MAX_STATUS_INVALID_ARGUMENT, "Block (-1, 1, 1)");
  CHECK_FAILS(launch_shape("nothing", shape(1, 1025)), MAX_STATUS_INVALID_ARGUMENT, "1 to 1024");
  MaxLaunchConfig config = shape(1, 64);
  config.block[1] = 17;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "1088 threads");
  config = shape(1, 1);
  config.grid[1] = 65536;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "65535");
  config = shape(2, 1);
  config.cluster[0] = -2;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "Cluster is (-2, 1, 1)");
  config.cluster[0] = 4;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "multiple of cluster (4, 1, 1)");
  config.cluster[0] = 2;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_UNIMPLEMENTED, "clusters");
  config = shape(1, 1);
  config.cooperative = 1;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_UNIMPLEMENTED, "cooperatively");
  config.cooperative = 7;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "cooperative is 7");
  config = shape(1, 1);
  config.reserved = 1;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_UNIMPLEMENTED, "reserved");
  config = shape(1, 1);
  config.accessBase = &config;
  config.hitRatio = 1.5f;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "hitRatio is 1.5");
  config.hitRatio = 0.5f;
  config.missProperty = 3;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "0 and 3");
}

static void test_shared_memory_is_checked(void** state) {
  (void)state;
  const MaxKernelAttribute limit = MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE;
  MaxKernel* kernel = kernel_of("nothing");
  int64_t value = 0;
  CHECK(maxKernelGetAttribute(kernel, limit, &value));
  assert_int_equal(value, 48 << 10);
  MaxLaunchConfig config = shape(1, 1);
  config.sharedByteCount = (48 << 10) + 1;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "49153 bytes");
  config.sharedByteCount = (size_t)-1;
  CHECK_FAILS(launch_shape("nothing", config), MAX_STATUS_INVALID_ARGUMENT, "49152");
  CHECK_FAILS(maxKernelSetAttribute(kernel, limit, (227 << 10) + 1), MAX_STATUS_INVALID_ARGUMENT, "0 to 232448");
  CHECK_FAILS(maxKernelSetAttribute(kernel, limit, -1), MAX_STATUS_INVALID_ARGUMENT, "-1 bytes");
  CHECK(maxKernelSetAttribute(kernel, limit, 227 << 10));
  config.sharedByteCount = 227 << 10;
  CHECK(launch_shape("nothing", config));
  CHECK(maxKernelSetAttribute(kernel, limit, 48 << 10));
}

static void test_attributes(void** state) {
  (void)state;
  int64_t value = 0;
  CHECK(maxKernelGetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &value));
  assert_int_equal(value, 1024);
  CHECK(maxKernelGetAttribute(kernel_of("reverse"), MAX_KERNEL_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &value));
  assert_int_equal(value, 128);
  CHECK_FAILS(launch_shape("reverse", shape(1, 129)), MAX_STATUS_INVALID_ARGUMENT, "128");
  CHECK_FAILS(maxKernelGetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_REGISTERS, &value),
              MAX_STATUS_UNIMPLEMENTED, "attribute 4");
  CHECK_FAILS(maxKernelSetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_REGISTERS, 3), MAX_STATUS_UNIMPLEMENTED,
              "cannot be set");
  CHECK(maxKernelSetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT, 50));
  CHECK(maxKernelGetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT, &value));
  assert_int_equal(value, 50);
  CHECK_FAILS(maxKernelSetAttribute(kernel_of("nothing"), MAX_KERNEL_ATTRIBUTE_PREFERRED_SHARED_CARVEOUT, 101),
              MAX_STATUS_INVALID_ARGUMENT, "101 percent");
  CHECK_FAILS(maxKernelGetAttribute(kernel_of("nothing"), 0, NULL), MAX_STATUS_INVALID_ARGUMENT, "outValue");
}

static void test_arguments_are_checked(void** state) {
  (void)state;
  MaxBuffer* a = new_vector(8, 0.0f);
  const int32_t n = 8;
  const int64_t wide = 8;
  const MaxLaunchConfig config = shape(1, 8);
  MaxKernel* add = kernel_of("add");
  const void* arguments[] = {a, a, a, &n, &n};
  size_t sizes[] = {buffer, buffer, buffer, sizeof n, sizeof n};
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 3, NULL), MAX_STATUS_INVALID_ARGUMENT, "gets 3");
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 5, NULL), MAX_STATUS_INVALID_ARGUMENT, "4 parameters");
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, -1, NULL), MAX_STATUS_INVALID_ARGUMENT, "-1");
  CHECK_FAILS(maxKernelLaunch(add, &config, NULL, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "arguments");
  CHECK_FAILS(maxKernelLaunch(NULL, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "kernel");
  CHECK_FAILS(maxKernelLaunch(add, NULL, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "config");
  arguments[3] = &wide;
  sizes[3] = sizeof wide;
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT,
              "Argument 3 of kernel 'add' has 8 bytes; the parameter has 4");
  arguments[3] = a;
  sizes[3] = buffer;
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, "has 8 bytes");
  arguments[3] = NULL;
  sizes[3] = sizeof n;
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT,
              "Argument 3 of kernel 'add' is NULL");
  maxBufferRelease(a);
}

/* A handle carries its kind: what is none, or another one, is refused before anything is read through it. */
static void test_arguments_that_are_no_buffers(void** state) {
  (void)state;
  MaxBuffer* a = new_vector(8, 0.0f);
  MaxBuffer* others[3] = {a, a, NULL};
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  const int32_t n = 8;
  const MaxLaunchConfig config = shape(1, 8);
  MaxKernel* add = kernel_of("add");
  const void* arguments[] = {a, &others[1], a, &n};
  size_t sizes[] = {buffer, buffer, buffer, sizeof n};
  const char* const text = "Argument 1 of kernel 'add' is not a buffer; pass the MaxBuffer* itself, not its address";
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, text);
  arguments[1] = &others[0];
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT, text);
  arguments[1] = stream;
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT,
              "Argument 1 of kernel 'add' is a MaxStream");
  arguments[1] = a;
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, NULL, 4, NULL), MAX_STATUS_INVALID_ARGUMENT,
              "Argument 0 of kernel 'add' is a buffer; its size must be MAX_KERNEL_ARGUMENT_BUFFER");
  sizes[2] = sizeof(void*);
  CHECK_FAILS(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL), MAX_STATUS_INVALID_ARGUMENT,
              "Argument 2 of kernel 'add' is a buffer");
  sizes[2] = buffer;
  CHECK(maxKernelLaunch(add, &config, arguments, sizes, 4, NULL));
  maxStreamRelease(stream);
  maxBufferRelease(a);
}

/* Values lie anywhere, at the end of a page that nothing follows too. */
static void test_values_at_the_end_of_memory(void** state) {
  (void)state;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(pages != MAP_FAILED);
  assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
  int32_t value = -1;
  int32_t* address = &value;
  void* end = pages + page - sizeof address; /* aligned to 8 bytes, not to 16 */
  memcpy(end, &address, sizeof address);
  const MaxLaunchConfig config = shape(1, 1);
  CHECK(maxModuleSetConstant(shared.module, "total", &(int32_t){5}, 4, NULL));
  CHECK(maxKernelLaunch(kernel_of("read"), &config, (const void*[]){end}, NULL, 1, NULL));
  assert_int_equal(value, 5);
  CHECK_FAILS(maxKernelLaunch(kernel_of("read"), &config, (const void*[]){end}, &buffer, 1, NULL),
              MAX_STATUS_INVALID_ARGUMENT, "is not a buffer");
  assert_int_equal(munmap(pages, 2 * page), 0);
}

static void test_strings_are_no_arguments(void** state) {
  (void)state;
  MaxBuffer* strings = NULL;
  CHECK(maxBufferCreateStrings(shared.device, (const char* const[]){"a"}, (const size_t[]){1}, 1, (const int64_t[]){1},
                               &strings));
  const MaxLaunchConfig config = shape(1, 1);
  CHECK_FAILS(maxKernelLaunch(kernel_of("read"), &config, (const void*[]){strings}, &buffer, 1, NULL),
              MAX_STATUS_INVALID_ARGUMENT, "strings");
  maxBufferRelease(strings);
}

static void test_threads_that_wait_for_ever_or_stop(void** state) {
  (void)state;
  CHECK_FAILS(launch_shape("stuck", shape(2, 8)), MAX_STATUS_FAILED_PRECONDITION, "3 of 8 threads wait at a barrier");
  const MaxLaunchConfig config = shape(1, 8);
  int32_t limit = 5;
  MaxKernel* checked = kernel_of("checked");
  CHECK_FAILS(maxKernelLaunch(checked, &config, (const void*[]){&limit}, NULL, 1, NULL), MAX_STATUS_FAILED_PRECONDITION,
              "Thread 5 of block (0, 0, 0) of kernel 'checked' stopped at test.cu:");
  const MaxLaunchConfig many = shape(500, 8);
  CHECK_FAILS(maxKernelLaunch(checked, &many, (const void*[]){&limit}, NULL, 1, NULL), MAX_STATUS_FAILED_PRECONDITION,
              "Thread 5 of block");
  /* On a stream it is the stream's failure, once. */
  MaxStream* stream = NULL;
  CHECK(maxStreamCreate(shared.device, NULL, &stream));
  CHECK(maxKernelLaunch(checked, &config, (const void*[]){&limit}, NULL, 1, stream));
  CHECK_FAILS(maxStreamSynchronize(stream, 0), MAX_STATUS_FAILED_PRECONDITION, "'checked'");
  limit = 8;
  CHECK(maxKernelLaunch(checked, &config, (const void*[]){&limit}, NULL, 1, stream));
  CHECK(maxStreamSynchronize(stream, 0));
  maxStreamRelease(stream);
  /* Barriers still work. */
  test_barriers_and_dynamic_shared_memory(state);
}

static void* launch_often(void* failures) {
  int32_t values[96];
  int32_t* address = values;
  MaxLaunchConfig config = shape(3, 32);
  config.sharedByteCount = 32 * sizeof(int32_t);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 96; ++i) values[i] = i;
    if (maxKernelLaunch(kernel_of("reverse"), &config, (const void*[]){&address}, NULL, 1, NULL) != MAX_STATUS_OK)
      ++*(int*)failures;
    for (int i = 0; i < 96; ++i) *(int*)failures += values[i] != i / 32 * 32 + 31 - i % 32;
  }
  return NULL;
}

static void test_launches_from_many_threads(void** state) {
  (void)state;
  pthread_t threads[4];
  int failures[4] = {0};
  for (int i = 0; i < 4; ++i) assert_int_equal(pthread_create(&threads[i], NULL, launch_often, &failures[i]), 0);
  for (int i = 0; i < 4; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < 4; ++i) assert_int_equal(failures[i], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SHARED_TEST(test_vector_add),
      SHARED_TEST(test_dimensions),
      SHARED_TEST(test_barriers_and_dynamic_shared_memory),
      SHARED_TEST(test_shuffles),
      SHARED_TEST(test_work_in_stream_order),
      SHARED_TEST(test_large_arguments),
      SHARED_TEST(test_queued_launches_keep_buffers_and_module),
      SHARED_TEST(test_half_precision),
      SHARED_TEST(test_dimensions_that_are_zero_are_one),
      SHARED_TEST(test_dimensions_are_checked),
      SHARED_TEST(test_shared_memory_is_checked),
      SHARED_TEST(test_attributes),
      SHARED_TEST(test_arguments_are_checked),
      SHARED_TEST(test_arguments_that_are_no_buffers),
      SHARED_TEST(test_values_at_the_end_of_memory),
      SHARED_TEST(test_strings_are_no_arguments),
      SHARED_TEST(test_threads_that_wait_for_ever_or_stop),
      SHARED_TEST(test_launches_from_many_threads),
  };
  return RUN_GROUP(tests, compile_shared, release_shared);
}
