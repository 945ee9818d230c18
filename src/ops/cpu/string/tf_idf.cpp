// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: counts n-grams of a pool in rows of tokens.
#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>

#include "base/interrupt_point.h"
#include "base/name_map.h"
#include "base/object.h"
#include "base/work_vector.h"
#include "graph/readers/string.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int32_t kNothing = -1;

// The n-grams as a tree: tokens have numbers, a node of the tree is where a prefix of some n-grams ends.
class NgramTree final : public Prepared {
 public:
  explicit NgramTree(const Node& node) : node_(node) {
    const readers::GramPool read(node.attributes);
    least_ = read.least;
    most_ = read.most;
    skips_ = read.skips;
    mode_ = read.mode;
    columns_ = read.columns.columns;
    columnCount_ = read.columns.count;
    takeWeights(read.weights);
    std::vector<int32_t> pool;
    for (const std::string& text : read.strings)
      pool.push_back(strings_.try_emplace(text, next(strings_)).first->second);
    for (const int64_t number : read.integers)
      pool.push_back(integers_.try_emplace(number, next(integers_)).first->second);
    addPool(pool, read.begins);
    sortPlaces();
    for (size_t byte = 0; byte < std::size(byteTokens_); ++byte) {
      const char text = static_cast<char>(static_cast<unsigned char>(byte));
      byteTokens_[byte] = find(strings_, std::string_view(&text, 1));
    }
  }

  bool takesStrings() const { return !strings_.empty(); }
  int64_t columns() const { return columnCount_; }
  int64_t skips() const { return skips_; }

  int32_t tokenOf(std::string_view text) const {
    return text.size() == 1 ? byteTokens_[static_cast<unsigned char>(text[0])] : find(strings_, text);
  }
  int32_t tokenOf(int64_t number) const { return find(integers_, number); }

  // Adds the n-grams of a row of tokens to its columns.
  void count(std::span<const int32_t> row, float* columns) const {
    const auto size = static_cast<int64_t>(row.size());
    WorkCounter work;
    for (int64_t begin = 0; begin < size; ++begin) {
      work.pass(32);
      const int32_t token = row[static_cast<size_t>(begin)];
      const int32_t place = token == kNothing ? kNothing : firstPlaces_[static_cast<size_t>(token)];
      if (place == kNothing) continue;
      if (const int64_t column = columnOf_[static_cast<size_t>(place)]; least_ == 1 && column != kNothing)
        columns[column] += 1;
      // Distances that leave the row immediately count nothing.
      const int64_t furthest = most_ > 1 ? std::min(skips_ + 1, size - 1 - begin) : 0;
      for (int64_t distance = 1; distance <= furthest; ++distance)
        countFrom(row, begin, distance, place, columns, work);
    }
  }

  // Converts counts according to the mode.
  void weigh(float* columns) const {
    WorkCounter work;
    if (mode_ == "IDF")
      for (int64_t i = 0; i < columnCount_; ++i, work.pass()) columns[i] = std::min(columns[i], 1.0F);
    for (const auto& [column, weight] : weights_) columns[column] *= weight;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    invalidArgument(node_.description(), ": ", parts...);
  }

  void takeWeights(const std::vector<float>& weights) {
    std::unordered_map<int64_t, float, NumberHash> weightOf;  // of n-grams with one column the last one's counts
    for (size_t i = 0; i < weights.size(); ++i) weightOf[columns_[i]] = weights[i];
    weights_.assign(weightOf.begin(), weightOf.end());
    std::sort(weights_.begin(), weights_.end());
  }

  template <class Map>
  static int32_t next(const Map& map) {
    return static_cast<int32_t>(map.size());
  }
  template <class Map, class Key>
  static int32_t find(const Map& map, const Key& key) {
    const auto entry = map.find(key);
    return entry == map.end() ? kNothing : entry->second;
  }

  // The pool holds all 1-grams, then all 2-grams and so on; ngram_counts says where each kind begins.
  void addPool(const std::vector<int32_t>& pool, const std::vector<int64_t>& begins) {
    const auto size = static_cast<int64_t>(pool.size());
    size_t ngram = 0;
    columnOf_.push_back(kNothing);
    for (size_t n = 1; n <= begins.size(); ++n) {
      const int64_t begin = begins[n - 1], end = n < begins.size() ? begins[n] : size;
      const auto length = static_cast<int64_t>(n);
      if (begin < 0 || end < begin || end > size || (end - begin) % length != 0)
        fail("ngram_counts ", begin, " to ", end, " is not a list of ", n, "-grams in a pool of ", size);
      if (static_cast<size_t>((end - begin) / length) > columns_.size() - ngram)
        fail("ngram_indexes has ", columns_.size(), " entries for more n-grams");
      for (int64_t at = begin; at < end; at += length) add({pool.data() + at, n}, ngram++);
    }
    if (ngram != columns_.size()) fail("ngram_indexes has ", columns_.size(), " entries for ", ngram, " n-grams");
  }

  void add(std::span<const int32_t> tokens, size_t ngram) {
    int32_t place = 0;
    for (const int32_t token : tokens) {
      const auto [entry, isNew] = places_.try_emplace(keyOf(place, token), static_cast<int32_t>(columnOf_.size()));
      if (isNew) columnOf_.push_back(kNothing);
      place = entry->second;
    }
    columnOf_[static_cast<size_t>(place)] = columns_[ngram];
  }

