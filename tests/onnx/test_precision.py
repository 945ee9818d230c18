# SPDX-License-Identifier: Apache-2.0
"""MAX_PRECISION_MEDIUM on the models of the benchmarks, beside float32. Models that were not fetched or built are
skipped. Where the chip has no products of bfloat16, both are the same."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

try:
    import numpy as np
    import onnx

    import weights
    from cases import CASES
    from test_repetition import input_names
except ImportError:
    onnx, CASES = None, ()

HIGHEST, MEDIUM = 0, 2
WITHOUT_FLOAT_PRODUCTS = {"call alone", "quantised images", "ViT-small, QDQ"}  # families and models
MOST = 0.05  # docs/numerics.md: of the largest element of an output


@unittest.skipIf(onnx is None, "needs numpy and onnx")
class Precision(unittest.TestCase):
    def check(self, case):
        if not case.model.exists():
            self.skipTest(f"{case.model.name} is not there; ./dev test or ./dev bench makes it")
        inputs = case.make_inputs(np.random.default_rng(3))
        arrays = [inputs[name] for name in input_names(case.model)]
        # Loaded from one file at the same time, each has weights of its own.
        exact = weights.FileModel(case.model)
        rounded = weights.FileModel(case.model, precision=MEDIUM)
        both = list(zip(exact.run(arrays), rounded.run(arrays)))
        for expected, actual in both:
            if expected.dtype == np.float32:
                self.assertLessEqual(np.abs(actual - expected).max(), MOST * np.abs(expected).max())
        is_equal = all(expected.tobytes() == actual.tobytes() for expected, actual in both)
        has_none = bool({case.family, case.name} & WITHOUT_FLOAT_PRODUCTS)
        self.assertEqual(is_equal, rounded.precision() == HIGHEST or has_none)


def test_of(case):
    return lambda self: self.check(case)


for one in CASES:
    setattr(Precision, "test_" + "".join(c if c.isalnum() else "_" for c in one.name), test_of(one))

if __name__ == "__main__":
    unittest.main()
