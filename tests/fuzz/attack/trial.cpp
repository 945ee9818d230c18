// SPDX-License-Identifier: Apache-2.0
#include "attack/trial.h"

#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "attack/chance.h"
#include "attack/generate.h"
#include "attack/onnx_model.h"
#include "attack/outputs.h"
#include "base/dtype.h"
#include "base/error.h"
#include "max/experimental.h"
#include "max/max.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/allocator_interface.h>
#endif

namespace attack {

namespace {

constexpr uint64_t kMegabyte = 1 << 20;
constexpr uint64_t kSessionLimit = 128 * kMegabyte;
constexpr uint64_t kMostMemory = 1024 * kMegabyte;  // without a limit
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kStackBytes = 1024 << 10;  // frames are several times as large
#else
constexpr size_t kStackBytes = 128 << 10;
#endif

#ifdef __SANITIZE_ADDRESS__
// What the heap holds, and what fresh memory is filled with.
std::atomic<int> freshByte{0};
std::atomic<int64_t> heapBytes{0}, heapPeak{0};

void onAllocate(const volatile void* address, size_t size) {
  // Larger blocks are zeroed by the system, not by calloc.
  constexpr size_t kLargest = 100 << 10;
  if (address && size <= kLargest) std::memset(const_cast<void*>(address), freshByte.load(), size);
  const int64_t now = heapBytes += static_cast<int64_t>(size);
  int64_t peak = heapPeak.load();
  while (now > peak && !heapPeak.compare_exchange_weak(peak, now)) {
  }
}

void onFree(const volatile void* address) {
  if (address) heapBytes -= static_cast<int64_t>(__sanitizer_get_allocated_size(address));
}

void watchHeap() {
  static const int installed = __sanitizer_install_malloc_and_free_hooks(onAllocate, onFree);
  (void)installed;
}
void setFreshByte(int byte) { freshByte = byte; }
#else
void watchHeap() {}
void setFreshByte(int byte) { mallopt(M_PERTURB, byte); }
#endif

// The most that the heap has grown by since this object was made.
class HeapGrowth {
 public:
#ifdef __SANITIZE_ADDRESS__
  HeapGrowth() : before_(heapBytes.load()) { heapPeak = before_; }
  uint64_t bytes() const { return static_cast<uint64_t>(std::max<int64_t>(heapPeak.load() - before_, 0)); }

 private:
  int64_t before_;
#else
  uint64_t bytes() const { return 0; }
#endif
};

// What is wrong ends a trial.
[[noreturn]] void complain(std::string kind, std::string text) { throw Verdict{std::move(kind), std::move(text)}; }

void require(bool condition, const char* what) {
  if (!condition) complain("broken", what);
}

template <class T, void (*kRelease)(const T*)>
class Handle {
 public:
  Handle() = default;
  Handle(const Handle&) = delete;
  ~Handle() { kRelease(value_); }
  T** out() { return &value_; }
  T* get() const { return value_; }

 private:
  T* value_ = nullptr;
};

using Session = Handle<MaxSession, maxSessionRelease>;
using Model = Handle<MaxModel, maxModelRelease>;

// A failure is the file's fault, and has a message of one line.
std::string checkedFailure(MaxStatus status) {
  const std::string message = maxGetLastErrorMessage();
  if (status == MAX_STATUS_INTERNAL || status == MAX_STATUS_UNKNOWN)
    complain("status", "status " + std::to_string(status) + ": " + message);
  if (message.empty() || message.find('\n') != message.npos) complain("message", "not one line: " + message);
  if (message.size() > 20000) complain("message", "too long: " + message.substr(0, 200));
  return std::to_string(status) + " " + message;
}

bool mayDiffer(MaxStatus status) {
  return status == MAX_STATUS_DEADLINE_EXCEEDED || status == MAX_STATUS_RESOURCE_EXHAUSTED;
}

bool isRandom(ModelData& model) {
  const auto isOne = [](const NodeData& node) {
    const max::OpSchema* schema = operatorNamed(node.domain, node.op);
    if (schema && schema->has(max::kTraitRandom)) return true;
    for (const char* word : {"Random", "Dropout", "Bernoulli", "Multinomial", "Sampling", "Generat"})
      if (node.op.find(word) != node.op.npos) return true;
    return false;
  };
  for (GraphData* graph : graphsOf(model))
    if (std::any_of(graph->nodes.begin(), graph->nodes.end(), isOne)) return true;
  for (FunctionData& function : model.functions)
    if (std::any_of(function.nodes.begin(), function.nodes.end(), isOne)) return true;
  return false;
}

// What one load and its run came to.
struct Course {
  std::string outcome;  // outputs or the failure
  bool isComparable = true;
  bool isLoaded = false;
  bool hasRun = false;
};

class Trial {
 public:
  Trial(std::string_view bytes, const ModelData& model, std::atomic<Phase>& phase)
      : bytes_(bytes), feeds_(model.feeds), phase_(phase), seed_(std::hash<std::string_view>{}(bytes)) {}

  // Without a limit, files of up to 1 MB have a default one.
  void loadFreely() {
    Session session;
    openSession(session, 0);
    Model model;
    const HeapGrowth growth;
    load(session, model);
    if (growth.bytes() > kMostMemory) complain("memory", "the load takes " + std::to_string(growth.bytes()) + " bytes");
  }

