# SPDX-License-Identifier: Apache-2.0
"""Branches, loops, graphs that others call, buffers and printing in graphs built in code."""

import numpy as np
import pytest

from max.driver import Buffer
from max.dtype import DType
from max.graph import BufferType, BufferValue, Dim, Graph, TensorType, Weight, ops

F = DType.float32
I = DType.int64  # noqa: E741


def op(name, *inputs, **attributes):
    return ops.onnx("", name, inputs, attributes=attributes)


def run(session, graph, *inputs, **weights):
    return [made.to_numpy() for made in session.load(graph, weights_registry=weights)(*inputs)]


def vector(*values):
    return np.array(values, np.float32)


def test_branches(session):
    scalar, n = TensorType(F, []), TensorType(F, ["n"])
    with Graph("branches", input_types=[TensorType(DType.bool, []), n]) as graph:
        yes, x = (value.tensor for value in graph.inputs)
        both = ops.cond(yes, [n, scalar], lambda: (op("Neg", x), op("ReduceSum", x, keepdims=0)), lambda: (x, 7.0))
        nested = ops.cond(
            yes, [n], lambda: ops.cond(op("Not", yes), [n], lambda: x, lambda: op("Abs", x)), lambda: op("Exp", x)
        )
        assert [value.type for value in both] == [n, scalar] and nested[0].type == n
        graph.output(*both, *nested)
    for truth, expected in ((True, ([1, -2], 1, [1, 2])), (False, ([-1, 2], 7, np.exp([-1, 2])))):
        for made, wanted in zip(run(session, graph, np.bool_(truth), vector(-1, 2)), expected):
            np.testing.assert_allclose(made, wanted, rtol=1e-6)


def test_branches_promise_their_types(session):
    """Shapes that only running tells are checked in the branch."""
    with Graph("promises", input_types=[TensorType(DType.bool, []), TensorType(F, ["n"])]) as graph:
        yes, x = (value.tensor for value in graph.inputs)
        graph.output(*ops.cond(yes, [TensorType(F, [2])], lambda: x, lambda: ops.constant([1.0, 2.0])))
    assert run(session, graph, np.bool_(True), vector(3, 4))[0].tolist() == [3, 4]
    assert run(session, graph, np.bool_(False), vector(3, 4, 5))[0].tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"test_graph_control.py:\d+.*dimension 0 is 3.*expected 2.*then_branch"):
        run(session, graph, np.bool_(True), vector(3, 4, 5))


def test_loops(session):
    with Graph("loops", input_types=[TensorType(F, ["n"]), TensorType(I, [])]) as graph:
        x, count = (value.tensor for value in graph.inputs)
        doubled = ops.while_loop(x, lambda v: op("Less", op("ReduceMax", v, keepdims=0), 100), lambda v: op("Add", v, v))
        assert doubled[0].shape == ["n"]

        def fibonacci(a, b, i):
            return b, op("Add", a, b), op("Sub", i, 1)

        numbers = ops.while_loop(iter([0, ops.constant(1), count]), lambda a, b, i: op("Greater", i, 0), fibonacci)
        twice = op("Concat", x, x, axis=0)
        nested = ops.while_loop(
            [twice, count],
            lambda v, i: op("Greater", i, 0),
            lambda v, i: (ops.while_loop(v, lambda w: op("Less", op("ReduceSum", w, keepdims=0), 8), lambda w: op("Add", w, 1))[0], op("Sub", i, 1)),
        )  # fmt: skip
        assert nested[0].shape == [Dim("n") * 2]
        graph.output(*doubled, numbers[0], nested[0])
    made = run(session, graph, vector(1, 3), np.int64(10))
    assert made[0].tolist() == [64, 192] and made[1] == 55 and made[2].tolist() == [1, 3, 1, 3]
    assert run(session, graph, vector(1, 3), np.int64(0))[1] == 0


