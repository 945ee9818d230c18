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
    model: pathlib.Path
    make_inputs: Callable[[np.random.Generator], dict]


def image(batch):
    return lambda random: {"input": random.random((batch, 3, 224, 224), np.float32)}


def digits(batch):
    return lambda random: {"image": random.integers(0, 17, (batch, 1, 8, 8)).astype(np.float32)}


def tokens(batch, length):
    return lambda random: {"input_ids": random.integers(0, 30522, (batch, length)),
                           "attention_mask": np.ones((batch, length), np.int64),
                           "token_type_ids": np.zeros((batch, length), np.int64)}


def file_bytes(batch):
    return lambda random: {"bytes": random.integers(0, 257, (batch, 2048)).astype(np.int32)}


def voice(random):
    return {"input": (random.standard_normal((1, 576)) * 0.1).astype(np.float32),
            "state": np.zeros((2, 1, 128), np.float32), "sr": np.array(16000, np.int64)}


CASES = (
    Case("identity", BUILT / "identity.onnx", lambda random: {"x": np.ones(1, np.float32)}),
    Case("digits, batch 1", ROOT / "examples/digits/digits.onnx", digits(1)),
    Case("digits, batch 500", ROOT / "examples/digits/digits.onnx", digits(500)),
    Case("silero-vad, one step", REAL / "silero-vad/silero_vad.onnx", voice),
    Case("magika, batch 1", REAL / "magika/standard_v3_3.onnx", file_bytes(1)),
    Case("magika, batch 16", REAL / "magika/standard_v3_3.onnx", file_bytes(16)),
    Case("MobileNetV2, batch 1", BUILT / "mobilenetv2.onnx", image(1)),
    Case("MobileNetV2, batch 4", BUILT / "mobilenetv2.onnx", image(4)),
    Case("ResNet-50, batch 1", BUILT / "resnet50.onnx", image(1)),
    Case("BERT base, 16 tokens", BUILT / "bert.onnx", tokens(1, 16)),
    Case("BERT base, 128 tokens", BUILT / "bert.onnx", tokens(1, 128)),
)
