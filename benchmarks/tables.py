# SPDX-License-Identifier: Apache-2.0
"""The tables of speed: the full one from measurements, and the README's from the full one.

A test makes the README's again, so that it cannot say anything else than the results."""

import pathlib
import re
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
SPEED = re.compile(r"(?<=<!-- speed -->\n).*(?=<!-- /speed -->)", re.S)
TIMES = {"call": "call_ms", "first call": "first_ms", "load": "load_ms"}
COLUMNS = ["model", "threads", *(f"{time}, {what}" for time in TIMES for what in ("MAX", "ORT", "x")),
           "peak MB, MAX", "peak MB, ORT"]


def digits_of(value):
    return f"{value:.5f}" if value < 0.01 else f"{value:.4f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def ratio_of(ours, theirs, field):
    """Median, smallest and largest over the rounds."""
    ratios = [their[field] / our[field] for our, their in zip(ours, theirs, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("| --- ", "|---").replace("--- |", "---|")


def full_table(results):
    """results: {(model, threads): {library: [round]}}"""
    rows = []
    for (model, threads), found in results.items():
        ours, theirs = found["max"], found["onnxruntime"]
        median = lambda rounds, field: statistics.median(one[field] for one in rounds)
        row = [model, str(threads)]
        for field in TIMES.values():
            row += [digits_of(median(ours, field)), digits_of(median(theirs, field)), ratio_of(ours, theirs, field)]
        rows.append(row + [f"{median(rounds, 'peak_rss_mb'):.0f}" for rounds in (ours, theirs)])
    return table(COLUMNS, rows)


def rows_of(page):
    """The rows of a page's full table."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def readme_table(page):
    """How many times as fast, per model: calls by number of threads, and the load with one thread."""
    rows = {(row["model"], int(row["threads"])): row for row in rows_of(page)}
    counts = sorted({threads for _, threads in rows})
    columns = ["model", *(f"call, {n} thread{'s' * (n > 1)}" for n in counts), "load, 1 thread"]
    return table(columns, [[model, *(rows[model, n]["call, x"] for n in counts), rows[model, 1]["load, x"]]
                           for model in dict.fromkeys(model for model, _ in rows)])


def write_readme(readme, results):
    text = readme_table(pathlib.Path(results).read_text())
    readme.write_text(SPEED.sub(lambda match: text, readme.read_text()))
