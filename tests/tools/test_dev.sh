#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ./dev test cannot install or run is a failed check, not silence. Commands that fail stand in for the real ones.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
source tools/dev_functions.sh
REPORTS="$(mktemp -d)"
trap 'rm -rf "$REPORTS"' EXIT
PYTHON=false

# expect NAME COMMAND...: the command leaves the line "failed NAME" in the report.
expect() {
  local name="$1"
  shift
  : >"$REPORTS/checks.txt"
  "$@" >"$REPORTS/output" 2>&1
  grep -qx "failed $name" "$REPORTS/checks.txt" || { echo "no failure of $name:"; cat "$REPORTS"/{checks.txt,output}; exit 1; }
}

ctest() { return 1; }
expect ctest-release run_ctest release

cmake() { return 1; }
for name in configure-asan build-asan; do expect "$name" build asan; done

make_python() { return 1; }
for name in python-packages real-models benchmark-models ray-packages; do expect "$name" prepare_python; done

# need_packages as well, if apt-get fails.
as_root() { return 1; }
expect packages check packages need_packages a-package-that-there-is-not
need_packages() { return 1; }
expect language-tools check language-tools need_language_tools
echo "failures are seen"
