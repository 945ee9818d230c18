# SPDX-License-Identifier: Apache-2.0
"""Writes the C source of the module max._raw: build.py OUTPUT. Its declarations are those of max.cdef, which
tools/make_cdef.py makes of the public headers, and the functions of support.c that need nothing of Python's."""

import pathlib
import re
import sys

import cffi

HERE = pathlib.Path(__file__).resolve().parent
STRUCTURES = """
struct maxPythonBorrowed { struct maxPythonBorrowed* next; ...; };
struct maxPythonForeign { struct maxPythonBorrowed borrowed; ...; };
extern "Python" void maxPythonCollect(void);
extern "Python" void maxPythonProgress(void* userData, double fraction, const char* phase);
extern "Python" void maxPythonMessage(void* userData, MaxLogLevel level, const char* message);
"""


def main(output: str) -> None:
    support = (HERE / "support.c").read_text()
    declared = re.findall(r"^static ([^{;]*\))(?= \{)", support, flags=re.M)
    builder = cffi.FFI()
    builder.cdef((HERE / "max.cdef").read_text())
    builder.cdef(STRUCTURES + "".join(f"{text};\n" for text in declared if "PyObject" not in text))
    builder.set_source("max._raw", support)
    builder.emit_c_code(output)


main(sys.argv[1])
