/* SPDX-License-Identifier: Apache-2.0 */
/* For the one file of a program: counts what malloc and the like are asked for, except under sanitizers, which have a
   malloc of their own. */
#ifndef MAX_TESTS_CAPI_COUNT_ALLOCATIONS_H
#define MAX_TESTS_CAPI_COUNT_ALLOCATIONS_H

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAN_COUNT 0
#else
#define CAN_COUNT 1
#endif

static atomic_long allocations;

#if CAN_COUNT
/* glibc's own functions under the names that malloc's replacements may use. */
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* pointer, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  atomic_fetch_add(&allocations, 1);
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  atomic_fetch_add(&allocations, 1);
  return __libc_calloc(count, size);
}

void* realloc(void* pointer, size_t size) {
  atomic_fetch_add(&allocations, 1);
  return __libc_realloc(pointer, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  atomic_fetch_add(&allocations, 1);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  atomic_fetch_add(&allocations, 1);
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}
#endif

#endif
