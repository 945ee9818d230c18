# SPDX-License-Identifier: Apache-2.0
"""Nothing is done for outputs without elements, and nothing in proportion to a dimension of what is empty: operators on
shapes like [2^40, 0], which take no memory, as inputs, as constants that are folded, and where shapes depend on values."""

import signal
import unittest

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    import library
except ImportError:
    library = None
else:
    FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    node, info = helper.make_node, helper.make_tensor_value_info

PATIENCE, SECONDS, MEMORY = 60, 5.0, 64 << 20
LONG = 1 << 40


def ints(*values):
    return np.array(values, np.int64)


def floats(*shape):
    return np.zeros(shape, np.float32)


def whole(*shape):
    return np.zeros(shape, np.int64)


def body(nodes, inputs, outputs):
    inputs = [helper.make_empty_tensor_value_info(name) for name in inputs]
    return helper.make_graph(nodes, "body", inputs, [helper.make_empty_tensor_value_info(name) for name in outputs])


def cases():
    """name: node, arrays of its inputs (by name), shapes of its outputs; "late": lists that are not constants."""
    x, wide, image = floats(LONG, 0), floats(0, LONG), floats(LONG, 0, 4, 4)
    yield "Pad", node("Pad", ["x", "pads"], ["y"]), {"x": x, "pads": ints(1, 0, 1, 0)}, [(LONG + 2, 0)]
    yield "Pad of nothing to something", node("Pad", ["x", "pads"], ["y"]), {"x": floats(2, 0), "pads": ints(0, 1, 0, 2)}, [(2, 3)]
    yield "Resize", node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear"), {"x": image, "sizes": ints(LONG, 0, 8, 8)}, [(LONG, 0, 8, 8)]
    yield "Resize by much", node("Resize", ["x", "", "", "sizes"], ["y"], mode="cubic"), {"x": floats(1, 0, 4), "sizes": ints(1, 0, LONG)}, [(1, 0, LONG)]
    yield "ReverseSequence", node("ReverseSequence", ["x", "lens"], ["y"], batch_axis=1, time_axis=0), {"x": x, "lens": ints()}, [(LONG, 0)]
    yield "ReverseSequence of 3", node("ReverseSequence", ["x", "lens"], ["y"], batch_axis=1, time_axis=0), {"x": floats(LONG, 3, 0), "lens": ints(1, 2, 3)}, [(LONG, 3, 0)]
    yield "Trilu", node("Trilu", ["x"], ["y"]), {"x": x}, [(LONG, 0)]
    yield "Gather", node("Gather", ["x", "i"], ["y"], axis=1), {"x": floats(LONG, 3, 0), "i": ints(0, 2)}, [(LONG, 2, 0)]
    yield "Gather with nothing", node("Gather", ["x", "i"], ["y"]), {"x": floats(3), "i": whole(LONG, 0)}, [(LONG, 0)]
    yield "CumSum", node("CumSum", ["x", "a"], ["y"]), {"x": x, "a": np.array(1)}, [(LONG, 0)]
    yield "Transpose", node("Transpose", ["x"], ["y"]), {"x": x}, [(0, LONG)]
    yield "Softmax", node("Softmax", ["x"], ["y"]), {"x": x}, [(LONG, 0)]
    yield "TopK", node("TopK", ["x", "k"], ["y", "z"]), {"x": x, "k": ints(0)}, [(LONG, 0)] * 2
    yield "Slice", node("Slice", ["x", "s", "e"], ["y"]), {"x": x, "s": ints(1), "e": ints(LONG - 1)}, [(LONG - 2, 0)]
    yield "Concat", node("Concat", ["x", "x"], ["y"], axis=1), {"x": x}, [(LONG, 0)]
    yield "Concat with something", node("Concat", ["x", "z"], ["y"], axis=1), {"x": floats(2, 0, 3), "z": floats(2, 1, 3)}, [(2, 1, 3)]
    yield "Split", node("Split", ["x", "s"], ["y", "z"], axis=0), {"x": x, "s": ints(1, LONG - 1)}, [(1, 0), (LONG - 1, 0)]
    yield "Split into nothing and all", node("Split", ["x", "s"], ["y", "z"], axis=0), {"x": floats(4, 2), "s": ints(0, 4)}, [(0, 2), (4, 2)]
    yield "Tile", node("Tile", ["x", "r"], ["y"]), {"x": floats(2, 0), "r": ints(LONG, 1)}, [(2 * LONG, 0)]
    yield "Expand", node("Expand", ["x", "s"], ["y"]), {"x": floats(1, 0), "s": ints(LONG, 1)}, [(LONG, 0)]
    yield "ConstantOfShape", node("ConstantOfShape", ["s"], ["y"]), {"s": ints(LONG, 0)}, [(LONG, 0)]
    yield "Neg", node("Neg", ["x"], ["y"]), {"x": x}, [(LONG, 0)]
    yield "Add", node("Add", ["x", "x"], ["y"]), {"x": wide}, [(0, LONG)]
    yield "Where", node("Where", ["c", "x", "x"], ["y"]), {"c": np.array(True), "x": x}, [(LONG, 0)]
    yield "MatMul", node("MatMul", ["x", "w"], ["y"]), {"x": x, "w": wide[:, :0]}, [(LONG, 0)]
    yield "MatMul over nothing", node("MatMul", ["x", "w"], ["y"]), {"x": floats(2, 0), "w": floats(0, 3)}, [(2, 3)]
    yield "Conv", node("Conv", ["x", "w"], ["y"]), {"x": floats(0, 2, LONG), "w": floats(3, 2, 3)}, [(0, 3, LONG - 2)]
    yield "MaxPool", node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2]), {"x": floats(0, LONG, 4, 4)}, [(0, LONG, 3, 3)]
    yield "AveragePool", node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2]), {"x": floats(LONG, 0, 4, 4)}, [(LONG, 0, 3, 3)]
    yield "LayerNormalization", node("LayerNormalization", ["x", "s"], ["y"]), {"x": floats(LONG, 0, 3), "s": floats(3)}, [(LONG, 0, 3)]
    yield "ReduceSum", node("ReduceSum", ["x", "a"], ["y"]), {"x": floats(LONG, 0, 3), "a": ints(0)}, [(1, 0, 3)]
    yield "ReduceSum over nothing", node("ReduceSum", ["x", "a"], ["y"]), {"x": floats(LONG, 3, 0), "a": ints(0, 2)}, [(1, 3, 1)]
    yield "ReduceMax over nothing", node("ReduceMax", ["x", "a"], ["y"]), {"x": floats(LONG, 3, 0), "a": ints(0, 2)}, [(1, 3, 1)]
    yield "ArgMax", node("ArgMax", ["x"], ["y"], axis=0), {"x": x}, [(1, 0)]
    yield "ScatterElements", node("ScatterElements", ["x", "i", "u"], ["y"]), {"x": floats(3, 2), "i": whole(LONG, 0), "u": floats(LONG, 0)}, [(3, 2)]
    yield "ScatterND", node("ScatterND", ["x", "i", "u"], ["y"]), {"x": floats(3, 0), "i": whole(4, 1), "u": floats(4, 0)}, [(3, 0)]
    yield "GatherElements", node("GatherElements", ["x", "i"], ["y"]), {"x": floats(3, 2), "i": whole(LONG, 0)}, [(LONG, 0)]
    yield "OneHot", node("OneHot", ["i", "d", "v"], ["y"]), {"i": whole(0), "d": np.array(LONG), "v": np.array([0, 1], np.float32)}, [(0, LONG)]
    yield "DepthToSpace", node("DepthToSpace", ["x"], ["y"], blocksize=2), {"x": floats(LONG, 0, 2, 2)}, [(LONG, 0, 4, 4)]
    yield "Einsum", node("Einsum", ["x", "x"], ["y"], equation="ij,ik->jk"), {"x": x}, [(0, 0)]
    yield "EyeLike", node("EyeLike", ["x"], ["y"]), {"x": x}, [(LONG, 0)]
    yield "Range", node("Range", ["a", "a", "b"], ["y"]), {"a": np.array(5), "b": np.array(1)}, [(0,)]
    yield "RandomNormalLike", node("RandomNormalLike", ["x"], ["y"]), {"x": x}, [(LONG, 0)]
    yield "RandomUniform", node("RandomUniform", [], ["y"], shape=[LONG, 0]), {}, [(LONG, 0)]
    yield "Bernoulli", node("Bernoulli", ["x"], ["y"]), {"x": x}, [(LONG, 0)]
    yield "Dropout", node("Dropout", ["x", "r", "t"], ["y", "z"]), {"x": x, "r": np.array(0.5, np.float32), "t": np.array(True)}, [(LONG, 0)] * 2
    yield "NonZero", node("NonZero", ["x"], ["y"]), {"x": x}, [(2, 0)]
    yield "Compress", node("Compress", ["x", "c"], ["y"], axis=1), {"x": x, "c": np.zeros(0, bool)}, [(LONG, 0)]
    yield "Compress of 3", node("Compress", ["x", "c"], ["y"], axis=1), {"x": floats(LONG, 3, 0), "c": np.array([True, False, True])}, [(LONG, 2, 0)]
    yield "Compress to nothing", node("Compress", ["x", "c"], ["y"], axis=1), {"x": floats(2, 3), "c": np.zeros(3, bool)}, [(2, 0)]
    yield "Unique", node("Unique", ["x"], ["y"], axis=0), {"x": x}, [(1, 0)]
    yield "Unique of all", node("Unique", ["x"], ["y", "f", "i", "c"]), {"x": x}, [(0,)] * 4
    yield "Unique of few", node("Unique", ["x"], ["y", "f", "i", "c"], axis=0), {"x": floats(3, 0)}, [(1, 0), (1,), (3,), (1,)]
    yield "NonMaxSuppression", node("NonMaxSuppression", ["b", "s", "m"], ["y"]), {"b": floats(LONG, 0, 4), "s": floats(LONG, 1, 0), "m": ints(3)}, [(0, 3)]
    yield "Scan", node("Scan", ["x"], ["y"], num_scan_inputs=1, scan_input_axes=[1], body=body([node("Neg", ["e"], ["f"])], ["e"], ["f"])), {"x": x}, [(0, LONG)]
    yield "Scan along another axis", node("Scan", ["x"], ["y"], num_scan_inputs=1, scan_output_axes=[1], body=body([node("Neg", ["e"], ["f"])], ["e"], ["f"])), {"x": floats(0, 3)}, [(3, 0)]
    yield "Scan of empty slices", node("Scan", ["x"], ["y"], num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1], body=body([node("Neg", ["e"], ["f"])], ["e"], ["f"])), {"x": floats(LONG, 3, 0)}, [(LONG, 3, 0)]
    loop = body([node("Identity", ["c"], ["d"]), node("Neg", ["x"], ["n"])], ["i", "c"], ["d", "n"])
    yield "Loop", node("Loop", ["t", ""], ["y"], body=loop), {"t": np.array(3), "x": x}, [(3, LONG, 0)]
    yield "Loop without iteration", node("Loop", ["t", ""], ["y"], body=loop), {"t": np.array(0), "x": floats(2, 3)}, [(0, 2, 3)]
    yield "ReduceLogSumExp", node("ReduceLogSumExp", ["x", "a"], ["y"]), {"x": floats(0, 3), "a": ints(0)}, [(1, 3)]
    yield "GRU of nothing", node("GRU", ["x", "w", "r"], ["", "h"], hidden_size=2), {"x": floats(3, 0, 4), "w": floats(1, 6, 4), "r": floats(1, 6, 2)}, [(1, 0, 2)]


