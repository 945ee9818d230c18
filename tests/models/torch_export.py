# SPDX-License-Identifier: Apache-2.0
"""PyTorch modules through both of its exporters."""

import inspect
import io
import logging
import pathlib
import tempfile
import warnings

import numpy as np
import torch

import suite

warnings.filterwarnings("ignore")
for noisy in ("torch.onnx", "torch.export", "torch.fx", "onnxscript", "onnx_ir", "torch.utils.flop_counter"):
    logging.getLogger(noisy).setLevel(logging.CRITICAL)
torch.set_num_threads(1)  # sums in one order, whatever the machine
torch.backends.mha.set_fastpath_enabled(False)  # its operators cannot be exported


def tensors(arrays):
    return tuple(torch.from_numpy(np.array(array)) for array in arrays)


def flat(outputs):
    """The outputs of a module as the exporters list them."""
    if isinstance(outputs, torch.Tensor):
        return [outputs.detach().numpy()]
    if isinstance(outputs, dict):
        outputs = list(outputs.values())
    return [part for output in outputs if output is not None for part in flat(output)]


def by_script(module, arrays, names, axes, opset=None):
    """The exporter that goes through TorchScript."""
    file = io.BytesIO()
    torch.onnx.export(module, tensors(arrays), file, dynamo=False, input_names=names, opset_version=opset,
                      dynamic_axes={name: part for name, part in zip(names, axes) if part})
    return file.getvalue()


def by_dynamo(module, arrays, names, axes, opset=None):
    """The exporter that goes through torch.export."""
    shapes = tuple({axis: torch.export.Dim.DYNAMIC for axis in part} for part in axes)
    if inspect.signature(module.forward).parameters.keys() == {"arguments"}:
        shapes = (shapes,)  # of a function that takes *arguments
    program = torch.onnx.export(module, tensors(arrays), dynamo=True, input_names=names, dynamic_shapes=shapes,
                                opset_version=opset, verbose=False)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        program.save(path)
        return path.read_bytes()


EXPORTERS = {"script": by_script, "dynamo": by_dynamo}
FROM_PYTORCH = ("bfloat16",)  # ONNX Runtime has no arithmetic on it for CPUs


def case(name, make, sets, exporter, opset=None, rule="float32"):
    torch.manual_seed(suite.seed_of(name))
    module = make()
    if isinstance(module, torch.nn.Module):
        module.eval()
    arrays = suite.drawn(sets, suite.seed_of(name))
    names = [f"x{number}" for number in range(len(arrays[0]))]
    with torch.no_grad():
        model = EXPORTERS[exporter](module, arrays[0], names, suite.varying_axes(arrays), opset)

    def framework(data):
        with torch.no_grad():
            return flat(module(*tensors(data[name] for name in names)))
    return suite.Case(model, [dict(zip(names, group)) for group in arrays], rule, framework if name in FROM_PYTORCH else None)


def cases(table):
    """Rows: name, function that makes the module, sets of inputs; then "script", "dynamo" or "both", and an opset."""
    for name, make, sets, *rest in table:
        which, opset = (list(rest) + ["both", None])[0] if rest else "both", rest[1] if len(rest) > 1 else None
        for exporter in EXPORTERS if which == "both" else (which,):
            full = f"{name}_{exporter}" + (f"_{opset}" if opset else "")
            yield full, lambda n=name, m=make, s=sets, e=exporter, o=opset: case(n, m, s, e, o)
