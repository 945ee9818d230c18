# SPDX-License-Identifier: Apache-2.0
"""What the cache of packed weights saves: python warm_loads.py [ROUNDS].

Loads of ONNX Runtime, of MAX, and of MAX with a cache that has all entries, in processes of their own that take turns, on
one thread. Ends with 1 if the last takes more than a tenth of the first for BERT base."""

import os
import pathlib
import statistics
import sys
import tempfile

import numpy as np

from cases import CASES, ROOT
from compare import peer_library, run, touch_memory, write_inputs

MODELS = ("BERT base, 16 tokens", "ResNet-50, batch 1", "U-Net, 256", "MobileNetV2, batch 1")
LIMIT = 0.1
PEER, CACHED = "ONNX Runtime", "MAX, with the cache"


def loads(case, rounds):
    """Milliseconds by name, the medians over the rounds."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [str(case.model), "f32", "1", "0", *write_inputs(case, folder)]
        libraries = {PEER: (peer_library("onnxruntime"), ""), "MAX": ("max", ""), CACHED: ("max", f"{folder}/cache")}
        found = {name: [] for name in libraries}
        for number in range(rounds + 1):
            for name, (library, cache) in libraries.items():
                os.environ["MAX_WEIGHTS_CACHE_DIR"] = cache
                touch_memory()
                done = run([ROOT / "build/bin/model_bench", library, *arguments])
                if number:  # the first round fills the cache
                    found[name].append(done["load_ms"])
    return {name: statistics.median(times) for name, times in found.items()}


def main(rounds):
    is_late = False
    for case in (case for case in CASES if case.name in MODELS):
        found = loads(case, rounds)
        print(f"{case.name:22} " + "  ".join(f"{name} {time:.0f} ms" for name, time in found.items()), flush=True)
        if "BERT" in case.name:
            is_late = found[CACHED] > LIMIT * found[PEER]
    return int(is_late)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
