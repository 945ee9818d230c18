# SPDX-License-Identifier: Apache-2.0
"""Calls of models on an accelerator as graphs of its driver, what a call asks of the driver, and profiles: device_graphs.py API."""

import contextlib
import ctypes
import gc
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

if __name__ == "__main__":
    os.environ["MAX_TEST_API"] = sys.argv[1]
import device_models as models
from device_models import API, DRIVER, ROOT, fake, fake_count

if models.onnx:
    sys.path.append(str(ROOT / "benchmarks/models"))
    import bert
    import device_library
    import library
    import numpy as np
    import onnx
    import resnet50
    from device_library import DeviceModel
    from device_models import CHAIN, helper, model_of, on_host, tensor

FAILED_PRECONDITION = 9
FAKE_QUEUED, FAKE_LAUNCHES, FAKE_GRAPHS, FAKE_ALLOCATIONS, FAKE_WAITS = range(5)  # of tests/fake/control.h


def fake_text(name):
    function = getattr(ctypes.CDLL(DRIVER), name)
    function.restype = ctypes.c_char_p
    return function().decode()


if models.onnx:
    # One that stays on the host, between two that do not.
    HOSTED = model_of([helper.make_node("Softmax", ["x"], ["a"]),
                       on_host("a", "b"), helper.make_node("Softmax", ["b"], ["y"])], [tensor("x", ["n", 4])], [tensor("y", None)])


