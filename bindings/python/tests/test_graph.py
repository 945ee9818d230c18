# SPDX-License-Identifier: Apache-2.0
"""max.graph: graphs, their values and what becomes of them."""

import inspect
import threading
import typing

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

import max.graph
from max.driver import CPU, Accelerator, Buffer, accelerator_count
from max.dtype import DType
from max.engine import InferenceSession
from max.graph import DeviceRef, Dim, Graph, TensorType, TensorValue, Weight, ops

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
        with pytest.raises(ValueError, match=r"1.5 cannot be converted to int64.*test_graph.py:\d+\)"):
            ops.add(ops.constant([1]), 1.5)
    with pytest.raises(LookupError, match=r"no graph is being built.*test_graph.py:\d+\)"):
        ops.add(x, x)


def test_unknown_dimensions_keep_their_names(session, tmp_path):
    """What an operator finds out has a name, which can be another one, and is a promise after that."""
    with Graph("found", input_types=[TensorType(F, ["n"])]) as graph:
        x = graph.inputs[0].tensor
        found = ops.onnx("", "NonZero", [x])
        (unknown,) = found.shape[1:]
        assert found.shape == [1, unknown] and unknown != "n"
        doubled = ops.onnx("", "Concat", [found, found], attributes={"axis": 1})
        assert doubled.shape == [1, unknown * 2] and doubled[0].shape == [unknown * 2]
        named = found.rebind([1, "found"])
        assert named.shape == [1, "found"] and ops.onnx("", "Neg", [named]).shape == [1, "found"]
        assert named.rebind([1, "found"]) is named
        both = x.rebind(["found"], "all of them")
        assert both.shape == ["found"]
        graph.output(named, both, ops.shape_to_tensor([Dim("found") + 1, unknown]))
    model = session.load(graph)
    made = [value.to_numpy() for value in model(np.array([1, 2], np.float32))]
    assert made[0].tolist() == [[0, 1]] and made[1].tolist() == [1, 2] and made[2].tolist() == [3, 2]
    model.save(tmp_path / "found.maxc")
    for each in (model, session.load(tmp_path / "found.maxc")):
        assert each(np.array([1, 2], np.float32))[2].to_numpy().tolist() == [3, 2]
        with pytest.raises(ValueError, match=r"test_graph.py:\d+.*Rebind.*is 2, expected 1: all of them"):
            each(np.array([0, 2], np.float32))


def test_promises_that_cannot_hold():
    with Graph("promises", input_types=[TensorType(F, [2, "n"])]) as graph:
        x = graph.inputs[0].tensor
        for shape, message in [
            ([3, "n"], "dimension 0 is 2, expected 3: why"),
            ([2], "2 dimensions"),
            ([2, Dim("m") * 2], "dimension 'm'"),
        ]:
            with pytest.raises(ValueError, match=rf"{message}.*test_graph.py:\d+\)"):
                ops.rebind(x, shape, "why")


def test_inputs_may_have_computed_dimensions(session):
    types = [TensorType(F, [Dim("n") * 2 + 1]), TensorType(F, ["n"])]
    with Graph("computed", input_types=types) as graph:
        x = graph.inputs[0].tensor
        assert x.shape == [Dim("n") * 2 + 1]
        graph.output(x)
    model = session.load(graph)
    assert len(model(np.ones(5, np.float32), np.ones(2, np.float32))[0].to_numpy()) == 5
    with pytest.raises(ValueError, match="is 4, expected 5: input 0"):
        model(np.ones(4, np.float32), np.ones(2, np.float32))
    with pytest.raises(ValueError, match="n \\* 2"):
        Graph("unknown", input_types=[TensorType(F, [Dim("n") * 2])])


SLICES = st.builds(slice, *[st.none() | st.integers(-6, 6)] * 2, st.none() | st.sampled_from([1, 2, 3, -1, -2]))
INDICES = st.lists(st.integers(-2, 1) | SLICES | st.none() | st.just(...), max_size=5).filter(
    lambda parts: sum(p is ... for p in parts) < 2 and sum(p is not None and p is not ... for p in parts) <= 3
)


