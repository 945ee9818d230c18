# SPDX-License-Identifier: Apache-2.0
"""Control flow of PyTorch: loops and branches that TorchScript keeps, cond and scan of torch.export."""

from typing import List, Tuple

import numpy as np
import torch
from torch import Tensor, nn

import torch_export
from suite import f, i


def scripted(module):
    return lambda: torch.jit.script(module() if isinstance(module, type) else module)


class GrowingRows(nn.Module):
    """A tensor without rows that grows in a loop."""

    def forward(self, x: Tensor) -> Tensor:
        kept = torch.zeros([0, x.size(1)])
        for k in range(x.size(0)):
            kept = torch.cat([kept, x[k:k + 1] * k], 0)
        return kept


class GrowingBoth(nn.Module):
    """Two carried tensors that grow along different axes, one of them from the input."""

    def forward(self, x: Tensor, count: Tensor) -> Tuple[Tensor, Tensor]:
        rows, columns = x, x
        for _ in range(int(count)):
            rows = torch.cat([rows, rows[:1] + 1], 0)
            columns = torch.cat([columns, columns[:, :1] * 2], 1)
        return rows, columns


class Doubling(nn.Module):
    """Grows by a factor until a number is reached."""

    def forward(self, x: Tensor) -> Tensor:
        while x.size(0) < 20:
            x = torch.cat([x, x + 1], 0)
        return x


class ShrinkingRows(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        while x.size(0) > 1:
            half = x.size(0) // 2
            x = x[:half] + x[half:2 * half]
        return x


class UntilSmall(nn.Module):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        steps = torch.zeros([], dtype=torch.int64)
        while bool(x.abs().max() > 0.1):
            x = x * 0.5
            steps += 1
        return x, steps


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):
            y = self.one(x).relu()
        elif x.size(0) > 3:
            y = self.two(x)
        else:
            y = x * 2
        return y


class BranchesOfShapes(nn.Module):
    """The branches give different numbers of rows."""

    def forward(self, x: Tensor) -> Tensor:
        if bool(x[0, 0] > 0):
            y = torch.cat([x, x], 0)
        else:
            y = x[:1]
        return y.sum(1)


class NestedLoops(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        total = torch.zeros_like(x[0])
        for k in range(x.size(0)):
            for m in range(k + 1):
                if (k + m) % 2 == 0:
                    total = total + x[m] * k
                else:
                    total = total - x[k]
        return total


class EarlyEnd(nn.Module):
    def forward(self, x: Tensor, limit: Tensor) -> Tensor:
        total = torch.zeros([])
        for k in range(x.size(0)):
            total = total + x[k].sum()
            if bool(total > limit):
                break
        return total


class ListOfRows(nn.Module):
    """A list that becomes a tensor: a sequence in ONNX."""

    def forward(self, x: Tensor) -> Tensor:
        rows: List[Tensor] = []
        for k in range(x.size(0)):
            if k % 2 == 0:
                rows.append(x[k] * 2)
        return torch.stack(rows, 0)


class ListOfPieces(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pieces: List[Tensor] = []
        for k in range(1, x.size(0) + 1):
            pieces.append(x[:k])
        return torch.cat(pieces, 0)


class Recurrent(nn.Module):
    """A cell written by hand, with all states."""

    def __init__(self):
        super().__init__()
        self.new, self.old = nn.Linear(8, 6), nn.Linear(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros([x.size(1), 6])
        states: List[Tensor] = []
        for k in range(x.size(0)):
            state = torch.tanh(self.new(x[k]) + self.old(state))
            states.append(state)
        return torch.stack(states, 0)


class Greedy(nn.Module):
    """Writes tokens until the end token or a limit, as decoders do."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(12, 8), nn.Linear(8, 12)

    def forward(self, tokens: Tensor) -> Tensor:
        for _ in range(10):
            logits = self.out(self.table(tokens).mean(1))
            following = logits.argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, following], 1)
            if bool((following == 3).all()):
                break
        return tokens


class PastedMasks(nn.Module):
    """As Mask R-CNN pastes masks: each step adds an image to those before."""

    def forward(self, masks: Tensor, boxes: Tensor) -> Tensor:
        pasted = torch.zeros([0, 16, 16])
        for k in range(masks.size(0)):
            image = torch.zeros([16, 16])
            x, y = int(boxes[k, 0]), int(boxes[k, 1])
            image[y:y + 4, x:x + 4] = masks[k]
            pasted = torch.cat([pasted, image.unsqueeze(0)], 0)
        return pasted


class Condition(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() * 2, (x,))


SCRIPTS = [
    ("growing_rows", scripted(GrowingRows), [[f(3, 4)], [f(7, 4)], [f(1, 4)], [f(0, 4)]]),
    ("growing_both", scripted(GrowingBoth), [[f(3, 4), np.array(3)], [f(2, 5), np.array(0)], [f(1, 2), np.array(6)]]),
    ("doubling", scripted(Doubling), [[f(3, 4)], [f(7, 4)], [f(30, 4)]]),
    ("shrinking_rows", scripted(ShrinkingRows), [[f(8, 4)], [f(7, 4)], [f(1, 4)]]),
    ("until_small", scripted(UntilSmall), [[f(3, 4)], [f(7, 4, scale=30)]]),
    ("branches", scripted(Branches), [[f(3, 8)], [f(7, 8)], [f(4, 8)], [f(2, 8)]]),
    ("branches_of_shapes", scripted(BranchesOfShapes), [[f(3, 8)], [f(7, 8)], [f(4, 8)], [f(2, 8)]]),
    ("nested_loops", scripted(NestedLoops), [[f(3, 4)], [f(6, 4)]]),
    ("early_end", scripted(EarlyEnd), [[f(9, 4), np.float32(1)], [f(20, 4), np.float32(2)], [f(3, 4), np.float32(100)]]),
    ("list_of_rows", scripted(ListOfRows), [[f(5, 4)], [f(8, 4)]]),
    ("list_of_pieces", scripted(ListOfPieces), [[f(5, 4)], [f(8, 4)]]),
    ("recurrent", scripted(Recurrent), [[f(5, 2, 8)], [f(8, 1, 8)]]),
    ("greedy", scripted(Greedy), [[i(12, 2, 3)], [i(12, 1, 5)]]),
    ("pasted_masks", scripted(PastedMasks), [[f(3, 4, 4), i(12, 3, 2)], [f(6, 4, 4), i(12, 6, 2)], [f(1, 4, 4), i(12, 1, 2)]]),
]


def models():
    yield from torch_export.cases([(*row, "script") for row in SCRIPTS])
    yield from torch_export.cases([(name, module, sets, "script", 13) for name, module,
        sets in SCRIPTS if name not in ("pasted_masks", "list_of_rows")])
    yield from torch_export.cases([("condition", Condition, [[f(3, 4)], [f(3, 4)], [f(3, 4)]], "dynamo")])
