# SPDX-License-Identifier: Apache-2.0
"""Models whose types of values are only known at run time."""

import numpy as np
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

node, info = helper.make_node, helper.make_tensor_value_info


def untyped(*names):
    return [ValueInfoProto(name=name) for name in names]


def graph(nodes, inputs, outputs, name="body"):
    return helper.make_graph(nodes, name, inputs, untyped(*outputs))


def constant(name, value, dtype=None):
    return node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(value, dtype), name))


def kind_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def model(nodes, arrays, outputs):
    inputs = [info(name, kind_of(array), array.shape) for name, array in arrays.items()]
    main = helper.make_graph(nodes, "main", inputs, untyped(*outputs))
    return helper.make_model(main, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()


def hiding(first, then, nodes, results):
    """A model that runs the nodes twice, in a Loop, on values of types unknown in advance: those of `first`, then
    those of `then`. They are arrays, or lists of one array, which are sequences."""
    before, within = [constant("trips", 2, np.int64)], [constant("at", 0, np.int64), node("Identity", ["more"], ["again"])]
    inputs = {}
    for name in first:
        for which, value in (("first", first[name]), ("then", then[name])):
            inputs[f"{which}_{name}"] = np.asarray(value[0] if isinstance(value, list) else value)
            source = f"{which}_{name}"
            if isinstance(value, list):
                before.append(node("SequenceConstruct", [source], [f"{source}_all"]))
                source += "_all"
            before.append(node("Optional", [source], [f"{which}_{name}_held"]))
        within.append(node("OptionalGetElement", [f"carried_{name}"], [name]))
        within.append(node("Identity", [f"then_{name}_held"], [f"next_{name}"]))
    casts = [node("Cast", [name], [f"cast_{name}"], to=TensorProto.DOUBLE) for name in results]
    body = graph([*within, *nodes, *casts], untyped("turn", "more", *[f"carried_{name}" for name in first]),
                 ["again", *[f"next_{name}" for name in first], *[f"cast_{name}" for name in results]], name="outer")
    loop = node("Loop", ["trips", "", *[f"first_{name}_held" for name in first]],
                [*[f"end_{name}" for name in first], *[f"out_{name}" for name in results]], name="outer", body=body)
    return model([*before, loop], inputs, [f"out_{name}" for name in results]), list(inputs.values())
