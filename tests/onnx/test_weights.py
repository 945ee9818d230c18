# SPDX-License-Identifier: Apache-2.0
"""Weights: external data, registries, .safetensors files, replacing, sharing, compiled models, memory."""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from unittest import mock

try:
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    from onnx.backend.test.loader import load_model_tests
    import test_nodes
    import weights as w
    from weights import FileModel, Failure, WeightsFile, external, model_of
except ImportError as error:
    raise unittest.SkipTest(f"{error.name} is not installed") from error

ROOT = pathlib.Path(__file__).resolve().parents[2]


class WeightsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.random = np.random.default_rng(7)

    def floats(self, *shape):
        return self.random.standard_normal(shape, np.float32)

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def refused(self, status, *mentions, call):
        with self.assertRaises(Failure) as caught:
            call()
        self.assertEqual(caught.exception.status, status, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))
        for text in mentions:
            self.assertIn(text, str(caught.exception))

    def product(self, *tensors):
        """x @ b + c, by name."""
        nodes = [helper.make_node("MatMul", ["x", "b"], ["m"]), helper.make_node("Add", ["m", "c"], ["y"])]
        return model_of(nodes, [("x", ["n", 64])], [("y", ["n", 512])], {tensor.name: tensor for tensor in tensors})

    def check_product(self, model, b, c):
        x = self.floats(3, 64)
        np.testing.assert_allclose(model.run([x])[0], x @ b + c, rtol=1e-4, atol=1e-4)


class ExternalData(WeightsTest):
    def setUp(self):
        super().setUp()
        self.b, self.c = self.floats(64, 512), self.floats(512)

    def save(self, name="model.onnx", **entries):
        entries = {"location": "w.bin", "offset": 0, "length": self.b.nbytes, **entries}
        return self.write(name, self.product(external("b", [64, 512], **entries), numpy_helper.from_array(self.c, "c")))

    def test_offsets_lengths_and_checksums(self):
        for offset in (0, 1, 2, 64, 4099):
            self.write("w.bin", bytes(offset) + self.b.tobytes() + b"more")
            self.check_product(FileModel(self.save(offset=offset, checksum="0" * 40)), self.b, self.c)
        self.write("w.bin", self.b.tobytes())
        path = self.write("model.onnx", self.product(external("b", [64, 512], "w.bin"),
                                                     numpy_helper.from_array(self.c, "c")))
        self.check_product(FileModel(path), self.b, self.c)
        self.check_product(FileModel(path, copy=True), self.b, self.c)

    def test_beyond_two_gigabytes(self):
        offset = (5 << 30) + 12
        path = self.folder / "w.bin"
        path.touch()
        os.truncate(path, offset + self.b.nbytes)
        with open(path, "r+b") as file:
            file.seek(offset)
            file.write(self.b.tobytes())
        self.check_product(FileModel(self.save(offset=offset)), self.b, self.c)

    def test_files_outside_are_refused(self):
        model = "models/model.onnx"
        self.write("models/inside.bin", self.b.tobytes())
        self.write("outside.bin", self.b.tobytes())
        os.symlink("inside.bin", self.folder / "models/link.bin")
        os.symlink(".", self.folder / "models/loop")
        os.link(self.folder / "outside.bin", self.folder / "models/hard.bin")
        (self.folder / "models/folder").mkdir()
        os.mkfifo(self.folder / "models/pipe")
        for location in ("../outside.bin", str(self.folder / "outside.bin"), "link.bin", "loop/inside.bin", "hard.bin",
                         "a/../inside.bin", "./inside.bin", "", "folder", "pipe", "inside.bin/", "//inside.bin"):
            with self.subTest(location):
                missing = location in ("a/../inside.bin", "inside.bin/")
                self.refused(w.NOT_FOUND if missing else w.PERMISSION_DENIED, "tensor 'b'",
                             call=lambda: FileModel(self.save(model, location=location)))
        self.refused(w.PERMISSION_DENIED, "tensor 'b'", "no folder",
                     call=lambda: FileModel(self.save(location="w.bin").read_bytes()))

    def test_damaged_descriptions(self):
        self.write("w.bin", self.b.tobytes())
        self.refused(w.NOT_FOUND, "tensor 'b'", "none.bin", call=lambda: FileModel(self.save(location="none.bin")))
        for entries in ({"offset": 4}, {"offset": 1 << 62}, {"offset": (1 << 64) - 4}, {"length": self.b.nbytes - 4},
                        {"length": self.b.nbytes + 4}):
            self.refused(w.DATA_LOSS, "tensor 'b'", call=lambda: FileModel(self.save(**entries)))
        for entries in ({"offset": "-1"}, {"offset": "x"}, {"offset": 1 << 64}, {"length": ""}):
            self.refused(w.INVALID_ARGUMENT, "tensor 'b'", call=lambda: FileModel(self.save(**entries)))


