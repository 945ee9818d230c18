# SPDX-License-Identifier: Apache-2.0
"""Models on an accelerator: on a fake driver, whose kernels run on the host. The driver must see no race, and nothing may
be left when all is released.

`device_models.py API [_all]`: ONNX's node tests against their expectations, and models against the CPU; without `_all` a
sample of both."""

import ctypes
import os
import pathlib
import sys
import types
import unittest

API = sys.argv[1] if len(sys.argv) > 1 and __name__ == "__main__" else "cuda"
try:
    import numpy as np
    import onnx
    import library
    import test_nodes
    from device_library import DeviceModel
    from onnx import TensorProto, helper
    from onnx.backend.test.loader import load_model_tests
except ImportError:
    onnx = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALL = "_all" in sys.argv
STRIDE = 1 if ALL else 12
DATA = ROOT / "tests/data/models"
DRIVER = os.environ.get({"cuda": "MAX_CUDA_LIBRARY", "hip": "MAX_HIP_LIBRARY"}[API], "")


def fake_count(name):
    function = getattr(ctypes.CDLL(DRIVER), name)
    function.restype = ctypes.c_int64
    return function()


def model_of(nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [onnx.numpy_helper.from_array(v, n) for n, v in constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()


def tensor(name, shape, dtype=1):
    return helper.make_tensor_value_info(name, dtype, shape)


@unittest.skipUnless(onnx and DRIVER, "onnx and numpy are not installed, or there is no fake driver")
class OnDevice(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        import gc
        gc.collect()
        count = fake_count("fakeGpuGetViolationCount")
        assert count == 0, f"{count} wrong uses of the driver"

    def setUp(self):
        self.random = np.random.default_rng(7)

    def compare(self, data, *calls):
        """The same results as on the CPU."""
        here, there = library.Model(data), DeviceModel(data, API)
        for inputs in calls:
            for mine, expected in zip(there.run(inputs), here.run(inputs), strict=True):
                if isinstance(expected, np.ndarray) and expected.dtype.kind in "fiub":
                    self.assertEqual((mine.dtype, mine.shape), (expected.dtype, expected.shape))
                    np.testing.assert_allclose(mine, expected, rtol=1e-4, atol=1e-5)
                else:
                    self.assertEqual(str(mine), str(expected))

    def floats(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def test_nodes(self):
        cases = load_model_tests(kind="node")[::STRIDE]
        test_nodes.library = types.SimpleNamespace(**{**vars(library), "Model": lambda data: DeviceModel(data, API)})
        results = [(case.name, *test_nodes.run_case(case)) for case in cases]
        failed = [f"{name}: {detail}" for name, outcome, detail in results if outcome == "failed"]
        self.assertFalse(failed, "\n" + "\n".join(failed))
        self.assertGreater(sum(outcome == "passed" for _, outcome, _ in results), len(cases) // 2)

    def test_digits(self):
        images = np.load(ROOT / "examples/digits/images.npy").astype(np.float32)[:, None]
        self.compare(ROOT / "examples/digits/digits.onnx", *[[images[:count]] for count in (1, 3, 2, 1)])

    def test_control_flow(self):
        self.compare(DATA / "loop.onnx", *self.inputs_of("loop"))
        self.compare(DATA / "branch.onnx", *self.inputs_of("branch"))
        self.compare(DATA / "nonzero.onnx", *self.inputs_of("nonzero"))

    def inputs_of(self, name, integers=4):
        model = onnx.load(DATA / f"{name}.onnx")
        result = []
        for _ in range(3):
            inputs = []
            for info in model.graph.input:
                shape = [d.dim_value or 3 for d in info.type.tensor_type.shape.dim]
                dtype = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
                inputs.append(self.random.integers(0, 2 if dtype == bool else integers, shape).astype(dtype))
            result.append(inputs)
        return result

    def test_transformer(self):
        self.compare(DATA / "tiny_bert.onnx", *self.inputs_of("tiny_bert", 2))

    def test_between_host_and_device(self):
        """Values go to the host and back, as inputs, as constants, as views, and as outputs of either."""
        model = model_of(
            [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Reshape", ["a", "flat"], ["b"]),
             helper.make_node("CumSum", ["b", "zero"], ["c"]), helper.make_node("Add", ["c", "b"], ["d"]),
             helper.make_node("Mul", ["d", "w"], ["e"]), helper.make_node("Det", ["square"], ["f"]),
             helper.make_node("Add", ["e", "f"], ["g"]), helper.make_node("Identity", ["w"], ["h"]),
             helper.make_node("Sigmoid", ["g"], ["k"])],
            [tensor("x", ["n", 4]), tensor("square", [2, 2])],
            [tensor("k", None), tensor("c", None), tensor("h", None), tensor("b", None)],
            [("flat", np.array([-1])), ("zero", np.array(0)), ("w", self.floats(1))])
        self.compare(model, *[[self.floats(n, 4), self.floats(2, 2)] for n in (2, 5, 2, 300, 5)])

    def test_sizes_from_data(self):
        """A plan that continues when the host knows more."""
        model = model_of(
            [helper.make_node("Greater", ["x", "zero"], ["m"]), helper.make_node("Compress", ["x", "m"], ["c"], axis=0),
             helper.make_node("Exp", ["c"], ["e"]), helper.make_node("Shape", ["c"], ["s"]),
             helper.make_node("Expand", ["one", "s"], ["o"]), helper.make_node("Add", ["e", "o"], ["y"])],
            [tensor("x", ["n"])], [tensor("y", None)], [("zero", np.float32(0)), ("one", np.float32(1))])
        self.compare(model, *[[self.floats(n)] for n in (8, 8, 3, 8)])

    def test_half_precision(self):
        for dtype in (np.float16,):
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            model = model_of(
                [helper.make_node("Mul", ["x", "x"], ["a"]), helper.make_node("Add", ["a", "x"], ["b"]),
                 helper.make_node("Softmax", ["b"], ["c"]), helper.make_node("Sub", ["c", "x"], ["y"])],
                [tensor("x", [3, 5], kind)], [tensor("y", None, kind)])
            here, there = library.Model(model), DeviceModel(model, API)
            x = self.floats(3, 5).astype(dtype)
            np.testing.assert_allclose(there.run([x])[0].astype(np.float32), here.run([x])[0].astype(np.float32), atol=4e-3)

    def test_strings_and_sequences(self):
        self.compare(DATA / "strings.onnx", [np.array(["a", "b"], object), np.array([1, 0, 1])])
        self.compare(DATA / "sequences.onnx", [[self.floats(2), self.floats(3)], self.floats(2)], [[], self.floats(1)])
        self.compare(DATA / "optional.onnx", [self.floats(2)], [None])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *[text for text in sys.argv[2:] if text != "_all"]])