  Course run(bool isSaved) {
    Session session;
    openSession(session, kSessionLimit);
    Course course;
    Model model;
    const HeapGrowth growth;
    const MaxStatus status = load(session, model);
    if (status == MAX_STATUS_OK) {
      course.isLoaded = true;
      execute(model, course);
      if (isSaved && course.hasRun) saveAndRun(session, model);
    } else {
      course.isComparable = !mayDiffer(status);
      course.outcome = "load: " + checkedFailure(status);
    }
    // The heap holds more than what sessions count: a few times the file, and what the sanitizers' builds add.
    const uint64_t allowed = kSessionLimit + 64 * kMegabyte + 16 * bytes_.size();
    if (growth.bytes() > allowed) complain("limit", std::to_string(growth.bytes()) + " bytes pass the session's limit");
    return course;
  }

 private:
  void openSession(Session& session, uint64_t limit) {
    MaxSessionOptions options = MAX_SESSION_OPTIONS_INIT;
    options.threadCount = seed_ % 16 == 0 ? 2 : 1;
    options.memoryLimit = limit;
    require(maxSessionCreate(&options, session.out()) == MAX_STATUS_OK, "no session");
  }

  MaxStatus load(const Session& session, Model& model) {
    phase_ = Phase::Load;
    const double start = processorSeconds();
    const MaxStatus status = maxModelLoadFromMemory(session.get(), bytes_.data(), bytes_.size(), nullptr, model.out());
    const double seconds = processorSeconds() - start;
    require((status == MAX_STATUS_OK) == (model.get() != nullptr), "status and model disagree");
    if (status != MAX_STATUS_OK) checkedFailure(status);
    if (seconds > kLoadSeconds) complain("load time", std::to_string(seconds) + " s");
    return status;
  }

  void execute(const Model& model, Course& course) {
    phase_ = Phase::Run;
    Values inputs(model.get(), feeds_, seed_);
    if (!inputs.isComplete()) return;
    MaxModelExecuteOptions options = MAX_MODEL_EXECUTE_OPTIONS_INIT;
    options.timeoutNs = static_cast<int64_t>(kDeadlineSeconds * 1e9);
    int32_t count = 0;
    require(maxModelGetOutputCount(model.get(), &count) == MAX_STATUS_OK, "no count of outputs");
    Outputs outputs(count);
    const double start = processorSeconds();
    const MaxStatus status =
        maxModelExecuteValues(model.get(), inputs.data(), inputs.count(), &options, outputs.data(), count);
    const double seconds = processorSeconds() - start;
    if (status != MAX_STATUS_OK) {
      course.outcome = "run: " + checkedFailure(status);
      course.isComparable = !mayDiffer(status);
    } else {
      course.outcome = outputs.describe();
      course.hasRun = true;
    }
    if (seconds > kRunSeconds) complain("run time", std::to_string(seconds) + " s with a deadline of 1 s");
  }

  // What was saved must load, and may fail only as before.
  void saveAndRun(const Session& session, const Model& model) {
    phase_ = Phase::Save;
    const std::string path = "/tmp/attack-" + std::to_string(getpid()) + ".maxc";
    const MaxStatus saved = maxModelSave(model.get(), path.c_str());
    if (saved != MAX_STATUS_OK) {
      checkedFailure(saved);
      return;
    }
    Model again;
    const MaxStatus status = maxModelLoad(session.get(), path.c_str(), nullptr, again.out());
    unlink(path.c_str());
    if (status != MAX_STATUS_OK && !mayDiffer(status)) complain("save", "does not load: " + checkedFailure(status));
    Course course;
    if (status == MAX_STATUS_OK) execute(again, course);
  }

  std::string_view bytes_;
  const std::vector<TensorData>& feeds_;
  std::atomic<Phase>& phase_;
  const uint64_t seed_;
};

std::string firstDifference(const std::string& a, const std::string& b) {
  size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const size_t from = at > 60 ? at - 60 : 0;
  return "'" + a.substr(from, 160) + "' or '" + b.substr(from, 160) + "'";
}

Verdict judge(std::string_view bytes, std::atomic<Phase>& phase) {
  ModelData model = readModel(bytes);
  Trial trial(bytes, model, phase);
  const uint64_t seed = std::hash<std::string_view>{}(bytes);
  int64_t before = 0, after = 0;
  require(maxExperimentalGetLiveObjectCount(&before) == MAX_STATUS_OK, "no count of objects");
  setFreshByte(0x11);
  if (seed % 4 == 1) trial.loadFreely();
  const Course first = trial.run(seed % 8 == 2);
  setFreshByte(0xfe);
  const Course second = trial.run(false);
  setFreshByte(0);
  require(maxExperimentalGetLiveObjectCount(&after) == MAX_STATUS_OK, "no count of objects");
  if (before != after) complain("left over", std::to_string(after - before) + " objects");
  if (first.isComparable && second.isComparable && first.outcome != second.outcome && !isRandom(model))
    complain("fresh memory", firstDifference(first.outcome, second.outcome));
  return {"", "", first.isLoaded, first.hasRun};
}

struct Task {
  std::string_view bytes;
  std::atomic<Phase>* phase;
  Verdict verdict;
};

void* judgeTask(void* argument) {
  auto& task = *static_cast<Task*>(argument);
  try {
    task.verdict = judge(task.bytes, *task.phase);
  } catch (const Verdict& verdict) {
    task.verdict = verdict;
  } catch (const max::Error&) {
    task.verdict = {};  // what this program cannot read itself
  }
  *task.phase = Phase::Idle;
  return nullptr;
}

}  // namespace

double processorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Verdict tryModel(std::string_view bytes, std::atomic<Phase>& phase) {
  watchHeap();
  Task task{bytes, &phase, {}};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const bool isStarted = pthread_create(&thread, &attributes, judgeTask, &task) == 0;
  pthread_attr_destroy(&attributes);
  if (isStarted) pthread_join(thread, nullptr);
  return task.verdict;
}

}  // namespace attack
