// SPDX-License-Identifier: Apache-2.0
#include "extension/kernel_operator.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/fork.h"
#include "extension/kernel_declaration.h"
#include "kernel/cached_compile.h"
#include "kernel/cpu_compiler.h"
#include "kernel/cpu_launch.h"
#include "kernel/cpu_library.h"

namespace max {

namespace {

constexpr size_t kMaxArguments = 64;

struct Limit {
  const char* name;
  int64_t most[3];
};
constexpr Limit kGrid = {"grid", {2147483647, 65535, 65535}};
constexpr Limit kBlock = {"block", {kMaxCpuThreads, kMaxCpuThreads, 64}};

Ref<CpuLibrary> compileForHost(const std::string& path, const std::string& text) {
  KernelSource source;
  source.name = std::filesystem::path(path).filename().string();
  source.text = withoutDeclarations(text);
  const KernelCompiler& compiler = cpuCompiler();
  return CpuLibrary::load(compileCached(compiler, source, compiler.executableKind(source)).bytes);
}

}  // namespace

class KernelOperator {
 public:
  KernelOperator(const std::string& file, DeclaredOperator declared) : file_(file), op_(std::move(declared)) {
    for (const DeclaredAttribute& attribute : op_.attributes)
      attributes_ += concat(attributes_.empty() ? "" : " ", attribute.name, attribute.isFloat ? "=f" : "=i");
  }

  // Before anybody runs it.
  void bind(Ref<CpuLibrary> library) {
    library_ = std::move(library);
    for (const auto& [name, dtype] : op_.kernels) addKernel(name, dtype);
  }

  ExtensionOperator row() const {
    MaxOperator row = MAX_OPERATOR_INIT;
    row.domain = op_.domain.c_str();
    row.name = op_.name.c_str();
    row.types = op_.types.c_str();
    row.attributes = attributes_.c_str();
    row.minInputs = row.maxInputs = static_cast<int32_t>(op_.inputs.size());
    row.minOutputs = row.maxOutputs = static_cast<int32_t>(op_.outputs.size());
    row.infer = [](void* self, const MaxOperatorNode*, MaxShapeContext* shapes) -> MaxStatus {
      const auto& op = *static_cast<const KernelOperator*>(self);
      return op.named(shapes->infer.node(), [&] { op.infer(shapes->infer); });
    };
    row.execute = [](void* self, const MaxOperatorNode* node, void*, const MaxOperatorCall* call) -> MaxStatus {
      const auto& op = *static_cast<const KernelOperator*>(self);
      return op.named(node->node, [&] { op.execute(node->node, *call); });
    };
    row.userData = const_cast<KernelOperator*>(this);
    return checkedOperator(row, file_);
  }

 private:
  struct Variant {
    DType dtype;
    std::string name;
    const MaxCpuKernel* kernel;
  };

  using Values = FunctionRef<std::optional<Dim>(const SizeTerm&)>;

  void addKernel(const std::string& name, DType dtype) {
    const MaxCpuKernel* kernel = library_->find(name);
    if (!kernel) refuse("the source has no kernel '", name, "' declared extern \"C\"");
    if (static_cast<size_t>(kernel->count) != op_.arguments.size())
      refuse("kernel '", name, "' has ", kernel->count, " parameters, the declaration ", op_.arguments.size(),
             " arguments");
    for (size_t i = 0; i < op_.arguments.size(); ++i) {
      const DeclaredArgument& argument = op_.arguments[i];
      const bool isNumber = argument.kind == DeclaredArgument::Float || argument.kind == DeclaredArgument::Size;
      if (kernel->sizes[i] != 8 && !(isNumber && kernel->sizes[i] == 4))
        refuse("parameter ", i, " of kernel '", name, "' has ", kernel->sizes[i], " bytes, '", argument.text, "' ",
               isNumber ? "4 or 8" : "8");
    }
    variants_.push_back({dtype, name, kernel});
  }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    invalidArgument(file_, ":", op_.line, ": operator '", op_.domain, ".", op_.name, "': ", parts...);
  }

  // NULL if there is none for this type.
  const Variant* variantFor(DType dtype) const {
    for (const Variant& variant : variants_)
      if (variant.dtype == dtype || variant.dtype == DType::Invalid) return &variant;
    return nullptr;
  }

  Dim attributeOf(const Node& node, const SizeTerm& term) const {
    return node.attributes.getInt(term.name, op_.attributes[term.index].integer);
  }

  [[noreturn]] static void failAxis(const SizeTerm& term, size_t rank) {
    invalidArgument("'", term.name, ".", term.axis, "': '", term.name, "' has ", rank, " dimensions");
  }

