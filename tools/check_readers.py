# SPDX-License-Identifier: Apache-2.0
"""Checks that attributes of operators are read in src/graph/readers/ alone, so that rules, passes and kernels cannot differ."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
READERS = "src/graph/readers/"

# Path or its beginning -> why attributes are read there.
EXCEPTIONS = {
    "src/graph/node_inputs.h": "what readers are made of",
    "src/graph/composite": "an operator that others express has no other reader than its expansion",
    "src/graph/schemas/control.cpp": "bodies: the rule takes the graph, a program compiles it",
    "src/graph/schemas/generator.cpp": "Constant: the rule's value replaces the node",
    "src/graph/schemas/ml.cpp": "lists of labels and categories: the rule asks whether they are there, one kernel what they hold",
    "src/ops/cpu/ml/": "trees, supports, labels, scales: lists that one kernel reads and no rule",
    "src/ops/cpu/string/string.cpp": "options that one function reads and no rule",
    "src/ops/cpu/string/regex_match.cpp": "the pattern that one function reads and no rule",
    "src/ops/cpu/image/image_decoder.cpp": "the format that one function reads and no rule",
    "src/compiler/passes/inline.cpp": "bodies: the branch that takes the If's place",
    "src/executor/program.cpp": "bodies: compiled here",
    "src/extension/kernel_operator.cpp": "operators of extensions: names and defaults are in their declarations",
    "src/onnx/": "older versions become the newest one before anybody else reads them",
    "src/capi/extension_access.cpp": "kernels of extensions read their own attributes",
}

READS = re.compile(
    r"(?:\.|->)get(?:Ints?|Floats?|Strings?|Tensor|Graph)\("
    r"|\b[aA]ttributes(?:\(\))?(?:\.|->)(?:has|find)\("
    r"|(?:\.|->)(?:flag|axisAttribute)\(\""
    r"|\b(?:floatsOf|integersOf|stringsOf|readTargets|readType)\([^()]*,\s*\"")
COMMENT = re.compile(r"//.*")


def reads():
    """(path, line number, line) of every place outside the readers where an attribute is read."""
    for path in sorted((ROOT / "src").rglob("*")):
        name = str(path.relative_to(ROOT))
        if path.suffix not in {".cpp", ".h"} or name.startswith(READERS):
            continue
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if READS.search(COMMENT.sub("", line)):
                yield name, number, line.strip()


def exception_of(name):
    return next((start for start in EXCEPTIONS if name.startswith(start)), None)


def main():
    found, used = [], set()
    for name, number, line in reads():
        exception = exception_of(name)
        used.add(exception)
        if not exception:
            found.append(f"{name}:{number}: reads an attribute outside {READERS}: {line}")
    found += [f"{pathlib.Path(__file__).name}: nothing is read in {name}" for name in EXCEPTIONS if name not in used]
    print("\n".join(found) if found else "attributes are read by readers")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
