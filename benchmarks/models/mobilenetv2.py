# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 (width 1.0) with random weights."""

import numpy as np
from onnx import TensorProto

from graph_builder import GraphBuilder

# expansion, output channels, repeats, first stride
BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def conv_relu6(graph, x, name, in_channels, out_channels, kernel, stride=1, groups=1):
    y = graph.conv(x, name, in_channels, out_channels, kernel, stride, groups)
    return graph.add("Clip", [y, graph.constant(0.0, np.float32), graph.constant(6.0, np.float32)])


def inverted_residual(graph, x, name, in_channels, out_channels, stride, expansion):
    hidden, y = in_channels * expansion, x
    if expansion != 1:
        y = conv_relu6(graph, y, f"{name}.expand", in_channels, hidden, 1)
    y = conv_relu6(graph, y, f"{name}.depthwise", hidden, hidden, 3, stride, groups=hidden)
    y = graph.conv(y, f"{name}.project", hidden, out_channels, 1, gain=1.0)
    return graph.add("Add", [x, y]) if stride == 1 and in_channels == out_channels else y


def build(path):
    graph = GraphBuilder("mobilenetv2", seed=2)
    x = graph.input("input", TensorProto.FLOAT, ["batch", 3, 224, 224])
    x = conv_relu6(graph, x, "features.0", 3, 32, 3, 2)
    channels, index = 32, 1
    for expansion, out_channels, repeats, stride in BLOCKS:
        for repeat in range(repeats):
            x = inverted_residual(graph, x, f"features.{index}", channels, out_channels,
                                  stride if repeat == 0 else 1, expansion)
            channels, index = out_channels, index + 1
    x = conv_relu6(graph, x, f"features.{index}", channels, 1280, 1)
    x = graph.add("GlobalAveragePool", [x])
    graph.output(graph.linear_head(x, "classifier.1", 1280, 1000), "output", ["batch", 1000])
    graph.save(path)