def test_wrong_branches_and_loops():
    n = TensorType(F, ["n"])
    with Graph("wrong", input_types=[TensorType(DType.bool, []), n]) as graph:
        yes, x = (value.tensor for value in graph.inputs)
        inner = []
        for error, message, build in [
            (ValueError, "the then_branch returns 0 values", lambda: ops.cond(yes, [n], lambda: None, lambda: x)),
            (ValueError, "output 0 of the else_branch is of type bool", lambda: ops.cond(yes, [n], lambda: x, lambda: yes)),
            (ValueError, r"\[n\] has 1 dimensions, \[1, 2\] has 2", lambda: ops.cond(yes, [TensorType(F, [1, 2])], lambda: x, lambda: x)),
            (TypeError, "the condition must be of type bool, not float32", lambda: ops.cond(x, [n], lambda: x, lambda: x)),
            (TypeError, "the condition of the loop must be of type bool", lambda: ops.while_loop(x, lambda v: v, lambda v: v)),
            (ValueError, "gets 1", lambda: ops.while_loop(x, lambda v: yes, lambda v: (v, v))),
            (ValueError, "is of type bool, not", lambda: ops.while_loop(x, lambda v: yes, lambda v: yes)),
            (ValueError, "at least one", lambda: ops.while_loop([], lambda: yes, lambda: ())),
            (ValueError, "another graph", lambda: (ops.cond(yes, [n], lambda: inner.append(op("Neg", x)) or x, lambda: x), op("Abs", inner[0]))),
        ]:  # fmt: skip
            with pytest.raises(error, match=rf"{message}.*test_graph_control.py:\d+\)"):
                build()
        graph.output(x)


def layer(x, name="w"):
    return op("Relu", op("MatMul", x, Weight(name, F, [2, 2])))


def test_calls(session):
    """A graph is put into another one, with other dimensions and other weights each time."""
    with Graph("model", input_types=[TensorType(F, ["batch", 2]), TensorType(F, [3, 2])]) as graph:
        part = graph.add_subgraph("layer", layer, [TensorType(F, ["n", 2])])
        with graph.add_subgraph("twice", input_types=[TensorType(F, ["n"]), TensorType(F, ["n"])]) as twice:
            a, b = twice.inputs
            total = op("Add", a, b)
            again = ops.while_loop(total, lambda v: op("Less", op("ReduceMax", v, keepdims=0), 10), lambda v: op("Mul", v, 2))
            twice.output(*again, ops.shape_to_tensor([Dim("n") * 3]))
        x, y = (value.tensor for value in graph.inputs)
        outputs = [ops.call(part, x, prefix="first.")[0], ops.call(part, y, prefix="second.")[0]]
        assert [value.shape for value in outputs] == [["batch", 2], [3, 2]]
        outputs += ops.call(twice, outputs[0][:, 0], x[:, 1]) + ops.call(twice, y[0], y[1])
        assert outputs[-1].shape == [1] and outputs[2].shape == ["batch"]
        graph.output(*outputs)
    eye = np.eye(2, dtype=np.float32)
    weights = {"first.w": eye, "second.w": -eye}
    x, y = np.arange(1, 5, dtype=np.float32).reshape(2, 2), np.full((3, 2), 4, np.float32)
    with pytest.raises(ValueError, match="'second.w'"):
        session.load(graph, weights_registry={"first.w": eye})
    found = run(session, graph, x, y, **weights)
    assert found[0].tolist() == x.tolist() and not found[1].any() and found[2].tolist() == [6, 14] and found[3] == [6]
    assert found[4].tolist() == [16, 16] and found[5] == [6]


def test_names_within_calls_are_those_of_the_call(session):
    """What is found in one call is not as long as what is found in another one."""
    with Graph("model", input_types=[TensorType(F, ["n"]), TensorType(F, ["m"])]) as graph:
        a, b = (value.tensor for value in graph.inputs)
        found = graph.add_subgraph("found", lambda v: op("NonZero", v).rebind([1, "found"]), [TensorType(F, ["k"])])
        (first,), (second,) = ops.call(found, a), ops.call(found, b)
        assert first.shape[1] != second.shape[1] and "found" not in (first.shape[1], second.shape[1])
        graph.output(first, second)
    made = run(session, graph, vector(0, 1, 1), vector(2, 0))
    assert made[0].tolist() == [[1, 2]] and made[1].tolist() == [[0]]


def test_calls_check_their_inputs():
    with Graph("model", input_types=[TensorType(F, ["n"]), TensorType(F, [3]), TensorType(F, [4])]) as graph:
        n, three, four = (value.tensor for value in graph.inputs)
        same = graph.add_subgraph("same", lambda a, b: op("Add", a, b), [TensorType(F, ["k"]), TensorType(F, ["k"])])
        unfinished = graph.add_subgraph("unfinished", input_types=[])
        for error, message, build in [
            (ValueError, "takes 2 values, not 1", lambda: ops.call(same, n)),
            (ValueError, "dimension 0 is 4, expected 3", lambda: ops.call(same, three, four)),
            (ValueError, "is of type int64, not float32", lambda: ops.call(same, three, ops.constant([1, 2, 3]))),
            (ValueError, "no outputs yet", lambda: ops.call(unfinished)),
            (TypeError, "add_subgraph", lambda: ops.call(graph, n)),
        ]:
            with pytest.raises(error, match=rf"{message}.*test_graph_control.py:\d+\)"):
                build()
        graph.output(*ops.call(same, n, three))


