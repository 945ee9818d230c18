# SPDX-License-Identifier: Apache-2.0
"""Writes each operator as a model, unless it is there: python models.py FOLDER.

Images come and leave with their channels last, as they lie between the layers of a network."""

import pathlib
import sys

import numpy as np
from onnx import TensorProto

from operators import CASES

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
from graph_builder import GraphBuilder  # noqa: E402
from layers import layer_norm, linear, random_weight  # noqa: E402

DTYPES = {"f32": TensorProto.FLOAT, "bf16": TensorProto.FLOAT, "int8": TensorProto.UINT8}


def bytes_of(graph, name, shape):
    return graph.weight(name, graph.random.integers(-127, 128, shape, np.int8))


def product(graph, x, case):
    rows, depth, columns = case.sizes
    if case.type == "int8":
        return graph.add("MatMulInteger", [x, bytes_of(graph, "weight", (depth, columns))]), TensorProto.INT32
    return graph.add("MatMul", [x, random_weight(graph, "weight", (depth, columns))]), TensorProto.FLOAT


def quantised_convolution(graph, x, filters, shape, sums, **attributes):
    """The scales keep results of so many products within their range."""
    weight_scales = graph.weight("weight.scale", np.full(filters, 0.01, np.float32))
    return graph.add(
        "QLinearConv",
        [x, graph.weight("x.scale", np.float32(0.01)), graph.weight("x.zero", np.uint8(0)), bytes_of(graph, "weight", shape),
         weight_scales, graph.weight("weight.zero", np.zeros(filters, np.int8)),
         graph.weight("y.scale", np.float32(0.01 * np.sqrt(sums))), graph.weight("y.zero", np.uint8(0)),
         graph.weight("bias", np.zeros(filters, np.int32))], **attributes)


def convolution(graph, x, case):
    _, _, channels, filters, kernel, stride, groups = case.sizes
    x = graph.add("Transpose", [x], perm=[0, 3, 1, 2])
    if case.type == "int8":
        shape = (filters, channels // groups, kernel, kernel)
        y = quantised_convolution(graph, x, filters, shape, kernel * kernel * channels // groups, group=groups,
                                  kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4, strides=[stride] * 2)
    else:
        y = graph.add("Relu", [graph.conv(x, "conv", channels, filters, kernel, stride, groups)])
    return graph.add("Transpose", [y], perm=[0, 2, 3, 1]), DTYPES[case.type]


def elementwise(graph, x, case):
    y = graph.input("y", TensorProto.FLOAT, list(case.sizes))
    scaled = graph.add("Add", [graph.add("Mul", [x, graph.constant(0.9, np.float32)]), graph.constant(0.1, np.float32)])
    return graph.add("Add", [graph.add("Mul", [graph.add("Relu", [scaled]), y]), x]), TensorProto.FLOAT


def layers(graph, x, case):
    count, size = case.sizes
    for layer in range(count):
        x = graph.add("Tanh", [linear(graph, x, f"layer.{layer}", size, size)])
    return x, TensorProto.FLOAT


def products(graph, x, case):
    """Weights keep the size of values: sums that vanish would be slow for their own sake."""
    count, size = case.sizes
    for layer in range(count):
        x = graph.add("MatMul", [x, random_weight(graph, f"layer.{layer}.weight", (size, size), size**-0.5)])
    return x, TensorProto.FLOAT


BUILDERS = {
    "product": product,
    "convolution": convolution,
    "elementwise": elementwise,
    "layer_norm": lambda graph, x, case: (layer_norm(graph, x, "norm", case.sizes[1]), TensorProto.FLOAT),
    "softmax": lambda graph, x, case: (graph.add("Softmax", [x], axis=-1), TensorProto.FLOAT),
    "layers": layers,
    "products": products,
}


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        if (folder / case.file).exists():
            continue
        graph = GraphBuilder(case.kind, 1)
        result, dtype = BUILDERS[case.kind](graph, graph.input("x", DTYPES[case.type], list(case.shapes[0])), case)
        graph.output(result, "output", [f"d{i}" for i in range(len(case.shapes[0]))], dtype)
        graph.save(str(folder / "partial"))
        (folder / "partial").rename(folder / case.file)


if __name__ == "__main__":
    main(*sys.argv[1:])
