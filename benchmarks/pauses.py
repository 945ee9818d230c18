# SPDX-License-Identifier: Apache-2.0
"""What calls take after pauses, as in a service that waits for requests: python pauses.py [ROUNDS].

Each library's median call, back to back and after pauses, in processes that take turns; of the rounds the fastest counts.
Ends with 1 if MAX takes longer than the faster peer after a pause of 20 ms."""

import sys
import tempfile

from cases import CASES, ROOT
from compare import PEERS, peer_library, read_ahead, run, write_inputs

MODELS = ("100 operators on a row", "MobileNetV2, batch 1", "BERT base, 16 tokens")
SECONDS = {0: 0.3, 1: 0.5, 20: 1, 200: 2}  # by milliseconds of pause
JUDGED = 20


def calls(case, threads, rounds):
    """{library: {pause: milliseconds}}"""
    libraries = {"max": "max", **{name: peer_library(name) for name in PEERS}}
    found = {name: {} for name in libraries}
    read_ahead(case.model)
    with tempfile.TemporaryDirectory() as folder:
        inputs = write_inputs(case, folder)
        for _ in range(rounds):
            for pause, seconds in SECONDS.items():
                for name, library in libraries.items():
                    time = run([ROOT / "build/bin/model_bench", library, case.model, "f32", str(threads), f"{seconds},{pause}",
                                *inputs])["call_ms"]
                    found[name][pause] = min(time, found[name].get(pause, time))
    return found


def main(rounds):
    is_late = False
    for case in (case for case in CASES if case.name in MODELS):
        for threads in (1, 2):
            found = calls(case, threads, rounds)
            for name, times in found.items():
                print(f"{case.name:22} {threads} threads  {name:11}  "
                      + "  ".join(f"{pause} ms: {time:.3g} ({time / times[0]:.2f})" for pause, time in times.items()), flush=True)
            is_late = is_late or found["max"][JUDGED] > min(found[name][JUDGED] for name in PEERS)
    return int(is_late)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
