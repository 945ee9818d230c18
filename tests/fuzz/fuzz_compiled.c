/* SPDX-License-Identifier: Apache-2.0 */
/* Loads whatever it is given as a compiled model, runs it, saves it and loads it again. Its sizes and checksums are
 * made right first, so that mutations reach the graph: where the last bit of the file is set, they stay as they are. */
#include "fuzz.h"

#define HEADER_SIZE 72
#define BLOCK 32

static MaxSession* session;

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  session = openSession();
  return 0;
}

/* As docs/compiled_models.md says. */
struct Checksum {
  uint64_t sums[4];
  uint64_t count;
};

static uint64_t mix(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return sum ^ (sum >> 29);
}

static void add(struct Checksum* checksum, const uint8_t* data, size_t size) {
  for (size_t at = 0; at < size; at += BLOCK, ++checksum->count) {
    uint64_t words[4] = {0};
    memcpy(words, data + at, size - at < BLOCK ? size - at : BLOCK);
    for (int i = 0; i < 4; ++i) checksum->sums[i] = mix(checksum->sums[i], words[i]);
  }
}

static uint64_t valueOf(const struct Checksum* checksum) {
  uint64_t result = checksum->count;
  for (int i = 0; i < 4; ++i) result = mix(result, checksum->sums[i]);
  return result;
}

static int fits(uint64_t offset, uint64_t size, uint64_t whole) { return offset <= whole && size <= whole - offset; }

static void repair(uint8_t* file, size_t size) {
  const struct Checksum empty = {{1, 2, 3, 4}, 0};
  struct Checksum data = empty, graph = empty;
  uint64_t parts[5] = {0}; /* size of the file, offset and size of the graph, of the data */
  memcpy(parts, file + 16, sizeof parts);
  parts[0] = size;
  if (parts[3] > size) parts[3] = size / 4096 * 4096;
  if (!fits(parts[3], parts[4], size)) parts[4] = size - parts[3];
  memcpy(file + 16, parts, sizeof parts);
  add(&data, file + parts[3], (size_t)parts[4]);
  const uint64_t dataSum = valueOf(&data);
  memcpy(file + 56, &dataSum, sizeof dataSum);
  if (!fits(parts[1], parts[2], size)) return;
  add(&graph, file, 64);
  add(&graph, file + parts[1], (size_t)parts[2]);
  const uint64_t graphSum = valueOf(&graph);
  memcpy(file + 64, &graphSum, sizeof graphSum);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int64_t before = liveObjects();
  uint8_t* file = malloc(size + 1);
  check(file != NULL);
  if (size > 0) memcpy(file, data, size);
  if (size >= HEADER_SIZE && (data[size - 1] & 1) == 0) repair(file, size);
  MaxModel* model = NULL;
  const MaxStatus status = maxModelLoadFromMemory(session, file, size, NULL, &model);
  if (model && size % 4 == 0) saveModel(session, model); /* which takes longer than all else */
  finishModel(status, model, size);
  free(file);
  check(liveObjects() == before);
  return 0;
}