@settings(max_examples=12)
@given(st.lists(INDICES.map(tuple), min_size=6, max_size=6))
def test_indexing_is_that_of_numpy(session_of_module, indices):
    array = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    for shape in ([2, 3, 4], ["a", "b", 4]):
        with Graph("indexing", input_types=[TensorType(F, shape)]) as graph:
            x = graph.inputs[0].tensor
            graph.output(*(x[index] for index in indices))
        for index, made in zip(indices, session_of_module.load(graph)(array)):
            np.testing.assert_array_equal(made.to_numpy(), array[index])


def test_indexing_by_values(session):
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    rows = np.array([[2, 0], [1, 1]])
    with Graph("values", input_types=[TensorType(F, ["a", 3, 4]), TensorType(DType.int32, [])]) as graph:
        x, i = (value.tensor for value in graph.inputs)
        made = [x[i], x[0, i, 1:], x[:, rows], x[..., None, i], x[i, rows], x[1:, i:], x[: Dim("a") - 1], x[(slice(1, None), "rest"), 0]]
        assert ops.slice_tensor(x, [0, ..., slice(1, 3)]).shape == [3, 2]
        assert made[-1].shape == ["rest", 4] and made[2].shape == ["a", 2, 2, 4]
        graph.output(*made)
        for index, error, message in [
            ((0, 3), IndexError, "index 3 is out of range for dimension 1"),
            ((0,) * 4, IndexError, "4 indices for a tensor with 3"),
            ((..., ...), IndexError, "one '...'"),
            (slice(None, None, 0), ValueError, "step 0"),
            (True, TypeError, "not indices"),
            ("x", TypeError, "not an index"),
            (x, TypeError, "must have integers"),
        ]:
            with pytest.raises(error, match=rf"{message}.*test_graph.py:\d+\)"):
                _ = x[index]
    wanted = [array[1], array[0, 1, 1:], array[:, rows], array[..., None, 1], array[1, rows], array[1:, 1:], array[:1], array[1:, 0]]
    for found, expected in zip(session.load(graph)(array, np.int32(1)), wanted):
        np.testing.assert_array_equal(found.to_numpy(), expected)


def test_constants(session):
    contents = [
        (3, None, DType.int64), (2.5, None, F), (True, None, DType.bool), ([[1, 2]], None, DType.int64),
        ([1.5, 2], None, F), (np.arange(3, dtype=np.int8), None, DType.int8), (np.float64(2), None, DType.float64),
        (Buffer.from_numpy(np.ones((2, 1))), None, DType.float64), ([1, 2], DType.bfloat16, DType.bfloat16),
        (7, DType.uint8, DType.uint8), (np.ones(2), DType.float16, DType.float16), (1 + 2j, None, DType.complex64),
    ]  # fmt: skip
    with Graph("constants", input_types=[]) as graph:
        made = [ops.constant(value, dtype) for value, dtype, _ in contents]
        assert [value.dtype for value in made] == [dtype for _, _, dtype in contents]
        graph.output(*made)
        with pytest.raises(ValueError, match="cannot be converted to uint8"):
            ops.add(ops.constant(1, DType.uint8), 256)
        with pytest.raises(TypeError, match="before the model runs"):
            ops.constant(made[0])
        with pytest.raises(TypeError, match="cannot be an operand"):
            ops.add(made[0], object())
    for (value, _, _), found in zip(contents, session.load(graph)()):
        expected = value.to_numpy() if isinstance(value, Buffer) else np.asarray(value)
        np.testing.assert_array_equal(found.to_numpy().astype(expected.dtype), expected)


