# SPDX-License-Identifier: Apache-2.0
"""Bad models, bad inputs and bad arguments: what test_messages.py provokes one by one.

A table maps a case's name to a function; the function must end with library.Failure."""

import ctypes
import functools
import os
import pathlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import library
from hidden_types import constant, graph as body, hiding, untyped

_library = ctypes.CDLL(library.LIBRARY)
_library.maxStatusGetName.restype = ctypes.c_char_p

FLOAT, INT64, INT8, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT8, TensorProto.BOOL
node, info = helper.make_node, helper.make_tensor_value_info
X, I, C = info("x", FLOAT, ["n", 4]), info("i", INT64, ["k"]), info("c", BOOL, [])
IMAGE = info("x", FLOAT, ["n", 3, 8, 8])
DEEPEST = 40


def status_name(status):
    return _library.maxStatusGetName(ctypes.c_int32(status)).decode()


def tensor(name, values, dtype=np.float32):
    return numpy_helper.from_array(np.asarray(values, dtype), name)


def ints(name, *values):
    return tensor(name, values, np.int64)


def graph(nodes, inputs=(), outputs=("y",), constants=(), name="main"):
    return helper.make_graph(nodes, name, list(inputs), [helper.make_empty_tensor_value_info(o) for o in outputs],
                             list(constants))


def model(nodes, inputs=(X,), outputs=("y",), constants=(), opset=21, domains=()):
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    proto = helper.make_model(graph(nodes, inputs, outputs, constants), opset_imports=opsets, ir_version=10)
    return proto.SerializeToString()


def one(op, inputs=("x",), constants=(), graph_inputs=(X,), outputs=("y",), **attributes):
    """A model of one node, called "bad"."""
    return model([node(op, list(inputs), list(outputs), name="bad", **attributes)], graph_inputs, outputs, constants)


def with_function(inputs, nodes):
    """A function of this name in the domain "local", called by a node "bad"."""
    function = helper.make_function("local", "twist", inputs, ["w"], nodes, [helper.make_opsetid("", 21)])
    call = node("twist", ["x"] * len(inputs), ["y"], name="bad", domain="local")
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    return helper.make_model(graph([call], (X,)), opset_imports=opsets, ir_version=10,
                             functions=[function]).SerializeToString()


def with_chain_of_functions(count):
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    nodes = [node(f"f{i + 1}", ["x"], ["w"], domain="local") for i in range(count - 1)] + [node("Relu", ["x"], ["w"])]
    functions = [helper.make_function("local", f"f{i}", ["x"], ["w"], [each], opsets) for i, each in enumerate(nodes)]
    call = node("f0", ["x"], ["y"], name="bad", domain="local")
    return helper.make_model(graph([call], (X,)), opset_imports=opsets, ir_version=10,
                             functions=functions).SerializeToString()


def with_sparse_weights(count):
    proto = graph([node("Sum", [f"w{i}" for i in range(count)], ["y"])])
    for i in range(count):
        proto.sparse_initializer.append(helper.make_sparse_tensor(tensor(f"w{i}", [1.0]), ints("at", 0), [(4 << 20) - 1]))
    return helper.make_model(proto, ir_version=10).SerializeToString()


def with_own_default():
    """A function whose default for a branch has an operator of the library itself."""
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1), helper.make_opsetid("max", 1)]
    own = graph([node("Inverse", ["x"], ["r"], name="own", domain="max")], outputs=("r",))
    branch = node("If", ["c"], ["w"], then_branch=graph([node("Relu", ["x"], ["r"])], outputs=("r",)))
    branch.attribute.add(name="else_branch", type=5).ref_attr_name = "g"
    function = helper.make_function("local", "f", ["x", "c"], ["w"], [branch], opsets,
                                    attribute_protos=[helper.make_attribute("g", own)])
    call = node("f", ["x", "c"], ["y"], name="bad", domain="local")
    return helper.make_model(graph([call], (X, C)), opset_imports=opsets, ir_version=10,
                             functions=[function]).SerializeToString()


def raw(name, dtype, dims, data):
    return TensorProto(name=name, data_type=dtype, dims=dims, raw_data=data)


def with_weight(weight):
    return model([node("Identity", ["w"], ["y"], name="user")], (), ("y",), [weight])


