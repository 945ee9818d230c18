# SPDX-License-Identifier: Apache-2.0
"""max.graph.ops on images and signals: convolutions, pooling, sizes, patches, Fourier transforms."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operators import build, check, numbers, run, seeds, shapes

from max.dtype import DType
from max.graph import Graph, TensorType, ops
from max.graph.ops import ConvInputLayout, FilterLayout, InterpolationMode


def windows(x, kernel, stride, dilation):
    """Channels-last images as [batch, *places, *kernel, channels]."""
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    axes = tuple(range(1, x.ndim - 1))
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axes)
    view = view[
        (slice(None), *(slice(None, None, s) for s in stride), slice(None), *(slice(None, None, d) for d in dilation))
    ]
    return np.moveaxis(view, len(axes) + 1, -1)


def convolve(x, w, stride, dilation, padding, groups, bias):
    pairs = [*zip(padding[::2], padding[1::2])]
    seen = windows(np.pad(x, [(0, 0), *pairs, (0, 0)]), w.shape[:-2], stride, dilation)
    axes = len(stride)
    parts = [
        np.tensordot(s, f, [range(axes + 1, 2 * axes + 2), range(axes + 1)])
        for s, f in zip(np.split(seen, groups, -1), np.split(w, groups, -1))
    ]
    return (np.concatenate(parts, -1) + bias).astype(x.dtype)


def transposed(x, w, stride, dilation, padding, output, bias):
    """Each element of x writes the filter, [*kernel, out, in], into the result."""
    kernel = w.shape[:-2]
    full = [s * (n - 1) + d * (k - 1) + 1 + o for n, k, s, d, o in zip(x.shape[1:-1], kernel, stride, dilation, output)]
    y = np.zeros((x.shape[0], *full, w.shape[-2]))
    for place in np.ndindex(*x.shape[1:-1]):
        for at in np.ndindex(*kernel):
            spot = tuple(p * s + a * d for p, s, a, d in zip(place, stride, at, dilation))
            y[(slice(None), *spot)] += x[(slice(None), *place)] @ w[at].T
    cut = tuple(slice(b, n - a) for b, a, n in zip(padding[::2], padding[1::2], full))
    return (y[(slice(None), *cut)] + bias).astype(x.dtype)


def pairs_of(axes, low, high):
    return st.lists(st.integers(low, high), min_size=axes, max_size=axes)


@pytest.mark.parametrize("axes", [2, 3])
@settings(max_examples=8)
@given(data=st.data(), seed=seeds)
def test_convolutions(axes, data, seed):
    draw = lambda low, high, count=axes: data.draw(pairs_of(count, low, high))  # noqa: E731
    kernel, stride, dilation, padding = draw(1, 3), draw(1, 2), draw(1, 2), draw(0, 2, 2 * axes)
    groups = data.draw(st.sampled_from([1, 2]))
    x = numbers(seed, 2, *(d * (k - 1) + 2 for k, d in zip(kernel, dilation)), 4)
    w, bias = numbers(seed + 1, *kernel, 4 // groups, 6), numbers(seed + 2, 6)
    function = {2: ops.conv2d, 3: ops.conv3d}[axes]
    want = convolve(x, w, stride, dilation, padding, groups, bias)
    check(lambda x, w, b: function(x, w, stride, dilation, padding, groups, b), [x, w, bias], want, 1e-4)
    first, last = [0, axes + 1, *range(1, axes + 1)], [axes + 1, axes, *range(axes)]
    layouts = ConvInputLayout.NCHW, {2: FilterLayout.FCRS, 3: FilterLayout.FCQRS}[axes]
    arrays = [x.transpose(first), w.transpose(last), bias]
    check(
        lambda x, w, b: function(x, w, stride, dilation, padding, groups, b, *layouts),
        arrays, want.transpose(first), 1e-4,
    )  # fmt: skip


@pytest.mark.parametrize("axes", [2, 3])
@settings(max_examples=8)
@given(data=st.data(), seed=seeds)
def test_transposed_convolutions(axes, data, seed):
    draw = lambda low, high, count=axes: data.draw(pairs_of(count, low, high))  # noqa: E731
    kernel, stride, dilation = draw(1, 3), draw(1, 3), draw(1, 2)
    padding = [min(p, (k - 1) // 2) for p, k in zip(draw(0, 1, 2 * axes), np.repeat(kernel, 2).tolist())]
    output = [min(o, s - 1) for o, s in zip(draw(0, 1), stride)]
    x = numbers(seed, 2, *draw(2, 3), 3)
    w, bias = numbers(seed + 1, *kernel, 4, 3), numbers(seed + 2, 4)
    function = {2: ops.conv2d_transpose, 3: ops.conv3d_transpose}[axes]
    want = transposed(x, w, stride, dilation, padding, output, bias)
    check(lambda x, w, b: function(x, w, stride, dilation, padding, output, b), [x, w, bias], want, 1e-4)


def test_defaults_of_convolutions():
    x, w = numbers(1, 1, 5, 6, 3), numbers(2, 3, 3, 3, 2)
    one = [1, 1]
    check(lambda x: ops.conv2d(x, w), [x], convolve(x, w, one, one, [0] * 4, 1, 0), 1e-4)
    check(lambda x: ops.conv2d(x, w, 2, 1, 1), [x], convolve(x, w, [2, 2], one, [1] * 4, 1, 0), 1e-4)
    back = numbers(3, 3, 3, 2, 3)
    check(lambda x: ops.conv2d_transpose(x, back, 2), [x], transposed(x, back, [2, 2], one, [0] * 4, [0, 0], 0), 1e-4)


def pool(x, kernel, stride, dilation, padding, fill, reduce):
    wide = np.pad(x, [(0, 0), *((p, p) for p in padding), (0, 0)], constant_values=fill)
    return reduce(windows(wide, kernel, stride, dilation), axis=(3, 4))


@settings(max_examples=10)
@given(data=st.data(), seed=seeds)
def test_pooling(data, seed):
    draw = lambda low, high: data.draw(pairs_of(2, low, high))  # noqa: E731
    kernel, stride, dilation = draw(1, 3), draw(1, 2), draw(1, 2)
    padding = [min(p, k - 1) for p, k in zip(draw(0, 1), kernel)]
    x = numbers(seed, 2, 6, 5, 3)
    sizes = kernel, stride, dilation, padding
    check(
        lambda x: [ops.max_pool2d(x, *sizes), ops.avg_pool2d(x, *sizes), ops.avg_pool2d(x, *sizes, False, False)],
        [x],
        [pool(x, *sizes, -np.inf, np.max), pool(x, *sizes, 0, np.mean), pool(x, *sizes, np.nan, np.nanmean)],
    )


def test_pooling_past_the_end():
    x = numbers(1, 1, 5, 5, 2)
    wide = np.pad(x, [(0, 0), (0, 1), (0, 1), (0, 0)], constant_values=np.nan)
    sizes = [2, 2], [2, 2], [1, 1]
    check(
        lambda x: [ops.max_pool2d(x, 2, 2, ceil_mode=True), ops.avg_pool2d(x, 2, 2, ceil_mode=True)],
        [x],
        [np.nanmax(windows(wide, *sizes), (3, 4)), np.nanmean(windows(wide, *sizes), (3, 4))],
    )


def triangle(t):
    return np.maximum(0, 1 - abs(t))


def cubic(t, a=-0.75):
    t = abs(t)
    near, far = ((a + 2) * t - (a + 3)) * t * t + 1, ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0))


def coordinates(old, new, mode):
    i = np.arange(new)
    if mode == 1:
        return i * (old - 1) / (new - 1) if new > 1 else i * 0.0
    if mode == 2:
        return i * old / new
    return np.zeros(1) if mode == 3 and new == 1 else (i + 0.5) * old / new - 0.5


def matrix(old, new, mode, kernel, radius, smooth=False):
    """Which elements make each new one. Those past an end are the one there, or none with `smooth`."""
    wide = max(1.0, old / new) if smooth else 1.0
    found = np.zeros((new, old))
    for row, center in zip(found, coordinates(old, new, mode)):
        near = np.arange(int(np.floor(center - radius * wide)), int(np.ceil(center + radius * wide)) + 1)
        weights = kernel((near - center) / wide)
        if smooth:
            weights = np.where((near < 0) | (near >= old), 0, weights)
            weights = weights / weights.sum()
        np.add.at(row, np.clip(near, 0, old - 1), weights)
    return found


def nearest(old, new, mode, rounding):
    at = coordinates(old, new, mode)
    rounded = [np.ceil(at - 0.5), np.floor(at + 0.5), np.floor(at), np.ceil(at)][rounding]
    return np.eye(old)[np.clip(rounded, 0, old - 1).astype(int)]


def resized(x, size, matrix_of):
    for axis, (old, new) in enumerate(zip(x.shape, size)):
        if old != new:
            x = np.moveaxis(np.tensordot(matrix_of(old, new), x, [1, axis]), 0, axis)
    return x.astype(np.float32)


SIZES = [(2, 3, 8, 10), (2, 3, 2, 3), (2, 3, 7, 1), (2, 3, 4, 5)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_resize(size):
    x = numbers(1, 2, 3, 4, 5)
    for mode in range(4):
        linear = resized(x, size, lambda old, new: matrix(old, new, mode, triangle, 1))
        check(lambda x: ops.resize_linear(x, size, mode), [x], linear)
        for rounding in range(4):
            want = resized(x, size, lambda old, new: nearest(old, new, mode, rounding))
            check(lambda x: ops.resize_nearest(x, size, mode, rounding), [x], want)
    smooth = resized(x, size, lambda old, new: matrix(old, new, 0, triangle, 1, True))
    bicubic = resized(x, size, lambda old, new: matrix(old, new, 0, cubic, 2))
    bilinear = resized(x, size, lambda old, new: matrix(old, new, 0, triangle, 1))
    check(
        lambda x: [
            ops.resize_linear(x, size, antialias=True),
            ops.resize_bicubic(x, size),
            ops.resize(x, size),
            ops.resize(x, size, InterpolationMode.BICUBIC),
            ops.resize(x, size, InterpolationMode.NEAREST),
        ],
        [x],
        [smooth, bicubic, bilinear, bicubic, resized(x, size, lambda old, new: nearest(old, new, 0, 0))],
        tolerance=1e-4,
    )


def test_resize_to_named_dimensions():
    graph = Graph("resize", lambda x: ops.resize(x, [*x.shape[:2], 8, 6]), [TensorType(DType.float32, ["n", 3, 4, 3])])
    assert graph.output_types[0].shape == ["n", 3, 8, 6]


@settings(max_examples=8)
@given(data=st.data(), seed=seeds)
def test_fold(data, seed):
    draw = lambda low, high: data.draw(pairs_of(2, low, high))  # noqa: E731
    kernel, stride, dilation, padding, size = draw(1, 3), draw(1, 2), draw(1, 2), draw(0, 1), draw(5, 6)
    counts = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, d, p in zip(size, kernel, stride, dilation, padding)]
    x = numbers(seed, 2, 3 * kernel[0] * kernel[1], counts[0] * counts[1])
    parts = x.reshape(2, 3, *kernel, *counts)
    wide = np.zeros((2, 3, *(n + 2 * p for n, p in zip(size, padding))))
    for i, j, row, column in itertools.product(*map(range, (*kernel, *counts))):
        spot = i * dilation[0] + row * stride[0], j * dilation[1] + column * stride[1]
        wide[(slice(None), slice(None), *spot)] += parts[:, :, i, j, row, column]
    want = wide[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]].astype(np.float32)
    check(lambda x: ops.fold(x, size, kernel, stride, dilation, padding), [x], want)


@pytest.mark.parametrize("n", [None, 1, 4, 7, 8, 13])
@pytest.mark.parametrize("norm", ops.Normalization, ids=str)
def test_irfft(n, norm):
    x = numbers(1, 3, 5, 2)
    z = x[..., 0] + 1j * x[..., 1]
    for axis in (0, 1, -1):
        want = np.fft.irfft(z, n, axis, norm.value).astype(np.float32)
        check(lambda x: ops.irfft(x, n, axis, norm, input_is_complex=True), [x], want)
    want = np.fft.irfft(x, n, 1, norm.value).astype(np.float32)
    check(lambda x: ops.irfft(x, n, 1, norm.value), [x], want)


@settings(max_examples=6)
@given(shape=shapes(0, 3), seed=seeds)
def test_complex(shape, seed):
    for dtype in (np.float32, np.float64):
        x, y = numbers(seed, *shape, 2, dtype=dtype), numbers(seed + 1, 2, dtype=dtype)
        z = (x[..., 0] + 1j * x[..., 1]) * (y[0] + 1j * y[1])
        check(ops.complex.mul, [x, y], np.stack([z.real, z.imag], -1))
        flat = x.reshape(-1)
        check(ops.as_interleaved_complex, [flat], flat.reshape(-1, 2))


X = numbers(0, 1, 4, 4, 3)
W = numbers(1, 3, 3, 3, 2)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: ops.conv2d(x, W[0]), "conv2d: filter must have"),
        (lambda x: ops.conv2d(x, W[:, :, :2]), "Conv"),
        (lambda x: ops.conv2d(x, W, groups=2), "Conv"),
        (lambda x: ops.conv2d(x, W, stride=0), "conv2d: stride must be at least 1, not 0"),
        (lambda x: ops.conv2d(x, W, padding=[1, 1]), r"conv2d: padding must be 4 numbers, not \[1, 1\]"),
        (lambda x: ops.conv2d(x, W, bias=W), "conv2d: bias must have"),
        (lambda x: ops.conv2d(x, W, filter_layout=FilterLayout.QRSCF), "conv2d: the layout QRSCF does not have 4"),
        (lambda x: ops.conv2d(x, W.astype(np.float64).astype(np.int64)), "conv2d: none of"),
        (lambda x: ops.conv3d(x, W), "conv3d: x must have"),
        (lambda x: ops.conv2d_transpose(x, W), "ConvTranspose"),
        (lambda x: ops.conv2d_transpose(x, W, padding=-1), "conv2d_transpose: padding must be at least 0, not -1"),
        (lambda x: ops.conv3d_transpose(x, W), "conv3d_transpose: x must have"),
        (lambda x: ops.max_pool2d(x, 0), "max_pool2d: kernel_size must be at least 1, not 0"),
        (lambda x: ops.max_pool2d(x, [2, 2, 2]), "max_pool2d: kernel_size must be 2 numbers"),
        (lambda x: ops.avg_pool2d(ops.squeeze(x, 0), 2), "avg_pool2d: input must have"),
        (lambda x: ops.resize(x, [4, 4]), "resize_linear: size .* has 2 numbers, input has 4"),
        (lambda x: ops.resize_nearest(x, [1, -1, 4, 3]), "resize_nearest: size .* is negative"),
        (lambda x: ops.resize_linear(x, x.shape, 4), "coordinate_transform_mode must be 0 to 3, not 4"),
        (lambda x: ops.resize_nearest(x, x.shape, 0, 9), "round_mode must be 0 to .*, not 9"),
        (lambda x: ops.resize_bicubic(ops.flatten(x), [5]), "resize_bicubic: input must have"),
        (lambda x: ops.fold(ops.flatten(x, 1, 2), [4, 4], 2), "fold: 16 channels|fold: images"),
        (lambda x: ops.fold(x, [4, 4], 2), "fold: input must have"),
        (lambda x: ops.fold(ops.squeeze(x, 0), [4], 2), "fold: output_size must be two"),
        (lambda x: ops.fold(ops.squeeze(x, 0), [4, 4], 3), "fold: 4 channels are not a multiple of a patch's 3 x 3"),
        (lambda x: ops.irfft(x, 0), "irfft: n must be at least 1, not 0"),
        (lambda x: ops.irfft(x, normalization="none"), "irfft: normalization must be .*, not 'none'"),
        (lambda x: ops.irfft(x, input_is_complex=True), "irfft: complex numbers have a last dimension of 2"),
        (lambda x: ops.irfft(x, axis=0), "irfft: an axis of size 1 has no signal"),
        (lambda x: ops.complex.mul(x, 1), "complex.mul: .* has the shape"),
        (lambda x: ops.as_interleaved_complex(x), "the last dimension of .* is not even"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=rf"(?s)(?:{message}).*test_ops_image.py:\d+"):
        build(call, X)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.conv2d(x, W, input_layout="NHWC"),
        lambda x: ops.conv2d(x, W, filter_layout="RSCF"),
        lambda x: ops.conv2d(x, W, stride=1.5),
        lambda x: ops.resize(x, x.shape, "bilinear"),
        lambda x: ops.irfft(x, normalization=1),
        lambda x: ops.fold(ops.squeeze(x, 0), 4, 2),
    ],
)
def test_wrong_types(call):
    with pytest.raises(TypeError, match=r"test_ops_image.py:\d+"):
        build(call, X)


def test_no_images():
    assert run(lambda x: ops.conv2d(x, W), np.zeros((0, 4, 4, 3), np.float32))[0].shape == (0, 2, 2, 2)
    assert run(lambda x: ops.max_pool2d(x, 2), np.zeros((0, 4, 4, 3), np.float32))[0].shape == (0, 3, 3, 3)
    assert run(lambda x: ops.resize(x, [0, 2, 2, 3]), np.zeros((0, 4, 4, 3), np.float32))[0].shape == (0, 2, 2, 3)
