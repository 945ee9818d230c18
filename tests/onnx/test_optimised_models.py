# SPDX-License-Identifier: Apache-2.0
"""Models as ONNX Runtime's optimisers and quantisers write them: fused, dynamically and statically quantised, with
weights of few bits. Each must give what ONNX Runtime gives."""

import logging
import pathlib
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime import quantization

    import library
    from microsoft_case import most_of_weights
except ImportError:
    onnxruntime = None
else:
    onnxruntime.set_default_logger_severity(4)
    logging.disable(logging.WARNING)  # the quantiser's advice
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "models"))
    import bert

MICROSOFT = "com.microsoft"


def saturates():
    """Whether ONNX Runtime needs weights of 7 bits on this CPU."""
    return most_of_weights() < 128


def operators_of(model):
    return {f"{node.domain}.{node.op_type}".lstrip(".") for node in model.graph.node}


def random(*shape, scale=1.0, seed=0):
    return (np.random.default_rng(seed + sum(shape)).standard_normal(shape) * scale).astype(np.float32)


def small_bert(folder):
    """BERT of two layers with little in them."""
    sizes = {"VOCABULARY": 40, "POSITIONS": 16, "HIDDEN": 32, "LAYERS": 2, "HEADS": 4, "INNER": 64}
    before = {name: getattr(bert, name) for name in sizes}
    try:
        for name, value in sizes.items():
            setattr(bert, name, value)
        bert.build(str(folder / "bert.onnx"))
    finally:
        for name, value in before.items():
            setattr(bert, name, value)
    return folder / "bert.onnx"


def bert_inputs(batch=2, length=7):
    generator = np.random.default_rng(batch + length)
    mask = np.ones((batch, length), np.int64)
    mask[0, length - 2:] = 0
    return {"input_ids": generator.integers(0, 40, (batch, length)), "attention_mask": mask,
            "token_type_ids": generator.integers(0, 2, (batch, length))}


def perceptron(folder):
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["h1"]), helper.make_node("Add", ["h1", "b1"], ["h2"]),
             helper.make_node("Relu", ["h2"], ["h3"]), helper.make_node("Gemm", ["h3", "w2", "b2"], ["y"], transB=1)]
    weights = {"w1": random(32, 64, scale=0.2), "b1": random(64), "w2": random(10, 64, scale=0.2), "b2": random(10)}
    return save(folder / "perceptron.onnx", nodes, [("x", ["n", 32])], weights)


def convolutions(folder):
    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1] * 4), helper.make_node("Relu", ["c1"], ["r1"]),
             helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1] * 4), helper.make_node("Add", ["c2", "r1"], ["s"]),
             helper.make_node("LeakyRelu", ["s"], ["r2"], alpha=0.1), helper.make_node("Sigmoid", ["r2"], ["r3"]),
             helper.make_node("AveragePool", ["r3"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Concat", ["p", "p"], ["j"], axis=1), helper.make_node("GlobalAveragePool", ["j"], ["g"]),
             helper.make_node("Flatten", ["g"], ["f"]), helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], transB=1)]
    weights = {"w1": random(8, 3, 3, 3, scale=0.3), "b1": random(8), "w2": random(8, 8, 3, 3, scale=0.2), "b2": random(8),
               "w3": random(5, 16), "b3": random(5)}
    return save(folder / "convolutions.onnx", nodes, [("x", ["n", 3, 8, 8])], weights)


