# SPDX-License-Identifier: Apache-2.0
"""The tables of speed, from made-up measurements."""

import pathlib
import sys
import unittest
from types import SimpleNamespace

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
sys.path.insert(0, str(ROOT / "benchmarks/ops"))
import limits  # noqa: E402
import tables  # noqa: E402

try:
    import compare_ops
    import operators
except ImportError:  # no numpy
    compare_ops = None


def rounds(*calls):
    return [{field: call for field in tables.TIMES.values()} for call in calls]


def row(name, family, ours, **peers):
    case = SimpleNamespace(name=name, family=family)
    return tables.row_of(case, 1, {"max": rounds(ours), **{peer: rounds(time) for peer, time in peers.items()}}, 0.5, "now")


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

    def test_a_page_may_lack_a_column(self):
        old = row("a", "f", 2)
        del old["of limit, MAX"]
        self.assertEqual(tables.rows_of(tables.full_table([old]))[0]["of limit, MAX"], tables.MISSING)

    def test_a_share_of_the_limit_counts_each_operator_at_its_own(self):
        limits_of_machine = {"f32": 10, "bf16": 20, "int8": 40, "read": 100}
        operators = [
            {"type": "MatMul", "implementation": "panels_bf16", "multiplications": 100, "bytes": 10, "ms": 10},  # 5 or 10
            {"type": "Conv", "implementation": "winograd", "multiplications": 100, "bytes": 10, "ms": 8},  # no more than it took
            {"type": "MatMulInteger", "implementation": "", "multiplications": 100, "bytes": 10, "ms": 10},  # 2.5
            {"type": "Add", "implementation": "", "multiplications": 1, "bytes": 400, "ms": 10},  # 4
        ]
        profile = {"operators": operators, "total_ms": 40}
        self.assertEqual(limits.share_of_limit(profile, limits_of_machine, "bf16"), (5 + 8 + 2.5 + 4) / 40)
        self.assertEqual(limits.share_of_limit(profile, limits_of_machine, "f32"), (10 + 8 + 2.5 + 4) / 40)

    def test_each_family_of_networks_counts_once(self):
        page = tables.full_table([row("i", tables.NO_NETWORK, 1, openvino=100), row("a", "f", 1, openvino=4), row("b", "f", 1, openvino=1), row("c", "g", 1, openvino=8)])
        self.assertEqual([list(line.values()) for line in tables.rows_of(tables.readme_table(page))],
                         [["call alone", "100.00", "100.00"], ["f", "2.00", "2.00"], ["g", "8.00", "8.00"], ["all networks", "4.00", "4.00"]])


@unittest.skipUnless(compare_ops, "no numpy")
class OperatorTables(unittest.TestCase):
    def test_ratios_and_shares_are_taken_within_a_round(self):
        case = operators.product("f32", 10, 10, 10)
        found = {"max": [{"call_ms": 2}, {"call_ms": 4}], "onednn": [{"call_ms": 3}, {"call_ms": 4}],
                 "limits": [{"f32": 500}, {"f32": 500}]}
        row = compare_ops.row_of(case, 1, found, "now")
        self.assertEqual((row["x"], row["MAX, of limit"], row["oneDNN, of limit"]), ("1.25 (1.00 to 1.50)", "75 %", "58 %"))
        self.assertEqual((row["MAX, us"], row["oneDNN, us"]), ("3000.0", "3500.0"))

    def test_tiny_operators_share_their_time(self):
        case = operators.small("100 products", "products", 100, 16, 100)
        found = {"max": [{"call_ms": 0.005}], "onednn": [{"call_ms": 0.01}], "limits": [{}]}
        row = compare_ops.row_of(case, 1, found, "now")
        self.assertEqual((row["MAX, us"], row["MAX, of limit"]), ("0.0500", tables.MISSING))

    def test_no_two_cases_share_a_row_or_a_file(self):
        self.assertEqual(len({(case.group, case.name, case.type) for case in operators.CASES}), len(operators.CASES))
        self.assertEqual(len({case.file for case in operators.CASES}), len(operators.CASES))


if __name__ == "__main__":
    unittest.main()
