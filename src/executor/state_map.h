// SPDX-License-Identifier: Apache-2.0
// What is known about values, by number, at the ends of plans. A persistent map: copies share common parts, so each of
// many consecutive plans costs only its changes.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "base/ref.h"

namespace max {

template <class T>
class StateMap {
 public:
  const T* find(size_t number) const {
    const RefCounted* at = root_.get();
    for (int shift = kTop; at && shift >= 0; shift -= kBits)
      at = static_cast<const Inner*>(at)->at(number >> shift).get();
    return at ? &static_cast<const Leaf*>(at)->value : nullptr;
  }
  void set(size_t number, T value) { put(number, makeRef<Leaf>(std::move(value))); }
  void erase(size_t number) {
    if (find(number)) put(number, nullptr);
  }

 private:
  static constexpr int kBits = 3;
  static constexpr int kTop = 24;  // of the first of nine levels: numbers below 2^27

  struct Leaf final : RefCounted {
    explicit Leaf(T&& state) : value(std::move(state)) {}
    T value;
  };
  struct Inner final : RefCounted {
    Inner() = default;
    explicit Inner(const Inner& other) : RefCounted(), children(other.children) {}
    Ref<RefCounted>& at(size_t place) { return children[place % children.size()]; }
    const Ref<RefCounted>& at(size_t place) const { return children[place % children.size()]; }
    std::array<Ref<RefCounted>, size_t{1} << kBits> children;
  };

  // The result is not shared.
  static Inner& own(Ref<RefCounted>& node) {
    if (!node)
      node = makeRef<Inner>();
    else if (!node->isUnique())
      node = makeRef<Inner>(static_cast<const Inner&>(*node));
    return static_cast<Inner&>(*node);
  }

  void put(size_t number, Ref<RefCounted> leaf) {
    Inner* inner = &own(root_);
    for (int shift = kTop; shift > 0; shift -= kBits) inner = &own(inner->at(number >> shift));
    inner->at(number) = std::move(leaf);
  }

  Ref<RefCounted> root_;
};

}  // namespace max
