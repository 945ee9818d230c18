# SPDX-License-Identifier: Apache-2.0
"""What functions of this package do with their arguments: tensors of numbers, common types, axes, sizes."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from max.driver.device import Device
from max.dtype import DType
from max.graph._source import located
from max.graph.dim import Dim, DimLike, StaticDim
from max.graph.ops._emit import as_tensor, emit, emit_all
from max.graph.ops.general import transfer_to
from max.graph.shape import Shape, ShapeLike
from max.graph.type import DeviceRef
from max.graph.value import TensorValue, TensorValueLike

if TYPE_CHECKING:
    import numpy

_LARGEST_RANK = 16


def fail(message: str) -> NoReturn:
    """Raises ValueError with the user's line."""
    raise located(ValueError(message))


def wrong_type(message: str) -> NoReturn:
    """Raises TypeError with the user's line."""
    raise located(TypeError(message))


def node(operator: str, inputs: Sequence[Any], /, *, domain: str = "", **attributes: Any) -> TensorValue:
    """The output of an operator that has one. Attributes that are None are left out."""
    return emit(operator, inputs, domain=domain, attributes=attributes)


def nodes(operator: str, inputs: Sequence[Any], count: int, /, **attributes: Any) -> list[TensorValue]:
    """The outputs of an operator that has `count` of them."""
    return emit_all(operator, inputs, attributes=attributes, outputs=count)


def ints(values: Iterable[int]) -> numpy.ndarray[Any, Any]:
    """A constant list of int64."""
    import numpy

    return numpy.array([*values], numpy.int64)


def is_number(value: object) -> bool:
    """Whether it takes the type of what it meets: a number of Python or numpy, or a dimension."""
    return isinstance(value, (numbers.Real, Dim)) or type(value).__name__ in ("bool", "bool_")


def _dtype_of_number(value: object) -> DType:
    if type(value).__name__ in ("bool", "bool_"):
        return DType.bool
    return DType.int64 if isinstance(value, (numbers.Integral, Dim)) else DType.float32


def tensor(value: TensorValueLike, dtype: DType | None = None) -> TensorValue:
    """The value as a tensor of the graph. Numbers get `dtype`; tensors and arrays keep theirs.

    Without `dtype`, whole numbers are int64, others float32."""
    if isinstance(value, Dim) and dtype is not None:
        return as_tensor(int(value), dtype) if isinstance(value, StaticDim) else cast_to(as_tensor(value), dtype)
    return as_tensor(value, dtype if is_number(value) else None)


_CATEGORIES = ("bool", "uint", "int", "float")


def _category(dtype: DType) -> int:
    if dtype is DType.bool:
        return 0
    return 1 if dtype.is_unsigned_integral() else 2 if dtype.is_signed_integral() else 3


def common_dtype(dtypes: Iterable[DType], what: str) -> DType:
    """The type that holds all: of the highest category, with the most bits, and one of them."""
    given = [*dict.fromkeys(dtypes)]
    if len(given) == 1:
        return given[0]
    category = max(map(_category, given))
    bits = max(dtype.size_in_bits for dtype in given)
    found = [dtype for dtype in given if _category(dtype) == category and dtype.size_in_bits == bits]
    fits = len(found) == 1 and not any(
        _category(dtype) == 1 and category == 2 and dtype.size_in_bits >= bits for dtype in given
    )
    if not fits or any(dtype is DType.string or dtype.is_complex() for dtype in given):
        fail(f"{what}: none of {', '.join(dtype.name for dtype in given)} holds all values of the others; use ops.cast")
    return found[0]


def promoted(what: str, *values: TensorValueLike) -> list[TensorValue]:
    """The values as tensors of one type. Numbers take the type of the tensors, if they are of it."""
    strong = {i: tensor(value) for i, value in enumerate(values) if not is_number(value)}
    if strong:
        dtype = common_dtype((made.dtype for made in strong.values()), what)
    else:
        dtype = max((_dtype_of_number(value) for value in values), key=_category)
    return [cast_to(strong[i], dtype) if i in strong else tensor(value, dtype) for i, value in enumerate(values)]


def cast_to(x: TensorValue, dtype: DType) -> TensorValue:
    """The tensor with elements of another type; itself if they are already."""
    return x if x.dtype is dtype else node("Cast", [x], to=dtype)


