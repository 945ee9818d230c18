# SPDX-License-Identifier: Apache-2.0
"""The checks around the suites in C can fail: test_seeded_faults.py PROGRAM, which has the fault that it is told to have."""

import os
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)
# A fault, and what the suite says about it.
FAULTS = {
    "assertion": "test_some_work",
    "leak_in_test": "objects are still alive",
    "setup": "GROUP SETUP",
    "assertion_in_setup": "GROUP SETUP",
    "assertion_in_teardown": "the group's teardown failed",
    "leak_in_driver": "the driver still has",
    "race": "the driver saw 1 violations",
    "race_of_kernels": "the driver saw 1 violations",
}


def run(fault, **variables):
    return subprocess.run([PROGRAM, fault], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          env={**os.environ, **variables})


class SeededFaults(unittest.TestCase):
    def test_no_fault(self):
        done = run("none")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_faults(self):
        for fault, words in FAULTS.items():
            with self.subTest(fault):
                done = run(fault)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(words, done.stdout)

    def test_driver_that_ends_the_process(self):
        self.assertEqual(run("none", FAKE_GPU_ABORT="1").returncode, 0)
        done = run("race", FAKE_GPU_ABORT="1")
        self.assertIn("fake GPU: race", done.stdout)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("the driver saw", done.stdout)


if __name__ == "__main__":
    unittest.main()
