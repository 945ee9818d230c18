// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "limits.h"
#include "model.h"
#include "output.h"
#include "temporary.h"
#include "trace.h"

namespace max::cli {
namespace {

constexpr int kWarmup = 3;
constexpr size_t kShownNodes = 20;

// Per run of the model, with the share of the total.
void addRow(Table& table, std::vector<std::string> cells, double ms, const Trace& trace, int runs) {
  cells.push_back(format("%.4f", ms / runs));
  cells.push_back(format("%.1f %%", trace.totalMs > 0 ? 100 * ms / trace.totalMs : 0));
  table.push_back(std::move(cells));
}

// Billions per second.
std::string rateText(double count, const TraceRow& row) {
  return count > 0 && row.ms > 0 ? format("%.1f", count / row.ms / 1e6) : "";
}

bool isIntegerProduct(const TraceRow& row) {
  const auto has = [&](std::string_view part) { return row.type.find(part) != std::string::npos; };
  return row.multiplications > 0 && (has("Integer") || has("QLinear") || has("DynamicQuantize"));
}

// What a node's work takes at the limit that it meets first.
double msAtLimit(const TraceRow& row, const Limits& limits) {
  const double rate = isIntegerProduct(row) ? limits.integerMultiplicationsPerMs : limits.multiplicationsPerMs;
  return std::max(row.multiplications / rate, row.bytes / limits.bytesPerMs);
}

// How near a node comes to its limit; none for nodes without work. Above 1, it reads from a cache.
std::optional<double> shareOfLimit(const TraceRow& row, const Limits& limits) {
  if (row.bytes <= 0 || row.ms <= 0 || !limits.areMeasured()) return std::nullopt;
  return msAtLimit(row, limits) / row.ms;
}

// The same for all of them together, where none counts for more than it takes.
double shareOfLimit(const Trace& trace, const Limits& limits) {
  double ms = 0;
  for (const TraceRow& row : trace.rows) ms += std::min(msAtLimit(row, limits), row.ms);
  return trace.totalMs > 0 ? ms / trace.totalMs : 0;
}

std::string shareText(std::optional<double> share) { return share ? format("%.0f %%", 100 * *share) : ""; }

std::vector<TraceRow> byOperator(const Trace& trace) {
  std::map<std::string, TraceRow> sums;
  for (const TraceRow& row : trace.rows) {
    TraceRow& sum = sums[row.type];
    sum.type = row.type;
    sum.calls += row.calls;
    sum.ms += row.ms;
  }
  std::vector<TraceRow> rows;
  for (auto& [type, row] : sums) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(), [](const TraceRow& a, const TraceRow& b) { return a.ms > b.ms; });
  return rows;
}

void printLimits(const Trace& trace, const Limits& limits) {
  if (!limits.areMeasured()) return printLine("Times of what runs on the accelerator are the device's own");
  printLine(
      format("Limits, as measured now: %.0f billion multiplications (product of matrices), %.0f GB (read) per second",
             limits.multiplicationsPerMs / 1e6, limits.bytesPerMs / 1e6));
  if (limits.integerMultiplicationsPerMs > 0)
    printLine(format("Of 8-bit integers: %.0f billion multiplications", limits.integerMultiplicationsPerMs / 1e6));
  printLine(format("At them a run would take %.0f %% of its time", 100 * shareOfLimit(trace, limits)));
}

Json rateJson(double rate) { return rate > 0 ? Json(rate) : Json(); }

void printText(const ProfileOptions& options, const OpenModel& open, const Trace& trace, const Limits& limits) {
  printLine(options.model + "  on " + options.device +
            format(", %d threads, %d runs, %.4f ms each", open.threads, options.runs, trace.totalMs / options.runs));
  printLine("");
  Table operators = {{"OPERATOR", "CALLS/RUN", "MS/RUN", "SHARE"}};
  double known = 0;
  for (const TraceRow& row : byOperator(trace)) {
    addRow(operators, {row.type, format("%.4g", static_cast<double>(row.calls) / options.runs)}, row.ms, trace,
           options.runs);
    known += row.ms;
  }
  addRow(operators, {"(between steps)", ""}, std::max(0., trace.totalMs - known), trace, options.runs);
  printTable(operators);
  printLine("");
  printLimits(trace, limits);
  printLine("");
  Table nodes = {{"NODE", "OPERATOR", "IMPLEMENTATION", "MS/RUN", "SHARE", "GMUL/S", "GB/S", "OF LIMIT"}};
  for (size_t i = 0; i < std::min(trace.rows.size(), kShownNodes); ++i) {
    const TraceRow& row = trace.rows[i];
    addRow(nodes, {row.name, row.type, row.implementation}, row.ms, trace, options.runs);
    for (const std::string& text :
         {rateText(row.multiplications, row), rateText(row.bytes, row), shareText(shareOfLimit(row, limits))})
      nodes.back().push_back(text);
  }
  printTable(nodes);
  if (trace.rows.size() > kShownNodes) printLine(format("and %zu more nodes", trace.rows.size() - kShownNodes));
}

Json toJson(const Trace& trace, const Limits& limits) {
  Json rows = Json::array();
  for (const TraceRow& row : trace.rows) {
    const std::optional<double> share = shareOfLimit(row, limits);
    rows.push_back({{"name", row.name},
                    {"type", row.type},
                    {"implementation", row.implementation},
                    {"calls", row.calls},
                    {"ms", row.ms},
                    {"multiplications", row.multiplications},
                    {"bytes", row.bytes},
                    {"of_limit", share ? Json(*share) : Json()}});
  }
  return {{"total_ms", trace.totalMs},
          {"multiplications_per_ms", rateJson(limits.multiplicationsPerMs)},
          {"integer_multiplications_per_ms", rateJson(limits.integerMultiplicationsPerMs)},
          {"bytes_per_ms", rateJson(limits.bytesPerMs)},
          {"of_limit", limits.areMeasured() ? Json(shareOfLimit(trace, limits)) : Json()},
          {"operators", rows}};
}

}  // namespace

void profileModel(const ProfileOptions& options) {
  const OpenModel open = openModel(options);
  const std::vector<Buffer> inputs = makeInputs(open, options);
  for (int i = 0; i < kWarmup; ++i) executeValues(open, inputs);
  check(maxSessionClearProfile(open.session));
  check(maxSessionSetProfiling(open.session, MAX_PROFILING_MODE_DETAILED));
  {
    Progress progress("profiling");
    for (int i = 0; i < options.runs; ++i) {
      executeValues(open, inputs);
      progress.update((i + 1.) / options.runs);
    }
  }
  const TemporaryFile temporary;
  const std::string& path = options.output.empty() ? temporary.path() : options.output;
  check(maxSessionWriteProfile(open.session, path.c_str()));
  const Trace trace = readTrace(path);
  Limits limits;
  if (options.device == "cpu")
    limits = measureLimits(open, std::any_of(trace.rows.begin(), trace.rows.end(), isIntegerProduct));
  options.json ? printJson(toJson(trace, limits)) : printText(options, open, trace, limits);
}

}  // namespace max::cli
