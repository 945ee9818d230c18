// SPDX-License-Identifier: Apache-2.0
// The command line: options to structures, failures to one line and an exit status.
#include <max/max.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>

#include "base/error.h"
#include "commands.h"
#include "examples.h"
#include "failure.h"
#include "output.h"

namespace max::cli {
namespace {

constexpr const char* kModelHelp =
    "An .onnx file, a compiled model (.maxc), or a folder that contains model.onnx or model.maxc";
constexpr const char* kWeightsHelp = "FILE.safetensors or FILE.max: weights by name instead of the model's own";

constexpr int kDone = 0, kFailed = 1, kWrongUsage = 2;

// A range of numbers, which excludes NaN.
CLI::Validator secondsUpTo(double most) {
  const std::string range = "[0 - " + std::to_string(static_cast<int>(most)) + "]";
  const auto check = [=](const std::string& text) {
    double seconds = 0;
    const bool isNumber = CLI::detail::lexical_cast(text, seconds);
    return isNumber && seconds >= 0 && seconds <= most ? "" : "Value " + text + " not in range " + range;
  };
  return {check, "FLOAT in " + range};
}

void addJson(CLI::App* command, bool& json) { command->add_flag("--json", json, "One JSON value on standard output"); }

void addModelOptions(CLI::App* command, ModelOptions& options) {
  command->add_option("MODEL", options.model, kModelHelp)->required();
  command->add_option("--input", options.inputs, "NAME=FILE.npy: an input's values (repeatable)")->take_all();
  command->add_option("--shape", options.shapes, "NAME=1,3,640,640: the shape of a random input (repeatable)")
      ->take_all();
  command->add_option("--max", options.maxima, "NAME=K: random integers of 0 to K instead of 0 or 1 (repeatable)")
      ->take_all();
  command->add_option("--device", options.device, deviceExamples())->capture_default_str();
  command->add_option("--threads", options.threads, "Threads to use; 0 = one per physical core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_option("--precision", options.precision, "highest, high or medium")
      ->check(CLI::IsMember({"highest", "high", "medium"}))
      ->capture_default_str();
  command->add_option("--weights", options.weights, kWeightsHelp);
  addJson(command, options.json);
}

struct Options {
  bool devicesJson = false, infoJson = false;
  std::string infoModel, infoDevice;
  RunOptions run;
  BenchOptions bench;
  CompileOptions compile;
  CompileKernelOptions compileKernel;
  ProfileOptions profile;
  GraphOptions graph;
  std::vector<std::string> extensions;
  std::function<void()> action;
};

void addCompileKernel(CLI::App& app, Options& all) {
  CompileKernelOptions& options = all.compileKernel;
  CLI::App* command = app.add_subcommand("compile-kernel", "Compiles a kernel for any architecture");
  command->add_option("FILE", options.source, "Kernels in CUDA's dialect of C++")->required();
  command->add_option("--target", options.target, targetExamples() + ", cpu or cpu:ARCH")->required();
  command->add_option("--artifact", options.artifact, "code (or object): machine code; ptx, cubin, asm, llvm")
      ->check(CLI::IsMember({"code", "object", "ptx", "cubin", "asm", "llvm"}))
      ->capture_default_str();
  command->add_option("-o,--output", options.output, "FILE; otherwise text goes to standard output");
  command->add_option("-D,--define", options.defines, "NAME or NAME=VALUE: a macro (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--header", options.headers, "NAME=FILE: the file for #include \"NAME\" (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--flag", options.flags, "An option for the compiler: --flag=OPTION (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--registers", options.registers, "Maximum registers per thread; 0 = the compiler's choice")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--fast-math", options.fastMath, "Faster, less accurate arithmetic");
  command->add_flag("--line-info", options.lineInfo, "Line numbers for profilers and debuggers");
  command->callback([&all] { all.action = [&all] { compileKernel(all.compileKernel); }; });
}

void addCommands(CLI::App& app, Options& options) {
  CLI::App* devices = app.add_subcommand("devices", "Lists the devices");
  addJson(devices, options.devicesJson);
  devices->callback([&] { options.action = [&] { listDevices(options.devicesJson); }; });

  CLI::App* info = app.add_subcommand("info", "Shows a model's inputs, outputs and operators");
  info->add_option("MODEL", options.infoModel, kModelHelp)->required();
  info->add_option("--device", options.infoDevice, deviceExamples() + "; shows what runs there, and its memory");
  addJson(info, options.infoJson);
  info->callback([&] { options.action = [&] { showInfo(options.infoModel, options.infoDevice, options.infoJson); }; });

  CLI::App* run = app.add_subcommand("run", "Runs a model once and shows its outputs");
  addModelOptions(run, options.run);
  run->add_option("--output-dir", options.run.outputDir, "Writes each output to DIR/NAME.npy");
  run->callback([&] { options.action = [&] { runModel(options.run); }; });

  CLI::App* bench = app.add_subcommand("bench", "Measures loading and latency");
  addModelOptions(bench, options.bench);
  bench->add_option("--seconds", options.bench.seconds, "How long to measure")
      ->check(secondsUpTo(86400))
      ->capture_default_str();
  bench->add_option("--warmup", options.bench.warmup, "Calls before measuring")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  bench->callback([&] { options.action = [&] { benchModel(options.bench); }; });

  CLI::App* profile = app.add_subcommand("profile", "Shows where a model spends its time");
  addModelOptions(profile, options.profile);
  profile->add_option("--output", options.profile.output, "Writes a trace for Perfetto and chrome://tracing");
  profile->add_option("--runs", options.profile.runs, "Calls to record")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  profile->callback([&] { options.action = [&] { profileModel(options.profile); }; });

  CLI::App* graph = app.add_subcommand("graph", "Draws a model's graph");
  graph->add_option("MODEL", options.graph.model, kModelHelp)->required();
  graph->add_option("--output", options.graph.output, "FILE.dot, FILE.svg or FILE.png")->required();
  graph->add_flag("--optimized", options.graph.optimized, "The graph that runs, after the compiler's passes");
  graph->callback([&] { options.action = [&] { drawModel(options.graph); }; });

  CLI::App* compile = app.add_subcommand("compile", "Writes a compiled model, which loads without the original");
  compile->add_option("MODEL", options.compile.model, kModelHelp)->required();
  compile->add_option("-o,--output", options.compile.output, "FILE.maxc: the compiled model")->required();
  compile->add_option("--target", options.compile.target, targetExamples() + ": adds the kernels for this chip");
  compile->add_option("--weights", options.compile.weights, kWeightsHelp);
  addJson(compile, options.compile.json);
  compile->callback([&] { options.action = [&] { compileModel(options.compile); }; });

  for (CLI::App* command : {info, run, bench, profile, graph, compile})
    command->add_option("--extension", options.extensions, "FILE: a library of operators for models (repeatable)")
        ->take_all();

  addCompileKernel(app, options);

  CLI::App* demo = app.add_subcommand("demo", "Classifies held-out handwritten digits with the bundled model");
  demo->callback([&] { options.action = [] { runDemo(); }; });
}

// Exactly one line, whatever the message contains; then the log, if there is one.
int fail(int code, std::string message, const std::string& log = {}) {
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  printError("max: error: " + message);
  printLog(log);
  return code;
}

int runCommand(int argc, char** argv) {
  CLI::App app("Runs models and shows devices; libmax " + std::string(maxGetVersion()), "max");
  app.set_version_flag("--version", std::string("max ") + maxGetVersion());
  app.require_subcommand(0, 1);
  Options options;
  addCommands(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return fail(kWrongUsage, std::string("INVALID_ARGUMENT: ") + error.what());
  }
  if (!options.action) throw UsageError("COMMAND is missing; max --help lists the commands");
  loadExtensions(options.extensions);
  options.action();
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw Failure("UNAVAILABLE", "Standard output cannot be written");
  return kDone;
}

}  // namespace
}  // namespace max::cli

int main(int argc, char** argv) {
  try {
    return max::cli::runCommand(argc, argv);
  } catch (const max::cli::UsageError& error) {
    return max::cli::fail(max::cli::kWrongUsage, error.what());
  } catch (const max::cli::Failure& error) {
    return max::cli::fail(max::cli::kFailed, error.what(), error.log());
  } catch (const max::Error& error) {  // of files
    return max::cli::fail(max::cli::kFailed, std::string(max::statusName(error.status())) + ": " + error.message());
  } catch (const std::bad_alloc&) {
    return max::cli::fail(max::cli::kFailed, "RESOURCE_EXHAUSTED: Out of memory");
  } catch (const std::exception& error) {
    return max::cli::fail(max::cli::kFailed, std::string("INTERNAL: ") + error.what());
  }
}
