// SPDX-License-Identifier: Apache-2.0
#include "kernel/module.h"

#include <cctype>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/nearest_name.h"
#include "device/memory_use.h"
#include "kernel/cached_compile.h"

namespace {

// "(4, 2, 1)"
std::string tripleOf(const int32_t (&values)[3]) {
  return max::concat("(", values[0], ", ", values[1], ", ", values[2], ")");
}

// Names that follow __global__, up to their parameters.
std::vector<std::string_view> kernelsIn(std::string_view source) {
  constexpr std::string_view kMark = "__global__";
  const auto isOfName = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::vector<std::string_view> names;
  for (size_t at = source.find(kMark); at != source.npos; at = source.find(kMark, at + 1)) {
    size_t end = source.find('(', at), begin = end;
    if (source.substr(at, end - at).ends_with("__launch_bounds__")) begin = end = source.find('(', end + 1);
    if (end == source.npos) break;
    while (begin > at && isOfName(source[begin - 1])) --begin;
    names.push_back(source.substr(begin, end - begin));
  }
  return names;
}

bool isAccessProperty(MaxAccessProperty property) {
  return property >= MAX_ACCESS_PROPERTY_NORMAL && property <= MAX_ACCESS_PROPERTY_PERSISTING;
}

// 1 to `most`.
bool isWithin(int64_t value, int64_t most) { return static_cast<uint64_t>(value - 1) < static_cast<uint64_t>(most); }

void replaceZeros(int32_t (&values)[3]) {
  for (int32_t& value : values)
    if (value == 0) value = 1;
}

void checkFlag(int32_t value, const char* name) {
  max::require(value == 0 || value == 1, MAX_STATUS_INVALID_ARGUMENT, name, " is ", value, "; it must be 0 or 1");
}

// Checks for all devices, of options that are not set by default.
void checkExtras(const MaxLaunchConfig& config) {
  using max::require;
  const auto* c = config.cluster;
  if ((config.cooperative | config.programmaticSerialization | config.reserved | c[0] | c[1] | c[2]) == 0 &&
      !config.accessBase) [[likely]]
    return;
  checkFlag(config.cooperative, "cooperative");
  checkFlag(config.programmaticSerialization, "programmaticSerialization");
  require(config.reserved == 0, MAX_STATUS_UNIMPLEMENTED, "reserved of MaxLaunchConfig is ", config.reserved,
          "; it must be zero");
  if (c[0] | c[1] | c[2]) {
    if (c[0] < 1 || c[1] < 1 || c[2] < 1) [[unlikely]]
      max::invalidArgument("Cluster is ", tripleOf(config.cluster), "; dimensions must not be negative");
    if (config.grid[0] % c[0] != 0 || config.grid[1] % c[1] != 0 || config.grid[2] % c[2] != 0) [[unlikely]]
      max::invalidArgument("Grid ", tripleOf(config.grid), " is not a multiple of cluster ", tripleOf(config.cluster));
  }
  if (!config.accessBase) return;
  require(config.hitRatio >= 0 && config.hitRatio <= 1, MAX_STATUS_INVALID_ARGUMENT, "hitRatio is ", config.hitRatio,
          "; it must be between 0 and 1");
  require(isAccessProperty(config.hitProperty) && isAccessProperty(config.missProperty), MAX_STATUS_INVALID_ARGUMENT,
          "Access properties are ", config.hitProperty, " and ", config.missProperty,
          "; they must be MAX_ACCESS_PROPERTY_* values");
  require(config.missProperty != MAX_ACCESS_PROPERTY_PERSISTING, MAX_STATUS_INVALID_ARGUMENT,
          "missProperty is MAX_ACCESS_PROPERTY_PERSISTING (2); only hitProperty can have this value");
}

}  // namespace

