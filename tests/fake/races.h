// SPDX-License-Identifier: Apache-2.0
// Finds unordered accesses to the same bytes with vector clocks. Actors are streams, and the host as one actor: what
// any of its threads has waited for is known to all (races between host threads are for a thread sanitizer).
//
// Order is what the calls promise, not what happens to be fast: it is settled when work is enqueued, so that a race is
// found in every run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake {

// How many operations of each actor are known to have been done.
using Clock = std::vector<uint64_t>;
void join(Clock& clock, const Clock& other);

struct Access {
  uint64_t address;
  uint64_t bytes;
  bool writes;
};

class RaceDetector {
 public:
  // A number for a stream; those of destroyed streams are used again.
  uint32_t addActor();
  void removeActor(uint32_t actor);

  Clock& host() { return host_; }
  // Begins an operation of an actor, which knows what the host knows. Returns false and a text if an access of it is
  // not ordered with an earlier one.
  void begin(uint32_t actor, Clock& clock);
  bool access(uint32_t actor, const Clock& clock, const Access& access, std::string* text);
  // The host gives a range back: all accesses to it must be known to it. The range is forgotten.
  bool forget(uint64_t address, uint64_t bytes, std::string* text);

 private:
  struct Epoch {
    uint32_t actor = 0;
    uint64_t count = 0;
  };
  struct Cell {
    uint64_t end = 0;
    Epoch writer;
    std::vector<Epoch> readers;
  };
  using Cells = std::map<uint64_t, Cell>;

  static bool knows(const Clock& clock, const Epoch& epoch);
  void split(uint64_t address);
  Cells::iterator cover(uint64_t begin, uint64_t end);
  static bool check(const Cells::value_type& cell, const Clock& clock, bool writes, const char* what,
                    std::string* text);

  Cells cells_;
  Clock host_;
  std::vector<uint32_t> freeActors_;
  uint32_t actors_ = 1;  // 0 = the host, which has no operations of its own
  std::vector<uint64_t> counts_ = {0};
};

}  // namespace fake
