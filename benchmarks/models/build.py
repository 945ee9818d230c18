# SPDX-License-Identifier: Apache-2.0
"""Writes the benchmark models that are missing in a folder: python build.py FOLDER."""

import pathlib
import sys

import onnx
from onnx import TensorProto, helper

import bert
import mobilenetv2
import resnet50


def build_identity(path):
    """One Identity on one float: what a call costs when there is nothing to compute."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


BUILDERS = {"identity": build_identity, "mobilenetv2": mobilenetv2.build, "resnet50": resnet50.build,
            "bert": bert.build}


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, build in BUILDERS.items():
        path = folder / f"{name}.onnx"
        if path.exists():
            continue
        partial = folder / f"{name}.partial"
        build(str(partial))
        partial.rename(path)


if __name__ == "__main__":
    main(sys.argv[1])