// Builds messages only on errors: this runs at each launch.
void MaxKernel::checkShape(const MaxLaunchConfig& config) const {
  int64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (!isWithin(config.grid[i], limits_.grid[i])) [[unlikely]]
      max::invalidArgument("Grid ", tripleOf(config.grid), " of kernel '", name_, "' has ", config.grid[i],
                           " blocks in dimension ", i, "; there are 1 to ", limits_.grid[i]);
    if (!isWithin(config.block[i], limits_.block[i])) [[unlikely]]
      max::invalidArgument("Block ", tripleOf(config.block), " of kernel '", name_, "' has ", config.block[i],
                           " threads in dimension ", i, "; there are 1 to ", limits_.block[i]);
    threads *= config.block[i];
  }
  if (threads > limits_.threads) [[unlikely]]
    max::invalidArgument("Block ", tripleOf(config.block), " of kernel '", name_, "' has ", threads,
                         " threads; the maximum is ", limits_.threads);
}

void MaxKernel::checkCount(const void* const* arguments, int32_t count) const {
  using max::require;
  require(count >= 0 && count <= max::kMaxKernelArguments, MAX_STATUS_INVALID_ARGUMENT, "Kernel '", name_, "' gets ",
          count, " arguments; allowed are 0 to ", max::kMaxKernelArguments);
  require(!parameters_ || parameters_->size() == static_cast<size_t>(count), MAX_STATUS_INVALID_ARGUMENT, "Kernel '",
          name_, "' gets ", count, " arguments; it has ", parameters_ ? parameters_->size() : 0, " parameters");
  require(count == 0 || arguments, MAX_STATUS_INVALID_ARGUMENT, "Argument 'arguments' is NULL");
}

void MaxKernel::failKind(int32_t index, max::HandleKind given, bool isBuffer) const {
  using max::HandleKind;
  if (isBuffer && given == HandleKind::None)
    max::invalidArgument("Argument ", index, " of kernel '", name_,
                         "' is not a buffer; pass the MaxBuffer* itself, not its address");
  if (given == HandleKind::Buffer)
    max::invalidArgument("Argument ", index, " of kernel '", name_,
                         "' is a buffer; its size must be MAX_KERNEL_ARGUMENT_BUFFER");
  max::invalidArgument("Argument ", index, " of kernel '", name_, "' is a ", max::handleName(given),
                       "; kernels accept buffers and values");
}

void MaxKernel::failArgument(int32_t index, const void* argument, size_t size, bool isBuffer) const {
  if (!argument) max::invalidArgument("Argument ", index, " of kernel '", name_, "' is NULL");
  if (parameters_ && size != (*parameters_)[static_cast<size_t>(index)])
    max::invalidArgument("Argument ", index, " of kernel '", name_, "' has ", size, " bytes; the parameter has ",
                         (*parameters_)[static_cast<size_t>(index)]);
  if (const auto* buffer = isBuffer ? static_cast<const MaxBuffer*>(argument) : nullptr) {
    max::refuseStrings(*buffer, "kernels do not accept");
    max::invalidArgument("Argument ", index, " of kernel '", name_, "' is a buffer on ", buffer->device().displayName(),
                         "; the kernel is on ", module_.device().displayName());
  }
  max::fail(MAX_STATUS_INTERNAL, "Argument ", index, " of kernel '", name_, "' is not valid");
}

void MaxKernel::resolve(max::LaunchArguments& out, const void* const* arguments, const size_t* sizes,
                        int32_t count) const {
  checkCount(arguments, count);
  const size_t* expected = parameters_ ? parameters_->data() : nullptr;
  const MaxDevice* device = &module_.device();
  out.count = count;
  for (int32_t i = 0; i < count; ++i) {
    const bool isBuffer = sizes && sizes[i] == MAX_KERNEL_ARGUMENT_BUFFER;
    const size_t size = isBuffer ? sizeof(void*) : sizes ? sizes[i] : expected ? expected[i] : 0;
    if (!arguments[i] || (expected && size != expected[i])) [[unlikely]]
      failArgument(i, arguments[i], size, isBuffer);
    // Checks only values that could be a mistaken handle: of a pointer's size, or of unknown size.
    if (isBuffer || size == sizeof(void*) || size == 0) {
      const max::HandleKind kind = max::handleKindAt(arguments[i]);
      if (kind != (isBuffer ? max::HandleKind::Buffer : max::HandleKind::None)) [[unlikely]]
        failKind(i, kind, isBuffer);
    }
    out.sizes[i] = size;
    out.values[i] = const_cast<void*>(arguments[i]);
    if (!isBuffer) continue;
    const auto* buffer = static_cast<const MaxBuffer*>(arguments[i]);
    if (&buffer->device() != device || buffer->dtype() == max::DType::String) [[unlikely]]
      failArgument(i, buffer, size, true);
    out.addresses[i] = buffer->data();
    out.values[i] = &out.addresses[i];
    out.buffers[out.bufferCount++] = buffer;
  }
}

