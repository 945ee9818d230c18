// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt_point.h"
#include "ops/cpu/signal/fourier.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/signal/fourier_simd.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// A vector of complex numbers.
template <class D>
struct Complex {
  hn::Vec<D> real, imaginary;
};

template <class D, class T = hn::TFromD<D>>
HWY_INLINE Complex<D> load(D d, const Split<const T>& x, int64_t at) {
  return {hn::LoadU(d, x.real + at), hn::LoadU(d, x.imaginary + at)};
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store(D d, const Complex<D>& v, const Split<T>& y, int64_t at) {
  hn::StoreU(v.real, d, y.real + at);
  hn::StoreU(v.imaginary, d, y.imaginary + at);
}

template <class D>
HWY_INLINE Complex<D> add(const Complex<D>& a, const Complex<D>& b) {
  return {hn::Add(a.real, b.real), hn::Add(a.imaginary, b.imaginary)};
}
template <class D>
HWY_INLINE Complex<D> subtract(const Complex<D>& a, const Complex<D>& b) {
  return {hn::Sub(a.real, b.real), hn::Sub(a.imaginary, b.imaginary)};
}
// a - i b and a + i b
template <class D>
HWY_INLINE Complex<D> minusTurned(const Complex<D>& a, const Complex<D>& b) {
  return {hn::Add(a.real, b.imaginary), hn::Sub(a.imaginary, b.real)};
}
template <class D>
HWY_INLINE Complex<D> plusTurned(const Complex<D>& a, const Complex<D>& b) {
  return {hn::Sub(a.real, b.imaginary), hn::Add(a.imaginary, b.real)};
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE Complex<D> multiply(D d, const Complex<D>& a, T cosine, T sine) {
  const auto c = hn::Set(d, cosine), s = hn::Set(d, sine);
  return {hn::NegMulAdd(a.imaginary, s, hn::Mul(a.real, c)), hn::MulAdd(a.imaginary, c, hn::Mul(a.real, s))};
}

// Addresses of one group of inputs and outputs.
template <class T>
struct Place {
  Split<const T> x;
  Split<T> y;
  int64_t from, fromStep;  // of the inputs j
  int64_t to, toStep;      // of the outputs k
  const T* cosines;        // twiddles of the outputs
  const T* sines;
};

template <class D, class T = hn::TFromD<D>>
HWY_INLINE Complex<D> input(D d, const Place<T>& place, int64_t j, int64_t q) {
  return load(d, place.x, place.from + j * place.fromStep + q);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void output(D d, const Place<T>& place, int64_t k, int64_t q, const Complex<D>& v) {
  const Complex<D> turned = k == 0 ? v : multiply(d, v, place.cosines[k], place.sines[k]);
  store(d, turned, place.y, place.to + k * place.toStep + q);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void butterfly2(D d, const Place<T>& place, int64_t q) {
  const auto a = input(d, place, 0, q), b = input(d, place, 1, q);
  output(d, place, 0, q, add(a, b));
  output(d, place, 1, q, subtract(a, b));
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void butterfly4(D d, const Place<T>& place, int64_t q) {
  const auto a = input(d, place, 0, q), b = input(d, place, 1, q), c = input(d, place, 2, q), e = input(d, place, 3, q);
  const auto evenSum = add(a, c), evenRest = subtract(a, c), oddSum = add(b, e), oddRest = subtract(b, e);
  output(d, place, 0, q, add(evenSum, oddSum));
  output(d, place, 1, q, minusTurned(evenRest, oddRest));
  output(d, place, 2, q, subtract(evenSum, oddSum));
  output(d, place, 3, q, plusTurned(evenRest, oddRest));
}

// Any odd number: inputs j and radix - j share their cosines, and their sines but for the sign.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void butterflyOdd(D d, const FourierPass<T>& pass, const Place<T>& place, int64_t q) {
  const int64_t radix = pass.radix, half = radix / 2;
  const auto first = input(d, place, 0, q);
  auto sum = first;
  for (int64_t j = 1; j < radix; ++j) sum = add(sum, input(d, place, j, q));
  output(d, place, 0, q, sum);
  for (int64_t k = 1; k <= half; ++k) {
    auto even = first;
    Complex<D> odd{hn::Zero(d), hn::Zero(d)};
    for (int64_t j = 1; j <= half; ++j) {
      const auto a = input(d, place, j, q), b = input(d, place, radix - j, q);
      const auto both = add(a, b), rest = subtract(a, b);
      const auto cosine = hn::Set(d, pass.rootCosines[static_cast<size_t>(j * k % radix)]);
      const auto sine = hn::Set(d, pass.rootSines[static_cast<size_t>(j * k % radix)]);
      even = {hn::MulAdd(cosine, both.real, even.real), hn::MulAdd(cosine, both.imaginary, even.imaginary)};
      odd = {hn::MulAdd(sine, rest.real, odd.real), hn::MulAdd(sine, rest.imaginary, odd.imaginary)};
    }
    output(d, place, k, q, minusTurned(even, odd));
    output(d, place, radix - k, q, plusTurned(even, odd));
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void butterfly(D d, const FourierPass<T>& pass, const Place<T>& place, int64_t q) {
  if (pass.radix == 4)
    butterfly4(d, place, q);
  else if (pass.radix == 2)
    butterfly2(d, place, q);
  else
    butterflyOdd(d, pass, place, q);
}

template <class T>
void runPass(const FourierPass<T>& pass, int64_t width, Split<const T> x, Split<T> y) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  WorkCounter work;
  for (int64_t p = 0; p < pass.rest; ++p, work.pass(pass.radix * pass.radix * width / 2)) {
    const Place<T> place{x,
                         y,
                         p * width,
                         pass.rest * width,
                         pass.radix * p * width,
                         width,
                         pass.cosines.data() + p * pass.radix,
                         pass.sines.data() + p * pass.radix};
    int64_t q = 0;
    for (; q + lanes <= width; q += lanes, work.pass(pass.radix)) butterfly(d, pass, place, q);
    for (; q < width; ++q, work.pass(pass.radix)) butterfly(one, pass, place, q);
  }
}

template <class T>
void multiplyAll(Split<const T> x, Split<const T> w, int64_t count, int64_t width, Split<T> y) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  WorkCounter work;
  for (int64_t i = 0; i < count; ++i, work.pass(2 * width)) {
    int64_t q = i * width;
    const int64_t end = q + width;
    for (; q + lanes <= end; q += lanes) store(d, multiply(d, load(d, x, q), w.real[i], w.imaginary[i]), y, q);
    for (; q < end; ++q) store(one, multiply(one, load(one, x, q), w.real[i], w.imaginary[i]), y, q);
  }
}

}  // namespace

extern const FourierTable<float> kFourierFloat;
extern const FourierTable<double> kFourierDouble;
const FourierTable<float> kFourierFloat = {runPass<float>, multiplyAll<float>};
const FourierTable<double> kFourierDouble = {runPass<double>, multiplyAll<double>};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
template <>
const FourierTable<float>& fourierTable<float>() {
  return MAX_CHOOSE_TARGET(kFourierFloat);
}
template <>
const FourierTable<double>& fourierTable<double>() {
  return MAX_CHOOSE_TARGET(kFourierDouble);
}
}  // namespace max
#endif
