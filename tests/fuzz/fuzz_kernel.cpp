// SPDX-License-Identifier: Apache-2.0
// Everything that reads what belongs to kernels. The first byte says what the others are: s = a preprocessed source for
// the host, p = PTX, a = an AMD code object, b = code that a program wants to load, d = a source that declares
// operators.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "extension/kernel_declaration.h"
#include "kernel/amd_parameters.h"
#include "kernel/cpu_source.h"
#include "kernel/module_registry.h"
#include "kernel/ptx_parameters.h"

using namespace max;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void check(bool condition) {
  if (!condition) std::abort();
}

// A failure is the input's, and says so.
void checkRefused(const Error& error) {
  check(error.status() == MAX_STATUS_INVALID_ARGUMENT || error.status() == MAX_STATUS_OUT_OF_RANGE);
  check(error.message()[0] != '\0');
}

auto linesOf(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

// What is added to a kernel or a variable is short.
void rewrite(std::string_view source) { check(hostSourceOf(source).size() <= 1000 + 200 * source.size()); }

void readParameters(const std::optional<std::vector<size_t>>& sizes) {
  if (sizes) check(sizes->size() <= 65536);
}

void recognise(std::string_view code) {
  for (const char* api : {"cpu", "cuda", "hip"}) try {
      kernelBackend(api).kindOf(code);
    } catch (const Error& error) {
      checkRefused(error);
    }
}

void evaluate(const std::vector<SizeExpression>& expressions) {
  for (const SizeExpression& expression : expressions)
    for (const int64_t value : {int64_t{0}, int64_t{3}, int64_t{-7}, INT64_MAX}) try {
        expression.evaluate([&](const SizeTerm&) { return Dim(value); });
      } catch (const Error& error) {
        checkRefused(error);
      }
}

void declare(std::string_view source) {
  const auto added = linesOf(withoutDeclarations(source)) - linesOf(source);
  check(added == 0 || (added == 1 && !source.ends_with('\n')));
  for (const DeclaredOperator& op : parseDeclarations("k.cu", source)) {
    for (const DeclaredShape& shape : op.shapes) evaluate(shape.dimensions);
    evaluate(op.grid);
    evaluate(op.block);
    evaluate(op.shared);
    for (const DeclaredArgument& argument : op.arguments) evaluate(argument.size);
  }
}

void read(char what, std::string_view text) {
  if (what == 's') rewrite(text);
  if (what == 'p') readParameters(ptxParameterSizes(text, "add"));
  if (what == 'a') readParameters(amdParameterSizes(text, "add"));
  if (what == 'b') recognise(text);
  if (what == 'd') declare(text);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // Its own memory, so that reading behind the end is seen.
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    read(static_cast<char>(data[0]), std::string_view(text.data(), text.size()));
  } catch (const Error& error) {
    checkRefused(error);
  }
  return 0;
}
