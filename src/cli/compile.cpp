// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "model.h"
#include "output.h"

namespace max::cli {

void compileModel(const CompileOptions& options) {
  const OpenModel open = openModel(options);
  check(maxModelSave(open.model, options.output.c_str()));
  const uint64_t bytes = std::filesystem::file_size(options.output);
  if (options.json)
    printJson({{"model", options.model}, {"output", options.output}, {"bytes", bytes}});
  else
    printLine(options.output + "  " + bytesText(bytes));
}

}  // namespace max::cli