  // A property of a shape.
  static Dim propertyOf(const SizeTerm& term, const SymbolicShape& dims) {
    if (term.kind == SizeTerm::Size) return product(dims);
    if (term.kind == SizeTerm::Rank) return static_cast<int64_t>(dims.size());
    if (static_cast<size_t>(term.axis) >= dims.size()) failAxis(term, dims.size());
    return dims[static_cast<size_t>(term.axis)];
  }

  static int64_t propertyOf(const SizeTerm& term, const int64_t* shape, int32_t rank, int64_t elements) {
    if (term.kind == SizeTerm::Size) return elements;
    if (term.kind == SizeTerm::Rank) return rank;
    if (term.axis >= rank) failAxis(term, static_cast<size_t>(rank));
    return shape[term.axis];
  }

  // Errors name node and file.
  template <class Function>
  MaxStatus named(const Node& node, Function&& function) const {
    try {
      function();
    } catch (const Error& error) {
      if (error.message().starts_with("node '")) throw;
      fail(error.status(), node.description(), ", extension '", file_, "': ", error.message());
    }
    return MAX_STATUS_OK;
  }

  void infer(InferContext& context) const {
    const DType dtype = context.dtype(0);
    if (dtype != DType::Invalid && !variantFor(dtype)) context.fail("'", file_, "' declares no kernel for ", dtype);
    const auto values = [&](const SizeTerm& term) -> std::optional<Dim> {
      if (term.owner == SizeTerm::Attribute) return attributeOf(context.node(), term);
      if (!context.ranked(term.index)) return std::nullopt;
      return propertyOf(term, context.dims(term.index));
    };
    for (size_t i = 0; i < op_.shapes.size(); ++i) inferOutput(context, i, values);
  }

  // Kernels trust that inputs agree.
  void inferLike(InferContext& context, size_t output, const std::vector<size_t>& inputs) const {
    const size_t first = inputs[0];
    for (size_t input : inputs)
      if (context.ranked(first) && context.ranked(input) && !mayAgree(context.dims(first), context.dims(input)))
        context.fail("'", op_.inputs[first], "' and '", op_.inputs[input], "' have the shapes ", context.dims(first),
                     " and ", context.dims(input), ", which must be equal");
    context.setOutputLike(output, first);
  }

