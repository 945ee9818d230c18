# SPDX-License-Identifier: Apache-2.0
"""The `max` command: python -m max."""

import os
import sys


def main() -> None:
    """Becomes the command, with this program's arguments."""
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "max")
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
