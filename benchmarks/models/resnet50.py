# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 (v1.5: the stride sits in the 3x3 convolution) with random weights."""

from onnx import TensorProto

from graph_builder import GraphBuilder

STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
EXPANSION = 4


def bottleneck(graph, x, name, in_channels, width, stride):
    out_channels = width * EXPANSION
    y = graph.add("Relu", [graph.conv(x, f"{name}.conv1", in_channels, width, 1)])
    y = graph.add("Relu", [graph.conv(y, f"{name}.conv2", width, width, 3, stride)])
    y = graph.conv(y, f"{name}.conv3", width, out_channels, 1, gain=0.5)
    if stride != 1 or in_channels != out_channels:
        x = graph.conv(x, f"{name}.downsample.0", in_channels, out_channels, 1, stride, gain=1.0)
    return graph.add("Relu", [graph.add("Add", [y, x])])


def build(path):
    graph = GraphBuilder("resnet50", seed=50)
    x = graph.input("input", TensorProto.FLOAT, ["batch", 3, 224, 224])
    x = graph.add("Relu", [graph.conv(x, "conv1", 3, 64, 7, 2)])
    x = graph.add("MaxPool", [x], ceil_mode=0, dilations=[1, 1], kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    channels = 64
    for stage, (width, blocks, stride) in enumerate(STAGES, 1):
        for block in range(blocks):
            x = bottleneck(graph, x, f"layer{stage}.{block}", channels, width, stride if block == 0 else 1)
            channels = width * EXPANSION
    x = graph.add("GlobalAveragePool", [x])
    graph.output(graph.linear_head(x, "fc", channels, 1000), "output", ["batch", 1000])
    graph.save(path)
