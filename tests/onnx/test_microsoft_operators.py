# SPDX-License-Identifier: Apache-2.0
"""docs/operators_microsoft.md against ONNX Runtime's list of its operators and against what the library takes."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

try:
    import onnxruntime
    from onnx import helper
    from onnxruntime.capi import onnxruntime_pybind11_state

    from test_microsoft import unsupported
except ImportError:
    onnxruntime = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/operators_microsoft.md").read_text()
COMMAND = os.environ.get("MAX_COMMAND", str(ROOT / "build/bin/max"))
DOMAIN = "com.microsoft"


def rows():
    """Operator: (loads, note)."""
    cells = (re.fullmatch(r"\| (\w+) \| (yes|no) \| (.*?) ?\|", line) for line in PAGE.splitlines())
    return {row[1]: (row[2] == "yes", row[3]) for row in cells if row}


def missing_here(names):
    """Those of the operators that the library says it does not have."""
    nodes = [helper.make_node(name, ["x"], [f"y{i}"], name, domain=DOMAIN) for i, name in enumerate(names)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [1])],
                              [helper.make_empty_tensor_value_info("y0")])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "all.onnx")
        path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
        told = json.loads(subprocess.run([COMMAND, "info", "--json", str(path)], check=True, capture_output=True).stdout)
    return {node["operator"].removeprefix(f"{DOMAIN}.") for node in told["unsupported"]}


@unittest.skipIf(onnxruntime is None, "needs onnx and onnxruntime")
class Page(unittest.TestCase):
    def test_has_the_operators_of_onnx_runtime(self):
        if f"ONNX Runtime {'.'.join(onnxruntime.__version__.split('.')[:2])}," not in PAGE:
            self.skipTest(f"the page is for another version than {onnxruntime.__version__}")
        schemas = onnxruntime_pybind11_state.get_all_operator_schema()
        self.assertEqual(set(rows()), {schema.name for schema in schemas if schema.domain == DOMAIN})
        self.assertEqual(list(rows()), sorted(rows(), key=str.lower))

    def test_says_what_the_library_takes(self):
        self.assertEqual({name for name, (loads, _) in rows().items() if not loads}, missing_here(list(rows())))

    def test_has_a_reason_for_each_no(self):
        self.assertFalse([name for name, (loads, note) in rows().items() if not loads and len(note) < 5])

    def test_names_options_that_are_refused(self):
        for option, case in unsupported():
            with self.subTest(f"{case.op} {option}"):
                self.assertIn(f"`{option}`" if "'" not in option else "activations", rows()[case.op][1])


if __name__ == "__main__":
    unittest.main()
