# SPDX-License-Identifier: Apache-2.0
"""The model suites of the package onnx (simple, pytorch-operator, pytorch-converted, light) through libmax.so.

Light models are the well-known networks with weights that nodes make; their data comes with the package. `real` names
the same networks with weights at addresses in the internet, so these are left out.

`test_model_suites.py FILTER` runs the cases whose names contain FILTER."""

import collections
import pathlib
import sys
import unittest

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.loader import load_model_tests
    import library
    from test_nodes import agrees
except ImportError:
    onnx = None

SUITES = ("simple", "pytorch-operator", "pytorch-converted", "light")
# Cases that cannot pass, with the reason.
KNOWN = {}


def value_in(path, kind):
    content = path.read_bytes()
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
    return numpy_helper.to_array(onnx.TensorProto.FromString(content))


def values_in(folder, name, infos):
    files = sorted(folder.glob(f"{name}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    return [value_in(path, info.type.WhichOneof("value")) for path, info in zip(files, infos)]


class Case:
    def __init__(self, suite, name, path, case):
        self.suite, self.name, self.path, self.rtol, self.atol = suite, name, path, case.rtol, case.atol

    def data_sets(self, model):
        initializers = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in initializers]
        if self.suite == "light":
            expected = numpy_helper.to_array(onnx.TensorProto.FromString(
                self.path.with_name(self.path.stem + "_output_0.pb").read_bytes()))
            return [([counting(value) for value in inputs], [expected])]
        return [(values_in(folder, "input", inputs), values_in(folder, "output", model.graph.output))
                for folder in sorted(self.path.parent.glob("test_data_set_*"))]


def counting(value):
    """The input that the expected outputs of light models were made with."""
    shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
    count = int(np.prod(shape))
    return (np.arange(count).reshape(shape) / count).astype(np.float32)


def all_cases(part=""):
    data = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    for suite in SUITES:
        for case in load_model_tests(kind="real" if suite == "light" else suite):
            path = data / suite / (pathlib.Path(case.url).name if suite == "light" else f"{case.name}/model.onnx")
            if part in case.name:
                yield Case(suite, case.name, path, case)


def problem_of(actual, expected, case):
    if len(actual) != len(expected):
        return f"{len(actual)} values instead of {len(expected)}"
    for i, (mine, wanted) in enumerate(zip(actual, expected)):
        if isinstance(wanted, list):
            problem = problem_of(mine, wanted, case)
        else:
            problem = agrees(mine, wanted, case)
        if problem:
            return f"output {i}: {problem}"
    return ""


def run_case(case):
    """(outcome, detail): passed, failed or known."""
    if case.name in KNOWN:
        return "known", KNOWN[case.name]
    proto = onnx.load(case.path)
    try:
        model = library.Model(case.path.read_bytes())
        for inputs, expected in case.data_sets(proto):
            problem = problem_of(model.run(inputs), expected, case)
            if problem:
                return "failed", problem
    except library.Failure as failure:
        return "failed", str(failure)
    return "passed", ""


@unittest.skipUnless(onnx, "onnx and numpy are not installed")
class Suites(unittest.TestCase):
    def test_all_cases(self):
        counts, failed = collections.defaultdict(collections.Counter), []
        for case in all_cases():
            outcome, detail = run_case(case)
            counts[case.suite][outcome] += 1
            if outcome == "failed":
                failed.append(f"{case.suite} {case.name}: {detail}")
        for suite in SUITES:
            print(suite, dict(counts[suite]))
        self.assertFalse(failed, "\n" + "\n".join(failed))
        self.assertEqual([sum(counts[suite].values()) for suite in SUITES], [23, 35, 82, 9])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for shown in all_cases(sys.argv[1]):
            print(shown.suite, shown.name, *run_case(shown))
    else:
        unittest.main()