  static bool mayAgree(const SymbolicShape& a, const SymbolicShape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Dim& x, const Dim& y) { return x == y || !x.isKnown() || !y.isKnown(); });
  }

  void inferOutput(InferContext& context, size_t output, Values values) const {
    const DeclaredShape& shape = op_.shapes[output];
    if (shape.kind == DeclaredShape::Like) return inferLike(context, output, shape.inputs);
    if (shape.kind == DeclaredShape::Broadcast) {
      const size_t a = shape.inputs[0], b = shape.inputs[1];
      if (context.ranked(a) && context.ranked(b))
        context.setShape(output, context.broadcast(context.dims(a), context.dims(b)));
      return;
    }
    SymbolicShape dims;
    for (const SizeExpression& size : shape.dimensions) {
      const std::optional<Dim> dim = size.evaluate(values);
      dims.push_back(dim ? *dim : context.unknownDim());
    }
    context.setShape(output, std::move(dims));
  }

  static int64_t numberOf(const SizeExpression& size, Values values) { return size.evaluate(values)->value(); }

  // False if there is nothing to launch.
  static bool takeSizes(const Limit& limit, const std::vector<SizeExpression>& sizes, Values values,
                        uint32_t (&out)[3]) {
    bool isEmpty = false;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t size = numberOf(sizes[i], values);
      if (size < 0 || size > limit.most[i])
        invalidArgument(limit.name, " ", sizes[i].text(), " is ", size, "; at most ", limit.most[i], " is allowed");
      out[i] = static_cast<uint32_t>(size);
      isEmpty = isEmpty || size == 0;
    }
    return !isEmpty;
  }

  bool takeLaunch(const Variant& variant, Values values, CpuLaunch& launch) const {
    if (!takeSizes(kGrid, op_.grid, values, launch.grid)) return false;
    if (!takeSizes(kBlock, op_.block, values, launch.block)) invalidArgument("block has no threads");
    const int64_t threads = int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    const int64_t most = variant.kernel->maxThreads > 0 ? variant.kernel->maxThreads : kMaxCpuThreads;
    if (threads > most)
      invalidArgument("block has ", threads, " threads; at most ", most, " are allowed for kernel '", variant.name,
                      "'");
    const int64_t shared = op_.shared.empty() ? 0 : numberOf(op_.shared[0], values);
    if (shared < 0 || shared > static_cast<int64_t>(kMaxCpuShared))
      invalidArgument("shared is ", shared, " bytes, at most ", kMaxCpuShared);
    launch.sharedBytes = static_cast<size_t>(shared);
    return true;
  }

  // The value of an argument, as the kernel's parameter has it.
  union Slot {
    const void* pointer;
    float number;
    double wide;
    int32_t small;
    int64_t integer;
  };

  Slot slotOf(size_t i, size_t bytes, const Node& node, const MaxOperatorCall& call, Values values) const {
    const DeclaredArgument& argument = op_.arguments[i];
    Slot slot{};
    if (argument.kind == DeclaredArgument::Input) {
      slot.pointer = call.inputs[argument.index];
    } else if (argument.kind == DeclaredArgument::Output) {
      slot.pointer = call.outputs[argument.index];
    } else if (argument.kind == DeclaredArgument::Float) {
      const DeclaredAttribute& attribute = op_.attributes[argument.index];
      const float value = node.attributes.getFloat(attribute.name, attribute.number);
      bytes == 4 ? void(slot.number = value) : void(slot.wide = value);
    } else {
      const int64_t value = numberOf(argument.size[0], values);
      if (bytes == 4 && value != static_cast<int32_t>(value))
        fail(MAX_STATUS_OUT_OF_RANGE, "argument '", argument.text, "' is ", value, ", which does not fit in int32");
      bytes == 4 ? void(slot.small = static_cast<int32_t>(value)) : void(slot.integer = value);
    }
    return slot;
  }

  void execute(const Node& node, const MaxOperatorCall& call) const {
    for (int32_t i = 0; i < call.outputCount; ++i)
      require(call.outputDTypes[i] != MAX_DTYPE_INVALID, MAX_STATUS_UNIMPLEMENTED, "output '",
              op_.outputs[static_cast<size_t>(i)], "' cannot be left out");
    const Variant* variant = variantFor(static_cast<DType>(call.inputDTypes[0]));
    require(variant != nullptr, MAX_STATUS_INTERNAL, "there is no kernel");
    // Shapes of a call are known, so that every size is.
    const auto values = [&](const SizeTerm& term) -> std::optional<Dim> {
      if (term.owner == SizeTerm::Attribute) return attributeOf(node, term);
      const size_t i = term.index;
      if (term.owner == SizeTerm::Input)
        return propertyOf(term, call.inputShapes[i], call.inputRanks[i], call.inputElementCounts[i]);
      return propertyOf(term, call.outputShapes[i], call.outputRanks[i], call.outputElementCounts[i]);
    };
    CpuLaunch launch;
    if (!takeLaunch(*variant, values, launch)) return;
    Slot slots[kMaxArguments];
    void* addresses[kMaxArguments];
    for (size_t i = 0; i < op_.arguments.size(); ++i) {
      slots[i] = slotOf(i, variant->kernel->sizes[i], node, call, values);
      addresses[i] = &slots[i];
    }
    launch.kernel = variant->kernel;
    launch.name = variant->name.c_str();
    launch.arguments = addresses;
    runOnCpu(launch, call.lanes);
  }

  const std::string file_;
  const DeclaredOperator op_;
  Ref<CpuLibrary> library_;
  std::string attributes_;
  std::vector<Variant> variants_;
};

KernelExtension::KernelExtension(const std::string& path, const std::string& source) : path_(path), source_(source) {
  std::vector<DeclaredOperator> declared = parseDeclarations(path_, source_);
  if (declared.empty()) invalidArgument("'", path_, "' declares no operators: no line begins with '//@ operator'");
  for (DeclaredOperator& op : declared) operators_.push_back(std::make_unique<KernelOperator>(path_, std::move(op)));
  requireNewOperators(operators());  // before the compiler takes its time
  const Ref<CpuLibrary> library = compileForHost(path_, source_);
  for (const auto& op : operators_) op->bind(library);
}

KernelExtension::~KernelExtension() = default;

std::vector<ExtensionOperator> KernelExtension::operators() const {
  std::vector<ExtensionOperator> rows;
  for (const auto& op : operators_) rows.push_back(op->row());
  return rows;
}

namespace {

// Never destroyed, as what refers to them. Guarded by processMutex().
std::vector<std::unique_ptr<KernelExtension>>& keptExtensions() {
  static auto& kept = *new std::vector<std::unique_ptr<KernelExtension>>;
  return kept;
}

// The one with this text, if there is one; else `made`, if that is not NULL.
KernelExtension* keepExtension(const std::string& path, const std::string& source,
                               std::unique_ptr<KernelExtension> made) {
  const std::lock_guard lock(processMutex());
  for (const auto& known : keptExtensions())
    if (known->path() == path && known->source() == source) return known.get();
  return made ? keptExtensions().emplace_back(std::move(made)).get() : nullptr;
}

}  // namespace

void addKernelExtension(const std::string& path, const std::string& source) {
  bool isUsed = false;
  if (const KernelExtension* known = keepExtension(path, source, nullptr))
    return addExtensionOperators(known->operators(), isUsed);
  auto made = std::make_unique<KernelExtension>(path, source);
  addExtensionOperators(keepExtension(path, source, std::move(made))->operators(), isUsed);
}

}  // namespace max
