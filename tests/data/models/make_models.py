# SPDX-License-Identifier: Apache-2.0
"""Writes the small models that tests/capi uses; run it in this folder after a change."""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def tensor(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(name, nodes, inputs, outputs, initializers=(), domains=(), opset=17):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, 1) for domain in domains]
    model = helper.make_model(graph, opset_imports=opsets, producer_name="make_models", ir_version=8)
    onnx.save(model, name + ".onnx")


node = helper.make_node

save("identity", [node("Identity", ["x"], ["y"], name="same")], [tensor("x", FLOAT, ["n"])],
     [tensor("y", FLOAT, ["n"])])

save("negate", [node("Neg", ["x"], ["y"])], [tensor("x", FLOAT, [5])], [tensor("y", FLOAT, [5])])

save("add", [node("Add", ["a", "b"], ["sum"]), node("Sub", ["a", "b"], ["difference"])],
     [tensor("a", FLOAT, ["batch", 3]), tensor("b", FLOAT, ["batch", 3])],
     [tensor("sum", FLOAT, ["batch", 3]), tensor("difference", FLOAT, ["batch", 3])])

weight = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "weight")
save("linear", [node("MatMul", ["x", "weight"], ["y"])], [tensor("x", FLOAT, ["batch", 2])],
     [tensor("y", FLOAT, ["batch", 3])], [weight])

then_branch = helper.make_graph([node("Add", ["x", "x"], ["doubled"])], "then", [], [tensor("doubled", FLOAT, None)])
else_branch = helper.make_graph([node("Neg", ["x"], ["negative"])], "else", [], [tensor("negative", FLOAT, None)])
save("branch", [node("If", ["condition"], ["y"], then_branch=then_branch, else_branch=else_branch)],
     [tensor("condition", BOOL, []), tensor("x", FLOAT, ["n"])], [tensor("y", FLOAT, ["n"])])

save("nonzero", [node("NonZero", ["x"], ["where"]), node("Transpose", ["where"], ["y"])],
     [tensor("x", FLOAT, ["n"])], [tensor("y", INT64, ["found", 1])])

save("unsupported", [node("Identity", ["x"], ["a"]), node("Frobnicate", ["a"], ["b"], name="first"),
                     node("Twist", ["b"], ["y"], name="second", domain="com.example")],
     [tensor("x", FLOAT, [1])], [tensor("y", FLOAT, [1])], domains=["com.example"])

save("gather", [node("Gather", ["table", "index"], ["y"], name="lookup")],
     [tensor("table", FLOAT, ["rows", 2]), tensor("index", INT64, ["n"])], [tensor("y", FLOAT, ["n", 2])])

# A BERT of one layer with everything small, otherwise as the benchmark's.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmarks/models"))
import bert  # noqa: E402

bert.VOCABULARY, bert.POSITIONS, bert.HIDDEN, bert.LAYERS, bert.HEADS, bert.INNER = 8, 8, 8, 1, 2, 16
bert.build("tiny_bert.onnx")

STRING = TensorProto.STRING


def sequence(name, dtype, shape=None):
    return helper.make_tensor_sequence_value_info(name, dtype, shape)


# A tensor joins a sequence.
save("sequences", [node("SequenceInsert", ["given", "x"], ["longer"]), node("SequenceLength", ["longer"], ["length"]),
                   node("ConcatFromSequence", ["longer"], ["joined"], axis=0)],
     [sequence("given", FLOAT), tensor("x", FLOAT, ["n"])],
     [sequence("longer", FLOAT), tensor("length", INT64, []), tensor("joined", FLOAT, ["m"])])

suffix = helper.make_tensor("suffix", STRING, [1], [b"!"])
save("strings", [node("StringConcat", ["words", "suffix"], ["loud"]), node("Gather", ["loud", "which"], ["picked"])],
     [tensor("words", STRING, ["n"]), tensor("which", INT64, ["m"])],
     [tensor("loud", STRING, ["n"]), tensor("picked", STRING, ["m"])], [suffix], opset=20)

