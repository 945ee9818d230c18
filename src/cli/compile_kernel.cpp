// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>

#include "base/new_file.h"
#include "commands.h"
#include "device/api_names.h"
#include "examples.h"
#include "handle.h"
#include "output.h"
#include "target.h"

namespace max::cli {
namespace {

using Module = Owned<MaxModule, maxModuleRelease>;

struct ArtifactName {
  const char* name;
  MaxArtifactKind kind;
};
constexpr ArtifactName kArtifacts[] = {
    {"ptx", MAX_ARTIFACT_KIND_PTX},
    {"cubin", MAX_ARTIFACT_KIND_CUBIN},
    {"asm", MAX_ARTIFACT_KIND_ASSEMBLY},
    {"llvm", MAX_ARTIFACT_KIND_LLVM_IR},
};

MaxArtifactKind codeOf(const Target& target) {
  const ApiName* accelerator = findApi(target.api);
  return accelerator ? accelerator->code : MAX_ARTIFACT_KIND_SHARED_OBJECT;
}

MaxArtifactKind artifactOf(const Target& target, const std::string& name) {
  if (name == "code" || name == "object") return codeOf(target);
  for (const ArtifactName& row : kArtifacts)
    if (name == row.name) return row.kind;
  throw UsageError("--artifact: \"" + name + "\" is not an artifact");
}

bool isText(MaxArtifactKind kind) {
  return kind == MAX_ARTIFACT_KIND_PTX || kind == MAX_ARTIFACT_KIND_ASSEMBLY || kind == MAX_ARTIFACT_KIND_LLVM_IR;
}

std::string readText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) throw Failure("NOT_FOUND", "\"" + path + "\" cannot be read");
  if (text.find('\0') != std::string::npos) throw Failure("INVALID_ARGUMENT", "\"" + path + "\" is not a text file");
  return text;
}

// NAME=VALUE pairs as the two arrays that the C API takes.
struct Pairs {
  std::vector<std::string> names, values;
  std::vector<const char*> namePointers, valuePointers;

  void add(std::string name, std::string value) {
    names.push_back(std::move(name));
    values.push_back(std::move(value));
  }
  void finish() {
    for (const std::string& name : names) namePointers.push_back(name.c_str());
    for (const std::string& value : values) valuePointers.push_back(value.c_str());
  }
};

Pairs parseDefines(const std::vector<std::string>& texts) {
  Pairs pairs;
  for (const std::string& text : texts) {
    const size_t sign = text.find('=');
    if (sign == 0) throw UsageError("--define: \"" + text + "\" has no name; write NAME or NAME=VALUE");
    pairs.add(text.substr(0, sign), sign == std::string::npos ? "1" : text.substr(sign + 1));
  }
  pairs.finish();
  return pairs;
}

Pairs readHeaders(const std::vector<std::string>& texts) {
  Pairs pairs;
  for (const std::string& text : texts) {
    const size_t sign = text.find('=');
    if (sign == 0 || sign == std::string::npos)
      throw UsageError("--header: \"" + text + "\" is not a header; write NAME=FILE");
    pairs.add(text.substr(0, sign), readText(text.substr(sign + 1)));
  }
  pairs.finish();
  return pairs;
}

void checkWithLog(MaxStatus status) {
  if (status == MAX_STATUS_OK) return;
  const std::string message = maxGetLastErrorMessage();
  const size_t end = message.find('\n');
  throw Failure(maxStatusGetName(status), message.substr(0, end),
                end == std::string::npos ? "" : message.substr(end + 1));
}

Module compile(const Device& device, const Target& target, const CompileKernelOptions& options) {
  const std::string text = readText(options.source);
  const Pairs defines = parseDefines(options.defines), headers = readHeaders(options.headers);
  std::vector<const char*> flags;
  for (const std::string& flag : options.flags) flags.push_back(flag.c_str());
  MaxModuleOptions settings = MAX_MODULE_OPTIONS_INIT;
  settings.architecture = target.architecture.empty() ? nullptr : target.architecture.c_str();
  settings.defineNames = defines.namePointers.data();
  settings.defineValues = defines.valuePointers.data();
  settings.defineCount = static_cast<int32_t>(defines.names.size());
  settings.headerNames = headers.namePointers.data();
  settings.headerTexts = headers.valuePointers.data();
  settings.headerCount = static_cast<int32_t>(headers.names.size());
  settings.flags = flags.data();
  settings.flagCount = static_cast<int32_t>(flags.size());
  settings.registerLimit = options.registers;
  settings.fastMath = options.fastMath;
  settings.lineInfo = options.lineInfo;
  Module module;
  checkWithLog(maxModuleCompile(device, text.c_str(), options.source.c_str(), &settings, module.out()));
  return module;
}

void write(const std::string& path, const void* data, size_t bytes) {
  const std::string content(static_cast<const char*>(data), bytes);
  path.empty() ? printContent(content) : writeFile(path, content);
}

}  // namespace

void compileKernel(const CompileKernelOptions& options) {
  const Target target = parseTarget(options.target);
  const MaxArtifactKind kind = artifactOf(target, options.artifact);
  if (options.output.empty() && !isText(kind))
    throw UsageError("--output is missing: " + options.artifact + " is not text");
  const Device device = openTarget(target);
  const Module module = compile(device, target, options);
  const void *data = nullptr, *log = nullptr;
  size_t bytes = 0, logBytes = 0;
  checkWithLog(maxModuleGetArtifact(module, kind, &data, &bytes));
  check(maxModuleGetArtifact(module, MAX_ARTIFACT_KIND_LOG, &log, &logBytes));
  write(options.output, data, bytes);
  printLog({static_cast<const char*>(log), logBytes});  // warnings
}

}  // namespace max::cli
