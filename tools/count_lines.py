# SPDX-License-Identifier: Apache-2.0
"""Prints the number of lines per folder, so that growth is seen."""

import collections
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = {".c", ".cpp", ".h", ".py", ".sh", ".md", ".txt", ".cmake", ".go"}
TWO_LEVELS = {"src", "tests", "include", "bindings"}


def folder_of(path):
    depth = 2 if path.parts[0] in TWO_LEVELS else 1
    return "/".join(path.parts[:-1][:depth]) or "."


def main():
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files, lines = collections.Counter(), collections.Counter()
    for path in map(pathlib.PurePosixPath, listing.split("\n")):
        if path.suffix in SUFFIXES and (ROOT / path).is_file():
            files[folder_of(path)] += 1
            lines[folder_of(path)] += (ROOT / path).read_text().count("\n")
    for folder in sorted(lines):
        print(f"{folder:24} {files[folder]:5} files {lines[folder]:7} lines")
    print(f"{'all':24} {sum(files.values()):5} files {sum(lines.values()):7} lines")


if __name__ == "__main__":
    main()
