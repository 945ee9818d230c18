// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/movement/indexed_copy.h"

#include <algorithm>
#include <cstring>

#include "base/interrupt_point.h"
#include "base/thread_pool.h"
#include "ops/cpu/element.h"

namespace max {

namespace {

constexpr int64_t kGrainBytes = 64 * 1024;
constexpr int64_t kShortFill = 1024;  // counted with the row

bool isIdentity(const WorkVector<int64_t>& table, int64_t size) {
  if (static_cast<int64_t>(table.size()) != size) return false;
  WorkCounter work;
  for (int64_t i = 0; i < size; ++i, work.pass())
    if (table[static_cast<size_t>(i)] != i) return false;
  return true;
}

template <class Size>
void fillBytes(Size size, std::byte* target, const std::byte* fill, int64_t bytes) {
  const auto part = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += size) copyElement(size, target + i, fill);
  };
  if (bytes <= kShortFill) return part(0, bytes);
  inParts(bytes / size, 1, [&](int64_t begin, int64_t end) { part(begin * size, end * size); });
}

}  // namespace

IndexedCopy::IndexedCopy(int64_t elementBytes, const Shape& source, const IndexTables& tables)
    : elementBytes_(elementBytes) {
  int inner = source.rank() - 1;
  int64_t step = elementBytes;
  while (inner > 0 && isIdentity(tables[static_cast<size_t>(inner)], source[inner])) step *= source[inner--];
  static const WorkVector<int64_t> one{0};  // of a scalar
  const WorkVector<int64_t>& innermost = inner < 0 ? one : tables[static_cast<size_t>(inner)];
  addSegments(innermost, step);
  rowBytes_ = static_cast<int64_t>(innermost.size()) * step;
  int64_t stride = step * (inner < 0 ? 1 : source[inner]);
  WorkCounter work;
  for (int axis = inner - 1; axis >= 0; --axis) {
    Axis entry{tables[static_cast<size_t>(axis)]};
    for (int64_t& offset : entry.offsets)
      if (work.pass(); offset != kFill) offset *= stride;
    stride *= source[axis];
    rows_ *= static_cast<int64_t>(entry.offsets.size());
    outer_.insert(outer_.begin(), std::move(entry));
  }
  if (outer_.empty()) outer_.push_back({{0}});
}

void IndexedCopy::addSegments(const WorkVector<int64_t>& table, int64_t step) {
  WorkCounter work;
  for (size_t i = 0; i < table.size(); ++i) {
    work.pass(4);
    const int64_t source = table[i] == kFill ? kFill : table[i] * step;
    Segment* last = segments_.empty() ? nullptr : &segments_.back();
    const bool continues = last && (source == kFill ? last->source == kFill
                                                    : last->source != kFill && last->source + last->bytes == source);
    if (continues)
      last->bytes += step;
    else
      segments_.push_back({static_cast<int64_t>(i) * step, source, step});
  }
  isGather_ = segments_.size() * 4 > table.size() && table.size() > 8 &&
              std::find(table.begin(), table.end(), kFill) == table.end();
  if (!isGather_) return;
  stepBytes_ = step;
  for (const int64_t index : table) rowOffsets_.push_back(index * step);
}

void IndexedCopy::gatherRow(const std::byte* source, std::byte* target) const {
  visitElementBytes(stepBytes_, [this, source, target](auto size) {
    std::byte* to = target;
    WorkCounter work;
    for (const int64_t offset : rowOffsets_) {
      copyElement(size, to, source + offset);
      to += size;
      work.pass(1 + size / 8);
    }
  });
}

// Elements of `size` bytes. A border is a few of them, as often copied one by one as filled.
template <class Size>
void IndexedCopy::copySegments(Size size, const std::byte* source, std::byte* target, const std::byte* fill) const {
  WorkCounter work;
  for (const Segment& segment : segments_) {
    work.pass(8 + segment.bytes / 8);
    std::byte* to = target + segment.target;
    if (segment.source == kFill)
      fillBytes(size, to, fill, segment.bytes);
    else if (segment.bytes == size)
      copyElement(size, to, source + segment.source);
    else
      copyBytes(to, source + segment.source, static_cast<size_t>(segment.bytes));
  }
}

// The source of a row of the last outer axis, all of whose rows have the same offset along the others.
int64_t IndexedCopy::blockOffset(int64_t block) const {
  int64_t offset = 0;
  for (size_t axis = outer_.size() - 1; axis-- > 0 && offset != kFill;) {
    const auto& offsets = outer_[axis].offsets;
    const auto size = static_cast<int64_t>(offsets.size());
    const int64_t step = offsets[static_cast<size_t>(block % size)];
    block /= size;
    offset = step == kFill ? kFill : offset + step;
  }
  return offset;
}

template <class Size>
void IndexedCopy::runRows(Size size, const std::byte* source, std::byte* target, const std::byte* fill, int64_t begin,
                          int64_t end) const {
  const auto blockRows = static_cast<int64_t>(outer_.back().offsets.size());
  for (int64_t row = begin; row < end;) {
    const int64_t first = row % blockRows, base = blockOffset(row / blockRows);
    const int64_t* offsets = outer_.back().offsets.data() + first;
    const int64_t rows = std::min(end - row, blockRows - first);
    for (int64_t k = 0; k < rows; ++k, ++row) {
      std::byte* out = target + row * rowBytes_;
      if (base == kFill || offsets[k] == kFill)
        fillBytes(size, out, fill, rowBytes_);
      else if (k > 0 && offsets[k] == offsets[k - 1])
        copyBytes(out, out - rowBytes_, static_cast<size_t>(rowBytes_));
      else if (isGather_)
        gatherRow(source + base + offsets[k], out);
      else
        copySegments(size, source + base + offsets[k], out, fill);
    }
  }
}

void IndexedCopy::run(const std::byte* source, std::byte* target, const std::byte* fill, int lanes) const {
  if (rowBytes_ == 0 || rows_ == 0) return;
  parallelFor(lanes, rows_, std::max<int64_t>(1, kGrainBytes / rowBytes_), [&](int64_t begin, int64_t end, int) {
    visitElementBytes(elementBytes_, [&](auto size) { runRows(size, source, target, fill, begin, end); });
  });
}

}  // namespace max
