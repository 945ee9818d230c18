# SPDX-License-Identifier: Apache-2.0
"""What the generators of models share: random inputs, and the making of expected outputs."""

import dataclasses
import pathlib
import zlib
from typing import Any, Callable

import numpy as np

import values


@dataclasses.dataclass
class Case:
    """A model and its inputs, as a generator gives them."""
    model: Any  # bytes, a ModelProto, or the path of a file (with external data beside it)
    sets: list  # of dicts: the model's inputs by name
    rule: str = "float32"  # a key of RULES in compare.py
    framework: Callable | None = None  # gives the outputs of a set, where ONNX Runtime cannot
    note: str = ""


def seed_of(name):
    return zlib.crc32(name.encode())


def f(*shape, scale=1.0):
    return lambda random: (random.standard_normal(shape) * scale).astype(np.float32)


def u(*shape):
    return lambda random: random.random(shape, np.float32)


def i(below, *shape):
    return lambda random: random.integers(0, below, shape)


def b(*shape):
    return lambda random: random.random(shape) < 0.7


def drawn(sets, seed):
    """Sets of arrays; parts that are functions draw them."""
    random = np.random.default_rng(seed)
    return [[part(random) if callable(part) else np.asarray(part) for part in group] for group in sets]


def varying_axes(sets):
    """Per input {axis: name} of the sizes that differ between sets; sizes that go together have one name."""
    names, axes = {}, []
    for arrays in zip(*sets):
        axes.append({})
        for axis in range(arrays[0].ndim):
            sizes = tuple(array.shape[axis] for array in arrays)
            if len(set(sizes)) > 1:
                axes[-1][axis] = names.setdefault(sizes, f"d{len(names)}")
    return axes


INTEGER_OPERATORS = ("MatMulInteger", "ConvInteger", "QAttention", "DynamicQuantizeLSTM", "DynamicQuantizeMatMul")


def runtime_session(model, operators=()):
    """A session that rounds as the operators are defined: products of 8-bit numbers must not saturate in 16 bits, as they
    do on processors of some years ago, and what stands between QuantizeLinear and DequantizeLinear is in float32. (Of
    QLinearConv and QGemm there are no such kernels; their weights have a bit less.)"""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 2
    if any(name.startswith(INTEGER_OPERATORS) for name in operators):
        options.add_session_config_entry("session.x64quantprecision", "1")
    elif "DequantizeLinear" in operators:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def for_runtime(model):
    """The model as ONNX Runtime is given it: without leave to round inputs of MatMulNBits to 8 bits, which it takes and others
    need not, and with the one locale that all systems have, which nothing but the case of letters depends on."""
    import onnx
    proto = onnx.load_from_string(model)
    for node in proto.graph.node:
        kept = [attribute for attribute in node.attribute if attribute.name != "accuracy_level"]
        del node.attribute[:]
        node.attribute.extend(kept)
        if node.op_type == "StringNormalizer" and all(attribute.name != "locale" for attribute in kept):
            node.attribute.append(onnx.helper.make_attribute("locale", "C"))
    return proto.SerializeToString()


def facts_of(model):
    """(names of inputs, types of operators)"""
    import onnx
    proto = onnx.load(model, load_external_data=False) if isinstance(model, str) else onnx.load_from_string(model)
    return inputs_of(proto), {node.op_type for node in proto.graph.node}


def inputs_of(proto):
    weights = {tensor.name for tensor in proto.graph.initializer}
    return [value.name for value in proto.graph.input if value.name not in weights]


def plain(value):
    """Outputs of ONNX Runtime and frameworks as values.py takes them."""
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value


def expected(case, model):
    """(outputs of each set, each a list of those that are right; who gave them; why it was not ONNX Runtime)"""
    names, operators = facts_of(model)
    forms = [for_runtime(model) if operators & {"MatMulNBits", "StringNormalizer"} else model]
    if case.rule == "quantised" and "MatMulNBits" in operators:
        forms.append(model)  # with the leave that for_runtime() takes away
    try:
        sessions = [runtime_session(form, operators) for form in forms]
        inputs = [{name: data[name] for name in names} for data in case.sets]
        return [[plain(session.run(None, given)) for session in sessions] for given in inputs], "onnxruntime", ""
    except Exception as error:  # ONNX Runtime has no common class for its exceptions
        if case.framework is None:
            raise
        reason = str(error).strip().splitlines()[0][:200]
        return [[plain(case.framework(data))] for data in case.sets], "framework", reason


def serialized(proto, name):
    proto.graph.name = name  # converters draw a random one
    return proto.SerializeToString(deterministic=True)


def finish(case, path):
    """Writes path.onnx and path.npz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.with_suffix(".onnx")
    if isinstance(case.model, pathlib.Path):
        model = str(case.model)
    else:
        model = case.model if isinstance(case.model, bytes) else serialized(case.model, path.name)
        file.write_bytes(model)
    outputs, source, reason = expected(case, model)
    names, _ = facts_of(model)
    sets = [([data[name] for name in names], *right) for data, right in zip(case.sets, outputs)]
    values.save(path.with_suffix(".npz"), sets, rule=case.rule, source=source, reason=reason, note=case.note)
