# SPDX-License-Identifier: Apache-2.0
"""ONNX's node tests and models in the forms of exporters again, every one saved compiled and loaded from that."""

import contextlib
import ctypes
import os
import tempfile
import unittest

try:
    import onnx
    import library
    import test_declared_shapes
    import test_exported_forms
    import test_nodes
except ImportError:
    onnx = None


@contextlib.contextmanager
def every_model_is_saved():
    """Counts the models, in a list of one number."""
    plain, count = library.Model, [0]

    class Saved(plain):
        def __init__(self, data):
            super().__init__(data)
            path = os.path.join(folder, "model.maxc").encode()
            library.call("maxModelSave", self.model, path)
            self.model = library.Handle("maxModelRelease")
            library.call("maxModelLoad", self.session, path, None, ctypes.byref(self.model))
            count[0] += 1

    with tempfile.TemporaryDirectory() as folder:
        library.Model = Saved
        try:
            yield count
        finally:
            library.Model = plain


@unittest.skipUnless(onnx, "onnx and numpy are not installed")
class SavedModels(unittest.TestCase):
    def test_all_cases(self):
        with every_model_is_saved() as count:
            _, details = test_nodes.run_all()
        failed = [f"{name}: {detail}" for outcome, name, detail in details if outcome == "failed"]
        self.assertFalse(failed, "\n" + "\n".join(failed))
        self.assertGreater(count[0], 1800)

    def test_models_of_exporters(self):
        for module in (test_declared_shapes, test_exported_forms):
            result = unittest.TestResult()
            with every_model_is_saved() as count:
                unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
            self.assertFalse(result.errors + result.failures)
            self.assertGreater(count[0], 50)


if __name__ == "__main__":
    unittest.main()
