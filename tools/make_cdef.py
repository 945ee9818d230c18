# SPDX-License-Identifier: Apache-2.0
"""Prints the public headers as cffi's cdef takes them: make_cdef.py [HEADER...], by default max.h and experimental.h.

Nothing is listed by hand: what max.h includes is followed in its order, comments and conditions of the preprocessor go,
numbers stay as they are, texts become constants, and macros that stand for anything else are dropped with their uses.
"""

import pathlib
import re
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[1] / "include"
DEFAULT = ("max/max.h", "max/experimental.h")
NUMBER = re.compile(r"-?(0x[0-9a-fA-F]+|\d+)$")
TEXT = re.compile(r'"[^"]*"$')
# A function that others define: there is nothing to link with.
FOREIGN = "MAX_EXTENSION_API"


def logical_lines(path):
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.S)
    return re.sub(r"//[^\n]*", "", text).replace("\\\n", " ").splitlines()


class Preprocessor:
    """As much of it as these headers use: guards, __cplusplus, __GNUC__."""

    def __init__(self):
        self.seen = set()
        self.dropped = set()  # names of macros that are not constants
        self.lines = []

    def read(self, name):
        if name in self.seen or not (INCLUDE / name).exists():
            return
        self.seen.add(name)
        conditions = []
        for line in logical_lines(INCLUDE / name):
            directive = re.match(r"\s*#\s*(\w+)\s*(.*)", line)
            if directive is None:
                if all(conditions):
                    self.lines.append(line.rstrip())
            elif directive[1] in ("if", "ifdef", "ifndef"):
                conditions.append("__cplusplus" not in directive[2])
            elif directive[1] == "else":
                conditions[-1] = not conditions[-1]
            elif directive[1] == "endif":
                conditions.pop()
            elif all(conditions):
                self.take(directive[1], directive[2].strip())

    def take(self, directive, rest):
        if directive == "include":
            self.read(rest.strip('<>"'))
        if directive != "define":
            return
        name, _, value = rest.partition(" ")
        if NUMBER.match(value.strip()):
            self.lines.append(f"#define {name} {value.strip()}")
        elif TEXT.match(value.strip()):
            self.lines.append(f"static char* const {name};")
        else:
            self.dropped.add(name)


def cdef(headers=DEFAULT):
    preprocessor = Preprocessor()
    for header in headers:
        preprocessor.read(header)
    text = "\n".join(preprocessor.lines)
    text = re.sub(rf"\b{FOREIGN}\b[^;]*;", "", text)
    for name in sorted(preprocessor.dropped):
        text = re.sub(rf"\b{name}\b ?", "", text)
    return re.sub(r"\n\s*\n+", "\n", text).strip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(cdef(sys.argv[1:] or DEFAULT))
