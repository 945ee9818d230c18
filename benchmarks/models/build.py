# SPDX-License-Identifier: Apache-2.0
"""Writes the benchmark models that are missing in a folder, or those named: python build.py FOLDER [NAME...]."""

import pathlib
import sys

import onnx
from onnx import TensorProto, helper

import bert
import mobilenetv2
import quantised
import resnet50
import sequences
import vision


def build_identity(path):
    """One Identity on one float: what a call costs when there is nothing to compute."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


BUILDERS = {
    "identity": build_identity,
    "mobilenetv2": mobilenetv2.build,
    "resnet50": resnet50.build,
    "bert": bert.build,
    "mobilenetv3": vision.build_mobilenet_v3,
    "efficientnet_b0": vision.build_efficientnet,
    "convnext_tiny": vision.build_convnext,
    "vit_small": vision.build_vit,
    "yolo": vision.build_yolo,
    "unet": vision.build_unet,
    "text_detector": vision.build_text_detector,
    "text_recogniser": sequences.build_text_recogniser,
    "gpt_step": sequences.build_gpt_step,
    "t5_encoder": sequences.build_t5,
    "lstm_tagger": lambda path: sequences.build_tagger(path, "LSTM", 4),
    "gru_tagger": lambda path: sequences.build_tagger(path, "GRU", 3),
    "graph_network": sequences.build_graph_network,
    "small_mlp": sequences.build_small_mlp,
    "resnet50_qdq": lambda path: quantised.build_static(path, "resnet50", "QDQ", per_channel=True),
    "resnet50_qoperator": lambda path: quantised.build_static(path, "resnet50", "QOperator", per_channel=False),
    "mobilenetv2_qdq": lambda path: quantised.build_static(path, "mobilenetv2", "QDQ", per_channel=True),
    "bert_dynamic": lambda path: quantised.build_dynamic(path, "bert"),
    "vit_small_qdq": lambda path: quantised.build_static(path, "vit_small", "QDQ", per_channel=False),
}


def main(folder, *names):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or BUILDERS:
        path = folder / f"{name}.onnx"
        if path.exists():
            continue
        print(f"writing {path}", file=sys.stderr)
        partial = folder / f"{name}.partial"
        BUILDERS[name](str(partial))
        partial.rename(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
