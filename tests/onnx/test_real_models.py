# SPDX-License-Identifier: Apache-2.0
"""Real models through `max run`, compared with ONNX Runtime on seeded inputs.

Floats agree to 1e-3 relative or 1e-4 absolute, integers exactly. Models that were not fetched are skipped."""

import os
import pathlib
import subprocess
import tempfile
import unittest

try:
    import numpy as np
    import onnxruntime
except ImportError:
    onnxruntime = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("MAX_COMMAND", str(ROOT / "build/bin/max"))
REAL, BUILT = ROOT / "build/real_models", ROOT / "build/models"
SILERO = REAL / "silero-vad"


def file_name(output):
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in output)


def max_run(model, inputs, threads=2):
    """The outputs by name, as `max run` wrote them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [COMMAND, "run", str(model), "--threads", str(threads), "--output-dir", folder, "--json"]
        for name, value in inputs.items():
            np.save(f"{folder}/input.{name}.npy", value)
            command += ["--input", f"{name}=" + f"{folder}/input.{name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"max run ended with {done.returncode}: {done.stderr}")
        return {path.stem: np.load(path) for path in pathlib.Path(folder).glob("*.npy")
                if not path.name.startswith("input.")}


@unittest.skipUnless(onnxruntime, "numpy and onnxruntime are not installed")
class RealModels(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(7)

    def reference(self, model):
        if not model.exists():
            self.skipTest(f"{model.name} is not there; ./dev test fetches it")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])

    def compare(self, model, inputs, threads=2, session=None):
        """Runs both, compares every output, and returns the expected ones by name."""
        session = session or self.reference(model)
        expected = dict(zip([output.name for output in session.get_outputs()], session.run(None, inputs)))
        actual = max_run(model, inputs, threads)
        self.assertEqual(set(actual), {file_name(name) for name in expected})
        for name, value in expected.items():
            mine = actual[file_name(name)]
            self.assertEqual((mine.dtype, mine.shape), (value.dtype, value.shape), name)
            if value.dtype.kind in "iub":
                np.testing.assert_array_equal(mine, value, err_msg=name)
            else:
                np.testing.assert_allclose(mine, value, rtol=1e-3, atol=1e-4, err_msg=name)
        return expected

    def test_digits(self):
        model = ROOT / "examples/digits/digits.onnx"
        images = np.load(ROOT / "examples/digits/images.npy").astype(np.float32)[:, None]
        for count in (1, 3, 500):
            self.compare(model, {"image": images[:count]})

    def test_magika(self):
        model = REAL / "magika/standard_v3_3.onnx"
        session = self.reference(model)
        for batch in (1, 2, 5):
            for threads in (1, 2):
                data = self.random.integers(0, 257, (batch, 2048)).astype(np.int32)
                self.compare(model, {"bytes": data}, threads, session)

    def compare_steps(self, model, shape, steps=4, **extra):
        """Steps of a voice detector that hand their state on."""
        session = self.reference(model)
        state = np.zeros((2, shape[0], 128), np.float32)
        for _ in range(steps):
            sound = (self.random.standard_normal(shape) * 0.2).astype(np.float32)
            outputs = self.compare(model, {"input": sound, "state": state, **extra}, session=session)
            state = outputs["stateN"]

    def test_silero_vad(self):
        for rate, length in ((16000, 576), (8000, 288)):
            for batch in (1, 3):
                self.compare_steps(SILERO / "silero_vad.onnx", (batch, length), sr=np.array(rate, np.int64))

    def test_silero_vad_16k_op15(self):
        for batch in (1, 2):
            self.compare_steps(SILERO / "silero_vad_16k_op15.onnx", (batch, 576), sr=np.array(16000, np.int64))

    def test_silero_vad_op18_ifless(self):
        for rate, length in ((16000, 576), (8000, 288)):
            self.compare_steps(SILERO / "silero_vad_op18_ifless.onnx", (1, length), sr=np.array(rate, np.int64))

    def test_silero_vad_half(self):
        for batch in (1, 2):
            self.compare_steps(SILERO / "silero_vad_half.onnx", (batch, 576))

    def test_silero_vad_openvino(self):
        self.compare_steps(SILERO / "silero_vad_openvino_16k.onnx", (1, 576))

    def test_silero_vad_sequence(self):
        model = SILERO / "silero_vad_16k_sequence.onnx"
        session = self.reference(model)
        state = {"h": np.zeros((1, 1, 128), np.float32), "c": np.zeros((1, 1, 128), np.float32)}
        for length in (1, 2, 7, 31):
            sound = (self.random.standard_normal((length, 576)) * 0.2).astype(np.float32)
            outputs = self.compare(model, {"input": sound, **state}, session=session)
            state = {"h": outputs["hn"], "c": outputs["cn"]}

    def test_resnet50(self):
        session = self.reference(BUILT / "resnet50.onnx")
        for batch in (1, 2):
            data = self.random.random((batch, 3, 224, 224), np.float32)
            self.compare(BUILT / "resnet50.onnx", {"input": data}, session=session)

    def test_mobilenetv2(self):
        session = self.reference(BUILT / "mobilenetv2.onnx")
        for batch in (1, 4):
            data = self.random.random((batch, 3, 224, 224), np.float32)
            self.compare(BUILT / "mobilenetv2.onnx", {"input": data}, session=session)

    def test_bert(self):
        session = self.reference(BUILT / "bert.onnx")
        for batch, length, padded in ((1, 16, 0), (2, 7, 3), (1, 128, 0)):
            mask = np.ones((batch, length), np.int64)
            mask[-1, length - padded:] = 0
            inputs = {"input_ids": self.random.integers(0, 30522, (batch, length)), "attention_mask": mask,
                      "token_type_ids": self.random.integers(0, 2, (batch, length))}
            self.compare(BUILT / "bert.onnx", inputs, session=session)


if __name__ == "__main__":
    unittest.main()
