// SPDX-License-Identifier: Apache-2.0
// Registers and stack of the kernels of models, on chips that are not here, compiled by the vendors' own compilers: at
// most what tests/data/gpu_kernels.txt allows. Skipped where a compiler is not installed, or is of another version.
// Some chips and models; with MAX_TEST_ALL set all, those that ./dev models makes included. With MAX_UPDATE_TABLE set
// the table is written anew.
#include <elf.h>
#include <glob.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/mapped_file.h"
#include "compiler/compile.h"
#include "device/device_registry.h"
#include "device/virtual_devices.h"
#include "interpreter.h"
#include "kernel/gpu_compilers.h"
#include "onnx/import.h"
#include "ops/gpu/gpu_operators.h"
#include "ops/gpu/product_source.h"
#include "vendor_compilers.h"

namespace max::test {
namespace {

constexpr const char* kTable = MAX_TEST_DATA "/gpu_kernels.txt";

struct Resources {
  uint32_t registers = 0;
  uint32_t stack = 0;  // bytes of a thread, spilled registers among them
};
using Table = std::map<std::string, Resources>;  // by chip, kernel and types

void addWorst(Resources& worst, const Resources& other) {
  worst.registers = std::max(worst.registers, other.registers);
  worst.stack = std::max(worst.stack, other.stack);
}

template <class T>
T readAt(const std::string& code, size_t offset) {
  T value{};
  if (offset + sizeof value <= code.size()) std::memcpy(&value, code.data() + offset, sizeof value);
  return value;
}

std::vector<Elf64_Shdr> sectionsOf(const std::string& code) {
  const auto header = readAt<Elf64_Ehdr>(code, 0);
  std::vector<Elf64_Shdr> sections;
  for (size_t i = 0; i < header.e_shnum; ++i)
    sections.push_back(readAt<Elf64_Shdr>(code, header.e_shoff + i * sizeof(Elf64_Shdr)));
  return sections;
}
std::string textAt(const std::string& code, uint64_t offset) {
  return offset < code.size() ? std::string(code.c_str() + offset) : std::string();
}

// Of a CUBIN: its section .nv.info lists numbers of symbols.
std::map<std::string, Resources> cudaResources(const std::string& code) {
  constexpr uint8_t kSizedValue = 4, kRegisters = 0x2f, kFrame = 0x11;
  std::map<std::string, Resources> result;
  const std::vector<Elf64_Shdr> sections = sectionsOf(code);
  const uint64_t names = sections.at(readAt<Elf64_Ehdr>(code, 0).e_shstrndx).sh_offset;
  const auto symbols = std::find_if(sections.begin(), sections.end(),
                                    [](const Elf64_Shdr& section) { return section.sh_type == SHT_SYMTAB; });
  for (const Elf64_Shdr& section : sections) {
    if (symbols == sections.end() || textAt(code, names + section.sh_name) != ".nv.info") continue;
    for (uint64_t at = section.sh_offset; at + 4 <= section.sh_offset + section.sh_size;) {
      const auto format = readAt<uint8_t>(code, at), attribute = readAt<uint8_t>(code, at + 1);
      const auto size = readAt<uint16_t>(code, at + 2);
      const auto symbol =
          readAt<Elf64_Sym>(code, symbols->sh_offset + readAt<uint32_t>(code, at + 4) * sizeof(Elf64_Sym));
      const std::string name = textAt(code, sections.at(symbols->sh_link).sh_offset + symbol.st_name);
      if (format == kSizedValue && attribute == kRegisters) result[name].registers = readAt<uint32_t>(code, at + 8);
      if (format == kSizedValue && attribute == kFrame) result[name].stack = readAt<uint32_t>(code, at + 8);
      at += 4 + (format == kSizedValue ? size : 0);
    }
  }
  return result;
}

// A MessagePack number.
uint32_t numberAfter(const std::string& code, size_t at) {
  const auto first = readAt<uint8_t>(code, at);
  uint32_t value = first < 0x80 ? first : 0;
  for (int i = 0; first >= 0xcc && first <= 0xce && i < 1 << (first - 0xcc); ++i)
    value = value << 8 | readAt<uint8_t>(code, at + 1 + static_cast<size_t>(i));
  return value;
}

// Of a code object: its metadata has the keys of each kernel in the order of the alphabet.
std::map<std::string, Resources> hipResources(const std::string& code) {
  std::map<std::string, Resources> result;
  const std::string registers = "\xab.vgpr_count", name = "\xa5.name", stack = "\xbb.private_segment_fixed_size";
  for (size_t at = 0; (at = code.find(registers, at)) != std::string::npos; ++at) {
    const size_t named = code.rfind(name, at) + name.size(), spilled = code.rfind(stack, at) + stack.size();
    const auto first = readAt<uint8_t>(code, named);  // fixstr, or str 8
    const std::string kernel =
        first == 0xd9 ? code.substr(named + 2, readAt<uint8_t>(code, named + 1)) : code.substr(named + 1, first & 0x1f);
    result[kernel] = {numberAfter(code, at + registers.size()), numberAfter(code, spilled)};
  }
  return result;
}

// The types that a kernel is compiled for.
std::string typesOf(const std::string& source, MaxPrecision precision) {
  for (const std::string_view name : {" Kind;", " Element;"}) {
    const size_t end = source.find(name);
    if (end == std::string::npos) continue;
    const size_t begin = source.rfind("typedef ", end) + 8;
    std::string type = source.substr(begin, end - begin);
    std::replace(type.begin(), type.end(), ' ', '_');
    if (type == kFloat32Kind) return float32Kind(precision);
    if (type.find("Plain") == std::string::npos) return type;
  }
  return "-";
}

struct Chip {
  const char* api;
  const char* name;
  bool isSample;
};
constexpr Chip kChips[] = {{"cuda", "sm_80", false},  {"cuda", "sm_90a", true}, {"cuda", "sm_100", false},
                           {"cuda", "sm_120", false}, {"hip", "gfx90a", true},  {"hip", "gfx1030", false}};
void PrintTo(const Chip& chip, std::ostream* out) { *out << chip.name; }

// Products, convolutions, attention and what stands between them, of numbers of 16 bits.
Ref<Graph> halfGraph(DType dtype) {
  Builder b;
  const auto weights = [&](const Shape& shape) {
    Value* floats = b.random(shape);
    return b.graph->addConstant(evaluate(*b.node("Cast", {floats}, attrs({{"to", onnxFromDType(dtype)}}), 1),
                                         std::vector<const Tensor*>{floats->constant.get()})
                                    .at(0));
  };
  Value* x = b.graph->addInput("x", TensorType::of(dtype, symbolic({2, 16, 14, 14})));
  for (int i = 0; i < 2; ++i) {
    Value* y = b.op("Relu",
                    {b.op("Conv", {x, weights({16, 16, 3, 3}), weights({16})}, attrs({{"pads", list({1, 1, 1, 1})}}))});
    x = b.op("Relu", {b.op("Add", {b.op("Conv", {y, weights({16, 16, 1, 1}), weights({16})}), x})});
  }
  b.output(b.op("GlobalAveragePool", {x}));
  Value* rows = b.graph->addInput("rows", TensorType::of(dtype, symbolic({2, 24, 64})));
  Value* norm = b.op("LayerNormalization", {rows, weights({64}), weights({64})});
  Value* dense = b.op("Add", {b.op("MatMul", {norm, weights({64, 64})}), weights({64})});
  b.output(b.op("Softmax", {b.op("Gelu", {dense})}));
  const auto heads = [&] {
    Value* projected = b.op("Add", {b.op("MatMul", {norm, weights({64, 64})}), weights({64})});
    return b.op("Transpose", {b.op("Reshape", {projected, b.ints({0, 0, 4, 16})})},
                attrs({{"perm", list({0, 2, 1, 3})}}));
  };
  Value *q = heads(), *k = heads(), *v = heads();
  Value* scores = b.op("MatMul", {q, b.op("Transpose", {k}, attrs({{"perm", list({0, 1, 3, 2})}}))});
  b.output(b.op("MatMul", {b.op("Softmax", {scores}), v}));
  b.graph->sort();
  return b.graph;
}

// Products and convolutions of bytes, and of packed weights.
Ref<Graph> integerGraph() {
  Builder b;
  const auto zeros = [&](DType dtype, const Shape& shape) {
    return b.graph->addConstant(Tensor::allocate(dtype, shape, true));
  };
  Value *scale = b.scalar(0.5f), *zero = zeros(DType::UInt8, {});
  const auto bytes = [&](const Shape& shape) {
    return b.graph->addInput(concat("b", b.graph->inputs().size()), TensorType::of(DType::UInt8, symbolic(shape)));
  };
  const auto weights = [&](const Shape& shape) { return zeros(DType::Int8, shape); };
  b.output(b.op("QLinearConv",
                {bytes({2, 16, 9, 9}), scale, zero, weights({16, 16, 3, 3}), scale, weights({16}), scale, zero}));
  b.output(b.op("QLinearMatMul", {bytes({40, 64}), scale, zero, weights({64, 64}), scale, weights({64}), scale, zero}));
  for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) {
    Value* a = b.graph->addInput(concat("a", dtype), TensorType::of(dtype, symbolic({40, 64})));
    const Attributes attributes =
        attrs({{"K", int64_t{64}}, {"N", int64_t{64}}, {"bits", int64_t{4}}, {"block_size", int64_t{32}}});
    b.output(b.graph
                 ->addNode(kMaxDomain, "MatMulNBits", {a, zeros(DType::UInt8, {64, 2, 16}), zeros(dtype, {64, 2})},
                           attributes)
                 ->output());
  }
  b.graph->sort();
  return b.graph;
}

class GpuResources : public testing::TestWithParam<Chip> {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the vendors' libraries are not made for sanitizers";
    const Chip& chip = GetParam();
    if (!isAll() && !chip.isSample) GTEST_SKIP() << "runs with MAX_TEST_ALL";
    nameNvrtc();
    KernelSource probe;
    probe.architecture = chip.name;
    probe.text = "extern \"C\" __global__ void none() {}";
    try {
      const std::string identity = compiler().identity(probe);
      version_ = identity.substr(0, identity.find(' ', identity.find(' ') + 1));
      static_cast<void>(compiler().compile(probe, compiler().executableKind(probe)));
    } catch (const Error& error) {
      GTEST_SKIP() << error.message();
    }
    setVirtualDeviceApi(chip.api);
    setVirtualDeviceArchitecture(chip.name);
    setVirtualDeviceCount(1);
    device_ = openDevice(chip.api, deviceCount(chip.api) - 1);
  }
  void TearDown() override { setVirtualDeviceCount(0); }

