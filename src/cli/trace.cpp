// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>

#include "failure.h"
#include "output.h"

namespace max::cli {
namespace {

struct Event {
  const Json* json;
  int64_t thread;
  double start, end, self;  // microseconds
};

std::vector<Event> eventsOf(const Json& trace) {
  std::vector<Event> events;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double start = event["ts"].get<double>(), duration = event["dur"].get<double>();
    events.push_back({&event, event["tid"].get<int64_t>(), start, start + duration, duration});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.thread, a.start, -a.end) < std::tuple(b.thread, b.start, -b.end);
  });
  return events;
}

// Nested events do not count toward an event's own time. The profiled runs come from one thread; what a device does is
// apart.
void subtractNested(std::vector<Event>& events) {
  std::vector<Event*> around;
  for (Event& event : events) {
    while (!around.empty() && (around.back()->thread != event.thread || around.back()->end <= event.start))
      around.pop_back();
    if (!around.empty()) around.back()->self -= event.end - event.start;
    around.push_back(&event);
  }
}

}  // namespace

Trace readTrace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) throw Failure("INTERNAL", "The profile \"" + path + "\" cannot be read");
  std::vector<Event> events = eventsOf(json);
  subtractNested(events);
  Trace trace;
  std::map<std::tuple<std::string, std::string, int64_t>, TraceRow> rows;
  for (const Event& event : events) {
    const std::string name = event.json->at("name"), type = event.json->at("cat");
    if (type == "model") {
      trace.totalMs += (event.end - event.start) / 1e3;
      continue;
    }
    const Json& arguments = event.json->at("args");
    TraceRow& row = rows[{name, type, arguments.value("position", int64_t{0})}];
    row.name = name;
    row.type = type;
    row.implementation = arguments.at("implementation");
    row.multiplications += arguments.value("multiplications", 0.);
    row.bytes += arguments.value("bytes", 0.);
    row.ms += event.self / 1e3;
    ++row.calls;
  }
  for (auto& [key, row] : rows) trace.rows.push_back(std::move(row));
  std::stable_sort(trace.rows.begin(), trace.rows.end(),
                   [](const TraceRow& a, const TraceRow& b) { return a.ms > b.ms; });
  return trace;
}

}  // namespace max::cli