class Registry(WeightsTest):
    def test_weights_whose_data_is_missing(self):
        b, c = self.floats(64, 512), self.floats(512)
        path = self.write("model.onnx", self.product(external("b", [64, 512], "gone.bin"),
                                                     external("c", [512], "../gone.bin")))
        self.check_product(FileModel(path, {"b": b, "c": c}), b, c)
        self.refused(w.PERMISSION_DENIED, "tensor 'c'", call=lambda: FileModel(path, {"b": b}))
        self.check_product(FileModel(path.read_bytes(), {"c": c, "b": b}), b, c)

    def test_wrong_weights(self):
        b, c = self.floats(64, 512), self.floats(512)
        path = self.write("model.onnx", self.product(*[numpy_helper.from_array(value, name)
                                                       for name, value in (("b", b), ("c", c))]))
        self.refused(w.NOT_FOUND, "'nothing'", call=lambda: FileModel(path, {"b": b, "nothing": c}))
        self.refused(w.INVALID_ARGUMENT, "'b'", "rank is 1, expected 2; given float32[512], the model has float32[64, 512]",
                     call=lambda: FileModel(path, {"b": c}))
        self.refused(w.INVALID_ARGUMENT, "'b'", "dtype is float64, expected float32", call=lambda: FileModel(path, {"b": b.astype(np.float64)}))
        model = FileModel(path)
        self.refused(w.NOT_FOUND, "'nothing'", call=lambda: model.replace({"b": b, "nothing": c}))
        self.refused(w.INVALID_ARGUMENT, "'b'", "float32[64, 512]", call=lambda: model.replace({"c": c, "b": c}))
        self.check_product(model, b, c)

    def test_weights_that_shapes_depend_on(self):
        nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"])]
        data = model_of(nodes, [("x", [6])], [("y", None)], {"shape": np.array([2, 3], np.int64)})
        x = self.floats(6)
        self.assertEqual(FileModel(data, {"shape": np.array([3, 2], np.int64)}).run([x])[0].shape, (3, 2))
        model = FileModel(data)
        self.assertEqual(model.run([x])[0].shape, (2, 3))
        model.replace({"shape": np.array([-1, 1], np.int64)})
        self.assertEqual(model.run([x])[0].shape, (6, 1))


