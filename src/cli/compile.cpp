// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "model.h"
#include "output.h"
#include "target.h"

namespace max::cli {

void compileModel(const CompileOptions& options) {
  CompileOptions model = options;
  Device chip;  // stays declared
  if (!options.target.empty()) {
    const Target target = parseTarget(options.target);
    chip = openTarget(target);
    if (findApi(target.api)) model.device = target.api + ":0";
  }
  const OpenModel open = openModel(model);
  check(maxModelSave(open.model, options.output.c_str()));
  const uint64_t bytes = std::filesystem::file_size(options.output);
  if (options.json)
    printJson({{"model", options.model}, {"output", options.output}, {"bytes", bytes}});
  else
    printLine(options.output + "  " + bytesText(bytes));
}

}  // namespace max::cli