def external(location, **entries):
    weight = TensorProto(name="w", data_type=FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        weight.external_data.add(key=key, value=str(value))
    return with_weight(weight)


def wrong_type_attribute():
    bad = node("Softmax", ["x"], ["y"], name="bad")
    bad.attribute.append(helper.make_attribute("axis", "last"))
    return model([bad])


def wire(tag, payload):
    """A field of a protocol buffer: bytes, or a small number."""
    if isinstance(payload, int):
        return varint(tag << 3) + varint(payload)
    return varint(tag << 3 | 2) + varint(len(payload)) + payload


def varint(value):
    data = b""
    while value > 127:
        data, value = data + bytes([value & 127 | 128]), value >> 7
    return data + bytes([value])


def nested(depth):
    """Branches within branches, written by hand since Python's protobuf has its own limit."""
    result = wire(12, wire(1, b"r"))
    body = node("Identity", ["x"], ["r"]).SerializeToString()
    for _ in range(depth):
        inner = wire(1, body) + result
        attribute = wire(1, b"then_branch") + wire(6, inner) + wire(20, 5)
        body = node("If", ["c"], ["r"], name="bad").SerializeToString() + wire(5, attribute)
    main = wire(1, body) + b"".join(wire(11, value.SerializeToString()) for value in (X, C)) + result
    return wire(1, 10) + wire(7, main) + wire(8, wire(2, 21))


def branch(nodes, outputs=("r",)):
    return graph(nodes, outputs=outputs, name="branch")


RELU = branch([node("Relu", ["x"], ["r"])])
BODY = graph([node("Identity", ["c"], ["again"]), node("Concat", ["s", "s"], ["t"], axis=0)],
             [info("i", INT64, []), info("c", BOOL, []), info("s", FLOAT, [2])], ("again", "t"), name="body")
NUMBERS = graph([node("Identity", ["i"], ["again"]), node("Neg", ["s"], ["t"])],
                [info("i", INT64, []), info("c", BOOL, []), info("s", FLOAT, [2])], ("again", "t"), name="body")
GROWING = graph([node("Identity", ["c"], ["again"]), node("Concat", ["s", "s"], ["t"], axis=0), node("Abs", ["t"], ["u"])],
                [info("i", INT64, []), info("c", BOOL, []), info("s", FLOAT, ["p"])], ("again", "t", "u"), name="body")
WIDER = graph([node("Concat", ["a", "b"], ["t"], axis=0)], [info("a", FLOAT, None), info("b", FLOAT, None)], ("t",), name="body")
SUM = graph([node("Add", ["a", "b"], ["t"])], [info("a", FLOAT, [4]), info("b", FLOAT, [4])], ("t",), name="body")



def classifier(op, coefficients, classlabels_ints=(7,), **attributes):
    made = node(op, ["x"], ["y", "z"], name="bad", domain="ai.onnx.ml", coefficients=coefficients,
                classlabels_ints=list(classlabels_ints), **attributes)
    return model([made], domains=("ai.onnx.ml",))


# Models that do not load.
MODELS = {
    "empty file": lambda: b"",
    "no model": lambda: b"hello, this is text",
    "truncated": lambda: one("Relu")[:-20],
    "no graph": lambda: helper.make_model(graph([])).SerializeToString()[:2],
    "newer opset": lambda: model([node("Relu", ["x"], ["y"])], opset=999),
    "unknown operator": lambda: one("Reluu"),
    "several unknown operators": lambda: model([node("Reluu", ["x"], ["a"], name="first"), node("Tanhh", ["a"], ["y"])]),
    "unknown domain": lambda: model([node("Fuse", ["x"], ["y"], name="bad", domain="my.domain")], domains=("my.domain",)),
    "unknown domain that is like another": lambda: model(
        [node("Gelu", ["x"], ["y"], name="bad", domain="com.microsft")], domains=("com.microsft",)),
    "internal operator": lambda: model([node("Conv", ["x"], ["y"], name="bad", domain="max")], domains=("max",)),
    "input that nobody makes": lambda: one("Relu", ("missing",)),
    "output that nobody makes": lambda: model([node("Relu", ["x"], ["a"])]),
    "value made twice": lambda: model([node("Relu", ["x"], ["y"]), node("Abs", ["x"], ["y"], name="again")]),
    "cycle": lambda: model([node("Add", ["x", "b"], ["a"], name="one"), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"])]),
    "node needs itself": lambda: one("Add", ("x", "y")),
    "cycle through a subgraph": lambda: model(
        [node("If", ["c"], ["a"], name="choice", else_branch=RELU, then_branch=branch([node("Abs", ["y"], ["r"])])),
         node("Neg", ["a"], ["y"], name="back")], (X, C)),
    "cycle in a function": lambda: with_function(["v"], [node("Add", ["v", "q"], ["w"], name="one"), node("Abs", ["w"], ["q"])]),
    "input listed twice": lambda: one("Relu", graph_inputs=(X, X)),
    "input of a function listed twice": lambda: with_function(["v", "v"], [node("Abs", ["v"], ["w"])]),
    "value of a function made twice": lambda: with_function(["v"], [node("Abs", ["v"], ["w"]), node("Neg", ["v"], ["w"])]),
    "too many inputs": lambda: one("Relu", ("x", "x")),
    "too few inputs": lambda: one("MatMul"),
    "required input left out": lambda: one("Gemm", ("x", "", "x")),
    "list with a gap": lambda: one("Min", ("x", "", "x")),
    "too many outputs": lambda: one("Relu", outputs=("y", "z")),
    "types that disagree": lambda: one("Add", ("x", "i"), graph_inputs=(X, I)),
    "type not allowed": lambda: one("Not"),
    "shapes that do not broadcast": lambda: one("Add", ("x", "w"), [tensor("w", np.zeros(3))]),
    "matrices that do not fit": lambda: one("MatMul", ("x", "w"), [tensor("w", np.zeros((5, 2)))]),
    "Gemm with three dimensions": lambda: one("Gemm", ("x", "w"), [tensor("w", np.zeros((1, 4, 2)))]),
    "Conv channels": lambda: one("Conv", ("x", "w"), [tensor("w", np.zeros((2, 5, 3, 3)))], (IMAGE,)),
    "Conv group of 0": lambda: one("Conv", ("x", "w"), [tensor("w", np.zeros((2, 3, 3, 3)))], (IMAGE,), group=0),
    "Conv strides of 0": lambda: one("Conv", ("x", "w"), [tensor("w", np.zeros((2, 3, 3, 3)))], (IMAGE,), strides=[0, 1]),
    "Conv kernel_shape": lambda: one("Conv", ("x", "w"), [tensor("w", np.zeros((2, 3, 3, 3)))], (IMAGE,), kernel_shape=[3]),
    "Conv kernel too large": lambda: one("Conv", ("x", "w"), [tensor("w", np.zeros((2, 3, 9, 9)))], (IMAGE,)),
    "AveragePool kernel too large to be rounded up": lambda: one("AveragePool", ("x",), (), (IMAGE,), kernel_shape=[12, 12],
                                                                 strides=[2, 2], ceil_mode=1),
    "MaxPool without kernel": lambda: one("MaxPool", ("x",), (), (IMAGE,)),
    "MaxPool kernel of more elements than there are": lambda: one("MaxPool", ("x",), (), (IMAGE,),
                                                                  kernel_shape=[2**20, 2**20]),
    "Resize mode": lambda: one("Resize", ("x", "", "s"), [tensor("s", [1, 1, 2, 2])], (IMAGE,), mode="max"),
    "Resize policy": lambda: one("Resize", ("x", "", "s"), [tensor("s", [1, 1, 2, 2])], (IMAGE,),
                                 keep_aspect_ratio_policy="some"),
    "RNN clip": lambda: one("RNN", ("x", "w", "r"), [tensor("w", np.zeros((1, 2, 4))), tensor("r", np.zeros((1, 2, 2)))],
                            (info("x", FLOAT, [3, 1, 4]),), hidden_size=2, clip=-1.0),
    "QuantizeLinear precision": lambda: model([node("QuantizeLinear", ["x", "s"], ["y"], name="bad", precision=99)], (X,), ("y",),
                                              [tensor("s", 1)], opset=23),
    "LRN without channels": lambda: one("LRN", ("x",), (), (info("x", FLOAT, [4]),), size=3),
    "LRN size of 0": lambda: one("LRN", ("x",), (), (IMAGE,), size=0),
    "MeanVarianceNormalization of a matrix": lambda: one("MeanVarianceNormalization"),
    "QLinearConv with two scales of the image": lambda: one(
        "QLinearConv", ("x", "s", "z", "w", "s", "z", "s", "z"),
        [tensor("s", [1, 2]), tensor("z", [0, 0], np.uint8), tensor("w", np.zeros((2, 3, 3, 3)), np.uint8)],
        (info("x", TensorProto.UINT8, ["n", 3, 8, 8]),)),
    "LinearClassifier with one label": lambda: classifier("LinearClassifier", [1.0] * 4),
    "LinearClassifier with few coefficients": lambda: classifier("LinearClassifier", [1.0] * 7, classlabels_ints=[1, 2]),
    "SVMClassifier with few vectors": lambda: classifier("SVMClassifier", [1.0] * 4, vectors_per_class=[1, 0], rho=[0.0]),
    "SVMClassifier without rho": lambda: classifier("SVMClassifier", [1.0] * 4),
    "MaxPool auto_pad": lambda: one("MaxPool", ("x",), (), (IMAGE,), kernel_shape=[2, 2], auto_pad="SOME"),
    "Concat axis": lambda: one("Concat", ("x", "x"), axis=2),
    "Concat without axis": lambda: one("Concat", ("x", "x")),
    "Reshape with two -1": lambda: one("Reshape", ("x", "s"), [ints("s", -1, -1)]),
    "Reshape that does not divide": lambda: one("Reshape", ("w", "s"), [tensor("w", np.zeros(6)), ints("s", 4, -1)]),
    "Transpose perm too short": lambda: one("Transpose", perm=[0]),
    "Transpose perm repeated": lambda: one("Transpose", perm=[1, 1]),
    "Gather axis": lambda: one("Gather", ("x", "i"), (), (X, I), axis=-3),
    "Squeeze of 4": lambda: one("Squeeze", ("x", "a"), [ints("a", 1)]),
    "Unsqueeze twice": lambda: one("Unsqueeze", ("x", "a"), [ints("a", 0, 0)]),
    "Softmax axis": lambda: one("Softmax", axis=5),
    "Split sizes": lambda: one("Split", ("x", "s"), [ints("s", 1, 2)], outputs=("y", "z"), axis=1),
    "Slice step of 0": lambda: one("Slice", ("x", "a", "b", "d", "t"), [ints("a", 0), ints("b", 2), ints("d", 1), ints("t", 0)]),
    "Cast to nothing": lambda: one("Cast"),
    "Bernoulli of complex numbers": lambda: one("Bernoulli", dtype=TensorProto.COMPLEX64),
    "EyeLike of complex numbers": lambda: one("EyeLike", dtype=TensorProto.COMPLEX128),
    "EyeLike of strings": lambda: one("EyeLike", dtype=TensorProto.STRING),
    "Cast to an unknown type": lambda: one("Cast", to=999),
    "attribute of another type": wrong_type_attribute,
    "attribute of no version": lambda: one("Relu", alpha=1.0),
    "attribute of older versions": lambda: one("ReduceMax", axes=[1]),
    "attribute of newer versions": lambda: model([node("Reshape", ["x", "i"], ["y"], name="bad", allowzero=1)], (X, I), opset=13),
    "attribute with a word that is none": lambda: one("Resize", ("x", "", "s"), [tensor("s", [1, 2])], mode="max"),
    "attribute with a number out of range": lambda: one("ReverseSequence", ("x", "i"), (), (X, I), batch_axis=2),
    "attribute with an entry that is none": lambda: one("TreeEnsembleClassifier", ("x",), nodes_modes=["LEAF", "TWIG"],
                                                         domain="ai.onnx.ml"),
    "type attribute of no type": lambda: one("Optional", (), (), (), type=[7777]),
    "Pad of too few numbers": lambda: one("Pad", ("x", "p"), [ints("p", 1, 1)]),
    "TopK of too many": lambda: one("TopK", ("x", "k"), [ints("k", 9)], outputs=("y", "z")),
    "LSTM direction": lambda: one("LSTM", ("x", "w", "r"), [tensor("w", np.zeros((1, 8, 4))), tensor("r", np.zeros((1, 8, 2)))],
                                  (info("x", FLOAT, [3, 1, 4]),), direction="sideways", hidden_size=2),
    "Resize scale": lambda: one("Resize", ("x", "", "s"), [tensor("s", [1, -2])]),
    "Range without end": lambda: one("Range", ("a", "b", "d"), 
                                 [tensor("a", 0, np.int64), tensor("b", 4, np.int64), tensor("d", 0, np.int64)]),
    "ConstantOfShape below 0": lambda: one("ConstantOfShape", ("s",), [ints("s", -3)]),
    "OneHot depth": lambda: one("OneHot", ("i", "d", "v"), [ints("d", -1), tensor("v", [0, 1])], (I,)),
    "DepthToSpace channels": lambda: one("DepthToSpace", ("x",), (), (IMAGE,), blocksize=2),
    "LayerNormalization scale": lambda: one("LayerNormalization", ("x", "s"), [tensor("s", np.zeros(3))]),
    "GroupNormalization groups": lambda: one("GroupNormalization", ("x", "s", "s"), [tensor("s", np.zeros(3))], (IMAGE,), num_groups=2),
    "If without else": lambda: one("If", ("c",), (), (X, C), then_branch=RELU),
    "If with other outputs": lambda: one("If", ("c",), (), (X, C), then_branch=RELU,
                                         else_branch=branch([node("Relu", ["x"], ["r"]), node("Abs", ["x"], ["q"])], ("r", "q"))),
    "If of two types": lambda: one("If", ("c",), (), (X, C), then_branch=RELU,
                                   else_branch=branch([node("Cast", ["x"], ["r"], to=INT64)])),
    "Loop condition that is a number": lambda: one("Loop", ("", "c", "x"), (), (X, C), outputs=("y",), body=NUMBERS),
    "Loop that carries nothing": lambda: one("Loop", ("", "c", ""), (), (X, C), outputs=("y",), body=BODY),
    "Loop body inputs": lambda: one("Loop", ("", "c", "x", "x"), (), (X, C), outputs=("y", "z"), body=BODY),
    "Scan inputs": lambda: one("Scan", ("x",), body=BODY, num_scan_inputs=3),
    "subgraphs too deep": lambda: nested(DEEPEST),
    "functions too deep": lambda: with_chain_of_functions(65),
    "input of many dimensions": lambda: one("Relu", graph_inputs=(info("x", FLOAT, [1] * 17),)),
    "dimension of a long name": lambda: one("Relu", graph_inputs=(info("x", FLOAT, ["n" * 1025]),)),
    "many operator sets": lambda: model([node("Relu", ["x"], ["y"])], domains=[f"d{i}" for i in range(256)]),
    "sparse weights beyond their budget": lambda: with_sparse_weights(5),
    "own operator in a function's default": with_own_default,
    "weight with too few bytes": lambda: with_weight(raw("w", FLOAT, [4], b"1234")),
    "weight whose size overflows": lambda: with_weight(raw("w", FLOAT, [2**40, 2**40], b"1234")),
    "weight with a negative dimension": lambda: with_weight(raw("w", FLOAT, [-4], b"")),
    "weight of an unknown type": lambda: with_weight(raw("w", 99, [1], b"1234")),
    "external data of a model in memory": lambda: external("weights.bin"),
    "input of an unknown type": lambda: one("Relu", graph_inputs=(info("x", 99, [1]),)),
}

# Models that load; then a call with these inputs fails.
FLOATS = np.zeros((2, 4), np.float32)
MANY = np.zeros(1 << 18, np.int64)
def hidden(first, then, *nodes, results=("r",)):
    """What runs well with the first values and not with the others."""
    make = functools.partial(hiding, {"v": first}, {"v": then}, nodes, results)
    return lambda: make()[0], make()[1]


ONE, TWO = np.float32([1, 2]), np.float64([1, 2])
SAME = node("Identity", ["c"], ["d"])
COUNTING = body([SAME, node("Neg", ["i"], ["j"])], untyped("i", "c"), ["d", "j"])
STOPPING = body([node("Identity", ["v"], ["d"]), node("Neg", ["i"], ["j"])], untyped("i", "c"), ["d", "j"])
CARRYING = body([SAME, node("Cast", ["t"], ["u"], to=FLOAT)], untyped("i", "c", "t"), ["d", "u"])
STACKING = body([SAME, node("Identity", ["v"], ["x"])], untyped("i", "c"), ["d", "x"])
FIRST = body([node("Identity", ["v"], ["t"])], [], ["t"])
SECOND = body([constant("e", ONE)], [], ["e"])

# Values whose types are known when they run.
HIDDEN = {
    "number for a sequence": hidden([ONE], ONE, node("SequenceMap", ["v"], ["s"], name="bad", body=body([node("Neg", ["e"], ["f"])], untyped("e"), ["f"])),
                                    node("SequenceLength", ["s"], ["r"])),
    "sequence for a number": hidden(ONE, [ONE], node("Neg", ["v"], ["r"], name="bad")),
    "trip count of another type": hidden(np.int64(1), np.float32(1), node("Loop", ["v", ""], ["r"], name="bad", body=COUNTING)),
    "body's condition of another type": hidden(np.array(False), np.float32(0), node("Loop", ["trips", ""], ["r"], name="bad", body=STOPPING)),
    "state that changes its type": hidden(ONE, TWO, node("Loop", ["trips", "", "v"], ["r"], name="bad", body=CARRYING)),
    "no iteration that tells a type": hidden(ONE, TWO, node("Loop", ["at", ""], ["r"], name="bad", body=STACKING)),
    "branch of another type": hidden(ONE, TWO, node("GreaterOrEqual", ["turn", "at"], ["late"]),
                                     node("If", ["late"], ["r"], name="bad", then_branch=FIRST, else_branch=SECOND)),
}

RUNS = {
    "too few buffers": (lambda: one("Relu"), []),
    "buffer of another type": (lambda: one("Relu"), [np.zeros((2, 4))]),
    "buffer of another rank": (lambda: one("Relu"), [np.zeros(4, np.float32)]),
    "buffer of another size": (lambda: one("Relu"), [np.zeros((2, 5), np.float32)]),
    "one name, two sizes": (lambda: one("Add", ("x", "z"), (), (X, info("z", FLOAT, ["n", 4]))), [FLOATS, FLOATS[:1]]),
    "sizes that do not broadcast": (lambda: one("Add", ("x", "z"), (), (X, info("z", FLOAT, ["m", 4]))),
                                    [FLOATS, np.zeros((3, 4), np.float32)]),
    "index out of range": (lambda: one("Gather", ("x", "i"), (), (X, I)), [FLOATS, np.array([0, 7])]),
    "GatherElements out of range": (lambda: one("GatherElements", ("x", "i"), (), (X, info("i", INT64, [1, 1]))),
                                    [FLOATS, np.array([[-3]])]),
    "ScatterND out of range": (lambda: one("ScatterND", ("x", "i", "u"), (),
                                           (X, info("i", INT64, [1, 2]), info("u", FLOAT, [1]))),
                               [FLOATS, np.array([[0, 9]]), np.zeros(1, np.float32)]),
    "reshape that does not fit": (lambda: one("Reshape", ("x", "i"), (), (X, I)), [FLOATS, np.array([3, 3])]),
    "reshape to a scalar that does not fit": (lambda: one("Reshape", ("x", "i"), (), (X, I)),
                                              [FLOATS, np.array([], np.int64)]),
    "axes given twice": (lambda: one("ReduceSum", ("x", "i"), (), (X, I), keepdims=0), [FLOATS, np.array([0, 0])]),
    "long list of axes": (lambda: one("ReduceSum", ("x", "i"), (), (X, I)), [FLOATS, MANY]),
    "long list of sizes": (lambda: one("Reshape", ("x", "i"), (), (X, I)), [FLOATS, MANY]),
    "long list of parts": (lambda: model([node("Split", ["x", "i"], ["y"], name="bad")], (X, I)), [FLOATS, MANY]),
    "expansion that does not fit": (lambda: one("Expand", ("x", "i"), (), (X, I)), [FLOATS, np.array([3, 4])]),
    "shape below zero": (lambda: one("ConstantOfShape", ("i",), (), (I,)), [np.array([2, -2])]),
    "shape beyond memory": (lambda: one("ConstantOfShape", ("i",), (), (I,)), [np.array([2**24, 2**24])]),
    "shape that overflows": (lambda: one("ConstantOfShape", ("i",), (), (I,)), [np.array([2**40, 2**40])]),
    "slice steps of 0": (lambda: one("Slice", ("x", "a", "b", "a", "i"), [ints("a", 0), ints("b", 2)], (X, I)),
                         [FLOATS, np.array([0])]),
    "too many of the top": (lambda: one("TopK", ("x", "i"), (), (X, info("i", INT64, [1])), outputs=("y", "z")),
                            [FLOATS, np.array([5])]),
    "tiles below zero": (lambda: one("Tile", ("x", "i"), (), (X, I)), [FLOATS, np.array([1, -1])]),
    "range without end": (lambda: one("Range", ("a", "b", "d"), (), [info(n, INT64, []) for n in "abd"]),
                          [np.array(0), np.array(4), np.array(0)]),
    "split of another size": (lambda: one("Split", ("x", "i"), (), (X, I), outputs=("y", "z"), axis=1),
                              [FLOATS, np.array([1, 2])]),
    "condition with two elements": (lambda: one("If", ("c",), (), (X, info("c", BOOL, ["k"])), then_branch=RELU,
                                                else_branch=RELU), [FLOATS, np.array([True, False])]),
    "iterations of different shapes": (lambda: one("Loop", ("i", "", "x"), (), (info("i", INT64, []), info("x", FLOAT, [4])),
                                                   outputs=("y", "z"), body=GROWING),
                                       [np.array(3), np.zeros(4, np.float32)]),
    "Scan whose state changes its shape": (lambda: one("Scan", ("z", "x"), (), (info("z", FLOAT, ["m"]), info("x", FLOAT, ["t", "k"])),
                                                       num_scan_inputs=1, body=WIDER), [np.zeros(2, np.float32), np.zeros((3, 2), np.float32)]),
    "lists padded to one that is long": (lambda: model(
        [node("StringSplit", ["t"], ["y", "z"], name="bad")], (), ("z",),
        [tensor("t", ["a " * 20000] + ["a"] * 9999, object)]), []),
    "empty shape whose size overflows": (lambda: one("Identity", graph_inputs=(info("x", INT8, [None, 0]),)), [np.zeros((1 << 62, 0), np.int8)]),
    **HIDDEN,
    "Scan inputs of different length": (lambda: one("Scan", ("x", "z"), (), (X, info("z", FLOAT, ["m", 4])), num_scan_inputs=2,
                                                    body=SUM), [FLOATS, np.zeros((3, 4), np.float32)]),
}


def session():
    handle = library.Handle("maxSessionRelease")
    library.call("maxSessionCreate", None, ctypes.byref(handle))
    return handle


def device():
    handle = library.Handle("maxDeviceRelease")
    library.call("maxDeviceCreate", b"cpu", ctypes.c_int32(-1), None, ctypes.byref(handle))
    return handle


def load(path):
    handle, owner = library.Handle("maxModelRelease"), session()
    library.call("maxModelLoad", owner, str(path).encode(), None, ctypes.byref(handle))
    return handle


def load_external(folder, data, make=None):
    if make:
        make(folder)
    (folder / "model.onnx").write_bytes(data)
    load(folder / "model.onnx")


def link(target):
    return lambda folder: os.symlink(target, folder / "weights.bin")


def short_file(folder):
    (folder / "weights.bin").write_bytes(b"12345678")


def hard_link(folder):
    (folder / "other.bin").write_bytes(b"1234567812345678")
    os.link(folder / "other.bin", folder / "weights.bin")


# The first bytes of files of other formats.
FORMATS = {
    "a checkpoint": lambda: checkpoint(),
    "safetensors": lambda: (2).to_bytes(8, "little") + b"{}",
    "an ONNX model": lambda: one("Relu"),
    "a NumPy array": lambda: b"\x93NUMPY\x01\x00v\x00{}",
    "a zip archive": lambda: b"PK\x03\x04" + bytes(40),
    "a pickle": lambda: b"\x80\x02}q\x00.",
    "HDF5": lambda: b"\x89HDF\r\n\x1a\n" + bytes(20),
    "TensorFlow Lite": lambda: b"\x1c\x00\x00\x00TFL3" + bytes(20),
    "ORT's own": lambda: b"\x1c\x00\x00\x00ORTM" + bytes(20),
    "GGUF": lambda: b"GGUF\x03" + bytes(20),
    "OpenVINO": lambda: b'<?xml version="1.0"?><net/>',
    "a library": lambda: b"\x7fELF\x02\x01\x01" + bytes(20),
    "a pointer of LFS": lambda: b"version https://git-lfs",
    "JSON": lambda: b'{"a": 1}',
    "a gzip archive": lambda: b"\x1f\x8b\x08" + bytes(20),
}


def load_format(folder, name, function):
    path = folder / "file"
    path.write_bytes(FORMATS[name]())
    if function == "maxModelLoad":
        load(path)
    library.call(function, str(path).encode(), *([ctypes.byref(ctypes.c_void_p())] if function != "maxExtensionLoad" else []))


def folder_with(name):
    def make(folder):
        (folder / name).write_bytes(b"")
        load(folder)
    return make


# Files that do not load: functions of an empty folder.
FILES = {
    "no file": lambda folder: load(folder / "nothing.onnx"),
    "folder without model": load,
    "external data that is not there": lambda folder: load_external(folder, external("weights.bin")),
    "external data above the folder": lambda folder: load_external(folder, external("../weights.bin")),
    "external data above and back": lambda folder: load_external(folder, external("a/../weights.bin")),
    "external data with an absolute path": lambda folder: load_external(folder, external("/etc/passwd")),
    "external data through a link": lambda folder: load_external(folder, external("weights.bin"), link("/etc/passwd")),
    "external data through a linked folder": lambda folder: load_external(
        folder, external("etc/passwd"), lambda inside: os.symlink("/etc", inside / "etc")),
    "external data with hard links": lambda folder: load_external(folder, external("weights.bin"), hard_link),
    "external data in a folder": lambda folder: load_external(folder, external("weights.bin"),
                                                              lambda inside: (inside / "weights.bin").mkdir()),
    "external data without name": lambda folder: load_external(folder, external("")),
    "external data past its end": lambda folder: load_external(folder, external("weights.bin"), short_file),
    "external data before its start": lambda folder: load_external(folder, external("weights.bin", offset=-4), short_file),
    "external data of no size": lambda folder: load_external(folder, external("weights.bin", length="many"), short_file),
    "folder with a model of another name": folder_with("other.onnx"),
    "folder of TensorFlow": folder_with("saved_model.pb"),
    **{f"model that is {name}": lambda folder, name=name: load_format(folder, name, "maxModelLoad")
       for name in FORMATS if name != "an ONNX model"},
    **{f"weights that are {name}": lambda folder, name=name: load_format(folder, name, "maxWeightsLoad")
       for name in ("an ONNX model", "a NumPy array", "a zip archive", "GGUF")},
    **{f"buffer that is {name}": lambda folder, name=name: load_format(folder, name, "maxBufferLoad")
       for name in ("an ONNX model", "a NumPy array", "safetensors")},
    "extension that is an ONNX model": lambda folder: load_format(folder, "an ONNX model", "maxExtensionLoad"),
    "folder to write to that is not there": lambda folder: library.call(
        "maxBufferSave", buffer(), str(folder / "none/weights.max").encode(), None),
    "checkpoint that is not there": lambda folder: load_buffer(folder / "nothing.max"),
    "checkpoint that is none": lambda folder: load_checkpoint(folder, b"no checkpoint"),
    "checkpoint cut off": lambda folder: load_checkpoint(folder, checkpoint()[:-1]),
    "checkpoint of an unknown type": lambda folder: load_checkpoint(folder, checkpoint(dtype=7)),
}


def checkpoint(dtype=81):
    size, key, dims = (4).to_bytes(4, "little"), b"name", (2).to_bytes(4, "little")
    meta = size + key + bytes([dtype, 1]) + dims
    start = 8 + 4 + 4 + 8 + len(meta) + 8
    return (b"\x93\xf0\x9f\x94\xa5++\x93" + bytes(4) + (1).to_bytes(4, "little")
            + (len(meta) + 8).to_bytes(8, "little") + meta + start.to_bytes(8, "little") + bytes(8))


def load_buffer(path):
    library.call("maxBufferLoad", str(path).encode(), ctypes.byref(library.Handle("maxBufferRelease")))


def load_checkpoint(folder, data):
    (folder / "weights.max").write_bytes(data)
    load_buffer(folder / "weights.max")


def buffer(dtype="float32", shape=(2, 3), data=True):
    handle = library.Handle("maxBufferRelease")
    library.call("maxBufferCreate" if data else "maxBufferWrap", device(), *([] if data else [None]),
                 ctypes.c_int32(library.DTYPES.get(dtype, -5)), ctypes.c_int32(len(shape)), int64s(shape), None,
                 ctypes.byref(handle))
    return handle


def int64s(values):
    return (ctypes.c_int64 * max(len(values), 1))(*values)


def view(dtype, shape):
    library.call("maxBufferView", buffer(), ctypes.c_int32(library.DTYPES[dtype]), ctypes.c_int32(len(shape)),
                 int64s(shape), ctypes.byref(library.Handle("maxBufferRelease")))


def copy(offset, count):
    target, source = buffer(), buffer()
    library.call("maxBufferCopy", target, ctypes.c_size_t(offset), source, ctypes.c_size_t(0), ctypes.c_size_t(count), None)


def options_of_size(size, last=0):
    options = (ctypes.c_uint64 * 64)()
    options[0], options[63] = size, last
    library.call("maxSessionCreate", options, ctypes.byref(library.Handle("maxSessionRelease")))


class Graph:
    """A graph under construction with one input, x: float32[n, 4]."""

    def __init__(self):
        self.handle = library.Handle("maxGraphRelease")
        library.call("maxGraphCreate", b"test", ctypes.byref(self.handle))
        self.x = self.input(b"x", (-1, 4), (b"n", None))

    def input(self, name, shape, names=None):
        value = ctypes.c_void_p()
        options = library.graph_input_options(names) if names else None
        library.call("maxGraphAddInput", self.handle, name, ctypes.c_int32(library.DTYPES["float32"]),
                     ctypes.c_int32(len(shape)), int64s(shape), options, ctypes.byref(value))
        return value

    def add(self, op, *inputs, outputs=1, domain=None, **attributes):
        handle = library.Handle("maxAttributesRelease")
        library.call("maxAttributesCreate", ctypes.byref(handle))
        for name, value in attributes.items():
            library.call("maxAttributesSetInt", handle, name.encode(), ctypes.c_int64(value))
        values = (ctypes.c_void_p * max(outputs, 1))()
        library.call("maxGraphAddNode", self.handle, domain, op, b"bad", (ctypes.c_void_p * 8)(*(i.value for i in inputs)),
                     ctypes.c_int32(len(inputs)), handle, values, ctypes.c_int32(outputs))
        return ctypes.c_void_p(values[0])

    def output(self, value, name=b"y"):
        library.call("maxGraphAddOutput", self.handle, value, name)

    def compile(self):
        owner = session()
        library.call("maxModelCompile", owner, self.handle, None, ctypes.byref(library.Handle("maxModelRelease")))


def foreign_value():
    other, own = Graph(), Graph()
    own.add(b"Relu", other.x)


def like_foreign_value():
    other, own = Graph(), Graph()
    library.call("maxGraphAddInputLike", own.handle, b"z", other.x, ctypes.byref(ctypes.c_void_p()))


def broken_promise(shape):
    built = Graph()
    built.add(b"Rebind", built.x, built.add(b"Shape", built.input(b"y", shape)), domain=b"max")


def missing_weight():
    built, value = Graph(), ctypes.c_void_p()
    library.call("maxGraphAddWeight", built.handle, b"w", ctypes.c_int32(library.DTYPES["float32"]), ctypes.c_int32(1),
                 int64s((4,)), None, ctypes.byref(value))
    built.output(built.add(b"Add", built.x, value))
    built.compile()


def run(outputs=1, inputs=1, contents=None):
    ready = library.Model(one("Relu"))
    given = (ctypes.c_void_p * 2)(contents and contents.value)
    library.call("maxModelExecute", ready.model, given, ctypes.c_int32(inputs), None, (ctypes.c_void_p * 2)(),
                 ctypes.c_int32(outputs))


def find(name):
    ready = library.Model(one("Relu"))
    library.call("maxModelFindInput", ready.model, name, ctypes.byref(ctypes.c_int32()))


# Wrong arguments of the C API.
CALLS = {
    "model path of NULL": lambda: library.call("maxModelLoad", session(), None, None, ctypes.byref(ctypes.c_void_p())),
    "session of NULL": lambda: library.call("maxModelLoad", None, b"model.onnx", None, ctypes.byref(ctypes.c_void_p())),
    "output pointer of NULL": lambda: library.call("maxSessionCreate", None, None),
    "options without size": lambda: options_of_size(0),
    "options of a size that no version has": lambda: options_of_size(20 + 2),
    "level that there is not": lambda: library.call("maxSessionSetAssertLevel", session(), ctypes.c_int32(7)),
    "log level that there is not": lambda: library.call("maxSessionSetLogLevel", session(), ctypes.c_int32(7)),
    "options of a newer version": lambda: options_of_size(512, 1),
    "unknown device": lambda: library.call("maxDeviceCreate", b"tpu", ctypes.c_int32(0), None, ctypes.byref(ctypes.c_void_p())),
    "device number": lambda: library.call("maxDeviceCreate", b"cpu", ctypes.c_int32(3), None, ctypes.byref(ctypes.c_void_p())),
    "dtype that does not exist": lambda: buffer("nothing"),
    "dtype name": lambda: library.call("maxDTypeFromName", b"float31", ctypes.byref(ctypes.c_int32())),
    "negative dimension": lambda: buffer(shape=(2, -1)),
    "size that overflows": lambda: buffer(shape=(2**40, 2**40)),
    "too many dimensions": lambda: buffer(shape=(1,) * 99),
    "more memory than there is": lambda: buffer(shape=(2**50,)),
    "memory of NULL": lambda: buffer(data=False),
    "view that does not fit": lambda: view("float32", (4, 4)),
    "view with two -1": lambda: view("float32", (-1, -1)),
    "copy past the end": lambda: copy(8, 24),
    "fill of 3 bytes": lambda: library.call("maxBufferFill", buffer(), b"abc", ctypes.c_size_t(3), None),
    "number of inputs": lambda: run(inputs=2),
    "number of outputs": lambda: run(outputs=2, contents=buffer(shape=(2, 4))),
    "input of NULL": run,
    "name of an input": lambda: find(b"z"),
    "name of an input that is like another": lambda: find(b"X"),
    "graph: unknown operator": lambda: (lambda g: g.add(b"Reluu", g.x))(Graph()),
    "graph: unknown operator of an extension": lambda: (lambda g: g.add(b"Fuse", g.x, domain=b"my.domain"))(Graph()),
    "graph: unknown attribute": lambda: (lambda g: g.add(b"Relu", g.x, alpha=1))(Graph()),
    "graph: wrong rank": lambda: (lambda g: g.add(b"Conv", g.x, g.x))(Graph()),
    "graph: value of another graph": foreign_value,
    "graph: input like a value of another graph": like_foreign_value,
    "graph: promised dimension": lambda: broken_promise((2, 5)),
    "graph: promised rank": lambda: broken_promise((2,)),
    "graph: name taken": lambda: Graph().input(b"x", (4,)),
    "graph: name empty": lambda: Graph().input(b"", (4,)),
    "graph: dimension": lambda: Graph().input(b"z", (-2,)),
    "graph: named number": lambda: Graph().input(b"z", (4,), (b"n",)),
    "graph: number of outputs": lambda: (lambda g: g.add(b"Relu", g.x, outputs=0))(Graph()),
    "graph: no outputs": lambda: Graph().compile(),
    "graph: output named twice": lambda: (lambda g: (g.output(g.x), g.output(g.x)))(Graph()),
    "graph: weight without contents": missing_weight,
}


def all_cases():
    """(name, function of an empty folder)"""
    for name, make in MODELS.items():
        yield f"model: {name}", lambda folder, make=make: library.Model(make())
    for name, (make, inputs) in RUNS.items():
        yield f"run: {name}", lambda folder, make=make, inputs=inputs: library.Model(make()).run(inputs)
    for name, call in FILES.items():
        yield f"file: {name}", lambda folder, call=call: call(pathlib.Path(folder))
    for name, call in CALLS.items():
        yield f"call: {name}", lambda folder, call=call: call()
