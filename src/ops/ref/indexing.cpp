// SPDX-License-Identifier: Apache-2.0
// Operators whose output shapes are only known after running: NonZero, Unique, Compress, NonMaxSuppression; and
// max.CountedNonZero, whose are not.
#include "graph/readers/indexing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/float_order.h"
#include "base/interrupt_point.h"
#include "base/object.h"
#include "base/work_vector.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

using Results = std::vector<Ref<Tensor>>;
using Inputs = std::span<const Tensor* const>;

// Complex numbers as pairs of real ones.
Argument argumentOf(const Tensor& tensor) {
  Argument argument{tensor.dtype(), tensor.shape(), const_cast<void*>(tensor.data())};
  const bool isDouble = tensor.dtype() == DType::Complex128;
  if (!isDouble && tensor.dtype() != DType::Complex64) return argument;
  argument.dtype = isDouble ? DType::Float64 : DType::Float32;
  argument.shape = {tensor.count(), 2};
  return argument;
}

const Tensor* optional(Inputs inputs, size_t i) { return i < inputs.size() ? inputs[i] : nullptr; }

Ref<Tensor> indexTensor(const Shape& shape, std::span<const int64_t> values) {
  return Tensor::copyOf(DType::Int64, shape, values.data());
}

// -1 = all elements, whatever the shape.
int axisOf(const Node& node, Inputs inputs) {
  return readers::readSelectionAxis(*RequestInputs(node, inputs)).value_or(-1);
}

std::vector<double> lengthsOf(const Tensor& strings) {
  std::vector<double> lengths;
  WorkCounter work;
  for (int64_t i = 0; i < strings.count(); ++i, work.pass(4))
    lengths.push_back(static_cast<double>(textAt(strings, i).size()));
  return lengths;
}

// The places of all elements that are not zero, in order; zeros follow them.
void countedNonZero(const Call& call) {
  const Shape shape = call.in().shape.rank() == 0 ? Shape{1} : call.in().shape;
  const std::vector<double> values = load<double>(call.in());
  const Shape dense = contiguousStrides(shape);
  std::vector<int64_t> places = repeated<int64_t>(call.out(0).count());
  int64_t count = 0;
  WorkCounter work;
  for (size_t k = 0; k < values.size(); ++k, work.pass(16)) {
    if (values[k] == 0) continue;
    for (int axis = 0; axis < shape.rank(); ++axis)
      places[static_cast<size_t>(axis) * values.size() + static_cast<size_t>(count)] =
          static_cast<int64_t>(k) / dense[axis] % shape[axis];
    ++count;
  }
  store(call.out(0), places);
  store(call.out(1), std::vector<int64_t>{count});
}

// Calls function(T, mask) for an element that is one number: in an integer T, whose bits in the mask are 0 if it is.
// False if it is something else.
template <class F>
bool visitBits(DType dtype, F function) {
  switch (dtype) {
    case DType::Bool:
    case DType::Int8:
    case DType::UInt8:
      function(uint8_t{}, UINT8_MAX);
      return true;
    case DType::Int16:
    case DType::UInt16:
      function(uint16_t{}, UINT16_MAX);
      return true;
    case DType::Float16:
    case DType::BFloat16:
      function(uint16_t{}, INT16_MAX);
      return true;
    case DType::Int32:
    case DType::UInt32:
      function(uint32_t{}, UINT32_MAX);
      return true;
    case DType::Float32:
      function(uint32_t{}, INT32_MAX);
      return true;
    case DType::Int64:
    case DType::UInt64:
      function(uint64_t{}, UINT64_MAX);
      return true;
    case DType::Float64:
      function(uint64_t{}, INT64_MAX);
      return true;
    default:
      return false;
  }
}

template <class T>
int64_t countNonZero(const T* x, int64_t count, T mask) {
  int64_t found = 0;
  inParts(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) found += (x[i] & mask) != 0;
  });
  return found;
}

