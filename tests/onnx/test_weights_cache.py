# SPDX-License-Identifier: Apache-2.0
"""Loads with MAX_WEIGHTS_CACHE_DIR, or with a folder among the session's options: later processes map the packed weights of
earlier ones; results stay the same."""

import hashlib
import os
import pathlib
import shlex
import shutil
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
CHANNELS = 512
OWN_MOUNTS = ["unshare", "--user", "--map-root-user", "--mount"]
RECENT_SECONDS = 2.5  # files that are newer are not kept


def products(random):
    """Products of each form; both networks have more than 16 MiB, so that the file is mapped."""
    weights = [tensor(name, random.standard_normal((SIZE, SIZE), np.float32) / 40)
               for name in ("plain", "turned", "gemm", "deep")]
    nodes = [node("MatMul", ["x", "plain"], ["a"]), node("Gemm", ["a", "turned"], ["b"], transB=1),
             node("Gemm", ["b", "gemm"], ["c"], alpha=0.5), node("MatMul", ["c", "deep"], ["y"])]
    return nodes, weights, []


def convolutions(random):
    """Winograd's method with both sizes of tiles, direct ones with and without groups, transposed ones with taps that
    meet and that do not, and one whose weights take the factors of a BatchNormalization."""
    c = CHANNELS

    def weight(name, *shape):
        return tensor(name, random.standard_normal(shape, np.float32) / np.float32(np.sqrt(np.prod(shape[1:]))))

    weights = [weight("small", c, c, 3, 3), weight("rows", c, c // 2, 2, 2), weight("large", c // 2, c // 2, 3, 3),
               weight("point", c, c // 2, 1, 1), weight("groups", c, c // 4, 3, 3), weight("taps", c, 64, 3, 3)]
    norm = [tensor(name, random.random(c // 2, np.float32) + np.float32(0.5))
            for name in ("scale", "bias", "mean", "var")]
    same = {"pads": [1, 1, 1, 1]}
    nodes = [node("Conv", ["x", "small"], ["a"], **same), node("ConvTranspose", ["a", "rows"], ["b"], strides=[2, 2]),
             node("Conv", ["b", "large"], ["c"], **same),
             node("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["d"]),
             node("Conv", ["d", "point"], ["e"]), node("Conv", ["e", "groups"], ["f"], group=4, strides=[2, 2], **same),
             node("ConvTranspose", ["f", "taps"], ["y"], strides=[2, 2], dilations=[2, 2])]
    return nodes, weights, norm


NETWORKS = {"products": (products, [SIZE]), "convolutions": (convolutions, [CHANNELS, 8, 8])}


def write_model(path, network, seed):
    """Returns how many weights it has that are packed."""
    make, shape = NETWORKS[network]
    nodes, weights, others = make(np.random.default_rng(seed))
    path.write_bytes(model(nodes, (info("x", FLOAT, ["n", *shape]),), constants=weights + others))
    return len(weights)


def child(path, network, folder=None):
    """Prints how many entries are mapped, and the results."""
    found = library.Model(path, weights_cache=folder)
    shape = [2, *NETWORKS[network][1]]
    results = found.run([np.random.default_rng(0).standard_normal(shape, np.float32)])[0]
    mapped = {line.split()[-1] for line in open("/proc/self/maps") if ".weights" in line}
    print(len(mapped), hashlib.sha256(results.tobytes()).hexdigest())


def can_mount():
    return subprocess.run([*OWN_MOUNTS, "true"], capture_output=True).returncode == 0


@unittest.skipUnless(onnx, "no onnx")
class WeightsCache(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.path, self.entries = self.folder / "model.onnx", self.folder / "cache/weights"
        self.network = "products"

    def write(self, network, seed):
        self.network = network
        self.count = write_model(self.path, network, seed)

    def start(self, cached=True, before="", folder=None, **variables):
        """`before`: commands of a shell that has its own mounts. `folder`: the session's."""
        environment = {**os.environ, **variables}
        environment.pop("MAX_WEIGHTS_CACHE_DIR", None)
        if cached:
            environment["MAX_WEIGHTS_CACHE_DIR"] = str(self.entries.parent)
        command = [sys.executable, __file__, "--child", str(self.path), self.network, *([] if folder is None else [str(folder)])]
        if before:
            command = [*OWN_MOUNTS, "sh", "-c", f"set -e; {before}; exec {shlex.join(command)}"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    def finish(self, process):
        output = process.communicate(timeout=120)[0].split()
        self.assertEqual(process.returncode, 0)
        return int(output[0]), output[1]

    def load(self, cached=True, **variables):
        return self.finish(self.start(cached, **variables))

    def test_later_loads_map_what_earlier_ones_packed(self):
        for network in NETWORKS:
            with self.subTest(network):
                self.check_network(network)
                shutil.rmtree(self.entries)

    def is_recent(self):
        """Whether the file is still so new that no load can have kept anything, however slow the machine is."""
        return time.time() - self.path.stat().st_ctime < RECENT_SECONDS / 2

    def check_network(self, network):
        self.write(network, 1)
        expected = self.load(cached=False)
        self.assertEqual(self.load(), expected, "The file is new.")
        if self.is_recent():
            self.assertFalse(self.entries.exists())
        time.sleep(RECENT_SECONDS)
        shutil.rmtree(self.entries, ignore_errors=True)
        self.assertEqual(self.load(cached=False), expected)
        self.assertFalse(self.entries.exists())
        self.assertEqual(self.load(), expected)
        self.assertEqual(self.load(), (self.count, expected[1]))

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
        self.assertEqual(self.load(), (self.count, expected[1]))

        # Another content of the file is another model, even with the old size and time.
        times = self.path.stat()
        self.write(network, 2)
        os.utime(self.path, ns=(times.st_atime_ns, times.st_mtime_ns))
        changed = self.load(cached=False)
        self.assertNotEqual(changed, expected)
        self.assertEqual(self.load(), changed)
        nothing_kept = self.is_recent()
        time.sleep(RECENT_SECONDS)
        packed = self.load()
        self.assertEqual(packed if nothing_kept else (0, packed[1]), changed)
        self.assertEqual(self.load(), (self.count, changed[1]))

    def test_a_session_may_name_the_folder(self):
        self.write("products", 1)
        time.sleep(RECENT_SECONDS)
        expected = self.load(folder="")
        self.assertFalse(self.entries.exists(), "The session wants none.")
        other = self.folder / "other"
        for mapped in (0, self.count):
            self.assertEqual(self.load(folder=other), (mapped, expected[1]))
        self.assertFalse(self.entries.exists(), "The session's folder comes first.")
        self.assertEqual(self.load(cached=False, folder=other), (self.count, expected[1]))
        self.assertEqual(len(list((other / "weights").iterdir())), self.count)

    def test_processes_may_race(self):
        self.write("convolutions", 1)
        time.sleep(RECENT_SECONDS)
        expected = self.load(cached=False)
        for process in [self.start() for _ in range(16)]:
            self.assertEqual(self.finish(process)[1], expected[1])
        self.assertEqual(len(list(self.entries.iterdir())), self.count)

    @unittest.skipUnless(can_mount(), "file systems cannot be mounted here")
    def test_disks_may_be_full_and_folders_read_only(self):
        self.write("convolutions", 1)
        time.sleep(RECENT_SECONDS)
        expected = self.load(cached=False)
        self.entries.parent.mkdir()
        folder = shlex.quote(str(self.entries.parent))
        read_only = f"mount --bind {folder} {folder}; mount -o remount,bind,ro {folder}"
        full = f"mount -t tmpfs -o size=3m none {folder}"
        for before in (read_only, full):
            self.assertEqual(self.finish(self.start(before=before)), expected, before)
        self.assertFalse(self.entries.exists())
        self.load()
        self.assertEqual(self.finish(self.start(before=read_only)), (self.count, expected[1]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        unittest.main()
