# SPDX-License-Identifier: Apache-2.0
"""Exported models after the tools that make them smaller or faster: quantised by ONNX Runtime's tools (dynamically,
statically as QDQ and as QOperator, with 16-bit activations, with weights of 4 and 8 bits), converted to float16 by two
converters, optimised by ONNX Runtime itself and by onnxslim."""

import functools
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime
import onnxslim
import torch
from onnxconverter_common import float16 as common_float16
from onnxruntime import quantization as q
from onnxruntime.quantization import matmul_nbits_quantizer as nbits
from onnxruntime.transformers import float16 as runtime_float16
from torch import nn

import suite
import torch_export
import torch_modules
import torch_networks
from suite import f, i, u

onnxruntime.set_default_logger_severity(4)


class Perceptron(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.parts = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 4))

    def forward(self, x):
        return self.parts(x).softmax(-1)


class Convolutions(nn.Module):
    """A residual block, pooling, a concatenation and a resize, as networks of images have them."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=4)
        self.third = nn.Conv2d(16, 8, 1)
        self.out = nn.Linear(8, 5)

    def forward(self, x):
        a = self.first(x).relu()
        b = nn.functional.leaky_relu(self.second(a) + a)
        c = nn.functional.avg_pool2d(b, 2)
        d = nn.functional.interpolate(c, scale_factor=2, mode="nearest")
        e = self.third(torch.cat([d, nn.functional.max_pool2d(a, 3, 1, 1)], 1)).sigmoid() * a
        return self.out(e.mean((2, 3)))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(30, 16), nn.Linear(32, 5)
        self.layer = nn.LSTM(16, 16, batch_first=True, bidirectional=True)

    def forward(self, tokens):
        return self.out(self.layer(self.table(tokens))[0])


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.position = nn.Embedding(30, 32), nn.Parameter(torch.randn(1, 1, 32))
        self.layers = nn.Sequential(*[nn.TransformerEncoderLayer(32, 4, 48, batch_first=True, activation="gelu") for _ in range(2)])
        self.out = nn.Linear(32, 6)

    def forward(self, tokens):
        return self.out(self.layers(self.table(tokens) + self.position))


BASES = {
    "perceptron": (Perceptron, [[f(4, 16)], [f(1, 16)], [f(9, 16)]]),
    "convolutions": (Convolutions, [[u(2, 3, 16, 16)], [u(1, 3, 16, 16)], [u(3, 3, 16, 16)]]),
    "mobilenet": (lambda: torch_networks.settled(torch_networks.zoo.mobilenet_v3_small(num_classes=5, width_mult=0.35)),
        [[u(2, 3, 32, 32)], [u(1, 3, 32, 32)]]),
    "resnet": (lambda: torch_networks.settled(torch_networks.zoo.ResNet(torch_networks.zoo.resnet.BasicBlock, [1, 1, 1, 1], 5)),
        [[u(2, 3, 32, 32)], [u(1, 3, 32, 32)]]),
    "unet": (torch_networks.UNet, [[u(2, 3, 32, 32)], [u(1, 3, 32, 32)]]),
    "tagger": (Tagger, [[i(30, 2, 6)], [i(30, 1, 9)]]),
    "encoder": (Encoder, [[i(30, 2, 6)], [i(30, 2, 6)]]),
    "attention": (lambda: torch_modules.Attention(True), [[f(2, 5, 16)], [f(3, 9, 16)]]),
    "detector": (torch_networks.Detector, [[u(1, 3, 64, 64)], [u(1, 3, 64, 64)]]),
}


@functools.cache
def base(name, opset=17):
    """The exported model and its sets of inputs."""
    make, sets = BASES[name]
    case = torch_export.case(f"base_{name}", make, sets, "script", opset)
    return onnx.load_from_string(case.model), case.sets


class Samples(q.CalibrationDataReader):
    def __init__(self, sets, seed):
        random = np.random.default_rng(seed)
        self.left = iter([{name: random.permuted(value, axis=-1) for name, value in sets[0].items()} for _ in range(6)])

    def get_next(self):
        return next(self.left, None)


def through_files(model, tool):
    """`tool` takes the paths of what is and of what is to be."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = pathlib.Path(folder) / "before.onnx", pathlib.Path(folder) / "after.onnx"
        onnx.save(model, before)
        tool(before, after)
        return onnx.load(after)


def prepared(model):
    from onnxruntime.quantization.shape_inference import quant_pre_process
    return through_files(model, lambda before, after: quant_pre_process(str(before), str(after), skip_symbolic_shape=True))


def dynamic(name, **options):
    model, sets = base(name)
    return suite.Case(through_files(model, lambda before, after: q.quantize_dynamic(before, after, **options)), sets, "quantised")