// Row by row, without divisions, and without jumps for the elements.
template <class T>
Ref<Tensor> placesOfNonZero(const Tensor& tensor, T mask) {
  constexpr int64_t kPart = 512;
  const Shape shape = tensor.shape().rank() == 0 ? Shape{1} : tensor.shape();
  const int last = shape.rank() - 1;
  const T* x = tensor.as<T>();
  const int64_t count = countNonZero(x, tensor.count(), mask);
  Ref<Tensor> result = Tensor::allocate(DType::Int64, {shape.rank(), count});
  if (count == 0) return result;
  int64_t* end = static_cast<int64_t*>(result->mutableData());
  int64_t found[kPart];
  Shape index = Shape::filled(shape.rank(), 0);
  WorkCounter work;
  for (int64_t row = 0; row < tensor.count() / shape[last]; ++row) {
    for (int64_t begin = 0; begin < shape[last]; begin += kPart) {
      const int64_t stop = std::min(shape[last], begin + kPart);
      int64_t size = 0;
      for (int64_t i = begin; i < stop; ++i) {
        found[size] = i;
        size += (*x++ & mask) != 0;
      }
      for (int axis = 0; axis < last; ++axis) std::fill_n(end + axis * count, size, index[axis]);
      end = std::copy_n(found, size, end + last * count) - last * count;
      work.pass(stop - begin + 8 * shape.rank());
    }
    for (int axis = last - 1; axis >= 0 && ++index[axis] == shape[axis]; --axis) index[axis] = 0;
  }
  return result;
}

Results nonZero(const Node&, Inputs inputs) {
  Ref<Tensor> places;
  const auto find = [&]<class T>(T, auto mask) { places = placesOfNonZero<T>(*inputs[0], static_cast<T>(mask)); };
  if (visitBits(inputs[0]->dtype(), find)) return {places};
  const MemoryLease room = roomFor(inputs[0]->count(), sizeof(double));
  const bool isText = inputs[0]->dtype() == DType::String;  // nothing is the empty string
  const std::vector<double> values = isText ? lengthsOf(*inputs[0]) : load<double>(argumentOf(*inputs[0]));
  const Shape shape = inputs[0]->shape().rank() == 0 ? Shape{1} : inputs[0]->shape();
  WorkVector<int64_t> positions;
  const size_t parts = static_cast<size_t>(inputs[0]->count()) == values.size() ? 1 : 2;
  WorkCounter work;
  for (size_t k = 0; k < values.size(); k += parts, work.pass(4))
    if (values[k] != 0 || values[k + parts - 1] != 0) positions.push_back(static_cast<int64_t>(k / parts));
  const int64_t count = static_cast<int64_t>(positions.size());
  const Shape dense = contiguousStrides(shape);
  WorkVector<int64_t> coordinates;
  coordinates.reserve(positions.size() * static_cast<size_t>(shape.rank()));
  for (int axis = 0; axis < shape.rank(); ++axis)
    for (const int64_t k : positions) {
      coordinates.push_back(k / dense[axis] % shape[axis]);
      work.pass(16);
    }
  return {indexTensor({shape.rank(), count}, coordinates)};
}

// A tensor cut into the slices along one axis; without an axis, into its elements.
struct Slices {
  int64_t outer = 1, count, innerBytes;
  const std::byte* data;

  Slices(const Tensor& tensor, int axis)
      : count(axis < 0 ? tensor.count() : tensor.shape()[axis]), data(tensor.as<std::byte>()) {
    const int64_t size = static_cast<int64_t>(sizeOf(tensor.dtype()));
    innerBytes = axis < 0 ? size : tensor.shape().product(axis + 1, tensor.shape().rank()) * size;
    if (axis >= 0) outer = tensor.shape().product(0, axis);
  }
  const std::byte* at(int64_t o, int64_t i) const { return data + (o * count + i) * innerBytes; }
};

// Unpacks elements to bytes, and back.
Ref<Tensor> unpacked(const Tensor& tensor) {
  Ref<Tensor> codes = Tensor::allocate(DType::UInt8, tensor.shape());
  unpackCodes(tensor.dtype(), tensor.data(), 0, tensor.count(), static_cast<uint8_t*>(codes->mutableData()));
  return codes;
}
Ref<Tensor> packed(DType dtype, const Tensor& codes) {
  Ref<Tensor> tensor = Tensor::allocate(dtype, codes.shape());
  packCodes(dtype, tensor->mutableData(), 0, codes.count(), codes.as<uint8_t>());
  return tensor;
}

