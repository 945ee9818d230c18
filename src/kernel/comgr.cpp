// SPDX-License-Identifier: Apache-2.0
#include "kernel/comgr.h"

#include <cstdint>
#include <span>

#include "base/error.h"

namespace max {

namespace {

constexpr const char* kNames[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};
constexpr std::string_view kIsaPrefix = "amdgcn-amd-amdhsa--";

// Numbers of amd_comgr.h.
enum DataKind : int { kSource = 1, kInclude = 2, kLog = 5, kBitcode = 6, kExecutable = 8 };
// Those that version 3 changed.
struct Numbers {
  int languageHip;
  int disassembleExecutable;
  int compileWithDeviceLibraries;
};
constexpr Numbers kUpTo2 = {.languageHip = 4, .disassembleExecutable = 0xC, .compileWithDeviceLibraries = 0xF};
constexpr Numbers kSince3 = {.languageHip = 3, .disassembleExecutable = 0xA, .compileWithDeviceLibraries = 0xC};

struct DataHandle {
  uint64_t value = 0;
};
struct SetHandle {
  uint64_t value = 0;
};
struct ActionHandle {
  uint64_t value = 0;
};

struct Comgr {
  void (*getVersion)(size_t* major, size_t* minor) = nullptr;
  int (*statusString)(int status, const char** text) = nullptr;
  int (*getIsaCount)(size_t* count) = nullptr;
  int (*getIsaName)(size_t index, const char** name) = nullptr;
  int (*createData)(int kind, DataHandle* data) = nullptr;
  int (*releaseData)(DataHandle data) = nullptr;
  int (*setData)(DataHandle data, size_t bytes, const char* content) = nullptr;
  int (*setDataName)(DataHandle data, const char* name) = nullptr;
  int (*getData)(DataHandle data, size_t* bytes, char* content) = nullptr;
  int (*createDataSet)(SetHandle* set) = nullptr;
  int (*destroyDataSet)(SetHandle set) = nullptr;
  int (*dataSetAdd)(SetHandle set, DataHandle data) = nullptr;
  int (*actionDataCount)(SetHandle set, int kind, size_t* count) = nullptr;
  int (*actionDataGetData)(SetHandle set, int kind, size_t index, DataHandle* data) = nullptr;
  int (*createActionInfo)(ActionHandle* action) = nullptr;
  int (*destroyActionInfo)(ActionHandle action) = nullptr;
  int (*setIsaName)(ActionHandle action, const char* name) = nullptr;
  int (*setLanguage)(ActionHandle action, int language) = nullptr;
  int (*setOptionList)(ActionHandle action, const char* const* options, size_t count) = nullptr;
  int (*setLogging)(ActionHandle action, bool enabled) = nullptr;
  int (*doAction)(int kind, ActionHandle action, SetHandle inputs, SetHandle outputs) = nullptr;

  std::string label;
  Numbers numbers = kUpTo2;

  Comgr();
};

// If there are several, the library takes the one that HIPRTC has opened: only that matches HIPRTC.
Comgr::Comgr() {
  const gpu::Library library(kComgrVariable, kNames);
  const LibrarySymbol symbols[] = {
      {"amd_comgr_get_version", &getVersion},
      {"amd_comgr_status_string", &statusString},
      {"amd_comgr_get_isa_count", &getIsaCount},
      {"amd_comgr_get_isa_name", &getIsaName},
      {"amd_comgr_create_data", &createData},
      {"amd_comgr_release_data", &releaseData},
      {"amd_comgr_set_data", &setData},
      {"amd_comgr_set_data_name", &setDataName},
      {"amd_comgr_get_data", &getData},
      {"amd_comgr_create_data_set", &createDataSet},
      {"amd_comgr_destroy_data_set", &destroyDataSet},
      {"amd_comgr_data_set_add", &dataSetAdd},
      {"amd_comgr_action_data_count", &actionDataCount},
      {"amd_comgr_action_data_get_data", &actionDataGetData},
      {"amd_comgr_create_action_info", &createActionInfo},
      {"amd_comgr_destroy_action_info", &destroyActionInfo},
      {"amd_comgr_action_info_set_isa_name", &setIsaName},
      {"amd_comgr_action_info_set_language", &setLanguage},
      {"amd_comgr_action_info_set_option_list", &setOptionList},
      {"amd_comgr_action_info_set_logging", &setLogging},
      {"amd_comgr_do_action", &doAction},
  };
  loadSymbols(library, "comgr", symbols);
  size_t major = 0, minor = 0;
  getVersion(&major, &minor);
  label = concat("comgr ", major, ".", minor);
  if (major >= 3) numbers = kSince3;
}

const Comgr& comgr() {
  static const Comgr& only = *new Comgr;
  return only;
}

void check(int status, const char* action) {
  if (status == 0) return;
  const char* text = nullptr;
  comgr().statusString(status, &text);
  fail(MAX_STATUS_INTERNAL, comgr().label, " cannot ", action, ": ", text ? text : "unknown error", " (", status, ")");
}

class Data {
 public:
  Data() = default;
  ~Data() {
    if (handle_.value) comgr().releaseData(handle_);
  }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  DataHandle handle() const { return handle_; }
  DataHandle* out() { return &handle_; }