def static(name, opset=17, extra=None, **options):
    model, sets = base(name, opset)
    made = through_files(prepared(model), lambda before, after: q.quantize_static(
        before, after, Samples(sets, 3), extra_options=extra or {}, **options))
    return suite.Case(made, sets, "quantised")


S8, U8, S16, U16 = q.QuantType.QInt8, q.QuantType.QUInt8, q.QuantType.QInt16, q.QuantType.QUInt16
S4, U4 = q.QuantType.QInt4, q.QuantType.QUInt4
QDQ, QOPERATOR = q.QuantFormat.QDQ, q.QuantFormat.QOperator
FORMATS = {
    "qdq": {"quant_format": QDQ},
    "qdq_s8": {"quant_format": QDQ, "activation_type": S8, "weight_type": S8},
    "qdq_channels": {"quant_format": QDQ, "per_channel": True, "activation_type": U8, "weight_type": S8},
    "qdq_u16": {"quant_format": QDQ, "activation_type": U16, "weight_type": U8},
    "qdq_s16": {"quant_format": QDQ, "activation_type": S16, "weight_type": S8},
    "qdq_u16_21": {"quant_format": QDQ, "activation_type": U16, "weight_type": S8, "opset": 20},
    "qdq_symmetric": {"quant_format": QDQ, "activation_type": S8, "weight_type": S8,
        "extra": {"ActivationSymmetric": True, "WeightSymmetric": True}},
    "qdq_entropy": {"quant_format": QDQ, "calibrate_method": q.CalibrationMethod.Entropy},
    "qdq_percentile": {"quant_format": QDQ, "calibrate_method": q.CalibrationMethod.Percentile},
    "qdq_forced": {"quant_format": QDQ, "extra": {"ForceQuantizeNoInputCheck": True, "DedicatedQDQPair": True}},
    "qdq_weights": {"quant_format": QDQ, "extra": {"AddQDQPairToWeight": True, "QuantizeBias": False}},
    "qoperator": {"quant_format": QOPERATOR, "reduce_range": True},
    "qoperator_s8": {"quant_format": QOPERATOR, "reduce_range": True, "activation_type": S8, "weight_type": S8},
    "qoperator_channels": {"quant_format": QOPERATOR, "reduce_range": True, "per_channel": True, "weight_type": S8},
}


def few_bits(name, bits=4, block=32, symmetric=True, form=QDQ, accuracy=None, operators=("MatMul",), opset=21, algorithm=None):
    """Weights of MatMul (and Gather) in few bits: MatMulNBits, GatherBlockQuantized, or DequantizeLinear of blocks."""
    model, sets = base(name, 17 if form == QOPERATOR else opset - 1)
    model = split_gemms(model)
    config = algorithm or nbits.DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=symmetric, accuracy_level=accuracy,
        quant_format=form,
                                                             op_types_to_quantize=operators, bits=bits,
                                                             quant_axes=(("MatMul", 0), ("Gather", 1)))
    tool = nbits.MatMulNBitsQuantizer(model, algo_config=config)
    tool.process()
    made = tool.model.model
    if not {"MatMulNBits", "GatherBlockQuantized", "DequantizeLinear"} & {node.op_type for node in made.graph.node}:
        raise ValueError("the quantiser changed nothing")
    return suite.Case(made, sets, "quantised")


def split_gemms(model):
    """MatMul and Add in place of Gemm, since the quantiser takes MatMul alone."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.op_type != "Gemm":
            nodes.append(node)
            continue
        weight = onnx.numpy_helper.to_array(weights[node.input[1]]).T
        turned = onnx.numpy_helper.from_array(np.ascontiguousarray(weight), node.input[1] + "_t")
        model.graph.initializer.append(turned)
        nodes.append(onnx.helper.make_node("MatMul", [node.input[0], turned.name], [node.output[0] + "_m"], node.name + "_m"))
        nodes.append(onnx.helper.make_node("Add", [node.output[0] + "_m", node.input[2]], [node.output[0]], node.name + "_a"))
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def halves(sets):
    return [{name: value.astype(np.float16) if value.dtype == np.float32 else value for name, value in group.items()}
            for group in sets]


def half(name, converter, keep, opset=17, **options):
    model, sets = base(name, opset)
    model = onnx.shape_inference.infer_shapes(onnx.ModelProto.FromString(model.SerializeToString()))
    made = converter(model, keep_io_types=keep, **options)
    return suite.Case(made, sets if keep else halves(sets), "float16")


def runtime_optimised(case, level):
    """What ONNX Runtime writes after its own optimisations."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        options.optimized_model_filepath = str(pathlib.Path(folder) / "after.onnx")
        model = case.model if isinstance(case.model, bytes) else case.model.SerializeToString()
        onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return suite.Case(onnx.load(options.optimized_model_filepath), case.sets, case.rule)


