// SPDX-License-Identifier: Apache-2.0
// The commands, each with its options as the command line gave them.
#pragma once

#include <string>
#include <vector>

namespace max::cli {

struct ModelOptions {
  std::string model;
  std::vector<std::string> inputs;  // NAME=FILE.npy
  std::vector<std::string> shapes;  // NAME=1,3,640,640
  std::vector<std::string> maxima;  // NAME=K
  std::string device = "cpu";
  int threads = 0;  // 0 = the library's choice
  std::string precision = "highest";
  std::string weights;
  bool json = false;
};

struct RunOptions : ModelOptions {
  std::string outputDir;
};

struct BenchOptions : ModelOptions {
  double seconds = 3;
  int warmup = 5;
};

struct ProfileOptions : ModelOptions {
  std::string output;  // the trace; empty = none
  int runs = 10;
};

struct GraphOptions {
  std::string model;
  std::string output;  // .dot, .svg or .png
  bool optimized = false;
};

struct CompileOptions : ModelOptions {
  std::string output;
  std::string target;  // cuda:sm_90, hip:gfx90a; empty = none
};

// Registers their operators.
void loadExtensions(const std::vector<std::string>& files);

struct CompileKernelOptions {
  std::string source;
  std::string target;  // cpu, cpu:x86-64-v3, cuda:sm_90, hip:gfx90a
  std::string artifact = "code";
  std::string output;                // empty = standard output, for text
  std::vector<std::string> defines;  // NAME or NAME=VALUE
  std::vector<std::string> headers;  // NAME=FILE
  std::vector<std::string> flags;
  int registers = 0;  // 0 = the compiler's choice
  bool fastMath = false;
  bool lineInfo = false;
};

void listDevices(bool json);
// A device adds where the operators run and what the model takes of its memory; "" = none.
void showInfo(const std::string& model, const std::string& device, bool json);
void runModel(const RunOptions& options);
void benchModel(const BenchOptions& options);
void profileModel(const ProfileOptions& options);
void drawModel(const GraphOptions& options);
void compileModel(const CompileOptions& options);
void compileKernel(const CompileKernelOptions& options);
void runDemo();

}  // namespace max::cli