void takeSlices(const Slices& slices, std::span<const int64_t> chosen, std::byte* out) {
  WorkCounter work;
  for (int64_t o = 0; o < slices.outer; ++o)
    for (const int64_t i : chosen) {
      copyBytes(out, slices.at(o, i), static_cast<size_t>(slices.innerBytes));
      out += slices.innerBytes;
      work.pass(8 + slices.innerBytes / 4);
    }
}

// Slices as long as a number.
template <class T>
void takeNumbers(const Slices& slices, std::span<const int64_t> chosen, std::byte* out) {
  for (int64_t o = 0; o < slices.outer; ++o) {
    const std::byte* from = slices.at(o, 0);
    inParts(static_cast<int64_t>(chosen.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k, out += sizeof(T))
        std::memcpy(out, from + chosen[static_cast<size_t>(k)] * static_cast<int64_t>(sizeof(T)), sizeof(T));
    });
  }
}

// The slices in `chosen`, in that order.
Ref<Tensor> take(const Tensor& tensor, int axis, std::span<const int64_t> chosen) {
  if (isPacked(tensor.dtype())) return packed(tensor.dtype(), *take(*unpacked(tensor), axis, chosen));
  const Slices slices(tensor, axis);
  Shape shape = tensor.shape();
  if (axis < 0)
    shape = Shape{static_cast<int64_t>(chosen.size())};
  else
    shape[axis] = static_cast<int64_t>(chosen.size());
  Ref<Tensor> result = Tensor::allocate(tensor.dtype(), shape);
  if (result->bytes() == 0) return result;
  std::byte* out = static_cast<std::byte*>(result->mutableData());
  if (slices.innerBytes == 1)
    takeNumbers<uint8_t>(slices, chosen, out);
  else if (slices.innerBytes == 4)
    takeNumbers<uint32_t>(slices, chosen, out);
  else if (slices.innerBytes == 8)
    takeNumbers<uint64_t>(slices, chosen, out);
  else
    takeSlices(slices, chosen, out);
  return result;
}

Results compress(const Node& node, Inputs inputs) {
  const int axis = axisOf(node, inputs);
  const int64_t count = Slices(*inputs[0], axis).count;
  require(inputs[1]->count() <= count, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": ", inputs[1]->count(),
          " conditions for ", count, " slices");
  const uint8_t* conditions = inputs[1]->as<uint8_t>();
  // One more than there are: all places are written, and those of false conditions again.
  WorkVector<int64_t> chosen(static_cast<size_t>(countNonZero<uint8_t>(conditions, inputs[1]->count(), UINT8_MAX)) + 1);
  int64_t* next = chosen.data();
  inParts(inputs[1]->count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      *next = i;
      next += conditions[i] != 0;
    }
  });
  chosen.pop_back();
  return {take(*inputs[0], axis, chosen)};
}

template <class D>
std::vector<D> elementsOf(const Tensor& tensor) {
  if constexpr (std::is_same_v<D, std::string_view>)
    return textsOf(tensor);
  else
    return load<D>(argumentOf(tensor));
}

// Slices of a tensor with elements, one after the other: comparable numbers or strings.
template <class D>
struct Rows {
  std::vector<D> values;
  int64_t count;
  int64_t size;  // of each

  std::span<const D> operator[](int64_t i) const { return {values.data() + i * size, static_cast<size_t>(size)}; }
  bool isLess(int64_t a, int64_t b) const { return std::ranges::lexicographical_compare((*this)[a], (*this)[b]); }
  bool isEqual(int64_t a, int64_t b) const { return std::ranges::equal((*this)[a], (*this)[b]); }
};

template <class D>
Rows<D> rowsOf(const Tensor& tensor, int axis) {
  std::vector<D> values = elementsOf<D>(tensor);
  const Slices slices(tensor, axis);
  const int64_t size = static_cast<int64_t>(values.size()) / slices.count, inner = size / slices.outer;
  if (slices.outer == 1) return {std::move(values), slices.count, size};
  Rows<D> rows{repeated<D>(static_cast<int64_t>(values.size())), slices.count, size};
  WorkCounter work;
  for (int64_t o = 0; o < slices.outer; ++o)
    for (int64_t i = 0; i < slices.count; ++i, work.pass(8 + inner))
      std::copy_n(values.begin() + (o * slices.count + i) * inner, inner, rows.values.begin() + i * size + o * inner);
  return rows;
}

