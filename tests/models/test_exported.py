# SPDX-License-Identifier: Apache-2.0
"""The committed models of exporters and converters, each a test; see run_models.py for the whole suite."""

import pathlib
import unittest

import run_models

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "data/models/exported"
FEWEST = 40  # of the files that must be there


@unittest.skipIf(run_models.library is None, "numpy is not installed")
class Exported(unittest.TestCase):
    def test_all_are_there(self):
        names = {path.stem for path in FOLDER.rglob("*.onnx")}
        self.assertEqual(names, {path.stem for path in FOLDER.rglob("*.npz")})
        self.assertGreaterEqual(len(names), FEWEST)


def test_of(path):
    return lambda self: self.assertEqual(run_models.problem_of(path), "")


for file in sorted(FOLDER.rglob("*.onnx")):
    setattr(Exported, f"test_{file.parent.name}_{file.stem}", test_of(file))

if __name__ == "__main__":
    unittest.main()
