# SPDX-License-Identifier: Apache-2.0
"""A picture of the full table: python plot.py PAGE PICTURE."""

import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from tables import family_ratios, rows_of  # noqa: E402


def draw(page, picture):
    """A bar per family and number of threads, on a scale where twice as fast and half as fast are equally far from 1."""
    counts, ratios = family_ratios(rows_of(pathlib.Path(page).read_text()))
    figure, axes = plt.subplots(figsize=(9, 0.45 * len(ratios) + 1))
    height = 0.8 / len(counts)
    for place, count in enumerate(counts):
        bars = [values[place] or 1 for values in ratios.values()]
        axes.barh([row + (place - (len(counts) - 1) / 2) * height for row in range(len(bars))],
                  [bar - 1 for bar in bars], height, left=1, label=f"{count} thread{'s' * (count > 1)}")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(ratios)), ratios)
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("time of the faster peer / time of MAX; right of 1, MAX is faster")
    axes.legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    draw(*sys.argv[1:])
