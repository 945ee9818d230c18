# SPDX-License-Identifier: Apache-2.0
"""Writes the suite of models: generate.py FOLDER [FAMILY [PART]], PART of a model's name.

FOLDER/FAMILY/MODEL.onnx is the model, MODEL.npz its inputs and what must come out; FOLDER/FAMILY/report.json tells of
each model whether it was made. A family whose stamp is current is left alone; one whose packages are not installed is
skipped, with the reason. What a generator makes depends on its source and on requirements.txt alone."""

import concurrent.futures
import hashlib
import importlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent
# Family, the module beside this file whose models() yields its models: packages that it imports.
FAMILIES = {
    "torch_modules": ["torch"],
    "torch_opsets": ["torch"],
    "torch_networks": ["torch", "torchvision"],
    "torch_scripts": ["torch"],
    "torch_transformers": ["torch", "transformers"],
    "sklearn_models": ["skl2onnx", "pandas"],
    "boosted_models": ["onnxmltools", "lightgbm", "xgboost", "catboost"],
    "converted_models": ["torch", "torchvision"],
    "fused_models": ["torch", "transformers"],
    "genai_models": ["torch", "transformers", "onnxruntime_genai"],
    "tensorflow_models": ["tensorflow", "tf2onnx"],
}
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONHASHSEED": "0"}
IMPORT = re.compile(r"^(?:import|from) (\w+)", re.M)


def sources_of(module, known):
    """The files of this folder that a module needs, itself among them."""
    path = HERE / f"{module}.py"
    if path in known or not path.exists():
        return known
    known.add(path)
    for name in IMPORT.findall(path.read_text()):
        sources_of(name, known)
    return known


def stamp_of(family):
    digest = hashlib.sha256(sys.version.encode() + (HERE / "requirements.txt").read_bytes())
    for path in sorted(sources_of(family, set())):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def failure_of(error):
    """The first cause in a few lines."""
    while error.__cause__:
        error = error.__cause__
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error).strip()[:400]} ({where.filename}:{where.lineno})"


def make(name, maker, folder):
    """An empty string, or why the model could not be made."""
    import suite
    try:
        suite.finish(maker(), folder / name)
    except Exception as error:  # of any exporter
        for part in (".onnx", ".npz"):
            (folder / name).with_suffix(part).unlink(missing_ok=True)
        return failure_of(error)
    return ""


def run_family(family, folder, part):
    """In a separate process: some frameworks conflict with each other."""
    report = {}
    for name, maker in importlib.import_module(family).models():
        if part in name:
            report[name] = make(name, maker, folder)
            print(f"{family}/{name}: {report[name] or 'made'}", flush=True)
    return report


def missing_of(family):
    for package in FAMILIES[family]:
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed"
    return ""


def child(family, folder, part):
    folder.mkdir(parents=True, exist_ok=True)
    missing = missing_of(family)
    report = {"skipped": missing} if missing else {"models": run_family(family, folder, part), "stamp": stamp_of(family)}
    if part:
        before = report_of(folder)
        report = {**before, "models": {**before.get("models", {}), **report.get("models", {})}}
    (folder / "report.json").write_text(json.dumps(report, indent=1))


def report_of(folder):
    try:
        return json.loads((folder / "report.json").read_text())
    except (OSError, ValueError):
        return {}


def summary(folder):
    report = report_of(folder)
    models = report.get("models", {})
    failed = [name for name, reason in models.items() if reason]
    made = f"{len(models) - len(failed)} models made" + f", not made: {' '.join(failed)}" * bool(failed)
    return report.get("skipped") or report.get("broken") or made


def make_family(family, folder, part):
    """Whether its process ended well."""
    if not part and report_of(folder).get("stamp") == stamp_of(family):
        return True
    if not part:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".log"), "w", encoding="utf-8") as log:  # exporters say much
        done = subprocess.run([sys.executable, __file__, "--child", str(folder), family, part], stdout=log, stderr=log,
                              env={**os.environ, **QUIET}, check=False)
    if done.returncode:
        reason = f"its process ended with {done.returncode}, see {family}.log"
        (folder / "report.json").write_text(json.dumps({"broken": reason}))
    print(f"{family}: {summary(folder)}", flush=True)
    return not done.returncode


def generate(root, families, part):
    """Whether all processes ended well; two run at a time, longest families first."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return all(list(pool.map(lambda family: make_family(family, root / family, part), families)))


def main(arguments):
    if arguments[0] == "--child":
        return child(arguments[2], pathlib.Path(arguments[1]), arguments[3])
    root, chosen, part = pathlib.Path(arguments[0]), arguments[1:2], (arguments[2:3] or [""])[0]
    return 0 if generate(root, chosen or list(FAMILIES), part) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
