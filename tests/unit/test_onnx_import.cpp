// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "graph/schema.h"
#include "onnx/import.h"
#include "onnx_builder.h"

namespace max {
namespace {

using namespace test;

constexpr int64_t kFloat = 1;

ImportedModel load(const std::string& bytes, const std::string& folder = "") {
  ImportOptions options;
  options.source = "m.onnx";
  options.folder = folder;
  return importOnnx(storageOf(bytes), options);
}

void expectError(MaxStatus status, const std::string& fragment, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one with: " << fragment;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status) << error.message();
    EXPECT_NE(error.message().find(fragment), std::string::npos) << error.message();
  }
}

GraphParts oneNode(std::string nodeBytes, std::vector<TestDim> dims = {"batch", 4}) {
  return {{std::move(nodeBytes)}, {valueInfo("x", kFloat, std::move(dims))}, {valueInfo("y", kFloat, {})}};
}

std::vector<std::string> opsOf(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node* made : graph.nodes()) ops.emplace_back(made->op());
  return ops;
}

TEST(OnnxImport, BuildsNodesInputsAndSymbolicShapes) {
  const ImportedModel imported = load(model(oneNode(node("Relu", {"x"}, {"y"}))));
  ASSERT_EQ(imported.graph->inputs().size(), 1u);
  EXPECT_EQ(imported.graph->inputs()[0]->name, "x");
  EXPECT_EQ(imported.graph->inputs()[0]->type.dims[0].symbolName(), "batch");
  EXPECT_EQ(concat(imported.graph->outputs()[0]->type.dims), "[batch, 4]");
  EXPECT_EQ(imported.graph->outputNames()[0], "y");
  EXPECT_EQ(imported.info.operators.at("Relu"), 1);
  EXPECT_EQ(imported.info.opsets[0].first, "ai.onnx");
}

TEST(OnnxImport, ReadsInitialisersFromRawAndTypedData) {
  const std::vector<float> numbers = {1, 2, 3, 4};
  GraphParts parts = oneNode(node("Add", {"x", "w"}, {"y"}));
  parts.initializers = {rawTensor("w", kFloat, {4}, rawOf(numbers))};
  const ImportedModel raw = load(model(parts));
  const Value* weight = raw.graph->findValue("w");
  ASSERT_TRUE(weight && weight->constant);
  EXPECT_TRUE(weight->isWeight);
  EXPECT_EQ(weight->constant->values<float>()[3], 4.0f);
  EXPECT_EQ(raw.info.parameters, 4);

  std::string typed = message({{8, "w"}});
  protozero::pbf_writer writer(typed);
  const std::vector<int64_t> dims = {4};
  writer.add_packed_int64(1, dims.begin(), dims.end());
  writer.add_int64(2, kFloat);
  writer.add_packed_float(4, numbers.begin(), numbers.end());
  parts.initializers = {typed};
  EXPECT_EQ(load(model(parts)).graph->findValue("w")->constant->values<float>()[2], 3.0f);
}

TEST(OnnxImport, BringsOldFormsToTheNewestOpset) {
  struct Case {
    int64_t opset;
    std::string bytes;
    std::vector<std::string> ops;
  };
  const Case cases[] = {
      {11, node("Squeeze", {"x"}, {"y"}, {intsAttribute("axes", {0})}), {"Squeeze"}},
      {11, node("Unsqueeze", {"x"}, {"y"}, {intsAttribute("axes", {0})}), {"Unsqueeze"}},
      {11, node("ReduceSum", {"x"}, {"y"}, {intsAttribute("axes", {1})}), {"ReduceSum"}},
      {9, node("Slice", {"x"}, {"y"}, {intsAttribute("starts", {0}), intsAttribute("ends", {1})}), {"Slice"}},
      {11, node("Softmax", {"x"}, {"y"}, {intAttribute("axis", 1)}), {"Softmax"}},
      {9, node("Pad", {"x"}, {"y"}, {intsAttribute("pads", {0, 1, 0, 1})}), {"Pad"}},
  };
  for (const Case& test : cases) {
    const ImportedModel imported = load(model(oneNode(test.bytes, {1, 4}), test.opset));
    EXPECT_EQ(opsOf(*imported.graph), test.ops);
    EXPECT_TRUE(imported.graph->outputs()[0]->type.ranked) << test.ops[0];
  }
  const std::string softmax = node("Softmax", {"x"}, {"y"}, {intAttribute("axis", 1)});
  const ImportedModel flattened = load(model(oneNode(softmax, {2, 3, 4}), 11));
  EXPECT_EQ(flattened.graph->outputs()[0]->producer->op(), "Reshape");
  EXPECT_EQ(concat(flattened.graph->outputs()[0]->type.dims), "[2, 3, 4]");
}