def test_attributes_of_all_kinds(session):
    with Graph("attributes", input_types=[TensorType(F, [2, 3])]) as graph:
        x = graph.inputs[0].tensor
        made = [
            ops.onnx("", "Cast", [x], attributes={"to": DType.int32}),
            ops.onnx("ai.onnx", "Transpose", [x], attributes={"perm": [1, 0]}),
            ops.onnx("", "LeakyRelu", [x], attributes={"alpha": 0.5}),
            ops.onnx("", "Constant", [], attributes={"value_floats": [1.0, 2.5]}),
            ops.onnx("", "Constant", [], attributes={"value": np.ones(2, np.int8), "value_int": None}),
            *ops.onnx("", "Split", [x, None], attributes={"axis": 1, "num_outputs": 3}, outputs=3),
            ops.onnx("com.microsoft", "FusedMatMul", [x, x], attributes={"transB": 1}),
            ops.onnx("", "Clip", [x, None, 2]),
        ]
        assert made[0].dtype is DType.int32 and made[1].shape == [3, 2] and made[5].shape == [2, 1]
        graph.output(*made)
        for attributes, error in ({"to": object()}, TypeError), ({"to": [1, "a"]}, TypeError), ({"too": 1}, ValueError):
            with pytest.raises(error, match=r"too?.*test_graph.py:\d+\)"):
                ops.onnx("", "Cast", [x], attributes=attributes)
    array = np.arange(-2, 4, dtype=np.float32).reshape(2, 3)
    found = [value.to_numpy() for value in session.load(graph)(array)]
    assert found[2].tolist() == np.where(array < 0, array / 2, array).tolist() and found[6].tolist() == [[-1], [2]]
    assert found[3].tolist() == [1, 2.5] and found[8].tolist() == (array @ array.T).tolist() and found[9].max() == 2


def test_operators_of_extensions(session):
    """The example with kernels, or in C where its library is built."""
    library = ROOT / "build/lib/libcustom_operator.so"
    if not library.exists():
        pytest.skip("the example is not built")
    with Graph("custom", input_types=[TensorType(F, ["n"])], custom_extensions=library) as graph:
        x = graph.inputs[0].tensor
        (y,) = ops.custom("example.Softsign", DeviceRef.CPU(), [x], [TensorType(F, ["n"])])
        (same,) = ops.custom("Softsign", CPU(), [x], [x.type], {}, domain="example")
        assert y.type == same.type == x.type
        with pytest.raises(ValueError, match="output 0 of Softsign is of type float32, not int8"):
            ops.custom("Softsign", CPU(), [x], [TensorType(DType.int8, ["n"])], domain="example")
        with pytest.raises(NotImplementedError, match="Hardsign"):
            ops.custom("example.Hardsign", CPU(), [x], [x.type])
        graph.output(y, same)
    made = session.load(graph)(np.array([1, -3], np.float32))
    assert made[0].to_numpy().tolist() == made[1].to_numpy().tolist() == [0.5, -0.75]


def test_devices_of_values():
    with Graph("devices", input_types=[TensorType(F, [2], DeviceRef.GPU(1))]) as graph:
        x = graph.inputs[0].tensor
        assert x.device == ops.onnx("", "Neg", [x]).device == DeviceRef.GPU(1)
        assert x.to(CPU()).device == DeviceRef.CPU() and x.to(DeviceRef.GPU(1)) is x
        assert ops.constant(1, device=DeviceRef.GPU(2)).device == DeviceRef.GPU(2)
        graph.output(ops.transfer_to(x, DeviceRef.CPU()))
    assert graph.devices == [DeviceRef.CPU(), DeviceRef.GPU(1), DeviceRef.GPU(2)]
    with pytest.raises(ValueError, match=r"values on gpu:1; the session's devices are \[Device\(type=cpu"):
        InferenceSession(devices=[CPU()]).load(graph)


def test_values_on_two_devices():
    if accelerator_count() < 2:
        pytest.skip("there are no two accelerators")
    devices = [Accelerator(0), Accelerator(1)]
    with Graph("two", input_types=[TensorType(F, [3], DeviceRef.GPU(i)) for i in range(2)]) as graph:
        x, y = (each.tensor for each in graph.inputs)
        product = x.to(DeviceRef.GPU(1)) * y
        graph.output(product, product.to(DeviceRef.GPU(0)) + x, product.to(CPU()))
    model = InferenceSession(devices=devices).load(graph)
    arrays = [np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)]
    made = model(*(Buffer.from_numpy(a).to(d) for a, d in zip(arrays, devices)))
    assert [each.device for each in made] == [devices[1], devices[0], CPU()]
    assert [each.to(CPU()).to_numpy().tolist() for each in made] == [[4, 10, 18], [5, 12, 21], [4, 10, 18]]
    with pytest.raises(ValueError, match=r"Input 1 \('input1'\): is on cuda:0, expected cuda:1"):
        model(*(Buffer.from_numpy(a).to(devices[0]) for a in arrays))


