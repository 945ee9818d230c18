#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries tests/gpu/run on a machine without a GPU, and on the fake driver: test_run.sh BUILD_DIR
set -euo pipefail
build="$1"
here="$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
results="$here/../../benchmarks/results"
before="$(ls "$results")"

if ! compgen -G '/dev/nvidia[0-9]*' >/dev/null && [[ ! -e /dev/dxg ]]; then
  status=0
  output="$(env -u MAX_CUDA_LIBRARY "$here/run")" || status=$?
  [[ $status == 77 && "$output" == *"there is no NVIDIA GPU"* ]] || { echo "without a GPU: $status, $output"; exit 1; }
fi

written="$(mktemp -d)"
trap 'rm -rf "$written"' EXIT
output="$("$here/run" --fake "$build" --results "$written")" || { echo "on the fake driver: $output"; exit 1; }
for text in "# MAX on Fake CUDA device 0" "| conformance_kernels | passed |" "ns per launch" "GB/s" \
  "## Models on Fake CUDA device 0" "| digits | bf16 |" "| 64 | tf32 |"; do
  [[ "$output" == *"$text"* ]] || { echo "the report lacks '$text':"; echo "$output"; exit 1; }
done
[[ "$output" != *failed* ]] || { echo "something failed:"; echo "$output"; exit 1; }
for file in report.md models.md conformance_kernels.log launch_bench.log; do
  [[ -s "$written/$file" ]] || { echo "there is no $file in the folder of results"; exit 1; }
done
[[ "$(cat "$written/report.md")" == "$output" ]] || { echo "report.md is not what was printed"; exit 1; }

# The page of a comparison that is cut off has what was measured by then.
(cd "$here/../../benchmarks/gpu" && PYTHONDONTWRITEBYTECODE=1 python3 - <<'PYTHON') || { echo "a page of what was measured by then"; exit 1; }
import argparse
import compare

compare.measure_max = lambda arguments, model, shapes, limits, precision: {"f32": 1.5, "tf32": 1.0, "bf16": 0.5}[precision]
compare.measure_peer = lambda library, requests: [3.0 if request["precision"] == "f32" else "broken" for request in requests]
compare.peers.LIBRARIES = {"peer": "Peer"}
compare.peers.present = lambda precision, model: ["peer"]
table = compare.models_table(argparse.Namespace(build=".", check=False, rounds=2), "Chip")
assert table.lines() == []
steps = table.measure(argparse.Namespace(check=False, rounds=2, seconds=0.1))
next(steps)
assert "| detector, 640 | f32 | 1.500 | - | - |" in table.lines(), table.lines()
next(steps)
assert "| detector, 640 | f32 | 1.500 | 3.000 | 2.00 |" in table.lines(), table.lines()
assert "| detector, 640 | bf16 | 0.500 | failed | - |" in table.lines(), table.lines()
assert not table.has_failed()
table.note(0, "max", "broken")
assert table.has_failed() and len(list(steps)) == 2
PYTHON

# One program that takes longer is given up, and the others still run.
status=0
output="$("$here/run" --fake "$build" --results "$written" --limit 0.01 2>/dev/null)" || status=$?
[[ $status == 1 && "$output" == *"| conformance_kernels | took longer than 0.01 s |"* ]] ||
  { echo "with a limit: $status, $output"; exit 1; }

# With programs that are there nothing is built, installed or fetched.
mkdir "$written/tools"
for tool in cmake ninja apt-get sudo pip; do
  printf '#!/bin/sh\necho "$0 $*" >>%s/used\nexit 1\n' "$written" >"$written/tools/$tool"
  chmod +x "$written/tools/$tool"
done
status=0
output="$(PATH="$written/tools:$PATH" MAX_CUDA_LIBRARY="$build/lib/fake/libcuda.so.1" \
  MAX_NVRTC_LIBRARY="$build/lib/fake/libnvrtc.so" "$here/run" --built "$build" --results "$written" --limit 0.5 2>&1)" || status=$?
[[ "$output" == *"# MAX on Fake CUDA device 0"* && ! -e "$written/used" && ($status == 0 || $status == 1) ]] ||
  { echo "with programs that are there: $status, $(cat "$written/used" 2>/dev/null), $output"; exit 1; }

[[ "$(ls "$results")" == "$before" ]] || { echo "figures of a fake were written to $results"; exit 1; }