  static bool isAll() { return getenv("MAX_TEST_ALL"); }
  bool isCuda() const { return GetParam().api == std::string_view("cuda"); }
  const KernelCompiler& compiler() const { return isCuda() ? nvrtcCompiler() : hiprtcCompiler(); }

  static Ref<Graph> imported(const std::string& path) {
    return importOnnx(MappedFile::share(File::openForRead(path)), {}).graph;
  }
  void add(const Ref<Graph>& graph, MaxPrecision precision) {
    CompileOptions options;
    options.accelerator = device_.get();
    options.precision = precision;
    options.lanes = 2;
    compile(*graph, options);
    for (const Node* node : graph->nodes()) {
      if (!node->placed) continue;
      const auto& placed = static_cast<const Placed&>(*node->placed);
      if (!seen_.insert({placed.source(), precision}).second) continue;
      const std::string& code =
          placed.module()->artifact(isCuda() ? MAX_ARTIFACT_KIND_CUBIN : MAX_ARTIFACT_KIND_CODE_OBJECT);
      const auto resources = isCuda() ? cudaResources(code) : hipResources(code);
      for (const char* kernel : placed.kernels()) {
        ASSERT_TRUE(resources.contains(kernel)) << kernel;
        ASSERT_GT(resources.at(kernel).registers, 0u) << kernel;
        addWorst(worst_[concat(GetParam().name, ' ', kernel, ' ', typesOf(placed.source(), precision))],
                 resources.at(kernel));
      }
    }
  }

