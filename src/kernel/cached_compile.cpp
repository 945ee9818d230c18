// SPDX-License-Identifier: Apache-2.0
#include "kernel/cached_compile.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "kernel/builtin_headers.h"
#include "kernel/cache.h"
#include "kernel/compiler_record.h"

namespace max {

namespace {

void addPairs(Hasher& hasher, const std::vector<std::pair<std::string, std::string>>& pairs) {
  hasher.add(uint64_t{pairs.size()});
  for (const auto& [name, text] : pairs) hasher.add(name), hasher.add(text);
}

Digest keyOf(const KernelCompiler& compiler, const KernelSource& source, MaxArtifactKind kind) {
  Hasher hasher;
  hasher.add(libraryIdentity());
  hasher.add(compiler.identity(source));
  hasher.add(source.name);
  hasher.add(source.text);
  hasher.add(source.architecture);
  addPairs(hasher, source.headers);
  addPairs(hasher, source.defines);
  hasher.add(uint64_t{source.flags.size()});
  for (const std::string& flag : source.flags) hasher.add(flag);
  for (const int32_t number : {kind, source.registerLimit, int32_t{source.fastMath}, int32_t{source.lineInfo}})
    hasher.add(static_cast<uint64_t>(number));
  return hasher.finish();
}

std::string_view withoutBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first);
}

// A file that the compiler may find among the user's files: `#include "name"` or a path. Headers in angle brackets are
// the source's, ours, or the compiler's own.
bool includesFile(std::string_view line, const KernelSource& source) {
  line = withoutBlanks(line);
  if (!line.starts_with('#')) return false;
  line = withoutBlanks(line.substr(1));
  if (!line.starts_with("include")) return false;
  line = withoutBlanks(line.substr(7));
  const bool inBrackets = line.starts_with('<');
  if (!inBrackets && !line.starts_with('"')) return true;  // a macro
  const std::string_view name = line.substr(1, line.find(inBrackets ? '>' : '"', 1) - 1);
  if (inBrackets) return name.starts_with('/');
  const auto ours = builtinHeaders();
  return std::none_of(ours.begin(), ours.end(), [&](const auto& header) { return header.name == name; }) &&
         std::none_of(source.headers.begin(), source.headers.end(),
                      [&](const auto& header) { return header.first == name; });
}

bool includesFiles(std::string_view text, const KernelSource& source) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (includesFile(text.substr(0, end), source)) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

// Paths and options with a separate value, such as "-I folder" and "@file".
bool namesFile(std::string_view flag) {
  constexpr std::string_view kStarts[] = {"-I", "-i", "-L", "-l", "@", "--include", "--pre-include", "-B", "--sysroot"};
  return flag.find('/') != std::string_view::npos || !flag.starts_with('-') ||
         std::any_of(std::begin(kStarts), std::end(kStarts), [&](auto start) { return flag.starts_with(start); });
}

}  // namespace

bool isSelfContained(const KernelSource& source) {
  return std::none_of(source.flags.begin(), source.flags.end(), namesFile) && !includesFiles(source.text, source) &&
         std::none_of(source.headers.begin(), source.headers.end(),
                      [&](const auto& header) { return includesFiles(header.second, source); });
}

CompiledCode compileCached(CompileCache& cache, const KernelCompiler& compiler, const KernelSource& source,
                           MaxArtifactKind kind) {
  if (!isSelfContained(source)) return compiler.compile(source, kind);
  if (const Ref<const CacheEntry> entry = cache.find(keyOf(compiler, source, kind))) {
    const std::string *bytes = entry->find("bytes"), *log = entry->find("log");
    if (bytes && log) return {*bytes, *log};
  }
  CompiledCode code = compiler.compile(source, kind);
  auto made = makeRef<CacheEntry>();
  made->add("bytes", code.bytes);
  made->add("log", code.log);
  // The key again: the compiler that was just opened may differ from the recorded one.
  cache.store(keyOf(compiler, source, kind), made);
  return code;
}

CompiledCode compileCached(const KernelCompiler& compiler, const KernelSource& source, MaxArtifactKind kind) {
  return compileCached(CompileCache::process(), compiler, source, kind);
}

}  // namespace max
