/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads of one process and another process save to one path, while this thread loads from it: each load is whole.
 * Saves through links and over things that are not files. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models.h"

#define LOADS 1500
#define WRITERS 3

static char folder[64], path[128];

static int make_folder(void** state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/max-test-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/saved", folder);
  return 0;
}

static int remove_folder(void** state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) == 0 ? check_no_leaks(NULL) : -1;
}

/* What is saved and loaded: a number says which of three different contents. */
struct form {
  void* (*make)(int number);
  MaxStatus (*save)(const void* content);
  int (*load)(void); /* the number of what is there; -1 if it is broken */
  void (*release)(void* content);
};

static MaxSession* session;

/* x to the power of 2, 3, 4. */
static void* make_model(int number) { return new_power(session, number + 1); }
static MaxStatus save_model(const void* model) { return maxModelSave(model, path); }
static void release_model(void* model) { maxModelRelease(model); }
static int load_model(void) {
  MaxModel* model = NULL;
  if (maxModelLoad(session, path, NULL, &model) != MAX_STATUS_OK) return -1;
  MaxDevice* cpu = open_cpu();
  MaxBuffer *two = new_buffer(cpu, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){1, 1}), *result = NULL;
  *(float*)data_of(two) = 2;
  CHECK(maxModelExecute(model, &two, 1, NULL, &result, 1));
  const float power = *(const float*)data_of(result);
  maxBufferRelease(two);
  maxBufferRelease(result);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
  return power == 4 ? 0 : power == 8 ? 1 : power == 16 ? 2 : -1;
}

/* Of 1000, 2000, 3000 numbers. */
static void* make_buffer(int number) { return new_vector(1000 * (number + 1), (float)number); }
static MaxStatus save_buffer(const void* buffer) { return maxBufferSave(buffer, path, NULL); }
static void release_buffer(void* buffer) { maxBufferRelease(buffer); }
static int load_buffer(void) {
  MaxBuffer* buffer = NULL;
  if (maxBufferLoad(path, &buffer) != MAX_STATUS_OK) return -1;
  const int64_t count = info_of(buffer).elementCount;
  const float* values = data_of(buffer);
  int number = count % 1000 == 0 ? (int)(count / 1000) - 1 : -1;
  for (int64_t i = 0; number >= 0 && i < count; ++i)
    if (values[i] != (float)number + (float)i) number = -1;
  maxBufferRelease(buffer);
  return number;
}

/* Of one, two, three runs of a model. */
static void* make_profile(int number) {
  MaxSession* profiled = new_session(0);
  CHECK(maxSessionSetProfiling(profiled, MAX_PROFILING_MODE_DETAILED));
  MaxModel* model = new_power(profiled, 1);
  MaxDevice* cpu = open_cpu();
  MaxBuffer* x = new_buffer(cpu, MAX_DTYPE_FLOAT32, 2, (const int64_t[]){1, 1});
  *(float*)data_of(x) = 1;
  for (int i = 0; i <= number; ++i) {
    MaxBuffer* y = NULL;
    CHECK(maxModelExecute(model, &x, 1, NULL, &y, 1));
    maxBufferRelease(y);
  }
  maxBufferRelease(x);
  maxDeviceRelease(cpu);
  maxModelRelease(model);
  return profiled;
}
static MaxStatus save_profile(const void* profiled) { return maxSessionWriteProfile(profiled, path); }
static void release_profile(void* profiled) { maxSessionRelease(profiled); }
static int load_profile(void) {
  char text[1 << 16];
  FILE* file = fopen(path, "rb");
  if (!file) return -1;
  const size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = '\0';
  if (size < 100 || text[0] != '{' || strcmp(text + size - 3, "}}\n") != 0) return -1;
  int runs = 0;
  for (const char* at = text; (at = strstr(at, "\"cat\":\"model\"")) != NULL; ++at) ++runs;
  return runs - 1;
}

struct writer {
  const struct form* form;
  void* content;
  atomic_int* stop;
};

static void* write_until(void* pointer) {
  const struct writer* writer = pointer;
  intptr_t failures = 0;
  while (!*writer->stop) failures += writer->form->save(writer->content) != MAX_STATUS_OK;
  return (void*)failures;
}

