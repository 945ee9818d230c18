# SPDX-License-Identifier: Apache-2.0
"""Types that need pathlib, which takes a while to import."""

from collections.abc import Sequence
from pathlib import Path
from typing import Union

CustomExtensionsType = Union[Sequence[Union[str, Path]], str, Path]
