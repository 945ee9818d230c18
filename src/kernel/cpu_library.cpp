// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpu_library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "kernel/cpu_runtime.h"

namespace max {

namespace {

// A file without a name.
int makeFile(std::string_view code) {
  const int file = memfd_create("max-kernels", MFD_CLOEXEC);
  if (file < 0) failErrno(errno, "create a file in memory for", "kernels");
  for (size_t done = 0; done < code.size();) {
    const ssize_t count = write(file, code.data() + done, code.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = errno;
      close(file);
      failErrno(error, "write a file in memory for", "kernels");
    }
    done += static_cast<size_t>(count);
  }
  return file;
}

// The loader treats equal paths as the same library, and descriptor numbers are reused. So each path is written
// differently: for every bit of a number "/." or "//", which do not change the target. Another copy of this code in the
// process has a counter elsewhere.
std::string uniquePath(int file) {
  static std::atomic<uint32_t> counter{0};
  const uint64_t copy = reinterpret_cast<uintptr_t>(&counter) / 64 << 32;
  const uint64_t number = copy | counter.fetch_add(1, std::memory_order_relaxed);
  std::string path = "/proc/self/fd";
  for (int bit = 0; bit < 64; ++bit) path += number >> bit & 1 ? "/." : "//";
  return concat(path, '/', file);
}

// The loader maps what the headers say; access past the end of the file is a bus error.
bool isWhole(std::string_view code) {
  ElfW(Ehdr) header;
  if (code.size() < sizeof header) return false;
  std::memcpy(&header, code.data(), sizeof header);
  const auto isInside = [&](uint64_t offset, uint64_t size) {
    return offset <= code.size() && size <= code.size() - offset;
  };
  if (header.e_phentsize != sizeof(ElfW(Phdr))) return false;
  if (!isInside(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize)) return false;
  if (!isInside(header.e_phoff, header.e_phnum * sizeof(ElfW(Phdr)))) return false;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) part;
    std::memcpy(&part, code.data() + header.e_phoff + i * sizeof part, sizeof part);
    if (!isInside(part.p_offset, part.p_filesz)) return false;
  }
  return true;
}

// The name of the exported symbol at an address; empty if there is none.
std::string symbolAt(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_saddr != address || !info.dli_sname) return "";
  return info.dli_sname;
}

}  // namespace

Ref<CpuLibrary> CpuLibrary::load(std::string_view code) {
  require(code.starts_with("\177ELF"), MAX_STATUS_INVALID_ARGUMENT, "The ", code.size(),
          " bytes are not a shared object");
  require(isWhole(code), MAX_STATUS_INVALID_ARGUMENT, "The shared object of ", code.size(), " bytes is truncated");
  Ref<CpuLibrary> library = Ref<CpuLibrary>::adopt(new CpuLibrary);
  const int file = makeFile(code);
  library->handle_ = dlopen(uniquePath(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* error = library->handle_ ? nullptr : dlerror();
  close(file);
  if (error) invalidArgument("The shared object cannot be loaded: ", error);
  library->readTable();
  return library;
}

CpuLibrary::~CpuLibrary() {
  if (handle_) dlclose(handle_);
}

void CpuLibrary::readTable() {
  const auto get = reinterpret_cast<const MaxCpuLibrary* (*)()>(dlsym(handle_, "maxCpuLibrary"));
  require(get != nullptr, MAX_STATUS_INVALID_ARGUMENT,
          "The shared object was not compiled from kernels by this library");
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(get), &own);
  base_ = own.dli_fbase;
  const MaxCpuLibrary* table = get();
  require(table->abi == kMaxCpuAbi, MAX_STATUS_INVALID_ARGUMENT,
          "The shared object was compiled by another version of this library: kernels of version ", table->abi,
          ", not ", kMaxCpuAbi);
  *table->runtime = &cpuRuntime();
  for (int i = 0; i < table->count; ++i)
    if (std::string name = symbolAt(table->kernels[i].function); !name.empty())
      kernels_.emplace_back(std::move(name), &table->kernels[i]);
}

const MaxCpuKernel* CpuLibrary::find(std::string_view name) const {
  for (const auto& [known, kernel] : kernels_)
    if (known == name) return kernel;
  return nullptr;
}

// Excludes symbols of linked libraries, and functions.
CpuVariable CpuLibrary::variable(const std::string& name) const {
  void* address = dlsym(handle_, name.c_str());
  Dl_info info{};
  void* symbol = nullptr;
  if (!address || dladdr1(address, &info, &symbol, RTLD_DL_SYMENT) == 0 || !symbol) return {};
  const auto* entry = static_cast<const ElfW(Sym)*>(symbol);
  const bool isVariable = (entry->st_info & 0xf) == STT_OBJECT && info.dli_saddr == address;
  if (!isVariable || info.dli_fbase != base_) return {};
  return {address, entry->st_size};
}

}  // namespace max
