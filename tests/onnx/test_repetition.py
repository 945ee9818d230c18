# SPDX-License-Identifier: Apache-2.0
"""The models of the benchmarks give the same bits each time: in one session, in another, and with other numbers of
threads. Models that were not fetched or built are skipped."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

try:
    import numpy as np
    import onnx

    import library
    from cases import CASES
except ImportError:
    onnx, CASES = None, ()


def input_names(path):
    graph = onnx.load(path, load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    return [value.name for value in graph.input if value.name not in weights]


@unittest.skipIf(onnx is None, "needs numpy and onnx")
class Repetition(unittest.TestCase):
    def check(self, case):
        if not case.model.exists():
            self.skipTest(f"{case.model.name} is not there; ./dev test or ./dev bench makes it")
        inputs = case.make_inputs(np.random.default_rng(3))
        arrays = [inputs[name] for name in input_names(case.model)]
        expected = None
        for threads in (1, 1, 2, 3):
            model = library.Model(case.model, threads=threads)
            for call in (1, 2):
                outputs = [array.tobytes() for array in model.run(arrays)]
                expected = expected or outputs
                self.assertTrue(outputs == expected, f"call {call} with {threads} threads gave other bits")


def test_of(case):
    return lambda self: self.check(case)


for one in CASES:
    setattr(Repetition, "test_" + "".join(c if c.isalnum() else "_" for c in one.name), test_of(one))

if __name__ == "__main__":
    unittest.main()
