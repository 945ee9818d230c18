// SPDX-License-Identifier: Apache-2.0
// Tries models that are made at random, or are mutations of others, in processes that may crash:
//   attack_models [--seconds N] [--seed S] [--jobs J] [--corpus FOLDER] [--output FOLDER]
//   attack_models FILE...            tries these
//   attack_models --shrink FILE      writes FILE.small, which fails in the same way
// The models follow from seed and number alone. Each cause that is found is reported once, with its smallest model.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "attack/chance.h"
#include "attack/generate.h"
#include "attack/mutate.h"
#include "attack/onnx_model.h"
#include "attack/worker.h"
#include "attack/wrap.h"
#include "base/error.h"

extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:handle_abort=1:detect_leaks=0:quarantine_size_mb=32:max_allocation_size_mb=8192:"
         "intercept_tls_get_addr=0:detect_stack_use_after_return=0:fast_unwind_on_malloc=1:malloc_context_size=8";
}
extern "C" const char* __ubsan_default_options();
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }

namespace {

using namespace attack;
using Clock = std::chrono::steady_clock;

struct Options {
  double seconds = 60;
  uint64_t seed = 1;
  int jobs = 1;
  uint64_t first = 0;
  std::string corpus, output = ".", shrunk;
  std::vector<std::string> files;
};

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const char* value = i + 1 < count ? arguments[i + 1] : "";
    if (name == "--seconds")
      options.seconds = std::atof(value), ++i;
    else if (name == "--seed")
      options.seed = std::strtoull(value, nullptr, 10), ++i;
    else if (name == "--first")
      options.first = std::strtoull(value, nullptr, 10), ++i;
    else if (name == "--jobs")
      options.jobs = std::max(1, std::atoi(value)), ++i;
    else if (name == "--corpus")
      options.corpus = value, ++i;
    else if (name == "--output")
      options.output = value, ++i;
    else if (name == "--shrink")
      options.shrunk = value, ++i;
    else
      options.files.push_back(name);
  }
  return options;
}

std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void writeFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Models that were right, in an order that does not depend on the file system.
std::vector<ModelData> readCorpus(const std::string& folder) {
  std::vector<std::string> paths;
  if (!folder.empty())
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".onnx" && entry.file_size() < 65536) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<ModelData> models;
  for (const std::string& path : paths) try {
      models.push_back(readModel(readFile(path)));
    } catch (const max::Error&) {
      std::fprintf(stderr, "attack_models: %s is not a model\n", path.c_str());
    }
  return models;
}

std::string modelOf(uint64_t seed, uint64_t number, const std::vector<ModelData>& corpus) {
  Chance chance(seed, number);
  ModelData model;
  const bool isMade = corpus.empty() || chance.happens(35);
  if (isMade) {
    model = randomModel(chance);
    if (chance.happens(25)) wrap(model, chance);
  } else {
    model = copyOf(corpus[chance.below(corpus.size())]);
  }
  if (!isMade || chance.happens(20))
    mutate(model, corpus.empty() ? model : corpus[chance.below(corpus.size())], chance);
  return writeModel(model);
}

std::string fileNameOf(const std::string& cause) {
  std::string name = cause.substr(0, 120);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  return name;
}

// Causes and their smallest models.
class Findings {
 public:
  explicit Findings(std::string folder) : folder_(std::move(folder)) {}

  void add(const Finding& finding, const std::string& from) {
    Entry& entry = entries_[finding.cause];
    if (++entry.count > 1 && entry.size <= finding.model.size()) return;
    if (entry.count == 1) std::printf("FOUND %s\n      %s\n", finding.cause.c_str(), from.c_str()), std::fflush(stdout);
    entry.size = finding.model.size();
    const std::string path = folder_ + "/" + fileNameOf(finding.cause);
    writeFile(path + ".onnx", finding.model);
    writeFile(path + ".txt", finding.cause + "\n" + from + "\n" + finding.report);
  }

  int report() const {
    for (const auto& [cause, entry] : entries_) std::printf("%6d x %s\n", entry.count, cause.c_str());
    return entries_.empty() ? 0 : 1;
  }

 private:
  struct Entry {
    int count = 0;
    size_t size = 0;
  };
  std::string folder_;
  std::map<std::string, Entry> entries_;
};

// One job: the numbers first + job, first + job + jobs, ...
int runJob(const Options& options, int job, const std::vector<ModelData>& corpus) {
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  const auto isOver = [&] { return Clock::now() >= end; };
  Findings findings(options.output);
  Worker worker(options.output);
  uint64_t number = options.first + static_cast<uint64_t>(job);
  const auto source = [&](uint64_t n) { return modelOf(options.seed, n, corpus); };
  const auto found = [&](const Finding& finding) {
    findings.add(finding, "seed " + std::to_string(options.seed) + ", number " + std::to_string(finding.number));
  };
  while (!isOver()) number = worker.work(source, number, static_cast<uint64_t>(options.jobs), isOver, found);
  std::printf("%llu models tried, %llu loaded, %llu ran; seed %llu\n", static_cast<unsigned long long>(worker.tried()),
              static_cast<unsigned long long>(worker.loaded()), static_cast<unsigned long long>(worker.ran()),
              static_cast<unsigned long long>(options.seed));
  return findings.report();
}

int runJobs(const Options& options) {
  mkdir(options.output.c_str(), 0777);
  const std::vector<ModelData> corpus = readCorpus(options.corpus);
  std::printf("attack_models: seed %llu, %zu models to mutate, %zu operators\n",
              static_cast<unsigned long long>(options.seed), corpus.size(), operators().size());
  std::fflush(stdout);
  if (options.jobs == 1) return runJob(options, 0, corpus);
  for (int job = 0; job < options.jobs; ++job)
    if (fork() == 0) {
      const int result = runJob(options, job, corpus);
      std::fflush(stdout);
      _exit(result);
    }
  int worst = 0, status = 0;
  while (wait(&status) > 0) worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  return worst;
}

int tryFiles(const Options& options) {
  int failures = 0;
  for (const std::string& path : options.files) {
    Worker worker("/tmp");
    const Finding finding = tryOnce(worker, readFile(path));
    std::printf("%s: %s\n%s", path.c_str(), finding.cause.empty() ? "nothing" : finding.cause.c_str(),
                finding.report.c_str());
    failures += !finding.cause.empty();
  }
  return failures > 0;
}

int shrinkFile(const std::string& path) {
  Worker worker("/tmp");
  ModelData model = readModel(readFile(path));
  const std::string cause = tryOnce(worker, writeModel(model)).cause;
  if (cause.empty()) {
    std::printf("%s: nothing is wrong\n", path.c_str());
    return 1;
  }
  shrink(model, [&](const ModelData& smaller) {
    const std::string now = tryOnce(worker, writeModel(smaller)).cause;
    // Causes that name operators may name fewer.
    const size_t colon = cause.find(':');
    return now == cause ||
           (colon != cause.npos && now.substr(0, colon) == cause.substr(0, colon) && !now.starts_with("undefined"));
  });
  writeFile(path + ".small", writeModel(model));
  std::printf("%s: %s\n", path.c_str(), cause.c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = parse(count, arguments);
  if (!options.shrunk.empty()) return shrinkFile(options.shrunk);
  return options.files.empty() ? runJobs(options) : tryFiles(options);
}
