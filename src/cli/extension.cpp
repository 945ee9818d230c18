// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "model.h"

namespace max::cli {

void loadExtensions(const std::vector<std::string>& files) {
  if (files.empty()) return;
  Session session;
  check(maxSessionCreate(nullptr, session.out()));
  for (const std::string& file : files) check(maxSessionLoadExtension(session, file.c_str()));
}

}  // namespace max::cli
