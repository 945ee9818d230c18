# SPDX-License-Identifier: Apache-2.0
"""What the library says about bad models, inputs, files and arguments: status and message, word for word.

tests/data/messages.txt holds a line "CASE | STATUS | MESSAGE" per case of message_cases.py; `test_messages.py --update`
writes it again. Each message is one line, and nothing is left alive."""

import ctypes
import gc
import pathlib
import sys
import tempfile
import unittest

try:
    import library
    import message_cases
except ImportError:
    message_cases = None

EXPECTED = pathlib.Path(__file__).parents[1] / "data/messages.txt"


def live_objects():
    gc.collect()
    count = ctypes.c_int64()
    library.call("maxExperimentalGetLiveObjectCount", ctypes.byref(count))
    return count.value


def provoke(case):
    """The failure's status and message."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            case(folder)
        except library.Failure as failure:
            return f"{message_cases.status_name(failure.status)} | {str(failure).replace(folder, 'FOLDER')}"
    return "OK | the call succeeded"


def provoke_all():
    return {name: provoke(case) for name, case in message_cases.all_cases()}


def write(results):
    EXPECTED.write_text("".join(f"{name} | {text}\n" for name, text in results.items()))


@unittest.skipUnless(message_cases, "needs numpy and onnx")
class Messages(unittest.TestCase):
    def setUp(self):
        lines = EXPECTED.read_text().splitlines()
        self.expected = dict(line.split(" | ", 1) for line in lines)

    def test_every_message_is_the_expected_one(self):
        for name, case in message_cases.all_cases():
            with self.subTest(name):
                self.assertEqual(provoke(case), self.expected.get(name))

    def test_every_message_is_one_line_and_nothing_stays_alive(self):
        self.assertEqual(live_objects(), 0)
        for name, case in message_cases.all_cases():
            with self.subTest(name):
                text = provoke(case)
                self.assertNotIn("\n", text)
                self.assertFalse(text.startswith(("OK", "INTERNAL", "UNKNOWN")), text)
                self.assertEqual(live_objects(), 0)

    def test_there_are_many_cases(self):
        self.assertGreater(len(self.expected), 100)
        self.assertEqual(list(self.expected), [name for name, _ in message_cases.all_cases()])


if __name__ == "__main__":
    if "--update" in sys.argv:
        write(provoke_all())
    else:
        unittest.main()
