# SPDX-License-Identifier: Apache-2.0
"""The models of the benchmarks, beside ONNX Runtime. Models that were not fetched or built are skipped."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

try:
    import numpy as np
    import onnx
    import onnxruntime

    import library
    from cases import CASES
    from test_repetition import input_names
except ImportError:
    onnx, CASES = None, ()

MOST = 2e-5  # of the largest element of an output
MOST_QUANTISED = 0.05  # one step of a scale early in a network moves others
MOST_DISTANCE = 1.05  # times ONNX Runtime's distance from the network that was quantised, as the root of the mean square


def expected_of(path, arrays):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 2, 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(input_names(path), arrays)))


def distance(a, b):
    return np.sqrt(np.mean(np.square(a - b)))


@unittest.skipIf(onnx is None, "needs numpy, onnx and onnxruntime")
class Networks(unittest.TestCase):
    def check(self, case):
        if not case.model.exists():
            self.skipTest(f"{case.model.name} is not there; ./dev test or ./dev bench makes it")
        inputs = case.make_inputs(np.random.default_rng(3))
        arrays = [inputs[name] for name in input_names(case.model)]
        expected = expected_of(case.model, arrays)
        actual = library.Model(case.model, threads=2).run(arrays)
        self.assertEqual(len(actual), len(expected))
        is_quantised = case.family.startswith("quantised")
        plain = case.model.with_stem(case.model.stem.rpartition("_")[0])
        exact = expected_of(plain, arrays) if is_quantised else expected
        for ours, theirs, best in zip(actual, expected, exact):
            self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
            self.assertTrue(np.isfinite(ours).all())
            self.assertLessEqual(np.abs(ours - theirs).max(), (MOST_QUANTISED if is_quantised else MOST) * np.abs(theirs).max())
            if is_quantised:
                self.assertLessEqual(distance(ours, best), MOST_DISTANCE * distance(theirs, best))


def test_of(case):
    return lambda self: self.check(case)


for one in CASES:
    setattr(Networks, "test_" + "".join(c if c.isalnum() else "_" for c in one.name), test_of(one))

if __name__ == "__main__":
    unittest.main()