struct Groups {
  std::vector<int64_t> first, inverse, counts;  // first occurrence of each value
};

// Keys of numbers, in the same order.
uint64_t keyOf(uint64_t value) { return value; }
uint64_t keyOf(int64_t value) {
  return static_cast<uint64_t>(value) ^ uint64_t { 1 } << 63;
}
uint64_t keyOf(double value) {
  const auto bits = std::bit_cast<uint64_t>(value + 0.0);  // both zeros are equal
  return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
}

// Sorts by one byte of the keys after the other, of those in which they differ.
template <class D>
std::vector<int64_t> orderOfNumbers(const std::vector<D>& values) {
  struct Entry {
    uint64_t key;
    int64_t place;
  };
  const auto count = static_cast<int64_t>(values.size());
  std::vector<Entry> entries = repeated<Entry>(count), others = repeated<Entry>(count);
  uint64_t differing = 0;
  inParts(count, 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = keyOf(values[static_cast<size_t>(i)]);
      entries[static_cast<size_t>(i)] = {key, i};
      differing |= key ^ entries[0].key;
    }
  });
  for (int shift = 0; shift < 64; shift += 8) {
    if ((differing >> shift & 255) == 0) continue;
    std::array<int64_t, 257> ends{};  // of the keys with a smaller byte
    inParts(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++ends[(entries[static_cast<size_t>(i)].key >> shift & 255) + 1];
    });
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    inParts(count, 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Entry& entry = entries[static_cast<size_t>(i)];
        others[static_cast<size_t>(ends[entry.key >> shift & 255]++)] = entry;
      }
    });
    entries.swap(others);
  }
  auto order = emptyFor<int64_t>(count);
  inParts(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) order.push_back(entries[static_cast<size_t>(i)].place);
  });
  return order;
}

// The rows' numbers, in the order of their values.
template <class D>
std::vector<int64_t> orderOf(const Rows<D>& rows) {
  if constexpr (std::is_arithmetic_v<D>) {
    const auto isNan = [](D value) { return value != value; };  // is in no order
    if (rows.size == 1 && std::none_of(rows.values.begin(), rows.values.end(), isNan))
      return orderOfNumbers(rows.values);
  }
  std::vector<int64_t> order = repeated<int64_t>(rows.count);
  std::iota(order.begin(), order.end(), 0);
  WorkCounter work;
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    work.pass(16 + rows.size);
    return rows.isLess(a, b);
  });
  return order;
}

template <class D>
Groups groupsOf(const Rows<D>& rows, bool sorted) {
  const std::vector<int64_t> order = orderOf(rows);
  struct Group {
    int64_t begin, end;  // in `order`
  };
  auto groups = emptyFor<Group>(rows.count);
  WorkCounter work;
  for (int64_t i = 0; i < rows.count; ++i, work.pass(16 + rows.size)) {
    if (groups.empty() || !rows.isEqual(order[static_cast<size_t>(groups.back().begin)], order[static_cast<size_t>(i)]))
      groups.push_back({i, i});
    groups.back().end = i + 1;
  }
  const auto firstOf = [&](const Group& group) { return order[static_cast<size_t>(group.begin)]; };
  const auto isEarlier = [&](const Group& a, const Group& b) {
    work.pass(8);
    return firstOf(a) < firstOf(b);
  };
  if (!sorted) std::sort(groups.begin(), groups.end(), isEarlier);
  Groups result;
  result.inverse = repeated<int64_t>(rows.count);
  result.first = emptyFor<int64_t>(static_cast<int64_t>(groups.size()));
  result.counts = emptyFor<int64_t>(static_cast<int64_t>(groups.size()));
  for (const Group& group : groups) {
    for (int64_t i = group.begin; i < group.end; ++i)
      result.inverse[static_cast<size_t>(order[static_cast<size_t>(i)])] = static_cast<int64_t>(result.first.size());
    result.first.push_back(firstOf(group));
    result.counts.push_back(group.end - group.begin);
    work.pass(16 + group.end - group.begin);
  }
  return result;
}

