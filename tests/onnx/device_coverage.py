# SPDX-License-Identifier: Apache-2.0
"""docs/operators_devices.md: which operators run on accelerators, by ONNX's node tests on the fake drivers.

`device_coverage.py API` compares the page with what the tests give there: each case that passes on the CPU must pass,
and where operators run must not change unnoticed. `--update` writes the page. `--list PATTERN` runs the cases whose
names it matches, and says which operators of theirs ran on the host; `-v` says so for each."""

import collections
import ctypes
import re
import sys
import unittest
import warnings

API = sys.argv[1] if len(sys.argv) > 1 else "cuda"
try:
    import onnx
    import device_library
    import library
    import test_nodes
    import test_operators
    from onnx.backend.test.loader import load_model_tests
    PAGE = library.ROOT / "docs/operators_devices.md"
except ImportError:
    onnx = None

REPORT = re.compile(r"(\d+) of \d+ operators run on \S+; on the host \d+(?:: (.*))?")
MESSAGE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)
INFO = 30
LEAST_SHARE = 0.9  # of the operators that could run on a device

# What stays on the host, and why.
HOST = {
    "control flow": ["If", "Loop", "Scan", "SequenceMap"],
    "strings": ["StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch", "TfIdfVectorizer"],
    "sequences and optionals": ["ConcatFromSequence", "Optional", "OptionalGetElement", "OptionalHasElement",
                                "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert",
                                "SequenceLength", "SplitToSequence"],
    "files": ["ImageDecoder"],
}

HEAD = """# Operators on accelerators

`tests/onnx/device_coverage.py cuda --update` writes this page from ONNX's node tests of `ai.onnx`, run with models on a fake accelerator; a test
fails if the page differs from what they give. All cases that [pass on the CPU](operators.md) pass there, too, whatever runs where.

**{there} of {all} operators run on a device ({share:.0%})**, not counting {kinds}, which stay on the host.
Operators with other types than a kernel has, or other options, run on the host between copies; a load says which
([devices](devices.md)).

"Where" is *device* if a case ran without the host, *partly* if only with it. *Plan* is for what needs no kernel: views, shapes, and integers
that become shapes. "On the device" counts the cases that needed no operator of the host; the last column names those of the others.

| operator | where | cases | on the device | on the host |
|---|---|---|---|---|
"""


class Reports:
    """What loads say: how many operators are on the device, and the names of those on the host."""

    def __init__(self):
        self.next()
        self.callback, token = MESSAGE(self.take), ctypes.c_uint64()
        library.call("maxLogAddCallback", self.callback, None, ctypes.c_int32(INFO), ctypes.byref(token))

    def take(self, _data, _level, text):
        found = REPORT.search(text.decode())
        if found:
            self.placed += int(found[1])
            self.names |= {name.split(" ")[0] for name in (found[2] or "").split(", ") if name}

    def next(self):
        result = getattr(self, "placed", 0), getattr(self, "names", set())
        self.placed, self.names = 0, set()
        return result


def run_cases(cases):
    """For each: the case, its outcome, the detail, the number of operators on the device, the names of the others."""
    reports = Reports()
    with device_library.used_by(test_nodes, API):
        return [(case, *test_nodes.run_case(case), *reports.next()) for case in cases]


def cases_matching(pattern):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the arithmetic in the cases
        return [case for case in load_model_tests(kind="node") if re.search(pattern, case.name)]


class Row:
    def __init__(self):
        self.passed = self.whole = 0
        self.placed = False
        self.wholly = False
        self.on_host = set()

    def add(self, placed, names):
        self.passed += 1
        self.placed |= placed > 0
        self.wholly |= placed > 0 and not names
        self.whole += not names
        self.on_host |= names

    def where(self):
        if self.wholly:
            return "device"
        return "partly" if self.placed else "host" if self.on_host else "plan" if self.passed else ""

    def __str__(self):
        return f"{self.where()} | {self.passed or ''} | {self.whole if self.passed else ''} | {', '.join(sorted(self.on_host))}"


class Table:
    def __init__(self):
        keys = test_operators.schemas_by_key()
        names = test_operators.Names(keys)
        self.rows = {name: Row() for domain, name in sorted(keys) if domain == "ai.onnx"}
        self.failed = []
        for case, outcome, detail, placed, on_host in run_cases(cases_matching("")):
            domain, name = names.operator_of(case)
            if outcome == "failed":
                self.failed.append(f"{case.name}: {detail}")
            elif outcome == "passed" and domain == "ai.onnx":
                self.rows[name].add(placed, on_host)
        host = {name for names in HOST.values() for name in names}
        self.possible = [row for name, row in self.rows.items() if name not in host and row.passed]
        self.there = sum(row.where() in ("device", "plan") for row in self.possible)

    def share(self):
        return self.there / len(self.possible)

    def page(self):
        lines = [f"| {name} | {row} |" for name, row in self.rows.items()]
        kinds = list(HOST)
        text = HEAD.format(there=self.there, all=len(self.possible), share=self.share(),
                           kinds=", ".join(kinds[:-1]) + " and " + kinds[-1])
        return text + re.sub(" +", " ", "\n".join(lines)) + "\n"


@unittest.skipUnless(onnx, "onnx and numpy are not installed")
class Coverage(unittest.TestCase):
    def test_page(self):
        table = Table()
        self.assertFalse(table.failed, "\n" + "\n".join(table.failed))
        passed = re.findall(r"^\| (\w+) \| ai\.onnx \| [^|]*\| (\d+) ", (library.ROOT / "docs/operators.md").read_text(), re.M)
        self.assertGreater(len(passed), 150)
        self.assertEqual({name: table.rows[name].passed for name, _ in passed}, {name: int(n) for name, n in passed},
                         "cases that pass on the CPU")
        self.assertGreaterEqual(table.share(), LEAST_SHARE)
        self.maxDiff = None
        self.assertEqual(table.page(), PAGE.read_text(), "device_coverage.py cuda --update writes the page anew")


def list_cases(pattern, says_all):
    outcomes, on_host = collections.Counter(), collections.Counter()
    for case, outcome, detail, placed, names in run_cases(cases_matching(pattern)):
        outcomes[outcome] += 1
        on_host.update(names)
        if outcome == "failed" or says_all:
            print(outcome, case.name, placed, *sorted(names), detail)
    print(dict(outcomes), on_host.most_common())


if __name__ == "__main__":
    if "--list" in sys.argv:
        list_cases(sys.argv[sys.argv.index("--list") + 1], "-v" in sys.argv)
    elif "--update" in sys.argv:
        PAGE.write_text(Table().page())
    else:
        unittest.main(argv=sys.argv[:1])
