# SPDX-License-Identifier: Apache-2.0
"""Pools, GridSample and Resize where their definitions leave room, against ONNX Runtime at every opset."""

import itertools
import struct
import unittest

try:
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper

    import library
except ImportError:
    onnxruntime = None
else:
    onnxruntime.set_default_logger_severity(4)


def model(nodes, inputs, opset):
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", infos, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def image(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class Sampling(unittest.TestCase):
    def check(self, data, feeds):
        wanted, = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, feeds)
        actual, = library.Model(data).run(list(feeds.values()))
        self.assertEqual(actual.shape, wanted.shape)
        np.testing.assert_allclose(actual, wanted, 1e-5, 1e-5)

    def test_windows_that_are_larger_than_the_padded_input(self):
        """With ceil_mode a window that sticks out by less than the stride counts."""
        for op, opset in itertools.product(("AveragePool", "MaxPool"), (10, 11, 12, 19, 22)):
            for shape, kernel, stride, pad in (([1, 2, 3], 6, 2, 1), ([1, 2, 3], 5, 3, 0), ([2, 1, 4, 5], 7, 4, 0),
                                               ([1, 1, 2, 2, 3], 4, 3, 0), ([1, 1, 1, 1], 2, 2, 0),
                                               ([1, 3, 3, 9], 4, 2, 0), ([1, 20, 3, 3], 6, 3, 1)):
                rank = len(shape) - 2
                for more in ({},) if op == "MaxPool" else ({}, {"count_include_pad": 1}):
                    window = helper.make_node(op, ["x"], ["y"], kernel_shape=[kernel] * rank, strides=[stride] * rank,
                                              pads=[pad] * 2 * rank, ceil_mode=1, **more)
                    for dims in (shape, [None] * len(shape)):
                        with self.subTest(op=op, opset=opset, shape=shape, more=more):
                            self.check(model([window], {"x": dims}, opset), {"x": image(*shape)})

    def test_windows_with_dilations_that_are_larger(self):
        for op, opset in itertools.product(("AveragePool", "MaxPool", "LpPool"), (19, 22)):
            for shape, kernel, dilation, stride in (([1, 2, 5], 3, 3, 4), ([1, 2, 6, 4], 2, 5, 3)):
                rank = len(shape) - 2
                window = helper.make_node(op, ["x"], ["y"], kernel_shape=[kernel] * rank, strides=[stride] * rank,
                                          dilations=[dilation] * rank, ceil_mode=1)
                with self.subTest(op=op, opset=opset, shape=shape):
                    self.check(model([window], {"x": shape}, opset), {"x": image(*shape)})

    def test_windows_that_are_too_large_even_so(self):
        window = helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[5], strides=[2], ceil_mode=1)
        data = model([window], {"x": [1, 1, None]}, 17)
        with self.assertRaisesRegex(library.Failure, "larger than the padded input"):
            library.Model(data).run([image(1, 1, 3)])
        self.assertEqual(library.Model(data).run([image(1, 1, 4)])[0].shape, (1, 1, 1))

    def test_grids_beyond_the_image(self):
        random = np.random.default_rng(1)
        for opset, corners, padding in itertools.product((16, 20, 22), (0, 1), ("zeros", "border", "reflection")):
            for mode in ("linear", "cubic", "nearest"):
                name = ("bi" + mode if mode != "nearest" else mode) if opset < 20 else mode
                sample = helper.make_node("GridSample", ["x", "g"], ["y"], mode=name, padding_mode=padding,
                                          align_corners=corners)
                grid = random.uniform(-2.2, 2.2, (2, 5, 6, 2)).astype(np.float32)
                grid[0, 0] = [[-1, -1], [1, 1], [-1.25, 1.25], [50, -50], [0, 1.01], [-1.01, 0]]
                for channels in (1, 3, 17):
                    with self.subTest(opset=opset, corners=corners, padding=padding, mode=mode, channels=channels):
                        self.check(model([sample], {"x": [2, channels, 4, 7], "g": [2, 5, 6, 2]}, opset),
                                   {"x": image(2, channels, 4, 7), "g": grid})

    def test_resize_of_tensorflow_at_every_opset(self):
        """tf_half_pixel_for_nn was in opset 11 and 12 only; converters went on writing it."""
        for opset, mode in itertools.product((11, 12, 13, 18, 19, 21), ("nearest", "linear", "cubic")):
            for scales in ([1, 1, 2, 1.5], [1, 1, 0.5, 0.4], [1, 1, 3, 1]):
                resize = helper.make_node("Resize", ["x", "r", "s"], ["y"], mode=mode,
                                          coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor")
                with self.subTest(opset=opset, mode=mode, scales=scales):
                    self.check(model([resize], {"x": [1, 2, 6, 5], "r": [0], "s": [4]}, opset),
                               {"x": image(1, 2, 6, 5), "r": np.zeros(0, np.float32),
                                "s": np.array(scales, np.float32)})

    def test_nearest_pixels_of_scales_that_float32_rounds(self):
        places = ("half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners")
        choices = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
        for place, choice, scale in itertools.product(places, choices, (1.7, 2.3, 1.1, 0.6, 0.35)):
            resize = helper.make_node("Resize", ["x", "", "s"], ["y"], mode="nearest",
                                      coordinate_transformation_mode=place, nearest_mode=choice)
            with self.subTest(place=place, choice=choice, scale=scale):
                self.check(model([resize], {"x": [1, 1, 1, 40], "s": [4]}, 19),
                           {"x": image(1, 1, 1, 40), "s": np.array([1, 1, 1, scale], np.float32)})


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class ImageFormats(unittest.TestCase):
    """What README.md and docs/operators.md say of ImageDecoder."""

    READ = {"BMP": b"BM" + struct.pack("<IIIIiiHHIIiiII", 58, 0, 54, 40, 1, 1, 1, 24, 0, 4, 0, 0, 0, 0) + b"\3\2\1\0",
            "PNM": b"P6 1 1 255 \1\2\3"}
    REFUSED = {"JPEG": b"\xff\xd8\xff\xe0", "PNG": b"\x89PNG\r\n\x1a\n", "WebP": b"RIFF\0\0\0\0WEBP", "TIFF": b"II*\0",
               "GIF": b"GIF89a", "JPEG 2000": b"\0\0\0\x0cjP  "}

    def decode(self, content):
        infos = [helper.make_tensor_value_info(name, TensorProto.UINT8, None) for name in "xy"]
        graph = helper.make_graph([helper.make_node("ImageDecoder", ["x"], ["y"])], "g", infos[:1], infos[1:])
        data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9).SerializeToString()
        return library.Model(data).run([np.frombuffer(content, np.uint8)])[0].tolist()

    def test_formats_that_are_read(self):
        for name, content in self.READ.items():
            with self.subTest(name):
                self.assertEqual(self.decode(content), [[[1, 2, 3]]])

    def test_formats_that_are_refused_by_name(self):
        for name, content in self.REFUSED.items():
            with self.subTest(name), self.assertRaisesRegex(library.Failure, f"format {name} are not supported"):
                self.decode(content + bytes(64))

    def test_documents_say_so(self):
        readme, page = ((library.ROOT / name).read_text() for name in ("README.md", "docs/operators.md"))
        for name in self.READ:
            self.assertIn(name, next(line for line in readme.splitlines() if "ImageDecoder" in line))
            self.assertRegex(page, f"ImageDecoder reads [^.]*{name}")
        for name in self.REFUSED:
            self.assertRegex(page, rf"PNM[^.]*\. [^.]*{name}[^.]*refused by name")


if __name__ == "__main__":
    unittest.main()
