# SPDX-License-Identifier: Apache-2.0
"""What programs in any language rely on: headers, layouts, numbers, symbols, and a library that loads quietly.

Run as: test_abi.py LIBRARY. With --update it writes abi.txt, the record that a change of the ABI must change too.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import headers

RECORD = pathlib.Path(__file__).with_name("abi.txt")
DIALECTS = {"c11": "c", "c++20": "c++"}
WARNINGS = ("-Wall -Wextra -Wpedantic -Werror -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wundef "
            "-Wwrite-strings -Wunused-macros").split()
C_WARNINGS = "-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition".split()
COMPILERS = [pair for pair in (("gcc", "g++"), ("clang", "clang++")) if all(map(shutil.which, pair))]
LIBRARY = None


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def compile_text(compiler, dialect, text, *flags):
    extra = C_WARNINGS if dialect == "c11" else []
    return run(compiler, f"-std={dialect}", "-x", DIALECTS[dialect], *WARNINGS, *extra, "-I", headers.INCLUDE,
               "-", "-x", "none", *flags, input=text)


def run_program(text):
    """Compiles a C11 program against the library and returns what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        built = compile_text(COMPILERS[0][0], "c11", text, "-o", program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}")
        assert built.returncode == 0, built.stderr
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def current_record():
    """Everything whose change breaks a program that was built before."""
    lines = ['#include <stdio.h>', '#include "max/max.h"', '#include "max/experimental.h"', "int main(void) {"]
    for name, fields in sorted(headers.structures().items()):
        lines.append(f'  printf("struct {name} %zu\\n", sizeof({name}));')
        for field in fields:
            lines.append(f'  printf("  %zu %zu {field}\\n", offsetof({name}, {field}), '
                         f"sizeof((({name}*)0)->{field}));")
    for name in headers.constants():
        lines.append(f'  printf("{name} %lld\\n", (long long){name});')
    lines += ["  return 0;", "}"]
    functions = {**headers.functions(), **headers.functions("MAX_EXTENSION_API")}
    prototypes = "".join(f"{declaration}\n" for _, declaration in sorted(functions.items()))
    return run_program("\n".join(lines) + "\n") + prototypes


class Headers(unittest.TestCase):
    def test_each_alone_in_both_languages_twice_included(self):
        for c_compiler, cxx_compiler in COMPILERS:
            for dialect, compiler in (("c11", c_compiler), ("c++20", cxx_compiler)):
                for header in headers.HEADERS:
                    include = f'#include "max/{header.name}"\n'
                    with self.subTest(header=header.name, compiler=compiler):
                        built = compile_text(compiler, dialect, include * 2, "-fsyntax-only")
                        self.assertEqual(built.returncode, 0, built.stderr)

    def test_max_h_includes_all_but_experimental(self):
        included = set(re.findall(r'#include "max/(\w+\.h)"', (headers.INCLUDE / "max/max.h").read_text()))
        self.assertEqual(included, {h.name for h in headers.HEADERS} - {"max.h", "experimental.h"})

    def test_nothing_that_bindings_cannot_express(self):
        forbidden = (r"\bunion\b", r"\benum\b", r"\blong\b", r"\.\.\.", r"\binline\b", r"\w+\s*:\s*\d+\s*;",
                     r"\bbool\b", r"\bva_list\b")
        for header in headers.HEADERS:
            code = headers.text_of(header)
            for pattern in forbidden:
                self.assertIsNone(re.search(pattern, code), f"{header.name} contains {pattern}")

    def test_functions_return_a_status(self):
        others = re.compile(r"max\w+(Retain|Release)$|maxStatusGetName$|maxGetLastErrorMessage$|maxDTypeGet\w+$|"
                            r"maxGet(Abi)?Version$")
        for name, declaration in headers.functions().items():
            self.assertTrue(declaration.startswith("MaxStatus ") or others.match(name), declaration)

    def test_the_function_of_an_extension_is_declared_and_exported(self):
        """Its author gets the compiler's check and default visibility from the header; the library has no such function."""
        self.assertEqual(list(headers.functions("MAX_EXTENSION_API")), ["maxExtensionGetTable"])
        text = '#include "max/extension.h"\n%s maxExtensionGetTable(int32_t version) { (void)version; return 0; }\n'
        for (compiler, _), result, status in ((COMPILERS[0], "const MaxExtensionTable*", 0), (COMPILERS[0], "int", 1)):
            with tempfile.TemporaryDirectory() as folder:
                library = pathlib.Path(folder) / "library.so"
                built = compile_text(compiler, "c11", text % result, "-shared", "-fPIC", "-fvisibility=hidden", "-o", library)
                self.assertEqual(built.returncode, status, built.stderr)
                if status == 0:
                    self.assertIn("maxExtensionGetTable", run("nm", "-D", "--defined-only", library).stdout)

    def test_every_function_says_since_when(self):
        for header in headers.HEADERS:
            text = header.read_text()
            for match in re.finditer(r"/\*\*((?:(?!\*/).)*)\*/\s*MAX_API[^;]*?(\w+)\(", text, flags=re.S):
                self.assertIn("@since 0.", match.group(1), match.group(2))
            documented = len(re.findall(r"\*/\s*MAX_API", text))
            self.assertEqual(documented, len(re.findall(r"^MAX_API", text, flags=re.M)), header.name)


