# SPDX-License-Identifier: Apache-2.0
"""Writes model.onnx: the positive elements of example.Softsign(x + x), with scale 2."""

import pathlib

import onnx
from onnx import TensorProto, helper

nodes = [
    helper.make_node("Add", ["x", "x"], ["doubled"]),
    helper.make_node("Softsign", ["doubled"], ["signs"], "signs", domain="example", scale=2.0),
    helper.make_node("Positive", ["signs"], ["y"], "positive", domain="example"),
]
graph = helper.make_graph(nodes, "custom_operator",
                          [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["m"])])
model = helper.make_model(graph, ir_version=10,
                          opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("example", 1)])
onnx.save(model, pathlib.Path(__file__).with_name("model.onnx"))
