// SPDX-License-Identifier: Apache-2.0
// A small lock-free bag of owned objects: threads take and put by exchanging pointers, each starting at a different
// slot, so that contention is rare.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace max {

// A small number that differs between threads.
size_t threadNumber() noexcept;

template <class T, size_t N>
class Stash {
 public:
  ~Stash() {
    for (Place& place : places_) delete place.object.load(std::memory_order_acquire);
  }

  // NULL if there is none.
  std::unique_ptr<T> take() noexcept {
    const size_t first = threadNumber();
    for (size_t i = 0; i < N; ++i) {
      std::atomic<T*>& place = places_[(first + i) % N].object;
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      if (T* object = place.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<T>(object);
    }
    return nullptr;
  }

  // Returns the object if there is no room.
  std::unique_ptr<T> put(std::unique_ptr<T> object) noexcept {
    const size_t first = threadNumber();
    for (size_t i = 0; i < N; ++i) {
      std::atomic<T*>& place = places_[(first + i) % N].object;
      T* expected = nullptr;
      if (place.load(std::memory_order_relaxed) != nullptr) continue;
      if (!place.compare_exchange_strong(expected, object.get(), std::memory_order_release)) continue;
      object.release();
      return nullptr;
    }
    return object;
  }

 private:
  struct alignas(64) Place {
    std::atomic<T*> object{nullptr};
  };
  Place places_[N];
};

}  // namespace max