class Structures(unittest.TestCase):
    def test_init_macros(self):
        """Each sets structSize and leaves the rest, padding included, zero: there is no hidden padding."""
        checks = []
        for name, fields in headers.structures().items():
            self.assertEqual(fields[0], "structSize", name)
            macro = headers.init_macro_of(name)
            self.assertIn(macro, headers.init_macros())
            sizes = " + ".join(f"sizeof(value.{field})" for field in fields)
            checks.append(f"""  {{
    const {name} value = {macro};
    const unsigned char* bytes = (const unsigned char*)&value;
    for (size_t i = sizeof(size_t); i < sizeof value; ++i)
      if (bytes[i] != 0) puts("{macro} sets more than structSize");
    if (value.structSize != sizeof value) puts("{macro} has a wrong structSize");
    if ({sizes} != sizeof value) puts("{name} has padding that is not explicit");
  }}""")
        program = ('#include <stdio.h>\n#include "max/max.h"\n#include "max/experimental.h"\nint main(void) {\n' +
                   "\n".join(checks) + "\n  return 0;\n}\n")
        self.assertEqual(run_program(program), "")
        self.assertEqual(len(headers.init_macros()), len(headers.structures()))

    def test_init_macros_in_cxx(self):
        text = '#include "max/max.h"\n' + "".join(
            f"{name} make{name}();\n{name} make{name}() {{ {name} value = {headers.init_macro_of(name)}; return value; }}\n"
            for name in headers.structures())
        for _, compiler in COMPILERS:
            built = compile_text(compiler, "c++20", text, "-fsyntax-only", "-Wno-missing-declarations")
            self.assertEqual(built.returncode, 0, built.stderr)

    def test_reports_say_which_fields_they_know(self):
        """A report is a structure that a function fills."""
        structures = headers.structures()
        filled = {name for declaration in headers.functions().values()
                  for name in re.findall(r"(?<!const )\b(Max\w+)\* \w+", declaration) if name in structures}
        self.assertGreater(len(filled), 4)
        self.assertEqual([name for name in sorted(filled) if structures[name][1] != "validMask"], [])

    def test_nothing_that_programs_rely_on_has_changed(self):
        self.maxDiff = None
        self.assertEqual(current_record(), RECORD.read_text(), "run test_abi.py --update if this change is meant")


class Library(unittest.TestCase):
    def test_every_declared_symbol_links(self):
        names = sorted(headers.functions())
        uses = "\n".join(f"    (void (*)(void)){name}," for name in names)
        program = ('#include <stdio.h>\n#include "max/max.h"\n#include "max/experimental.h"\n'
                   f"static void (*const all[])(void) = {{\n{uses}\n}};\n"
                   'int main(void) {\n  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)\n'
                   '    if (!all[i]) puts("missing");\n  return 0;\n}\n')
        self.assertEqual(run_program(program), "")

    def test_exports_what_the_headers_declare_and_nothing_else(self):
        lines = run("nm", "-D", "--extern-only", "--defined-only", LIBRARY).stdout.split("\n")
        symbols = {line.split()[-1] for line in lines if line.strip()} - {"MAX_0"}
        self.assertEqual({symbol.split("@")[0] for symbol in symbols}, set(headers.functions()))
        self.assertEqual({symbol.split("@@")[-1] for symbol in symbols}, {"MAX_0"})

    def test_needs_libc_libm_and_the_loader(self):
        needed = re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-dW", LIBRARY).stdout)
        if any("san.so" in name for name in needed):
            self.skipTest("built with a sanitizer")
        allowed = re.compile(r"libc\.so\.6|libm\.so\.6|ld-linux.*\.so\.\d+")
        self.assertEqual([name for name in needed if not allowed.fullmatch(name)], [])

    def test_is_never_unloaded_and_named_by_its_abi(self):
        dynamic = run("readelf", "-dW", LIBRARY).stdout
        self.assertRegex(dynamic, r"FLAGS_1.*NODELETE")
        self.assertRegex(dynamic, r"SONAME.*\[libmax\.so\.0\]")
        self.assertNotRegex(dynamic, r"RPATH|RUNPATH|TEXTREL")

    def test_loading_starts_no_thread_and_prints_nothing(self):
        script = f"""
import ctypes, os, signal
def state():
    return (len(os.listdir('/proc/self/task')), dict(os.environ), os.listdir('/proc/self/fd'),
            [signal.getsignal(s) for s in range(1, 32)], os.getcwd())
before = state()
library = ctypes.CDLL({str(LIBRARY)!r})
library.maxGetAbiVersion()
assert state() == before, (before, state())
"""
        environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
        loaded = run(sys.executable, "-c", script, env=environment)
        if "Sanitizer" in loaded.stderr or "ASan runtime" in loaded.stderr:
            self.skipTest("built with a sanitizer")
        self.assertEqual((loaded.returncode, loaded.stdout, loaded.stderr), (0, "", ""))


if __name__ == "__main__":
    LIBRARY = pathlib.Path([argument for argument in sys.argv[1:] if argument != "--update"][0]).resolve()
    if "--update" in sys.argv:
        RECORD.write_text(current_record())
    else:
        unittest.main(argv=sys.argv[:1])
