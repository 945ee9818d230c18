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

output="$("$here/run" --fake "$build")" || { echo "on the fake driver: $output"; exit 1; }
for text in "# MAX on Fake CUDA device 0" "| conformance_kernels | passed |" "ns per launch" "GB/s"; do
  [[ "$output" == *"$text"* ]] || { echo "the report lacks '$text':"; echo "$output"; exit 1; }
done
[[ "$output" != *failed* ]] || { echo "something failed:"; echo "$output"; exit 1; }
[[ "$(ls "$results")" == "$before" ]] || { echo "figures of a fake were written to $results"; exit 1; }
