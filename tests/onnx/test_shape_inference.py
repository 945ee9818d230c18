# SPDX-License-Identifier: Apache-2.0
"""Shape rules against ONNX's node tests: every case is built through the graph API, node by node, once with the
shapes of its data and once with a symbol for each dimension. What is inferred must fit the data in both; symbolic
results are compared by putting the data's sizes in place of the symbols, and must know what onnx.shape_inference knows.

`test_shape_inference.py FILTER` shows the cases whose names contain FILTER."""

import collections
import ctypes
import sys
import unittest
import warnings

try:
    import numpy as np
    import onnx
    from onnx.backend.test.loader import load_model_tests
    import library
except ImportError:
    onnx = None

# Cases whose data and rules cannot agree, with the reason.
KNOWN = {
    "test_dropout_random_old": "Dropout in the form of opset 7",
    "test_loop11": "Unsqueeze in the form of opset 11",
    "test_scan_sum": "Scan in the form of opset 8",
}
MAX_CONSTANT = 64  # elements of inputs that are given as constants


def text(name):
    return name.encode() if name else None


class Builder:
    """A graph under construction; `values` maps names to MaxGraphValue pointers, those of outer graphs too."""

    def __init__(self, name="graph", parent=None):
        self.graph = library.Handle("maxGraphRelease")
        self.values = dict(parent.values) if parent else {}
        if parent:
            library.call("maxGraphCreateSubgraph", parent.graph, text(name), ctypes.byref(self.graph))
        else:
            library.call("maxGraphCreate", text(name), ctypes.byref(self.graph))

    def add_input(self, name, dtype, shape, names):
        rank = len(shape)
        dims = (ctypes.c_int64 * max(rank, 1))(*[-1 if n else s for s, n in zip(shape, names)])
        options = library.graph_input_options([text(n) for n in names])
        self.values[name] = value = ctypes.c_void_p()
        library.call("maxGraphAddInput", self.graph, text(name), ctypes.c_int32(library.DTYPES[dtype]),
                     ctypes.c_int32(rank), dims, options, ctypes.byref(value))

    def add_constant(self, name, array):
        self.values[name] = value = ctypes.c_void_p()
        buffer = buffer_of(array)
        library.call("maxGraphAddConstant", self.graph, text(name), buffer, ctypes.byref(value))

    def add_node(self, node):
        inputs = (ctypes.c_void_p * max(len(node.input), 1))()
        for i, name in enumerate(node.input):
            inputs[i] = self.values[name].value if name else None
        outputs = (ctypes.c_void_p * max(len(node.output), 1))()
        attributes = self.attributes_of(node)
        library.call("maxGraphAddNode", self.graph, text(node.domain), text(node.op_type), text(node.name), inputs,
                     ctypes.c_int32(len(node.input)), attributes, outputs, ctypes.c_int32(len(node.output)))
        for name, pointer in zip(node.output, outputs):
            self.values[name] = ctypes.c_void_p(pointer)

    def attributes_of(self, node):
        attributes = library.Handle("maxAttributesRelease")
        library.call("maxAttributesCreate", ctypes.byref(attributes))
        for entry in node.attribute:
            self.set_attribute(attributes, text(entry.name), onnx.helper.get_attribute_value(entry), entry.type)
        return attributes

    def set_attribute(self, attributes, name, value, kind):
        types = onnx.AttributeProto
        if kind == types.INT:
            library.call("maxAttributesSetInt", attributes, name, ctypes.c_int64(value))
        elif kind == types.FLOAT:
            library.call("maxAttributesSetFloat", attributes, name, ctypes.c_float(value))
        elif kind == types.STRING:
            library.call("maxAttributesSetString", attributes, name, value)
        elif kind == types.INTS:
            library.call("maxAttributesSetInts", attributes, name, (ctypes.c_int64 * max(len(value), 1))(*value),
                         ctypes.c_int32(len(value)))
        elif kind == types.FLOATS:
            library.call("maxAttributesSetFloats", attributes, name, (ctypes.c_float * max(len(value), 1))(*value),
                         ctypes.c_int32(len(value)))
        elif kind == types.STRINGS:
            library.call("maxAttributesSetStrings", attributes, name, (ctypes.c_char_p * max(len(value), 1))(*value),
                         ctypes.c_int32(len(value)))
        elif kind == types.TENSOR:
            library.call("maxAttributesSetTensor", attributes, name, buffer_of(onnx.numpy_helper.to_array(value)))
        elif kind == types.GRAPH:
            library.call("maxAttributesSetGraph", attributes, name, self.subgraph_of(value).graph)
        else:
            raise NotImplementedError(f"attribute of type {kind}")

    def subgraph_of(self, proto):
        inner = Builder(proto.name, self)
        for value in proto.input:
            tensor = value.type.tensor_type
            if not tensor.elem_type:
                raise NotImplementedError("values that are not tensors")
            dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
            sizes = [d.dim_value if d.HasField("dim_value") else -1 for d in tensor.shape.dim]
            inner.add_input(value.name, dtype, sizes, [None] * len(sizes))
        inner.build(proto)
        for value in proto.output:
            library.call("maxGraphAddOutput", inner.graph, inner.values[value.name], text(value.name))
        return inner

    def build(self, proto):
        for tensor in proto.initializer:
            self.add_constant(tensor.name, onnx.numpy_helper.to_array(tensor))
        for node in proto.node:
            self.add_node(node)

    def type_of(self, name):
        """(dtype, dims) where a dimension is a number, an expression, or None; dims is None without a rank."""
        info = library.TensorInfo.of("maxGraphValueGetInfo", self.values[name])
        if info.rank < 0:
            return library.NAMES.get(info.dtype), None
        dims = []
        for i in range(info.rank):
            label = info.dimensionNames[i]
            label = None if label and b"?" in label else label  # nothing is known of it
            dims.append(info.shape[i] if info.shape[i] >= 0 else label and label.decode())
        return library.NAMES.get(info.dtype), dims


