# SPDX-License-Identifier: Apache-2.0
"""Tests max.ray on a real Ray: run_ray.py FOLDER [ARGUMENT OF PYTEST...]; run_ray.py --install makes its environment.

Ray has its own environment, build/ray_venv. Exits with 77 and a reason if no package index is reachable."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from run import RAY_PYTHON as PYTHON
from run import quiet, skip, staged  # noqa: E402

REQUIREMENTS = HERE / "requirements.txt"
ENVIRONMENT = PYTHON.parents[1]
MARK = "MAX_RAY_TEST_FOLDER"  # all processes of a run have this variable

# Ray's workers make way for all others (niceness 15): on a machine that has other work they may take a minute to start.
# Ray kills those that have not by then, and starts others, for ever; a node or proxy that does not answer is dead. No
# workers are started that might not be needed.
SETTINGS = {
    "RAY_worker_niceness": "0",
    "RAY_worker_register_timeout_seconds": "600", "RAY_gcs_server_request_timeout_seconds": "300",
    "RAY_gcs_server_port_wait_time_s": "120", "RAY_agent_register_timeout_ms": "600000",
    "RAY_health_check_timeout_ms": "60000", "RAY_health_check_failure_threshold": "10",
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "300", "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "120",
    "RAY_prestart_worker_first_driver": "0", "RAY_enable_worker_prestart": "0",
    "RAY_USAGE_STATS_ENABLED": "0", "RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE": "1", "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
}  # fmt: skip


def install():
    stamp = ENVIRONMENT / "requirements.txt"
    if stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text():
        return
    with tempfile.TemporaryDirectory() as folder:
        index = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "packaging"]
        if subprocess.run(index, capture_output=True).returncode:
            skip("no package index is reachable")
    quiet(sys.executable, "-m", "venv", "--clear", ENVIRONMENT)
    quiet(PYTHON, "-m", "pip", "install", "-q", "--no-input", "-r", REQUIREMENTS)
    shutil.copy(REQUIREMENTS, stamp)


def processes(folder):
    """Numbers and commands of the processes that belong to a run."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={folder}\0".encode() in (process / "environ").read_bytes():
                found[int(process.name)] = (process / "cmdline").read_text().replace("\0", " ")
        except OSError:  # it has ended, or is another user's
            continue
    return found


def run(folder, arguments):
    install()
    package = staged(folder)
    # Ray's sockets lie in this folder, and their paths must be short.
    with tempfile.TemporaryDirectory(prefix="max-ray-", ignore_cleanup_errors=True) as home:
        environment = {
            **os.environ, "PYTHONPATH": f"{package}:{HERE}", "HOME": home, "TMPDIR": home, MARK: home, **SETTINGS
        }
        command = [
            PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", "--show-capture=no",
            "-W", "ignore::DeprecationWarning", f"--confcutdir={HERE}",
            f"--basetemp={home}/pytest", str(HERE), *arguments,
        ]  # fmt: skip
        status = subprocess.run(list(map(str, command)), env=environment, cwd=folder).returncode
        end = time.monotonic() + 30
        while left := processes(home):
            if time.monotonic() > end:
                for number in left:
                    os.kill(number, 9)
                sys.exit(f"still running: {left}")
            time.sleep(0.1)
    sys.exit(status)


if __name__ == "__main__":
    if sys.argv[1] == "--install":
        install()
    else:
        target = pathlib.Path(sys.argv[1]).resolve()
        target.mkdir(parents=True, exist_ok=True)
        run(target, sys.argv[2:])
