# SPDX-License-Identifier: Apache-2.0
"""Layers and small functions of PyTorch, each through both of its exporters, with dynamic axes."""

import torch
from torch import nn
from torch.nn import functional as F

import torch_export
from suite import b, f, i, u


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *arguments):
        return self.function(*arguments)


def call(function):
    return lambda: Call(function)


def layers(*parts):
    return lambda: nn.Sequential(*[part() if isinstance(part, type) else part for part in parts])


def lazily(kind, *arguments, **options):
    """A layer made once the seed is set."""
    return lambda: kind(*arguments, **options)


IMAGES = [[f(2, 3, 16, 18)], [f(3, 3, 16, 18)], [f(1, 3, 24, 17)]]
ROWS = [[f(2, 5, 8)], [f(4, 3, 8)], [f(1, 7, 8)]]
PAIRS = [[f(2, 5, 8), f(2, 5, 8)], [f(4, 3, 8), f(4, 3, 8)]]


class First(nn.Module):
    """The first output of a recurrent layer and its states."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        y, state = self.layer(x)
        return (y, *state) if isinstance(state, tuple) else (y, state)


class Attention(nn.Module):
    def __init__(self, causal):
        super().__init__()
        self.qkv, self.out, self.causal = nn.Linear(16, 48), nn.Linear(16, 16), causal

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (4, 4)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).flatten(2))


CONVOLUTIONS = [
    ("conv2d", lazily(nn.Conv2d, 3, 6, 3, padding=1), IMAGES),
    ("conv2d_strided", lazily(nn.Conv2d, 3, 6, 5, stride=2, padding=2, bias=False), IMAGES),
    ("conv2d_dilated", lazily(nn.Conv2d, 3, 6, 3, dilation=2), IMAGES),
    ("conv2d_grouped", lazily(nn.Conv2d, 3, 6, 3, groups=3), IMAGES),
    ("conv2d_same", lazily(nn.Conv2d, 3, 4, (3, 4), padding="same"), IMAGES),
    ("conv2d_reflect", lazily(nn.Conv2d, 3, 4, 3, padding=1, padding_mode="reflect"), IMAGES),
    ("conv1d", lazily(nn.Conv1d, 5, 4, 3), [[f(2, 5, 12)], [f(1, 5, 30)]]),
    ("conv3d", lazily(nn.Conv3d, 2, 4, 3, padding=1), [[f(2, 2, 6, 7, 8)], [f(1, 2, 4, 5, 9)]]),
    ("deconv2d", lazily(nn.ConvTranspose2d, 3, 5, 3, stride=2, padding=1, output_padding=1), IMAGES),
    ("deconv2d_grouped", lazily(nn.ConvTranspose2d, 3, 6, 4, stride=2, groups=3), IMAGES),
    ("deconv1d", lazily(nn.ConvTranspose1d, 5, 4, 5, stride=3), [[f(2, 5, 12)], [f(1, 5, 30)]]),
    ("conv_norm_relu", lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU6(), nn.Conv2d(8, 8, 3, groups=8),
                                             nn.BatchNorm2d(8), nn.Hardswish()), IMAGES),
]

POOLING = [
    ("max_pool_ceil", lazily(nn.MaxPool2d, 3, 2, 1, ceil_mode=True), IMAGES),
    ("max_pool_dilated", lazily(nn.MaxPool2d, 3, 2, dilation=2), IMAGES),
    ("max_pool_indices", call(lambda x: F.max_pool2d(x, 2, return_indices=True)), IMAGES),
    ("max_pool_unpool", call(lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)), [[f(2, 3, 16, 18)]], "dynamo"),
    ("max_pool1d", lazily(nn.MaxPool1d, 4, 3), [[f(2, 5, 12)], [f(1, 5, 30)]], "script"),
    ("average_pool", lazily(nn.AvgPool2d, 3, 2, 1, count_include_pad=False), IMAGES),
    ("average_pool_ceil", lazily(nn.AvgPool2d, 3, 2, 1, ceil_mode=True), IMAGES),
    ("average_pool_ceil_wide", lazily(nn.AvgPool2d, 5, 4, 1, ceil_mode=True, count_include_pad=False), IMAGES),
    ("average_pool_beyond", lazily(nn.AvgPool2d, 8, 8, 0, ceil_mode=True), [[f(2, 3, 16, 18)], [f(1, 3, 9, 11)]]),
    ("average_pool3d", lazily(nn.AvgPool3d, 2), [[f(2, 2, 6, 7, 8)], [f(1, 2, 4, 5, 9)]]),
    ("adaptive_average_1", lazily(nn.AdaptiveAvgPool2d, 1), IMAGES),
    ("adaptive_average_4", lazily(nn.AdaptiveAvgPool2d, (4, 6)), [[f(2, 3, 16, 18)], [f(3, 3, 16, 18)]]),
    ("adaptive_max", lazily(nn.AdaptiveMaxPool2d, (4, 6)), [[f(2, 3, 16, 18)], [f(3, 3, 16, 18)]]),
    ("lp_pool", lazily(nn.LPPool2d, 2, 3, 2), [[f(2, 3, 16, 18)], [f(3, 3, 16, 18)]]),
]

NORMS = [
    ("layer_norm", lazily(nn.LayerNorm, 8), ROWS),
    ("rms_norm", lazily(nn.RMSNorm, 8), ROWS, "dynamo"),
    ("group_norm", lazily(nn.GroupNorm, 2, 4), [[f(2, 4, 6, 6)], [f(3, 4, 5, 9)]]),
    ("instance_norm", lazily(nn.InstanceNorm2d, 3, affine=True), IMAGES),
    ("batch_norm1d", lazily(nn.BatchNorm1d, 8), [[f(2, 8)], [f(5, 8)]]),
    ("local_response", lazily(nn.LocalResponseNorm, 3), IMAGES),
    ("weight_norm", lambda: nn.utils.parametrizations.weight_norm(nn.Linear(8, 4)), ROWS),
    ("normalize", call(lambda x: F.normalize(x, dim=-1)), ROWS),
    ("cosine", call(lambda x, y: F.cosine_similarity(x, y, dim=-1)), PAIRS),
]

ACTIVATIONS = [(f"activation_{kind.__name__.lower()}", kind, ROWS) for kind in (
    nn.ELU, nn.CELU, nn.SELU, nn.GELU, nn.SiLU, nn.Mish, nn.Softplus, nn.Softsign, nn.Hardtanh, nn.Hardsigmoid,
    nn.LeakyReLU, nn.PReLU, nn.LogSigmoid, nn.Tanhshrink, nn.Hardshrink, nn.Softshrink)] + [
    ("activation_gelu_tanh", lazily(nn.GELU, "tanh"), ROWS),
    ("activation_glu", lazily(nn.GLU, -1), ROWS),
    ("softmax_middle", lazily(nn.Softmax, 1), ROWS),
    ("log_softmax", lazily(nn.LogSoftmax, -1), ROWS),
]

RECURRENT = [
    ("lstm", lambda: First(nn.LSTM(8, 6, 2, batch_first=True)), ROWS),
    ("lstm_both_ways", lambda: First(nn.LSTM(8, 6, bidirectional=True)), ROWS, "script"),
    ("gru", lambda: First(nn.GRU(8, 6, 2, batch_first=True)), ROWS),
    ("gru_both_ways", lambda: First(nn.GRU(8, 6, bidirectional=True)), ROWS, "script"),
    ("rnn_tanh", lambda: First(nn.RNN(8, 6)), ROWS, "script"),
    ("rnn_relu", lambda: First(nn.RNN(8, 6, nonlinearity="relu")), ROWS, "script"),
    ("lstm_cell", lambda: nn.LSTMCell(8, 6), [[f(2, 8)], [f(5, 8)]]),
    ("gru_cell", lambda: nn.GRUCell(8, 6), [[f(2, 8)], [f(5, 8)]]),
]

ATTENTION = [
    ("attention", lambda: Attention(False), [[f(2, 5, 16)], [f(3, 9, 16)]]),
    ("attention_causal", lambda: Attention(True), [[f(2, 5, 16)], [f(3, 9, 16)]]),
    ("attention_23", lambda: Attention(True), [[f(2, 5, 16)], [f(3, 9, 16)]], "dynamo", 23),
    ("multihead", lambda: Heads(), [[f(2, 5, 16)], [f(3, 9, 16)]], "dynamo"),
    ("encoder_layer", lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), [[f(2, 5, 16)], [f(3, 9, 16)]], "dynamo"),
    ("encoder", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2), [[f(5, 2, 16)], [f(9, 3, 16)]], "dynamo"),
    ("decoder_layer", lambda: nn.TransformerDecoderLayer(16, 2, 32, batch_first=True),
     [[f(2, 5, 16), f(2, 4, 16)], [f(2, 9, 16), f(2, 7, 16)]], "dynamo"),
]


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=True)


def gridded(mode, padding, align):
    return call(lambda x, grid: F.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=align))


GRIDS = [[f(2, 3, 7, 8), f(2, 5, 6, 2)], [f(1, 3, 9, 5), f(1, 4, 4, 2)]]
SAMPLING = [(f"grid_sample_{mode}_{padding}{'_aligned' if align else ''}", gridded(mode, padding, align), GRIDS)
            for mode in ("bilinear", "nearest", "bicubic") for padding in ("zeros", "border", "reflection") for align in (False,
                True)
            ] + [
    ("grid_sample_3d", gridded("bilinear", "zeros", False), [[f(2, 2, 4, 5, 6), f(2, 3, 3, 4, 3)]], "dynamo"),
    ("affine_grid", call(lambda t: F.affine_grid(t, (2, 3, 6, 7), align_corners=False)), [[f(2, 2, 3)]]),
    ("resize_nearest", call(lambda x: F.interpolate(x, scale_factor=2, mode="nearest")), IMAGES),
    ("resize_nearest_exact", call(lambda x: F.interpolate(x, size=(9, 13), mode="nearest-exact")),
     [[f(2, 3, 16, 18)], [f(3, 3, 16, 18)]], "dynamo"),
    ("resize_bilinear", call(lambda x: F.interpolate(x, scale_factor=1.5, mode="bilinear")), IMAGES),
    ("resize_bilinear_aligned", call(lambda x: F.interpolate(x, size=(7, 40), mode="bilinear", align_corners=True)), IMAGES),
    ("resize_bicubic", call(lambda x: F.interpolate(x, scale_factor=2.5, mode="bicubic")), IMAGES),
    ("resize_antialias", call(lambda x: F.interpolate(x, size=(5, 7), mode="bilinear", antialias=True)), IMAGES, "dynamo"),
    ("resize_trilinear", call(lambda x: F.interpolate(x, scale_factor=2, mode="trilinear")), [[f(2, 2, 4, 5, 6)]]),
    ("resize_linear", call(lambda x: F.interpolate(x, scale_factor=2, mode="linear")), ROWS),
    ("resize_like", call(lambda x, y: F.interpolate(x, size=y.shape[-2:], mode="bilinear")),
     [[f(2, 3, 8, 9), f(2, 3, 16, 18)], [f(1, 3, 10, 4), f(1, 3, 5, 9)]]),
    ("pixel_shuffle", lazily(nn.PixelShuffle, 2), [[f(2, 8, 5, 6)], [f(1, 8, 7, 3)]]),
    ("pixel_unshuffle", lazily(nn.PixelUnshuffle, 2), [[f(2, 2, 6, 8)], [f(1, 2, 4, 10)]]),
    ("channel_shuffle", lazily(nn.ChannelShuffle, 2), [[f(2, 8, 5, 6)], [f(1, 8, 7, 3)]], "dynamo"),
    ("pad_constant", call(lambda x: F.pad(x, (1, 2, 3, 0), value=0.5)), IMAGES),
    ("pad_reflect", call(lambda x: F.pad(x, (1, 2, 3, 2), mode="reflect")), IMAGES),
    ("pad_replicate", call(lambda x: F.pad(x, (1, 2, 3, 2), mode="replicate")), IMAGES),
    ("pad_circular", call(lambda x: F.pad(x, (1, 2, 3, 2), mode="circular")), IMAGES),
    ("unfold", lazily(nn.Unfold, 3, padding=1, stride=2), [[f(2, 3, 8, 8)]]),
    ("fold", lazily(nn.Fold, (8, 8), 3, padding=1, stride=2), [[f(2, 27, 16)]]),
]

INDEXING = [
    ("gather", call(lambda x, y: torch.gather(x, 1, y)), [[f(3, 5), i(5, 3, 4)], [f(4, 5), i(5, 4, 4)]]),
    ("scatter_add", call(lambda x, y, z: x.scatter_add(1, y, z)), [[f(3, 5), i(5, 3, 4), f(3, 4)], [f(6, 5), i(5, 6, 4), f(6, 4)]]),
    ("scatter_reduce", call(lambda x, y, z: x.scatter_reduce(1, y, z, "amax")), [[f(3, 5), i(5, 3, 4), f(3, 4)]]),
    ("index_select", call(lambda x, y: x.index_select(1, y)), [[f(3, 5), i(5, 4)], [f(2, 5), i(5, 7)]]),
    ("index_pairs", call(lambda x, y, z: x[y, z]), [[f(6, 5, 4), i(6, 3), i(5, 3)], [f(6, 5, 4), i(6, 7), i(5, 7)]]),
    ("index_middle", call(lambda x, y: x[:, y, 1:]), [[f(6, 5, 4), i(5, 3)], [f(2, 5, 4), i(5, 7)]]),
    ("index_apart", call(lambda x, y, z: x[y, :, z]), [[f(6, 5, 4), i(6, 3), i(4, 3)], [f(6, 5, 4), i(6, 7), i(4, 7)]]),
    ("index_put", call(lambda x, y, z: x.index_put((y,), z)), [[f(6, 5), lambda r: r.permutation(6)[:3], f(3, 5)]]),
    ("index_put_add", call(lambda x, y, z: x.index_put((y,), z, accumulate=True)), [[f(6, 5), i(6, 4), f(4, 5)]]),
    ("mask_fill", call(lambda x, y: x.masked_fill(y, -1e9).softmax(-1)), [[f(3, 5), b(3, 5)], [f(6, 5), b(6, 5)]]),
    ("mask_select", call(lambda x, y: x[y]), [[f(3, 5), b(3, 5)], [f(3, 5), lambda r: r.random((3, 5)) < 0]], "script"),
    ("mask_scatter", call(lambda x, y, z: x.masked_scatter(y, z)), [[f(3, 5), b(3, 5), f(3, 5)]]),
    ("nonzero", call(lambda x: torch.nonzero(x > 0)), [[f(3, 5)], [f(6, 2)]], "script"),
    ("where", call(lambda x, y: torch.where(x > y, x, y * 2)), PAIRS),
    ("embedding", lazily(nn.Embedding, 20, 6, padding_idx=0), [[i(20, 3, 5)], [i(20, 1, 8)]]),
    ("embedding_bag", lambda: nn.EmbeddingBag(20, 6, mode="mean"), [[i(20, 3, 5)]], "script"),
    ("one_hot", call(lambda x: F.one_hot(x, 7)), [[i(7, 3, 4)], [i(7, 1, 9)]]),
    ("gather_sorted", call(lambda x: x.gather(-1, x.argsort(-1))), ROWS),
    ("topk", call(lambda x: x.topk(3, -1)), ROWS),
    ("topk_smallest", call(lambda x: x.topk(2, 1, largest=False)), ROWS),
    ("sort", call(lambda x: x.sort(-1, descending=True)), ROWS),
    ("unique", call(lambda x: torch.unique(x, return_inverse=True, return_counts=True)), [[i(6, 12)]], "script"),
    ("bucketize", call(lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 0.5]))), ROWS, "script"),
    ("roll", call(lambda x: x.roll((1, -2), (0, 2))), ROWS),
    ("flip", call(lambda x: x.flip(1, 2)), ROWS),
    ("triu_tril", call(lambda x: (x.triu(1), x.tril(-1))), ROWS),
    ("repeat_interleave", call(lambda x: x.repeat_interleave(3, 1)), ROWS),
    ("expand_repeat", call(lambda x: x[:, :1].expand(-1, 4, -1).repeat(1, 2, 3)), [[f(2, 5, 8)], [f(4, 5, 8)]]),
    ("split_cat", call(lambda x: torch.cat(list(reversed(x.split(3, -1))), -1)), ROWS),
    ("stack_unbind", call(lambda x: torch.stack(x.unbind(-1)[::2], 0)), ROWS),
    ("slices", call(lambda x: x[..., ::2, -5:-1:3]), ROWS),
    ("select_scatter", call(lambda x: x.select_scatter(x[:, 0] * 2, 1, 1)), [[f(2, 5, 8)], [f(4, 5, 8)]], "dynamo"),
    ("slice_assign", call(lambda x: assigned(x)), [[f(2, 5, 8)], [f(4, 6, 8)]]),
    ("meshgrid", call(lambda x, y: torch.meshgrid(x, y, indexing="ij")), [[f(3), f(4)], [f(5), f(2)]]),
    ("arange_positions", call(lambda x: x + torch.arange(x.shape[1], device=x.device)[None, :, None]), ROWS),
    ("cumsum", call(lambda x: (x.cumsum(1), x.cumsum(-1))), ROWS),
    ("histogram", call(lambda x: torch.histc(x, 8, -2.0, 2.0)), [[f(30)]], "dynamo"),
]


def assigned(x):
    y = x.clone()
    y[:, 1:3, ::2] = x[:, :2, 1::2] * 2
    y[..., -1] += 1
    return y


ARITHMETIC = [
    ("einsum", call(lambda x, y: torch.einsum("bij,bkj->bik", x, y)), [[f(2, 5, 8), f(2, 4, 8)], [f(3, 2, 8), f(3, 6, 8)]]),
    ("einsum_many", call(lambda x, y: torch.einsum("...ij,ij->...", x, y)), [[f(2, 3, 5, 8), f(5, 8)], [f(1, 6, 5, 8), f(5, 8)]]),
    ("baddbmm", call(lambda x, y, z: torch.baddbmm(x, y, z, beta=0.5, alpha=2)), [[f(2, 5, 4), f(2, 5, 8), f(2, 8, 4)]]),
    ("norms", call(lambda x: (x.norm(dim=-1), x.norm(p=1, dim=1), x.abs().amax((1, 2)))), ROWS),
    ("statistics", call(lambda x: (x.mean(1), x.var(-1), x.std(1, unbiased=False), x.logsumexp(-1))), ROWS),
    ("reductions", call(lambda x: (x.prod(-1), x.sum(), x.amin(1, keepdim=True), (x > 0).any(1), (x > -9).all())), ROWS),
    ("arg_reductions", call(lambda x: (x.argmax(-1), x.argmin(1, keepdim=True), x.max(1), x.min(-1))), ROWS),
    ("integers", call(lambda x, y: (x // (y + 1), x % (y + 1), x.float() / (y + 1), x << 1)),
     [[i(50, 3, 4), i(7, 3, 4)], [i(50, 2, 6), i(7, 2, 6)]]),
    ("bits", call(lambda x, y: (x & y, x | y, x ^ y, ~x)), [[i(50, 3, 4), i(7, 3, 4)], [i(50, 2, 6), i(7, 2, 6)]], "dynamo"),
    ("negative_division", call(lambda x, y: (torch.div(x, y, rounding_mode="floor"), torch.div(x, y, rounding_mode="trunc"),
                                             torch.fmod(x, y), torch.remainder(x, y))),
     [[lambda r: r.integers(-50, 50, (3, 4)), lambda r: r.integers(1, 9, (3, 4)) * -1]]),
    ("float_division", call(lambda x, y: (torch.div(x, y, rounding_mode="floor"), torch.fmod(x, y), torch.remainder(x, y))), PAIRS),
    ("rounding", call(lambda x: (x.round(), x.floor(), x.ceil(), x.sign())), [[f(3, 8, scale=3)], [f(5, 8, scale=3)]]),
    ("powers", call(lambda x: (x.abs().sqrt(), x.abs().rsqrt(), x.square(), x.pow(3), x.abs().pow(0.3), 2 ** x, x.reciprocal())),
     ROWS),
    ("trigonometry", call(lambda x: (x.sin(), x.cos(), x.tan(), x.tanh().asin(), x.atan())), ROWS),
    ("hyperbolic", call(lambda x: (x.sinh(), x.cosh(), x.asinh(), x.trunc(), x.expm1())), ROWS, "dynamo"),
    ("atan2", call(torch.atan2), PAIRS),
    ("logarithms", call(lambda x: (x.abs().log(), x.abs().log1p(), x.abs().log2(), x.erf(), x.sigmoid().logit())), ROWS),
    ("clamp", call(lambda x, y: (x.clamp(-0.5, 0.5), x.clamp(min=y), torch.maximum(x, y), torch.minimum(x, y))), PAIRS),
    ("comparisons", call(lambda x, y: (x > y, x <= 0, x.eq(y), x.isnan(), x.isinf(), (x > 0) & ~(y > 0), (x > 0) ^ (y > 0))),
     PAIRS),
    ("lerp", call(lambda x, y: (torch.lerp(x, y, 0.3), torch.addcmul(x, x, y, value=2))), PAIRS),
    ("casts", call(lambda x: (x.to(torch.int32), x.bool(), x.half(), x.double(), x.to(torch.int64).float())),
     [[f(3, 8, scale=3)], [f(5, 8, scale=3)]]),
    ("bfloat16", call(lambda x: (x.bfloat16() * 2 + 1).float()), ROWS, "dynamo"),
    ("cdist", call(torch.cdist), [[f(5, 8), f(4, 8)]], "script"),
    ("outer_cross", call(lambda x, y: (torch.outer(x[0], y[0]), torch.linalg.cross(x[:, :3], y[:, :3]))), [[f(4, 8), f(4, 8)]]),
    ("kron_tensordot", call(lambda x, y: torch.tensordot(x, y, ([1], [0]))), [[f(4, 8), f(8, 5)]]),
    ("determinant", call(torch.linalg.det), [[f(4, 4)]]),
    ("fft", call(lambda x: torch.view_as_real(torch.fft.rfft(x))), [[f(2, 16)]], "dynamo"),
    ("stft", call(lambda x: torch.view_as_real(torch.stft(x, 16, 8, window=torch.hann_window(16), return_complex=True))),
     [[f(2, 64)]], "dynamo"),
    ("huber", call(F.huber_loss), PAIRS, "dynamo"),
    ("cross_entropy", call(F.cross_entropy), [[f(4, 8), i(8, 4)], [f(7, 8), i(8, 7)]]),
    ("binary_entropy", call(F.binary_cross_entropy_with_logits), [[f(4, 8), u(4, 8)]]),
    ("int_matmul", call(lambda x, y: (x.float() @ y.float()).int()), [[i(9, 3, 4), i(9, 4, 5)], [i(9, 6, 4), i(9, 4, 2)]]),
    ("shapes", call(lambda x: (x.flatten(1), x.reshape(-1, 4), x.view(x.shape[0], -1, 2, 4), x.permute(2, 0, 1),
     x.unsqueeze(1).squeeze(1))), ROWS),
    ("full_like", call(lambda x: (torch.zeros_like(x), torch.full((x.shape[0], 3), 7), torch.ones(x.shape[1]), torch.eye(4))),
     ROWS),
]


def models():
    yield from torch_export.cases(CONVOLUTIONS + POOLING + NORMS + ACTIVATIONS + RECURRENT + ATTENTION + SAMPLING + INDEXING +
                                  ARITHMETIC)