 private:
  DataHandle handle_;
};

class DataSet {
 public:
  DataSet() { check(comgr().createDataSet(&handle_), "create a data set"); }
  ~DataSet() { comgr().destroyDataSet(handle_); }
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;

  SetHandle handle() const { return handle_; }

  void add(DataKind kind, const std::string& name, std::string_view content) const {
    Data data;
    check(comgr().createData(kind, data.out()), "create data");
    check(comgr().setData(data.handle(), content.size(), content.data()), "set data");
    check(comgr().setDataName(data.handle(), name.c_str()), "name data");
    check(comgr().dataSetAdd(handle_, data.handle()), "add data");
  }

  // All results of one kind, concatenated.
  std::string bytes(DataKind kind) const {
    std::string all;
    size_t count = 0;
    check(comgr().actionDataCount(handle_, kind, &count), "count its results");
    for (size_t i = 0; i < count; ++i) {
      Data data;
      size_t size = 0;
      check(comgr().actionDataGetData(handle_, kind, i, data.out()), "return a result");
      check(comgr().getData(data.handle(), &size, nullptr), "return the size of a result");
      std::string part(size, '\0');
      if (size > 0) check(comgr().getData(data.handle(), &size, part.data()), "return the bytes of a result");
      all += part;
    }
    return all;
  }

 private:
  SetHandle handle_;
};

class Action {
 public:
  Action() { check(comgr().createActionInfo(&handle_), "create an action"); }
  ~Action() { comgr().destroyActionInfo(handle_); }
  Action(const Action&) = delete;
  Action& operator=(const Action&) = delete;

  bool setArchitecture(const std::string& architecture) const {
    return comgr().setIsaName(handle_, concat(kIsaPrefix, architecture).c_str()) == 0;
  }
  void setHip(const std::vector<std::string>& options) const {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    check(comgr().setLanguage(handle_, comgr().numbers.languageHip), "set the language");
    check(comgr().setOptionList(handle_, pointers.data(), pointers.size()), "set options");
    check(comgr().setLogging(handle_, true), "enable logging");
  }
  int run(int kind, const DataSet& inputs, const DataSet& outputs) const {
    return comgr().doAction(kind, handle_, inputs.handle(), outputs.handle());
  }

 private:
  ActionHandle handle_;
};

std::string knownArchitectures() {
  std::string names;
  size_t count = 0;
  check(comgr().getIsaCount(&count), "count architectures");
  for (size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    check(comgr().getIsaName(i, &name), "name an architecture");
    std::string_view shortName = name;
    if (shortName.starts_with(kIsaPrefix)) shortName.remove_prefix(kIsaPrefix.size());
    names += concat(i == 0 ? "" : ", ", shortName);
  }
  return names;
}

}  // namespace

const std::string& comgrLabel() { return comgr().label; }
std::string comgrFile() { return fileOfSymbol(reinterpret_cast<const void*>(comgr().getVersion)); }

void requireHipArchitecture(const std::string& architecture) {
  if (!Action().setArchitecture(architecture))
    fail(MAX_STATUS_UNIMPLEMENTED, comgr().label, " does not know the architecture '", architecture, "'; it knows ",
         knownArchitectures());
}

std::string disassemble(std::string_view code, const std::string& architecture) {
  const DataSet inputs, outputs;
  const Action action;
  inputs.add(kExecutable, "kernel.co", code);
  requireHipArchitecture(architecture);
  action.setArchitecture(architecture);
  check(action.run(comgr().numbers.disassembleExecutable, inputs, outputs), "disassemble");
  return outputs.bytes(kSource);
}

CompiledCode compileToLlvm(const KernelSource& source, const std::string& text,
                           const std::vector<std::pair<std::string, std::string>>& headers,
                           const std::vector<std::string>& options) {
  const DataSet inputs, outputs;
  const Action action;
  inputs.add(kSource, "kernel.hip", text);
  for (const auto& [name, content] : headers) inputs.add(kInclude, name, content);
  requireHipArchitecture(source.architecture);
  action.setArchitecture(source.architecture);
  action.setHip(options);
  const int status = action.run(comgr().numbers.compileWithDeviceLibraries, inputs, outputs);
  CompiledCode code = {outputs.bytes(kBitcode), outputs.bytes(kLog)};
  if (status != 0 && !code.log.empty()) failCompilation(source.name, code.log);
  check(status, "compile to LLVM IR");
  return code;
}

}  // namespace max
