# SPDX-License-Identifier: Apache-2.0
"""A graph built in code: a network of two layers that computes the exclusive or.

pip install ./bindings/python, then: python3 examples/python/graph.py
"""

import numpy as np

from max.driver import CPU
from max.dtype import DType
from max.engine import InferenceSession
from max.graph import Graph, TensorType, TensorValue, Weight, ops


class Layer:
    """Weights by name, whose contents come when the graph is loaded."""

    def __init__(self, name: str, inputs: int, outputs: int) -> None:
        self.matrix = Weight(f"{name}.matrix", DType.float32, [inputs, outputs])
        self.bias = Weight(f"{name}.bias", DType.float32, [outputs])

    def __call__(self, x: TensorValue) -> TensorValue:
        return x @ self.matrix + self.bias


WEIGHTS = {
    "hidden.matrix": np.array([[1, 1], [1, 1]], np.float32),
    "hidden.bias": np.array([0, -1], np.float32),
    "output.matrix": np.array([[1], [-2]], np.float32),
    "output.bias": np.array([0], np.float32),
}


def main() -> None:
    hidden, output = Layer("hidden", 2, 2), Layer("output", 2, 1)
    with Graph("exclusive_or", input_types=[TensorType(DType.float32, ["batch", 2])]) as graph:
        x = graph.inputs[0].tensor
        graph.output(output(ops.relu(hidden(x))))
    print(graph)

    model = InferenceSession(devices=[CPU()]).load(graph, weights_registry=WEIGHTS)
    pairs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    for (a, b), result in zip(pairs, model(pairs)[0].to_numpy()):
        print(f"{a:.0f} xor {b:.0f} = {result[0]:.0f}")


main()
