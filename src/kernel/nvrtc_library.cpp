// SPDX-License-Identifier: Apache-2.0
#include "kernel/nvrtc_library.h"

#include <stdlib.h>

#include <algorithm>
#include <climits>
#include <deque>
#include <utility>

#include "base/error.h"

namespace max {

namespace {

constexpr const char* kLibraryVariable = "MAX_NVRTC_LIBRARY";
constexpr std::string_view kUnavailable = "NVRTC is not available: ";

// A library's name and the versions that have it. The first is the user's choice among equals.
struct NameRow {
  const char* name;
  int oldest;
  int newest;
};
constexpr NameRow kNames[] = {
    {"libnvrtc.so", 0, INT_MAX},        {"libnvrtc.so.13", 13000, 13990},   {"libnvrtc.so.12", 12000, 12990},
    {"libnvrtc.so.11.2", 11020, 11990}, {"libnvrtc.so.11.1", 11010, 11010}, {"libnvrtc.so.11.0", 11000, 11000},
};

// A group and minus the version; smaller is better.
using Rank = std::pair<int, int64_t>;

Rank rankOf(int64_t version, bool knowsChip, const NvrtcTarget& target) {
  enum { kFits, kSameMajor, kOnlyPtx, kOnlyPtxOfSameMajor, kTooNew, kTooNewAndOnlyPtx };
  const bool fits = target.driver == 0 || version <= target.driver;
  const bool isSameMajor = version / 1000 == target.driver / 1000;
  if (knowsChip) return {fits ? kFits : isSameMajor ? kSameMajor : kTooNew, -version};
  return {fits ? kOnlyPtx : isSameMajor ? kOnlyPtxOfSameMajor : kTooNewAndOnlyPtx, -version};
}

// A name under which a version may be installed.
class Candidate {
 public:
  explicit Candidate(const NameRow& row) : row_(row), compiler_({row.name, {kLibraryVariable}}) {}

  // The best that a version of this name can be.
  Rank bound(const NvrtcTarget& target) const {
    const bool maybeFits = target.driver == 0 || row_.oldest <= target.driver;
    const int64_t best = target.driver == 0 ? row_.newest : std::min<int64_t>(row_.newest, target.driver);
    return rankOf(maybeFits ? best : row_.oldest, true, target);
  }
  // NULL = there is none.
  const CompilerFacts* facts() {
    return unlessMissing([&] { return &compiler_.facts(); });
  }
  const Nvrtc* open() {
    return unlessMissing([&] { return &compiler_.open(); });
  }
  // Why there is none.
  std::string problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
  }

 private:
  // The first failure is remembered.
  template <class Find>
  auto unlessMissing(Find&& find) -> decltype(find()) {
    if (isMissing_.load(std::memory_order_acquire)) return nullptr;
    try {
      return find();
    } catch (const Error& error) {
      if (error.status() != MAX_STATUS_UNAVAILABLE) throw;
      const std::string_view text = error.message();
      const std::lock_guard lock(mutex_);
      problem_ = text.substr(text.starts_with(kUnavailable) ? kUnavailable.size() : 0);
      isMissing_.store(true, std::memory_order_release);
      return nullptr;
    }
  }

  const NameRow& row_;
  LazyCompiler<Nvrtc> compiler_;
  mutable std::mutex mutex_;
  std::string problem_;
  std::atomic<bool> isMissing_{false};
};

// If the user names a library, the first stands for it.
std::deque<Candidate>& candidates() {
  static auto& all = *[] {
    auto* made = new std::deque<Candidate>;
    for (const NameRow& row : kNames)
      if (made->empty() || !secure_getenv(kLibraryVariable)) made->emplace_back(row);
    return made;
  }();
  return all;
}

[[noreturn]] void failMissing() {
  std::string problems;
  for (const Candidate& candidate : candidates()) problems += concat(problems.empty() ? "" : ", ", candidate.problem());
  const char* chosen = secure_getenv(kLibraryVariable);
  fail(MAX_STATUS_UNAVAILABLE, kUnavailable, "tried ", problems,
       chosen ? concat(" (named by ", kLibraryVariable, ")")
              : concat("; ", kLibraryVariable, " can name another library"));
}

// Libraries are opened only as long as one of the rest may be better.
Candidate& choose(const NvrtcTarget& target) {
  std::vector<std::pair<Rank, Candidate*>> order;
  for (Candidate& candidate : candidates()) order.emplace_back(candidate.bound(target), &candidate);
  std::ranges::stable_sort(order, {}, &std::pair<Rank, Candidate*>::first);
  Candidate* best = nullptr;
  Rank bestRank;
  for (const auto& [bound, candidate] : order) {
    if (best && bestRank <= bound) break;
    const CompilerFacts* facts = candidate->facts();
    if (!facts) continue;
    const Rank rank = rankOf(facts->version, isKnownChip(*facts, target.chip), target);
    if (best && bestRank <= rank) continue;
    best = candidate;
    bestRank = rank;
  }
  if (!best) failMissing();
  return *best;
}

}  // namespace

Nvrtc::Nvrtc(const CompilerName& name) {
  const gpu::Library library(kLibraryVariable, std::span(&name.name, 1));
  require(library.isOpen(), MAX_STATUS_UNAVAILABLE, library.reason());
  loadRtcApi(library, "NVRTC", "nvrtc", api);
  const LibrarySymbol symbols[] = {{"nvrtcGetPTXSize", &getPtxSize},
                                   {"nvrtcGetPTX", &getPtx},
                                   {"nvrtcGetCUBINSize", &getCubinSize, false},
                                   {"nvrtcGetCUBIN", &getCubin, false},
                                   {"nvrtcGetNumSupportedArchs", &getNumSupportedArchs, false},
                                   {"nvrtcGetSupportedArchs", &getSupportedArchs, false}};
  loadSymbols(library, "NVRTC", symbols);
  int major = 0, minor = 0, count = 0;
  const int result = api.version(&major, &minor);
  require(result == kRtcSuccess, MAX_STATUS_UNAVAILABLE, kUnavailable, "'", library.name(), "' returned error ",
          result);
  label = concat("NVRTC ", major, ".", minor);
  facts.version = 1000 * major + 10 * minor;
  facts.files = {fileOfSymbol(reinterpret_cast<const void*>(api.version))};
  facts.identity = concat(label, " ", stampOfFile(facts.files[0]));
  if (getNumSupportedArchs && getSupportedArchs && getNumSupportedArchs(&count) == kRtcSuccess && count > 0) {
    facts.chips.resize(static_cast<size_t>(count));
    if (getSupportedArchs(facts.chips.data()) != kRtcSuccess) facts.chips.clear();
    std::sort(facts.chips.begin(), facts.chips.end());
  }
}

bool isKnownChip(const CompilerFacts& facts, int chip) {
  return facts.chips.empty() || std::binary_search(facts.chips.begin(), facts.chips.end(), chip);
}

const CompilerFacts& nvrtcFacts(const NvrtcTarget& target) {
  while (true)
    if (const CompilerFacts* facts = choose(target).facts()) return *facts;
}

// What is on record may be gone, or be another by now: then the choice is another.
const Nvrtc& openNvrtc(const NvrtcTarget& target) {
  while (true) {
    Candidate& chosen = choose(target);
    const Nvrtc* opened = chosen.open();
    if (opened && &choose(target) == &chosen) return *opened;
  }
}

}  // namespace max
