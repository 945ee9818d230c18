# SPDX-License-Identifier: Apache-2.0
"""Makes the environment that the suite of models is generated in: install.py FOLDER.

PyTorch's package for Linux names CUDA's libraries, gigabytes that a computer without a GPU never calls; small stand-ins
that fail at every call are compiled in their place."""

import pathlib
import re
import subprocess
import sys
import tempfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
VENDORS = re.compile(r"(lib|__)?(cu|nv|nccl)")


def groups():
    """Names of groups and their requirements."""
    found = {}
    for line in (HERE / "requirements.txt").read_text().splitlines():
        if match := re.fullmatch(r"# group: (\w+)", line):
            found[match[1]] = []
        elif line and not line.startswith("#"):
            list(found.values())[-1].append(line)
    return found


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(library, which):
    """Pairs of a dynamic symbol and its version."""
    for line in output("nm", "-D", which, str(library)).splitlines():
        name, _, version = line.split()[-1].partition("@")
        yield name, version.lstrip("@")


def version_owners(library):
    """{version of symbols: the library that has them}"""
    owners, file = {}, None
    for line in output("readelf", "--version-info", "--wide", str(library)).splitlines():
        if match := re.search(r"File: (\S+)", line):
            file = match[1]
        elif file and (match := re.search(r"  Name: (\S+)", line)):
            owners[match[1]] = file
    return owners


def missing_libraries(libraries):
    """{name of a library: {version: symbols}}; symbols without a version are in all that have none."""
    own, needed, defined = {library.name for library in libraries}, {}, set()
    plain = set()
    for library in libraries:
        defined.update(name for name, _ in symbols(library, "--defined-only"))
        names = re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", str(library)))
        for name in names:
            if name not in own and VENDORS.match(name):
                needed.setdefault(name, {})
        owners = version_owners(library)
        for name, version in symbols(library, "--undefined-only"):
            if version and owners[version] in needed:
                needed[owners[version]].setdefault(version, set()).add(name)
            elif not version and VENDORS.match(name):
                plain.add(name)
    for versions in needed.values():
        if not versions:
            versions[""] = plain - defined
    return needed


def stand_in(path, versions):
    """A library whose functions all return an error."""
    with tempfile.TemporaryDirectory() as scratch:
        source, script = pathlib.Path(scratch, "stand_in.c"), pathlib.Path(scratch, "stand_in.map")
        names = sorted({name for part in versions.values() for name in part})
        source.write_text("".join(f"long {name}(void) {{ return 100; }}\n" for name in names))
        script.write_text("".join(f"{version} {{ global: {' '.join(f'{name};' for name in sorted(part))} }};\n"
                                  for version, part in versions.items() if version))
        options = [f"-Wl,--version-script={script}"] if script.stat().st_size else []
        subprocess.run(["gcc", "-shared", "-fPIC", "-fno-builtin", "-w", f"-Wl,-soname,{path.name}", *options,
                        "-o", str(path), str(source)], check=True)


def stand_in_for_cuda(folder):
    torch = next(folder.glob("lib/python*/site-packages/torch/lib"), None)
    if torch is None:
        return
    for name, versions in missing_libraries(sorted(torch.glob("*.so*"))).items():
        stand_in(torch / name, versions)


def main(folder):
    folder = pathlib.Path(folder)
    stamp = folder / "requirements.txt"
    if stamp.exists() and stamp.read_bytes() == (HERE / "requirements.txt").read_bytes():
        return
    venv.create(folder, clear=True, with_pip=True)
    for name, packages in groups().items():
        print(f"installing what {name} needs", flush=True)
        done = subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", "--no-input", "--no-deps", *packages])
        if done.returncode:
            print(f"the packages of {name} could not be installed; its models are skipped", flush=True)
    stand_in_for_cuda(folder)
    stamp.write_bytes((HERE / "requirements.txt").read_bytes())


if __name__ == "__main__":
    main(sys.argv[1])