class SafetensorsFiles(WeightsTest):
    def test_tensors(self):
        tensors = [("f32", "F32", self.floats(3, 5)), ("scalar", "F64", np.array(2.5)),
                   ("none", "F32", np.zeros((0, 4), np.float32)), ("i8", "I8", np.arange(-3, 4, dtype=np.int8)),
                   ("f16", "F16", self.floats(7).astype(np.float16)), ("i64", "I64", np.arange(3)),
                   ("Größe \"1\"\t\U0001f525", "BOOL", np.array([True, False]))]
        for align in (True, False):
            file = WeightsFile(self.write("w.safetensors", w.safetensors(tensors, align)))
            self.assertEqual(sorted(file.names()), sorted(name for name, _, _ in tensors))
            for name, _, array in tensors:
                found = file.array(name)
                self.assertEqual(found.dtype, array.dtype)
                np.testing.assert_array_equal(found, array)
            self.refused(w.NOT_FOUND, "'other'", call=lambda: file.buffer("other"))

    def test_as_a_registry_of_a_model(self):
        b, c = self.floats(64, 512), self.floats(512)
        tensors = [("b", "F32", b), ("c", "F32", c), ("padding", "U8", np.zeros(17 << 20, np.uint8))]
        file = WeightsFile(self.write("w.safetensors", w.safetensors(tensors)))
        path = self.write("model.onnx", self.product(external("b", [64, 512], "gone"), external("c", [512], "gone")))
        model = FileModel(path, {name: file.buffer(name) for name in "bc"})
        del file
        self.check_product(model, b, c)
        for name in ("padding", "c"):
            other = WeightsFile(self.folder / "w.safetensors")
            self.refused(w.INVALID_ARGUMENT if name == "c" else w.NOT_FOUND,
                         call=lambda: model.replace({("b" if name == "c" else name): other.buffer(name)}))
        self.check_product(model, b, c)

    def test_checkpoints(self):
        array = self.floats(3, 4)
        model = FileModel(model_of([helper.make_node("Identity", ["x"], ["y"])], [("x", [1])], [("y", [1])]))
        buffer = model.wrap(array)
        path = self.folder / "one.max"
        w.call("maxBufferSave", buffer, str(path).encode(), b"layer.weight")
        file = WeightsFile(path)
        self.assertEqual(file.names(), ["layer.weight"])
        np.testing.assert_array_equal(file.array("layer.weight"), array)

    def test_damaged_files(self):
        def header(text, data=b""):
            return len(text).to_bytes(8, "little") + text + data

        entry = '{"x":{"dtype":"%s","shape":%s,"data_offsets":%s}}'
        cases = [b"", b"\1", header(b""), header(b"[]"), header(b"{"), header(b"{}x"), (1 << 63).to_bytes(8, "little"),
                 (200).to_bytes(8, "little") + b"{}", header(b'{"x":1}'), header(b'{"x":{}}'), header(b'{"x":{"y":1}}'),
                 header(b"[" * 100000), header(b'{"a":' * 100000), header(b'{"x"'), header(b'{"\\uD800":{}}'),
                 header(b'{"\\q":{}}'), header(b'{"a\nb":{}}'), header(b'{"__metadata__":{"a":1}}'),
                 header(b'{"x":{"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]}}', bytes(4)),
                 header(b'{"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]},'
                        b'"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}', bytes(4))]
        for kind, shape, offsets in (("F32", "[1]", "[0,8]"), ("F32", "[2]", "[4,0]"), ("F32", "[3]", "[0,12]"),
                                     ("F32", "[4294967296,4294967296]", "[0,0]"), ("F32", "[-1]", "[0,4]"),
                                     ("F32", "[1.0]", "[0,4]"), ("F32", "[99999999999999999999]", "[0,4]"),
                                     ("F32", "[9223372036854775808]", "[0,4]"), ("F32", str([1] * 100), "[0,4]"),
                                     ("F32", "[1]", "[0]"), ("F32", "[1]", "[0,4,8]"), ("F32", "1", "[0,4]"),
                                     ("F32", "[1]", "[18446744073709551612,18446744073709551616]")):
            cases.append(header((entry % (kind, shape, offsets)).encode(), bytes(8)))
        for data in cases:
            path = self.write("bad.safetensors", data)
            self.refused(w.DATA_LOSS, "bad.safetensors", call=lambda: WeightsFile(path))
        path = self.write("bad.safetensors", header((entry % ("F7", "[1]", "[0,4]")).encode(), bytes(4)))
        self.refused(w.UNIMPLEMENTED, "'x'", "F7", call=lambda: WeightsFile(path))
        self.refused(w.NOT_FOUND, call=lambda: WeightsFile(self.folder / "none"))


def convolutions(random, channels=64):
    """Weights that the compiler folds, transposes and packs: x -> conv -> norm -> relu -> gemm."""
    def floats(*shape):
        return random.standard_normal(shape, np.float32) / 8
    tensors = {"filter": floats(channels, channels, 3, 3), "scale": floats(channels), "shift": floats(channels),
               "mean": floats(channels), "variance": np.abs(floats(channels)) + 1, "dense": floats(40, channels * 16),
               "bias": floats(40), "last": floats(40, 40)}
    nodes = [helper.make_node("Conv", ["x", "filter"], ["a"], pads=[1, 1, 1, 1]),
             helper.make_node("BatchNormalization", ["a", "scale", "shift", "mean", "variance"], ["b"]),
             helper.make_node("Relu", ["b"], ["c"]), helper.make_node("Flatten", ["c"], ["d"]),
             helper.make_node("Gemm", ["d", "dense", "bias"], ["e"], transB=1), helper.make_node("Neg", ["bias"], ["f"]),
             helper.make_node("Add", ["e", "f"], ["g"]), helper.make_node("MatMul", ["g", "last"], ["y"])]
    return tensors, model_of(nodes, [("x", ["n", channels, 4, 4])], [("y", ["n", 40])], tensors)


