# SPDX-License-Identifier: Apache-2.0
"""BERT base with random weights: dynamic batch and sequence length, shape arithmetic as exported."""

import numpy as np
from onnx import TensorProto

from graph_builder import GraphBuilder
from layers import gelu, layer_norm, linear, random_weight

VOCABULARY, POSITIONS, HIDDEN, LAYERS, HEADS, INNER = 30522, 512, 768, 12, 12, 3072
EPSILON = 1e-12
LOWEST = float(np.finfo(np.float32).min)


def dimension(graph, x, axis):
    """One dimension of x as a vector of one element."""
    value = graph.add("Gather", [graph.add("Shape", [x]), graph.constant(axis)], axis=0)
    return graph.add("Unsqueeze", [value, graph.constant([0])])


def split_heads(graph, x, perm):
    shape = graph.add("Concat", [dimension(graph, x, 0), dimension(graph, x, 1), graph.constant([HEADS]),
                                 graph.constant([HIDDEN // HEADS])], axis=0)
    return graph.add("Transpose", [graph.add("Reshape", [x, shape])], perm=perm)


def merge_heads(graph, x):
    x = graph.add("Transpose", [x], perm=[0, 2, 1, 3])
    shape = graph.add("Concat", [dimension(graph, x, 0), dimension(graph, x, 1), graph.constant([HIDDEN])], axis=0)
    return graph.add("Reshape", [x, shape])


def attention(graph, x, mask, name):
    query = split_heads(graph, linear(graph, x, f"{name}.query", HIDDEN, HIDDEN), [0, 2, 1, 3])
    key = split_heads(graph, linear(graph, x, f"{name}.key", HIDDEN, HIDDEN), [0, 2, 3, 1])
    value = split_heads(graph, linear(graph, x, f"{name}.value", HIDDEN, HIDDEN), [0, 2, 1, 3])
    scores = graph.add("Div", [graph.add("MatMul", [query, key]),
                               graph.constant((HIDDEN // HEADS) ** 0.5, np.float32)])
    weights = graph.add("Softmax", [graph.add("Add", [scores, mask])], axis=-1)
    context = merge_heads(graph, graph.add("MatMul", [weights, value]))
    return linear(graph, context, f"{name}.output", HIDDEN, HIDDEN)


def additive_mask(graph, attention_mask):
    mask = graph.add("Unsqueeze", [graph.add("Unsqueeze", [attention_mask, graph.constant([1])]),
                                   graph.constant([2])])
    mask = graph.add("Cast", [mask], to=TensorProto.FLOAT)
    return graph.add("Mul", [graph.add("Sub", [graph.constant(1.0, np.float32), mask]),
                             graph.constant(LOWEST, np.float32)])


def embeddings(graph, input_ids, token_types):
    positions = graph.weight("embeddings.position_ids", np.arange(POSITIONS, dtype=np.int64)[None])
    positions = graph.add("Slice", [positions, graph.constant([0]), dimension(graph, input_ids, 1),
                                    graph.constant([1]), graph.constant([1])])
    words = graph.add("Gather", [random_weight(graph, "embeddings.word", (VOCABULARY, HIDDEN)), input_ids])
    types = graph.add("Gather", [random_weight(graph, "embeddings.token_type", (2, HIDDEN)), token_types])
    places = graph.add("Gather", [random_weight(graph, "embeddings.position", (POSITIONS, HIDDEN)), positions])
    total = graph.add("Add", [graph.add("Add", [words, types]), places])
    return layer_norm(graph, total, "embeddings.LayerNorm", HIDDEN, EPSILON)


def encoder_layer(graph, x, mask, name):
    x = layer_norm(graph, graph.add("Add", [attention(graph, x, mask, f"{name}.attention"), x]),
                   f"{name}.attention.LayerNorm", HIDDEN, EPSILON)
    inner = gelu(graph, linear(graph, x, f"{name}.intermediate", HIDDEN, INNER))
    return layer_norm(graph, graph.add("Add", [linear(graph, inner, f"{name}.output", INNER, HIDDEN), x]),
                      f"{name}.output.LayerNorm", HIDDEN, EPSILON)


def pooler(graph, x):
    first = graph.add("Gather", [x, graph.constant(0)], axis=1)
    dense = graph.add("Gemm", [first, random_weight(graph, "pooler.weight", (HIDDEN, HIDDEN)),
                               random_weight(graph, "pooler.bias", (HIDDEN,))], alpha=1.0, beta=1.0, transB=1)
    return graph.add("Tanh", [dense])


def build(path):
    graph = GraphBuilder("bert_base", seed=12)
    shape = ["batch", "sequence"]
    input_ids = graph.input("input_ids", TensorProto.INT64, shape)
    attention_mask = graph.input("attention_mask", TensorProto.INT64, shape)
    token_types = graph.input("token_type_ids", TensorProto.INT64, shape)
    mask = additive_mask(graph, attention_mask)
    x = embeddings(graph, input_ids, token_types)
    for layer in range(LAYERS):
        x = encoder_layer(graph, x, mask, f"encoder.layer.{layer}")
    graph.output(x, "last_hidden_state", ["batch", "sequence", HIDDEN])
    graph.output(pooler(graph, x), "pooler_output", ["batch", HIDDEN])
    graph.save(path)