// Slices without elements are all equal. There may be many, so only the requested outputs are created.
Results uniqueOfEmpty(const Node& node, const Tensor& tensor, int axis) {
  const int64_t count = axis < 0 ? 0 : tensor.shape()[axis];
  const Shape list{count > 0 ? 1 : 0};
  const std::vector<int64_t> first(1), counts{count};
  Ref<Tensor> inverse = node.output(2) ? Tensor::allocate(DType::Int64, {count}, true) : nullptr;
  return {take(tensor, axis, std::span(first).first(static_cast<size_t>(list[0]))), indexTensor(list, first),
          std::move(inverse), indexTensor(list, counts)};
}

Results unique(const Node& node, Inputs inputs) {
  const int axis = axisOf(node, inputs);
  if (inputs[0]->count() == 0) return uniqueOfEmpty(node, *inputs[0], axis);
  constexpr size_t kGroupBytes = 24 * sizeof(int64_t);  // most, of a slice and of one of its elements
  const MemoryLease room = roomFor(inputs[0]->count(), kGroupBytes);
  Groups groups;
  const auto group = [&]<class D>(D) {
    groups = groupsOf(rowsOf<D>(*inputs[0], axis), readers::sortsGroups(*RequestInputs(node, inputs)));
  };
  if (inputs[0]->dtype() == DType::String)
    group(std::string_view());
  else
    visitDomain(argumentOf(*inputs[0]).dtype, group);
  const Shape list{static_cast<int64_t>(groups.first.size())};
  return {take(*inputs[0], axis, groups.first), indexTensor(list, groups.first),
          indexTensor({static_cast<int64_t>(groups.inverse.size())}, groups.inverse), indexTensor(list, groups.counts)};
}

struct Box {
  float y1, x1, y2, x2, area;
};

Box boxAt(const float* p, bool centered) {
  const Box box = centered
                      ? Box{p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2, 0}
                      : Box{std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3]), 0};
  return {box.y1, box.x1, box.y2, box.x2, (box.y2 - box.y1) * (box.x2 - box.x1)};
}

// The boxes of an image.
struct Boxes {
  const float* numbers;
  int64_t count;
  bool centered;

  Box operator[](int64_t i) const { return boxAt(numbers + i * 4, centered); }
};

// What x coordinates lie between, and 0.
struct Extent {
  float low = 0, high = 0;
  bool isFinite = true;

  // Boxes of two corners.
  void add(const float* boxes, int64_t count) {
    typedef float Corners __attribute__((vector_size(16)));
    Corners least{}, most{};
    auto odd = least != least;
    for (int64_t i = 0; i < count; ++i) {
      Corners box;
      std::memcpy(&box, boxes + i * 4, sizeof box);
      least = box < least ? box : least;
      most = most < box ? box : most;
      odd |= box - box != 0;
    }
    low = std::min({low, least[1], least[3]});
    high = std::max({high, most[1], most[3]});
    isFinite &= (odd[1] | odd[3]) == 0;
  }
};

template <class IndexOf>
Extent extentOf(const Boxes& boxes, int64_t count, IndexOf indexOf) {
  Extent extent;
  WorkCounter work;
  for (int64_t i = 0; i < count; ++i, work.pass(2)) {
    const Box box = boxes[indexOf(i)];
    extent.low = std::min(extent.low, box.x1);
    extent.high = std::max(extent.high, box.x2);
    extent.isFinite &= std::isfinite(box.x1) && std::isfinite(box.x2);
  }
  return extent;
}

Extent extentOfAll(const Boxes& boxes) {
  if (boxes.centered) return extentOf(boxes, boxes.count, std::identity());
  Extent extent;
  inParts(boxes.count, 2, [&](int64_t begin, int64_t end) { extent.add(boxes.numbers + begin * 4, end - begin); });
  return extent;
}

// A float is above this one just if it is above the double.
float floatBelow(double value) {
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) > value ? std::nextafter(nearest, -INFINITY) : nearest;
}

// Kept boxes by the places of their left edges: a candidate meets those that may overlap it. Detectors for many classes
// move the boxes of each class to a place of its own.
class KeptBoxes {
 public:
  // Of an image with these boxes. `maxOverlap` below zero: boxes that are apart count as overlapping, too.
  KeptBoxes(const Boxes& boxes, double maxOverlap)
      : boxes_(boxes), most_(floatBelow(maxOverlap)), countsApart_(maxOverlap < 0) {}