@pytest.mark.parametrize("kind", [Buffer.from_numpy, lambda array: array], ids=["buffer", "numpy"])
def test_buffers_are_written(session, kind):
    with Graph("counter", input_types=[BufferType(F, [2, 3]), TensorType(F, [3])]) as graph:
        cache, x = graph.inputs
        assert isinstance(cache, BufferValue) and cache.buffer is cache and cache.type == BufferType(F, [2, 3])
        before = cache[...]
        cache[1] = x
        cache[0, 1:] = 5
        ops.buffer_store_slice(cache, cache[:, ::2], (slice(None), slice(None, None, 2)))
        ops.buffer_store(cache, op("Mul", ops.buffer_load(cache), 2))
        graph.output(before, cache[0])
    model = session.load(graph)
    assert [spec.name for spec in model.output_metadata] == ["output0", "output1"]
    array = np.ones((2, 3), np.float32)
    given = kind(array.copy())
    first, row = model(given, vector(1, 2, 3))
    assert first.to_numpy().tolist() == array.tolist() and row.to_numpy().tolist() == [2, 10, 10]
    assert (given.to_numpy() if isinstance(given, Buffer) else given).tolist() == [[2, 10, 10], [2, 4, 6]]
    with pytest.raises(TypeError, match="input 0 is written"):
        model([1.0], vector(1, 2, 3))
    for refused in (lambda: model.save("x.maxc"), lambda: model.capture(1, given)):
        with pytest.raises(NotImplementedError, match="buffers"):
            refused()


def test_buffers_in_branches_loops_and_calls(session):
    with Graph("state", input_types=[BufferType(I, [2]), BufferType(I, [2]), TensorType(DType.bool, [])]) as graph:
        a, b, yes = graph.inputs
        with graph.add_subgraph("bump", input_types=[BufferType(I, [2])]) as bump:
            bump.inputs[0][0] = op("Add", bump.inputs[0][0], 10)
            bump.output()

        def store():
            a[1] = 7

        ops.cond(yes, None, store, lambda: None)

        def count(i):
            a[0] = op("Add", a[0], i)
            return op("Sub", i, 1)

        left = ops.while_loop(4, lambda i: op("Greater", i, 0), count)
        ops.call(bump, b)
        ops.call(bump, b)
        graph.output(*left)
    for truth, expected in ((True, [10, 7]), (False, [10, 0])):
        first, second = np.zeros(2, np.int64), np.zeros(2, np.int64)
        assert session.load(graph)(first, second, np.bool_(truth))[0].item() == 0
        assert first.tolist() == expected and second.tolist() == [20, 0]


def test_wrong_stores():
    with Graph("wrong", input_types=[BufferType(F, [2])]) as graph:
        cache, x = graph.inputs[0], ops.constant([1, 2, 3])
        with pytest.raises(ValueError, match=r"is of type int64, not float32.*test_graph_control.py:\d+\)"):
            ops.buffer_store(cache, x)
        with pytest.raises(ValueError, match=r"expected 2.*test_graph_control.py:\d+\)"):
            ops.buffer_store(cache, ops.constant([1.0, 2.0, 3.0]))
        with pytest.raises(TypeError, match="not a BufferValue"):
            ops.buffer_load(x)
        with pytest.raises(TypeError, match="not a TensorValue"):
            _ = cache.tensor
        with pytest.raises(TypeError, match="not a BufferValue"):
            _ = x.buffer
        graph.output(cache)


def test_printing(session, capfd):
    with Graph("prints", input_types=[TensorType(F, ["n"])]) as graph:
        x = graph.inputs[0].tensor
        ops.print("starts")
        x.print("x")
        ops.print(op("Neg", x))
        shown = graph.add_subgraph("shown", lambda v: v.print("sub"), [TensorType(F, ["m"])])
        ops.call(shown, op("Abs", x))
        for inner in (lambda: ops.print(x), lambda: ops.call(shown, x)):
            with pytest.raises(NotImplementedError, match="while_loop"):
                ops.cond(True, None, inner, lambda: None)
        graph.output(x)
    assert len(session.load(graph)(vector(1))) == 1
    assert capfd.readouterr().out.splitlines() == [
        "starts",
        "x = array([1.], dtype=float32)",
        "debug_tensor = array([-1.], dtype=float32)",
        "sub = array([1.], dtype=float32)",
    ]