class Replacing(WeightsTest):
    def test_whatever_the_compiler_made_of_them(self):
        tensors, data = convolutions(self.random)
        other, _ = convolutions(self.random)
        path = self.write("model.onnx", data)
        x = self.floats(2, 64, 4, 4)
        model = FileModel(path)
        before = model.run([x])[0]
        changes = {}
        for name in tensors:
            changes[name] = other[name]
            model.replace({name: other[name]})
            np.testing.assert_allclose(model.run([x])[0], FileModel(path, changes).run([x])[0], rtol=1e-5, atol=1e-5)
        self.assertGreater(np.abs(model.run([x])[0] - before).max(), 0.1)
        model.replace(tensors)
        np.testing.assert_array_equal(model.run([x])[0], before)

    def test_running_calls_see_old_or_new(self):
        """y = x @ b + c with all weights k: every element of y is 64 k + k, never a mixture."""
        tensors = [numpy_helper.from_array(np.ones(shape, np.float32), name)
                   for name, shape in (("b", (64, 512)), ("c", (512,)))]
        model = FileModel(self.write("model.onnx", self.product(*tensors)), threads=1)
        x, wrong, done = np.ones((3, 64), np.float32), [], threading.Event()

        def run():
            while not done.is_set():
                y = model.run([x])[0]
                if np.ptp(y) != 0 or y[0, 0] % 65 != 0:
                    wrong.append(y)

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for k in range(200):
            model.replace({"b": np.full((64, 512), k, np.float32), "c": np.full(512, k, np.float32)})
            self.assertEqual(model.run([x])[0][0, 0], 65 * k)
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_files_that_have_changed(self):
        b, c = self.floats(64, 512), self.floats(512)
        tensors = [external("b", [64, 512], "w.bin"), numpy_helper.from_array(c, "c")]
        path = self.write("model.onnx", self.product(*tensors))
        self.write("w.bin", b.tobytes())
        model = FileModel(path)
        self.write("new.bin", (2 * b).tobytes()).replace(self.folder / "w.bin")
        self.refused(w.FAILED_PRECONDITION, "w.bin", "changed", call=lambda: model.replace({"c": c}))
        model = FileModel(path)
        self.write("new.onnx", self.product(*tensors)).replace(path)
        self.refused(w.FAILED_PRECONDITION, "model.onnx", "changed", call=lambda: model.replace({"c": c}))
        path.unlink()
        self.refused(w.NOT_FOUND, "model.onnx", call=lambda: model.save(self.folder / "out"))
        self.check_product(model, 2 * b, c)

    def test_weights_that_are_not_kept(self):
        b = self.floats(64, 70000)
        data = model_of([helper.make_node("MatMul", ["x", "b"], ["y"])], [("x", [1, 64])], [("y", [1, 70000])],
                        {"b": b})
        x = self.floats(1, 64)
        path = self.write("model.onnx", data)
        for model in (FileModel(data), FileModel(path, copy=True)):
            np.testing.assert_allclose(model.run([x])[0], x @ b, rtol=1e-4, atol=1e-4)
            self.refused(w.FAILED_PRECONDITION, call=lambda: model.replace({"b": b}))
            self.refused(w.FAILED_PRECONDITION, call=lambda: model.save(self.folder / "out"))
            np.testing.assert_allclose(model.run([x])[0], x @ b, rtol=1e-4, atol=1e-4)
        model = FileModel(path)
        model.replace({"b": 2 * b})
        np.testing.assert_allclose(model.run([x])[0], 2 * (x @ b), rtol=1e-4, atol=1e-4)


