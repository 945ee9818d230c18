# SPDX-License-Identifier: Apache-2.0
"""Dimensions of tensors in graphs: numbers, names, and what is computed of them."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, SupportsIndex, TypeVar, Union

__all__ = ["AlgebraicDim", "Dim", "DimLike", "StaticDim", "SymbolicDim"]

# A dimension is a sum of terms: a product of atoms and its coefficient. An atom is a name or an operator of two
# dimensions. Terms and atoms are sorted, so that equal dimensions are written alike.
_Operator = tuple[str, "Dim", "Dim"]
_Atom = Union[str, _Operator]
_Monomial = tuple[_Atom, ...]
_Terms = tuple[tuple[_Monomial, int], ...]

_Number = TypeVar("_Number", bound=Any)
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_TOKEN = re.compile(r"\s*(?:(\d+)|(\??\w+)|(.))")


def _atom_text(atom: _Atom) -> str:
    if isinstance(atom, str):
        return atom
    kind, a, b = atom
    return f"({a}) // ({b})" if kind == "floordiv" else f"{kind}({a}, {b})"


def _written(atom: _Atom, alone: bool) -> str:
    """An atom in a product, or alone."""
    if isinstance(atom, str) or atom[0] != "floordiv":
        return _atom_text(atom)
    text = " // ".join(
        str(operand) if isinstance(operand, (StaticDim, SymbolicDim)) else f"({operand})" for operand in atom[1:]
    )
    return text if alone else f"({text})"


def _order(monomial: _Monomial) -> tuple[Any, ...]:
    return -len(monomial), tuple(map(_atom_text, monomial))


def _terms(sum_of: Iterable[tuple[_Monomial, int]]) -> _Terms:
    joined: dict[_Monomial, int] = {}
    for monomial, coefficient in sum_of:
        monomial = tuple(sorted(monomial, key=_atom_text))
        joined[monomial] = joined.get(monomial, 0) + coefficient
    return tuple(sorted(((m, c) for m, c in joined.items() if c), key=lambda term: _order(term[0])))


def _product(a: _Terms, b: _Terms) -> _Terms:
    return _terms((x + y, c * d) for x, c in a for y, d in b)


def _without(monomial: _Monomial, divisor: _Monomial) -> _Monomial | None:
    rest = list(monomial)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _exact_quotient(a: _Terms, b: _Terms) -> _Terms | None:
    """The quotient, if nothing remains."""
    quotient: list[tuple[_Monomial, int]] = []
    lead, factor = b[0]
    while a:
        monomial, coefficient = a[0]
        rest = _without(monomial, lead)
        if rest is None or coefficient % factor or len(quotient) > 32:
            return None
        quotient.append((rest, coefficient // factor))
        a = _terms((*a, *_product(((rest, -(coefficient // factor)),), b)))
    return _terms(quotient)


def _dim(terms: _Terms) -> Dim:
    if not terms:
        return _new(StaticDim, terms)
    (monomial, coefficient), *others = terms
    if not others and not monomial:
        return _new(StaticDim, terms)
    if not others and coefficient == 1 and len(monomial) == 1 and isinstance(monomial[0], str):
        return _new(SymbolicDim, terms)
    return _new(AlgebraicDim, terms)


def _new(cls: type[Dim], terms: _Terms) -> Dim:
    dim: Dim = object.__new__(cls)
    dim._terms = terms
    return dim


def _operator(kind: str, a: Dim, b: Dim) -> Dim:
    return _dim(((((kind, a, b),), 1),))


def _floor_divide(a: Dim, b: Dim) -> Dim:
    if not b._terms:
        raise ZeroDivisionError(f"the dimension {a} is divided by 0")
    if isinstance(a, StaticDim) and isinstance(b, StaticDim):
        return Dim(a.dim // b.dim)
    exact = _exact_quotient(a._terms, b._terms)
    if exact is not None:
        return _dim(exact)
    if not isinstance(b, StaticDim) or b.dim < 0:
        return _operator("floordiv", a, b)
    # What the divisor divides leaves the floor: (5x - 1) // 4 = x - 1 + (x + 3) // 4.
    whole = _dim(_terms((m, c // b.dim) for m, c in a._terms))
    rest = _dim(_terms((m, c % b.dim) for m, c in a._terms))
    return whole + (Dim(rest.dim // b.dim) if isinstance(rest, StaticDim) else _operator("floordiv", rest, b))


def _extremum(kind: str, a: Dim, b: Dim) -> Dim:
    if isinstance(a, StaticDim) and isinstance(b, StaticDim):
        return Dim(max(a.dim, b.dim) if kind == "max" else min(a.dim, b.dim))
    return a if a == b else _operator(kind, *sorted((a, b), key=str))


def _coerced(value: Any) -> Dim | None:
    """The operand of an arithmetic operator as a dimension; None if it cannot be one."""
    if isinstance(value, Dim):
        return value
    if isinstance(value, str) or (hasattr(value, "__index__") and not isinstance(value, bool)):
        return Dim(value)
    return None


class Dim:
    """A dimension of a tensor in a graph.

    ``Dim(5)`` is a `StaticDim`, ``Dim("batch")`` a `SymbolicDim`, which each call of the model chooses. Sums,
    differences, products and floor divisions are simplified; equal dimensions are written and compare alike. Numbers
    and names compare equal to the dimensions that they stand for.

    Parameters
    ----------
    value : int, str or Dim

    Raises
    ------
    TypeError
        `value` has another type.
    ValueError
        The name is not an identifier, or the number does not fit in 64 bits.

    Examples
    --------
    >>> Dim("batch") * 2 + Dim("batch")
    Dim('batch') * 3
    >>> (Dim("batch") * 6) // 3 == Dim("batch") * 2
    True
    """

    __slots__ = ("_terms",)
    _terms: _Terms

    def __new__(cls, value: DimLike) -> Dim:
        if isinstance(value, Dim):
            return value
        if not isinstance(value, str):
            return _static(value)
        if not _NAME.match(value):
            raise ValueError(f"{value!r} is not a name of a dimension: letters, digits and _, no digit first")
        return _new(SymbolicDim, (((value,), 1),))

    def __add__(self, other: DimLike) -> Dim:
        right = _coerced(other)
        return NotImplemented if right is None else _dim(_terms((*self._terms, *right._terms)))

    def __radd__(self, other: DimLike) -> Dim:
        return self + other

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: DimLike) -> Dim:
        right = _coerced(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self, other: DimLike) -> Dim:
        return -self + other

    def __mul__(self, other: DimLike) -> Dim:
        right = _coerced(other)
        return NotImplemented if right is None else _dim(_product(self._terms, right._terms))

    def __rmul__(self, other: DimLike) -> Dim:
        return self * other

    def __floordiv__(self, other: DimLike) -> Dim:
        right = _coerced(other)
        return NotImplemented if right is None else _floor_divide(self, right)

    def __rfloordiv__(self, other: DimLike) -> Dim:
        left = _coerced(other)
        return NotImplemented if left is None else _floor_divide(left, self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return isinstance(self, SymbolicDim) and self.name == other
        right = _coerced(other)
        return NotImplemented if right is None else self._terms == right._terms

    def __hash__(self) -> int:
        return hash(self._terms)

    @property
    def parameters(self) -> list[SymbolicDim]:
        """Names that the dimension is computed of, a list of `SymbolicDim`, each once."""
        names: dict[str, None] = {}
        for monomial, _ in self._terms:
            for atom in monomial:
                parts = [atom] if isinstance(atom, str) else [p.name for dim in atom[1:] for p in dim.parameters]
                names.update(dict.fromkeys(parts))
        return [SymbolicDim(name) for name in names]

    def __str__(self) -> str:
        text = ""
        for monomial, coefficient in self._terms:
            alone = coefficient == 1 and len(monomial) == 1
            factors = [_written(atom, alone) for atom in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.append(str(abs(coefficient)))
            sign = ("-" if coefficient < 0 else "") if not text else (" - " if coefficient < 0 else " + ")
            text += sign + " * ".join(factors)
        return text or "0"

    def __repr__(self) -> str:
        return f"Dim({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _dim, (self._terms,)


def _static(value: Any) -> Dim:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"a dimension must be an int, a name or a Dim, not {value!r}")
    number = int(value.__index__())
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"the dimension {number} does not have 64 bits")
    return _new(StaticDim, (((), number),) if number else ())


class StaticDim(Dim):
    """A dimension that is a number.

    Examples
    --------
    >>> int(StaticDim(5))
    5
    """

    __slots__ = ()

    def __new__(cls, value: DimLike) -> StaticDim:
        dim = Dim(value)
        if not isinstance(dim, StaticDim):
            raise TypeError(f"{dim!r} is not a StaticDim")
        return dim

    @property
    def dim(self) -> int:
        """The number."""
        return self._terms[0][1] if self._terms else 0

    def __int__(self) -> int:
        return self.dim

    def __index__(self) -> int:
        return self.dim

    def __lt__(self, other: int | StaticDim) -> bool:
        return self.dim < int(other)

    def __le__(self, other: int | StaticDim) -> bool:
        return self.dim <= int(other)

    def __gt__(self, other: int | StaticDim) -> bool:
        return self.dim > int(other)

    def __ge__(self, other: int | StaticDim) -> bool:
        return self.dim >= int(other)

    def __hash__(self) -> int:
        return hash(self.dim)

    def __repr__(self) -> str:
        return f"Dim({self.dim})"


class SymbolicDim(Dim):
    """A dimension that has a name. It is equal to each other dimension of that name in a graph.

    Examples
    --------
    >>> SymbolicDim("batch").name
    'batch'
    """

    __slots__ = ()

    def __new__(cls, value: DimLike) -> SymbolicDim:
        dim = Dim(value)
        if not isinstance(dim, SymbolicDim):
            raise TypeError(f"{dim!r} is not a SymbolicDim")
        return dim

    @property
    def name(self) -> str:
        """The name."""
        return str(self._terms[0][0][0])

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Dim({self.name!r})"


class AlgebraicDim(Dim):
    """A dimension that is computed of named ones.

    Examples
    --------
    >>> print(Dim("batch") * 5)
    batch * 5
    """

    __slots__ = ()

    def __new__(cls, value: DimLike) -> AlgebraicDim:
        dim = Dim(value)
        if not isinstance(dim, AlgebraicDim):
            raise TypeError(f"{dim!r} is not an AlgebraicDim")
        return dim

    def __repr__(self) -> str:
        return re.sub(r"(?<!\w)(?!(?:max|min)\()([A-Za-z_]\w*)", r"Dim('\1')", str(self))


DimLike = Union[int, str, Dim, SupportsIndex]


def replaced(dim: Dim, names: Mapping[str, Dim]) -> Dim:
    """The dimension with others in place of names."""

    def of_atom(atom: _Atom) -> Dim:
        if isinstance(atom, str):
            return names.get(atom, Dim(atom))
        kind, a, b = atom[0], replaced(atom[1], names), replaced(atom[2], names)
        return _floor_divide(a, b) if kind == "floordiv" else _extremum(kind, a, b)

    return evaluated(dim, of_atom, Dim)


def evaluated(dim: Dim, of_atom: Callable[[Any], _Number], of_int: Callable[[int], _Number]) -> _Number:
    """Computes a dimension with other numbers: of its atoms, and of int."""
    total: _Number | None = None
    for monomial, coefficient in dim._terms:
        factors = [of_atom(atom) for atom in monomial]
        if coefficient != 1 or not factors:
            factors.append(of_int(coefficient))
        product = functools.reduce(operator.mul, factors)
        total = product if total is None else total + product
    return of_int(0) if total is None else total


class _Parser:
    """Reads what the library writes: "2*batch + 1", "floordiv(n, 4)", "max(a, b)"."""

    def __init__(self, text: str) -> None:
        self._tokens = [match.group(match.lastindex or 0) for match in _TOKEN.finditer(text)]
        self._tokens.append("")

    def _take(self, *expected: str) -> str:
        token = self._tokens[0]
        if expected and token not in expected:
            return ""
        del self._tokens[0]
        return token

    def sum(self) -> Dim:
        total = -self._product() if self._take("-") else self._product()
        while sign := self._take("+", "-"):
            total = total + self._product() if sign == "+" else total - self._product()
        return total

    def _product(self) -> Dim:
        result = self._factor()
        while self._take("*"):
            result = result * self._factor()
        return result

    def _factor(self) -> Dim:
        token = self._take()
        if token.isdigit():
            return Dim(int(token))
        if token.startswith("?"):  # what nothing is known of, numbered
            return Dim(f"unknown_{token[1:]}")
        if not self._take("("):
            return Dim(token)
        a = self.sum()
        self._take(",")
        b = self.sum()
        self._take(")")
        return _floor_divide(a, b) if token == "floordiv" else _extremum(token, a, b)


def parsed(text: str) -> Dim:
    """The dimension that the library describes so."""
    return _Parser(text).sum()