def test_wrong_use(session):
    with pytest.raises(TypeError, match="must be a TensorType"):
        Graph("g", input_types=["float32"])
    with pytest.raises(TypeError, match="name of a graph"):
        Graph(None)
    with pytest.raises(NotImplementedError, match="path"):
        Graph("g", path="g.mlir")
    with pytest.raises(ValueError, match="no outputs|outputs"):
        session.load(Graph("empty", input_types=[TensorType(F, [1])]))
    with Graph("a", input_types=[TensorType(F, [1])]) as a:
        a.output(a.inputs[0])
        with pytest.raises(ValueError, match="outputs already"):
            a.output(a.inputs[0])
    with Graph("b", input_types=[TensorType(F, [1])]) as b:
        x = b.inputs[0].tensor
        with pytest.raises(ValueError, match="belongs to the graph 'a', not to 'b'"):
            ops.add(x, a.inputs[0])
        for wrong in (lambda: bool(x), lambda: len(x), lambda: list(x)):
            with pytest.raises(TypeError, match=r"test_graph.py:\d+\)"):
                wrong()
        w = Weight("w", F, [2])
        assert b.add_weight(w) is b.add_weight(w) is b.add_weight(Weight("w", F, [2]))
        with pytest.raises(ValueError, match="has Weight\\('w'"):
            b.add_weight(Weight("w", F, [3]))
        with pytest.raises(ValueError, match="'input0' is used twice"):
            b.add_weight(Weight("input0", F, [3]))
        with pytest.raises(ValueError, match="its dimensions are numbers"):
            Weight("v", F, ["n"])
        with pytest.raises(TypeError, match="name of a weight"):
            Weight("", F, [1])
        with pytest.raises(TypeError, match="not a Weight"):
            b.add_weight(x)
    with pytest.raises(TypeError, match="must be a path or a max.graph.Graph"):
        session.load(3)


def test_reprs():
    with Graph("g", input_types=[TensorType(F, ["n", 2])]) as graph:
        x = graph.inputs[0].tensor
        assert repr(x) == "TensorValue(dtype=DType.float32, shape=Shape(['n', 2]), device=cpu:0)" and x.name == "input0"
        assert repr(Weight("w", F, [2])) == "Weight('w', DType.float32, Shape([2]), DeviceRef('cpu', 0))"
        graph.output(x)
    assert repr(graph) == "Graph('g', inputs=[float32[n, 2] on cpu:0], outputs=[float32[n, 2] on cpu:0])"
    assert graph.name == "g" and graph.output_types == [TensorType(F, ["n", 2])]


def test_names_are_documented():
    for name in max.graph.__all__:
        found = getattr(max.graph, name)
        if inspect.isclass(found) and not typing.get_origin(found):  # aliases are classes in 3.10
            members = [member for key, member in vars(found).items() if not key.startswith("_")]
            assert found.__doc__, name
            assert all(getattr(member, "__doc__", None) for member in members if callable(member)), name
    assert sorted(max.graph.__all__) == max.graph.__all__


def test_threads_build_their_own_graphs(session):
    """Nested graphs, and one graph for each thread at a time."""
    failed = []

    def build(number):
        try:
            with Graph(f"outer{number}", input_types=[TensorType(F, [1])]) as outer:
                with Graph("inner", input_types=[TensorType(F, [2])]) as inner:
                    assert outer.current is inner
                    inner.output(ops.add(inner.inputs[0], number))
                assert outer.current is outer
                outer.output(ops.add(outer.inputs[0], TensorValue(float(number))))
            assert session.load(outer)(np.zeros(1, np.float32))[0].to_numpy().tolist() == [number]
            assert session.load(inner)(np.zeros(2, np.float32))[0].to_numpy().tolist() == [number] * 2
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=build, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