def from_nothing():
    """Outputs with elements, of inputs without: nodes, and arrays of their inputs. What the result is may be an error."""
    vector, image = floats(0), floats(1, 1, 0)
    for op in ("Max", "Min", "Mean", "Sum", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"):
        yield node(f"Reduce{op}", ["x"], ["y"]), {"x": floats(2, 0, 3)}
        yield node(f"Reduce{op}", ["x", "a"], ["y"], keepdims=0), {"x": floats(2, 0), "a": ints(1)}
        yield node(f"Reduce{op}", ["x", "a"], ["y"], keepdims=0), {"x": whole(LONG, 2, 0), "a": ints(0, 2)}
    for op in ("ArgMax", "ArgMin"):
        yield node(op, ["x"], ["y"], axis=1), {"x": floats(2, 0)}
    for mode in ("constant", "edge", "reflect", "wrap"):
        yield node("Pad", ["x", "p"], ["y"], mode=mode), {"x": floats(2, 0), "p": ints(0, 1, 0, 1)}
    for op in ("MaxPool", "AveragePool", "LpPool"):
        yield node(op, ["x"], ["y"], kernel_shape=[2], pads=[1, 1]), {"x": image}
        yield node("Global" + op, ["x"], ["y"]), {"x": image}
    yield node("Conv", ["x", "w"], ["y"], pads=[1, 1]), {"x": image, "w": floats(1, 1, 2)}
    yield node("Conv", ["x", "w", "b"], ["y"]), {"x": floats(1, 0, 4), "w": floats(2, 0, 2), "b": floats(2)}
    yield node("ConvTranspose", ["x", "w"], ["y"]), {"x": image, "w": floats(1, 1, 2)}
    yield node("ConvTranspose", ["x", "w"], ["y"]), {"x": floats(1, 0, 3), "w": floats(0, 2, 2)}
    yield node("ConvInteger", ["x", "w"], ["y"]), {"x": np.zeros((1, 0, 4), np.uint8), "w": np.zeros((2, 0, 2), np.uint8)}
    yield node("MatMul", ["x", "w"], ["y"]), {"x": floats(0), "w": floats(0)}
    yield node("Gemm", ["x", "w", "c"], ["y"]), {"x": floats(2, 0), "w": floats(0, 3), "c": floats(3)}
    yield node("MatMulInteger", ["x", "w"], ["y"]), {"x": np.zeros((2, 0), np.uint8), "w": np.zeros((0, 3), np.uint8)}
    yield node("Einsum", ["x", "w"], ["y"], equation="ij,jk->ik"), {"x": floats(2, 0), "w": floats(0, 3)}
    yield node("Resize", ["x", "", "", "s"], ["y"]), {"x": image, "s": ints(1, 1, 3)}
    yield node("GridSample", ["x", "g"], ["y"]), {"x": floats(1, 1, 0, 0), "g": floats(1, 2, 2, 2)}
    yield node("RoiAlign", ["x", "r", "b"], ["y"]), {"x": floats(1, 1, 0, 0), "r": floats(2, 4), "b": whole(2)}
    yield node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[1, 1]), {"x": floats(1, 1, 0, 0), "r": floats(2, 5)}
    yield node("CenterCropPad", ["x", "s"], ["y"]), {"x": floats(0, 2), "s": ints(3, 2)}
    yield node("Col2Im", ["x", "s", "k"], ["y"]), {"x": floats(1, 4, 0), "s": ints(1, 1), "k": ints(2, 2)}
    yield node("Gather", ["x", "i"], ["y"]), {"x": vector, "i": ints(0)}
    yield node("GatherND", ["x", "i"], ["y"]), {"x": vector, "i": ints(0)}
    yield node("GatherND", ["x", "i"], ["y"]), {"x": floats(3), "i": whole(2, 0)}
    yield node("GatherElements", ["x", "i"], ["y"]), {"x": vector, "i": ints(0)}
    yield node("ScatterElements", ["x", "i", "u"], ["y"]), {"x": vector, "i": ints(0), "u": floats(1)}
    yield node("ScatterND", ["x", "i", "u"], ["y"]), {"x": floats(2, 2), "i": whole(0, 2), "u": floats(0)}
    yield node("TensorScatter", ["x", "u", "i"], ["y"]), {"x": floats(1, 2, 2), "u": floats(1, 0, 2), "i": ints(0)}
    yield node("OneHot", ["i", "d", "v"], ["y"]), {"i": ints(1), "d": np.array(3), "v": floats(0)}
    yield node("TopK", ["x", "k"], ["y", "z"]), {"x": floats(2, 0), "k": ints(1)}
    yield node("LayerNormalization", ["x", "s"], ["y", "m", "d"]), {"x": floats(2, 0), "s": floats(0)}
    yield node("BatchNormalization", ["x", "s", "s", "s", "s"], ["y", "m", "v"], training_mode=1), {"x": floats(0, 2, 3), "s": floats(2)}
    yield node("SoftmaxCrossEntropyLoss", ["x", "t"], ["y"]), {"x": floats(0, 3), "t": whole(0)}
    yield node("NegativeLogLikelihoodLoss", ["x", "t"], ["y"]), {"x": floats(0, 3), "t": whole(0)}
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        weights = {"w": floats(1, gates * 2, 4), "r": floats(1, gates * 2, 2)}
        yield node(op, ["x", "w", "r"], ["", "h"], hidden_size=2), {"x": floats(0, 1, 4), **weights}
        yield node(op, ["x", "w", "r"], ["y"], hidden_size=2), {"x": floats(3, 1, 0), "w": floats(1, gates * 2, 0), "r": weights["r"]}
    yield node("Attention", ["q", "k", "k"], ["y"]), {"q": floats(1, 1, 2, 4), "k": floats(1, 1, 0, 4)}
    yield node("Det", ["x"], ["y"]), {"x": floats(2, 0, 0)}
    yield node("DFT", ["x", "n"], ["y"]), {"x": floats(1, 0, 1), "n": np.array(4)}
    yield node("STFT", ["x", "s", "w"], ["y"]), {"x": floats(1, 0, 1), "s": np.array(2), "w": floats(4)}
    yield node("TfIdfVectorizer", ["x"], ["y"], mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0],
               ngram_indexes=[0], pool_int64s=[1]), {"x": whole(0)}
    yield node("Multinomial", ["x"], ["y"], sample_size=2), {"x": floats(2, 0)}
    yield node("Compress", ["x", "c"], ["y"]), {"x": vector, "c": np.array([True])}
    yield node("SplitToSequence", ["x", "s"], ["y"]), {"x": floats(LONG, 0), "s": np.array(1)}
    yield node("SplitToSequence", ["x", "s"], ["y"], axis=1), {"x": floats(LONG, 0), "s": ints(0, 0, 0)}
    yield node("MaxUnpool", ["x", "i", "s"], ["y"], kernel_shape=[2]), {"x": image, "i": whole(1, 1, 0), "s": ints(1, 1, 4)}
    yield node("QuantizeLinear", ["x", "s"], ["y"]), {"x": vector, "s": floats(0)}
    yield node("Concat", ["x", "z"], ["y"], axis=1), {"x": floats(2, 0), "z": floats(2, 3)}
    yield node("CumSum", ["x", "a"], ["y"]), {"x": floats(2), "a": whole(0)}
    yield node("Expand", ["x", "s"], ["y"]), {"x": np.float32(1), "s": ints()}
    yield node("Reshape", ["x", "s"], ["y"]), {"x": vector, "s": ints()}
    yield node("Squeeze", ["x", "s"], ["y"]), {"x": vector, "s": ints(0)}


