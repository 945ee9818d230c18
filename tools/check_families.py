# SPDX-License-Identifier: Apache-2.0
"""Checks that every operator has one family: the file of its schema row, the folder of its fast kernels and the file of
its reference have the same name. Whoever looks for an operator finds all of it."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# (operator or family, where it is implemented) -> why that is not its family. "" = nowhere.
EXCEPTIONS = {
    ("control", ""): "the executor runs bodies",
    ("Constant", ""): "the rule's value replaces the node",
    ("shape", "cpu/movement"): "views; where one is not possible, a copy of elements",
    ("Shape", "cpu/generator"): "makes a tensor from a shape, as the kernels there do",
    ("Size", "cpu/generator"): "makes a tensor from a shape, as the kernels there do",
    ("BatchNormalization", "cpu/elementwise"): "a chain of elementwise operations",
    ("QuantizeLinear", "cpu/elementwise"): "joins chains of elementwise operators",
    ("DequantizeLinear", "cpu/elementwise"): "joins chains of elementwise operators",
    ("Hardmax", "cpu/reduction"): "the search of ArgMax",
    ("GlobalMaxPool", "cpu/reduction"): "a reduction of all spatial axes",
    ("GlobalAveragePool", "cpu/reduction"): "a reduction of all spatial axes",
    ("Cast", "cpu/string"): "strings to numbers and back",
    ("CastLike", "cpu/string"): "strings to numbers and back",
    ("Equal", "cpu/string"): "compares strings",
    ("Where", "cpu/string"): "keeps strings alive",
}

TABLE = re.compile(r"\b(?:OpSchema|OpRow|Row|Reduction) k\w+\[\] = \{(.*?)\};", re.S)
ADDED = re.compile(r"rows\.push_back\(\{([^;]*)\}\);")
CONSTANT = re.compile(r'string_view (k\w+) = "([^"]*)";')
# A row with its domain, a row of a macro or function, a row of a table in which all are ONNX's.
ROWS = (
    re.compile(r'\{?(?P<domain>"[^"]*"|\bk\w+), "(?P<op>\w+)"'),
    re.compile(r'^ +(?:MAX_\w+|unary|binary|reduction)\("(?P<op>\w+)"', re.M),
    re.compile(r'^ +\{"(?P<op>\w+)", [A-Z]\w*::', re.M),
)


def sources():
    """Path below src/ -> text, of the files with tables of operators."""
    found = {}
    for folder in ("graph/schemas", "ops/cpu", "ops/ref"):
        for path in sorted((ROOT / "src" / folder).rglob("*.cpp")):
            found[str(path.relative_to(ROOT / "src"))] = path.read_text()
    return found


def operators(text):
    """(domain, name) of the rows in a file's tables."""
    constants = {"kMaxDomain": "max", **dict(CONSTANT.findall(text))}
    for part in TABLE.findall(text) + ADDED.findall(text):
        for pattern in ROWS:
            for row in pattern.finditer(part):
                domain = row.groupdict().get("domain") or '""'
                yield (constants[domain] if domain in constants else domain.strip('"')), row["op"]


def place(path):
    """Where a kernel is: cpu/FAMILY or ref/FAMILY."""
    _, kind, name = path.split("/")[:3]
    return f"{kind}/{name.removesuffix('.cpp')}"


def violations(files):
    families, places = {}, {}
    for path, text in files.items():
        for operator in operators(text):
            if path.startswith("graph/"):
                families.setdefault(operator, []).append(path.split("/")[-1].removesuffix(".cpp"))
            else:
                places.setdefault(operator, set()).add(place(path))
    used, found = set(), []

    def excepted(name, family, where):
        keys = {(name, where), (family, where)} & EXCEPTIONS.keys()
        used.update(keys)
        return bool(keys)

    for (domain, name), (family, *others) in families.items():
        title = f"{domain}.{name}" if domain else name
        found += [f"{title} is in schemas/{family}.cpp and schemas/{other}.cpp" for other in others]
        for where in sorted(places.get((domain, name), {""})):
            if where.split("/")[-1] != family and not excepted(name, family, where):
                found.append(f"{title} is in schemas/{family}.cpp, " + (f"but in ops/{where}" if where else "but has no kernel"))
    orphans = sorted(places.keys() - families.keys())
    found += [f"{domain}.{name} in ops/{min(places[domain, name])} has no schema" for domain, name in orphans]
    found += [f"{pathlib.Path(__file__).name}: {key} is not an exception" for key in EXCEPTIONS.keys() - used]
    return found


def main():
    found = violations(sources())
    print("\n".join(found) if found else "operators have one family each")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
