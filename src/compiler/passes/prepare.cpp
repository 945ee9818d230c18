// SPDX-License-Identifier: Apache-2.0
// Packs weights for kernels that need it, one tensor per lane at a time, so that only a few unpacked weights are in
// memory at once.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/active_call.h"
#include "base/packed_memory.h"
#include "compiler/aligned_weights.h"
#include "compiler/passes.h"
#include "compiler/widened_weights.h"
#include "ops/op_kernel.h"

namespace max {

namespace {

// Packing is bound by memory speed; more lanes would only hold more tensors at once.
constexpr int kPackingLanes = 4;
constexpr size_t kTightBudget = size_t{32} << 20;
constexpr size_t kMostBlockBytes = size_t{8} << 20;

struct Job {
  Node* node;
  const OpRow* row;
};

// A placed node reads the copy in the accelerator's memory.
bool isReplaced(const Use& use) {
  if (use.node->placed) return use.node->inputs[static_cast<size_t>(use.index)]->onDevice(use.node->home) != nullptr;
  return use.node->prepared && use.node->prepared->replaces(static_cast<size_t>(use.index));
}

bool isLarge(const Value* value) {
  return value && value->constant && value->constant->bytes() >= kLargeTensorBytes && value->constant->hasContents();
}

// Large ones, or those of 16 bits.
bool isWeight(const Value* value) { return isLarge(value) || narrowWeights(value); }

bool isInFile(const Tensor& tensor) { return tensor.storage() && tensor.storage()->file(); }

// Gather copies elements as bytes wherever they lie, and a call needs few of a large table.
bool readsBytes(const Use& use) { return use.node->op() == "Gather" && use.node->domain().empty() && use.index == 0; }

// Data in a file can be read again if needed; other data is lost.
void giveUp(Value& value) {
  if (isInFile(*value.constant))
    value.constant->dropPages();
  else
    value.constant = value.constant->withoutContents();
}

// Packed weights of another graph of the same file, by the address of a weight in the mapping that both share.
class Donor {
 public:
  explicit Donor(const Graph* graph) {
    if (!graph) return;
    for (const Node* node : graph->nodes())
      if (const void* address = node->prepared ? addressOf(*node) : nullptr) nodes_.emplace(address, node);
  }

  Ref<Prepared> find(const Node& node) const {
    if (nodes_.empty()) return nullptr;
    const auto [begin, end] = nodes_.equal_range(addressOf(node));
    for (auto entry = begin; entry != end; ++entry)
      if (isSame(*entry->second, node)) return entry->second->prepared;
    return nullptr;
  }

 private:
  static const Tensor* fileTensor(const Value* value) {
    return isLarge(value) && isInFile(*value->constant) ? value->constant.get() : nullptr;
  }

  static const void* addressOf(const Node& node) {
    for (const Value* input : node.inputs)
      if (const Tensor* tensor = fileTensor(input)) return tensor->data();
    return nullptr;
  }

  static bool isSame(const Value* a, const Value* b) {
    const Tensor *first = fileTensor(a), *second = fileTensor(b);
    if (!first || !second) return false;
    return first->data() == second->data() && first->dtype() == second->dtype() && first->shape() == second->shape();
  }

  // For already packed constants. Prepared data does not depend on other inputs.
  static bool isSame(const Node& a, const Node& b) {
    if (a.schema != b.schema || a.inputs.size() != b.inputs.size()) return false;
    if (a.products != b.products || a.productParts != b.productParts) return false;
    if (a.attributes.entries() != b.attributes.entries()) return false;
    bool found = false;
    for (size_t i = 0; i < a.inputs.size(); ++i) {
      if (!a.prepared->replaces(i)) continue;
      if (!isSame(a.inputs[i], b.inputs[i])) return false;
      found = true;
    }
    return found;
  }

  std::unordered_multimap<const void*, const Node*> nodes_;
};

std::vector<const Tensor*> knownInputs(const Node& node) {
  std::vector<const Tensor*> known;
  for (const Value* input : node.inputs) {
    const bool isKnown = input && input->constant && input->constant->hasContents();
    known.push_back(isKnown ? input->constant.get() : nullptr);
  }
  return known;
}

// Of the tensors that packing has to copy.
size_t largestCopied(const std::vector<Job>& jobs, const OperatorLibrary& operators) {
  size_t bytes = 0;
  for (const Job& job : jobs) {
    if (operators.packsUnaligned(*job.node, knownInputs(*job.node))) continue;
    for (const Value* input : job.node->inputs)
      if (isLarge(input) && !input->constant->isAligned()) bytes = std::max(bytes, input->constant->bytes());
  }
  return bytes;
}

// Floats of weights that are of 16 bits.
Ref<Tensor> widened(const Node& cast) {
  const Tensor* narrow = cast.input(0)->constant.get();
  return evaluate(cast, std::span(&narrow, 1)).at(0);
}

class Packer {
 public:
  Packer(const CompileOptions& options, const std::vector<Job>& jobs)
      : operators_(options.operators),
        folder_(options.weightsFolder),
        budget_(options.budget->packed),
        donor_(options.donor),
        blockBytes_(std::min(largestCopied(jobs, operators_), kMostBlockBytes)) {}

