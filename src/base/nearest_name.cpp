// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"

namespace max {

namespace {

constexpr size_t kLongest = 256;  // longer names are not compared
constexpr size_t kListed = 8;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Edit distance: letters to insert, remove, replace or swap with a neighbour, ignoring case; at most `limit`.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= limit) return limit;
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool isSame = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + !isSame});
      const bool isSwap = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (isSwap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    if (*std::min_element(row.begin(), row.end()) >= limit) return limit;
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

// Up to a third of the letters may differ, at least one, but not all.
NearestName::NearestName(std::string_view wanted)
    : wanted_(wanted),
      limit_(wanted.size() > kLongest ? 0 : std::min(std::max<size_t>(wanted.size() / 3, 1) + 1, wanted.size())) {}

void NearestName::offer(std::string_view name) {
  if (count_++ < kListed) list_ += concat(count_ > 1 ? ", '" : "'", name, "'");
  if (name == wanted_) {  // the name itself is not the problem
    limit_ = 0;
    best_ = {};
  }
  if (name.empty() || name.size() > kLongest) return;
  const size_t found = distance(wanted_, name, limit_);
  if (found >= limit_) return;
  limit_ = found;
  best_ = name;
}

std::string NearestName::hint() const { return best_.empty() ? "" : concat("; did you mean '", best_, "'?"); }

std::string NearestName::hintOrList() const {
  if (!best_.empty()) return hint();
  if (count_ == 0) return "; there are none";
  return concat("; known names: ", list_, count_ > kListed ? concat(" and ", count_ - kListed, " more") : "");
}

}  // namespace max
