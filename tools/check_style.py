# SPDX-License-Identifier: Apache-2.0
"""Checks what clang-format cannot: licence lines, lengths of files and functions, left-over notes, teardowns
that cannot fail."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = {".c", ".cpp", ".h", ".py", ".sh", ".cmake", ".go", ".rs"}
NAMES = {"CMakeLists.txt", "dev", ".ci/run"}
MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 80
# The command prints through one file, which escapes what models hold.
PRINTER, PRINTS = "src/cli/output.", re.compile(r"\b(v?f?printf|f?puts|f?putc|putchar|fwrite|cout|cerr|clog)\b")
# A group's teardown can only fail through RUN_GROUP of tests/capi/check.h.
DEAF_GROUP = re.compile(r"\bcmocka_run_group_tests(_name)?\((?!.*NULL\))")
LEFT_OVER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
SCOPE = re.compile(r"^\s*(inline\s+)?(namespace|struct|class|union|enum|extern\s+\"C\"|typedef\s+struct|HWY_)")
STRIP = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def tracked_files():
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                             check=True)
    for name in listing.stdout.split("\n"):
        path = ROOT / name
        if path.is_file() and (path.suffix in SUFFIXES or name in NAMES or path.name in NAMES):
            yield path


def without_text(source):
    """The source with comments and literals blanked, line numbers kept."""
    return STRIP.sub(lambda match: "\n" * match.group(0).count("\n") or " ", source)


def long_functions(source):
    """(first line, length) of every outermost block that is not a namespace, type or table and is too long."""
    lines = without_text(source).split("\n")
    stack, statement = [], ""
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            continue
        for char in line:
            if char == "{":
                stack.append((number, is_function(statement), any(entry[1] for entry in stack)))
                statement = ""
            elif char == "}" and stack:
                start, function, nested = stack.pop()
                if function and not nested and number - start > MAX_FUNCTION_LINES:
                    yield start, number - start
                statement = ""
            elif char == ";":
                statement = ""
            else:
                statement += char
        statement += "\n"


def is_function(statement):
    text = statement.strip()
    # The main function of a C test is a table of its tests.
    return bool(text) and not SCOPE.match(text) and not text.endswith("=") and ")" in text and "main(void)" not in text


def problems(path):
    source = path.read_text()
    name = path.relative_to(ROOT)
    lines = source.count("\n")
    if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(source.split("\n", 4)[:4]):
        yield f"{name}:1: no SPDX licence line"
    if lines > MAX_FILE_LINES:
        yield f"{name}: {lines} lines, more than {MAX_FILE_LINES}"
    if path.suffix == ".h" and "src" in name.parts and "#pragma once" not in source and "-inl" not in path.name \
            and "#ifndef" not in source:
        yield f"{name}: no #pragma once"
    for number, line in enumerate(source.split("\n"), 1):
        if LEFT_OVER.search(line):
            yield f"{name}:{number}: left-over note: {line.strip()}"
        if path.suffix == ".c" and DEAF_GROUP.search(line):
            yield f"{name}:{number}: a group's teardown cannot fail there; use RUN_GROUP: {line.strip()}"
    if str(name).startswith("src/cli/") and not str(name).startswith(PRINTER):
        for number, line in enumerate(without_text(source).split("\n"), 1):
            if PRINTS.search(line):
                yield f"{name}:{number}: prints; only {PRINTER}cpp may: {line.strip()}"
    if path.suffix in {".c", ".cpp", ".h"}:
        for start, length in long_functions(source):
            yield f"{name}:{start}: a function of {length} lines, more than {MAX_FUNCTION_LINES}"


def main():
    found = [problem for path in tracked_files() for problem in problems(path)]
    print("\n".join(found) if found else "style holds")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
