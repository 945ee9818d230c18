/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies the held-out digits with the model of examples/digits, on the C API alone:
 *
 *     example_digits [FOLDER]     FOLDER holds digits.onnx, images.npy and labels.npy; default examples/digits
 *
 * Draws a few images with label and confidence, then prints accuracy, images per second and the model's operators.
 */
#include <max/max.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, DRAWN = 6, RUNS = 20, MAX_IMAGES = 1797 };

/* Ends the program with the library's message if a call failed. */
static void check(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", maxStatusGetName(status), maxGetLastErrorMessage());
  exit(1);
}

/* Reads the elements of a .npy file of bytes: what follows its header. Returns their number. */
static size_t readBytes(const char* folder, const char* name, unsigned char* out, size_t limit) {
  char path[1024];
  unsigned char start[10];
  FILE* file;
  size_t count;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  file = fopen(path, "rb");
  if (!file || fread(start, 1, sizeof start, file) != sizeof start) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  fseek(file, start[8] + 256 * start[9], SEEK_CUR);
  count = fread(out, 1, limit, file);
  fclose(file);
  return count;
}

static MaxModel* loadModel(const char* folder) {
  char path[1024];
  MaxSession* session;
  MaxModel* model;
  snprintf(path, sizeof path, "%s/digits.onnx", folder);
  check(maxSessionCreate(NULL, &session));
  check(maxModelLoad(session, path, NULL, &model));
  maxSessionRelease(session); /* the model holds it */
  return model;
}

/* One batch of all images, values 0 to 16. */
static MaxBuffer* makeInput(const unsigned char* pixels, size_t count) {
  const int64_t shape[] = {(int64_t)count, 1, SIDE, SIDE};
  MaxDevice* device;
  MaxBuffer* input;
  void* data;
  size_t i;
  check(maxDeviceCreate("cpu", -1, NULL, &device));
  check(maxBufferCreate(device, MAX_DTYPE_FLOAT32, 4, shape, NULL, &input));
  check(maxBufferGetMutableData(input, &data));
  for (i = 0; i < count * PIXELS; ++i) ((float*)data)[i] = pixels[i];
  maxDeviceRelease(device);
  return input;
}

static int bestClass(const float* probabilities) {
  int best = 0, i;
  for (i = 1; i < CLASSES; ++i)
    if (probabilities[i] > probabilities[best]) best = i;
  return best;
}

static void draw(const unsigned char* pixels, const float* probabilities) {
  int image, x, y;
  for (y = 0; y < SIDE; ++y) {
    for (image = 0; image < DRAWN; ++image) {
      for (x = 0; x < SIDE; ++x) {
        const char shade = " .:*#"[pixels[image * PIXELS + y * SIDE + x] / 4];
        printf("%c%c", shade, shade);
      }
      printf("  ");
    }
    printf("\n");
  }
  for (image = 0; image < DRAWN; ++image) {
    const float* row = probabilities + image * CLASSES;
    const int best = bestClass(row);
    printf("a %d, %3.0f %% sure   ", best, row[best] * 100.0);
  }
  printf("\n\n");
}

static double secondsOfBestRun(const MaxModel* model, MaxBuffer* input) {
  double best = 1e9;
  int i;
  for (i = 0; i < RUNS; ++i) {
    struct timespec start, end;
    MaxBuffer* output;
    double seconds;
    timespec_get(&start, TIME_UTC);
    check(maxModelExecute(model, &input, 1, NULL, &output, 1));
    timespec_get(&end, TIME_UTC);
    maxBufferRelease(output);
    seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    if (seconds < best) best = seconds;
  }
  return best;
}

static void printOperators(const MaxModel* model) {
  MaxModelInfo* info; /* borrowed from the model */
  int32_t count, i;
  check(maxModelGetInfo(model, &info));
  check(maxModelInfoGetOperatorCount(info, &count));
  printf("operators         ");
  for (i = 0; i < count; ++i) {
    const char* name;
    int64_t nodes;
    check(maxModelInfoGetOperatorName(info, i, &name));
    check(maxModelInfoGetOperatorNodeCount(info, i, &nodes));
    printf(" %s %d", name, (int)nodes);
  }
  printf("\n");
}

int main(int argc, char** argv) {
  static unsigned char pixels[MAX_IMAGES * PIXELS], labels[MAX_IMAGES];
  const char* folder = argc > 1 ? argv[1] : "examples/digits";
  const size_t count = readBytes(folder, "labels.npy", labels, sizeof labels);
  MaxModel* model = loadModel(folder);
  MaxBuffer *input, *output;
  const void* probabilities;
  size_t i, right = 0;

  if (readBytes(folder, "images.npy", pixels, sizeof pixels) != count * PIXELS || count < DRAWN) return 1;
  input = makeInput(pixels, count);
  check(maxModelExecute(model, &input, 1, NULL, &output, 1));
  check(maxBufferGetData(output, &probabilities));
  for (i = 0; i < count; ++i) right += bestClass((const float*)probabilities + i * CLASSES) == labels[i];

  draw(pixels, probabilities);
  printf("held-out images    %d\n", (int)count);
  printf("accuracy           %.1f %%\n", 100.0 * (double)right / (double)count);
  printf("images per second  %.0f\n", (double)count / secondsOfBestRun(model, input));
  printOperators(model);
  maxBufferRelease(output);
  maxBufferRelease(input);
  maxModelRelease(model);
  return 0;
}
