# SPDX-License-Identifier: Apache-2.0
"""Checks that every public item of bindings/rust/max has an example: in its own documentation, or in that of an item
that its documentation links to. The example of a function, method, macro or constant uses it."""

import pathlib
import re
import sys

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "bindings/rust/max/src"

# Item -> why it needs no example.
EXCEPTIONS = {}

BLOCK = re.compile(r"^(\s*)(?:unsafe )?impl(?:<.*?>)?(?: (?:\w+ for )?(\w+)(?:<.*>)?)|^(\s*)pub (?:unsafe )?(trait|mod) (\w+)")
ITEM = re.compile(r"^(\s*)(pub |\$visibility |(?=(?:const|fn) ))(?:unsafe |const (?=fn))*(fn|struct|enum|trait|type|const|mod) (\w+)")
# A type that the macros handle! and tensor! make.
MADE = re.compile(r"^\s*(?:pub )?(\w+): \w+, \w+(?:, \w+)?$")
MACRO = re.compile(r"^\s*macro_rules! (\w+)")
LINK = re.compile(r"\[`([^`\]]+)`\](?:\(([^)]+)\))?")

TYPES = {"struct", "enum", "trait", "type", "mod"}


class Item:
    def __init__(self, path, line, owner, in_trait, kind, name, documentation):
        self.place = f"{path.name}:{line}"
        self.name = name
        self.full_name = f"{owner}::{name}" if owner else name
        # Behind an object of whichever type, behind the item's own, or behind one that has the trait.
        owners = r"\w+" if in_trait else owner
        self.before = rf"(?:\.|\b{owners}::)" if owner else r"\b"
        self.kind = kind
        parts = "\n".join(documentation).split("```")
        self.text = "".join(parts[::2])
        self.examples = "\n".join(part for part in parts[1::2] if not part.startswith("compile_fail"))

    def links(self, items):
        """The items that the documentation links to."""
        for shown, target in LINK.findall(self.text):
            path = (target or shown).rstrip("!").split("::")
            for name in ("::".join(path[-2:]), path[-1]):
                if name in items:
                    yield items[name]
                    break

    def is_used_in(self, example):
        after = {"fn": r"(?:::<.*?>)?\(", "macro": r"!\("}.get(self.kind, r"\b")
        return re.search(self.before + self.name + after, example) is not None

    def has_example(self, items):
        # Of a type, any will do: many are never named.
        if self.kind in TYPES:
            return bool(self.examples)
        return any(self.is_used_in(item.examples) for item in [self, *self.links(items)])


def is_trait(owners):
    return bool(owners) and owners[-1][2] == "trait"


def parse(line, owners, attributes, documented):
    """Kind and name of the public item that a line begins; None if it begins none."""
    if (match := MADE.match(line)) and documented:
        return "struct", match[1]
    if match := MACRO.match(line):
        return ("macro", match[1]) if "#[macro_export]" in attributes else None
    if match := ITEM.match(line):
        public = match[2] or (is_trait(owners) and len(match[1]) == len(owners[-1][0]) + 4)
        whole = match[3] != "mod" or line.endswith("{")
        return (match[3], match[4]) if public and whole else None
    return None


def items_of(path):
    owners, documentation, attributes = [], [], []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if owners and line == owners[-1][0] + "}":
            owners.pop()
        text = line.strip()
        if text.startswith("///"):
            documentation.append(text[3:].removeprefix(" "))
            continue
        if text.startswith("#["):
            attributes.append(text)
            if text.startswith("#[doc"):
                documentation.append(text)
            continue
        if found := parse(line, owners, attributes, documentation):
            owner = owners[-1][1] if owners else ""
            yield Item(path, number, owner, is_trait(owners), *found, documentation)
        if (match := BLOCK.match(line)) and line.endswith("{"):
            owners.append((match[1] or match[3] or "", match[2] or match[5], match[4]))
        documentation, attributes = [], []


def main():
    items = [item for path in sorted(SOURCES.glob("*.rs")) for item in items_of(path)]
    by_name = {item.full_name: item for item in items}
    missing = [item for item in items if item.full_name not in EXCEPTIONS and not item.has_example(by_name)]
    for item in missing:
        print(f"{item.place}: {item.kind} {item.full_name} has no example that uses it, nor a link to one")
    stale = [name for name in EXCEPTIONS if name not in by_name or by_name[name].has_example(by_name)]
    for name in stale:
        print(f"{name} needs no exception")
    print(f"{len(items)} public items, {len(missing)} without an example, {len(EXCEPTIONS)} exceptions")
    return 1 if missing or stale else 0


if __name__ == "__main__":
    sys.exit(main())
