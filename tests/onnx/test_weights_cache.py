# SPDX-License-Identifier: Apache-2.0
"""Loads with MAX_WEIGHTS_CACHE_DIR: later processes map the packed weights of earlier ones; results stay the same."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import numpy as np
    import onnx
    import library
    from message_cases import FLOAT, info, model, node, tensor
except ImportError:
    onnx = None

SIZE = 1536
NAMES = ("plain", "turned", "gemm", "deep")  # weights
RECENT_SECONDS = 2.5  # files that are newer are not kept


def write_model(path, seed):
    """Products of each form, with weights of more than 16 MiB in all, so that the file is mapped."""
    random = np.random.default_rng(seed)
    weights = [tensor(name, random.standard_normal((SIZE, SIZE), np.float32) / 40) for name in NAMES]
    nodes = [node("MatMul", ["x", "plain"], ["a"]), node("Gemm", ["a", "turned"], ["b"], transB=1),
             node("Gemm", ["b", "gemm"], ["c"], alpha=0.5), node("MatMul", ["c", "deep"], ["y"])]
    path.write_bytes(model(nodes, (info("x", FLOAT, ["n", SIZE]),), constants=weights))


def child(path):
    """Prints how many entries are mapped, and the results."""
    found = library.Model(path)
    results = found.run([np.random.default_rng(0).standard_normal((5, SIZE), np.float32)])[0]
    mapped = {line.split()[-1] for line in open("/proc/self/maps") if ".weights" in line}
    print(len(mapped), results.tobytes().hex())


@unittest.skipUnless(onnx, "no onnx")
class WeightsCache(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.path, self.entries = self.folder / "model.onnx", self.folder / "weights"
        write_model(self.path, 1)

    def start(self, cached=True, **variables):
        environment = {**os.environ, **variables}
        environment.pop("MAX_WEIGHTS_CACHE_DIR", None)
        if cached:
            environment["MAX_WEIGHTS_CACHE_DIR"] = str(self.folder)
        return subprocess.Popen([sys.executable, __file__, "--child", str(self.path)], stdout=subprocess.PIPE,
                                text=True, env=environment)

    def finish(self, process):
        output = process.communicate(timeout=120)[0].split()
        self.assertEqual(process.returncode, 0)
        return int(output[0]), output[1]

    def load(self, cached=True, **variables):
        return self.finish(self.start(cached, **variables))

    def test_later_loads_map_what_earlier_ones_packed(self):
        expected = self.load(cached=False)
        self.assertEqual(self.load(), expected, "The file is new.")
        self.assertFalse(self.entries.exists())
        time.sleep(RECENT_SECONDS)
        self.assertEqual(self.load(cached=False), expected)
        self.assertFalse(self.entries.exists())
        self.assertEqual(self.load(), expected)
        self.assertEqual(self.load(), (len(NAMES), expected[1]))

        # Another instruction set packs for itself.
        other = self.load(cached=False, MAX_CPU_TARGET="baseline")
        for _ in range(2):
            self.assertEqual(self.load(MAX_CPU_TARGET="baseline")[1], other[1])

        # Damaged entries are packed again.
        for entry in self.entries.iterdir():
            data = bytearray(entry.read_bytes())
            data[len(data) // 2] ^= 1
            entry.write_bytes(data)
        self.assertEqual(self.load(), expected)
        self.assertEqual(self.load(), (len(NAMES), expected[1]))

        # Another content of the file is another model, even with the old size and time.
        times = self.path.stat()
        write_model(self.path, 2)
        os.utime(self.path, ns=(times.st_atime_ns, times.st_mtime_ns))
        changed = self.load(cached=False)
        self.assertNotEqual(changed, expected)
        self.assertEqual(self.load(), changed)
        time.sleep(RECENT_SECONDS)
        self.assertEqual(self.load(), changed)
        self.assertEqual(self.load(), (len(NAMES), changed[1]))

    def test_processes_may_race(self):
        time.sleep(RECENT_SECONDS)
        expected = self.load(cached=False)
        for process in [self.start() for _ in range(16)]:
            self.assertEqual(self.finish(process)[1], expected[1])
        self.assertEqual(len(list(self.entries.iterdir())), len(NAMES))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    else:
        unittest.main()
