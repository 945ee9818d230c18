// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "base/interrupt_point.h"
#include "ops/cpu/signal/fourier.h"

namespace max {

namespace {

constexpr int64_t kLongest = int64_t{1} << 30;
constexpr int64_t kLargestRadix = 31;

// cos and sin of -2 pi k / n.
struct Root {
  double cosine, sine;
  Root(int64_t k, int64_t n) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    cosine = std::cos(angle);
    sine = std::sin(angle);
  }
};

// Fours first; empty if a factor is too large.
std::vector<int64_t> radicesOf(int64_t length) {
  std::vector<int64_t> radices;
  const auto divide = [&](int64_t radix) {
    for (; length % radix == 0; length /= radix) radices.push_back(radix);
  };
  divide(4);
  divide(2);
  for (int64_t radix = 3; radix <= kLargestRadix; radix += 2) divide(radix);
  if (length > 1) radices.clear();
  return radices;
}

template <class T>
FourierPass<T> makePass(int64_t radix, int64_t rest, int64_t stride) {
  FourierPass<T> pass{radix, rest, stride, {}, {}, {}, {}};
  pass.cosines.reserve(static_cast<size_t>(rest * radix));
  pass.sines.reserve(static_cast<size_t>(rest * radix));
  WorkCounter work;
  for (int64_t p = 0; p < rest; ++p)
    for (int64_t k = 0; k < radix; ++k, work.pass(64)) {
      const Root twiddle(p * k, rest * radix);
      pass.cosines.push_back(static_cast<T>(twiddle.cosine));
      pass.sines.push_back(static_cast<T>(twiddle.sine));
    }
  for (int64_t k = 0; k < radix; ++k) {
    const Root root(k, radix);
    pass.rootCosines.push_back(static_cast<T>(root.cosine));
    pass.rootSines.push_back(static_cast<T>(-root.sine));
  }
  return pass;
}

}  // namespace

template <class T>
FourierPlan<T>::FourierPlan(int64_t length) : table_(&fourierTable<T>()), length_(length) {
  require(length >= 1 && length <= kLongest, MAX_STATUS_UNIMPLEMENTED, "A Fourier transform of length ", length,
          " is not supported; 1 to ", kLongest, " are");
  if (length == 1) return;
  addPasses();
  if (passes_.empty()) prepareConvolution();
}

template <class T>
void FourierPlan<T>::addPasses() {
  int64_t rest = length_, stride = 1;
  for (const int64_t radix : radicesOf(length_)) {
    rest /= radix;
    passes_.push_back(makePass<T>(radix, rest, stride));
    stride *= radix;
  }
}

// With i k = (i^2 + k^2 - (k - i)^2) / 2 the transform is a convolution with a chirp, between products with chirps.
template <class T>
void FourierPlan<T>::prepareConvolution() {
  const auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length_ - 1)));
  convolution_ = std::make_unique<FourierPlan>(size);
  WorkVector<T> filter(static_cast<size_t>(2 * size)), work(static_cast<size_t>(2 * size));
  chirpCosines_.reserve(static_cast<size_t>(length_));
  chirpSines_.reserve(static_cast<size_t>(length_));
  WorkCounter counter;
  for (int64_t i = 0; i < length_; ++i, counter.pass(64)) {
    const Root chirp(i * i % (2 * length_), 2 * length_);
    chirpCosines_.push_back(static_cast<T>(chirp.cosine));
    chirpSines_.push_back(static_cast<T>(chirp.sine));
    for (const int64_t at : {i, (size - i) % size}) {
      filter[static_cast<size_t>(at)] = static_cast<T>(chirp.cosine / static_cast<double>(size));
      filter[static_cast<size_t>(size + at)] = static_cast<T>(-chirp.sine / static_cast<double>(size));
    }
  }
  const Split<T> spectrum = convolution_->run({filter.data(), filter.data() + size}, work.data(), 1);
  filterReal_.assign(spectrum.real, spectrum.real + size);
  filterImaginary_.assign(spectrum.imaginary, spectrum.imaginary + size);
}

template <class T>
int64_t FourierPlan<T>::workCount() const {
  return convolution_ ? 4 * convolution_->length() : 2 * length_;
}

template <class T>
Split<T> FourierPlan<T>::run(Split<T> x, T* work, int64_t sequences) const {
  if (convolution_) return convolve(x, work, sequences);
  return runPasses(x, {work, work + length_ * sequences}, sequences);
}

template <class T>
Split<T> FourierPlan<T>::runPasses(Split<T> x, Split<T> spare, int64_t sequences) const {
  for (const FourierPass<T>& pass : passes_) {
    table_->pass(pass, pass.stride * sequences, {x.real, x.imaginary}, spare);
    std::swap(x, spare);
  }
  return x;
}

template <class T>
Split<T> FourierPlan<T>::convolve(Split<T> x, T* work, int64_t sequences) const {
  const int64_t size = convolution_->length(), used = length_ * sequences, all = size * sequences;
  const Split<const T> chirp{chirpCosines_.data(), chirpSines_.data()};
  const Split<T> padded{work, work + all};
  table_->multiply({x.real, x.imaginary}, chirp, length_, sequences, padded);
  fillParts(padded.real + used, all - used, T{0});
  fillParts(padded.imaginary + used, all - used, T{0});
  Split<T> spectrum = convolution_->run(padded, work + 2 * all, sequences);
  table_->multiply({spectrum.real, spectrum.imaginary}, {filterReal_.data(), filterImaginary_.data()}, size, sequences,
                   spectrum);
  // The inverse transform is the transform with real and imaginary parts swapped.
  T* free = spectrum.real == work ? work + 2 * all : work;
  const Split<T> result = convolution_->run({spectrum.imaginary, spectrum.real}, free, sequences);
  table_->multiply({result.imaginary, result.real}, chirp, length_, sequences, x);
  return x;
}

template class FourierPlan<float>;
template class FourierPlan<double>;

}  // namespace max