  void run(const Job& job) {
    Node& node = *job.node;
    // Kernels can also pack large weights for each plan.
    if (std::any_of(node.inputs.begin(), node.inputs.end(), isWeight) && !isAffordable()) return;
    node.prepared = donor_.find(node);
    const bool isNew = !node.prepared;
    if (isNew) node.prepared = prepare(job);
    if (node.prepared) finish(node, isNew);
  }

  // The last node that needs a constant releases it.
  void finish(const Node& node, bool isNew) {
    const std::lock_guard lock(mutex_);
    if (isNew) budget_ -= std::min(budget_, node.prepared->bytes());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Value* value = node.inputs[i];
      if (const Value* narrow = narrowWeights(value)) narrow->constant->dropPages();
      if (!isLarge(value)) continue;
      if (!node.prepared->replaces(i))
        value->constant->dropPages();  // read for now
      else if (++done_[value] == value->uses.size() && !value->isOutput())
        giveUp(*value);
    }
  }

 private:
  bool isAffordable() {
    const std::lock_guard lock(mutex_);
    return budget_ > 0;
  }

  Ref<Prepared> prepare(const Job& job) {
    const std::vector<const Tensor*> known = knownInputs(*job.node);
    if (std::none_of(job.node->inputs.begin(), job.node->inputs.end(), narrowWeights)) return recallOrPack(job, known);
    std::vector<const Tensor*> narrow = known, wide = known;
    std::vector<Ref<Tensor>> floats;
    const auto replace = [&](std::vector<const Tensor*>& constants, auto tensorOf) {
      for (size_t i = 0; i < known.size(); ++i)
        if (narrowWeights(job.node->inputs[i])) constants[i] = tensorOf(*job.node->inputs[i]->producer);
    };
    replace(narrow, [](const Node& cast) { return cast.input(0)->constant.get(); });
    if (Ref<Prepared> result = pack(job, narrow)) return result;
    replace(wide, [&](const Node& cast) { return floats.emplace_back(widened(cast)).get(); });
    return pack(job, wide);
  }

  Ref<Prepared> recallOrPack(const Job& job, std::span<const Tensor* const> known) {
    if (folder_.empty()) return pack(job, known);
    if (Ref<Prepared> recalled = operators_.recallWeights(folder_, *job.node, known)) return recalled;
    Ref<Prepared> result = pack(job, known);
    if (result) operators_.keepWeights(folder_, *job.node, known, *result);
    return result;
  }

  Ref<Prepared> pack(const Job& job, std::span<const Tensor* const> known) {
    if (operators_.packsUnaligned(*job.node, known)) return packNow(job, known);
    std::vector<Ref<Tensor>> held;
    std::vector<const Tensor*> constants;
    for (const Tensor* tensor : known) {
      if (tensor) held.push_back(aligned(*tensor));
      constants.push_back(tensor ? held.back().get() : nullptr);
    }
    Ref<Prepared> result = packNow(job, constants);
    for (size_t i = 0, copy = 0; i < constants.size(); ++i)
      if (constants[i] && held[copy++].get() != known[i]) giveBack(*constants[i]);
    return result;
  }

  // Errors in attributes lack the node's name.
  static Ref<Prepared> packNow(const Job& job, std::span<const Tensor* const> constants) {
    try {
      return job.row->prepare(*job.node, constants);
    } catch (const Error& error) {
      if (error.message().starts_with("node '")) throw;
      fail(error.status(), job.node->description(), ": ", error.message());
    }
  }

  // Like Tensor::aligned, but reuses memory of earlier tensors.
  Ref<Tensor> aligned(const Tensor& tensor) {
    if (tensor.isAligned()) return tensor.aligned();
    Ref<Storage> block = takeBlock(tensor.bytes());
    tensor.copyTo(block->data());
    const void* data = block->data();
    return makeRef<Tensor>(tensor.dtype(), tensor.shape(), data, std::move(block));
  }

  Ref<Storage> takeBlock(size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      Ref<Storage> block;
      if (!blocks_.empty()) {
        block = std::move(blocks_.back());
        blocks_.pop_back();
      }
      if (block && block->size() >= bytes) return block;
    }
    return allocateLastingStorage(std::max(bytes, blockBytes_));
  }

  void giveBack(const Tensor& copy) {
    const std::lock_guard lock(mutex_);
    const bool isMine = copy.referenceCount() == 1 && copy.storage()->referenceCount() == 1;
    if (isMine) blocks_.push_back(copy.storage());
  }

  std::mutex mutex_;
  const OperatorLibrary& operators_;
  const std::string& folder_;
  size_t& budget_;
  std::vector<Ref<Storage>> blocks_;  // idle ones
  Donor donor_;
  const size_t blockBytes_;                        // of new ones, at least: the next tensors mostly fit
  std::unordered_map<const Value*, size_t> done_;  // uses that no longer need the contents
};

}  // namespace

