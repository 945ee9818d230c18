# SPDX-License-Identifier: Apache-2.0
"""Operators on elements. Operands of two are promoted to one type and broadcast to one shape.

Tensors of different types meet in that of the higher category (bool, unsigned, signed, float) and the most bits, which
has to be the type of one of them; numbers take the type of the tensor that they meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, Union

from max.dtype import DType
from max.graph.ops._operands import cast_to, fail, kind_text, node, promoted, require_kind, tensor
from max.graph.value import TensorValue, TensorValueLike

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "div", "equal", "erf",
    "exp", "floor", "floor_div", "gelu", "greater", "greater_equal", "is_inf", "is_nan", "less", "less_equal", "log", "log1p",
    "logical_and", "logical_not", "logical_or", "logical_xor", "mod", "mul", "negate", "not_equal", "pow", "relu",
    "round", "rsqrt", "sigmoid", "silu", "sin", "sinh", "sqrt", "sub", "tan", "tanh", "trunc", "where",
]  # fmt: skip


class Unary(Protocol):
    """A function of one tensor."""

    __name__: str

    def __call__(self, x: TensorValueLike) -> TensorValue: ...


class Binary(Protocol):
    """A function of two tensors."""

    __name__: str

    def __call__(self, lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue: ...


_UNARY = """{summary}

    Parameters
    ----------
    x : TensorValueLike
        {kind}, any shape.

    Returns
    -------
    TensorValue
        {result}, the shape of `x`.

    Raises
    ------
    ValueError
        The elements of `x` are not {kind}.
    """

_BINARY = """{summary}

    Parameters
    ----------
    lhs, rhs : TensorValueLike
        {kind}, shapes that can be broadcast.

    Returns
    -------
    TensorValue
        {result}, the common shape.

    Raises
    ------
    ValueError
        No type holds both operands, they are not {kind}, or their shapes cannot be broadcast.
    """


def _unary(
    name: str, make: Union[str, Callable[[TensorValue], TensorValue]], kind: str, summary: str, to_bool: bool = False
) -> Unary:
    def function(x: TensorValueLike) -> TensorValue:
        operand = require_kind(name, "x", tensor(x), kind)
        return node(make, [operand]) if isinstance(make, str) else make(operand)

    function.__name__ = function.__qualname__ = name
    result = "Truth values" if to_bool else "The type"
    function.__doc__ = _UNARY.format(summary=summary, kind=kind_text(kind), result=result)
    return function


def _binary(
    name: str,
    make: Union[str, Callable[[TensorValue, TensorValue], TensorValue]],
    kind: str,
    summary: str,
    to_bool: bool = False,
) -> Binary:
    def function(lhs: TensorValueLike, rhs: TensorValueLike) -> TensorValue:
        left, right = promoted(name, lhs, rhs)
        require_kind(name, "lhs", left, kind)
        return node(make, [left, right]) if isinstance(make, str) else make(left, right)

    function.__name__ = function.__qualname__ = name
    result = "Truth values" if to_bool else "The common type"
    function.__doc__ = _BINARY.format(summary=summary, kind=kind_text(kind), result=result)
    return function


def _acos(x: TensorValue) -> TensorValue:
    return node("Acos", [node("Clip", [x, -1, 1])])


def _log1p(x: TensorValue) -> TensorValue:
    # What 1 + x has lost of x is corrected by x / ((1 + x) - 1).
    sum = node("Add", [x, 1])
    kept = node("Sub", [sum, 1])
    log = node("Log", [sum])
    corrected = node("Mul", [log, node("Div", [x, kept])])
    exact = node("Where", [node("Equal", [kept, x]), log, corrected])
    return node("Where", [node("Equal", [kept, 0]), x, exact])


def _trunc(x: TensorValue) -> TensorValue:
    down = node("Floor", [node("Abs", [x])])
    return node("Where", [node("Less", [x, 0]), node("Neg", [down]), down])


def _divide(lhs: TensorValue, rhs: TensorValue) -> TensorValue:
    if lhs.dtype.is_integral():
        lhs, rhs = cast_to(lhs, DType.float64), cast_to(rhs, DType.float64)
    return node("Div", [lhs, rhs])


def _modulo(lhs: TensorValue, rhs: TensorValue) -> TensorValue:
    if lhs.dtype.is_integral():
        return node("Mod", [lhs, rhs])
    # The remainder of C has the sign of the dividend, that of Python the divisor's.
    rest = node("Mod", [lhs, rhs], fmod=1)
    differs = node("Less", [node("Mul", [node("Sign", [rest]), node("Sign", [rhs])]), 0])
    return node("Where", [differs, node("Add", [rest, rhs]), rest])


def _floor_divide(lhs: TensorValue, rhs: TensorValue) -> TensorValue:
    if not lhs.dtype.is_integral():
        return node("Floor", [node("Div", [lhs, rhs])])
    return node("Div", [node("Sub", [lhs, node("Mod", [lhs, rhs])]), rhs])


def _power(lhs: TensorValue, rhs: TensorValue) -> TensorValue:
    if lhs.dtype.is_float() or lhs.dtype in (DType.int32, DType.int64):
        return node("Pow", [lhs, rhs])
    wide = node("Pow", [cast_to(lhs, DType.int64), cast_to(rhs, DType.int64)])
    return cast_to(wide, lhs.dtype)


def _not_equal(lhs: TensorValue, rhs: TensorValue) -> TensorValue:
    return node("Not", [node("Equal", [lhs, rhs])])


abs = _unary("abs", "Abs", "number", "Absolute values.")
acos = _unary(
    "acos", _acos, "float", "Inverse cosines, in radians from 0 to pi; numbers beyond -1 and 1 count as those."
)
acosh = _unary("acosh", "Acosh", "float", "Inverse hyperbolic cosines.")
asin = _unary("asin", "Asin", "float", "Inverse sines, in radians from -pi/2 to pi/2.")
asinh = _unary("asinh", "Asinh", "float", "Inverse hyperbolic sines.")
atan = _unary("atan", "Atan", "float", "Inverse tangents, in radians from -pi/2 to pi/2.")
atanh = _unary("atanh", "Atanh", "float", "Inverse hyperbolic tangents.")
ceil = _unary("ceil", "Ceil", "float", "The smallest whole numbers that are not smaller.")
cos = _unary("cos", "Cos", "float", "Cosines of radians.")
cosh = _unary("cosh", "Cosh", "float", "Hyperbolic cosines.")
erf = _unary("erf", "Erf", "float", "The error function.")
exp = _unary("exp", "Exp", "float", "Powers of e.")
floor = _unary("floor", "Floor", "float", "The largest whole numbers that are not larger.")
is_inf = _unary("is_inf", "IsInf", "float", "Which elements are infinite, of either sign.", True)
is_nan = _unary("is_nan", "IsNaN", "float", "Which elements are not numbers.", True)
log = _unary("log", "Log", "float", "Natural logarithms.")
log1p = _unary("log1p", _log1p, "float", "Natural logarithms of 1 + x, precise for small x.")
logical_not = _unary("logical_not", "Not", "bool", "The other truth values.", True)
negate = _unary("negate", "Neg", "signed", "Numbers of the other sign.")
relu = _unary("relu", "Relu", "signed", "The positive part: max(x, 0).")
round = _unary("round", "Round", "float", "The nearest whole numbers, halves to even ones.")
rsqrt = _unary("rsqrt", lambda x: node("Reciprocal", [node("Sqrt", [x])]), "float", "1 / sqrt(x).")
sigmoid = _unary("sigmoid", "Sigmoid", "float", "1 / (1 + exp(-x)).")
silu = _unary("silu", lambda x: node("Mul", [x, node("Sigmoid", [x])]), "float", "x * sigmoid(x), also called swish.")
sin = _unary("sin", "Sin", "float", "Sines of radians.")
sinh = _unary("sinh", "Sinh", "float", "Hyperbolic sines.")
sqrt = _unary("sqrt", "Sqrt", "float", "Square roots.")
tan = _unary("tan", "Tan", "float", "Tangents of radians.")
tanh = _unary("tanh", "Tanh", "float", "Hyperbolic tangents.")
trunc = _unary("trunc", _trunc, "float", "Whole numbers without what stands behind the point.")

add = _binary("add", "Add", "number", "lhs + rhs.")
div = _binary("div", _divide, "number", "lhs / rhs; whole numbers are divided as float64.")
equal = _binary("equal", "Equal", "any", "Which elements are equal.", True)
floor_div = _binary("floor_div", _floor_divide, "number", "lhs / rhs, rounded down.")
greater = _binary("greater", "Greater", "number", "Which elements of `lhs` are greater.", True)
greater_equal = _binary("greater_equal", "GreaterOrEqual", "number", "Which elements of `lhs` are not less.", True)
less = _binary("less", "Less", "number", "Which elements of `lhs` are less.", True)
less_equal = _binary("less_equal", "LessOrEqual", "number", "Which elements of `lhs` are not greater.", True)
logical_and = _binary("logical_and", "And", "bool", "Which elements are both true.", True)
logical_or = _binary("logical_or", "Or", "bool", "Which elements are true in one or both.", True)
logical_xor = _binary("logical_xor", "Xor", "bool", "Which elements are true in one only.", True)
mod = _binary("mod", _modulo, "number", "Remainders of lhs / rhs, with the sign of `rhs` as Python has it.")
mul = _binary("mul", "Mul", "number", "lhs * rhs.")
not_equal = _binary("not_equal", _not_equal, "any", "Which elements differ.", True)
pow = _binary("pow", _power, "number", "lhs to the power of rhs.")
sub = _binary("sub", "Sub", "number", "lhs - rhs.")


def gelu(x: TensorValueLike, approximate: Literal["none", "tanh", "quick"] = "none") -> TensorValue:
    """Gaussian error linear units: x times the probability that a normal number is less than x.

    Parameters
    ----------
    x : TensorValueLike
        Floating-point numbers, any shape.
    approximate : str
        ``"none"``: by the error function; ``"tanh"``: by the hyperbolic tangent; ``"quick"``: x * sigmoid(1.702 * x).

    Returns
    -------
    TensorValue
        The type and shape of `x`.

    Raises
    ------
    ValueError
        `approximate` is not one of these, or the elements of `x` are not floating-point numbers.
    """
    operand = require_kind("gelu", "x", tensor(x), "float")
    if approximate == "quick":
        return node("Mul", [operand, node("Sigmoid", [node("Mul", [operand, 1.702])])])
    if approximate not in ("none", "tanh"):
        fail(f"gelu: approximate must be 'none', 'tanh' or 'quick', not {approximate!r}")
    return node("Gelu", [operand], approximate=approximate)


def where(condition: TensorValueLike, x: TensorValueLike, y: TensorValueLike) -> TensorValue:
    """Elements of `x` where `condition` is true, of `y` elsewhere.

    Parameters
    ----------
    condition : TensorValueLike
        Truth values.
    x, y : TensorValueLike
        Elements of any type, promoted to one. All three shapes are broadcast.

    Returns
    -------
    TensorValue
        The common type and shape.

    Raises
    ------
    ValueError
        `condition` has other elements, no type holds both, or the shapes cannot be broadcast.
    """
    chosen = require_kind("where", "condition", tensor(condition), "bool")
    return node("Where", [chosen, *promoted("where", x, y)])
