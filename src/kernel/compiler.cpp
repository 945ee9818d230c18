// SPDX-License-Identifier: Apache-2.0
#include "kernel/compiler.h"

#include <algorithm>

#include "base/logged_error.h"

namespace max {

namespace {

struct ArtifactRow {
  MaxArtifactKind kind;
  const char* name;
};

constexpr ArtifactRow kArtifacts[] = {
    {MAX_ARTIFACT_KIND_LOG, "log"},
    {MAX_ARTIFACT_KIND_PTX, "PTX"},
    {MAX_ARTIFACT_KIND_CUBIN, "CUBIN"},
    {MAX_ARTIFACT_KIND_CODE_OBJECT, "code object"},
    {MAX_ARTIFACT_KIND_SHARED_OBJECT, "shared object"},
    {MAX_ARTIFACT_KIND_ASSEMBLY, "assembly"},
    {MAX_ARTIFACT_KIND_LLVM_IR, "LLVM IR"},
};

// The first line with an error, else with a warning, else the first line.
std::string_view firstError(std::string_view log) {
  size_t found = std::min(log.find("error"), log.find("Error:"));  // written by assemblers
  if (found == std::string_view::npos) found = log.find("warning");
  if (found == std::string_view::npos) found = 0;
  const size_t before = found == 0 ? std::string_view::npos : log.rfind('\n', found);
  const std::string_view line = log.substr(before == std::string_view::npos ? 0 : before + 1);
  return line.substr(0, line.find('\n'));
}

}  // namespace

void failCompilation(const std::string& name, const std::string& log) {
  if (log.empty()) invalidArgument(name, " does not compile; the compiler gives no reason");
  throw LoggedError(MAX_STATUS_INVALID_ARGUMENT, concat(name, " does not compile: ", firstError(log)), log);
}

const char* artifactName(MaxArtifactKind kind) {
  for (const ArtifactRow& row : kArtifacts)
    if (row.kind == kind) return row.name;
  invalidArgument("Artifact kind is ", kind, "; it must be one of MAX_ARTIFACT_KIND_*");
}

void failArtifact(std::string_view compiler, MaxArtifactKind kind) {
  fail(MAX_STATUS_UNIMPLEMENTED, compiler, " has no ", artifactName(kind));
}

}  // namespace max