namespace {

// A node that reads the same weights as another in the same way, as those of an unrolled loop do.
struct Twin {
  Node* node;
  const Node* first;
};

bool areTwins(const Node& a, const Node& b) {
  if (a.schema != b.schema || a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) return false;
  if (a.attributes.entries() != b.attributes.entries()) return false;
  const auto fits = [](const Value* x, const Value* y) {
    if (x == y) return true;
    return x && y && !x->constant && !y->constant && x->type.dtype == y->type.dtype && x->type.dims == y->type.dims;
  };
  return std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), fits) &&
         std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), fits);
}

// Takes all but the first of equal ones out of the jobs.
std::vector<Twin> takeTwins(std::vector<Job>& jobs) {
  std::vector<Twin> twins;
  std::unordered_multimap<const Value*, const Node*> firsts;
  const auto isTwin = [&](const Job& job) {
    const auto large = std::find_if(job.node->inputs.begin(), job.node->inputs.end(), isWeight);
    if (large == job.node->inputs.end()) return false;
    const auto [begin, end] = firsts.equal_range(*large);
    const auto found = std::find_if(begin, end, [&](const auto& entry) { return areTwins(*entry.second, *job.node); });
    if (found == end)
      firsts.emplace(*large, job.node);
    else
      twins.push_back({job.node, found->second});
    return found != end;
  };
  jobs.erase(std::remove_if(jobs.begin(), jobs.end(), isTwin), jobs.end());
  return twins;
}

size_t constantBytes(const std::vector<Job>& jobs) {
  std::unordered_set<const Value*> counted;
  size_t bytes = 0;
  for (const Job& job : jobs)
    for (const Value* input : job.node->inputs) {
      const Value* narrow = narrowWeights(input);
      const Value* weights = narrow ? narrow : input;
      if ((narrow || isLarge(input)) && counted.insert(weights).second) bytes += weights->constant->bytes();
    }
  return bytes;
}

// What is packed needs its floats no more.
void foldWidened(Rewriter& rewriter) {
  const std::vector<Node*> nodes = rewriter.graph().nodes();
  for (const Node* node : nodes) {
    if (!widensWeights(*node)) continue;
    Value* floats = node->output();
    const bool isPacked = std::all_of(floats->uses.begin(), floats->uses.end(), isReplaced);
    Ref<Tensor> constant = isPacked
                               ? makeRef<Tensor>(DType::Float32, node->input(0)->constant->shape(), nullptr, nullptr)
                               : widened(*node);
    rewriter.replace(floats, rewriter.constant(std::move(constant)));
  }
}

}  // namespace

void prepareWeights(Rewriter& rewriter) {
  std::vector<Job> jobs;
  const MaxPrecision precision = rewriter.options().hostPrecision();
  for (Node* node : rewriter.graph().nodes()) {
    node->products = precision == MAX_PRECISION_HIGHEST ? DType::Float32 : DType::BFloat16;
    node->productParts = precision == MAX_PRECISION_HIGH ? 2 : 1;
    const OpRow* row = rewriter.options().operators.find(node->domain(), node->op());
    if (row && row->prepare && !node->prepared && !node->placed) jobs.push_back({node, row});
  }
  const std::vector<Twin> twins = takeTwins(jobs);
  Packer packer(rewriter.options(), jobs);
  PackedMemory memory(constantBytes(jobs));
  ActiveCall call = activeCall() ? *activeCall() : ActiveCall();
  call.packed = &memory;
  const ActiveCallScope scope(&call);
  // With a small limit, two jobs at once must not exceed it.
  const bool isTight = rewriter.options().budget->packed < kTightBudget;
  const int lanes = isTight ? 1 : std::min(rewriter.options().lanes, kPackingLanes);
  std::atomic<size_t> done{0};
  parallelFor(lanes, static_cast<int64_t>(jobs.size()), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      packer.run(jobs[static_cast<size_t>(i)]);
      reportProgress(0.5 + 0.49 * static_cast<double>(++done) / static_cast<double>(jobs.size()), "pack");
    }
  });
  for (const Twin& twin : twins) {
    twin.node->prepared = twin.first->prepared;
    if (twin.node->prepared) packer.finish(*twin.node, false);
  }
  foldWidened(rewriter);
}

void settleConstants(Graph& graph) {
  const auto settle = [](Value* value) {
    if (!isLarge(value)) return;
    const auto everyUse = [&](auto holds) {
      return !value->isOutput() && std::all_of(value->uses.begin(), value->uses.end(), holds);
    };
    if (everyUse(isReplaced))
      giveUp(*value);
    else if (!isInFile(*value->constant) ||
             !everyUse([](const Use& use) { return isReplaced(use) || readsBytes(use); }))
      value->constant = alignedWeight(*value->constant);
  };
  for (Node* node : graph.nodes())
    for (Value* input : node->inputs) settle(input);
  for (Value* output : graph.outputs()) settle(output);
}

}  // namespace max
