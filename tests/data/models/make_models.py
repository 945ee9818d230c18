# SPDX-License-Identifier: Apache-2.0
"""Writes the small models that tests/capi uses; run it in this folder after a change."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def tensor(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(name, nodes, inputs, outputs, initializers=(), domains=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", 17)] + [helper.make_opsetid(domain, 1) for domain in domains]
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
