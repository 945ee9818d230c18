/* SPDX-License-Identifier: Apache-2.0 */
/* A model with weights in other files. The input holds the size of the model (two bytes), the model, and what becomes
 * of weights.bin beside it and in a folder; links, a hard link, a pipe and a socket lie there too,
 * which must not be followed and not be read. */
/* clang-format off */
#include "fuzz.h" /* says which functions the system headers offer */
#include <sys/stat.h>
/* clang-format on */

static MaxSession* session;
static char folder[] = "/tmp/max-fuzz-XXXXXX";

static void removeFolder(void) {
  static const char* const names[] = {"model.onnx", "weights.bin",     "link.bin", "hard.bin",
                                      "twin.bin",   "sub/weights.bin", "pipe.bin", "zero.bin",
                                      "none.bin",   "self.bin",        "etc",      "socket.bin"};
  check(chdir(folder) == 0);
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) unlink(names[i]);
  rmdir("sub");
  rmdir(folder);
}

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  session = openSession();
  check(mkdtemp(folder) != NULL && chdir(folder) == 0 && mkdir("sub", 0700) == 0);
  check(symlink("/etc/passwd", "link.bin") == 0);
  FILE* file = fopen("twin.bin", "wb");
  check(file != NULL && fwrite(folder, 1, sizeof folder, file) == sizeof folder && fclose(file) == 0);
  check(link("twin.bin", "hard.bin") == 0);
  check(symlink("/dev/zero", "zero.bin") == 0 && symlink("nowhere", "none.bin") == 0);
  check(symlink("self.bin", "self.bin") == 0 && symlink("/etc", "etc") == 0 && mkfifo("pipe.bin", 0600) == 0);
  check(mknod("socket.bin", S_IFSOCK | 0600, 0) == 0);
  atexit(removeFolder);
  return 0;
}

static void writeFile(const char* name, const uint8_t* data, size_t size) {
  FILE* file = fopen(name, "wb");
  check(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  size_t modelSize = data[0] | (size_t)data[1] << 8;
  if (modelSize > size - 2) modelSize = size - 2;
  const int64_t before = liveObjects();
  check(chdir(folder) == 0);
  writeFile("model.onnx", data + 2, modelSize);
  writeFile("weights.bin", data + 2 + modelSize, size - 2 - modelSize);
  writeFile("sub/weights.bin", data + 2 + modelSize, size - 2 - modelSize);
  MaxModel* model = NULL;
  const MaxStatus status = maxModelLoad(session, "model.onnx", NULL, &model);
  MaxModelInfo* info = NULL;
  const MaxStatus seen = maxModelInfoLoad("model.onnx", &info);
  if (seen != MAX_STATUS_OK) checkFailure(seen);
  maxModelInfoRelease(info);
  if (model) saveModel(session, model);
  finishModel(status, model, size);
  check(liveObjects() == before);
  return 0;
}