def buffer_of(array):
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    buffer, device = library.Handle("maxBufferRelease"), library.Handle("maxDeviceRelease")
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    library.call("maxDeviceCreate", b"cpu", ctypes.c_int32(-1), None, ctypes.byref(device))
    library.call("maxBufferWrap", device, ctypes.c_void_p(array.ctypes.data),
                 ctypes.c_int32(library.DTYPES[array.dtype.name]), ctypes.c_int32(array.ndim), shape, None,
                 ctypes.byref(buffer))
    buffer.array = array
    return buffer


def is_plain(value):
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.name in library.DTYPES


def is_constant(index, array, node):
    """Small lists that say how a shape becomes another; the data itself stays an input."""
    leading = node.op_type in ("ConstantOfShape", "Range")
    return array.ndim <= 1 and array.size <= MAX_CONSTANT and (index > 0 or leading) and node.op_type != "Gather"


def inputs_of(case):
    """(name, array, is it a constant) of each input that is given."""
    proto, arrays = case.model.graph, case.data_sets[0][0]
    first = proto.node[0]
    for value, array in zip(proto.input, arrays):
        index = list(first.input).index(value.name) if value.name in first.input else 0
        yield value.name, np.asarray(array), is_constant(index, np.asarray(array), first)


def inferred(case, symbolic):
    """The outputs' types, and the sizes that the symbols stand for."""
    builder, sizes = Builder(case.name), {}
    for i, (name, array, constant) in enumerate(inputs_of(case)):
        if constant:
            builder.add_constant(name, array)
            continue
        labels = [f"s{i}_{k}" if symbolic else None for k in range(array.ndim)]
        sizes.update({label: size for label, size in zip(labels, array.shape) if label})
        builder.add_input(name, array.dtype.name, array.shape, labels)
    builder.build(case.model.graph)
    return [builder.type_of(value.name) for value in case.model.graph.output], sizes


