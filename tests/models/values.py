# SPDX-License-Identifier: Apache-2.0
"""Inputs and expected outputs of a model in one .npz: arrays, strings, lists, None and dicts, without pickles."""

import json

import numpy as np

PLAIN = {"float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
         "complex64", "complex128"}


class Writer:
    def __init__(self):
        self.arrays = {}

    def array(self, array):
        key, name = f"a{len(self.arrays)}", array.dtype.name
        if array.dtype.kind in "OUS":
            texts = [text.decode() if isinstance(text, bytes) else str(text) for text in array.ravel().tolist()]
            self.arrays[key], name = np.array(texts, "U").reshape(array.shape), "string"
        else:
            # A view of bytes, since numpy's format does not know bfloat16 and narrower types.
            self.arrays[key] = array if name in PLAIN else np.ascontiguousarray(array).view(np.dtype(f"u{array.itemsize}"))
        return {"array": key, "dtype": name}

    def node(self, value):
        if value is None:
            return None
        if isinstance(value, list):
            return {"list": [self.node(part) for part in value]}
        if isinstance(value, dict):
            return {"map": [self.array(np.array(list(value))), self.array(np.array(list(value.values())))]}
        return self.array(np.asarray(value))


def save(path, sets, **facts):
    """`sets`: lists of inputs and of outputs, of which any may come out; `facts`: what else belongs to the model."""
    writer = Writer()
    tree = {**facts, "sets": [[writer.node(side) for side in group] for group in sets]}
    np.savez_compressed(path, tree=np.frombuffer(json.dumps(tree).encode(), np.uint8), **writer.arrays)


def read(node, arrays):
    if node is None:
        return None
    if "list" in node:
        return [read(part, arrays) for part in node["list"]]
    if "map" in node:
        keys, values = (read(part, arrays).tolist() for part in node["map"])
        return dict(zip(keys, values))
    array = arrays[node["array"]]
    if node["dtype"] == "string":
        return array.astype(object)
    if node["dtype"] not in PLAIN:
        import ml_dtypes
        return array.view(np.dtype(getattr(ml_dtypes, node["dtype"])))
    return array


def load(path):
    """(sets, facts)"""
    with np.load(path) as arrays:
        tree = json.loads(arrays["tree"].tobytes())
        sets = [tuple(read(side, arrays) for side in group) for group in tree.pop("sets")]
    return sets, tree
