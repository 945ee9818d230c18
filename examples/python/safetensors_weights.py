# SPDX-License-Identifier: Apache-2.0
"""Gives a model the weights of a .safetensors file when it is loaded: safetensors_weights.py [FOLDER].

FOLDER, where digits.onnx, images.npy and labels.npy lie, is examples/digits by default. The file is written here first:
the last layer of a digits model whose answers are turned around, "9" for "0". With weights of your own only the three
lines of `load` matter."""

import json
import pathlib
import struct
import sys
import tempfile

import numpy as np

from max.driver import load_weights
from max.dtype import DType
from max.engine import InferenceSession
from max.graph import Graph, TensorType, Weight, ops

HERE = pathlib.Path(__file__).resolve().parent
TYPES = {"float32": "F32", "float64": "F64", "int64": "I64"}


def write_safetensors(path, arrays):
    """The format: the length of a JSON header, the header, the arrays' bytes."""
    header, offset = {}, 0
    for name, array in arrays.items():
        offsets = [offset, offset + array.nbytes]
        header[name] = {"dtype": TYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": offsets}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(array.tobytes() for array in arrays.values()))


def turned_around():
    """A layer after the digits model's probabilities; its weight comes when it is loaded."""
    with Graph("turned", input_types=[TensorType(DType.float32, ["images", 10])]) as graph:
        weight = Weight("layer.weight", DType.float32, [10, 10])
        graph.output(ops.matmul(graph.inputs[0].tensor, weight))
    return graph


def load(session, path):
    weights = load_weights(path)
    print({name: (weight.dtype, weight.shape) for name, weight in weights.items()})
    return session.load(turned_around(), weights_registry=weights)


def main(folder):
    session = InferenceSession()
    images, labels = np.load(folder / "images.npy"), np.load(folder / "labels.npy")
    probabilities = session.load(folder / "digits.onnx")(images.reshape(-1, 1, 8, 8).astype(np.float32))[0]
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / "layer.safetensors"
        write_safetensors(path, {"layer.weight": np.eye(10, dtype=np.float32)[::-1].copy()})
        answers = load(session, path)(probabilities)[0].to_numpy().argmax(axis=1)
    print(f"{(answers == 9 - labels).mean():.1%} of {len(labels)} answers are turned around")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "digits")
