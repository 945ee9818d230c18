# SPDX-License-Identifier: Apache-2.0
"""Networks on tokens, lines of text, graphs and rows of a table, with random weights."""

import numpy as np
from onnx import TensorProto

from graph_builder import GraphBuilder
from layers import batched_attention, gelu, heads_of, layer_norm, linear, random_weight

# vocabulary, width, layers, heads
GPT2_SMALL = (50257, 768, 12, 12)
T5_SMALL = (32128, 512, 6, 8)
T5_INNER, T5_BUCKETS, T5_LONGEST = 2048, 32, 512


def cached_attention(graph, x, name, width, heads, past):
    """One step: the keys and values of earlier tokens come in, and go out with this token's."""
    joined = linear(graph, x, f"{name}.qkv", width, 3 * width)
    parts = graph.add("Split", [joined, graph.constant([width] * 3)], outputs=3, axis=2)
    query, key, value = (heads_of(graph, part, heads, width // heads) for part in parts)
    key, value = (graph.add("Concat", [before, now], axis=2) for before, now in zip(past, (key, value)))
    scores = graph.add("MatMul", [query, graph.add("Transpose", [key], perm=[0, 1, 3, 2])])
    scores = graph.add("Div", [scores, graph.constant((width // heads) ** 0.5, np.float32)])
    y = graph.add("MatMul", [graph.add("Softmax", [scores], axis=-1), value])
    y = graph.add("Reshape", [graph.add("Transpose", [y], perm=[0, 2, 1, 3]), graph.constant([0, -1, width])])
    return linear(graph, y, f"{name}.out", width, width), key, value


def build_gpt_step(path, layers=6):
    vocabulary, width, _, heads = GPT2_SMALL
    graph = GraphBuilder("gpt_step", 20)
    ids = graph.input("input_ids", TensorProto.INT64, ["batch", 1])
    position = graph.input("position_ids", TensorProto.INT64, ["batch", 1])
    shape = ["batch", heads, "past", width // heads]
    past = [[graph.input(f"past.{layer}.{part}", TensorProto.FLOAT, shape) for part in ("key", "value")]
            for layer in range(layers)]
    words = random_weight(graph, "words", (vocabulary, width))
    x = graph.add("Add", [graph.add("Gather", [words, ids]),
                          graph.add("Gather", [random_weight(graph, "positions", (1024, width)), position])])
    present = []
    for layer in range(layers):
        name = f"h.{layer}"
        y, key, value = cached_attention(graph, layer_norm(graph, x, f"{name}.ln1", width), f"{name}.attn", width,
                                         heads, past[layer])
        present += [(f"present.{layer}.key", key), (f"present.{layer}.value", value)]
        x = graph.add("Add", [x, y])
        y = gelu(graph, linear(graph, layer_norm(graph, x, f"{name}.ln2", width), f"{name}.fc", width, 4 * width))
        x = graph.add("Add", [x, linear(graph, y, f"{name}.proj", 4 * width, width)])
    logits = graph.add("MatMul", [layer_norm(graph, x, "ln", width), graph.add("Transpose", [words], perm=[1, 0])])
    graph.output(logits, "logits", ["batch", 1, vocabulary])
    for name, value in present:
        graph.output(value, name, ["batch", heads, "total", width // heads])
    graph.save(path)


def rms_norm(graph, x, name, width):
    square = graph.add("Pow", [x, graph.constant(2.0, np.float32)])
    mean = graph.add("ReduceMean", [square], axes=[-1], keepdims=1)
    root = graph.add("Sqrt", [graph.add("Add", [mean, graph.constant(1e-6, np.float32)])])
    scaled = graph.add("Mul", [x, graph.add("Div", [graph.constant(1.0, np.float32), root])])
    return graph.add("Mul", [graph.weight(name, np.ones(width, np.float32)), scaled])


def relative_bias(graph, ids, heads):
    """T5's: the distance of two tokens chooses a bucket, and that a row of a table."""
    length = graph.add("Gather", [graph.add("Shape", [ids]), graph.constant(1)], axis=0)
    places = graph.add("Range", [graph.constant(0), length, graph.constant(1)])
    rows = graph.add("Unsqueeze", [places, graph.constant([1])])
    distance = graph.add("Sub", [graph.add("Unsqueeze", [places, graph.constant([0])]), rows])
    far = graph.add("Cast", [graph.add("Greater", [distance, graph.constant(0)])], to=TensorProto.INT64)
    side = graph.add("Mul", [far, graph.constant(T5_BUCKETS // 2)])
    size, exact = graph.add("Abs", [distance]), T5_BUCKETS // 4
    log = graph.add("Log", [graph.add("Div", [graph.add("Cast", [size], to=TensorProto.FLOAT),
                                              graph.constant(float(exact), np.float32)])])
    log = graph.add("Mul", [graph.add("Div", [log, graph.constant(np.log(128 / exact), np.float32)]),
                            graph.constant(float(exact), np.float32)])
    log = graph.add("Max", [log, graph.constant(0.0, np.float32)])
    large = graph.add("Add", [graph.add("Cast", [log], to=TensorProto.INT64), graph.constant(exact)])
    large = graph.add("Min", [large, graph.constant(T5_BUCKETS // 2 - 1)])
    bucket = graph.add("Where", [graph.add("Less", [size, graph.constant(exact)]), size, large])
    rows = graph.add("Gather", [random_weight(graph, "relative", (T5_BUCKETS, heads)),
                                graph.add("Add", [side, bucket])])
    return graph.add("Unsqueeze", [graph.add("Transpose", [rows], perm=[2, 0, 1]), graph.constant([0])])


def build_t5(path):
    vocabulary, width, layers, heads = T5_SMALL
    graph = GraphBuilder("t5_encoder", 21)
    ids = graph.input("input_ids", TensorProto.INT64, ["batch", "sequence"])
    x = graph.add("Gather", [random_weight(graph, "words", (vocabulary, width), 1.0), ids])
    bias = relative_bias(graph, ids, heads)
    for layer in range(layers):
        name = f"block.{layer}"
        y = batched_attention(graph, rms_norm(graph, x, f"{name}.norm1", width), f"{name}.attn", width, heads, bias,
                              scale=False, linear_bias=False)
        x = graph.add("Add", [x, y])
        y = linear(graph, rms_norm(graph, x, f"{name}.norm2", width), f"{name}.wi", width, T5_INNER, bias=False)
        x = graph.add("Add", [x, linear(graph, graph.add("Relu", [y]), f"{name}.wo", T5_INNER, width, bias=False)])
    graph.output(rms_norm(graph, x, "norm", width), "output", ["batch", "sequence", width])
    graph.save(path)


def recurrent(graph, x, name, operator, gates, inputs, hidden):
    """A bidirectional layer on [length, batch, inputs], with its two directions side by side in the result."""
    weights = [random_weight(graph, f"{name}.{part}", shape, 0.06) for part, shape in
               (("W", (2, gates * hidden, inputs)), ("R", (2, gates * hidden, hidden)), ("B", (2, 2 * gates * hidden)))]
    options = {"linear_before_reset": 1} if operator == "GRU" else {}
    y = graph.add(operator, [x, *weights], hidden_size=hidden, direction="bidirectional", **options)
    y = graph.add("Transpose", [y], perm=[0, 2, 1, 3])
    return graph.add("Reshape", [y, graph.constant([0, 0, -1])])


def build_tagger(path, operator, gates):
    graph = GraphBuilder(f"{operator.lower()}_tagger", 22)
    ids = graph.input("input_ids", TensorProto.INT64, ["batch", "sequence"])
    x = graph.add("Gather", [random_weight(graph, "words", (20000, 128), 1.0), ids])
    x, inputs = graph.add("Transpose", [x], perm=[1, 0, 2]), 128
    for layer in range(2):
        x, inputs = recurrent(graph, x, f"layer.{layer}", operator, gates, inputs, 256), 512
    x = linear(graph, graph.add("Transpose", [x], perm=[1, 0, 2]), "tags", inputs, 17)
    graph.output(graph.add("LogSoftmax", [x], axis=-1), "output", ["batch", "sequence", 17])
    graph.save(path)


def build_text_recogniser(path):
    """CRNN: convolutions down to one row, then two bidirectional LSTMs over its columns."""
    graph = GraphBuilder("text_recogniser", 23)
    x, channels = graph.input("input", TensorProto.FLOAT, ["batch", 3, 32, "width"]), 3
    for index, (width, pool) in enumerate(((64, (2, 2)), (128, (2, 2)), (256, None), (256, (2, 1)), (512, None),
                                           (512, (4, 1)))):
        x = graph.add("Relu", [graph.conv(x, f"conv.{index}", channels, width, 3)])
        if pool:
            x = graph.add("MaxPool", [x], kernel_shape=list(pool), strides=list(pool))
        channels = width
    x = graph.add("Transpose", [graph.add("Squeeze", [x, graph.constant([2])])], perm=[2, 0, 1])
    for layer in range(2):
        x = recurrent(graph, x, f"lstm.{layer}", "LSTM", 4, 512, 256)
    x = linear(graph, x, "letters", 512, 97)
    graph.output(graph.add("Softmax", [x], axis=-1), "output", ["columns", "batch", 97])
    graph.save(path)


def build_graph_network(path):
    """Three layers of messages, summed where their edges end; indices are expanded as PyTorch exports scatter_add."""
    graph = GraphBuilder("graph_network", 24)
    x = graph.input("x", TensorProto.FLOAT, ["nodes", 64])
    edges = graph.input("edges", TensorProto.INT64, [2, "edges"])
    sources, targets = (graph.add("Gather", [edges, graph.constant(row)], axis=0) for row in range(2))
    column = graph.add("Unsqueeze", [targets, graph.constant([1])])
    for layer in range(3):
        messages = graph.add("Gather", [linear(graph, x, f"layer.{layer}.message", 64, 64), sources], axis=0)
        indices = graph.add("Expand", [column, graph.add("Shape", [messages])])
        zeros = graph.add("Expand", [graph.constant(0.0, np.float32), graph.add("Shape", [x])])
        sums = graph.add("ScatterElements", [zeros, indices, messages], axis=0, reduction="add")
        x = graph.add("Relu", [graph.add("Add", [linear(graph, x, f"layer.{layer}.self", 64, 64), sums])])
    graph.output(linear(graph, x, "classes", 64, 7), "output", ["nodes", 7])
    graph.save(path)


def build_small_mlp(path):
    """A hundred small operators on one row: what each costs apart from its work."""
    graph = GraphBuilder("small_mlp", 25)
    x = graph.input("x", TensorProto.FLOAT, ["batch", 32])
    for layer in range(33):
        x = graph.add("Tanh", [linear(graph, x, f"layer.{layer}", 32, 32)])
    graph.output(x, "output", ["batch", 32])
    graph.save(path)
