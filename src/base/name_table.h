// SPDX-License-Identifier: Apache-2.0
// Rows by domain and name; rows can be added during reads.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <string_view>
#include <utility>

namespace max {

// Reading takes no lock, so that a child never waits for a thread of its parent. Rows are never removed.
template <class Row>
class NameTable {
 public:
  NameTable() = default;
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;
  ~NameTable() {
    for (std::atomic<Node*>& bucket : buckets_)
      for (Node* node = bucket.load(std::memory_order_relaxed); node;) delete std::exchange(node, node->next);
  }

  // NULL if there is none.
  const Row* find(std::string_view domain, std::string_view name) const {
    for (const Node* node = bucketOf(domain, name).load(std::memory_order_acquire); node; node = node->next)
      if (node->name == name && node->domain == domain) return &node->row;
    return nullptr;
  }

  // One caller at a time. The name must be new, and the strings must stay valid.
  template <class... Arguments>
  const Row* add(std::string_view domain, std::string_view name, Arguments&&... arguments) {
    Node* node = new Node{domain, name, nullptr, Row(std::forward<Arguments>(arguments)...)};
    std::atomic<Node*>& bucket = bucketOf(domain, name);
    node->next = bucket.load(std::memory_order_relaxed);
    bucket.store(node, std::memory_order_release);
    return &node->row;
  }

 private:
  struct Node {
    std::string_view domain, name;
    Node* next;
    Row row;
  };

  static constexpr size_t kBuckets = 256;

  size_t indexOf(std::string_view domain, std::string_view name) const {
    const std::hash<std::string_view> hash;
    return (hash(name) * 31 + hash(domain)) % kBuckets;
  }
  const std::atomic<Node*>& bucketOf(std::string_view domain, std::string_view name) const {
    return buckets_[indexOf(domain, name)];
  }
  std::atomic<Node*>& bucketOf(std::string_view domain, std::string_view name) {
    return buckets_[indexOf(domain, name)];
  }

  std::array<std::atomic<Node*>, kBuckets> buckets_{};
};

}  // namespace max