  int64_t count() const { return count_; }

  // None, of the next class. The places of many candidates are like those of all boxes, which are
  // looked at once.
  template <class IndexOf>
  void clear(int64_t candidates, IndexOf indexOf) {
    const bool areMany = candidates > boxes_.count / 4;
    if (areMany && !std::exchange(knowsAll_, true)) all_ = extentOfAll(boxes_);
    const Extent extent = areMany ? all_ : extentOf(boxes_, candidates, indexOf);
    // Where few boxes are kept, strips without any would take longer.
    const int strips = candidates < kFewCandidates ? kStrips / 8 : kStrips;
    low_ = extent.low;
    width_ = (extent.high - extent.low) / static_cast<float>(strips);
    const bool hasStrips = !countsApart_ && extent.isFinite && std::isnormal(width_);
    strips_.assign(hasStrips ? static_cast<size_t>(strips) : 1, {hasStrips ? -INFINITY : INFINITY, -1});
    fours_.clear();
    count_ = 0;
  }

  void add(const Box& box) {
    const size_t at = stripOf(box.x1);
    for (size_t i = at; i < strips_.size() && strips_[i].reach < box.x2; ++i) strips_[i].reach = box.x2;
    Strip& strip = strips_[at];
    if (strip.first < 0 || fours_[static_cast<size_t>(strip.first)].count == kSide) {
      fours_.push_back(Four(strip.first));
      strip.first = static_cast<int32_t>(fours_.size()) - 1;
    }
    fours_[static_cast<size_t>(strip.first)].add(box);
    ++count_;
  }

  bool cover(const Box& candidate, WorkCounter& work) const {
    for (size_t i = stripOf(candidate.x2) + 1; i-- > 0 && !(strips_[i].reach <= candidate.x1); work.pass())
      for (int32_t at = strips_[i].first; at >= 0; work.pass(16)) {
        const Four& four = fours_[static_cast<size_t>(at)];
        if (four.overlaps(candidate, most_)) return true;
        at = four.next;
      }
    return false;
  }

 private:
  static constexpr int kStrips = 64, kFewCandidates = 2048, kSide = 4;
  typedef float Floats __attribute__((vector_size(sizeof(float) * kSide)));

  // Boxes of a strip that are compared at once; missing ones are NaN, which overlaps nothing.
  struct Four {
    explicit Four(int32_t following) : next(following) {
      y1 = x1 = y2 = x2 = area = std::numeric_limits<float>::quiet_NaN() - Floats{};
    }
    void add(const Box& box) {
      y1[count] = box.y1;
      x1[count] = box.x1;
      y2[count] = box.y2;
      x2[count] = box.x2;
      area[count++] = box.area;
    }
    bool overlaps(const Box& box, float most) const {
      const auto least = [](Floats a, Floats b) { return b < a ? b : a; };
      const auto greatest = [](Floats a, Floats b) { return a < b ? b : a; };
      const auto all = [](float x) { return x - Floats{}; };
      const Floats height = least(all(box.y2), y2) - greatest(all(box.y1), y1);
      const Floats width = least(all(box.x2), x2) - greatest(all(box.x1), x1);
      const Floats both = height * width, part = both / (all(box.area) + area - both);
      const auto isMore = (((height <= 0) | (width <= 0)) ? Floats{} : part) > most;
      int64_t halves[2];
      std::memcpy(halves, &isMore, sizeof halves);
      return (halves[0] | halves[1]) != 0;
    }

    Floats y1, x1, y2, x2, area;
    int32_t count = 0, next;
  };

  struct Strip {
    float reach = 0;     // the right edge that is farthest to the right, also of strips before
    int32_t first = -1;  // of its boxes
  };

  size_t stripOf(float x) const {
    if (strips_.size() == 1) return 0;
    return static_cast<size_t>(std::clamp((x - low_) / width_, 0.f, static_cast<float>(strips_.size() - 1)));
  }

  const Boxes boxes_;
  Extent all_;
  float most_, low_ = 0, width_ = 0;
  bool countsApart_, knowsAll_ = false;
  std::vector<Strip> strips_;
  std::vector<Four> fours_;
  int64_t count_ = 0;
};