# What is walked over in proportion to a dimension would take hours.
@unittest.skipIf(library is None, "needs numpy and onnx")
class Empty(unittest.TestCase):
    def run_case(self, operator, arrays, shapes, constants):
        """`constants`: the names of the inputs that the file holds."""
        used = list(operator.input) + [name for a in operator.attribute for n in a.g.node for name in n.input]
        has_body = operator.op_type in ("Loop", "Scan")  # dimensions that only an iteration tells are 0
        inputs = [info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape if has_body else [None] * a.ndim)
                  for name, a in arrays.items() if name not in constants]
        tensors = [numpy_helper.from_array(a, name) for name, a in arrays.items() if name in constants]
        self.assertLessEqual(set(arrays), set(used))
        outputs = [helper.make_empty_tensor_value_info(name) for name in operator.output if name]
        graph = helper.make_graph([operator], "empty", inputs, outputs, tensors)
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        loaded = library.Model(proto.SerializeToString(), memory=MEMORY)
        for _ in range(2):
            made = loaded.run([a for name, a in arrays.items() if name not in constants], deadline=SECONDS)
            if shapes is not None:
                self.assertEqual([array.shape for array in made], shapes)

    def run_all(self, constants):
        for name, operator, arrays, shapes in cases():
            with self.subTest(name):
                signal.alarm(PATIENCE)
                self.run_case(operator, arrays, shapes, [key for key in arrays if constants(key)])
        signal.alarm(0)

    def test_as_inputs(self):
        self.run_all(lambda name: False)

    def test_as_inputs_with_constant_lists(self):
        self.run_all(lambda name: name not in ("x", "c"))

    def test_as_constants(self):
        self.run_all(lambda name: True)

    def test_something_of_nothing(self):
        for constants in ([], ["a", "s", "p", "i", "k", "w"], None):
            for operator, arrays in from_nothing():
                with self.subTest(operator.op_type, constants=constants):
                    signal.alarm(PATIENCE)
                    fixed = list(arrays) if constants is None else [name for name in constants if name in arrays]
                    try:
                        self.run_case(operator, arrays, None, fixed)
                    except library.Failure as failure:
                        self.assertIn(failure.status, (3, 8, 9, 11, 12), str(failure))  # not of the library itself
                        self.assertRegex(str(failure), "^[^\n]*node [^\n]*$")
        signal.alarm(0)

    def test_sizes_that_overflow_are_refused(self):
        """As all sizes are multiplied that are not 0, so that loops over a shape need no check."""
        for op, shape in (("Neg", (1 << 62, 0)), ("Transpose", (0, 1 << 61)), ("NonZero", (1 << 30, 1 << 30, 0))):
            with self.subTest(op), self.assertRaisesRegex(library.Failure, "Size overflow"):
                self.run_case(node(op, ["x"], ["y"]), {"x": np.zeros(shape, np.int8)}, [], [])
        with self.assertRaisesRegex(library.Failure, "node .*Size overflow"):
            self.run_case(node("ConstantOfShape", ["s"], ["y"]), {"s": ints(1 << 62, 0)}, [], [])


if __name__ == "__main__":
    unittest.main()