  Ref<MaxDevice> device_;
  std::string version_;  // of the compiler
  std::set<std::pair<std::string, MaxPrecision>> seen_;
  Table worst_;
};

// Lines "chip kernel types registers stack", and "# chip compiler version".
Table readTable(const std::string& chip, std::string& version) {
  std::ifstream file(kTable);
  Table table;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(concat("# ", chip, ' '))) version = line.substr(chip.size() + 3);
    std::istringstream words(line);
    std::string first, kernel, types;
    Resources resources;
    if (words >> first >> kernel >> types >> resources.registers >> resources.stack && first == chip)
      table[concat(first, ' ', kernel, ' ', types)] = resources;
  }
  return table;
}

void writeTable(const std::string& chip, const std::string& version, const Table& table) {
  std::vector<std::string> lines;
  std::ifstream file(kTable);
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with(concat("# ", chip, ' ')) && !line.starts_with(chip + ' ')) lines.push_back(line);
  file.close();
  lines.push_back(concat("# ", chip, ' ', version));
  for (const auto& [key, resources] : table)
    lines.push_back(concat(key, ' ', resources.registers, ' ', resources.stack));
  std::ofstream out(kTable);
  for (const std::string& line : lines) out << line << '\n';
}

TEST_P(GpuResources, AreWithinTheirBudget) {
  add(imported(MAX_TEST_DATA "/models/tiny_bert.onnx"), MAX_PRECISION_HIGHEST);
  add(imported(MAX_TEST_DATA "/../../examples/digits/digits.onnx"), MAX_PRECISION_HIGHEST);
  add(halfGraph(DType::Float16), MAX_PRECISION_HIGHEST);
  if (isAll()) add(halfGraph(DType::BFloat16), MAX_PRECISION_HIGHEST);
  if (isAll()) add(integerGraph(), MAX_PRECISION_HIGHEST);
  for (const MaxPrecision precision : {MAX_PRECISION_HIGH, MAX_PRECISION_MEDIUM})
    if (isAll()) add(imported(MAX_TEST_DATA "/../../examples/digits/digits.onnx"), precision);
  const std::filesystem::path made = MAX_TEST_DATA "/../../build/models";
  if (isAll() && std::filesystem::exists(made))
    for (const char* name : {"resnet50", "mobilenetv2", "bert", "text_recogniser", "yolo"}) {
      SCOPED_TRACE(name);
      if (std::filesystem::exists(made / concat(name, ".onnx")))
        add(imported(made / concat(name, ".onnx")), MAX_PRECISION_HIGHEST);
      if (HasFatalFailure()) return;
    }
  if (getenv("MAX_UPDATE_TABLE")) return writeTable(GetParam().name, version_, worst_);
  std::string version;
  const Table table = readTable(GetParam().name, version);
  if (version != version_) GTEST_SKIP() << "the table is for " << version << ", here is " << version_;
  for (const auto& [key, resources] : worst_) {
    const auto row = table.find(key);
    if (row == table.end()) {
      ADD_FAILURE() << "not in the table: " << key << ' ' << resources.registers << ' ' << resources.stack;
      continue;
    }
    EXPECT_LE(resources.registers, row->second.registers) << key;
    EXPECT_LE(resources.stack, row->second.stack) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, GpuResources, testing::ValuesIn(kChips));

}  // namespace
}  // namespace max::test
