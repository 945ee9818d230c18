# SPDX-License-Identifier: Apache-2.0
"""ONNX's own node tests (package onnx, onnx.backend.test) through libmax.so.

Models with operators, types or kinds of values that the library does not have are skipped and counted; all others
must give the expected outputs. `test_nodes.py FILTER` runs the cases whose names contain FILTER and says more."""

import collections
import sys
import unittest
import warnings

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.loader import load_model_tests
    import library
    import random_cases
except ImportError:
    onnx = None

# Cases that cannot agree, with the reason.
KNOWN = {
    "test_resize_downsample_scales_linear_align_corners": "the size is a whole number here and in ONNX Runtime",
    "test_resize_downsample_scales_cubic_align_corners": "the size is a whole number here and in ONNX Runtime",
    "test_affine_grid_3d_expanded": "a branch that is not taken splits 5 elements into 4 parts",
    "test_affine_grid_3d_align_corners_expanded": "a branch that is not taken splits 5 elements into 4 parts",
}


def array_of(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def is_known(value):
    if isinstance(value, list):
        return all(map(is_known, value))
    if not isinstance(value, (np.ndarray, np.generic)):
        return value is None or isinstance(value, dict)
    return value.dtype.kind in "OU" or value.dtype.name in library.DTYPES


def agrees(actual, expected, case):
    """"" or what differs."""
    if isinstance(expected, (list, dict)):
        if type(actual) is not type(expected) or len(actual) != len(expected):
            return f"{actual} instead of {expected}"
        keys = expected if isinstance(expected, dict) else range(len(expected))
        return next(filter(None, (agrees(np.asarray(actual[key]), np.asarray(expected[key]), case) for key in keys)), "")
    if actual is None or expected is None:
        return "" if actual is expected else f"{actual} instead of {expected}"
    if expected.dtype.kind in "OU":
        same = actual.dtype.kind == "O" and actual.shape == expected.shape and actual.tolist() == texts(expected)
        return "" if same else f"{actual.tolist()} instead of {texts(expected)}"
    return numbers_agree(actual, expected, case)


def texts(array):
    return np.array([t.decode() if isinstance(t, bytes) else t for t in array.ravel()], object).reshape(
        array.shape).tolist()


def numbers_agree(actual, expected, case):
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"{actual.dtype}{list(actual.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind in "iub" or library.bits_of(expected.dtype):
        return "" if np.array_equal(actual, expected) else f"{actual.ravel()[:8]} instead of {expected.ravel()[:8]}"
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    # One step of a 16-bit type is more than the tolerance of the cases.
    rtol = max(case.rtol, {"float16": 2e-3, "bfloat16": 1.6e-2}.get(expected.dtype.name, 0))
    if np.allclose(a, e, rtol=rtol, atol=max(case.atol, 1e-6), equal_nan=True):
        return ""
    worst = np.nanargmax(np.abs(a - e)) if a.size else 0
    return f"{a.ravel()[worst]} instead of {e.ravel()[worst]} at {worst}"


def run_case(case):
    """(outcome, detail): passed, failed or skipped."""
    if case.name in KNOWN:
        return "skipped", KNOWN[case.name]
    data_sets = [[[array_of(value) for value in side] for side in sides] for sides in case.data_sets]
    if not all(is_known(value) for sides in data_sets for side in sides for value in side):
        return "skipped", "a value that is not a tensor of a known type"
    try:
        model = library.Model(case.model.SerializeToString())
        for inputs, expected in data_sets:
            if random_cases.is_random(case):
                problem = random_cases.problem(case, model, inputs, expected)
                return ("failed" if problem else "passed"), problem
            actual = model.run(inputs)
            if len(actual) != len(expected):
                return "failed", f"{len(actual)} outputs instead of {len(expected)}"
            for i, (a, e) in enumerate(zip(actual, expected)):
                problem = agrees(a, e, case)
                if problem:
                    return "failed", f"output {i}: {problem}"
    except library.Failure as failure:
        return ("skipped" if failure.status == library.UNIMPLEMENTED else "failed"), str(failure)
    return "passed", ""


def operator_of(case):
    return case.model.graph.node[0].op_type if case.model.graph.node else "none"


def run_all(text=""):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in load_model_tests(kind="node") if text in case.name]
    counts = collections.defaultdict(collections.Counter)
    details = []
    for case in cases:
        outcome, detail = run_case(case)
        counts[operator_of(case)][outcome] += 1
        details.append((outcome, case.name, detail))
    return counts, details


@unittest.skipUnless(onnx, "onnx and numpy are not installed")
class Nodes(unittest.TestCase):
    def test_all_cases(self):
        counts, details = run_all()
        for operator in sorted(counts):
            row = counts[operator]
            print(f"{operator:32} {row['passed']:4} passed {row['failed']:4} failed {row['skipped']:4} skipped")
        failed = [f"{name}: {detail}" for outcome, name, detail in details if outcome == "failed"]
        self.assertFalse(failed, "\n" + "\n".join(failed))
        self.assertGreater(sum(row["passed"] for row in counts.values()), 1000)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for outcome, name, detail in run_all(sys.argv[1])[1]:
            print(f"{outcome:8} {name}: {detail.splitlines()[0] if detail else ''}")
    else:
        unittest.main()