struct Suppression {
  double most, maxOverlap;
  float minScore;
};

// The boxes of a class that are above the least score, as keys: those that come first are the least. The upper half of
// a key falls as the score rises, the lower half is the index.
class Candidates {
 public:
  explicit Candidates(size_t boxes) : keys_(boxes) {}

  size_t count() const { return count_; }
  // In any order.
  int64_t indexAt(int64_t i) const { return indexOf(keys_[static_cast<size_t>(i)]); }

  // Most scores of a detector are too low: whole pieces are skipped. In a piece no jump depends on a score, which would
  // often be predicted wrongly.
  void collect(std::span<const float> score, float minScore) {
    constexpr size_t kPiece = 32;
    count_ = 0;
    WorkCounter work;
    for (size_t begin = 0; begin < score.size(); begin += kPiece, work.pass(kPiece / 4)) {
      const std::span<const float> piece = score.subspan(begin, std::min(kPiece, score.size() - begin));
      if (piece.size() < kPiece || isAnyAbove<kPiece>(piece.data(), minScore)) collectPiece(piece, begin, minScore);
    }
  }

  // Where few of many are wanted, a heap has some more than these, which are the best.
  void arrange(double wanted) {
    top_ = next_ = 0;
    last_ = count_;
    isHeap_ = wanted * 4 < static_cast<double>(count_);
    if (!isHeap_) return sort();
    std::array<uint32_t, size_t{1} << (32 - kUncounted)> histogram{};
    inParts(static_cast<int64_t>(count_), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++histogram[keys_[static_cast<size_t>(i)] >> (32 + kUncounted)];
    });
    size_t columns = 0;
    for (double better = 0; better < wanted * 2; ++columns) better += histogram[columns];
    const auto isBetter = [columns](uint64_t key) { return key >> (32 + kUncounted) < columns; };
    heap(0, static_cast<size_t>(std::partition(keys_.data(), keys_.data() + count_, isBetter) - keys_.data()));
  }

  int64_t next() {
    if (!isHeap_) return indexOf(keys_[next_++]);
    if (last_ == top_) heap(end_, count_);
    std::pop_heap(keys_.data() + top_, keys_.data() + last_, Compare{work_});
    return indexOf(keys_[--last_]);
  }

 private:
  static constexpr int kUncounted = 20;  // bits of a score

  struct Compare {
    WorkCounter& work;
    bool operator()(uint64_t a, uint64_t b) const {
      work.pass(2);
      return b < a;
    }
  };

  template <size_t kCount>
  static bool isAnyAbove(const float* score, float least) {
    int32_t found = 0;
    for (size_t i = 0; i < kCount; ++i) found |= score[i] > least ? -1 : 0;
    return found != 0;
  }

  void collectPiece(std::span<const float> score, size_t begin, float minScore) {
    size_t count = count_;  // in a register
    uint64_t* keys = keys_.data();
    for (size_t i = 0; i < score.size(); ++i) {
      keys[count] = static_cast<uint64_t>(~floatOrder(score[i])) << 32 | (begin + i);
      count += score[i] > minScore;
    }
    count_ = count;
  }

  void insert() {
    for (size_t i = 1; i < count_; ++i) {
      const uint64_t key = keys_[i];
      size_t place = i;
      for (; place > 0 && key < keys_[place - 1]; --place) keys_[place] = keys_[place - 1];
      keys_[place] = key;
    }
  }

  // By one byte of the scores after the other; the indices of equal ones rise already.
  void sort() {
    constexpr size_t kFew = 32;
    if (count_ < kFew) return insert();
    sorted_.resize(keys_.size());
    std::array<std::array<uint32_t, 256>, 4> ends{};  // of the keys with a smaller byte
    const auto forEachKey = [this](const auto& body) {
      inParts(static_cast<int64_t>(count_), 4, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) body(keys_[static_cast<size_t>(i)]);
      });
    };
    const auto byteOf = [](uint64_t key, size_t byte) { return key >> (32 + 8 * byte) & 255; };
    forEachKey([&](uint64_t key) {
      for (size_t byte = 0; byte < ends.size(); ++byte) ++ends[byte][byteOf(key, byte)];
    });
    for (size_t byte = 0; byte < ends.size(); ++byte) {
      std::exclusive_scan(ends[byte].begin(), ends[byte].end(), ends[byte].begin(), uint32_t{0});
      forEachKey([&](uint64_t key) { sorted_[ends[byte][byteOf(key, byte)]++] = key; });
      keys_.swap(sorted_);
    }
  }

  static int64_t indexOf(uint64_t key) { return static_cast<int64_t>(key & 0xFFFFFFFF); }
  void heap(size_t begin, size_t end) {
    top_ = begin;
    last_ = end_ = end;
    std::make_heap(keys_.data() + begin, keys_.data() + end, Compare{work_});
  }

  std::vector<uint64_t> keys_, sorted_;
  size_t count_ = 0;
  bool isHeap_ = false;
  size_t next_ = 0;                      // of sorted ones
  size_t top_ = 0, last_ = 0, end_ = 0;  // of the heap: what was taken lies from `last_` to `end_`
  WorkCounter work_;
};

