# SPDX-License-Identifier: Apache-2.0
"""Writes the seed files of fuzz_model: small models that reach the importer's branches and the shape rules."""

import pathlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "corpus" / "model"
F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node


def value(name, shape, dtype=F32):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, data):
    return numpy_helper.from_array(np.asarray(data), name)


def f32(*shape):
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def save(name, nodes, inputs, outputs=("y",), initializers=(), opset=21):
    graph = helper.make_graph(nodes, name, list(inputs), [value(o, None) for o in outputs], list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString())


X = value("x", ["batch", 4])
IMAGE = value("x", ["n", 3, 8, 8])


def branch(op):
    return helper.make_graph([node(op, ["x"], ["r"])], "branch", [], [value("r", None)])


SEQUENCE = value("x", [3, 2, 4])
BODY = helper.make_graph([node("Add", ["state", "x"], ["next"]), node("Identity", ["on"], ["again"])], "body",
                         [value("i", [], I64), value("on", [], BOOL), value("state", ["batch", 4])],
                         [value("again", [], BOOL), value("next", None)])

save("chain", [node("Mul", ["x", "w"], ["a"]), node("Sigmoid", ["a"], ["b"]), node("Where", ["c", "a", "b"], ["y"])],
     [X], initializers=[constant("w", f32(4)), constant("c", np.array([True, False, True, False]))])
save("shapes", [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"]), node("Concat", ["n", "m"], ["t"], axis=0),
                node("Reshape", ["x", "t"], ["y"])], [X], initializers=[constant("zero", np.array([0])), constant("m", np.array([2, -1]))])
save("cnn", [node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]), node("Relu", ["c"], ["r"]),
             node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("GlobalAveragePool", ["p"], ["g"]),
             node("Flatten", ["g"], ["f"]), node("Gemm", ["f", "k"], ["y"], transB=1)],
     [IMAGE], initializers=[constant("w", f32(5, 3, 3, 3)), constant("b", f32(5)), constant("k", f32(2, 5))])
save("norm", [node("LayerNormalization", ["x", "s"], ["a"]), node("Softmax", ["a"], ["b"], axis=-1),
              node("ReduceMean", ["b", "axes"], ["y"], keepdims=0)], [X],
     initializers=[constant("s", f32(4)), constant("axes", np.array([1]))])
save("slices", [node("Slice", ["x", "a", "b", "c", "d"], ["s"]), node("Split", ["s"], ["p", "q"], axis=1, num_outputs=2),
                node("Pad", ["p", "pads"], ["t"]), node("Transpose", ["t"], ["u"], perm=[1, 0]), node("Tile", ["u", "r"], ["y"])],
     [X], outputs=("y", "q"), initializers=[constant("a", np.array([0])), constant("b", np.array([4])), constant("c", np.array([1])),
                                            constant("d", np.array([1])), constant("pads", np.array([0, 1, 0, 1])), constant("r", np.array([1, 2]))])
save("branches", [node("If", ["c"], ["y"], then_branch=branch("Relu"), else_branch=branch("Neg"))], [X, value("c", [], BOOL)])
save("loop", [node("Loop", ["trips", "go", "x"], ["y"], body=BODY)], [X],
     initializers=[constant("trips", np.array(3)), constant("go", np.array(True))])
save("lstm", [node("LSTM", ["x", "w", "r"], ["all", "y"], hidden_size=2)], [SEQUENCE], outputs=("y", "all"),
     initializers=[constant("w", f32(1, 8, 4)), constant("r", f32(1, 8, 2))])
save("lookup", [node("Gather", ["w", "i"], ["g"]), node("TopK", ["g", "k"], ["y", "at"]), node("NonZero", ["g"], ["z"])],
     [value("i", ["n"], I64)], outputs=("y", "at", "z"), initializers=[constant("w", f32(5, 4)), constant("k", np.array([2]))])
save("resize", [node("Resize", ["x", "", "s"], ["y"], mode="linear")], [IMAGE],
     initializers=[constant("s", np.array([1, 1, 2, 2], dtype=np.float32))])
save("fold", [node("ConstantOfShape", ["s"], ["c"]), node("Expand", ["c", "t"], ["e"]), node("Range", ["i", "j", "k"], ["q"]),
              node("Cast", ["q"], ["f"], to=F32), node("Add", ["e", "f"], ["g"]), node("Add", ["x", "g"], ["y"])], [X],
     initializers=[constant("s", np.array([1, 4])), constant("t", np.array([2, 4])), constant("i", np.array(0)), constant("j", np.array(4)),
                   constant("k", np.array(1))])
save("old", [node("Squeeze", ["x"], ["a"], axes=[0]), node("Softmax", ["a"], ["b"], axis=0), node("Slice", ["b"], ["y"], starts=[0], ends=[2])],
     [value("x", [1, 4])], opset=9)
