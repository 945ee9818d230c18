#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build tree, moves the result, and builds programs against it: test_install.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build="$1" source="$2"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/tree"
for file in include/max/max.h bin/max; do
  [[ -e "$scratch/tree/$file" ]] || { echo "not installed: $file"; exit 1; }
done
[[ -n "$(find "$scratch/tree/share" -name LICENSE)" ]] || { echo "not installed: LICENSE"; exit 1; }

cp -r "$source/tests/install/consumer" "$scratch/consumer"
cd "$scratch/consumer"
cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH="$scratch/tree" >/dev/null
cmake --build build >/dev/null
[[ "$(build/consumer)" == ok ]] || { echo "the CMake consumer failed"; exit 1; }

# In C and, since the headers promise both, in C++ through pkg-config.
package="$(find "$scratch/tree" -name max.pc)"
library="$(dirname "$(dirname "$package")")"
export PKG_CONFIG_PATH="$(dirname "$package")" LD_LIBRARY_PATH="$library"
# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Werror -pedantic consumer.c $(pkg-config --cflags --libs max) -o plain
[[ "$(./plain)" == ok ]] || { echo "the pkg-config consumer failed"; exit 1; }
# shellcheck disable=SC2046
c++ -std=c++20 -Wall -Wextra -Werror -pedantic -x c++ consumer.c $(pkg-config --cflags --libs max) -o plus
[[ "$(./plus)" == ok ]] || { echo "the C++ consumer failed"; exit 1; }
unset LD_LIBRARY_PATH
"$scratch/tree/bin/max" devices >/dev/null

# An extension is also an external project, and the installed library loads it.
cp -r "$source/examples/custom_operator" "$scratch/operator"
cmake -S "$scratch/operator" -B "$scratch/operator/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/tree" >/dev/null
cmake --build "$scratch/operator/build" >/dev/null
result="$("$scratch/operator/build/example_custom_operator" "$scratch/operator/build/libcustom_operator.so" \
  "$source/examples/custom_operator/model.onnx")"
[[ "$result" == "1.333 1.600 1.714" ]] || { echo "the extension failed: $result"; exit 1; }
