# SPDX-License-Identifier: Apache-2.0
"""Writes Rust's raw layer, bindings/rust/max-sys/src/raw.rs and the modules in raw/, with bindgen: make_rust.py [--check].

HEADER.rs has the types and constants of a header, HEADER_functions.rs its functions. bindgen gets the public headers with
enumerations written as such, since a number with named constants is all that C says of them: newtypes come of that,
MaxStatus::MAX_STATUS_OK. Comments become Rust's. With --check files are compared, not written, whatever their layout:
rustfmt differs from machine to machine. A file that is missing or left over is a failure too. Exits with 77 if there is
no bindgen.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import made_files
import make_cdef

ROOT = make_cdef.INCLUDE.parent
FOLDER = ROOT / "bindings/rust/max-sys/src"
HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Made of include/max by tools/make_rust.py; not to be edited.\n\n"
SKIPPED = 77
# An integer type and the constants behind it; only those whose names begin as the type's does are its own.
ENUMERATION = re.compile(r"typedef (int32_t|uint64_t) (Max\w+);\n((?:\s*/\*\*(?:[^*]|\*(?!/))*\*/\s*#define \w+ \S+\n)+)")
CONSTANT = re.compile(r"(/\*\*(?:[^*]|\*(?!/))*\*/)\s*#define (\w+) (\S+)\n")
COMMENT = re.compile(r"/\*\*.*?\*/", re.S)
OPTIONS = ["--default-enum-style", "newtype", "--bitfield-enum", "Max.*(Mask|Flags|Traits)|MaxHostAccess",
           "--with-derive-default", "--size_t-is-usize", "--disable-header-comment", "--no-rustfmt-bindings",
           "--no-recursive-allowlist", "--blocklist-function", "maxExtensionGetTable"]
# What a header's modules are called behind its name, and what they hold.
PARTS = {"": "types,vars", "_functions": "functions"}
# bindgen's test of where a field lies takes ten lines: it knows no offset_of.
FIELD_TEST = re.compile(r"fn test_field_\w+ \(\) \{ .*?MaybeUninit :: < (\w+) > .*?\(\* ptr\) \. (\w+)\) .*?\} , (\d+usize) , "
                        r".*? \} test_field_\w+ \(\) ;")
CLANG = ["-target", "x86_64-unknown-linux-gnu", "-Wno-everything"]


def prefix_of(name):
    """MAX_BUFFER_FLAG of MaxBufferFlags, MAX_DTYPE of MaxDType."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", re.sub(r"(Mask|s)$", "", name).replace("DType", "Dtype"))
    return words.upper() + "_"


def enumeration(match):
    integer, name, block = match.groups()
    own, other = [], ""
    for comment, constant, value in CONSTANT.findall(block):
        if constant.startswith((prefix_of(name), prefix_of(name + "s"), name.upper())) or name == "MaxStatus":
            own.append(f"{comment}\n  {constant} = {value},\n")
        else:
            other += f"{comment}\n#define {constant} {value}\n"
    if not own:
        return match.group(0)
    return f"typedef enum {name} : {integer} {{\n{''.join(own)}}} {name};\n{other}"


def outside_code(text):
    """Brackets are not links, and angle brackets not tags."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([\[\]<>])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def rust_comment(match):
    text = match.group(0)
    if "@file" in text:
        return ""
    lines = [re.sub(r"^\s*(/\*\*|\*(?!/))? ?", "", line) for line in text.removesuffix("*/").splitlines()]
    text = "\n".join(line.rstrip() for line in lines)
    text = re.sub(r"@param(?:\[[\w,]+\])?\s+(\w+)\s+", r"- `\1`: ", text)
    text = re.sub(r"@retval\s+(\w+)\s+", r"- `\1`: ", text)
    text = re.sub(r"@return\s+", "Returns ", text)
    text = re.sub(r"@since (\S+)", r"\nSince \1.", text)
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"\n +", "\n  ", text)).strip()
    return "/**\n" + "".join(f" * {outside_code(line)}\n" for line in text.splitlines()) + " */"


def rust_headers(folder):
    for header in (make_cdef.INCLUDE / "max").glob("*.h"):
        text = ENUMERATION.sub(enumeration, header.read_text())
        text = COMMENT.sub(rust_comment, text)
        (folder / "max").mkdir(exist_ok=True)
        (folder / "max" / header.name).write_text(text)


def bindings():
    """Name of each file -> its text."""
    texts = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rust_headers(folder)
        everything = folder / "all.h"
        everything.write_text("".join(f'#include "{name}"\n' for name in make_cdef.DEFAULT))
        for header in sorted((folder / "max").glob("*.h")):
            for part, kinds in PARTS.items():
                text = bindgen(everything, "--generate", kinds, "--allowlist-file", f".*/max/{header.name}", "--", *CLANG,
                               f"-I{folder}")
                if text.strip():
                    texts[f"raw/{header.stem}{part}.rs"] = f"{HEAD}use super::*;\n\n{rust_2024(text)}"
    modules = [pathlib.Path(name).stem for name in texts]
    uses = [f"mod {module};" for module in modules] + [""] + [f"pub use {module}::*;" for module in modules]
    return texts | {"raw.rs": HEAD + "\n".join(uses) + "\n"}


def bindgen(header, *arguments):
    done = subprocess.run(["bindgen", header, *OPTIONS, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rust_2024(text):
    """Foreign blocks are unsafe and fields have offsets, which bindgen 0.60 did not know yet.

    It derives nothing for a structure with fields of another header's types, which it is not shown.
    """
    text = text.replace("# [repr (C)] pub struct", "# [repr (C)] # [derive (Debug , Copy , Clone)] pub struct")
    text = FIELD_TEST.sub(r"assert_eq ! (:: std :: mem :: offset_of ! (\1 , \2) , \3) ;", text)
    return re.sub(r'(?<!unsafe )extern "C" \{', 'unsafe extern "C" {', text)


def plain(text):
    """Without what a layout may change."""
    return re.sub(r"[\s,]", "", text)


def main():
    if not shutil.which("bindgen"):
        print("SKIPPED: there is no bindgen")
        return SKIPPED
    check = sys.argv[1:] == ["--check"]
    different = made_files.keep(FOLDER, ("raw.rs", "raw/*"), bindings(), check, plain)
    if check and different:
        print(f"{FOLDER.relative_to(ROOT)}: run tools/make_rust.py; not what the headers say: {' '.join(different)}")
        return 1
    if not check and shutil.which("rustfmt"):
        subprocess.run(["rustfmt", "--edition", "2024", "--config", "max_width=120", FOLDER / "raw.rs"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
