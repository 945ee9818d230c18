// SPDX-License-Identifier: Apache-2.0
#include "info.h"

#include <algorithm>
#include <cstring>

#include "model.h"
#include "output.h"
#include "values.h"

namespace max::cli {
namespace {

using Info = Owned<MaxModelInfo, maxModelInfoRelease>;

// Reads one field of a list entry.
template <class T>
T get(const MaxModelInfo* info, int32_t index, MaxStatus (*getter)(const MaxModelInfo*, int32_t, T*)) {
  T value{};
  check(getter(info, index, &value));
  return value;
}

template <class T>
T get(const MaxModelInfo* info, MaxStatus (*getter)(const MaxModelInfo*, T*)) {
  T value{};
  check(getter(info, &value));
  return value;
}

// Numbers, symbol names, null for a dynamic dimension without a name; null for an unknown rank.
Json shapeJson(const Port& port) {
  if (!port.ranked) return nullptr;
  Json shape = Json::array();
  for (size_t i = 0; i < port.shape.size(); ++i) {
    if (port.shape[i] >= 0)
      shape.push_back(port.shape[i]);
    else
      shape.push_back(port.symbols[i].empty() ? Json() : Json(port.symbols[i]));
  }
  return shape;
}

Json portsJson(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& port : ports)
    list.push_back({{"name", port.name},
                    {"kind", kindName(port.kind)},
                    {"dtype", maxDTypeGetName(port.dtype)},
                    {"shape", shapeJson(port)}});
  return list;
}

Json opsetsJson(const MaxModelInfo* info) {
  Json opsets = Json::object();
  for (int32_t i = 0; i < get(info, maxModelInfoGetOpsetCount); ++i)
    opsets[get(info, i, maxModelInfoGetOpsetDomain)] = get(info, i, maxModelInfoGetOpsetVersion);
  return opsets;
}

Json operatorsJson(const MaxModelInfo* info) {
  Json operators = Json::object();
  for (int32_t i = 0; i < get(info, maxModelInfoGetOperatorCount); ++i)
    operators[get(info, i, maxModelInfoGetOperatorName)] = get(info, i, maxModelInfoGetOperatorNodeCount);
  return operators;
}

Json unsupportedJson(const MaxModelInfo* info) {
  Json list = Json::array();
  for (int32_t i = 0; i < get(info, maxModelInfoGetUnsupportedCount); ++i)
    list.push_back({{"name", get(info, i, maxModelInfoGetUnsupportedNode)},
                    {"operator", get(info, i, maxModelInfoGetUnsupportedOperator)},
                    {"version", get(info, i, maxModelInfoGetUnsupportedVersion)}});
  return list;
}

Json precisionJson() {
  Json precisions = Json::object();
  for (const Precision& precision : precisionsHere()) precisions[precision.name] = precision.factors;
  return precisions;
}

Json describe(const std::string& path) {
  Info info;
  check(maxModelInfoLoad(path.c_str(), info.out()));
  return {{"model", path},
          {"ir_version", get(info, maxModelInfoGetIrVersion)},
          {"opsets", opsetsJson(info)},
          {"inputs", portsJson(readInputs(info))},
          {"outputs", portsJson(readOutputs(info))},
          {"operators", operatorsJson(info)},
          {"parameters", get(info, maxModelInfoGetParameterCount)},
          {"unsupported", unsupportedJson(info)},
          {"precision", precisionJson()}};
}

// The load says what runs where.
void keepPlacement(void* kept, MaxLogLevel, const char* message) {
  if (std::strstr(message, " operators run on ")) *static_cast<std::string*>(kept) = message;
}

uint64_t allocatedOn(const Device& device) {
  MaxDeviceStats stats = MAX_DEVICE_STATS_INIT;
  check(maxDeviceGetStats(device, &stats));
  return stats.allocatedMemory;
}

Json describePlacement(const std::string& path, const std::string& name) {
  ModelOptions options;
  options.model = path;
  options.device = name;
  const Device device = openDevice(name);
  const uint64_t before = allocatedOn(device);
  std::string placement;
  MaxLogToken token = 0;
  check(maxLogAddCallback(keepPlacement, &placement, MAX_LOG_LEVEL_INFO, &token));
  const OpenModel open = openModel(options);
  check(maxLogRemoveCallback(token));
  MaxModelMemory memory = MAX_MODEL_MEMORY_INIT;
  check(maxModelGetMemory(open.model, &memory));
  MaxModelDeviceMemory here = MAX_MODEL_DEVICE_MEMORY_INIT;
  check(maxModelGetDeviceMemory(open.model, NULL, &here));
  return {{"name", name},
          {"operators", placement.empty() ? Json() : Json(placement)},
          {"memory", allocatedOn(device) - before},
          {"weights", here.weights},
          {"arenas", here.arenas},
          {"code", here.code},
          {"total_memory", memory.total}};
}

std::string shapeCell(const Json& shape) {
  if (shape.is_null()) return "[...]";
  std::string text = "[";
  for (const Json& dim : shape)
    text += (text.size() > 1 ? ", " : "") + (dim.is_null()     ? std::string("?")
                                             : dim.is_string() ? dim.get<std::string>()
                                                               : dim.dump());
  return text + "]";
}

void addPorts(Table& table, const char* heading, const Json& ports) {
  for (const Json& port : ports) {
    table.push_back({heading, port["name"], port["kind"], port["dtype"], shapeCell(port["shape"])});
    heading = "";
  }
}

std::string countsText(const Json& operators) {
  std::vector<std::pair<int64_t, std::string>> counts;
  for (const auto& [name, count] : operators.items()) counts.emplace_back(-count.get<int64_t>(), name);
  std::sort(counts.begin(), counts.end());
  std::string text;
  for (const auto& [count, name] : counts) text += (text.empty() ? "" : ", ") + name + " " + std::to_string(-count);
  return text;
}

void printText(const Json& info) {
  std::string opsets;
  for (const auto& [domain, version] : info["opsets"].items())
    opsets += (opsets.empty() ? "" : ", ") + domain + " " + version.dump();
  printLine(info["model"]);
  printLine("IR version " + info["ir_version"].dump() + ", operator sets " + opsets + ", " + info["parameters"].dump() +
            " parameters");
  Table table;
  addPorts(table, "inputs", info["inputs"]);
  addPorts(table, "outputs", info["outputs"]);
  printTable(table);
  printLine("operators  " + countsText(info["operators"]));
  for (const Json& node : info["unsupported"])
    printLine("unsupported  " + node["operator"].get<std::string>() + " " + node["version"].dump() + " (node \"" +
              node["name"].get<std::string>() + "\")");
  std::string precisions;
  for (const auto& [name, factors] : info["precision"].items())
    precisions += (precisions.empty() ? "" : ", ") + name + " " + factors.get<std::string>();
  printLine("precision  " + precisions);
  if (!info.contains("device")) return;
  const Json& device = info["device"];
  if (!device["operators"].is_string()) return printLine("memory     " + bytesText(device["total_memory"]));
  printLine("placement  " + device["operators"].get<std::string>());
  printLine("memory     " + bytesText(device["memory"]) + " on " + device["name"].get<std::string>() + ", " +
            bytesText(device["total_memory"]) + " on it and the host");
  printLine("on device  weights " + bytesText(device["weights"]) + ", intermediate values " +
            bytesText(device["arenas"]) + ", kernels " + bytesText(device["code"]));
}

}  // namespace

std::string operatorsText(const MaxModel* model) {
  MaxModelInfo* info = nullptr;
  check(maxModelGetInfo(model, &info));
  return countsText(operatorsJson(info));
}

void showInfo(const std::string& model, const std::string& device, bool json) {
  Json info = describe(model);
  if (!device.empty()) info["device"] = describePlacement(model, device);
  json ? printJson(info) : printText(info);
}

}  // namespace max::cli