void MaxKernel::launch(MaxLaunchConfig& config, const void* const* arguments, const size_t* sizes, int32_t count,
                       MaxStream& stream) {
  if (&stream.device() != &module_.device()) [[unlikely]]
    max::invalidArgument("Stream belongs to ", stream.device().displayName(), ", kernel '", name_, "' to ",
                         module_.device().displayName());
  replaceZeros(config.grid);
  replaceZeros(config.block);
  if (config.cluster[0] | config.cluster[1] | config.cluster[2]) replaceZeros(config.cluster);
  checkShape(config);
  checkExtras(config);
  max::require(config.sharedByteCount <= static_cast<size_t>(sharedLimit()), MAX_STATUS_INVALID_ARGUMENT, "Kernel '",
               name_, "' is launched with ", config.sharedByteCount, " bytes of dynamic shared memory; the maximum is ",
               sharedLimit(), " (MAX_KERNEL_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE)");
  max::LaunchArguments resolved;
  resolve(resolved, arguments, sizes, count);
  // A kernel may write to any buffer that is not read-only.
  max::AccessScope access(stream);
  for (int32_t i = 0; i < resolved.bufferCount; ++i) {
    const MaxBuffer& buffer = *resolved.buffers[i];
    access.add(buffer, buffer.isReadOnly() ? max::AccessKind::Read : max::AccessKind::Write);
  }
  enqueue(config, resolved, stream);
}

MaxModule::MaxModule(max::Ref<MaxDevice> device, max::ModuleContent content)
    : device_(std::move(device)),
      name_(content.source ? content.source->name : "module"),
      compiler_(content.compiler),
      source_(std::move(content.source)),
      kind_(content.kind) {
  artifacts_[kind_] = std::move(content.code);
  if (source_) artifacts_[MAX_ARTIFACT_KIND_LOG] = std::move(content.log);
}

std::string MaxModule::compilerName() const {
  if (!compiler_) return {};
  const std::string identity = compiler_->identity(*source_);
  return identity.substr(0, identity.find(' ', identity.find(' ') + 1));
}

// Several threads may find the same kernel at a time; the first one's stays.
MaxKernel& MaxModule::kernel(const std::string& name) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = kernels_.find(name); known != kernels_.end()) return *known->second;
  }
  std::unique_ptr<MaxKernel> found = findKernel(name);
  const std::lock_guard lock(mutex_);
  return *kernels_.try_emplace(name, std::move(found)).first->second;
}

const std::string& MaxModule::artifact(MaxArtifactKind kind) {
  max::artifactName(kind);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = artifacts_.find(kind); found != artifacts_.end()) return found->second;
  }
  max::require(source_.has_value(), MAX_STATUS_FAILED_PRECONDITION, "The module was loaded as ",
               max::artifactName(kind_), ", not compiled: there is no ", max::artifactName(kind));
  max::CompiledCode made = max::compileCached(*compiler_, *source_, kind);
  const std::lock_guard lock(mutex_);
  return artifacts_.try_emplace(kind, std::move(made.bytes)).first->second;
}

void MaxModule::failKernel(const std::string& name) const {
  max::fail(MAX_STATUS_NOT_FOUND, "Module ", name_, " has no kernel '", name,
            "'; kernels must be declared extern \"C\" __global__",
            source_ ? max::nearestOf(name, kernelsIn(source_->text)) : std::string());
}

void MaxModule::failVariable(const std::string& name) const {
  max::fail(MAX_STATUS_NOT_FOUND, "Module ", name_, " has no variable '", name, "' in constant or device memory");
}

void MaxModule::checkVariable(const std::string& name, size_t size, size_t bytes) const {
  max::require(bytes <= size, MAX_STATUS_OUT_OF_RANGE, "Variable '", name, "' of module ", name_, " has ", size,
               " bytes, fewer than the ", bytes, " to write");
}
