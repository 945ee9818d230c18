# SPDX-License-Identifier: Apache-2.0
"""Every operator with every element type that the standard allows it: ONNX's node tests, with the types of their
values changed, run through libmax.so. Floating-point results must agree with those of the original type.
`test_types.py OPERATOR` prints what fails of one operator."""

import collections
import sys
import unittest
import warnings

try:
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    from onnx.backend.test.loader import load_model_tests
    import library
except ImportError:
    onnx = None

# Operators without anything to compare: their results are random, or not numbers.
RANDOM = {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
          "RandomUniformLike"}
# How far results of a type may be from those of the case's own type, relative to the largest.
TOLERANCES = {"float16": 2e-2, "bfloat16": 1e-1, "float64": 1e-3, "float32": 1e-3}
# Combinations that the library does not have, with the reason.
INTERPOLATED = "complex numbers are not interpolated or added up; no other runtime does so either"
KNOWN = {(operator, f"tensor({name})"): INTERPOLATED
         for operator in ("Col2Im", "GridSample", "Resize") for name in ("complex64", "complex128")}

# What no type would mend; test_nodes counts it.
COUNTED_ELSEWHERE = ("unsupported operator", "images in the format")


def inputs_of(case):
    values = case.data_sets[0][0]
    return [numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value for value in values]


def data_type(text):
    """TensorProto's number of "tensor(float16)"; None for anything but a tensor of numbers."""
    name = text.removeprefix("tensor(").removesuffix(")").upper()
    if not text.startswith("tensor(") or name == "STRING":
        return None
    return onnx.TensorProto.DataType.Value(name)


def parameter(parameters, index):
    return parameters[min(index, len(parameters) - 1)]


def width(dtype):
    """Bits of an element."""
    return library.bits_of(dtype) or 8 * dtype.itemsize


def is_possible(case, dtype):
    """BitCast needs types of one width."""
    return case.model.graph.node[0].op_type != "BitCast" or width(inputs_of(case)[0].dtype) == width(dtype)


class Variant:
    """A case with the type variable `name` of its operator's schema set to a type."""

    def __init__(self, case, schema, name, number):
        self.model = onnx.ModelProto()
        self.model.CopyFrom(case.model)
        self.dtype = helper.tensor_dtype_to_np_dtype(number)
        self.arrays = [np.asarray(value) for value in inputs_of(case)]
        self.changed = False
        graph, node = self.model.graph, self.model.graph.node[0]
        positions = {value.name: position for position, value in enumerate(graph.input)}
        for index, value in enumerate(node.input):
            if value in positions and parameter(schema.inputs, index).type_str == name:
                graph.input[positions[value]].type.tensor_type.elem_type = number
                self.arrays[positions[value]] = self.arrays[positions[value]].astype(self.dtype)
                self.changed = True
        outputs = {value for index, value in enumerate(node.output) if parameter(schema.outputs, index).type_str == name}
        for value in graph.output:
            if value.name in outputs:
                value.type.tensor_type.elem_type = number
        if outputs and not self.changed:
            self.set_attributes(node, number)

    def set_attributes(self, node, number):
        for attribute in node.attribute:
            if attribute.name in ("to", "dtype", "output_dtype"):
                attribute.i = number
                self.changed = True
            if attribute.name == "value":
                array = numpy_helper.to_array(attribute.t).astype(self.dtype)
                attribute.t.CopyFrom(numpy_helper.from_array(array))
                self.changed = True

    def run(self):
        return library.Model(self.model.SerializeToString()).run(self.arrays)


def is_single(case):
    """One node, on tensors only, in the newest form of its operator."""
    nodes = case.model.graph.node
    if len(nodes) != 1 or nodes[0].domain not in ("", "ai.onnx") or nodes[0].op_type in ("If", "Loop", "Scan"):
        return False
    tensors = all(isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "OU"
                  for value in inputs_of(case))
    version = max(entry.version for entry in case.model.opset_import if entry.domain in ("", "ai.onnx"))
    newest = onnx.defs.get_schema(nodes[0].op_type).since_version
    return tensors and version >= newest


def differs(case, variant, outputs):
    """Why floating-point results are wrong; empty if they are right or cannot be compared."""
    tolerance = TOLERANCES.get(variant.dtype.name)
    if not tolerance or case.model.graph.node[0].op_type in RANDOM:
        return ""
    originals = inputs_of(case)
    if not all(array.dtype.kind == "f" or array.dtype == changed.dtype
               for array, changed in zip(originals, variant.arrays)):
        return ""
    rounded = [changed.astype(array.dtype) for array, changed in zip(originals, variant.arrays)]
    expected = library.Model(case.model.SerializeToString()).run(rounded)
    for actual, wanted in zip(outputs, expected):
        if not isinstance(actual, np.ndarray) or actual.dtype != variant.dtype or wanted.dtype.kind != "f" or actual.size == 0:
            continue
        a, e = actual.astype(np.float64), wanted.astype(np.float64)
        finite = np.isfinite(e) & (np.abs(e) < 60000)
        scale = max(1, np.max(np.abs(e[finite]), initial=0))
        if not np.allclose(a[finite], e[finite], rtol=tolerance, atol=tolerance * scale):
            return f"{a[finite].ravel()[:6]} instead of {e[finite].ravel()[:6]}"
    return ""


def problems(only=None):
    """{(operator, variable, message): types}, number of combinations."""
    found, seen, count = collections.defaultdict(set), collections.Counter(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in load_model_tests(kind="node") if is_single(case)]
        for case in cases:
            node = case.model.graph.node[0]
            form = (node.op_type, tuple(bool(name) for name in node.input))
            seen[form] += 1
            if seen[form] > 2 or (only and node.op_type != only):
                continue
            schema = onnx.defs.get_schema(node.op_type)
            for constraint in schema.type_constraints:
                for text in constraint.allowed_type_strs:
                    number = data_type(text)
                    if number is None:
                        continue
                    variant = Variant(case, schema, constraint.type_param_str, number)
                    if not variant.changed or not is_possible(case, variant.dtype):
                        continue
                    count += 1
                    try:
                        problem = differs(case, variant, variant.run())
                    except library.Failure as failure:
                        problem = str(failure).splitlines()[0]
                    missing = any(phrase in problem for phrase in COUNTED_ELSEWHERE)
                    if problem and not missing and (node.op_type, text) not in KNOWN:
                        found[node.op_type, constraint.type_param_str, problem].add(text)
    return found, count


@unittest.skipUnless(onnx, "onnx and numpy are not installed")
class Types(unittest.TestCase):
    def test_every_allowed_type(self):
        found, count = problems()
        lines = [f"{op} {name} {sorted(types)}: {problem}" for (op, name, problem), types in sorted(found.items())]
        self.assertFalse(lines, "\n" + "\n".join(lines))
        self.assertGreater(count, 3000)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for key, types in problems(sys.argv[1])[0].items():
            print(*key, sorted(types))
    else:
        unittest.main()
