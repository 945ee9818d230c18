# SPDX-License-Identifier: Apache-2.0
"""max.graph: graphs, their values and what becomes of them."""

import numpy as np
import pytest

from max.dtype import DType
from max.graph import Dim, Graph, Shape, TensorType, Weight, ops

F = DType.float32


def test_a_graph_from_a_context_and_from_a_callable(session):
    with Graph("sum", input_types=[TensorType(F, ["n"])] * 2) as written:
        a, b = written.inputs
        written.output(ops.add(a.tensor, b.tensor))
    called = Graph("sum", ops.add, [TensorType(F, ["n"])] * 2)
    for graph in (written, called):
        model = session.load(graph)
        assert model(np.ones(3, np.float32), np.ones(3, np.float32))[0].to_numpy().tolist() == [2, 2, 2]


def test_weights_are_bound_by_name(session):
    w = Weight("w", F, [3, 2])
    with Graph("linear", input_types=[TensorType(F, ["batch", 3])]) as graph:
        y = ops.onnx("", "MatMul", [graph.inputs[0], w])
        assert y.shape == ["batch", 2] and y.dtype is F
        graph.output(y, ops.onnx("", "Concat", [y, y], attributes={"axis": 0}))
    assert graph.output_types[1] == TensorType(F, [Dim("batch") * 2, 2])
    model = session.load(graph, weights_registry={"w": np.ones((3, 2), np.float32)})
    assert model(np.ones((1, 3), np.float32))[1].to_numpy().tolist() == [[3, 3], [3, 3]]
    for registry, message in [
        ({}, "'w'"),
        ({"w": np.ones((3, 2))}, "float64"),
        ({"w": np.ones((2, 2), np.float32)}, r"\[2, 2\]"),
        ({"w": np.ones((3, 2), np.float32), "v": np.ones(1)}, "no weight 'v'"),
    ]:
        with pytest.raises(ValueError, match=message):
            session.load(graph, weights_registry=registry)


def test_errors_carry_the_line():
    with Graph("wrong", input_types=[TensorType(F, [2, 3])]) as graph:
        x = graph.inputs[0]
        with pytest.raises(ValueError, match=r"test_graph.py:\d+' \(Add\).*do not broadcast.*test_graph.py:\d+\)"):
            ops.add(x, np.ones(7, np.float32))
        with pytest.raises(NotImplementedError, match=r"Nothing.*test_graph.py:\d+\)"):
            ops.onnx("", "Nothing", [x])
        with pytest.raises(ValueError, match=r"1.5 cannot be of type int64.*test_graph.py:\d+\)"):
            ops.add(ops.constant([1]), 1.5)
    with pytest.raises(LookupError, match=r"no graph is being built.*test_graph.py:\d+\)"):
        ops.add(x, x)


def test_dimensions():
    n = Dim("n")
    assert n * 2 + n == 3 * n and str(n * 5) == "n * 5" and repr(Dim(3)) == "Dim(3)"
    assert -n - 4 == -(n + 4) and (n * 5 - 1) // 4 == n - 1 + (n + 3) // 4
    assert repr(Shape([1, "n", n * 2])) == "Shape([1, 'n', Dim('n') * 2])"
