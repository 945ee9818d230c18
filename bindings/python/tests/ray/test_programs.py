# SPDX-License-Identifier: Apache-2.0
"""The examples and the programs of docs/python.md run; nothing of Ray is imported unasked."""

import re
import runpy
import shutil
import subprocess
import sys

import pytest
import ray
from conftest import ROOT

BLOCK = re.compile(r"^```python ray\n(.*?)^```", re.M | re.S)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def here(cluster, monkeypatch, capsys):
    """Runs a program in this process, which has its Ray and workers already, and returns what it prints."""

    def run_here(program, *arguments):
        monkeypatch.setattr(ray, "init", lambda: None)
        monkeypatch.setattr(sys, "argv", [str(program), *map(str, arguments)])
        runpy.run_path(str(program), run_name="__main__")
        return capsys.readouterr().out

    return run_here


@pytest.mark.parametrize(
    "name, needs_port, words", [("ray_predict", False, ["accuracy 98.6% of 500"]), ("ray_serve", True, ["one image:", "ten images:"])]
)  # fmt: skip
def test_examples(name, needs_port, words, here, request):
    program = ROOT / f"examples/python/{name}.py"
    if not program.exists():
        pytest.skip("not in a checkout")
    found = here(program, *([request.getfixturevalue("port")] if needs_port else []))
    assert all(word in found for word in words), found


def test_documents(here, port, tmp_path, monkeypatch):
    document = ROOT / "docs/python.md"
    if not document.exists():
        pytest.skip("not in a checkout")
    shutil.copy(ROOT / "examples/digits/digits.onnx", tmp_path)
    (source,) = BLOCK.findall(document.read_text())
    program = tmp_path / "program.py"
    program.write_text(source.replace("127.0.0.1:8000", f"127.0.0.1:{port}") + 'serve.delete("digits")\n')
    monkeypatch.chdir(tmp_path)
    assert "probabilities" in here(program)


def test_imports():
    """Ray is imported by max.ray alone, and its parts by those who use them."""
    run(
        sys.executable, "-c",
        "import sys, max.driver, max.engine; assert 'ray' not in sys.modules; import max.ray;"
        "assert not {'ray.data', 'ray.serve'} & set(sys.modules);"
        "from max.ray import predict; assert 'ray.serve' not in sys.modules",
    )  # fmt: skip
    missing = "import sys; sys.modules['ray'] = None\ntry: import max.ray\nexcept ImportError as e: print(e)"
    assert "pip install 'libmax-runtime[ray]'" in run(sys.executable, "-c", missing)
