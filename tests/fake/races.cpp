// SPDX-License-Identifier: Apache-2.0
#include "races.h"

#include <algorithm>
#include <iterator>

namespace fake {

void join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

uint32_t RaceDetector::addActor() {
  if (!freeActors_.empty()) {
    const uint32_t actor = freeActors_.back();
    freeActors_.pop_back();
    return actor;
  }
  counts_.push_back(0);
  return actors_++;
}

void RaceDetector::removeActor(uint32_t actor) { freeActors_.push_back(actor); }

void RaceDetector::begin(uint32_t actor, Clock& clock) {
  join(clock, host_);
  if (clock.size() <= actor) clock.resize(actor + 1);
  clock[actor] = ++counts_[actor];
}

bool RaceDetector::knows(const Clock& clock, const Epoch& epoch) {
  return epoch.count == 0 || (epoch.actor < clock.size() && clock[epoch.actor] >= epoch.count);
}

// Makes `address` a border of cells.
void RaceDetector::split(uint64_t address) {
  auto next = cells_.upper_bound(address);
  if (next == cells_.begin()) return;
  const auto cell = std::prev(next);
  if (cell->first == address || cell->second.end <= address) return;
  cells_.emplace_hint(next, address, cell->second);
  cell->second.end = address;
}

// Cells for all of a range, which begins with the returned one.
RaceDetector::Cells::iterator RaceDetector::cover(uint64_t begin, uint64_t end) {
  split(begin);
  split(end);
  uint64_t at = begin;
  for (auto cell = cells_.lower_bound(begin); at < end; ++cell) {
    if (cell == cells_.end() || cell->first > at) {
      const uint64_t until = cell == cells_.end() ? end : std::min(end, cell->first);
      cell = cells_.emplace_hint(cell, at, Cell{until, {}, {}});
    }
    at = cell->second.end;
  }
  return cells_.lower_bound(begin);
}

bool RaceDetector::check(const Cells::value_type& cell, const Clock& clock, bool writes, const char* what,
                         std::string* text) {
  const auto tell = [&](const char* earlier, const Epoch& epoch) {
    *text = std::string(what) + " of 0x" +
            [&] {
              static constexpr char kDigits[] = "0123456789abcdef";
              std::string hex;
              for (uint64_t value = cell.first; value; value >>= 4) hex.insert(hex.begin(), kDigits[value & 15]);
              return hex;
            }() +
            " is not ordered after " + earlier + " by operation " + std::to_string(epoch.count) + " of stream " +
            std::to_string(epoch.actor);
    return false;
  };
  if (!knows(clock, cell.second.writer)) return tell("a write", cell.second.writer);
  if (!writes) return true;
  for (const Epoch& reader : cell.second.readers)
    if (!knows(clock, reader)) return tell("a read", reader);
  return true;
}

bool RaceDetector::access(uint32_t actor, const Clock& clock, const Access& access, std::string* text) {
  if (access.bytes == 0) return true;
  const uint64_t end = access.address + access.bytes;
  const Epoch epoch{actor, clock[actor]};
  bool isOrdered = true;
  auto cell = cover(access.address, end);
  for (; cell != cells_.end() && cell->first < end; ++cell) {
    isOrdered = isOrdered && check(*cell, clock, access.writes, access.writes ? "a write" : "a read", text);
    if (access.writes) continue;
    std::erase_if(cell->second.readers, [&](const Epoch& reader) { return reader.actor == actor; });
    cell->second.readers.push_back(epoch);
  }
  if (access.writes) {  // one cell for what is now of one kind
    cells_.erase(cells_.lower_bound(access.address), cells_.lower_bound(end));
    cells_.emplace(access.address, Cell{end, epoch, {}});
  }
  return isOrdered;
}

bool RaceDetector::forget(uint64_t address, uint64_t bytes, std::string* text) {
  split(address);
  split(address + bytes);
  const auto first = cells_.lower_bound(address);
  const auto last = cells_.lower_bound(address + bytes);
  const bool isOrdered =
      std::all_of(first, last, [&](const auto& cell) { return check(cell, host_, true, "a free", text); });
  cells_.erase(first, last);
  return isOrdered;
}

}  // namespace fake
