# SPDX-License-Identifier: Apache-2.0
"""Classifies handwritten digits: digits.py [FOLDER], where digits.onnx, images.npy and labels.npy lie."""

import pathlib
import sys

import numpy as np

from max.driver import CPU
from max.engine import InferenceSession

HERE = pathlib.Path(__file__).resolve().parent


def main(folder):
    model = InferenceSession(devices=[CPU()]).load(folder / "digits.onnx")
    for spec in model.input_metadata + model.output_metadata:
        print(f"{spec.name}: {spec.dtype} {spec.shape}")
    images, labels = np.load(folder / "images.npy"), np.load(folder / "labels.npy")
    images = images.reshape(-1, 1, 8, 8).astype(np.float32)
    probabilities = model(images)[0].to_numpy()
    print(f"accuracy {(probabilities.argmax(axis=1) == labels).mean():.1%} of {len(labels)} images")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "digits")
