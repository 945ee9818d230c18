# SPDX-License-Identifier: Apache-2.0
"""Fetches the headers of NVIDIA's and AMD's libraries; a build or a program of ours never needs them."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STORE = ROOT / "build" / "vendor_headers"
TIMEOUT = 120

WHEELS = {"cuda.h": "nvidia-cuda-runtime", "nvml.h": "nvidia-nvml-dev"}
DEBIAN_PACKAGES = ("libamdhip64-dev", "librocm-smi-dev")
# Rust's declarations of HIP, generated from the headers of versions that Debian does not have.
CRATE = ("cubecl-hip-sys", "7.14.6085001")


class Unreachable(Exception):
    """A header cannot be had here; the text says why."""


def run(command, folder):
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines()
        raise Unreachable(f"'{' '.join(command)}' says: {reason[-1] if reason else done.returncode}")


def fetched(name, fetch):
    """The folder build/vendor_headers/NAME, which `fetch(folder)` fills once."""
    folder = STORE / name
    if not folder.exists():
        unfinished = STORE / (name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        fetch(unfinished)
        unfinished.rename(folder)
    return folder


def find(folder, name):
    for path in sorted(folder.rglob(name)):
        return path
    raise Unreachable(f"there is no {name} in {folder}")


def fetch_wheel(package):
    def fetch(folder):
        run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
             "--only-binary=:all:", "--dest", ".", package], folder)
        for wheel in folder.glob("*.whl"):
            shutil.unpack_archive(wheel, folder, "zip")
            wheel.unlink()
    return fetch


def cuda_folders():
    """Folders to include cuda.h and nvml.h from."""
    return [find(fetched(package, fetch_wheel(package)), header).parent for header, package in WHEELS.items()]


def nvrtc_folder():
    """Of nvrtc.h, where the compiler is installed for other tests: its package is large."""
    installed = sorted((ROOT / "build").glob("venv/lib/python3*/site-packages/nvidia/*/include/nvrtc.h"))
    if not installed:
        raise Unreachable("nvidia-cuda-nvrtc is not installed in build/venv")
    return installed[0].parent


def hip5_folder():
    def fetch(folder):
        for tool in ("apt-get", "dpkg"):
            if not shutil.which(tool):
                raise Unreachable(f"there is no {tool}")
        run(["apt-get", "download", "-q", *DEBIAN_PACKAGES], folder)
        for package in folder.glob("*.deb"):
            run(["dpkg", "-x", package.name, "."], folder)
            package.unlink()
    installed = pathlib.Path("/usr/include")
    if (installed / "hip/hip_runtime_api.h").exists() and (installed / "rocm_smi/rocm_smi.h").exists():
        return installed
    return find(fetched("hip5", fetch), "hip").parent


def comgr_folder():
    """Of amd_comgr.h, which lies apart in some versions."""
    def fetch(folder):
        run(["apt-get", "download", "-q", "libamd-comgr-dev"], folder)
        for package in folder.glob("*.deb"):
            run(["dpkg", "-x", package.name, "."], folder)
            package.unlink()
    return find(fetched("comgr", fetch), "amd_comgr.h").parent


def newer_hip_texts():
    """Major version -> Rust declarations of HIP."""
    def fetch(folder):
        name, version = CRATE
        (folder / "src").mkdir()
        (folder / "src/lib.rs").write_text("")
        (folder / "Cargo.toml").write_text(f'[package]\nname = "fetch"\nversion = "0.1.0"\nedition = "2021"\n'
                                           f'[dependencies]\n{name} = "={version}"\n')
        run(["cargo", "vendor", "--quiet", "crates"], folder)
        for crate in (folder / "crates").iterdir():
            if not crate.name.startswith(name):
                shutil.rmtree(crate)
    texts = {}
    for path in sorted(fetched("hip6", fetch).rglob("bindings_*.rs")):
        text = path.read_text()
        texts[int(re.search(r"HIP_VERSION_MAJOR: u32 = (\d+)", text).group(1))] = text
    if not texts:
        raise Unreachable("the crate has no declarations")
    return texts