@unittest.skipUnless(models.onnx and DRIVER, "onnx and numpy are not installed, or there is no fake driver")
class Graphs(unittest.TestCase):
    tearDownClass = models.OnDevice.tearDownClass
    setUp = models.OnDevice.setUp
    floats = models.OnDevice.floats
    failure = models.OnDevice.failure
    sized = models.OnDevice.sized

    def test_capture(self):
        """A replay is one launch of a graph, reads the captured inputs and writes the captured outputs, on any stream."""
        data = ROOT / "examples/digits/digits.onnx"
        images = np.load(ROOT / "examples/digits/images.npy").astype(np.float32)[:, None]
        model, here = DeviceModel(data, API), library.Model(data)
        streams = [None] + [device_library.stream_of(model.accelerator) for _ in range(2)]
        inputs = [model.wrap(images[:2])]
        outputs = model.capture(inputs, streams[1])
        expected = here.run([images[:2]])[0]
        np.testing.assert_allclose(library.array_of(outputs[0]), expected, rtol=1e-4, atol=1e-5)
        for k in range(9):
            stream = streams[k % 3]
            device_library.written(inputs[0], images[k:k + 2], stream)
            queued, launches = fake_count("fakeGpuGetCount", FAKE_QUEUED), fake_count("fakeGpuGetCount", FAKE_GRAPHS)
            model.replay(inputs, stream)
            self.assertGreater(fake_count("fakeGpuGetCount", FAKE_QUEUED), queued + 5)
            self.assertEqual(fake_count("fakeGpuGetCount", FAKE_GRAPHS), launches + 1)
            np.testing.assert_allclose(library.array_of(outputs[0]), here.run([images[k:k + 2]])[0], rtol=1e-4, atol=1e-5)
        model.again("maxModelVerifyReplay", inputs)
        again = model.capture(inputs, streams[2])
        self.assertEqual(again[0].value, outputs[0].value)
        calls = fake_count("fakeGpuGetCallCount")
        for _ in range(10):
            model.replay(inputs, streams[2])
        # The others ask which context is current, or make it so.
        self.assertEqual(fake_count("fakeGpuGetCallCount"), calls + 10 * {"cuda": 4, "hip": 2}[API])
        model.forget()  # what is queued still runs
        np.testing.assert_allclose(library.array_of(outputs[0]), here.run([images[8:10]])[0], rtol=1e-4, atol=1e-5)
        self.assertIn("key 1", str(self.failure(lambda: model.replay(inputs))))

    def test_forgotten_captures(self):
        """Their memory is used again only when the work that is still queued, on whichever stream, is done."""
        model = DeviceModel(ROOT / "examples/digits/digits.onnx", API)
        streams = [device_library.stream_of(model.accelerator) for _ in range(2)]
        for k in range(12):
            inputs = [model.wrap(self.floats(40, 1, 8, 8))]
            outputs = model.capture(inputs, streams[k % 2])
            model.replay(inputs, streams[1 - k % 2])
            model.forget()
            del inputs, outputs

    def test_captured_buffers(self):
        """Keys are apart, outputs may be the caller's, weights stay those of the capture."""
        w, other = self.floats(4, 4), self.floats(4, 4)
        data = model_of([helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])],
                        [tensor("x", ["n", 4])], [tensor("y", None)], [("w", w)])
        model, arrays = DeviceModel(data, API), [self.floats(2, 4), self.floats(3, 4)]
        inputs = [[model.wrap(x)] for x in arrays]
        given = model.wrap(np.zeros((3, 4), np.float32))
        outputs = [model.capture(inputs[0], key=1)[0], model.capture(inputs[1], key=2, given=[given])[0]]
        self.assertEqual(outputs[1].value, given.value)
        self.assertIn("Graph 1 was captured", str(self.failure(lambda: model.capture(inputs[1]))))
        self.assertIn("another buffer as input 0", str(self.failure(lambda: model.replay(inputs[0], key=2))))
        names, buffers = (ctypes.c_char_p * 1)(b"w"), [library.Model.wrap(model, other)]
        library.call("maxModelReplaceWeights", model.model, names, (ctypes.c_void_p * 1)(buffers[0].value),
                     ctypes.c_int32(1))
        for key, x in enumerate(arrays):
            device_library.written(inputs[key][0], 2 * x)
            model.replay(inputs[key], key=key + 1)
            np.testing.assert_allclose(library.array_of(outputs[key]), np.maximum(2 * x @ w, 0), rtol=1e-4, atol=1e-5)
        self.assertIn("weights that were replaced",
                      str(self.failure(lambda: model.again("maxModelVerifyReplay", inputs[0]))))

    def test_capture_is_refused(self):
        """Where the host has a part in the call; the message names the node."""
        for data, shape, text in ((HOSTED, (2, 4), "Scaler"), (self.sized(), (4,), "depend on values")):
            model = DeviceModel(data, API)
            error = self.failure(lambda model=model, shape=shape: model.capture([model.wrap(self.floats(*shape))]))
            self.assertEqual(error.status, FAILED_PRECONDITION)
            self.assertIn(text, str(error))

    def settle(self, expected, *where):
        """Of the driver's objects, some go a moment after the last use."""
        deadline = time.monotonic() + 20
        while expected not in fake_text("fakeGpuDescribeLiveObjects") and time.monotonic() < deadline:
            time.sleep(0.001)
        self.assertIn(expected, fake_text("fakeGpuDescribeLiveObjects"), where)

    def test_failing_calls_of_captures(self):
        """Each driver call of a capture and two replays fails once: the error is clear, and nothing is left."""
        data = ROOT / "examples/digits/digits.onnx"
        model, x = DeviceModel(data, API), self.floats(1, 1, 8, 8)
        stream, inputs = device_library.stream_of(model.accelerator), [model.wrap(x)]
        expected = model.run([x])[0]

        def attempt():
            try:
                output = model.capture(inputs, stream)[0]
                for _ in range(2):
                    model.replay(inputs, stream)
                result = library.array_of(output)
            finally:
                with contextlib.suppress(library.Failure):
                    model.forget()
            return result

        attempt()
        first = fake_count("fakeGpuGetCallCount")
        attempt()
        calls, failed = fake_count("fakeGpuGetCallCount") - first, set()
        for code in (2, 999):
            for n in range(1, calls + 1):
                fake("fakeGpuFailCall", ctypes.c_int64(n), ctypes.c_int32(code))
                try:
                    attempt()
                except library.Failure as failure:
                    self.assertIn(f" on {API}:0", str(failure))
                    failed.add(str(failure).split(":")[0])
                fake("fakeGpuFailCall", ctypes.c_int64(0), ctypes.c_int32(0))
                np.testing.assert_allclose(attempt(), expected, rtol=1e-4, atol=1e-5)
                library.call("maxDeviceTrim", model.accelerator)
                self.settle(", 0 graphs", (code, n))
        del model, inputs, stream
        gc.collect()
        self.settle("0 contexts, 0 allocations, 0 of host memory, 0 streams, 0 events, 0 modules, 0 graphs")
        for name in ("BeginCapture", "EndCapture", "GraphInstantiate", "GraphLaunch", "Launch"):
            self.assertTrue(any(name in text for text in failed), (name, failed))

    def test_repeated_calls(self):
        """A call with the shapes and the memory of earlier ones becomes one launch of a graph."""
        data = ROOT / "examples/digits/digits.onnx"
        model, here = DeviceModel(data, API), library.Model(data)
        arrays = [self.floats(1, 1, 8, 8) for _ in range(3)]
        inputs = [[model.wrap(x)] for x in arrays]
        expected = [here.run([x])[0] for x in arrays]
        calls, graphs = [], []
        for k in range(18):
            before = fake_count("fakeGpuGetCallCount"), fake_count("fakeGpuGetCount", FAKE_GRAPHS)
            outputs = model.execute(inputs[k % 3])
            calls.append(fake_count("fakeGpuGetCallCount") - before[0])
            graphs.append(fake_count("fakeGpuGetCount", FAKE_GRAPHS) - before[1])
            np.testing.assert_allclose(library.array_of(outputs[0]), expected[k % 3], rtol=1e-4, atol=1e-5)
            del outputs
        self.assertEqual(graphs, [0] * 6 + [1] * 12)
        # Others come now and then: whether memory of earlier calls is free again.
        self.assertLessEqual(statistics.median(calls[9:]), 4)
        self.assertGreater(min(calls[3:6]), 8)
        # Memory that has not come before, and then other weights.
        kept = [model.execute(inputs[0])[0] for _ in range(6)]
        for output in kept:
            np.testing.assert_allclose(library.array_of(output), expected[0], rtol=1e-4, atol=1e-5)

    def made_by(self, build):
        with tempfile.TemporaryDirectory() as folder:
            build(f"{folder}/model.onnx")
            return onnx.load(f"{folder}/model.onnx")

    def check_launches(self, model, inputs, most, tolerance=1e-4):
        """No call after the first allocates or waits; a call is so many launches, or one of a graph."""
        data = model.SerializeToString()
        there, expected = DeviceModel(data, API), library.Model(data).run(inputs)
        buffers = [there.wrap(array) for array in inputs]
        for call in range(5):
            before = [fake_count("fakeGpuGetCount", what) for what in range(5)]
            outputs = there.execute(buffers)
            counts = [fake_count("fakeGpuGetCount", what) - count for what, count in enumerate(before)]
            if call > 0:
                self.assertEqual((counts[FAKE_ALLOCATIONS], counts[FAKE_WAITS]), (0, 0))
            if call == 1:
                self.assertEqual(counts[FAKE_LAUNCHES], counts[FAKE_QUEUED])
                self.assertLessEqual(counts[FAKE_LAUNCHES], most)
            if call > 2:
                self.assertEqual((counts[FAKE_LAUNCHES] if call > 3 else 0, counts[FAKE_GRAPHS]), (0, 1))
            for mine, wanted in zip(outputs, expected, strict=True):
                np.testing.assert_allclose(library.array_of(mine), wanted, rtol=1e-3, atol=tolerance)
            del outputs, mine

    def test_launches_of_resnet(self):
        with unittest.mock.patch.object(resnet50, "STAGES", ((4, 3, 1), (4, 4, 2), (8, 6, 2), (8, 3, 2))):
            model = self.made_by(resnet50.build)
        for axis in (2, 3):
            model.graph.input[0].type.tensor_type.shape.dim[axis].dim_value = 32
        self.check_launches(model, [self.floats(1, 3, 32, 32)], 70)

    def test_launches_of_bert(self):
        layers = 3
        sizes = {"VOCABULARY": 20, "POSITIONS": 16, "HIDDEN": 32, "LAYERS": layers, "HEADS": 4, "INNER": 64}
        with unittest.mock.patch.multiple(bert, **sizes):
            model = self.made_by(bert.build)
        words = [self.random.integers(0, most, (2, 8)) for most in (20, 2, 2)]
        self.check_launches(model, words, 7 * layers + 7)  # of twelve layers at most eight for each

    def test_launches_of_recurrent_layers(self):
        """One product for all steps, one launch that sets states, and one for each step; an early reset gate has its own."""
        for op, gates, each in (("LSTM", 4, 1), ("GRU", 3, 2)):
            constants = [("w", self.floats(1, gates * 130, 9) / 3), ("r", self.floats(1, gates * 130, 130) / 9)]
            node = helper.make_node(op, ["x", "w", "r"], ["y"], hidden_size=130)
            model = onnx.load_from_string(model_of([node], [tensor("x", [5, 2, 9])], [tensor("y", None)], constants))
            self.check_launches(model, [self.floats(5, 2, 9)], 2 + 5 * each)
        w, r = (self.random.integers(-128, 128, (1, n, 520), np.int8) for n in (9, 130))
        constants = [("w", w), ("r", r), ("s", np.full(1, 0.002, np.float32)), ("z", np.int8([3]))]
        node = helper.make_node("DynamicQuantizeLSTM", ["x", "w", "r", "", "", "", "", "", "s", "z", "s", "z"], ["y"],
                                domain="com.microsoft", hidden_size=130)
        model = onnx.load_from_string(model_of([node], [tensor("x", [5, 2, 9])], [tensor("y", None)], constants))
        self.check_launches(model, [self.floats(5, 2, 9)], 2 + 5, tolerance=0.03)

    def profile_of(self, model):
        with tempfile.TemporaryDirectory() as folder:
            library.call("maxSessionWriteProfile", model.session, f"{folder}/trace.json".encode())
            return json.loads(pathlib.Path(folder, "trace.json").read_text())["traceEvents"]

    def test_profile(self):
        """Steps on the device have its own times, on a track of its own, within the call; those of the host are beside them."""
        model, x = DeviceModel(HOSTED, API), self.floats(3, 4)
        model.run([x])
        library.call("maxSessionSetProfiling", model.session, ctypes.c_int32(1))
        for _ in range(5):  # no graph hides the steps
            model.run([x])
        events = self.profile_of(model)
        names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.assertEqual([name for name in names.values() if not name.startswith("thread ")], [f"{API}:0"])
        calls = [event for event in events if event.get("cat") == "model"]
        self.assertEqual(len(calls), 5)
        for call in calls:
            inside = sorted((event for event in events if event["ph"] == "X" and event is not call
                             and call["ts"] <= event["ts"] < call["ts"] + call["dur"]), key=lambda event: event["ts"])
            there = [event for event in inside if names[event["tid"]] == f"{API}:0"]
            self.assertEqual([event["cat"] for event in there], ["Softmax", "Copy", "Copy", "Softmax"])
            for event, following in zip(there, there[1:] + [{"ts": call["ts"] + call["dur"]}], strict=True):
                self.assertGreaterEqual(event["dur"], 0)
                self.assertLessEqual(event["ts"] + event["dur"], following["ts"] + 1)  # microseconds, from a float's milliseconds
            here = {event["name"]: event for event in inside if event not in there}
            self.assertIn("wait_for_device", here)
            self.assertIn("ai.onnx.ml.Scaler", {event["cat"] for event in here.values()})

    def test_ranges(self):
        """The vendor's profiler is told of calls and steps; those that fail end, too."""
        ranges = ctypes.CDLL(os.environ[{"cuda": "MAX_NVTX_LIBRARY", "hip": "MAX_ROCTX_LIBRARY"}[API]]).fakeRangesTakeText
        ranges.restype = ctypes.c_char_p
        model, x = DeviceModel(ROOT / "examples/digits/digits.onnx", API), self.floats(1, 1, 8, 8)
        ranges()
        model.run([x])
        self.assertEqual(ranges(), b"")
        for mode in (1, 2):
            library.call("maxSessionSetProfiling", model.session, ctypes.c_int32(mode))
            model.run([x])
            self.assertEqual(ranges().decode(), "digits(conv1()conv2()pool2()conv3()pool3()dense1()dense2()probabilities())")
        inputs = [model.wrap(x)]
        fake("fakeGpuFailCall", ctypes.c_int64(12), ctypes.c_int32(999))
        self.failure(lambda: model.execute(inputs))
        text = ranges().decode()
        self.assertTrue(text.startswith("digits(conv1(") and text.endswith("))"), text)
        self.assertEqual(text.count("("), text.count(")"))

    def test_failing_calls_of_profiles(self):
        model, x = DeviceModel(CHAIN, API), self.floats(3, 4)
        expected = model.run([x])[0]
        library.call("maxSessionSetProfiling", model.session, ctypes.c_int32(1))
        inputs = [model.wrap(x)]
        first = fake_count("fakeGpuGetCallCount")
        del model.execute(inputs)[:]
        calls = fake_count("fakeGpuGetCallCount") - first
        for n in range(1, calls + 1):
            fake("fakeGpuFailCall", ctypes.c_int64(n), ctypes.c_int32(999))
            try:
                del model.execute(inputs)[:]
            except library.Failure as failure:
                self.assertIn(f" on {API}:0", str(failure))
            fake("fakeGpuFailCall", ctypes.c_int64(0), ctypes.c_int32(0))
        np.testing.assert_allclose(model.run([x])[0], expected)
        del model, inputs
        gc.collect()
        self.settle("0 streams, 0 events, 0 modules")

    def test_random_numbers_are_not_repeated(self):
        """A graph would give the same ones again, as it does where a seed asks for that."""
        for seed in ({}, {"seed": 3.0}):
            model = DeviceModel(model_of(
                [helper.make_node("Softmax", ["x"], ["a"]), helper.make_node("RandomNormalLike", ["a"], ["b"], **seed),
                 helper.make_node("Softmax", ["b"], ["c"]), helper.make_node("Softmax", ["c"], ["y"])],
                [tensor("x", ["n", 4])], [tensor("y", None)]), API)
            inputs, results = [model.wrap(self.floats(2, 4))], set()
            for _ in range(8):
                results.add(library.array_of(model.execute(inputs)[0]).tobytes())
            self.assertEqual(len(results), 1 if seed else 8)
            if not seed:
                self.assertIn("RandomNormalLike", str(self.failure(lambda model=model, x=inputs: model.capture(x))))

    def test_graphs_in_threads(self):
        """Repeated and captured calls of one model on several streams, while captures come and go and memory is given back."""
        data, problems = ROOT / "examples/digits/digits.onnx", []
        model, here = DeviceModel(data, API), library.Model(data)
        arrays = [self.floats(count, 1, 8, 8) for count in (1, 2)]
        expected = [here.run([x])[0] for x in arrays]

        def check(output, k):
            if not np.allclose(library.array_of(output), expected[k], rtol=1e-4, atol=1e-5):
                problems.append(k)

        def work(number):
            stream = device_library.stream_of(model.accelerator) if number else None
            inputs = [[model.wrap(x)] for x in arrays]
            for call in range(36):
                k, key = call // 6 % 2, 10 * number + call // 6 % 2
                if call % 6 == 0:
                    captured = model.capture(inputs[k], stream, key)[0]
                check(model.execute(inputs[k], stream)[0], k)
                model.replay(inputs[k], stream, key)
                if call % 6 == 5:
                    check(captured, k)
                    model.forget(key)
                    library.call("maxDeviceTrim", model.accelerator)

        before = fake_count("fakeGpuGetCount", FAKE_GRAPHS)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(problems)
        self.assertGreater(fake_count("fakeGpuGetCount", FAKE_GRAPHS), before + 3 * 36)

    def test_info(self):
        """The command says what runs where, and what the model takes of the device's memory."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.onnx")
            path.write_bytes(HOSTED)
            shown = [subprocess.run([os.environ["MAX_COMMAND"], "info", path, "--device", API, *more], capture_output=True,
                                    text=True, check=True).stdout for more in ([], ["--json"])]
        operators = f"2 of 3 operators run on {API}:0; on the host 1: Scaler"
        self.assertIn(f"placement  {operators}\nmemory     ", shown[0])
        device = json.loads(shown[1])["device"]
        self.assertEqual((device["name"], device["operators"]), (API, operators))
        self.assertGreaterEqual(device["total_memory"], device["memory"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
