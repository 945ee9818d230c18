# SPDX-License-Identifier: Apache-2.0
"""The examples of the reference documents, and those of docs/python.md, run."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT
from test_process import FOLDER

from max import driver, engine
from max.driver import CPU, Accelerator, Buffer, accelerator_count

HERE = pathlib.Path(__file__).resolve().parent
BLOCK = re.compile(r"^```python ?([\w ]*)\n(.*?)^```", re.M | re.S)
SNIPPETS = BLOCK.findall((HERE / "reference_snippets.md").read_text())
DOCUMENT = ROOT / "docs/python.md"


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_reference_snippets(number, tmp_path, monkeypatch, models):
    needs, source = SNIPPETS[number]
    if accelerator_count() < ("gpu" in needs) + ("gpu2" in needs):
        pytest.skip("fewer than two accelerators")
    (tmp_path / "bert-base-uncased").mkdir()
    shutil.copy(models / "identity.onnx", tmp_path / "bert-base-uncased/model.onnx")
    monkeypatch.chdir(tmp_path)
    names = {"CPU": CPU, "Path": pathlib.Path, "driver": driver, "engine": engine, "MB": 1 << 20}
    names["my_graph"] = str(models / "identity.onnx")
    names["model"] = engine.InferenceSession().load(models / "identity.onnx")
    names["input_tensor"] = Buffer.from_numpy(np.ones(3, np.float32))
    exec(source, names)
    if "device2" in names:
        assert names["device2"] == Accelerator(0)


def test_documents(tmp_path):
    """The programs of docs/python.md, one after another, in a folder with the digits model."""
    if not DOCUMENT.exists():
        pytest.skip("not in a checkout")
    shutil.copy(ROOT / "examples/digits/digits.onnx", tmp_path)
    program = tmp_path / "program.py"
    program.write_text("\n".join(source for needs, source in BLOCK.findall(DOCUMENT.read_text()) if "ray" not in needs))
    done = subprocess.run(
        [sys.executable, program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": FOLDER},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


EXAMPLES = {
    "digits": "accuracy 9",
    "graph": "1 xor 0 = 1",
    "kernel": "added 100000 numbers",
    "safetensors_weights": "98.6% of 500 answers are turned around",
    "walkthrough": "trace.json",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name, tmp_path):
    program = ROOT / f"examples/python/{name}.py"
    if not program.exists():
        pytest.skip("not in a checkout")
    environment = {**os.environ, "PYTHONPATH": FOLDER}
    done = subprocess.run([sys.executable, program], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and EXAMPLES[name] in done.stdout, done.stdout + done.stderr
    pictures = 3 if name == "walkthrough" and importlib.util.find_spec("matplotlib") else 0
    assert len(list(tmp_path.glob("*.png"))) == pictures
