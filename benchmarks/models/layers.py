# SPDX-License-Identifier: Apache-2.0
"""Layers that several networks have, in the form that PyTorch's exporter writes them."""

import numpy as np


def random_weight(graph, name, shape, scale=0.02):
    return graph.weight(name, graph.random.standard_normal(shape, np.float32) * np.float32(scale))


def linear(graph, x, name, in_features, out_features, bias=True):
    y = graph.add("MatMul", [x, random_weight(graph, f"{name}.weight", (in_features, out_features))])
    return graph.add("Add", [random_weight(graph, f"{name}.bias", (out_features,)), y]) if bias else y


def layer_norm(graph, x, name, features, epsilon=1e-6):
    scale = 1 + graph.random.standard_normal(features, np.float32) * np.float32(0.02)
    return graph.add("LayerNormalization",
                     [x, graph.weight(f"{name}.weight", scale), random_weight(graph, f"{name}.bias", (features,))],
                     axis=-1, epsilon=epsilon)


def gelu(graph, x):
    half_erf = graph.add("Erf", [graph.add("Div", [x, graph.constant(2.0 ** 0.5, np.float32)])])
    scaled = graph.add("Mul", [x, graph.add("Add", [half_erf, graph.constant(1.0, np.float32)])])
    return graph.add("Mul", [scaled, graph.constant(0.5, np.float32)])


def heads_of(graph, x, heads, size, perm=(0, 2, 1, 3)):
    return graph.add("Transpose", [graph.add("Reshape", [x, graph.constant([0, -1, heads, size])])], perm=list(perm))


def batched_attention(graph, x, name, width, heads, bias=None, scale=True, linear_bias=True):
    """Self-attention; `bias` is added to the scores."""
    query, key, value = (linear(graph, x, f"{name}.{part}", width, width, linear_bias) for part in "qkv")
    query, value = (heads_of(graph, y, heads, width // heads) for y in (query, value))
    scores = graph.add("MatMul", [query, heads_of(graph, key, heads, width // heads, (0, 2, 3, 1))])
    if scale:
        scores = graph.add("Div", [scores, graph.constant((width // heads) ** 0.5, np.float32)])
    if bias:
        scores = graph.add("Add", [scores, bias])
    y = graph.add("MatMul", [graph.add("Softmax", [scores], axis=-1), value])
    y = graph.add("Reshape", [graph.add("Transpose", [y], perm=[0, 2, 1, 3]), graph.constant([0, -1, width])])
    return linear(graph, y, f"{name}.out", width, width, linear_bias)
