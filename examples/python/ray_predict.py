# SPDX-License-Identifier: Apache-2.0
"""Classifies handwritten digits with the workers of a Ray cluster, or with a Ray of this machine: ray_predict.py [FOLDER].

FOLDER is where digits.onnx, images.npy and labels.npy lie, on all machines. RAY_ADDRESS names the cluster."""

import pathlib
import sys

import numpy as np
import ray
import ray.data

from max.ray import predict

HERE = pathlib.Path(__file__).resolve().parent


def main(folder):
    ray.init()
    images = np.load(folder / "images.npy").reshape(-1, 1, 8, 8).astype(np.float32)
    labels = np.load(folder / "labels.npy")
    rows = [{"pixels": image, "label": label} for image, label in zip(images, labels)]
    digits = predict(
        ray.data.from_items(rows, override_num_blocks=4),
        folder / "digits.onnx",
        columns={"image": "pixels"},
        batch_size=100,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=2),
    )
    right = sum(
        (batch["probabilities"].argmax(axis=1) == batch["label"]).sum() for batch in digits.iter_batches(batch_size=100)
    )
    print(f"accuracy {right / len(rows):.1%} of {len(rows)} images")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "digits")