class CompiledModels(WeightsTest):
    def test_the_same_results(self):
        tensors, data = convolutions(self.random)
        path = self.write("model.onnx", data)
        x = self.floats(2, 64, 4, 4)
        model = FileModel(path)
        model.save(self.folder / "model.maxc")
        compiled = FileModel(self.folder / "model.maxc")
        np.testing.assert_array_equal(compiled.run([x])[0], model.run([x])[0])
        compiled.save(self.folder / "again.maxc")
        again = FileModel((self.folder / "again.maxc").read_bytes())
        np.testing.assert_array_equal(again.run([x])[0], model.run([x])[0])
        # "last" is used unchanged, "filter" is folded into other weights.
        for each in (model, compiled, again):
            each.replace({"last": tensors["last"] * 2})
        np.testing.assert_allclose(compiled.run([x])[0], model.run([x])[0], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(again.run([x])[0], model.run([x])[0], rtol=1e-5, atol=1e-5)
        self.refused(w.NOT_FOUND, "'filter'", call=lambda: compiled.replace({"filter": tensors["filter"]}))
        model.save(self.folder / "model.maxc")
        np.testing.assert_array_equal(FileModel(self.folder / "model.maxc").run([x])[0], model.run([x])[0])

    def test_branches_loops_and_names(self):
        inner = helper.make_graph([helper.make_node("Mul", ["x", "two"], ["z"])], "then", [],
                                  [helper.make_tensor_value_info("z", 1, None)],
                                  [numpy_helper.from_array(np.float32(2), "two")])
        outer = helper.make_graph([helper.make_node("Add", ["x", "two"], ["w"])], "else", [],
                                  [helper.make_tensor_value_info("w", 1, None)])
        body = helper.make_graph(
            [helper.make_node("Identity", ["go"], ["still"]), helper.make_node("Add", ["carry", "two"], ["next"])],
            "body", [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("go", 9, []),
                     helper.make_tensor_value_info("carry", 1, None)],
            [helper.make_tensor_value_info("still", 9, []), helper.make_tensor_value_info("next", 1, None)])
        nodes = [helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0), helper.make_node("Less", ["s", "zero"], ["p"]),
                 helper.make_node("If", ["p"], ["q"], then_branch=inner, else_branch=outer),
                 helper.make_node("Loop", ["count", "", "q"], ["y"], body=body),
                 helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Cast", ["shape"], ["n"], to=1)]
        data = model_of(nodes, [("x", ["n"])], [("y", ["n"]), ("n", [1])],
                        {"two": np.float32(10), "zero": np.float32(0), "count": np.int64(3)})
        model = FileModel(self.write("model.onnx", data))
        model.save(self.folder / "model.maxc")
        compiled = FileModel(self.folder / "model.maxc")
        for x in (np.array([1, 2], np.float32), np.array([-1, -2, -3], np.float32)):
            for mine, theirs in zip(compiled.run([x]), model.run([x])):
                np.testing.assert_array_equal(mine, theirs)

    def test_the_models_at_hand(self):
        for path in sorted((ROOT / "build/wheels").rglob("*.onnx"))[:12] + [ROOT / "examples/digits/digits.onnx"]:
            with self.subTest(path.name):
                model = FileModel(path)
                model.save(self.folder / "model.maxc")
                FileModel(self.folder / "model.maxc")

    def test_damaged_files(self):
        FileModel(self.write("model.onnx", convolutions(self.random, 4)[1])).save(self.folder / "model.maxc")
        whole = (self.folder / "model.maxc").read_bytes()
        path = self.folder / "bad.maxc"
        for size in range(8, len(whole), len(whole) // 64):
            path.write_bytes(whole[:size])
            self.refused(w.DATA_LOSS, "bad.maxc", "damaged", call=lambda: FileModel(path))
        for at in list(range(8, 80)) + list(range(128, len(whole), 61)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1:])
            # Bytes between the parts mean nothing.
            try:
                FileModel(path)
            except Failure as failure:
                self.assertIn(failure.status, (w.DATA_LOSS, w.UNIMPLEMENTED), str(failure))
                self.assertIn("bad.maxc", str(failure))
        newer = bytearray(whole)
        newer[8:12] = (2).to_bytes(4, "little")
        path.write_bytes(newer)
        self.refused(w.UNIMPLEMENTED, "version 2", call=lambda: FileModel(path))
        path.write_bytes(b"other" + whole)
        self.refused(w.DATA_LOSS, "bad.maxc", call=lambda: FileModel(path))


def node(op, inputs, output="y", **attributes):
    return helper.make_node(op, inputs.split(","), [output], **attributes)


class LargeWeights(WeightsTest):
    """Operators whose weights are packed and given up, where they lie in mapped files too, against weights as inputs."""

    def cases(self):
        """(nodes, shapes of inputs, shapes of weights)"""
        image = {"x": (1, 64, 9, 9)}
        for padding in ("SAME_UPPER", "VALID", "NOTSET"):
            yield [node("Conv", "x,w,b", auto_pad=padding)], image, {"w": (64, 64, 3, 3), "b": (64,)}
        yield [node("Conv", "x,w", strides=[2])], {"x": (2, 64, 33)}, {"w": (128, 64, 5)}
        yield [node("Conv", "x,w", pads=[1] * 6)], {"x": (1, 32, 5, 5, 5)}, {"w": (32, 32, 3, 3, 3)}
        yield [node("Conv", "x,w", group=2, dilations=[2, 2])], image, {"w": (128, 32, 3, 3)}
        yield [node("Conv", "x,w", group=2048)], {"x": (1, 2048, 5, 5)}, {"w": (2048, 1, 3, 3)}
        for padding in ("SAME_UPPER", "NOTSET"):
            yield [node("ConvTranspose", "x,w", strides=[2, 2], auto_pad=padding)], image, {"w": (64, 64, 3, 3)}
        yield [node("MatMul", "x,w")], {"x": (3, 20000)}, {"w": (20000,)}
        yield [node("MatMul", "x,w")], {"x": (3, 200000)}, {"w": (200000, 2)}
        yield [node("MatMul", "x,w")], {"x": (8, 3, 64)}, {"w": (8, 64, 512)}
        yield [node("MatMul", "w,x")], {"x": (512, 3)}, {"w": (64, 512)}
        yield [node("Gemm", "x,w,c", transB=1, alpha=0.5, beta=2.0)], {"x": (5, 512), "c": (5, 128)}, {"w": (128, 512)}
        yield [node("Gemm", "x,w,c", transA=1)], {"x": (512, 5)}, {"w": (512, 128), "c": (1, 128)}
        yield [node("Transpose", "w", "t", perm=[1, 0]), node("MatMul", "x,w", "a"),
               node("Gemm", "a,w", "b", transB=1), node("Add", "b,t")], {"x": (300, 256)}, {"w": (256, 300)}
        yield [node("LSTM", "x,w,r,b", hidden_size=64)], {"x": (5, 2, 64)}, {"w": (1, 256, 64), "r": (1, 256, 64),
                                                                            "b": (1, 512)}
        yield [node("LSTM", "x,w,r,,,,,p", hidden_size=64, direction="bidirectional", clip=0.5)], \
            {"x": (5, 2, 64)}, {"w": (2, 256, 64), "r": (2, 256, 64), "p": (2, 192)}
        yield [node("GRU", "x,w,r", hidden_size=96)], {"x": (5, 2, 64)}, {"w": (1, 288, 64), "r": (1, 288, 96)}
        yield [node("MatMul", "x,w", "a"), node("Add", "a,b", "c"), node("Add", "c,d")], {"x": (2, 8)}, \
            {"w": (8, 30000), "b": (1, 30000), "d": (30000,)}

    def test_where_they_are_known_and_where_not(self):
        path = self.folder / "model.onnx"
        for nodes, shapes, weights in self.cases():
            inputs = {name: self.floats(*shape) / 8 for name, shape in shapes.items()}
            tensors = {name: self.floats(*shape) / 8 for name, shape in weights.items()}
            everything = [(name, value.shape) for name, value in {**inputs, **tensors}.items()]
            open_model = FileModel(model_of(nodes, everything, [("y", None)]))
            expected = open_model.run([*inputs.values(), *tensors.values()])[0]
            for is_known in (True, False):
                ports = [(name, value.shape if is_known else None) for name, value in inputs.items()]
                data = model_of(nodes, ports, [("y", None)], tensors)
                # An unknown field makes the file so long that it is mapped, with its weights at odd places.
                for whole in (data, data + b"\xfa\x01\x80\x80\x80\x09" + bytes(9 << 21)):
                    path.write_bytes(whole)
                    with self.subTest(f"{nodes[-1].op_type} {weights} {is_known} {len(whole)}"):
                        np.testing.assert_allclose(FileModel(path).run(list(inputs.values()))[0], expected, rtol=1e-3,
                                                   atol=1e-3)


class CompiledNodes(unittest.TestCase):
    """ONNX's node tests on models that were saved and loaded again."""

    class Saved:
        def __new__(cls, data):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model.maxc"
                FileModel(data).save(path)
                return FileModel(path)

    def test_every_fifth_case(self):
        warnings.simplefilter("ignore")
        with mock.patch("library.Model", self.Saved):
            for case in load_model_tests(kind="node")[::5]:
                outcome, detail = test_nodes.run_case(case)
                self.assertNotEqual(outcome, "failed", f"{case.name}: {detail}")


# What a child process does with sys.argv[2:], and prints in MB.
CHILD = {}


def child(function):
    CHILD[function.__name__] = function
    return function


def big_model(folder, rows=6000, separate=False):
    """Some 100 MB of weights at odd places: a table to gather from, products, a convolution with a norm."""
    random = np.random.default_rng(1)

    def floats(*shape):
        return random.standard_normal(shape, np.float32) / 30
    tensors = {"table": floats(rows, 1024), "filter": floats(512, 512, 3, 3), "scale": floats(512),
               "shift": floats(512), "mean": floats(512), "variance": np.abs(floats(512)) + 1}
    nodes = [helper.make_node("Gather", ["table", "ids"], ["h0"])]
    for i in range(16):
        tensors[f"w{i}"] = floats(1024, 1024)
        nodes.append(helper.make_node("MatMul", [f"h{i}", f"w{i}"], [f"h{i + 1}"]))
    nodes += [helper.make_node("BatchNormalization", ["conv", "scale", "shift", "mean", "variance"], ["z"]),
              helper.make_node("Conv", ["image", "filter"], ["conv"])]
    nodes[-2:] = reversed(nodes[-2:])
    graph = helper.make_graph(nodes, "big", [helper.make_tensor_value_info("ids", 7, ["n"]),
                                             helper.make_tensor_value_info("image", 1, [1, 512, 4, 4])],
                              [helper.make_tensor_value_info("h16", 1, None),
                               helper.make_tensor_value_info("z", 1, None)],
                              [numpy_helper.from_array(value, name) for name, value in tensors.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    path = pathlib.Path(folder) / "big.onnx"
    if separate:
        onnx.save_model(model, path, save_as_external_data=True, location="big.bin", size_threshold=0)
    else:
        path.write_bytes(model.SerializeToString())
    return path, sum(value.nbytes for value in tensors.values()) / 2**20


INPUTS = [np.arange(4), np.ones((1, 512, 4, 4), np.float32)]


@child
def peak_of_load(path):
    before = w.memory("VmRSS")
    w.reset_peak()
    model = FileModel(path)
    peak = w.memory("VmHWM") - before
    model.run(INPUTS)
    print(peak)


@child
def growth_of_second(path, other):
    first = FileModel(path)
    expected = first.run(INPUTS)
    before = w.memory("VmRSS")
    second = FileModel(path if other == "same" else other)
    for mine, theirs in zip(second.run(INPUTS), expected):
        np.testing.assert_array_equal(mine, theirs)
    print(w.memory("VmRSS") - before)


@child
def growth_by_replacing(path):
    model, other = FileModel(path), FileModel(path)
    expected = model.run(INPUTS)
    other.run(INPUTS)
    before = w.memory("VmRSS")
    w.reset_peak()
    model.replace({"w3": np.zeros((1024, 1024), np.float32)})
    assert not model.run(INPUTS)[0].any()
    print(w.memory("VmHWM") - before)
    for unchanged in (other, FileModel(path)):
        for mine, right in zip(unchanged.run(INPUTS), expected):
            np.testing.assert_array_equal(mine, right)


@child
def peak_of_failure(path):
    before = w.memory("VmRSS")
    w.reset_peak()
    try:
        FileModel(path)
    except Failure as failure:
        print(failure, file=sys.stderr)
    print(w.memory("VmHWM") - before)


@child
def file_pages_of_load(path):
    FileModel(path)  # pages of the library, of which a sanitizer makes many
    before = w.memory("RssFile")
    model = FileModel(path)
    print(w.memory("RssFile") - before)
    del model


class Memory(WeightsTest):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.path, cls.size = big_model(cls.holder.name)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def in_child(self, function, *arguments):
        result = subprocess.run([sys.executable, __file__, "--child", function.__name__, *map(str, arguments)],
                                stdout=subprocess.PIPE, check=True, timeout=300)
        return float(result.stdout)

    def test_peak_of_a_load(self):
        self.assertLess(self.in_child(peak_of_load, self.path), 1.1 * self.size + 20)

    def test_models_of_one_file_share_it(self):
        self.assertLess(self.in_child(growth_of_second, self.path, "same"), 0.1 * self.size)

    def test_external_data(self):
        path, size = big_model(self.folder, separate=True)
        self.assertLess(self.in_child(peak_of_load, path), 1.1 * size + 20)
        self.assertLess(self.in_child(growth_of_second, path, "same"), 0.1 * size)
        # A file that took the place of another is another, even while a model of the first lives.
        first = FileModel(path)
        before = first.run(INPUTS)[0]
        data = bytearray((self.folder / "big.bin").read_bytes())
        data[-1024 * 1024 * 4:] = bytes(1024 * 1024 * 4)  # the last product's weights
        self.write("new.bin", data).replace(self.folder / "big.bin")
        self.assertFalse(FileModel(path).run(INPUTS)[0].any())
        np.testing.assert_array_equal(first.run(INPUTS)[0], before)

    def test_tables_are_read_where_a_call_reads_most(self):
        table = self.floats(24, 1 << 18)  # 24 MB

        def pages(indices):
            nodes = [helper.make_node("Cast", ["x"], ["i"], to=onnx.TensorProto.INT64),
                     helper.make_node("Gather", ["table", "i"], ["rows"]), helper.make_node("ReduceSum", ["rows"], ["y"]),
                     helper.make_node("MatMul", ["z", "packed"], ["product"])]
            inputs, outputs = [("x", [indices]), ("z", [200, 24])], [("y", None), ("product", None)]
            path = self.write("table.onnx", model_of(nodes, inputs, outputs, {"table": table, "packed": table}))
            return self.in_child(file_pages_of_load, path)
        if sys.platform == "linux" and tuple(map(int, os.uname().release.split(".")[:2])) >= (5, 14):
            self.assertGreater(pages(200), 20)
        self.assertLess(pages(200), 40)  # packed weights are not read again
        self.assertLess(pages(2), 12)

    def test_threads_that_load_the_same_file(self):
        expected, wrong = FileModel(self.path).run(INPUTS), []

        def load():
            for _ in range(3):
                for mine, right in zip(FileModel(self.path).run(INPUTS), expected):
                    if not np.array_equal(mine, right):
                        wrong.append(mine)

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_replacing_keeps_the_others(self):
        # Folded weights (here the convolution's) are made again.
        self.assertLess(self.in_child(growth_by_replacing, self.path), 0.6 * self.size)

    def test_compiled_models(self):
        compiled = self.folder / "big.maxc"
        FileModel(self.path).save(compiled)
        self.assertLess(self.in_child(peak_of_load, compiled), 1.1 * self.size + 20)
        self.assertLess(self.in_child(growth_of_second, compiled, "same"), 0.1 * self.size)
        self.assertGreater(self.in_child(growth_of_second, self.path, compiled), 0.5 * self.size)

    def test_small_files_stay_small(self):
        """A file of a kilobyte cannot make the load take more than 64 MB."""
        def constant(name, *dims):
            return numpy_helper.from_array(np.array(dims, np.int64), name)
        chains = []
        for dims in ([1 << 28], [1 << 20], [1 << 19, 1], [8, 1 << 16], [1 << 40], [3, 1 << 17]):
            nodes = [helper.make_node("ConstantOfShape", ["shape"], ["a"])]
            nodes += [helper.make_node("Add", ["a", "a"], ["b"]), helper.make_node("Exp", ["b"], ["c"]),
                      helper.make_node("Tile", ["c", "tiles"], ["d"]), helper.make_node("Expand", ["c", "wide"], ["e"])]
            outputs, last = [], "a"
            for i in range(8):
                nodes += [helper.make_node("Reshape", [last, f"s{i}"], [f"r{i}"]),
                          helper.make_node("MatMul", ["x", f"r{i}"], [f"y{i}"])]
                outputs.append((f"y{i}", None))
            tensors = {"shape": constant("shape", *dims), "tiles": constant("tiles", *[4] * len(dims)),
                       "wide": constant("wide", 16, *dims)}
            tensors.update({f"s{i}": constant(f"s{i}", -1, 1 << (i % 3)) for i in range(8)})
            chains.append(model_of(nodes, [("x", None)], outputs + [("d", None), ("e", None)], tensors))
        random = [helper.make_node("Range", ["zero", "many", "one"], ["a"]),
                  helper.make_node("OneHot", ["a", "depth", "values"], ["y"])]
        chains.append(model_of(random, [], [("y", None)],
                               {"zero": np.int64(0), "one": np.int64(1), "many": np.int64(1 << 24),
                                "depth": np.int64(1 << 12), "values": np.zeros(2, np.float32)}))
        for data in chains:
            self.assertLess(len(data), 2200)
            self.assertLess(self.in_child(peak_of_failure, self.write("small.onnx", data)), 64)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        CHILD[sys.argv[2]](*sys.argv[3:])
    else:
        unittest.main()