def inferred_by_onnx(case):
    """The dimensions that onnx.shape_inference finds with the same symbols; a dimension it does not know is None."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    for value in list(model.graph.output):
        value.type.tensor_type.ClearField("shape")
    for i, (name, array, constant) in enumerate(inputs_of(case)):
        value = next(v for v in model.graph.input if v.name == name)
        if constant:
            model.graph.input.remove(value)
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
            continue
        value.type.tensor_type.ClearField("shape")
        for k in range(array.ndim):
            value.type.tensor_type.shape.dim.add().dim_param = f"s{i}_{k}"
        if array.ndim == 0:
            value.type.tensor_type.shape.SetInParent()
    result = onnx.shape_inference.infer_shapes(model, data_prop=True)
    outputs = []
    for value in result.graph.output:
        tensor = value.type.tensor_type
        known = [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim]
        outputs.append(known if tensor.HasField("shape") else None)
    return outputs


def evaluated(dim, sizes):
    if dim is None or isinstance(dim, int):
        return dim
    return eval(dim, {"floordiv": lambda a, b: a // b, "min": min, "max": max, **sizes})


def problem_of(case, types, sizes):
    expected = case.data_sets[0][1]
    for i, ((dtype, dims), array) in enumerate(zip(types, expected)):
        if not is_plain(array):
            continue
        if dtype != array.dtype.name:
            return f"output {i} is {dtype}, not {array.dtype.name}"
        if dims is None:
            continue
        if len(dims) != array.ndim:
            return f"output {i} is {dims}, not {list(array.shape)}"
        found = [evaluated(dim, sizes) for dim in dims]
        if any(dim is not None and dim != size for dim, size in zip(found, array.shape)):
            return f"output {i} is {dims} = {found}, not {list(array.shape)}"
    return ""


def weakness_of(case, types):
    """What onnx.shape_inference knows and we do not."""
    try:
        reference = inferred_by_onnx(case)
    except Exception:
        return ""  # it refuses the model
    for i, ((_, dims), known) in enumerate(zip(types, reference)):
        if known is not None and dims is None:
            return f"output {i} has no rank, onnx: {known}"
        if known is None or dims is None:
            continue
        for dim, other in zip(dims, known):
            invented = isinstance(other, str) and not other.startswith("s")
            if dim is None and other is not None and not invented:
                return f"output {i} is {dims}, onnx: {known}"
    return ""


def has_old_form(case):
    """Reductions had their axes as an attribute before opset 18, DFT its axis before opset 20."""
    return any((node.op_type.startswith("Reduce") and any(a.name == "axes" for a in node.attribute))
               or (node.op_type == "DFT" and any(a.name == "axis" for a in node.attribute))
               for node in case.model.graph.node)


def run_case(case):
    """(outcome, detail): fits, weaker, failed or skipped."""
    if case.name in KNOWN:
        return "skipped", KNOWN[case.name]
    inputs = case.data_sets[0][0]
    if has_old_form(case):
        return "skipped", "an older form of its operator"
    if not case.model.graph.node or not all(is_plain(value) for value in inputs):
        return "skipped", "values that are not tensors"
    try:
        for symbolic in (False, True):
            types, sizes = inferred(case, symbolic)
            problem = problem_of(case, types, sizes)
            if problem:
                return "failed", ("symbolic: " if symbolic else "") + problem
    except NotImplementedError as error:
        return "skipped", str(error)
    except library.Failure as failure:
        return ("skipped" if failure.status == library.UNIMPLEMENTED else "failed"), str(failure)
    weakness = weakness_of(case, types)
    return ("weaker", weakness) if weakness else ("fits", "")


def run_all(part=""):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in load_model_tests(kind="node") if part in case.name]
    return [(case, *run_case(case)) for case in cases]


@unittest.skipUnless(onnx, "onnx and numpy are not installed")
class ShapeInference(unittest.TestCase):
    def test_all_cases(self):
        counts, wrong = collections.Counter(), []
        for case, outcome, detail in run_all():
            counts[outcome] += 1
            if outcome in ("failed", "weaker"):
                wrong.append(f"{case.name}: {outcome}: {detail}")
        print(dict(counts))
        self.assertFalse(wrong, "\n" + "\n".join(wrong))
        self.assertGreater(counts["fits"], 1000)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for shown, result, reason in run_all(sys.argv[1]):
            print(f"{result:8} {shown.name}: {reason}")
    else:
        unittest.main()