def base_case(name, opset=17):
    model, sets = base(name, opset)
    return suite.Case(model, sets)


CONVOLUTIONAL = ("convolutions", "mobilenet", "resnet", "unet", "detector")
LEVELS = {"extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}


def slimmed(name):
    """After the tool that folds what it can and cuts the rest."""
    model, sets = base(name)
    return suite.Case(onnxslim.slim(onnx.ModelProto.FromString(model.SerializeToString())), sets)


def quantised_models():
    for name in ("perceptron", "convolutions", "tagger", "encoder", "attention", "mobilenet"):
        yield f"dynamic_s8_{name}", lambda n=name: dynamic(n, weight_type=S8)
        yield f"dynamic_u8_{name}", lambda n=name: dynamic(n, weight_type=U8)
        yield f"dynamic_channels_{name}", lambda n=name: dynamic(n, weight_type=S8, per_channel=True, reduce_range=True)
    for form, options in FORMATS.items():
        for name in ("perceptron", "convolutions", "encoder"):
            if name != "encoder" or not form.startswith("qoperator"):
                yield f"{form}_{name}", lambda n=name, o=options: static(n, **o)
    for form in ("qdq", "qoperator", "qdq_channels", "qdq_u16"):
        for name in ("mobilenet", "resnet", "unet", "detector"):
            yield f"{form}_{name}", lambda n=name, o=FORMATS[form]: static(n, **o)
    for form in ("qdq", "qoperator", "qdq_channels"):
        for name in ("convolutions", "perceptron"):
            yield f"{form}_{name}_extended", lambda n=name, o=FORMATS[form]: runtime_optimised(
                static(n, **{**o, "reduce_range": True}), LEVELS["extended"])
    for level, value in LEVELS.items():
        yield f"dynamic_encoder_{level}", lambda v=value: runtime_optimised(dynamic("encoder", weight_type=S8), v)


def models_of_few_bits():
    for name in ("perceptron", "encoder", "attention"):
        for block in (16, 32, 128):
            yield f"four_bits_{name}_{block}", lambda n=name, k=block: few_bits(n, block=k, form=QOPERATOR)
        yield f"four_bits_{name}_zero_points", lambda n=name: few_bits(n, symmetric=False, form=QOPERATOR)
        yield f"four_bits_{name}_level_4", lambda n=name: few_bits(n, symmetric=False, form=QOPERATOR, accuracy=4)
        yield f"eight_bits_{name}", lambda n=name: few_bits(n, bits=8, form=QOPERATOR)
        yield f"four_bits_{name}_blocks_qdq", lambda n=name: few_bits(n)
        yield f"four_bits_{name}_blocks_qdq_zero_points", lambda n=name: few_bits(n, symmetric=False)
    yield "four_bits_encoder_gather", lambda: few_bits("encoder", form=QOPERATOR, operators=("MatMul", "Gather"))
    yield "four_bits_encoder_gather_zero_points", lambda: few_bits("encoder", symmetric=False, form=QOPERATOR,
        operators=("MatMul", "Gather"))
    yield "four_bits_tagger_gather", lambda: few_bits("tagger", block=16, form=QOPERATOR, operators=("Gather",))
    yield "four_bits_encoder_hqq", lambda: few_bits("encoder", form=QOPERATOR,
        algorithm=nbits.HQQWeightOnlyQuantConfig(block_size=32))


def half_models():
    for name in BASES:
        if name not in ("detector", "tagger"):  # ONNX Runtime crashes on an LSTM in float16
            for keep in (True, False):
                kept = "kept" if keep else "turned"
                if name not in ("encoder", "attention"):  # casts that the converter leaves in float32 make them invalid
                    yield f"half_common_{name}_{kept}", lambda n=name, k=keep: half(n, common_float16.convert_float_to_float16, k)
                yield f"half_runtime_{name}_{kept}", lambda n=name, k=keep: half(n, runtime_float16.convert_float_to_float16, k)
    yield "half_blocked_encoder", lambda: half("encoder", runtime_float16.convert_float_to_float16, True,
        op_block_list=["Softmax", "LayerNormalization"])


def models():
    yield from quantised_models()
    yield from models_of_few_bits()
    yield from half_models()
    for name in BASES:
        # The highest level uses layouts of this processor for convolutions, in a separate domain.
        for level, value in list(LEVELS.items())[:1 if name in CONVOLUTIONAL else 2]:
            yield f"optimised_{level}_{name}", lambda n=name, v=value: runtime_optimised(base_case(n), v)
        yield f"slimmed_{name}", lambda n=name: slimmed(n)
