# SPDX-License-Identifier: Apache-2.0
"""Models on an accelerator: on a fake driver, whose kernels run on the host. The driver must see no race, and nothing may
be left when all is released.

`device_models.py API [_all]`: models against the CPU, and operators against what defines them; without `_all` samples of
both. All of ONNX's node tests run in device_coverage.py."""

import ctypes
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

API = sys.argv[1] if __name__ == "__main__" else os.environ.get("MAX_TEST_API", "cuda")
try:
    import numpy as np
    import onnx
    import device_library
    import library
    import test_microsoft
    import test_nodes
    import weights
    from device_library import DeviceModel
    from onnx import TensorProto, helper
    from onnx.backend.test.loader import load_model_tests
except ImportError:
    onnx = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALL = "_all" in sys.argv
DATA = ROOT / "tests/data/models"
DRIVER = os.environ.get({"cuda": "MAX_CUDA_LIBRARY", "hip": "MAX_HIP_LIBRARY"}[API], "")


INVALID_ARGUMENT, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED = 3, 4, 8


def fake(name, *arguments):
    return getattr(ctypes.CDLL(DRIVER), name)(*arguments)


def fake_count(name, what=None):
    function = getattr(ctypes.CDLL(DRIVER), name)
    function.restype = ctypes.c_int64
    return function() if what is None else function(ctypes.c_int32(what))


def model_of(nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, [onnx.numpy_helper.from_array(v, n) for n, v in constants])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def on_host(x, y):
    """A node that no accelerator has a kernel for."""
    return helper.make_node("Scaler", [x], [y], domain="ai.onnx.ml", offset=[0.5], scale=[2.0])


def tensor(name, shape, dtype=1):
    return helper.make_tensor_value_info(name, dtype, shape)


if onnx:
    CHAIN = model_of([helper.make_node("Exp", ["x"], ["e"]), helper.make_node("Tanh", ["e"], ["y"])],
                     [tensor("x", ["n", 4])], [tensor("y", None)])
    # From the device to the host and back, with a constant of the plan's own.
    MIXED = model_of(
        [helper.make_node("MatMul", ["x", "w"], ["a"]), on_host("a", "b"),
         helper.make_node("Mul", ["b", "x"], ["c"]), helper.make_node("Shape", ["c"], ["s"]),
         helper.make_node("ConstantOfShape", ["s"], ["o"], value=helper.make_tensor("v", 1, [1], [0.5])),
         helper.make_node("Add", ["c", "o"], ["d"]), helper.make_node("Softmax", ["d"], ["y"])],
        [tensor("x", ["n", 4])], [tensor("y", None)],
        [("w", np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32))])


