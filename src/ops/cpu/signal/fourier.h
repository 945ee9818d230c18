// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms of any length, several sequences at once.
//
// Lengths without large prime factors take one pass per factor (Stockham, which needs no reordering); others become a
// convolution of a power-of-two length (Bluestein). Element i of sequence l is at [i * sequences + l], so that a vector
// instruction processes the same element of several sequences.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/work_vector.h"

namespace max {

// Complex numbers as two arrays.
template <class T>
struct Split {
  T* real;
  T* imaginary;
};

// One factor of the length: y[radix * p + k] = twiddle(p, k) * sum over j of x[p + rest * j] * root^(j k), for
// `width` consecutive numbers each.
template <class T>
struct FourierPass {
  int64_t radix, rest, stride;
  WorkVector<T> cosines, sines;          // twiddles [rest][radix]
  WorkVector<T> rootCosines, rootSines;  // of multiples of 1 / radix
};

template <class T>
struct FourierTable {
  void (*pass)(const FourierPass<T>& pass, int64_t width, Split<const T> x, Split<T> y);
  // y = x * w, where w[i] holds for `width` consecutive numbers; y may be x.
  void (*multiply)(Split<const T> x, Split<const T> w, int64_t count, int64_t width, Split<T> y);
};
template <class T>
const FourierTable<T>& fourierTable();  // of the CPU target of now

template <class T>
class FourierPlan {
 public:
  explicit FourierPlan(int64_t length);

  int64_t length() const { return length_; }
  // Working memory for one sequence, in numbers.
  int64_t workCount() const;
  // Transforms `sequences` at once, overwriting x and `work`. Returns the one that contains the result.
  Split<T> run(Split<T> x, T* work, int64_t sequences) const;

 private:
  void addPasses();
  void prepareConvolution();
  Split<T> runPasses(Split<T> x, Split<T> spare, int64_t sequences) const;
  Split<T> convolve(Split<T> x, T* work, int64_t sequences) const;

  const FourierTable<T>* table_;
  int64_t length_;
  std::vector<FourierPass<T>> passes_;
  // For lengths with large prime factors.
  std::unique_ptr<FourierPlan> convolution_;
  WorkVector<T> chirpCosines_, chirpSines_, filterReal_, filterImaginary_;
};

extern template class FourierPlan<float>;
extern template class FourierPlan<double>;

}  // namespace max
