# SPDX-License-Identifier: Apache-2.0
"""Every C program in README.md, docs/ and the public headers is compiled and run; links and commands must exist, and
tables that repeat numbers of other files must agree with them."""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import tables  # noqa: E402

LIBRARY = pathlib.Path(os.environ.get("MAX_LIBRARY", ROOT / "build/lib/libmax.so"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
SKETCH = re.compile(r"^/\*\*\n \* @file .*?^ \*/$", re.M | re.S)
# What the programs print where it is worth comparing.
OUTPUTS = {"docs/weights.md": "9\n12\n15\n", "docs/devices.md": "1.5\n"}
CODE = re.compile(r"`[^`\n]+`")  # in which brackets are not links, as in blocks
PATH = re.compile(r"`((?:benchmarks|bindings|cmake|docs|examples|include|src|tests|tools)/[\w./*-]*)`")
OTHERS_PATHS = {"src/main.rs", "benchmarks/results/gpu-NAME.md"}  # of a reader's project; not made yet
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def blocks(language):
    for page in PAGES:
        for number, match in enumerate(BLOCK.finditer(page.read_text()), 1):
            if match.group(1) == language:
                yield f"{page.relative_to(ROOT)} block {number}", match.group(2)


def programs_of_headers():
    """The sketches at the top of headers that are whole programs."""
    for header in sorted((ROOT / "include/max").glob("*.h")):
        comment = SKETCH.search(header.read_text()).group(0)
        lines = re.findall(r"^ \*(?:     (.*))?$", comment, re.M)
        sketch = "\n".join(lines).strip("\n") + "\n"
        if "int main(" in sketch:
            yield header.name, sketch


def write_weights(path):
    """A .safetensors file with linear.weight, float32[2, 3]: 1 to 6."""
    header = json.dumps({"linear.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<6f", *range(1, 7)))


class Snippets(unittest.TestCase):
    def test_c_programs_run(self):
        """They run in a folder that holds the digits model and a file of weights."""
        self.assertIn("kernel.h", dict(programs_of_headers()))
        for name, source in [*blocks("c"), *programs_of_headers()]:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                shutil.copy(ROOT / "examples/digits/digits.onnx", folder)
                write_weights(pathlib.Path(folder) / "weights.safetensors")
                program = pathlib.Path(folder) / "program.c"
                program.write_text(source)
                subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", program, "-o",
                                program.with_suffix(""), f"-I{ROOT}/include", f"-L{LIBRARY.parent}", "-lmax",
                                f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
                done = subprocess.run([program.with_suffix("")], cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.endswith(OUTPUTS.get(name.split()[0], "")), done.stdout)

    def test_readme_has_a_program_of_a_screen(self):
        programs = [source for name, source in blocks("c") if name.startswith("README")]
        self.assertEqual(len(programs), 1)
        self.assertLessEqual(programs[0].count("\n"), 32)

    def test_links_lead_somewhere(self):
        for page in PAGES:
            for target in LINK.findall(CODE.sub("", BLOCK.sub("", page.read_text()))):
                if "://" not in target:
                    self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")

    def test_paths_exist(self):
        """Names of files in code, with or without wildcards."""
        for page in PAGES:
            for path in re.findall(PATH, BLOCK.sub("", page.read_text())):
                if path not in OTHERS_PATHS:
                    self.assertTrue(any(ROOT.glob(path.rstrip("/"))), f"{page.name}: {path}")

    def test_cpu_targets_are_listed(self):
        """Each target, and each file with code for a particular one."""
        folder, page = ROOT / "src/ops/cpu", (ROOT / "docs/adding_a_cpu_target.md").read_text()
        names = re.search(r"(?s)kNames = {(.*?)};", (folder / "target.cpp").read_text()).group(1)
        environment = re.search(r"\| `MAX_CPU_TARGET` .*", (ROOT / "docs/environment.md").read_text()).group(0)
        for name in re.findall(r'"(\w+)"', names):
            self.assertIn(f"| `{name}` |", page)
            self.assertIn(f"`{name}`", environment)
        particular = {str(path.relative_to(ROOT)) for path in folder.rglob("*.*")
                      if re.search(r"HWY_TARGET [!=<]= HWY_|CpuTarget::", path.read_text())}
        particular -= {f"src/ops/cpu/{name}" for name in ("target.h", "target.cpp", "dispatch.h")}
        self.assertEqual(set(re.findall(r"^\| `(src/ops/cpu/[^`]*)` \|", page, re.M)), particular)

    def test_commands_exist(self):
        usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
        for page in PAGES:
            for command in re.findall(r"\./dev (\w+)", page.read_text()):
                self.assertRegex(usage, rf"(?m)^  {command} ", page.name)

    def test_environment_variables_are_listed(self):
        read = set()
        for path in (ROOT / "src").rglob("*.[ch]*"):
            read |= set(re.findall(r'getenv\("(\w+)"\)', path.read_text()))
            read |= set(re.findall(r'"(MAX_\w+_LIBRARY)"', path.read_text()))
        listed = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/environment.md").read_text(), re.M))
        self.assertEqual(listed, read)

    def test_bounds_are_those_that_are_tested(self):
        """The table of numerics.md beside that of tests/unit/bounds.h."""
        rows = re.findall(r"^\| \*\*(\w+)\*\*[^|]*((?:\| [^|]+ )+)\|$", (ROOT / "docs/numerics.md").read_text(), re.M)
        written = {name: cells.replace("\N{EN DASH}", "kNone").strip("| ").split(" | ") for name, cells in rows}
        header = (ROOT / "tests/unit/bounds.h").read_text()
        tested = {name: numbers.split(", ") for name, numbers in re.findall(r'Bounds \w+{"(\w+)", ([^}]+)}', header)}
        self.assertEqual(written, tested)

    def test_readme_shows_the_speed_that_was_measured(self):
        readme, results = (ROOT / "README.md").read_text(), (ROOT / "benchmarks/results/cpu.md").read_text()
        self.assertEqual(tables.SPEED.search(readme).group(0), tables.readme_table(results), "./dev bench writes both")
        cases = re.findall(r'^    Case\("([^"]+)"', (ROOT / "benchmarks/cases.py").read_text(), re.M)
        self.assertEqual(list(dict.fromkeys(row["model"] for row in tables.rows_of(results))), cases)


if __name__ == "__main__":
    unittest.main()
