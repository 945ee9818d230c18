# SPDX-License-Identifier: Apache-2.0
"""Limits in seconds of the processor that mean the same work on every machine, and on one that is busy."""

import time

STEPS = 5_000_000
USUAL = 0.45  # seconds that the steps take where the limits were chosen


def is_longer(seconds, limit):
    """Whether work took longer than its limit at the pace of this machine, which is measured only when it matters."""
    return seconds > limit and seconds > limit * pace()


def pace():
    """How many times as long as usual fixed work takes now; at least 1."""
    start, total = time.process_time(), 0
    for i in range(STEPS):
        total += i & 7
    return max((time.process_time() - start) / USUAL, 1.0)
