# SPDX-License-Identifier: Apache-2.0
"""One node of com.microsoft, run by ONNX Runtime and by us, and numbers to run it on."""

import functools

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import library

onnxruntime.set_default_logger_severity(4)
MICROSOFT = "com.microsoft"


def floats(*shape, scale=1.0, seed=0):
    return (np.random.default_rng(seed + sum(shape)).standard_normal(shape) * scale).astype(np.float32)


def bytes_of(*shape, low=0, high=256, dtype=None, seed=1):
    return np.random.default_rng(seed + sum(shape)).integers(low, high, shape).astype(dtype or np.uint8)


@functools.cache
def most_of_weights():
    """ONNX Runtime's sums of two products of 8 bits saturate at 16 bits on CPUs without VNNI: smaller weights there."""
    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    values = [helper.make_tensor_value_info("a", TensorProto.UINT8, [1, 8]),
              helper.make_tensor_value_info("b", TensorProto.INT8, [8, 1])]
    graph = helper.make_graph([node], "g", values, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {"a": np.full((1, 8), 255, np.uint8), "b": np.full((8, 1), 127, np.int8)}
    return 128 if session.run(None, feeds)[0].item() == 8 * 255 * 127 else 64


def signed(*shape, seed=2):
    return bytes_of(*shape, low=-most_of_weights(), high=most_of_weights(), dtype=np.int8, seed=seed)


def ints(values, dtype=None):
    return np.array(values, dtype or np.int32)


def scalar(value, dtype=None):
    return np.array(value, dtype or np.float32)


class Case:
    """One node. `inputs` may hold None; those at `constants` are part of the model; `outputs` are the wanted ones."""

    def __init__(self, op, inputs, outputs=(0,), constants=(), domain=MICROSOFT, tolerance=1e-4, label="", steps=0,
                 model_opset=17, like=None, open_shapes=True, rows=None, compared=None, filled=None, expected=None,
                 **attributes):
        self.op, self.inputs, self.outputs = op, inputs, tuple(outputs)
        self.constants = {i for i in constants if i < len(inputs) and inputs[i] is not None}
        self.domain, self.tolerance, self.attributes, self.steps = domain, tolerance, attributes, steps
        self.opset, self.open_shapes = model_opset, open_shapes
        self.reference = like or self  # gives the expected outputs,
        self.expected = expected  # if they are not given here
        self.compared = set(self.outputs if compared is None else compared)
        self.rows = rows  # of each sample that mean something; None = all
        self.filled = filled  # rows of caches that mean something; None = all
        self.name = f"{op} {label}".strip()

    def model(self, dynamic):
        names = [f"x{i}" if value is not None else "" for i, value in enumerate(self.inputs)]
        wanted = [f"y{i}" if i in self.outputs else "" for i in range(max(self.outputs) + 1)]
        node = helper.make_node(self.op, names, wanted, "node", domain=self.domain, **self.attributes)
        inputs = [helper.make_tensor_value_info(names[i], helper.np_dtype_to_tensor_dtype(value.dtype),
                                                [f"{names[i]}_{k}" for k in range(value.ndim)] if dynamic
                                                else value.shape)
                  for i, value in enumerate(self.inputs) if value is not None and i not in self.constants]
        weights = [numpy_helper.from_array(self.inputs[i], names[i]) for i in sorted(self.constants)]
        outputs = [helper.make_empty_tensor_value_info(name) for name in wanted if name]
        graph = helper.make_graph([node], "g", inputs, outputs, weights)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8 if self.opset < 21 else 11)

    def feeds(self):
        return {f"x{i}": value for i, value in enumerate(self.inputs) if value is not None and i not in self.constants}

    def shapes(self):
        return (False, True) if self.open_shapes else (False,)

    def run(self, dynamic):
        """What ONNX Runtime makes of it."""
        data = self.model(dynamic).SerializeToString()
        return onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, self.feeds())

    def problem(self, dynamic):
        """What disagrees; empty if nothing."""
        expected = self.expected or self.reference.run(dynamic)
        data = self.model(dynamic).SerializeToString()
        actual = library.Model(data).run(list(self.feeds().values()))
        for i, (a, e) in zip(self.outputs, zip(actual, expected)):
            if i not in self.compared:
                continue
            if a.dtype != e.dtype or a.shape != e.shape:
                return f"output {i} is {a.dtype}{list(a.shape)}, not {e.dtype}{list(e.shape)}"
            for sample, count in enumerate(self.rows or ()):
                a, e = a.copy(), e.copy()
                a[sample, count:] = e[sample, count:] = 0
            if self.filled is not None and i > 0:
                a, e = a[:, :, :self.filled], e[:, :, :self.filled]
            difference = np.abs(a.astype(np.float64) - e.astype(np.float64))
            limit = self.steps if e.dtype.kind in "iu" else self.tolerance * (1 + np.abs(e.astype(np.float64)))
            if not np.all(difference <= limit):
                return f"output {i} differs by {np.nanmax(difference)}"
        return ""
