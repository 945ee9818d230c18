// SPDX-License-Identifier: Apache-2.0
#include "kernel/compiler_record.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "kernel/cache.h"
#include "max/version.h"

namespace max {

namespace {

constexpr std::string_view kFile = "file:", kChip = "chip:", kIdentity = "identity", kVersion = "version";

std::string_view textOf(const char* text) { return text ? text : ""; }

// Which libraries the loader finds depends on these.
Digest keyOf(const CompilerName& compiler) {
  std::error_code error;
  Hasher hasher;
  hasher.add(std::string_view("compiler, with its version"));  // records of older libraries have none
  hasher.add(std::string_view(compiler.name));
  hasher.add(std::filesystem::read_symlink("/proc/self/exe", error).string());
  hasher.add(textOf(secure_getenv("LD_LIBRARY_PATH")));
  for (const char* variable : compiler.variables) hasher.add(textOf(secure_getenv(variable)));
  return hasher.finish();
}

std::optional<int> numberOf(std::string_view text) {
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && rest == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string fileOfSymbol(const void* symbol) {
  Dl_info info;
  return dladdr(symbol, &info) != 0 && info.dli_fname ? info.dli_fname : "";
}

std::string stampOfFile(const std::string& path) {
  try {
    const FileIdentity identity = File::openForRead(path).identity();
    return concat(identity.size, "-", identity.modifiedNanoseconds);
  } catch (const Error&) {
    return {};
  }
}

const std::string& libraryIdentity() {
  static const std::string identity =
      concat(MAX_VERSION_STRING, " ", stampOfFile(fileOfSymbol(reinterpret_cast<const void*>(&libraryIdentity))));
  return identity;
}

std::optional<CompilerFacts> recallCompiler(const CompilerName& name) {
  const Ref<const CacheEntry> entry = CompileCache::process().find(keyOf(name));
  if (!entry) return std::nullopt;
  CompilerFacts facts;
  for (const auto& [part, text] : entry->parts) {
    if (part.starts_with(kFile)) {
      facts.files.push_back(part.substr(kFile.size()));
      if (text.empty() || stampOfFile(facts.files.back()) != text) return std::nullopt;
    } else if (part.starts_with(kChip)) {
      const std::optional<int> chip = numberOf(text);
      if (!chip) return std::nullopt;
      facts.chips.push_back(*chip);
    } else if (part == kIdentity) {
      facts.identity = text;
    } else if (part == kVersion) {
      facts.version = numberOf(text).value_or(0);
    }
  }
  return facts.files.empty() || facts.identity.empty() ? std::nullopt : std::optional(std::move(facts));
}

void rememberCompiler(const CompilerName& name, const CompilerFacts& facts) {
  auto entry = makeRef<CacheEntry>();
  entry->add(std::string(kIdentity), facts.identity);
  entry->add(std::string(kVersion), std::to_string(facts.version));
  for (const std::string& file : facts.files) entry->add(concat(kFile, file), stampOfFile(file));
  for (const int chip : facts.chips) entry->add(std::string(kChip), std::to_string(chip));
  CompileCache::process().store(keyOf(name), entry);
}

}  // namespace max
