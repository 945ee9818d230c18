#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The README's own words, followed where nobody has been before: its program and its commands to build it, in a root that holds
# the system's programs, the build tree and an empty home, without network or environment. test_readme.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build="$1" source="$2"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
bwrap --unshare-all --ro-bind / / true 2>/dev/null || { echo "skipped: namespaces are not allowed here"; exit 77; }

# block LANGUAGE: the first block of the README in a language that is about the program.
block() {
  awk -v open="^\`\`\`$1\$" '$0 ~ open { inside = 1; text = ""; next }
    inside && /^```$/ { if (text ~ /program/ || text ~ /int main/) { printf "%s", text; exit } inside = 0 }
    inside { text = text $0 "\n" }' "$source/README.md"
}
block c >"$scratch/program.c"
block sh >"$scratch/commands.sh"
grep -q 'cmake --install' "$scratch/commands.sh" || { echo "the README does not say how to install"; exit 1; }

# The commands are typed in the repository, the program lies there too.
mkdir "$scratch/home" "$scratch/project"
cp "$scratch/program.c" "$scratch/project"
ln -s "$build" "$scratch/project/build"
bwrap --unshare-all --die-with-parent --clearenv --setenv PATH /usr/bin:/bin --setenv HOME /home/user \
  --ro-bind /usr /usr --ro-bind /etc /etc --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
  --proc /proc --dev /dev --tmpfs /tmp --ro-bind "$source" "$source" --bind "$build" "$build" \
  --bind "$scratch/home" /home/user --bind "$scratch/project" /home/user/project --chdir /home/user/project \
  bash -e "/dev/fd/3" 3<"$scratch/commands.sh" >"$scratch/output" 2>&1 || { cat "$scratch/output"; exit 1; }
grep -q '^an empty image is a 1 with probability 0\.' "$scratch/output" || { cat "$scratch/output"; exit 1; }

# What the README promises to be there is there, and the documents' links lead somewhere.
tree="$scratch/home/max"
for file in include/max/max.h bin/max lib/libmax.so lib/cmake/max/maxConfig.cmake lib/pkgconfig/max.pc \
  share/doc/max/README.md share/doc/max/LICENSE share/doc/max/docs/architecture.md share/doc/max/examples/c/digits.c; do
  [[ -e "$tree/$file" ]] || { echo "not installed: $file"; exit 1; }
done
missing=0
while read -r page; do
  for link in $(sed '/^```/,/^```/d; s/`[^`]*`//g' "$page" | grep -oP '\]\(\K(?![a-z]+://)[^)#\s]+'); do
    [[ -e "$(dirname "$page")/$link" ]] || { echo "$page links to $link, which is not installed"; missing=1; }
  done
done < <(find "$tree/share/doc/max" -name '*.md')
exit $missing
