# SPDX-License-Identifier: Apache-2.0
"""Which function of each binding covers each C function: check_bindings.py [--list].

A C function that a binding's sources do not call is a failure, unless tools/binding_exceptions.txt has a reason; so is a
reason for a function that is called. The thread's message is read in one place of a binding. A binding whose folder does not exist is left out. --list prints the whole table.
"""

import pathlib
import re
import sys

import make_cdef

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXCEPTIONS = ROOT / "tools/binding_exceptions.txt"
GENERATED = re.compile(r"^(//|/\*) Code generated", re.M)
# Binding -> its folder, the files of its safe layer, what the head of a function looks like.
BINDINGS = {
    "python": ("bindings/python", ("max/**/*.py", "raw/support.c"),
               r"^\s*(?:async )?def (\w+)|^static [^=;{]*?\b(\w+)\([^;]*$"),
    "go": ("bindings/go", ("*.go", "support_cgo.h"),
           r"^func (?:\([^)]*\) )?(\w+)|^static (?:inline )?[^=;{]*?\b(\w+)\([^;]*$"),
    "rust": ("bindings/rust/max", ("src/**/*.rs",), r"\bfn (\w+)|macro_rules! (\w+)"),
}


MESSAGE = "maxGetLastErrorMessage"
# Functions that read the thread's message: one, and in Go one for each way to call C.
MESSAGE_READERS = {"python": 1, "go": 2, "rust": 1}


def c_functions():
    return re.findall(r"\b(max[A-Z]\w+)\(", re.sub(r"typedef[^;]*;", "", make_cdef.cdef()))


def exceptions(binding):
    """A function that tells whether a C function is excepted: its reason, or None."""
    rows = []
    for line in EXCEPTIONS.read_text().split("\n"):
        if line and not line.startswith("#"):
            bindings, pattern, reason = line.split(" ", 2)
            rows += [(pattern, reason)] if binding in bindings.split(",") else []

    def reason_of(name):
        for pattern, reason in rows:
            if name == pattern or pattern.endswith("*") and name.startswith(pattern[:-1]):
                return reason
        return None

    reason_of.rows = rows
    return reason_of


def sources(binding):
    folder, patterns, _ = BINDINGS[binding]
    for pattern in patterns:
        for path in sorted((ROOT / folder).glob(pattern)):
            text = path.read_text()
            if not GENERATED.search(text) and not path.name.endswith("_test.go"):
                yield path, re.sub(r"//[^\n]*|/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.S) \
                    if path.suffix != ".py" else re.sub(r"#[^\n]*", "", text)


def callers(binding):
    """C function -> the functions of the binding that call it, as FILE:FUNCTION."""
    found, (_, _, definition) = {}, BINDINGS[binding]
    for path, text in sources(binding):
        name = None
        for line in text.split("\n"):
            match = re.search(definition, line)
            name = next(filter(None, match.groups()), name) if match else name
            for called in re.findall(r"\b(max[A-Z]\w+)\b", line):
                found.setdefault(called, {})[f"{path.name}:{name or '(table)'}"] = True
    return found


def problems(binding, functions, found):
    reason_of = exceptions(binding)
    used = set()
    for name in functions:
        reason = reason_of(name)
        if reason is not None:
            used |= {row for row in reason_of.rows if name == row[0] or name.startswith(row[0].rstrip("*"))}
        if name not in found and reason is None:
            yield f"{binding}: nothing calls {name}, and tools/binding_exceptions.txt has no reason"
        if name in found and reason is not None:
            yield f"{binding}: {' '.join(found[name])} calls {name}, which tools/binding_exceptions.txt excepts"
    readers = found.get(MESSAGE, {})
    if len(readers) != MESSAGE_READERS[binding]:
        yield f"{binding}: {len(readers)} functions read {MESSAGE}, not {MESSAGE_READERS[binding]}: {' '.join(readers)}"
    for row in reason_of.rows:
        if row not in used:
            yield f"{binding}: tools/binding_exceptions.txt excepts {row[0]}, which does not exist"


def main():
    functions = c_functions()
    present = [name for name, (folder, *_) in BINDINGS.items() if (ROOT / folder).is_dir()]
    found = {name: callers(name) for name in present}
    if "--list" in sys.argv:
        for function in functions:
            cells = [f"{name} {next(iter(found[name].get(function, {})), None) or '- ' + str(exceptions(name)(function))}"
                     for name in present]
            print(f"{function}: {'; '.join(cells)}")
    wrong = [problem for name in present for problem in problems(name, functions, found[name])]
    print("\n".join(wrong) if wrong else f"{len(functions)} functions are covered by {', '.join(present)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
