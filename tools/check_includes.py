# SPDX-License-Identifier: Apache-2.0
"""Checks that every source folder includes only what it may: the layering of docs/architecture.md."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder -> the folders below src/ whose headers it may include, besides its own and include/max.
ALLOWED = {
    "base": set(),
    "device": {"base"},
    "kernel": {"base", "device"},
    "graph": {"base"},
    "ops": {"base", "device", "kernel", "graph"},
    "onnx": {"base", "graph"},
    "compiler": {"base", "graph", "ops"},
    "executor": {"base", "device", "kernel", "graph", "ops", "compiler"},
    "extension": {"base", "device", "kernel", "graph", "ops", "executor"},
    "loader": {"base", "device", "kernel", "graph", "ops", "onnx", "compiler", "executor", "extension"},
    "capi": {"base", "device", "kernel", "graph", "ops", "onnx", "compiler", "executor", "extension", "loader"},
    "cli": set(),
}
# What a folder may include beyond: the command is written on the C API, but prints and writes files as the library does.
ALLOWED_FILES = {"cli": {"base/error.h", "base/file.h", "base/new_file.h", "base/printable.h"}}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"|^\s*#\s*define\s+HWY_TARGET_INCLUDE\s+"([^"]+)"', re.M)


def included_folder(name):
    """The source folder that an include names; None for public headers and files beside the includer."""
    first, _, rest = name.partition("/")
    return first if rest and first in ALLOWED else None


def violations():
    for path in sorted((ROOT / "src").rglob("*.[ch]*")):
        folder = path.relative_to(ROOT / "src").parts[0]
        if folder not in ALLOWED:
            yield f"{path.relative_to(ROOT)}: folder {folder} is not in the table of {pathlib.Path(__file__).name}"
            continue
        for match in INCLUDE.finditer(path.read_text()):
            name = match.group(1) or match.group(2)
            target = included_folder(name)
            if name in ALLOWED_FILES.get(folder, ()):
                continue
            if target and target != folder and target not in ALLOWED[folder]:
                yield f"{path.relative_to(ROOT)}: {folder} must not include {target} ({match.group(0).strip()})"


def main():
    found = list(violations())
    print("\n".join(found) if found else "includes follow the table")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
