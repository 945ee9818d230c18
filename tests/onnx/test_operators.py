# SPDX-License-Identifier: Apache-2.0
"""docs/operators.md: how many of ONNX's node tests pass for every operator, and why the others do not.

The page must say what the tests give; `test_operators.py --update` writes it anew."""

import collections
import pathlib
import re
import sys
import unittest
import warnings

try:
    import onnx
    from onnx.backend.test.loader import load_model_tests
    import library
    import test_nodes
except ImportError:
    onnx = None

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/operators.md"
LEAST_SHARE = 0.98  # of the cases that are neither training nor preview
HELPERS = ("Constant", "Cast", "CastLike", "Identity", "Reshape", "SequenceConstruct")  # around what a case is about
SHORT_NAMES = {"nllloss": "NegativeLogLikelihoodLoss", "sce": "SoftmaxCrossEntropyLoss", "sequencemap": "SequenceMap"}

HEAD = """# Operators

`tests/onnx/test_operators.py --update` writes this page from the node tests of the package `onnx` {version}. A test fails if the page
differs from what they give.

Models of opset {oldest} to {newest} load. A model of opset 1 to {old} loads if the library can read all of its operators in that version: they
mean the same as in opset {oldest}, or it can convert them. If not, the error names the nodes. The list is in `src/onnx/opset.cpp`.

**{passed} of {all} node tests pass ({share:.1%}).** Without the preview operators, among them those for training, it is {plain_passed} of
{plain_all} ({plain_share:.1%}). In the cases counted as "expanded", the function that defines an operator replaces it. An operator without
numbers has no node tests of its own. [Another page](operators_microsoft.md) lists ONNX Runtime's own operators.

ImageDecoder reads BMP (8, 24 and 32 bits, not compressed) and PNM (P1 to P6). JPEG, PNG, WebP, TIFF, GIF and JPEG 2000 are recognised and
refused by name: programs decode these before they call the model.

| operator | domain | versions | passed | all | expanded |
|---|---|---|---|---|---|
"""

TAIL = """
## Cases that do not pass

| case | reason |
|---|---|
"""


def opset_limits():
    """The versions that the importer reads in full: the oldest and the newest."""
    header = (library.ROOT / "src/onnx/import.h").read_text()
    return tuple(int(re.search(rf"\b{name} = (\d+);", header).group(1)) for name in ("kOldestOpset", "kMaxOpset"))


def domain_of(schema):
    return schema.domain or "ai.onnx"


def schemas_by_key():
    """(domain, name): the versions, oldest first."""
    versions = collections.defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        versions[domain_of(schema), schema.name].append(schema.since_version)
    return {key: sorted(numbers) for key, numbers in versions.items()}


def plain(name):
    return name.removeprefix("test_").split("_expanded")[0].replace("ai_onnx_ml_", "").replace("_", "").lower()


class Names:
    """Finds the operator that a case is about."""

    def __init__(self, keys):
        self.keys = keys
        self.by_plain_name = {name.lower(): (domain, name) for domain, name in keys}
        for short, name in SHORT_NAMES.items():
            self.by_plain_name[short] = ("ai.onnx", name)

    def operator_of(self, case):
        """By its nodes if one is named like the case; expanded cases have the name of what they expand."""
        nodes = [(node.domain or "ai.onnx", node.op_type) for node in case.model.graph.node]
        known = [key for key in nodes if key in self.keys]
        text = plain(case.name)
        named = [key for key in known if text.startswith(key[1].lower())]
        if named and "_expanded" not in case.name:
            return max(named, key=lambda key: len(key[1]))
        prefixes = [name for name in self.by_plain_name if text.startswith(name)]
        if prefixes:
            return self.by_plain_name[max(prefixes, key=len)]
        main = [key for key in known if key[1] not in HELPERS]
        return (main or known or [("ai.onnx", "Constant")])[0]


def is_special(key):
    return "preview" in key[0]


class Table:
    def __init__(self):
        keys = schemas_by_key()
        names = Names(keys)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the arithmetic in the cases
            cases = {case.name: case for case in load_model_tests(kind="node")}
        self.keys, self.others = keys, []
        self.passed, self.all, self.expanded = (collections.Counter() for _ in range(3))
        _, details = test_nodes.run_all()
        for outcome, name, detail in details:
            key = names.operator_of(cases[name])
            self.all[key] += 1
            self.passed[key] += outcome == "passed"
            self.expanded[key] += "_expanded" in name
            if outcome != "passed":
                self.others.append((name, reason_of(detail)))

    def share(self, wanted):
        passed = sum(count for key, count in self.passed.items() if wanted(key))
        every = sum(count for key, count in self.all.items() if wanted(key))
        return passed, every, passed / every

    def text(self):
        passed, every, share = self.share(lambda key: True)
        plain_passed, plain_all, plain_share = self.share(lambda key: not is_special(key))
        oldest, newest = opset_limits()
        text = HEAD.format(version=onnx.__version__, oldest=oldest, newest=newest, old=oldest - 1, passed=passed, all=every,
                           share=share, plain_passed=plain_passed, plain_all=plain_all, plain_share=plain_share)
        for key in sorted(self.keys, key=lambda key: (key[0], key[1].lower())):
            versions = ", ".join(map(str, self.keys[key]))
            numbers = f"{self.passed[key]} | {self.all[key]} | {self.expanded[key]}" if self.all[key] else " | | "
            text += f"| {key[1]} | {key[0]} | {versions} | {numbers} |\n"
        return text + TAIL + "".join(f"| {name} | {reason} |\n" for name, reason in sorted(self.others))


def reason_of(detail):
    text = detail.splitlines()[0] if detail else ""
    if "unsupported operator" in text:
        names = sorted({part.split(",")[0] for part in text.split("(")[1:]})
        return f"{', '.join(names)} is not supported"
    return text.removeprefix("model in memory: ").replace("|", "\\|")


@unittest.skipUnless(onnx, "onnx and numpy are not installed")
class Operators(unittest.TestCase):
    def test_page(self):
        table = Table()
        self.assertGreaterEqual(table.share(lambda key: not is_special(key))[2], LEAST_SHARE)
        readme, oldest = (library.ROOT / "README.md").read_text(), opset_limits()[0]
        self.assertIn(f"{table.share(lambda key: True)[2] * 100:.1f} % of ONNX's node tests pass", readme)
        self.assertIn(f"`ai.onnx` (opset {oldest} and newer)", readme)
        self.assertEqual(table.text(), PAGE.read_text(), "docs/operators.md is old; test_operators.py --update writes it")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(Table().text())
    else:
        unittest.main()
