// SPDX-License-Identifier: Apache-2.0
// Classifies the held-out digits with the bundled model; examples/digits documents the origin of both.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "info.h"
#include "model.h"
#include "output.h"

extern const unsigned char digits_model[];
extern const size_t digits_model_size;
extern const unsigned char digits_images[];
extern const size_t digits_images_size;
extern const unsigned char digits_labels[];
extern const size_t digits_labels_size;

namespace max::cli {
namespace {

constexpr int64_t kSide = 8, kPixels = kSide * kSide, kClasses = 10;
constexpr int kDrawn = 6, kTimedRuns = 20;
constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
constexpr int kBrightest = 16;

struct Answer {
  int label;
  float confidence;
};

// The elements of a bundled .npy file of bytes: what follows its header.
const unsigned char* elementsOf(const unsigned char* file) {
  constexpr size_t kSizeAt = 8, kHeaderAt = 10;
  return file + kHeaderAt + (file[kSizeAt] | file[kSizeAt + 1] << 8);
}

Array imagesAsFloats(const unsigned char* pixels, int64_t count) {
  Array array{MAX_DTYPE_FLOAT32, {count, 1, kSide, kSide}, {}};
  std::vector<float> values(pixels, pixels + count * kPixels);
  array.bytes.resize(values.size() * sizeof(float));
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

std::vector<Answer> answersOf(const Array& probabilities) {
  std::vector<Answer> answers;
  const auto* row = reinterpret_cast<const float*>(probabilities.bytes.data());
  for (int64_t i = 0; i < probabilities.shape[0]; ++i, row += kClasses) {
    const float* best = std::max_element(row, row + kClasses);
    answers.push_back({static_cast<int>(best - row), *best});
  }
  return answers;
}

// Some correct digits and up to two wrong ones, side by side.
std::vector<size_t> chooseDrawn(const std::vector<Answer>& answers, const unsigned char* labels) {
  std::vector<size_t> right, wrong;
  for (size_t i = 0; i < answers.size(); ++i) (answers[i].label == labels[i] ? right : wrong).push_back(i);
  wrong.resize(std::min<size_t>(wrong.size(), 2));
  right.resize(std::min(right.size(), kDrawn - wrong.size()));
  right.insert(right.end(), wrong.begin(), wrong.end());
  return right;
}

void draw(const std::vector<size_t>& drawn, const unsigned char* pixels) {
  for (int64_t y = 0; y < kSide; ++y) {
    std::string line;
    for (size_t image : drawn) {
      for (int64_t x = 0; x < kSide; ++x) {
        const int pixel = pixels[static_cast<int64_t>(image) * kPixels + y * kSide + x];
        const char* shade = kShades[std::min(pixel, kBrightest) * 4 / kBrightest];
        line += shade;
        line += shade;
      }
      line += "  ";
    }
    printLine(line);
  }
}

void caption(const std::vector<size_t>& drawn, const std::vector<Answer>& answers, const unsigned char* labels) {
  std::string line;
  for (size_t image : drawn) {
    const Answer& answer = answers[image];
    const bool right = answer.label == labels[image];
    const std::string text = right ? format("a %d, %.0f %% sure", answer.label, answer.confidence * 100.0)
                                   : format("a %d, is a %d", answer.label, labels[image]);
    line += format("%-18s", text.c_str());
  }
  printLine(line);
  printLine("");
}

double imagesPerSecond(const OpenModel& open, const std::vector<Buffer>& inputs, int64_t count) {
  double best = 1e9;
  for (int i = 0; i < kTimedRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    execute(open, inputs);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return static_cast<double>(count) / best;
}

}  // namespace

void runDemo() {
  const OpenModel open = openModelFromMemory(digits_model, digits_model_size);
  const unsigned char *pixels = elementsOf(digits_images), *labels = elementsOf(digits_labels);
  const int64_t count = digits_labels + digits_labels_size - labels;
  std::vector<Buffer> inputs;
  inputs.push_back(toBuffer(open.device, imagesAsFloats(pixels, count)));
  const std::vector<Answer> answers = answersOf(toArray(execute(open, inputs)[0]));

  const std::vector<size_t> drawn = chooseDrawn(answers, labels);
  draw(drawn, pixels);
  caption(drawn, answers, labels);
  int64_t right = 0;
  for (int64_t i = 0; i < count; ++i) right += answers[static_cast<size_t>(i)].label == labels[i];
  printLine(format("held-out images    %lld", static_cast<long long>(count)));
  printLine(format("accuracy           %.1f %%", 100.0 * static_cast<double>(right) / static_cast<double>(count)));
  printLine(
      format("images per second  %.0f (one batch, %d threads)", imagesPerSecond(open, inputs, count), open.threads));
  printLine("operators          " + operatorsText(open.model));
}

}  // namespace max::cli
