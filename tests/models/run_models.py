# SPDX-License-Identifier: Apache-2.0
"""Runs models through libmax.so and compares with what is expected: run_models.py FOLDER [PART], PART of a model's name.

FOLDER is what generate.py wrote, or the small part of it that is committed. Each difference is a failure unless KNOWN
has it; an entry of KNOWN that passes is also a failure."""

import json
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "onnx"), str(HERE)]

try:
    import compare
    import library
    import values
except ImportError:
    library = None

# FAMILY/MODEL: why it differs.
KNOWN = {}


def problem_of(path):
    """What differs, or an empty string."""
    sets, facts = values.load(path.with_suffix(".npz"))
    rule = compare.RULES[facts["rule"]]
    try:
        model = library.Model(path)
        for number, (inputs, *expected) in enumerate(sets):
            outputs = model.run(inputs)
            problems = [compare.problem_of(outputs, right, rule) for right in expected]
            if all(problems):
                return f"set {number}: {problems[0]}"
    except library.Failure as failure:
        return f"refused: {failure}"
    return ""


def outcome_of(name, problem):
    if name in KNOWN:
        return ("known", KNOWN[name]) if problem else ("failed", "agrees, but is in the table of known differences")
    return ("failed", problem) if problem else ("passed", "")


def unmade(root):
    """(name, outcome, detail) of families and models that generate.py could not make."""
    for report in sorted(root.glob("*/report.json")):
        family = report.parent.name
        content = json.loads(report.read_text())
        for outcome in ("skipped", "broken"):
            if outcome in content:
                yield family, {"broken": "failed"}.get(outcome, outcome), content[outcome]
        models = {f"{family}/{name}": reason for name, reason in content.get("models", {}).items()}
        for name, reason in models.items():
            if reason:
                yield name, "failed", f"not made: {reason}"
        for name in KNOWN:
            if models and name.startswith(f"{family}/") and name not in models:
                yield name, "failed", "is in the table of known differences, but is not a model"


def results(root, part):
    for path in sorted(root.rglob("*.onnx")):
        name = path.relative_to(root).with_suffix("").as_posix()
        if part in name and path.with_suffix(".npz").exists():
            yield name, *outcome_of(name, problem_of(path))
    for result in unmade(root):
        if part in result[0]:
            yield result


def main(folder, part=""):
    if library is None:
        return print("numpy is not installed")
    counts, started = {"passed": 0, "failed": 0, "known": 0, "skipped": 0}, time.monotonic()
    for name, outcome, detail in results(pathlib.Path(folder), part):
        counts[outcome] += 1
        if outcome != "passed":
            print(f"{outcome} {name}: {detail}", flush=True)
    print(f"{counts['known']} of the models differ in known ways; they ran for {time.monotonic() - started:.0f} s")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