_KINDS: dict[str, tuple[str, Callable[[DType], bool]]] = {
    "number": ("numbers", lambda dtype: dtype.is_integral() or dtype.is_float()),
    "signed": ("signed numbers", lambda dtype: dtype.is_signed_integral() or dtype.is_float()),
    "float": ("floating-point numbers", lambda dtype: dtype.is_float()),
    "integer": ("whole numbers", lambda dtype: dtype.is_integral()),
    "bool": ("truth values", lambda dtype: dtype is DType.bool),
    "any": ("elements of any type", lambda dtype: True),
}


def kind_text(kind: str) -> str:
    """What elements of a kind are called."""
    return _KINDS[kind][0]


def require_kind(what: str, name: str, x: TensorValue, kind: str) -> TensorValue:
    """The tensor, if its elements are of a kind."""
    text, test = _KINDS[kind]
    if not test(x.dtype):
        fail(f"{what}: the elements of {name} must be {text}, not {x.dtype.name}")
    return x


def require_dtype(what: str, name: str, x: TensorValue, dtype: DType) -> TensorValue:
    """The tensor, if its elements are of a type."""
    if x.dtype is not dtype:
        fail(f"{what}: the elements of {name} must be {dtype.name}, not {x.dtype.name}")
    return x


def require_rank(what: str, name: str, x: TensorValue, rank: int, *, at_least: bool = False) -> TensorValue:
    """The tensor, if it has so many dimensions."""
    if x.rank != rank and not (at_least and x.rank > rank):
        wanted = f"have {'at least ' if at_least else ''}{rank} dimension{'s' * (rank != 1)}" if rank else "be a scalar"
        fail(f"{what}: {name} must {wanted}; its shape is {x.shape}")
    return x


def whole(value: object, what: str, least: int | None = None) -> int:
    """The argument as an int."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        wrong_type(f"{what} must be a whole number, not {value!r}")
    number = int(value.__index__())
    if least is not None and number < least:
        fail(f"{what} must be at least {least}, not {number}")
    return number


def real(value: object, what: str) -> float:
    """The argument as a float."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        wrong_type(f"{what} must be a number, not {value!r}")
    return float(value)


def axis_of(what: str, axis: object, rank: int) -> int:
    """The axis, counted from 0."""
    number = whole(axis, f"{what}: axis")
    if not -rank <= number < rank:
        fail(f"{what}: axis {number} lies outside a tensor of {rank} dimensions")
    return number % rank


def several(value: object, count: int, what: str, least: int = 0) -> list[int]:
    """One number for all axes, or one for each."""
    if isinstance(value, Iterable):
        given = [*value]
        if len(given) != count:
            fail(f"{what} must be {count} numbers, not {given}")
        return [whole(number, what, least) for number in given]
    return [whole(value, what, least)] * count


def index_tensor(what: str, name: str, value: TensorValueLike) -> TensorValue:
    """Indices as int32 or int64."""
    indices = require_kind(what, name, tensor(value), "integer")
    return indices if indices.dtype in (DType.int32, DType.int64) else cast_to(indices, DType.int64)


def dims(shape: ShapeLike, what: str, limit: int | None = _LARGEST_RANK) -> Shape:
    """The argument as a shape."""
    if isinstance(shape, (str, int, Dim)) or not isinstance(shape, Iterable):
        wrong_type(f"{what} must be a sequence of dimensions, not {shape!r}")
    made = Shape(shape)
    if limit is not None and len(made) > limit:
        fail(f"{what} has {len(made)} dimensions, more than {limit}")
    return made


def dims_tensor(shape: Iterable[DimLike]) -> Any:
    """Dimensions as an input of a node: a constant if all are numbers."""
    made = Shape(shape)
    return ints(made.static_dims) if made.is_static else as_tensor(made)


def product(shape: Iterable[Dim]) -> Dim:
    """How many elements there are."""
    result = Dim(1)
    for dim in shape:
        result = result * dim
    return result


def placed(x: TensorValue, device: DeviceRef | Device | None) -> TensorValue:
    """The tensor on a device; where it is without one."""
    return x if device is None else transfer_to(x, device)