// The indices of the boxes of one image that one class keeps. `candidates`: memory that classes share.
void suppress(const Suppression& limits, std::span<const float> score, const Boxes& boxes, KeptBoxes& kept,
              Candidates& candidates, std::vector<int64_t>& indices) {
  WorkCounter work;
  candidates.collect(score, limits.minScore);
  candidates.arrange(limits.most);
  kept.clear(static_cast<int64_t>(candidates.count()), [&](int64_t i) { return candidates.indexAt(i); });
  for (size_t i = 0; i < candidates.count() && static_cast<double>(kept.count()) < limits.most; ++i) {
    const int64_t index = candidates.next();
    const Box candidate = boxes[index];
    if (kept.cover(candidate, work)) continue;
    kept.add(candidate);
    indices.push_back(index);
  }
}

Results nonMaxSuppression(const Node& node, Inputs inputs) {
  const Shape &boxes = inputs[0]->shape(), &scores = inputs[1]->shape();
  require(boxes.rank() == 3 && scores.rank() == 3 && boxes[2] == 4 && boxes[0] == scores[0] && boxes[1] == scores[2],
          MAX_STATUS_INVALID_ARGUMENT, node.description(), ": boxes ", boxes, " and scores ", scores, " do not fit");
  const auto scalar = [&](size_t i, double fallback) {
    const Tensor* tensor = optional(inputs, i);
    return tensor ? loadScalar(argumentOf(*tensor), fallback) : fallback;
  };
  const Suppression limits{scalar(2, 0), scalar(3, 0), floatBelow(scalar(4, -INFINITY))};
  const bool centered = readers::hasCentredBoxes(*RequestInputs(node, inputs));
  std::vector<int64_t> selected, indices;
  if (inputs[1]->count() == 0) return {indexTensor({0, 3}, selected)};
  const auto count = static_cast<size_t>(scores[2]);
  require(count >> 32 == 0, MAX_STATUS_UNIMPLEMENTED, node.description(), ": ", count, " boxes");
  const auto candidates = std::make_unique<Candidates>(count);
  for (int64_t image = 0; image < scores[0]; ++image) {
    const Boxes all{inputs[0]->as<float>() + image * boxes[1] * 4, boxes[1], centered};
    KeptBoxes kept(all, limits.maxOverlap);
    for (int64_t c = 0; c < scores[1]; ++c, passWork(64)) {
      const float* score = inputs[1]->as<float>() + (image * scores[1] + c) * scores[2];
      indices.clear();
      suppress(limits, {score, count}, all, kept, *candidates, indices);
      for (const int64_t index : indices) selected.insert(selected.end(), {image, c, index});
    }
  }
  return {indexTensor({static_cast<int64_t>(selected.size() / 3), 3}, selected)};
}

const OpRow kRows[] = {
    {"", "NonZero", {}, nullptr, nonZero},
    {"", "Unique", {}, nullptr, unique},
    {"", "Compress", {}, nullptr, compress},
    {"", "NonMaxSuppression", {}, nullptr, nonMaxSuppression},
    {kMaxDomain, "CountedNonZero", kReference<countedNonZero>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> dynamicOps() { return reference::kRows; }

}  // namespace max