static void race(const struct form* form) {
  atomic_int stop = 0;
  void* contents[WRITERS];
  session = new_session(0);
  for (int i = 0; i < WRITERS; ++i) contents[i] = form->make(i);
  CHECK(form->save(contents[0]));
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() != 1) form->save(contents[2]);
    _exit(0);
  }
  pthread_t threads[2];
  struct writer writers[2];
  for (int i = 0; i < 2; ++i) {
    writers[i] = (struct writer){form, contents[i], &stop};
    assert_int_equal(pthread_create(&threads[i], NULL, write_until, &writers[i]), 0);
  }
  int seen[WRITERS] = {0}, broken = 0;
  for (int i = 0; i < LOADS; ++i) {
    const int number = form->load();
    if (number < 0 || number >= WRITERS)
      ++broken;
    else
      ++seen[number];
  }
  stop = 1;
  for (int i = 0; i < 2; ++i) {
    void* failures = NULL;
    assert_int_equal(pthread_join(threads[i], &failures), 0);
    assert_null(failures);
  }
  assert_int_equal(kill(child, SIGKILL), 0);
  waitpid(child, NULL, 0);
  assert_int_equal(broken, 0);
  assert_true(seen[0] + seen[1] + seen[2] == LOADS);
  for (int i = 0; i < WRITERS; ++i) form->release(contents[i]);
  maxSessionRelease(session);
}

static const struct form model_form = {make_model, save_model, load_model, release_model};
static const struct form buffer_form = {make_buffer, save_buffer, load_buffer, release_buffer};
static const struct form profile_form = {make_profile, save_profile, load_profile, release_profile};
static const struct form* const forms[] = {&model_form, &buffer_form, &profile_form};

static void test_models(void** state) {
  (void)state;
  race(&model_form);
}

static void test_checkpoints(void** state) {
  (void)state;
  race(&buffer_form);
}

static void test_profiles(void** state) {
  (void)state;
  race(&profile_form);
}

static off_t size_of(const char* name) {
  struct stat info;
  assert_int_equal(stat(name, &info), 0);
  return info.st_size;
}

/* The name that a writer's process tells, and the target itself, are links to a file that must stay empty. */
static void test_links_are_not_followed(void** state) {
  (void)state;
  char victim[128], guessed[192];
  snprintf(victim, sizeof victim, "%s/victim", folder);
  snprintf(guessed, sizeof guessed, "%s.%d.tmp", path, (int)getpid());
  FILE* file = fopen(victim, "wb");
  assert_non_null(file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(symlink(victim, guessed), 0);
  session = new_session(0);
  for (size_t i = 0; i < COUNT_OF(forms); ++i) {
    void* content = forms[i]->make(1);
    assert_int_equal(symlink(victim, path), 0);
    CHECK(forms[i]->save(content));
    assert_int_equal(forms[i]->load(), 1);
    assert_int_equal(size_of(victim), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(link(victim, path), 0);
    CHECK(forms[i]->save(content));
    assert_int_equal(size_of(victim), 0);
    assert_int_equal(unlink(path), 0);
    forms[i]->release(content);
  }
  maxSessionRelease(session);
}

static void test_what_is_no_file_stays(void** state) {
  (void)state;
  session = new_session(0);
  for (size_t i = 0; i < COUNT_OF(forms); ++i) {
    void* content = forms[i]->make(0);
    assert_int_equal(mkfifo(path, 0600), 0);
    CHECK_FAILS(forms[i]->save(content), MAX_STATUS_INVALID_ARGUMENT, "it is not a regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    CHECK_FAILS(forms[i]->save(content), MAX_STATUS_INVALID_ARGUMENT, "it is a folder");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    CHECK_FAILS(forms[i]->save(content), MAX_STATUS_INVALID_ARGUMENT, "it is not a regular file");
    assert_int_equal(unlink(path), 0);
    forms[i]->release(content);
  }
  maxSessionRelease(session);
}

#define TEST_WITH_FOLDER(function) cmocka_unit_test_setup_teardown(function, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST_WITH_FOLDER(test_models),
      TEST_WITH_FOLDER(test_checkpoints),
      TEST_WITH_FOLDER(test_profiles),
      TEST_WITH_FOLDER(test_links_are_not_followed),
      TEST_WITH_FOLDER(test_what_is_no_file_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