def save(path, nodes, inputs, weights):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                                           for name, shape in inputs],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(value, name) for name, value in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def optimised(path, level):
    """The file that ONNX Runtime writes after its own graph optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(path.with_suffix(".optimised.onnx"))
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return pathlib.Path(options.optimized_model_filepath)


class Samples(quantization.CalibrationDataReader if onnxruntime else object):
    def __init__(self):
        self.left = iter([{"x": random(2, 3, 8, 8, seed=seed)} for seed in range(4)])

    def get_next(self):
        return next(self.left, None)


@unittest.skipIf(onnxruntime is None, "needs numpy, onnx and onnxruntime")
class OptimisedModels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, path, feeds, expected_operators, tolerance=1e-4):
        model = onnx.load(path)
        missing = set(expected_operators) - operators_of(model)
        self.assertFalse(missing, f"{path.name} holds {sorted(operators_of(model))}")
        expected = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feeds)
        actual = library.Model(model.SerializeToString()).run([feeds[value.name] for value in model.graph.input])
        for a, e in zip(actual, expected, strict=True):
            self.assertEqual(a.shape, e.shape)
            np.testing.assert_allclose(a.astype(np.float64), e.astype(np.float64), tolerance, tolerance)

    def test_bert_after_graph_optimisations(self):
        path = optimised(small_bert(self.folder), onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED)
        for feeds in (bert_inputs(), bert_inputs(1, 12)):
            self.check(path, feeds, [f"{MICROSOFT}.{name}" for name in ("FusedMatMul", "FusedGemm", "BiasGelu")])

    def test_bert_after_the_transformer_optimiser(self):
        from onnxruntime.transformers import optimizer
        try:
            made = optimizer.optimize_model(str(small_bert(self.folder)), model_type="bert", num_heads=4, hidden_size=32,
                                            opt_level=0)
        except ImportError as error:
            self.skipTest(str(error))
        made.save_model_to_file(str(self.folder / "fused.onnx"))
        wanted = [f"{MICROSOFT}.{name}"
                  for name in ("Attention", "BiasGelu", "EmbedLayerNormalization", "SkipLayerNormalization")]
        self.check(self.folder / "fused.onnx", bert_inputs(), wanted)

    def test_bert_dynamically_quantised(self):
        path, small = small_bert(self.folder), self.folder / "small.onnx"
        quantization.quantize_dynamic(path, small, weight_type=quantization.QuantType.QInt8, reduce_range=saturates())
        self.check(small, bert_inputs(), ["MatMulInteger", "DynamicQuantizeLinear"], 2e-2)
        fused = optimised(small, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED)
        self.check(fused, bert_inputs(), [f"{MICROSOFT}.DynamicQuantizeMatMul"], 2e-2)

    def test_perceptron_dynamically_quantised(self):
        path, small = perceptron(self.folder), self.folder / "small.onnx"
        for kind in (quantization.QuantType.QInt8, quantization.QuantType.QUInt8):
            for per_channel in (False, True):
                quantization.quantize_dynamic(path, small, weight_type=kind, per_channel=per_channel,
                                              reduce_range=saturates())
                self.check(small, {"x": random(3, 32)}, ["MatMulInteger"], 1e-3)
                fused = optimised(small, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED)
                self.check(fused, {"x": random(3, 32)}, [f"{MICROSOFT}.DynamicQuantizeMatMul"], 1e-3)

    def test_convolutions_statically_quantised(self):
        path = convolutions(self.folder)
        formats = ((quantization.QuantFormat.QDQ, ["QuantizeLinear", "DequantizeLinear"]),
                   (quantization.QuantFormat.QOperator, ["QLinearConv", f"{MICROSOFT}.QLinearAdd"]))
        for form, wanted in formats:
            small = self.folder / "small.onnx"
            quantization.quantize_static(path, small, Samples(), quant_format=form, reduce_range=saturates())
            self.check(small, {"x": random(2, 3, 8, 8)}, wanted, 5e-2)
            for level in (onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
                          onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
                path_made = optimised(small, level)
                # ONNX Runtime warns that layouts for the vectors of this CPU are not portable.
                if not any(".nchwc." in name for name in operators_of(onnx.load(path_made))):
                    self.check(path_made, {"x": random(2, 3, 8, 8)}, [], 5e-2)

    def test_convolutions_after_graph_optimisations(self):
        path = optimised(convolutions(self.folder), onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED)
        self.check(path, {"x": random(2, 3, 8, 8)}, [f"{MICROSOFT}.FusedConv"])

    def test_perceptron_with_weights_of_four_bits(self):
        try:
            from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
            quantiser = MatMulNBitsQuantizer(onnx.load(perceptron(self.folder)), block_size=32, is_symmetric=False)
        except ImportError:
            self.skipTest("onnxruntime's quantiser cannot be imported")
        quantiser.process()
        quantiser.model.save_model_to_file(str(self.folder / "small.onnx"))
        self.check(self.folder / "small.onnx", {"x": random(3, 32)}, [f"{MICROSOFT}.MatMulNBits"], 1e-3)


if __name__ == "__main__":
    unittest.main()
