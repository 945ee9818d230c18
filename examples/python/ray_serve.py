# SPDX-License-Identifier: Apache-2.0
"""Serves the classifier of handwritten digits and asks it as a client does: ray_serve.py [PORT].

RAY_ADDRESS names a cluster; if it serves already, PORT is where."""

import io
import json
import pathlib
import sys
import urllib.request

import numpy as np
import ray
from ray import serve

from max.ray import deployment

DIGITS = pathlib.Path(__file__).resolve().parent.parent / "digits"


def main(port):
    ray.init()
    serve.start(http_options={"port": port})
    made = deployment(
        DIGITS / "digits.onnx",
        max_batch_size=16,
        timeout=60,
        autoscaling_config={"min_replicas": 1, "max_replicas": 4},
    )
    serve.run(made.bind(), name="digits", route_prefix="/digits")
    images = np.load(DIGITS / "images.npy")[:10].reshape(-1, 1, 8, 8).astype(np.float32)

    # One image as JSON, and how long it may take.
    body = json.dumps({"image": images[:1].tolist()}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/digits", body, {"X-Timeout-Seconds": "30"})
    with urllib.request.urlopen(request) as answer:
        print("one image:", np.argmax(json.load(answer)["probabilities"]))

    # Ten as a .npy file, which is answered with one.
    file = io.BytesIO()
    np.save(file, images)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/digits", file.getvalue()) as answer:
        probabilities = np.load(io.BytesIO(answer.read()))
    print("ten images:", *probabilities.argmax(axis=1))
    serve.delete("digits")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
