# SPDX-License-Identifier: Apache-2.0
"""The models that are compared, with their inputs: one row each."""

import dataclasses
import pathlib
from typing import Callable

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT, REAL = ROOT / "build/models", ROOT / "build/real_models"


@dataclasses.dataclass
class Case:
    name: str
    family: str
    model: pathlib.Path
    make_inputs: Callable[[np.random.Generator], dict]


def image(batch, height=224, width=None):
    return lambda random: {"input": random.random((batch, 3, height, width or height), np.float32)}


def digits(batch):
    return lambda random: {"image": random.integers(0, 17, (batch, 1, 8, 8)).astype(np.float32)}


def tokens(batch, length):
    return lambda random: {"input_ids": random.integers(0, 30522, (batch, length)),
                           "attention_mask": np.ones((batch, length), np.int64),
                           "token_type_ids": np.zeros((batch, length), np.int64)}


def ids(batch, length):
    return lambda random: {"input_ids": random.integers(0, 20000, (batch, length))}


def file_bytes(batch):
    return lambda random: {"bytes": random.integers(0, 257, (batch, 2048)).astype(np.int32)}


def voice(random):
    return {"input": (random.standard_normal((1, 576)) * 0.1).astype(np.float32),
            "state": np.zeros((2, 1, 128), np.float32), "sr": np.array(16000, np.int64)}


def one(random):
    return {"x": np.ones(1, np.float32)}


def row(random):
    return {"x": random.random((1, 32), np.float32)}


def graph_of(nodes, edges):
    return lambda random: {"x": random.random((nodes, 64), np.float32), "edges": random.integers(0, nodes, (2, edges))}


def next_token(past):
    """One token, after some that a model of six layers with twelve heads has seen."""
    return lambda random: {"input_ids": random.integers(0, 50257, (1, 1)), "position_ids": np.full((1, 1), past),
                           **{f"past.{layer}.{part}": random.random((1, 12, past, 64), np.float32)
                              for layer in range(6) for part in ("key", "value")}}


# Every family counts once in a mean, however many cases it has.
CASES = (
    Case("identity", "call alone", BUILT / "identity.onnx", one),
    Case("100 operators on a row", "small networks", BUILT / "small_mlp.onnx", row),
    Case("digits, batch 1", "small networks", ROOT / "examples/digits/digits.onnx", digits(1)),
    Case("digits, batch 500", "small networks", ROOT / "examples/digits/digits.onnx", digits(500)),
    Case("silero-vad, one step", "voice", REAL / "silero-vad/silero_vad.onnx", voice),
    Case("magika, batch 1", "magika", REAL / "magika/standard_v3_3.onnx", file_bytes(1)),
    Case("magika, batch 16", "magika", REAL / "magika/standard_v3_3.onnx", file_bytes(16)),
    Case("ResNet-50, batch 1", "ResNet", BUILT / "resnet50.onnx", image(1)),
    Case("ResNet-50, batch 8", "ResNet", BUILT / "resnet50.onnx", image(8)),
    Case("MobileNetV2, batch 1", "mobile networks", BUILT / "mobilenetv2.onnx", image(1)),
    Case("MobileNetV2, batch 8", "mobile networks", BUILT / "mobilenetv2.onnx", image(8)),
    Case("MobileNetV3, batch 1", "mobile networks", BUILT / "mobilenetv3.onnx", image(1)),
    Case("EfficientNet-B0, batch 1", "mobile networks", BUILT / "efficientnet_b0.onnx", image(1)),
    Case("ConvNeXt-tiny, batch 1", "ConvNeXt", BUILT / "convnext_tiny.onnx", image(1)),
    Case("ViT-small, batch 1", "ViT", BUILT / "vit_small.onnx", image(1)),
    Case("ViT-small, batch 8", "ViT", BUILT / "vit_small.onnx", image(8)),
    Case("YOLO, 320", "detectors", BUILT / "yolo.onnx", image(1, 320)),
    Case("YOLO, 640", "detectors", BUILT / "yolo.onnx", image(1, 640)),
    Case("U-Net, 256", "U-Net", BUILT / "unet.onnx", image(1, 256)),
    Case("text detector, 480", "text in images", BUILT / "text_detector.onnx", image(1, 480)),
    Case("text recogniser, 32 x 320", "text in images", BUILT / "text_recogniser.onnx", image(1, 32, 320)),
    Case("BERT base, 16 tokens", "BERT", BUILT / "bert.onnx", tokens(1, 16)),
    Case("BERT base, 128 tokens", "BERT", BUILT / "bert.onnx", tokens(1, 128)),
    Case("BERT base, 384 tokens", "BERT", BUILT / "bert.onnx", tokens(1, 384)),
    Case("GPT step, 16 tokens before", "GPT step", BUILT / "gpt_step.onnx", next_token(16)),
    Case("GPT step, 512 tokens before", "GPT step", BUILT / "gpt_step.onnx", next_token(512)),
    Case("T5 encoder, 128 tokens", "T5", BUILT / "t5_encoder.onnx", ids(1, 128)),
    Case("LSTM tagger, 32 tokens", "recurrent", BUILT / "lstm_tagger.onnx", ids(1, 32)),
    Case("GRU tagger, 32 tokens", "recurrent", BUILT / "gru_tagger.onnx", ids(1, 32)),
    Case("graph network, 20000 edges", "graph network", BUILT / "graph_network.onnx", graph_of(2000, 20000)),
    Case("ResNet-50, QDQ per channel", "quantised images", BUILT / "resnet50_qdq.onnx", image(1)),
    Case("ResNet-50, QOperator", "quantised images", BUILT / "resnet50_qoperator.onnx", image(1)),
    Case("MobileNetV2, QDQ per channel", "quantised images", BUILT / "mobilenetv2_qdq.onnx", image(1)),
    Case("BERT base, dynamic, 128 tokens", "quantised transformers", BUILT / "bert_dynamic.onnx", tokens(1, 128)),
    Case("ViT-small, QDQ", "quantised transformers", BUILT / "vit_small_qdq.onnx", image(1)),
)
