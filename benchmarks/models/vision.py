# SPDX-License-Identifier: Apache-2.0
"""Image networks with random weights: classifiers, detectors and a U-Net."""

import numpy as np
from onnx import TensorProto

from graph_builder import GraphBuilder
from layers import batched_attention, gelu, layer_norm, linear, random_weight

# kernel, hidden and output channels, squeeze-and-excite, hard-swish, stride
MOBILENET_V3 = (
    (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1),
    (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
    (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1),
    (5, 960, 160, 1, 1, 1))
# expansion, kernel, output channels, repeats, first stride
EFFICIENTNET_B0 = ((1, 3, 16, 1, 1), (6, 3, 24, 2, 2), (6, 5, 40, 2, 2), (6, 3, 80, 3, 2), (6, 5, 112, 3, 1),
                   (6, 5, 192, 4, 2), (6, 3, 320, 1, 1))
CONVNEXT_TINY = ((96, 3), (192, 3), (384, 9), (768, 3))
# width, inner width, layers, heads
VIT_SMALL = (384, 1536, 12, 6)


def silu(graph, x):
    return graph.add("Mul", [x, graph.add("Sigmoid", [x])])


def relu(graph, x):
    return graph.add("Relu", [x])


def hard_swish(graph, x):
    return graph.add("HardSwish", [x])


def squeeze_excite(graph, x, name, channels, squeezed, inner, gate):
    y = graph.add("GlobalAveragePool", [x])
    y = inner(graph, graph.conv(y, f"{name}.fc1", channels, squeezed, 1))
    return graph.add("Mul", [x, gate(graph, graph.conv(y, f"{name}.fc2", squeezed, channels, 1))])


def hard_sigmoid(graph, x):
    return graph.add("HardSigmoid", [x], alpha=1 / 6)


def sigmoid(graph, x):
    return graph.add("Sigmoid", [x])


def classifier(graph, x, channels):
    head = graph.linear_head(graph.add("GlobalAveragePool", [x]), "classifier", channels, 1000)
    graph.output(head, "output", ["batch", 1000])


def image_graph(name, seed, size=224):
    graph = GraphBuilder(name, seed)
    return graph, graph.input("input", TensorProto.FLOAT, ["batch", 3, size, size])


def mobilenet_v3_features(graph, x):
    """What each stage ends with, and its channels: strides 4, 8, 16 and 32."""
    x, channels, stages = hard_swish(graph, graph.conv(x, "stem", 3, 16, 3, 2)), 16, []
    for index, (kernel, hidden, out, squeezes, swish, stride) in enumerate(MOBILENET_V3):
        if stride == 2 and index > 1:
            stages.append((x, channels))
        act, y, name = hard_swish if swish else relu, x, f"blocks.{index}"
        if hidden != channels:
            y = act(graph, graph.conv(y, f"{name}.expand", channels, hidden, 1))
        y = act(graph, graph.conv(y, f"{name}.depthwise", hidden, hidden, kernel, stride, groups=hidden))
        if squeezes:
            y = squeeze_excite(graph, y, name, hidden, (hidden // 4 + 7) // 8 * 8, relu, hard_sigmoid)
        y = graph.conv(y, f"{name}.project", hidden, out, 1, gain=1.0)
        x, channels = graph.add("Add", [x, y]) if stride == 1 and channels == out else y, out
    return [*stages, (x, channels)]


def build_mobilenet_v3(path):
    graph, x = image_graph("mobilenetv3", 3)
    x, channels = mobilenet_v3_features(graph, x)[-1]
    x = hard_swish(graph, graph.conv(x, "last", channels, 960, 1))
    x = graph.conv(graph.add("GlobalAveragePool", [x]), "wide", 960, 1280, 1)
    graph.output(graph.linear_head(hard_swish(graph, x), "classifier", 1280, 1000), "output", ["batch", 1000])
    graph.save(path)


def build_efficientnet(path):
    graph, x = image_graph("efficientnet_b0", 4)
    x, channels, index = silu(graph, graph.conv(x, "stem", 3, 32, 3, 2)), 32, 0
    for expansion, kernel, out, repeats, first_stride in EFFICIENTNET_B0:
        for repeat in range(repeats):
            stride, hidden, y, name = first_stride if repeat == 0 else 1, channels * expansion, x, f"blocks.{index}"
            if expansion != 1:
                y = silu(graph, graph.conv(y, f"{name}.expand", channels, hidden, 1))
            y = silu(graph, graph.conv(y, f"{name}.depthwise", hidden, hidden, kernel, stride, groups=hidden))
            y = squeeze_excite(graph, y, name, hidden, channels // 4, silu, sigmoid)
            y = graph.conv(y, f"{name}.project", hidden, out, 1, gain=1.0)
            x = graph.add("Add", [x, y]) if stride == 1 and channels == out else y
            channels, index = out, index + 1
    classifier(graph, silu(graph, graph.conv(x, "head", channels, 1280, 1)), 1280)
    graph.save(path)


def norm_of_channels(graph, x, name, channels):
    """A layer norm over the channels of an image: it is turned, normalised and turned back."""
    y = layer_norm(graph, graph.add("Transpose", [x], perm=[0, 2, 3, 1]), name, channels)
    return graph.add("Transpose", [y], perm=[0, 3, 1, 2])


def build_convnext(path):
    graph, x = image_graph("convnext_tiny", 5)
    channels = 3
    for stage, (width, blocks) in enumerate(CONVNEXT_TINY):
        kernel = 4 if stage == 0 else 2
        x = norm_of_channels(graph, x, f"norm.{stage}", channels) if stage else x
        x = graph.conv(x, f"down.{stage}", channels, width, kernel, kernel, pad=0)
        x = x if stage else norm_of_channels(graph, x, "norm.stem", width)
        for block in range(blocks):
            name = f"stages.{stage}.{block}"
            y = graph.conv(x, f"{name}.depthwise", width, width, 7, groups=width)
            y = layer_norm(graph, graph.add("Transpose", [y], perm=[0, 2, 3, 1]), f"{name}.norm", width)
            y = gelu(graph, linear(graph, y, f"{name}.fc1", width, 4 * width))
            y = linear(graph, y, f"{name}.fc2", 4 * width, width)
            y = graph.add("Mul", [y, random_weight(graph, f"{name}.gamma", (width,), 0.1)])
            x = graph.add("Add", [x, graph.add("Transpose", [y], perm=[0, 3, 1, 2])])
        channels = width
    classifier(graph, x, channels)
    graph.save(path)


def build_vit(path):
    width, inner, layers, heads = VIT_SMALL
    graph, x = image_graph("vit_small", 6)
    x = graph.conv(x, "patch", 3, width, 16, 16, pad=0)
    x = graph.add("Transpose", [graph.add("Reshape", [x, graph.constant([0, width, 196])])], perm=[0, 2, 1])
    x = graph.add("Add", [x, random_weight(graph, "positions", (1, 196, width))])
    for layer in range(layers):
        name = f"blocks.{layer}"
        y = layer_norm(graph, x, f"{name}.norm1", width)
        x = graph.add("Add", [x, batched_attention(graph, y, f"{name}.attn", width, heads)])
        y = gelu(graph, linear(graph, layer_norm(graph, x, f"{name}.norm2", width), f"{name}.fc1", width, inner))
        x = graph.add("Add", [x, linear(graph, y, f"{name}.fc2", inner, width)])
    x = graph.add("ReduceMean", [layer_norm(graph, x, "norm", width)], axes=[1], keepdims=0)
    graph.output(linear(graph, x, "head", width, 1000), "output", ["batch", 1000])
    graph.save(path)


def conv_silu(graph, x, name, inputs, outputs, kernel=1, stride=1):
    return silu(graph, graph.conv(x, name, inputs, outputs, kernel, stride))


def c2f(graph, x, name, inputs, outputs, repeats, shortcut):
    """YOLOv8's block: split, bottlenecks, and all parts joined."""
    half = outputs // 2
    y = conv_silu(graph, x, f"{name}.cv1", inputs, outputs)
    parts = list(graph.add("Split", [y, graph.constant([half, half])], outputs=2, axis=1))
    for index in range(repeats):
        y = conv_silu(graph, parts[-1], f"{name}.m.{index}.cv1", half, half, 3)
        y = conv_silu(graph, y, f"{name}.m.{index}.cv2", half, half, 3)
        parts.append(graph.add("Add", [parts[-1], y]) if shortcut else y)
    return conv_silu(graph, graph.add("Concat", parts, axis=1), f"{name}.cv2", half * len(parts), outputs)


def resize_twice(graph, x):
    return graph.add("Resize", [x, "", graph.constant([1, 1, 2, 2], np.float32)], mode="nearest",
                     coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def spatial_pyramid(graph, x, channels):
    parts = [conv_silu(graph, x, "sppf.cv1", channels, channels // 2)]
    for _ in range(3):
        parts.append(graph.add("MaxPool", [parts[-1]], kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1]))
    return conv_silu(graph, graph.add("Concat", parts, axis=1), "sppf.cv2", channels * 2, channels)


def yolo_head(graph, levels):
    results = []
    for index, (x, channels) in enumerate(levels):
        parts = []
        for kind, width, out in (("box", 64, 64), ("class", 80, 80)):
            y = conv_silu(graph, x, f"head.{index}.{kind}.0", channels, width, 3)
            y = conv_silu(graph, y, f"head.{index}.{kind}.1", width, width, 3)
            parts.append(graph.conv(y, f"head.{index}.{kind}.2", width, out, 1, gain=1.0))
        results.append(graph.add("Reshape", [graph.add("Concat", parts, axis=1), graph.constant([0, 144, -1])]))
    boxes, classes = graph.add("Split", [graph.add("Concat", results, axis=2), graph.constant([64, 80])], outputs=2,
                               axis=1)
    boxes = graph.add("Reshape", [boxes, graph.constant([0, 4, 16, -1])])
    boxes = graph.add("Softmax", [graph.add("Transpose", [boxes], perm=[0, 2, 1, 3])], axis=1)
    boxes = graph.conv(boxes, "head.dfl", 16, 1, 1)
    boxes = graph.add("Reshape", [boxes, graph.constant([0, 4, -1])])
    return graph.add("Concat", [boxes, graph.add("Sigmoid", [classes])], axis=1)


def build_yolo(path):
    """A detector like YOLOv8n."""
    graph = GraphBuilder("yolo", 7)
    x = graph.input("input", TensorProto.FLOAT, ["batch", 3, "height", "width"])
    x, channels, stages = conv_silu(graph, x, "stem", 3, 16, 3, 2), 16, []
    for index, (out, repeats) in enumerate(((32, 1), (64, 2), (128, 2), (256, 1))):
        x = conv_silu(graph, x, f"down.{index}", channels, out, 3, 2)
        x = c2f(graph, x, f"stage.{index}", out, out, repeats, True)
        channels = out
        stages.append(x)
    p5 = spatial_pyramid(graph, stages[3], 256)
    p4 = c2f(graph, graph.add("Concat", [resize_twice(graph, p5), stages[2]], axis=1), "up.0", 384, 128, 1, False)
    p3 = c2f(graph, graph.add("Concat", [resize_twice(graph, p4), stages[1]], axis=1), "up.1", 192, 64, 1, False)
    y = conv_silu(graph, p3, "pan.0.down", 64, 64, 3, 2)
    p4 = c2f(graph, graph.add("Concat", [y, p4], axis=1), "pan.0", 192, 128, 1, False)
    y = conv_silu(graph, p4, "pan.1.down", 128, 128, 3, 2)
    p5 = c2f(graph, graph.add("Concat", [y, p5], axis=1), "pan.1", 384, 256, 1, False)
    graph.output(yolo_head(graph, ((p3, 64), (p4, 128), (p5, 256))), "output", ["batch", 84, "boxes"])
    graph.save(path)


def build_unet(path):
    graph, x = image_graph("unet", 8, 256)
    channels, skips = 3, []
    for level, width in enumerate((32, 64, 128, 256, 512)):
        if level:
            x = graph.add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
        for index in range(2):
            x = relu(graph, graph.conv(x, f"down.{level}.{index}", channels, width, 3))
            channels = width
        skips.append(x)
    for level, width in enumerate((256, 128, 64, 32)):
        x = graph.conv_transpose(x, f"up.{level}", channels, width, 2, 2)
        x, channels = graph.add("Concat", [skips[3 - level], x], axis=1), 2 * width
        for index in range(2):
            x = relu(graph, graph.conv(x, f"up.{level}.{index}", channels, width, 3))
            channels = width
    graph.output(graph.conv(x, "last", channels, 2, 1), "output", ["batch", 2, 256, 256])
    graph.save(path)


def build_text_detector(path):
    """DB: MobileNetV3, a feature pyramid, and a map that transposed convolutions enlarge."""
    graph = GraphBuilder("text_detector", 9)
    x = graph.input("input", TensorProto.FLOAT, ["batch", 3, "height", "width"])
    stages, merged, parts = mobilenet_v3_features(graph, x), None, []
    for index, (y, channels) in reversed(list(enumerate(stages))):
        y = graph.conv(y, f"fpn.{index}.lateral", channels, 96, 1)
        merged = graph.add("Add", [y, resize_twice(graph, merged)]) if merged else y
        y = graph.conv(merged, f"fpn.{index}.smooth", 96, 24, 3)
        for _ in range(index):
            y = resize_twice(graph, y)
        parts.append(y)
    x = relu(graph, graph.conv(graph.add("Concat", parts, axis=1), "head.0", 96, 24, 3))
    x = relu(graph, graph.conv_transpose(x, "head.1", 24, 24, 2, 2))
    graph.output(sigmoid(graph, graph.conv_transpose(x, "head.2", 24, 1, 2, 2)), "output",
                 ["batch", 1, "height", "width"])
    graph.save(path)
