# SPDX-License-Identifier: Apache-2.0
"""The tables of speed, from made-up measurements."""

import pathlib
import sys
import unittest
from types import SimpleNamespace

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import tables  # noqa: E402


def rounds(*calls):
    return [{field: call for field in tables.TIMES.values()} for call in calls]


def row(name, family, ours, **peers):
    case = SimpleNamespace(name=name, family=family)
    return tables.row_of(case, 1, {"max": rounds(ours), **{peer: rounds(time) for peer, time in peers.items()}}, "now")


class SpeedTables(unittest.TestCase):
    def test_the_ratio_is_to_the_faster_peer_within_each_round(self):
        found = {"max": rounds(1, 2, 4), "onnxruntime": rounds(9, 9, 9), "openvino": rounds(2, 2, 6)}
        self.assertEqual(tables.ratio_to_better(found, "call_ms"), "1.50 (1.00 to 2.00)")

    def test_a_peer_that_does_not_run_a_model_is_left_out(self):
        cells = row("a", "f", 2, onnxruntime=4)
        self.assertEqual((cells["call, OV"], cells["call, x"]), (tables.MISSING, "2.00 (2.00 to 2.00)"))
        self.assertEqual(row("a", "f", 2)["call, x"], tables.MISSING)

    def test_rows_can_be_read_back(self):
        written = [row("a", "f", 2, onnxruntime=4, openvino=0.001), row("b", "g", 20)]
        self.assertEqual(tables.rows_of("words\n\n" + tables.full_table(written)), written)

    def test_each_family_of_networks_counts_once(self):
        page = tables.full_table([row("i", tables.NO_NETWORK, 1, openvino=100), row("a", "f", 1, openvino=4), row("b", "f", 1, openvino=1), row("c", "g", 1, openvino=8)])
        self.assertEqual([list(line.values()) for line in tables.rows_of(tables.readme_table(page))],
                         [["call alone", "100.00", "100.00"], ["f", "2.00", "2.00"], ["g", "8.00", "8.00"], ["all networks", "4.00", "4.00"]])


if __name__ == "__main__":
    unittest.main()