held = helper.make_tensor_type_proto(FLOAT, None)
optional = helper.make_value_info("maybe", helper.make_optional_type_proto(held))
result = helper.make_value_info("same", helper.make_optional_type_proto(held))
save("optional", [node("OptionalHasElement", ["maybe"], ["has"]), node("Identity", ["maybe"], ["same"])], [optional],
     [tensor("has", BOOL, []), result], opset=20)

# A loop makes a sequence of the numbers below n, a text of n letters, and all texts on the way.
body = helper.make_graph(
    [node("Identity", ["going_in"], ["going"]), node("SequenceInsert", ["numbers_in", "i"], ["numbers"]),
     node("StringConcat", ["text_in", "mark"], ["text"]), node("Identity", ["text"], ["texts"])],
    "body", [tensor("i", INT64, []), tensor("going_in", BOOL, []), sequence("numbers_in", INT64),
             tensor("text_in", STRING, [])],
    [tensor("going", BOOL, []), sequence("numbers", INT64), tensor("text", STRING, []), tensor("texts", STRING, [])],
    [helper.make_tensor("mark", STRING, [], [b"x"])])
save("loop", [node("SequenceEmpty", [], ["none"], dtype=INT64), node("Constant", [], ["start"], value_string=b""),
              node("Loop", ["n", "", "none", "start"], ["numbers", "text", "texts"], body=body)],
     [tensor("n", INT64, [])],
     [sequence("numbers", INT64), tensor("text", STRING, []), tensor("texts", STRING, ["n"])], opset=20)

# Loops in loops with branches, that carry strings and sequences and use outer ones; a body for each element after.
inner = helper.make_graph(
    [node("Identity", ["c_in"], ["c"]), node("StringConcat", ["t_in", "head"], ["t"])], "inner",
    [tensor("j", INT64, []), tensor("c_in", BOOL, []), tensor("t_in", STRING, [])],
    [tensor("c", BOOL, []), tensor("t", STRING, [])])
longer = helper.make_graph([node("SequenceInsert", ["found_in", "text"], ["more"])], "longer", [],
                           [sequence("more", STRING)])
same = helper.make_graph([node("Identity", ["found_in"], ["as_before"])], "same", [], [sequence("as_before", STRING)])
body = helper.make_graph(
    [node("Identity", ["going_in"], ["going"]), node("Loop", ["two", "", "text_in"], ["text"], body=inner),
     node("Mod", ["i", "two"], ["rest"]), node("Cast", ["rest"], ["odd"], to=BOOL),
     node("If", ["odd"], ["found"], then_branch=longer, else_branch=same), node("Identity", ["text"], ["texts"])],
    "body", [tensor("i", INT64, []), tensor("going_in", BOOL, []), sequence("found_in", STRING),
             tensor("text_in", STRING, [])],
    [tensor("going", BOOL, []), sequence("found", STRING), tensor("text", STRING, []), tensor("texts", STRING, [])])
each = helper.make_graph([node("StringConcat", ["element", "mark"], ["marked"]),
                          node("StringConcat", ["marked", "head"], ["result"])], "each",
                         [tensor("element", STRING, [])], [tensor("result", STRING, [])])
save("nested", [node("Gather", ["words", "zero"], ["head"]), node("SequenceEmpty", [], ["none"], dtype=STRING),
                node("Constant", [], ["start"], value_string=b""),
                node("Loop", ["n", "", "none", "start"], ["found", "last", "texts"], body=body),
                node("SequenceMap", ["found"], ["marked_all"], body=each),
                node("ConcatFromSequence", ["marked_all"], ["joined"], axis=0, new_axis=1),
                node("Optional", ["joined"], ["maybe"]), node("OptionalGetElement", ["maybe"], ["results"])],
     [tensor("words", STRING, ["k"]), tensor("n", INT64, [])],
     [tensor("results", STRING, ["found"]), tensor("texts", STRING, ["n"])],
     [helper.make_tensor("zero", INT64, [], [0]), helper.make_tensor("two", INT64, [], [2]),
      helper.make_tensor("mark", STRING, [], [b"!"])], opset=20)
