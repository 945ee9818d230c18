# SPDX-License-Identifier: Apache-2.0
"""A load keeps to the threads of its session: with one, it packs weights in the calling thread."""

import os
import subprocess
import sys
import unittest

try:
    import numpy as np
    import library
    from message_cases import INT8, TensorProto, info, model, node, tensor
    from test_weights_cache import CHANNELS, NETWORKS
except ImportError:
    library = None

# Counts the threads of a process before and after it loads a model from its standard input.
PROGRAM = """
import os, sys
import library
count = lambda: len(os.listdir("/proc/self/task"))
before = count()
loaded = library.Model(sys.stdin.buffer.read(), threads=int(sys.argv[1]))
print(count() - before)
"""


def float_network(name):
    nodes, weights, norm = NETWORKS[name][0](np.random.default_rng(1))
    return model(nodes, (info("x", 1, ["n", *NETWORKS[name][1]]),), constants=[*weights, *norm])


def bytes_network():
    """A convolution and a product of quantised numbers."""
    random = np.random.default_rng(1)

    def weight(name, *shape):
        return tensor(name, random.integers(-99, 99, shape), np.int8)

    nodes = [node("ConvInteger", ["x", "filters"], ["a"], pads=[1, 1, 1, 1]), node("Cast", ["a"], ["b"], to=INT8),
             node("MatMulInteger", ["b", "matrix"], ["y"])]
    return model(nodes, (info("x", TensorProto.UINT8, ["n", CHANNELS, 8, 8]),),
                 constants=[weight("filters", CHANNELS, CHANNELS, 3, 3), weight("matrix", 8, 1 << 16)])


def started_threads(data, threads):
    """How many threads the load starts."""
    environment = dict(os.environ, MAX_NUM_THREADS="4", PYTHONPATH=os.path.dirname(os.path.abspath(__file__)))
    return int(subprocess.run([sys.executable, "-c", PROGRAM, str(threads)], input=data, env=environment, check=True,
                              stdout=subprocess.PIPE).stdout)


@unittest.skipUnless(library, "needs numpy and onnx")
class LoadThreads(unittest.TestCase):
    def test_one_thread(self):
        networks = {name: float_network(name) for name in NETWORKS} | {"bytes": bytes_network()}
        for name, data in networks.items():
            with self.subTest(name):
                self.assertEqual(started_threads(data, 1), 0)
                self.assertGreater(started_threads(data, 2), 0)


if __name__ == "__main__":
    unittest.main()