@unittest.skipUnless(onnx and DRIVER, "onnx and numpy are not installed, or there is no fake driver")
class OnDevice(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
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
        cases = load_model_tests(kind="node")[::32]  # device_coverage.py runs all of them
        with device_library.used_by(test_nodes, API):
            results = [(case.name, *test_nodes.run_case(case)) for case in cases]
        failed = [f"{name}: {detail}" for name, outcome, detail in results if outcome == "failed"]
        self.assertFalse(failed, "\n" + "\n".join(failed))
        self.assertGreater(sum(outcome == "passed" for _, outcome, _ in results), len(cases) // 2)

    @unittest.skipUnless(onnx and test_microsoft.Case, "ONNX Runtime is not installed")
    def test_microsoft_operators(self):
        """Against ONNX Runtime."""
        import microsoft_case
        cases = [case for group in test_microsoft.GROUPS for case in group()]
        with device_library.used_by(microsoft_case, API):
            problems = [(case.name, test_microsoft.outcome(case, case.shapes()[-1])) for case in cases[::1 if ALL else 6]]
        self.assertFalse([problem for problem in problems if problem[1]])

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
             on_host("b", "c"), helper.make_node("Add", ["c", "b"], ["d"]),
             helper.make_node("Mul", ["d", "w"], ["e"]), helper.make_node("Det", ["square"], ["f"]),
             helper.make_node("Add", ["e", "f"], ["g"]), helper.make_node("Identity", ["w"], ["h"]),
             helper.make_node("Sigmoid", ["g"], ["k"])],
            [tensor("x", ["n", 4]), tensor("square", [2, 2])],
            [tensor("k", None), tensor("c", None), tensor("h", None), tensor("b", None)],
            [("flat", np.array([-1])), ("w", self.floats(1))])
        self.compare(model, *[[self.floats(n, 4), self.floats(2, 2)] for n in (2, 5, 2, 300, 5)])

    def test_sizes_from_data(self):
        """A plan that continues when the host knows more."""
        self.compare(self.sized(), *[[self.floats(n)] for n in (8, 8, 3, 8)])

    def sized(self):
        return model_of(
            [helper.make_node("Greater", ["x", "zero"], ["m"]), helper.make_node("Compress", ["x", "m"], ["c"], axis=0),
             helper.make_node("Exp", ["c"], ["e"]), helper.make_node("Shape", ["c"], ["s"]),
             helper.make_node("Expand", ["one", "s"], ["o"]), helper.make_node("Add", ["e", "o"], ["y"])],
            [tensor("x", ["n"])], [tensor("y", None)], [("zero", np.float32(0)), ("one", np.float32(1))])

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


    def failure(self, work):
        with self.assertRaises(library.Failure) as caught:
            work()
        return caught.exception

    def test_wrong_inputs(self):
        model = DeviceModel(CHAIN, API)
        x = self.floats(2, 4)
        host = library.Model.wrap(model, x)
        error = self.failure(lambda: model.execute([host]))
        self.assertEqual(error.status, INVALID_ARGUMENT)
        self.assertIn(f"is on cpu:0, expected {API}:0", str(error))
        other = device_library.moved(host, device_library.device_named(API, 1))
        self.assertIn(f"is on {API}:1, expected {API}:0", str(self.failure(lambda: model.execute([other]))))
        self.assertIn("dtype is float64", str(self.failure(lambda: model.run([x.astype(np.float64)]))))
        self.assertIn("rank is 1", str(self.failure(lambda: model.run([x[0]]))))
        self.assertEqual(len(model.run([x])), 1)

    def test_arrays_of_the_host(self):
        """maxModelExecuteHost takes them to the device."""
        model, x = DeviceModel(CHAIN, API), self.floats(3, 4)
        expected = library.Model(CHAIN).run([x])[0]
        outputs = (ctypes.c_void_p * 1)()
        library.call("maxModelExecuteHost", model.model, (ctypes.c_void_p * 1)(x.ctypes.data),
                     (ctypes.c_int32 * 1)(library.DTYPES["float32"]), (ctypes.c_int32 * 1)(2),
                     (ctypes.POINTER(ctypes.c_int64) * 1)((ctypes.c_int64 * 2)(3, 4)), ctypes.c_int32(1), None, outputs,
                     ctypes.c_int32(1))
        np.testing.assert_allclose(library.array_of(library.Handle("maxBufferRelease", outputs[0])), expected, rtol=1e-5)

    def test_streams_and_threads(self):
        """Calls from several threads, on streams of their own and on the default one, of two models of a file."""
        models = [DeviceModel(MIXED, API) for _ in range(2)]
        inputs = [self.floats(n, 4) for n in (1, 2, 3, 4)]
        expected = [library.Model(MIXED).run([x])[0] for x in inputs]
        problems = []

        def work(number):
            stream = device_library.stream_of(models[0].accelerator) if number else None
            for k in range(12):
                x = (k + number) % len(inputs)
                got = models[k % 2].run_on(stream, [inputs[x]])[0]
                if not np.allclose(got, expected[x], rtol=1e-4, atol=1e-5):
                    problems.append((number, k))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(problems)

    def test_calls_that_are_still_queued(self):
        """The next ones use the same memory, on other streams."""
        images = np.load(ROOT / "examples/digits/images.npy").astype(np.float32)[:, None]
        for data, arrays in ((MIXED, [self.floats(3, 4) for _ in range(4)]),
                             (ROOT / "examples/digits/digits.onnx", [images[k:k + 1] for k in range(4)])):
            model, here = DeviceModel(data, API), library.Model(data)
            streams = [None] + [device_library.stream_of(model.accelerator) for _ in range(2)]
            buffers, expected = [model.wrap(array) for array in arrays], [here.run([array])[0] for array in arrays]
            queued = [(k % 4, model.execute([buffers[k % 4]], streams[k % 3])[0]) for k in range(36)]
            for number, output in queued:
                np.testing.assert_allclose(library.array_of(output), expected[number], rtol=1e-4, atol=1e-5)

    def test_the_host_waits_for_what_it_writes_again(self):
        """A step of the host that depends on nothing from the device, and whose result goes there."""
        encoder = helper.make_node("LabelEncoder", ["t"], ["a"], domain="ai.onnx.ml", keys_strings=list("abcd"),
                                   values_floats=[1.0, 2.0, 3.0, 4.0])
        graph = helper.make_graph([encoder, helper.make_node("Add", ["a", "x"], ["y"])], "graph",
                                  [tensor("t", [1000], TensorProto.STRING), tensor("x", [1000])], [tensor("y", None)])
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]
        model = DeviceModel(helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString(), API)
        x = model.wrap(np.zeros(1000, np.float32))
        texts = [model.wrap(np.full(1000, text, object)) for text in "abcd"]
        queued = [model.execute([texts[k % 4], x])[0] for k in range(24)]
        for k, output in enumerate(queued):
            np.testing.assert_array_equal(library.array_of(output), np.full(1000, k % 4 + 1, np.float32))

    def test_out_of_memory(self):
        """During a load and a call; the session goes on."""
        with device_library.limited(API, 1 << 20):
            large = model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [tensor("x", ["n", 1024])],
                             [tensor("y", None)], [("w", np.ones((1024, 512), np.float32))])
            error = self.failure(lambda: DeviceModel(large, API))
            self.assertEqual(error.status, RESOURCE_EXHAUSTED, str(error))
            model, x = DeviceModel(MIXED, API), self.floats(2, 4)
            expected = library.Model(MIXED).run([x])[0]
            np.testing.assert_allclose(model.run([x])[0], expected, rtol=1e-4)
            error = self.failure(lambda: model.run([self.floats(25000, 4)]))
            self.assertEqual(error.status, RESOURCE_EXHAUSTED, str(error))
            np.testing.assert_allclose(model.run([x])[0], expected, rtol=1e-4)
            # What a plan for another shape keeps goes first.
            for n in (6000, 5500, 5000, 4500):
                model.run([np.zeros((n, 4), np.float32)])

    def test_failing_calls(self):
        """Each driver call of a load and two runs fails once: nothing is left, and the next load works."""
        x = self.floats(3, 4)
        expected = library.Model(MIXED).run([x])[0]

        def attempt():
            model = DeviceModel(MIXED, API)
            return [model.run([x])[0] for _ in range(2)][1]

        attempt()
        first = fake_count("fakeGpuGetCallCount")
        attempt()
        calls = fake_count("fakeGpuGetCallCount") - first
        self.assertGreater(calls, 30)
        for code in (2, 999):
            for n in range(1, calls + 1, 1 if ALL else 9):
                fake("fakeGpuFailCall", ctypes.c_int64(n), ctypes.c_int32(code))
                try:
                    attempt()
                except library.Failure as failure:
                    self.assertTrue(str(failure))
                fake("fakeGpuFailCall", ctypes.c_int64(0), ctypes.c_int32(0))
                gc.collect()
                self.assertEqual(fake_count("fakeGpuGetLiveObjectCount"), 0, (code, n))
        np.testing.assert_allclose(attempt(), expected, rtol=1e-4)

    def test_without_a_compiler(self):
        program = "import device_models as d, numpy as np; print(d.DeviceModel(d.CHAIN, d.API).run([np.ones((1, 4), np.float32)]))"
        environment = {**os.environ, "MAX_NVRTC_LIBRARY": "/none", "MAX_HIPRTC_LIBRARY": "/none", "MAX_TEST_API": API}
        done = subprocess.run([sys.executable, "-c", program], cwd=pathlib.Path(__file__).parent, env=environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("array", done.stdout)

    def steady_calls(self, data, x):
        """Of the driver, in a call with the same shapes and memory as the one before, but before a graph is made of it."""
        model = DeviceModel(data, API)
        buffers = [model.wrap(x)]
        del model.execute(buffers)[:]
        before = fake_count("fakeGpuGetCallCount")
        outputs = model.execute(buffers)
        calls = fake_count("fakeGpuGetCallCount") - before
        del outputs
        return calls

    def test_steady_calls_only_launch(self):
        """They allocate nothing from the driver and wait for nothing: nine launches, of which two are a product in parts and its
        sum, are nine times as much as one."""
        one = self.steady_calls(CHAIN, self.floats(2, 4))
        self.assertLessEqual(one, 4)
        self.assertEqual(self.steady_calls(ROOT / "examples/digits/digits.onnx", self.floats(1, 1, 8, 8)), 9 * one)

    def test_resize(self):
        """With sizes that are known at load, unlike those of ONNX's node tests."""
        x = self.floats(1, 2, 5, 6)
        for mode in ("nearest", "linear", "cubic"):
            for place in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"):
                for scales in ([1, 1, 2, 2], [1, 1, 0.6, 1.7], [1, 1.5, 0.2, 3]):
                    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode=mode,
                                            coordinate_transformation_mode=place)
                    self.compare(model_of([node], [tensor("x", [1, 2, 5, 6])], [tensor("y", None)],
                                          [("scales", np.array(scales, np.float32))]), [x])

    def operator(self, op, inputs, outputs=1, domain="", constants=(), **attributes):
        """One node of other sizes than ONNX's node tests, with shapes that the model leaves open."""
        names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
        kinds = [helper.np_dtype_to_tensor_dtype(x.dtype) if x is not None else 0 for x in inputs]
        values = [tensor(names[i], [f"{names[i]}_{k}" for k in range(x.ndim)], kinds[i]) for i, x in enumerate(inputs)
                  if x is not None and i not in constants]
        results = [f"y{i}" for i in range(outputs)]
        node = helper.make_node(op, names, results, domain=domain, **attributes)
        data = model_of([node], values, [helper.make_empty_tensor_value_info(y) for y in results],
                        [(names[i], inputs[i]) for i in constants])
        with self.subTest(op, **attributes):
            self.compare(data, [x for i, x in enumerate(inputs) if x is not None and i not in constants])

    def integers(self, low, high, *shape, dtype=np.int64):
        return self.random.integers(low, high, shape).astype(dtype)

    def test_lines(self):
        """Longer than a block has threads, with equal elements, NaN and infinities."""
        for dtype in (np.float32, np.float16, np.int32, np.int8):
            x = self.integers(-9, 9, 3, 333, 5).astype(dtype)
            for axis in (0, 1, -1):
                for last in (0, 1):
                    for op in ("ArgMax", "ArgMin"):
                        self.operator(op, [x], axis=axis, select_last_index=last)
                for largest in (0, 1):
                    self.operator("TopK", [x, np.array([3])], 2, constants=(1,), axis=axis, largest=largest)
        x = self.floats(4, 300)
        x[1, 7], x[2, 0], x[3, 299], x[0, 5] = np.nan, np.nan, np.inf, -np.inf
        for op in ("ArgMax", "ArgMin"):
            self.operator(op, [x], axis=1)
        self.operator("TopK", [x, np.array([300])], 2, constants=(1,))
        for dtype in (np.float32, np.int32, np.int64):
            x = self.integers(-3, 4, 3, 400, 2).astype(dtype)
            for axis in (0, 1, 2):
                for exclusive in (0, 1):
                    for reverse in (0, 1):
                        self.operator("CumSum", [x, np.array(axis)], exclusive=exclusive, reverse=reverse)
        self.operator("Hardmax", [self.floats(5, 200, 3)], axis=1)
        for p in (1, 2):
            self.operator("LpNormalization", [self.floats(5, 200, 3)], axis=1, p=p)

    def test_copies(self):
        """By 16 bytes, in squares, and element by element."""
        for dtype in (np.float32, np.float16, np.int64, np.uint8):
            x = self.integers(-100, 100, 2, 35, 3, 40).astype(dtype)
            for perm in ([0, 3, 1, 2], [0, 2, 3, 1], [3, 2, 1, 0], [1, 0, 2, 3], [0, 2, 1, 3]):
                self.operator("Transpose", [x], perm=perm)
            wide = self.integers(-100, 100, 3, 5, 32).astype(dtype)
            for other in (wide, wide[:, :2], wide[:, :, :16], wide[:, :, :5]):
                self.operator("Concat", [wide, other], axis=1 if other.shape[2] == 32 else 2)
            self.operator("Expand", [wide[:, :1], np.array([3, 4, 32])], constants=(1,))

    def test_rows(self):
        """Long ones and short ones, and lines whose elements lie apart."""
        for shape, axis in (((3, 17, 50), 1), ((4, 5, 300), 2), ((2, 300, 33), 0)):
            for op in ("Softmax", "LogSoftmax"):
                self.operator(op, [self.floats(*shape)], axis=axis)
        for dtype in (np.float32, np.float16):
            for size in (8, 30, 768, 2048, 4104):
                x, scale, bias = self.floats(3, size), self.floats(size), self.floats(size)
                self.operator("LayerNormalization", [x.astype(dtype), scale.astype(dtype), bias.astype(dtype)])
                self.operator("RMSNormalization", [x.astype(dtype), scale.astype(dtype)])
        for shape, axes in (((2, 1100, 13), [1]), ((2, 30, 7, 40), [1, 2]), ((3, 5, 6), [1]), ((1500, 9), [0])):
            for op in ("ReduceMean", "ReduceMax", "ReduceLogSumExp"):
                self.operator(op, [self.floats(*shape), np.array(axes)], constants=(1,))

    def test_windows(self):
        """Pools and depthwise convolutions, by pieces of channels that are full or not."""
        for channels in (6, 16):
            for size in ([7], [9, 8], [4, 5, 6]):
                x, axes = self.floats(2, channels, *size), len(size)
                for stride, dilation, pads in ((1, 1, 1), (2, 1, 0), (1, 2, 1)):
                    options = {"kernel_shape": [3 if axes < 3 else 2] * axes, "strides": [stride] * axes,
                               "dilations": [dilation] * axes, "pads": [pads] * 2 * axes}
                    self.operator("MaxPool", [x], **options)
                    for counted in (0, 1):
                        self.operator("AveragePool", [x], count_include_pad=counted, ceil_mode=stride - 1, **options)
                    weights = self.floats(channels, 1, *options["kernel_shape"])
                    self.operator("Conv", [x, weights, self.floats(channels)], constants=(1, 2), group=channels, **options)

    def test_selections(self):
        """The host reads their number alone."""
        for x in (self.integers(0, 3, 40, 170), self.floats(3000) > 0.8, self.integers(0, 2, 5, 1, 300, dtype=np.uint8) * 200,
                  np.zeros((60, 70), np.float32), np.zeros((0, 30), np.float32), np.ones((60, 70), np.float16), self.integers(0, 2, 2, 2)):
            self.operator("NonZero", [x])
        x = self.floats(30, 50)
        for condition, axis in ((self.floats(30) > 0, 0), (self.floats(50) > 0, 1), (self.floats(20) > 0, -1)):
            self.operator("Compress", [x, condition], axis=axis)
        self.operator("Compress", [x, self.floats(1500) > 1])
        model = model_of([helper.make_node("Exp", ["x"], ["e"]), helper.make_node("Greater", ["e", "one"], ["m"]),
                          helper.make_node("Compress", ["e", "m"], ["c"], axis=0), helper.make_node("Log", ["c"], ["y"])],
                         [tensor("x", ["n"])], [tensor("y", None)], [("one", np.float32(1))])
        self.compare(model, *[[self.floats(n)] for n in (5000, 5000, 40, 5000)])

    def test_scatters(self):
        """Indices that repeat, negative ones, and all reductions."""
        for dtype in (np.float32, np.int32, np.uint8):
            data = self.integers(0, 9, 6, 40, 3).astype(dtype)
            for reduction in ("none", "add", "mul", "max", "min"):
                updates = self.integers(0, 3, 5, 25, 3).astype(dtype)
                for axis in (0, 1, 2):
                    size = data.shape[axis]
                    self.operator("ScatterElements", [data, self.integers(-size, size, 5, 25, 3), updates], axis=axis,
                                  reduction=reduction)
                self.operator("ScatterND", [data, self.integers(-6, 6, 50, 1), self.integers(0, 3, 50, 40, 3).astype(dtype)],
                              reduction=reduction)
                self.operator("ScatterND", [data, self.integers(-3, 3, 4, 9, 3), self.integers(0, 3, 4, 9).astype(dtype)],
                              reduction=reduction)
        data = self.floats(4, 30, 7)
        self.operator("GatherElements", [data, self.integers(-30, 30, 4, 50, 7)], axis=1)
        self.operator("GatherND", [data, self.integers(-4, 4, 9, 5, 2)])
        self.operator("GatherND", [data, self.integers(-7, 7, 4, 6, 2)], batch_dims=1)

    def test_quantised_numbers(self):
        for dtype in (np.uint8, np.int8, np.uint16, np.int16):
            low = -100 if np.dtype(dtype).kind == "i" else 0
            x, scale, zero = self.floats(5, 40, 3) * 20, np.abs(self.floats(40)) + 0.01, self.integers(low, 100, 40, dtype=dtype)
            self.operator("QuantizeLinear", [x, scale, zero], axis=1)
            self.operator("QuantizeLinear", [x, scale[0], zero[0]])
            blocks = [np.abs(self.floats(5, 4, 3)) + 0.01, self.integers(low, 100, 5, 4, 3, dtype=dtype)]
            self.operator("QuantizeLinear", [x, *blocks], axis=1, block_size=10)
            y = self.integers(low, 100, 5, 40, 3, dtype=dtype)
            self.operator("DequantizeLinear", [y, scale, zero], axis=1)
            self.operator("DequantizeLinear", [y, *blocks], axis=1, block_size=10)
        for n in (30, 3000, 70000):
            self.operator("DynamicQuantizeLinear", [self.floats(n)], 3)

    def test_integer_products(self):
        a, b = self.integers(0, 256, 2, 1, 9, 70, dtype=np.uint8), self.integers(-128, 128, 3, 70, 11, dtype=np.int8)
        for zeros in ([None, None], [np.uint8(7), np.int8(-3)], [np.uint8(7), self.integers(-9, 9, 11, dtype=np.int8)]):
            zeros = [None if zero is None else np.asarray(zero) for zero in zeros]
            self.operator("MatMulInteger", [a, b, *zeros])
            first, second = (np.asarray(0, kind) if zero is None else zero for zero, kind in zip(zeros, (np.uint8, np.int8)))
            self.operator("QLinearMatMul", [a, np.float32(0.02), first, b, np.float32(0.03), second, np.float32(2.5), np.uint8(90)])
        x, w = self.integers(0, 256, 2, 6, 9, 8, dtype=np.uint8), self.integers(-128, 128, 4, 3, 3, 3, dtype=np.int8)
        self.operator("ConvInteger", [x, w, np.uint8(120)], group=2, pads=[1, 1, 0, 1], strides=[2, 1])
        self.operator("QLinearConv", [x, np.float32(0.02), np.uint8(120), w, np.abs(self.floats(4)) / 50, np.zeros(4, np.int8),
                                      np.float32(0.5), np.uint8(128), self.integers(-500, 500, 4, dtype=np.int32)],
                      constants=(3, 4, 5, 8), group=2, pads=[1, 1, 1, 1])

    def test_recurrent_layers(self):
        """Several directions, lengths, states and functions; of few units in one launch, of more in one for each step."""
        for op, gates, functions in (("LSTM", 4, ["HardSigmoid", "ScaledTanh", "Softsign"]), ("GRU", 3, ["HardSigmoid", "Elu"]),
                                     ("RNN", 1, ["LeakyRelu"])):
            for direction, count, hidden in (("forward", 1, 140), ("reverse", 1, 141), ("bidirectional", 2, 20)):
                x, w = self.floats(6, 3, 5), self.floats(count, gates * hidden, 5) / 3
                r = self.floats(count, gates * hidden, hidden) / 9
                more = [self.floats(count, 2 * gates * hidden), np.array([6, 2, 0], np.int32), self.floats(count, 3, hidden)]
                if op == "LSTM":
                    more += [self.floats(count, 3, hidden), self.floats(count, 3 * hidden)]
                own = {"activations": functions * count, "clip": 2.0} if direction == "bidirectional" else {}
                if op == "GRU" and direction == "reverse":
                    own["linear_before_reset"] = 1
                self.operator(op, [x, w, r, *more], 3 if op == "LSTM" else 2, constants=(1, 2), hidden_size=hidden,
                              direction=direction, **own)

    def test_quantised_layers(self):
        """Weights of bytes become float32; the CPU rounds what it multiplies by them."""
        for directions, columns in ((1, ()), (2, ()), (1, (48,)), (2, (48,))):
            w, r = (self.integers(-128, 128, directions, n, 48, dtype=np.int8) for n in (9, 12))
            number = [np.abs(self.floats(directions, *columns)) / 100, self.integers(-9, 9, directions, *columns, dtype=np.int8)]
            names = ["x", "w", "r", "", "", "", "", "", "s", "z", "s", "z"]
            node = helper.make_node("DynamicQuantizeLSTM", names, ["y"], domain="com.microsoft", hidden_size=12,
                                    direction="bidirectional" if directions == 2 else "forward")
            data = model_of([node], [tensor("x", [7, 3, 9])], [tensor("y", None)], list(zip("wrsz", (w, r, *number))))
            x = self.floats(7, 3, 9)
            with self.subTest(directions=directions, columns=columns):
                model = DeviceModel(data, API)
                np.testing.assert_allclose(model.run([x])[0], library.Model(data).run([x])[0], atol=0.03)

    def test_random_numbers(self):
        """They are those of the CPU."""
        for op in ("RandomNormal", "RandomUniform"):
            for seed in (1.0, 7.5):
                node = helper.make_node(op, [], ["y"], shape=[3, 333], seed=seed)
                data = model_of([node], [], [tensor("y", None)])
                np.testing.assert_array_equal(DeviceModel(data, API).run([])[0], library.Model(data).run([])[0])
        self.operator("Bernoulli", [self.random.random((50, 41), np.float32)], seed=3.0)
        self.operator("Multinomial", [self.floats(5, 30)], seed=3.0, sample_size=40)
        self.operator("Dropout", [self.floats(5, 301), np.float32(0.3), np.array(True)], 2, constants=(1, 2), seed=5)
        node = helper.make_node("RandomUniform", [], ["y"], shape=[4])
        model = DeviceModel(model_of([node], [], [tensor("y", None)]), API)
        self.assertNotEqual(model.run([])[0].tolist(), model.run([])[0].tolist())

    def test_given_outputs(self):
        """They are written on the device; one elsewhere is refused."""
        model, x = DeviceModel(MIXED, API), self.floats(3, 4)
        expected = library.Model(MIXED).run([x])[0]
        for stream in (None, device_library.stream_of(model.accelerator)):
            given = model.wrap(np.zeros((3, 4), np.float32))
            result = model.execute([model.wrap(x)], stream, given=[given])[0]
            self.assertEqual(result.value, given.value)
            np.testing.assert_allclose(library.array_of(given), expected, rtol=1e-4)
        host = library.Model.wrap(model, np.zeros((3, 4), np.float32))
        self.assertIn(f"is on cpu:0, expected {API}:0", str(self.failure(lambda: model.execute([model.wrap(x)], given=[host]))))

    def test_deadlines(self):
        model, x = DeviceModel(MIXED, API), self.floats(3, 4)
        error = self.failure(lambda: model.execute([model.wrap(x)], timeout=1))
        self.assertEqual(error.status, DEADLINE_EXCEEDED)
        np.testing.assert_allclose(model.run([x])[0], library.Model(MIXED).run([x])[0], rtol=1e-4)

    def test_large_weight(self):
        """In several parts, through page-locked memory."""
        data = model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [tensor("x", ["n", 1200])],
                        [tensor("y", None)], [("w", self.floats(1200, 2000))])
        self.compare(data, [self.floats(2, 1200) / 30], [self.floats(1, 1200) / 30])

    def test_replaced_weights(self):
        data = model_of([helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])],
                        [tensor("x", ["n", 4])], [tensor("y", None)], [("w", self.floats(4, 4))])
        model, x, w = DeviceModel(data, API), self.floats(2, 4), self.floats(4, 4)
        model.run([x])
        names, buffers = (ctypes.c_char_p * 1)(b"w"), [library.Model.wrap(model, w)]
        library.call("maxModelReplaceWeights", model.model, names, (ctypes.c_void_p * 1)(buffers[0].value),
                     ctypes.c_int32(1))
        np.testing.assert_allclose(model.run([x])[0], np.maximum(x @ w, 0), rtol=1e-4, atol=1e-5)

    def test_precisions(self):
        """Lower ones round the factors of float32 products, if the chip has such products."""
        w, x = self.floats(64, 64), self.floats(32, 64)
        data = model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [tensor("x", ["n", 64])], [tensor("y", None)],
                        [("w", w)])
        exact, magnitude = x.astype(np.float64) @ w, np.abs(x).astype(np.float64) @ np.abs(w)
        model, errors = DeviceModel(data, API), []
        for wanted, expected in ((0, 0), (1, {"cuda": 1, "hip": 0}[API]), (2, 2)):
            model.model, known = library.Handle("maxModelRelease"), ctypes.c_int32()
            options = weights.LoadOptions(ctypes.sizeof(weights.LoadOptions), precision=wanted)
            library.call("maxModelLoadFromMemory", model.session, data, ctypes.c_size_t(len(data)), ctypes.byref(options),
                         ctypes.byref(model.model))
            library.call("maxModelGetPrecision", model.model, ctypes.byref(known))
            self.assertEqual(known.value, expected)
            errors.append((np.abs(model.run([x])[0] - exact) / magnitude).max())
        self.assertLess(errors[0], 1e-6)
        self.assertEqual(errors[1] > 1e-5, API == "cuda")
        self.assertLess(errors[1], 2**-10)
        self.assertTrue(1e-4 < errors[2] < 2**-7, errors[2])

    def test_saved_with_kernels(self):
        """A model that was saved on an accelerator, or for a chip that is not here, has kernels, and needs no compiler."""
        with tempfile.TemporaryDirectory() as folder:
            here, there = f"{folder}/here.maxc", f"{folder}/there.maxc"
            library.call("maxModelSave", DeviceModel(MIXED, API).model, here.encode())
            other = {"cuda": "sm_80", "hip": "gfx1030"}[API]
            self.run_program(f"""
                for name, value in (("Api", API.encode()), ("ArchitectureName", b"{other}"), ("Count", ctypes.c_int32(1))):
                    library.call("maxVirtualDeviceSet" + name, value)
                model = d.DeviceModel(d.MIXED, API)
                library.call("maxModelSave", model.model, b"{there}")
                try:
                    model.wrap(np.ones((2, 4), np.float32))
                except library.Failure as failure:
                    assert "is virtual" in str(failure), failure
                else:
                    raise SystemExit("memory of a virtual device")
                """)
            none = {"MAX_NVRTC_LIBRARY": "/none", "MAX_HIPRTC_LIBRARY": "/none", "MAX_CACHE_DIR": ""}
            program = """
                messages = []
                heard = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)(
                    lambda _, level, text: messages.append(text.decode()))
                library.call("maxLogAddCallback", heard, None, ctypes.c_int32(30), ctypes.byref(ctypes.c_int64()))
                x = np.arange(8, dtype=np.float32).reshape(2, 4) / 8
                result = d.DeviceModel(PATH, API).run([x])[0]
                np.testing.assert_allclose(result, library.Model(d.MIXED).run([x])[0], rtol=1e-4)
                print(" / ".join(messages))
                """
            self.assertIn(f"operators run on {API}:0", self.run_program(program.replace("PATH", repr(here)), none))
            log = self.run_program(program.replace("PATH", repr(there)), none)
            self.assertIn("All operators run on the host", log)
            self.assertRegex(log, f"has kernels for {API}:{other}, not for {API}:.*max compile --target {API}:")
            log = self.run_program(program.replace("PATH", repr(there)))
            self.assertIn(f"operators run on {API}:0", log)
            self.assertRegex(log, f"has kernels for {API}:{other}, not for .*compiled now")

    def run_program(self, text, environment=()):
        start = f"import ctypes, numpy as np, library, device_models as d; API = {API!r}\n"
        done = subprocess.run([sys.executable, "-c", start + textwrap.dedent(text)], cwd=pathlib.Path(__file__).parent,
                              env={**os.environ, "MAX_TEST_API": API, **dict(environment)}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *[text for text in sys.argv[2:] if text != "_all"]])