  // What follows a place: its first tokens are a table, the others few in a row.
  void sortPlaces() {
    firstPlaces_.assign(strings_.size() + integers_.size(), kNothing);
    children_.reserve(places_.size());
    for (const auto& [key, place] : places_) {
      const auto token = static_cast<int32_t>(key & UINT32_MAX);
      if (key >> 32 == 0)
        firstPlaces_[static_cast<size_t>(token)] = place;
      else
        children_.push_back({static_cast<int32_t>(key >> 32), token, place});
    }
    std::sort(children_.begin(), children_.end(), [](const Child& a, const Child& b) {
      return std::pair(a.parent, a.token) < std::pair(b.parent, b.token);
    });
    childrenOf_.assign(columnOf_.size() + 1, 0);
    for (const Child& child : children_) ++childrenOf_[static_cast<size_t>(child.parent) + 1];
    for (size_t i = 1; i < childrenOf_.size(); ++i) childrenOf_[i] += childrenOf_[i - 1];
    places_ = {};
  }

  int32_t childOf(int32_t place, int32_t token) const {
    const auto begin = children_.begin() + childrenOf_[static_cast<size_t>(place)],
               end = children_.begin() + childrenOf_[static_cast<size_t>(place) + 1];
    const auto child = std::lower_bound(begin, end, token, [](const Child& a, int32_t b) { return a.token < b; });
    return child != end && child->token == token ? child->place : kNothing;
  }

  static uint64_t keyOf(int32_t place, int32_t token) {
    return static_cast<uint64_t>(static_cast<uint32_t>(place)) << 32 | static_cast<uint32_t>(token);
  }

  // n-grams of two tokens and more; the first one's place is known. The time for a row is proportional to its length,
  // max_skip_count + 1 and max_gram_length, as the operator is defined (docs/security.md).
  void countFrom(std::span<const int32_t> row, int64_t begin, int64_t distance, int32_t place, float* columns,
                 WorkCounter& work) const {
    const auto size = static_cast<int64_t>(row.size());
    int64_t at = begin + distance;
    for (int64_t n = 2; n <= most_ && at < size; ++n, at += distance) {
      work.pass(32);
      const int32_t token = row[static_cast<size_t>(at)];
      place = token == kNothing ? kNothing : childOf(place, token);
      if (place == kNothing) return;
      const int64_t column = columnOf_[static_cast<size_t>(place)];
      if (n >= least_ && column != kNothing) columns[column] += 1;
    }
  }

  const Node& node_;  // while it is made
  int64_t least_, most_, skips_, columnCount_ = 0;
  std::string mode_;
  std::vector<std::pair<int64_t, float>> weights_;  // of columns, where they are not 1
  std::vector<int64_t> columns_;                    // of each n-gram
  NameMap<int32_t> strings_;
  std::unordered_map<int64_t, int32_t, NumberHash> integers_;
  NumberMap<int32_t> places_;  // place and token -> place, while it is made
  struct Child {
    int32_t parent, token, place;
  };
  std::vector<Child> children_;
  std::vector<int64_t> childrenOf_;  // where those of each place begin
  std::vector<int32_t> firstPlaces_;
  int32_t byteTokens_[256];        // of texts of one byte
  std::vector<int64_t> columnOf_;  // of the n-gram that ends at a place
};

Ref<Prepared> prepareTree(const Node& node, std::span<const Tensor* const>) { return makeRef<NgramTree>(node); }

class TfIdfOp final : public OpKernel {
 public:
  explicit TfIdfOp(const OpRequest& request) : dtype_(request.inputs[0].dtype) {
    tree_ = Ref<const Prepared>(request.node.prepared.get());
    if (!tree_) tree_ = prepareTree(request.node, {});
    if (tree().takesStrings() != (dtype_ == DType::String))
      invalidArgument(request.node.description(), ": the input is ", dtype_, ", the pool holds ",
                      tree().takesStrings() ? "strings" : "integers");
    const Shape& shape = request.inputs[0].shape;
    rows_ = shape.rank() == 2 ? shape[0] : 1;
    length_ = shape.product(shape.rank() == 2 ? 1 : 0, shape.rank());
  }

  void run(const OpContext& context) const override {
    const int64_t grain = std::max<int64_t>(kTokensPerChunk / std::max<int64_t>(length_, 1), 1);
    context.parallelFor(rows_, grain, [&](int64_t begin, int64_t end, int) {
      WorkVector<int32_t> tokens(static_cast<size_t>(length_));
      for (int64_t row = begin; row < end; ++row) countRow(context, row, tokens);
    });
  }

 private:
  static constexpr int64_t kTokensPerChunk = 1024;

  void countRow(const OpContext& context, int64_t row, WorkVector<int32_t>& tokens) const {
    float* columns = context.out<float>() + row * tree().columns();
    fillParts(columns, tree().columns(), 0.0F);
    WorkCounter work;
    for (int64_t i = 0; i < length_; ++i, work.pass(64))
      tokens[static_cast<size_t>(i)] = tokenAt(context, row * length_ + i);
    tree().count(tokens, columns);
    tree().weigh(columns);
  }
  const NgramTree& tree() const { return static_cast<const NgramTree&>(*tree_); }
  int32_t tokenAt(const OpContext& context, int64_t i) const {
    if (dtype_ == DType::String) return tree().tokenOf(textOf(context.in<const StringCell*>(0)[i]));
    return tree().tokenOf(dtype_ == DType::Int64 ? context.in<int64_t>(0)[i] : context.in<int32_t>(0)[i]);
  }

  DType dtype_;
  Ref<const Prepared> tree_;
  int64_t rows_, length_;
};

constexpr Implementation kTfIdf[] = {{"tree", nullptr, [](const OpRequest& request) -> std::unique_ptr<OpKernel> {
                                        return std::make_unique<TfIdfOp>(request);
                                      }}};

const OpRow kRows[] = {
    {"", "TfIdfVectorizer", kTfIdf, prepareTree},
};

}  // namespace

std::span<const OpRow> tfIdfOps() { return kRows; }

}  // namespace max