TEST(OnnxImport, BuildsSubgraphsThatSeeOuterValues) {
  const GraphParts branch{{node("Relu", {"x"}, {"r"})}, {}, {valueInfo("r", kFloat, {})}};
  GraphParts parts = oneNode(node("If", {"c"}, {"y"},
                                  {messageAttribute("then_branch", 6, 5, graphMessage(branch)),
                                   messageAttribute("else_branch", 6, 5, graphMessage(branch))}));
  parts.inputs.push_back(valueInfo("c", 9, {}));
  const ImportedModel imported = load(model(parts));
  const Ref<Graph> then = imported.graph->nodes()[0]->attributes.getGraph("then_branch");
  ASSERT_TRUE(then);
  ASSERT_EQ(then->capturedValues().size(), 1u);
  EXPECT_EQ(then->capturedValues()[0]->name, "x");
  EXPECT_EQ(imported.info.operators.at("Relu"), 2);
}

TEST(OnnxImport, ListsAllUnsupportedOperatorsAtOnce) {
  GraphParts parts = oneNode(node("NoSuchOp", {"x"}, {"a"}, {}, "first"));
  parts.nodes.push_back(node("Relu", {"a"}, {"b"}));
  parts.nodes.push_back(node("Other", {"b"}, {"y"}, {}, "second", "com.acme"));
  expectError(MAX_STATUS_UNIMPLEMENTED,
              "m.onnx: 2 nodes have an unsupported operator: 'first' (NoSuchOp, domain ai.onnx, version 21); 'second' "
              "(Other, domain com.acme, version 0)",
              [&] { load(model(parts)); });
  EXPECT_EQ(inspectOnnx(storageOf(model(parts)), {}).unsupported.size(), 2u);
}

TEST(OnnxImport, RefusesMalformedFiles) {
  expectError(MAX_STATUS_DATA_LOSS, "m.onnx: The file is empty", [] { load(""); });
  expectError(MAX_STATUS_DATA_LOSS, "Not an ONNX model", [] { load("\x89PNG\r\n\x1a\n and more"); });
  const std::string whole = model(oneNode(node("Relu", {"x"}, {"y"})));
  for (size_t size = 1; size < whole.size(); ++size) {
    try {
      load(whole.substr(0, size));
    } catch (const Error&) {
      continue;  // most cuts are errors; those at a field's end may be a smaller model
    }
  }
}

TEST(OnnxImport, RefusesContradictions) {
  expectError(MAX_STATUS_INVALID_ARGUMENT, "input 'missing' is not produced by any node",
              [] { load(model(oneNode(node("Relu", {"missing"}, {"y"})))); });
  expectError(MAX_STATUS_INVALID_ARGUMENT, "Output 'y' of graph 'g' is not produced by any node",
              [] { load(model(oneNode(node("Relu", {"x"}, {"z"})))); });
  expectError(MAX_STATUS_INVALID_ARGUMENT, "the name 'x' is used twice",
              [] { load(model(oneNode(node("Relu", {"x"}, {"x"})))); });
  expectError(MAX_STATUS_UNIMPLEMENTED, "Opset 0 of ai.onnx is not supported",
              [] { load(model(oneNode(node("Relu", {"x"}, {"y"})), 0)); });
  expectError(MAX_STATUS_UNIMPLEMENTED, "Opset 99 of ai.onnx is not supported",
              [] { load(model(oneNode(node("Relu", {"x"}, {"y"})), 99)); });
}

TEST(OnnxImport, RefusesTensorsWhoseSizeIsWrong) {
  GraphParts parts = oneNode(node("Add", {"x", "w"}, {"y"}));
  const std::vector<float> numbers = {1, 2, 3, 4};
  const auto withTensor = [&](int64_t type, const std::vector<int64_t>& dims) {
    parts.initializers = {rawTensor("w", type, dims, rawOf(numbers))};
    return model(parts);
  };
  expectError(MAX_STATUS_DATA_LOSS, "tensor 'w': holds 16 bytes; its shape and dtype need 20",
              [&] { load(withTensor(kFloat, {5})); });
  expectError(MAX_STATUS_OUT_OF_RANGE, "overflow", [&] { load(withTensor(kFloat, {int64_t{1} << 40, 1 << 30})); });
  expectError(MAX_STATUS_INVALID_ARGUMENT, "negative dimension -1", [&] { load(withTensor(kFloat, {-1})); });
  expectError(MAX_STATUS_UNIMPLEMENTED, "unknown data type number 99", [&] { load(withTensor(99, {4})); });
  // A huge shape without data must fail before memory is taken.
  std::string empty = message({{8, "w"}});
  protozero::pbf_writer writer(empty);
  const std::vector<int64_t> dims = {int64_t{1} << 40};
  writer.add_packed_int64(1, dims.begin(), dims.end());
  writer.add_int64(2, kFloat);
  parts.initializers = {empty};
  expectError(MAX_STATUS_DATA_LOSS, "holds 0 numbers", [&] { load(model(parts)); });
}

