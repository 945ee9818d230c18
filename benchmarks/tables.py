# SPDX-License-Identifier: Apache-2.0
"""The tables of speed: the full one from measurements, and the README's from the full one.

A test makes the README's again, so that it cannot say anything else than the results."""

import pathlib
import re
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
SPEED = re.compile(r"(?<=<!-- speed -->\n).*(?=<!-- /speed -->)", re.S)
LIBRARIES = {"max": "MAX", "onnxruntime": "ORT", "openvino": "OV"}
TIMES = {"call": "call_ms", "p99": "p99_ms", "first call": "first_ms", "load": "load_ms", "MB": "added_mb"}
RATIOS = ("call", "load")
COLUMNS = ["family", "model", "threads", *(f"{time}, x" for time in RATIOS),
           *(f"{time}, {name}" for time in TIMES for name in LIBRARIES.values()),
           "of limit, MAX", "measured"]
MISSING = "none"
NO_NETWORK = "call alone"  # no part of the mean over families: nothing is computed


def digits_of(value):
    return f"{value:.5f}" if value < 0.01 else f"{value:.4f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def median_of(rounds, field):
    return statistics.median(one[field] for one in rounds)


def ratio_to_better(found, field):
    """Median, smallest and largest over the rounds, to the peer whose median is smallest."""
    peers = [rounds for name, rounds in found.items() if name != "max"]
    if not peers:
        return MISSING
    best = min(peers, key=lambda rounds: median_of(rounds, field))
    ratios = [their[field] / our[field] for our, their in zip(found["max"], best, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def row_of(case, threads, found, share, measured):
    """A row of the full table, from {library: [round]}; a library that does not run the model is not in it."""
    cells = [case.family, case.name, str(threads), *(ratio_to_better(found, TIMES[time]) for time in RATIOS)]
    for time, field in TIMES.items():
        show = "{:.0f}".format if time == "MB" else digits_of
        cells += [show(median_of(found[name], field)) if name in found else MISSING for name in LIBRARIES]
    return dict(zip(COLUMNS, [*cells, f"{100 * share:.0f} %", measured], strict=True))


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("| --- ", "|---").replace("--- |", "---|")


def full_table(rows):
    return table(COLUMNS, [[row.get(column, MISSING) for column in COLUMNS] for row in rows])


def rows_of(page):
    """The rows of a page's full table."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def mean_ratio(rows, column):
    """The geometric mean of the medians."""
    ratios = [float(row[column].split()[0]) for row in rows if row[column] != MISSING]
    return statistics.geometric_mean(ratios) if ratios else None


def family_ratios(rows):
    """{family: [ratio of calls per number of threads..., of loads with one thread]}, and at its end that of networks."""
    counts = sorted({int(row["threads"]) for row in rows})
    chosen = [*(("call, x", str(n)) for n in counts), ("load, x", "1")]
    ratios = {family: [mean_ratio([row for row in rows if (row["family"], row["threads"]) == (family, threads)], column)
                       for column, threads in chosen]
              for family in dict.fromkeys(row["family"] for row in rows)}
    networks = [values for family, values in ratios.items() if family != NO_NETWORK]
    ratios["all networks"] = [statistics.geometric_mean(filter(None, values)) for values in zip(*networks)]
    return counts, ratios


def readme_table(page):
    """How many times as fast as the better peer, per family: geometric means, in which each family counts once."""
    counts, ratios = family_ratios(rows_of(page))
    columns = ["family", *(f"call, {n} thread{'s' * (n > 1)}" for n in counts), "load, 1 thread"]
    return table(columns, [[family, *(f"{value:.2f}" if value else MISSING for value in values)]
                           for family, values in ratios.items()])


def write_readme(readme, results):
    text = readme_table(pathlib.Path(results).read_text())
    readme.write_text(SPEED.sub(lambda match: text, readme.read_text()))
