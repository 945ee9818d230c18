# SPDX-License-Identifier: Apache-2.0
"""How weights of few bits are stored: in blocks, as in GGUF files."""

from __future__ import annotations

import enum
from typing import NamedTuple

__all__ = ["BlockParameters", "QuantizationConfig", "QuantizationEncoding"]


class BlockParameters(NamedTuple):
    """Size of a block.

    Parameters
    ----------
    elements_per_block : int
        How many numbers it stands for.
    block_size : int
        How many bytes it has.
    """

    elements_per_block: int
    block_size: int


class QuantizationConfig(NamedTuple):
    """How weights were quantised, where their encoding leaves it open.

    Parameters
    ----------
    quant_method : str
        Name of the method.
    bits : int
        Bits of a number.
    group_size : int
        How many numbers share a scale.
    desc_act : bool
        Whether columns were ordered by their activations.
    sym : bool
        Whether there are no zero points.
    """

    quant_method: str
    bits: int
    group_size: int
    desc_act: bool = False
    sym: bool = False


class QuantizationEncoding(str, enum.Enum):
    """Encodings of weights.

    Examples
    --------
    >>> QuantizationEncoding.Q4_0.block_parameters
    BlockParameters(elements_per_block=32, block_size=18)
    """

    Q4_0 = "Q4_0"
    Q4_K = "Q4_K"
    Q5_K = "Q5_K"
    Q6_K = "Q6_K"
    GPTQ = "GPTQ"

    @property
    def block_parameters(self) -> BlockParameters:
        """Size of a block.

        Raises
        ------
        ValueError
            The encoding has no blocks of one size.
        """
        if self not in _BLOCKS:
            raise ValueError(f"{self.value} has no blocks of one size; its QuantizationConfig says how large they are")
        return _BLOCKS[self]

    @property
    def elements_per_block(self) -> int:
        """Numbers that a block stands for."""
        return self.block_parameters.elements_per_block

    @property
    def block_size(self) -> int:
        """Bytes of a block."""
        return self.block_parameters.block_size

    @property
    def is_gguf(self) -> bool:
        """Whether GGUF files have it."""
        return self in _BLOCKS

    def __str__(self) -> str:
        return self.value


_BLOCKS = {
    QuantizationEncoding.Q4_0: BlockParameters(32, 18),
    QuantizationEncoding.Q4_K: BlockParameters(256, 144),
    QuantizationEncoding.Q5_K: BlockParameters(256, 176),
    QuantizationEncoding.Q6_K: BlockParameters(256, 210),
}