TEST(OnnxImport, BoundsTheDepthOfSubgraphs) {
  GraphParts inner{{node("Identity", {"x"}, {"r"})}, {}, {valueInfo("r", kFloat, {})}};
  for (int depth = 0; depth < 200; ++depth) {
    const std::string bytes = graphMessage(inner);
    inner.nodes = {node("If", {"c"}, {"r"},
                        {messageAttribute("then_branch", 6, 5, bytes), messageAttribute("else_branch", 6, 5, "")})};
  }
  GraphParts parts = oneNode(inner.nodes[0]);
  parts.inputs.push_back(valueInfo("c", 9, {}));
  expectError(MAX_STATUS_INVALID_ARGUMENT, "Subgraphs are nested more than 32 deep", [&] { load(model(parts)); });
}

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/max_external_XXXXXX";
    folder_ = mkdtemp(pattern);
    std::filesystem::create_directory(folder_ + "/sub");
    const std::vector<float> numbers = {1, 2, 3, 4};
    for (const char* name : {"/w.bin", "/sub/w.bin"}) std::ofstream(folder_ + name, std::ios::binary) << rawOf(numbers);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string modelWith(std::string_view location, std::string_view offset = "0", std::string_view length = "16") {
    std::string tensor = message({{8, "w"},
                                  {13, message({{1, "location"}, {2, location}})},
                                  {13, message({{1, "offset"}, {2, offset}})},
                                  {13, message({{1, "length"}, {2, length}})}});
    protozero::pbf_writer writer(tensor);
    const std::vector<int64_t> dims = {4};
    writer.add_packed_int64(1, dims.begin(), dims.end());
    writer.add_int64(2, kFloat);
    writer.add_int64(14, 1);
    GraphParts parts = oneNode(node("Add", {"x", "w"}, {"y"}));
    parts.initializers = {tensor};
    return model(parts);
  }

  std::string folder_;
};

TEST_F(ExternalData, IsReadFromTheFolder) {
  for (const char* location : {"w.bin", "sub/w.bin"}) {
    const ImportedModel imported = load(modelWith(location), folder_);
    EXPECT_EQ(imported.graph->findValue("w")->constant->values<float>()[3], 4.0f);
  }
}

TEST_F(ExternalData, RefusesWaysOutOfTheFolder) {
  ASSERT_EQ(symlink("w.bin", (folder_ + "/link").c_str()), 0);
  ASSERT_EQ(symlink("sub", (folder_ + "/linked_folder").c_str()), 0);
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  for (const char* location : {"../w.bin", "sub/../../w.bin", "/etc/passwd", "link", "linked_folder/w.bin", "./w.bin",
                               "sub//w.bin", "pipe", "sub", ""})
    expectError(MAX_STATUS_PERMISSION_DENIED, "is rejected", [&] { load(modelWith(location), folder_); });
  ASSERT_EQ(link((folder_ + "/w.bin").c_str(), (folder_ + "/hard").c_str()), 0);
  expectError(MAX_STATUS_PERMISSION_DENIED, "hard links", [&] { load(modelWith("hard"), folder_); });
  expectError(MAX_STATUS_PERMISSION_DENIED, "has no folder", [&] { load(modelWith("w.bin")); });
}

TEST_F(ExternalData, ChecksItsRange) {
  expectError(MAX_STATUS_NOT_FOUND, "cannot open external data 'none.bin'",
              [&] { load(modelWith("none.bin"), folder_); });
  expectError(MAX_STATUS_DATA_LOSS, "ends past the 16 bytes", [&] { load(modelWith("w.bin", "4"), folder_); });
  expectError(MAX_STATUS_DATA_LOSS, "ends past the 16 bytes",
              [&] { load(modelWith("w.bin", "18446744073709551615"), folder_); });
  expectError(MAX_STATUS_DATA_LOSS, "need 16", [&] { load(modelWith("w.bin", "0", "12"), folder_); });
  expectError(MAX_STATUS_INVALID_ARGUMENT, "offset '-1'", [&] { load(modelWith("w.bin", "-1"), folder_); });
}

}  // namespace
}  // namespace max
