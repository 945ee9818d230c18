# SPDX-License-Identifier: Apache-2.0
"""Keras networks and functions of TensorFlow as tf2onnx writes them: NHWC layouts, loops, strings, sizes that vary."""

import os

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import keras
import numpy as np
import tensorflow as tf
import tf2onnx
from keras import layers

import suite
from suite import b, f, i, u

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)


def network(*parts, shape):
    inputs = keras.Input(shape)
    x = inputs
    for part in parts:
        x = part(x)
    return keras.Model(inputs, x)


def case(make, sets, opset=None):
    keras.utils.set_random_seed(7)
    function = make()
    arrays = suite.drawn(sets, 5)
    axes = suite.varying_axes(arrays)
    specs = [tf.TensorSpec([None if axis in axes[k] else size for axis, size in enumerate(array.shape)], array.dtype, name=f"x{k}")
             for k, array in enumerate(arrays[0])]
    if isinstance(function, keras.Model):
        model = function
        function = lambda x0: model(x0, training=False)
    compiled = tf.function(function, input_signature=specs, autograph=True)
    proto, _ = tf2onnx.convert.from_function(compiled, input_signature=specs, opset=opset or 18)
    names = [value.name for value in proto.graph.input]
    order = [f"x{k}" for k in range(len(specs))]
    data = [{name: value for name, value in zip(order, group) if name in names} for group in arrays]
    return suite.Case(proto, data)


L = layers
IMAGES = [[f(2, 16, 18, 3)], [f(1, 16, 18, 3)], [f(3, 16, 18, 3)]]
WIDE = [[f(2, 16, 18, 3)], [f(1, 24, 17, 3)]]
ROWS = [[f(2, 7, 8)], [f(1, 7, 8)], [f(4, 7, 8)]]
SHAPE, ROW = (16, 18, 3), (7, 8)


def image(*parts):
    return lambda: network(*[part() if callable(part) and not isinstance(part, L.Layer) else part for part in parts], shape=SHAPE)


def row(*parts):
    return lambda: network(*[part() if callable(part) and not isinstance(part, L.Layer) else part for part in parts], shape=ROW)


KERAS = {
    "conv_same": (image(lambda: L.Conv2D(6, 3, padding="same", activation="relu")), IMAGES),
    "conv_strided_same": (image(lambda: L.Conv2D(6, 3, strides=2, padding="same")), IMAGES),
    "conv_valid": (image(lambda: L.Conv2D(6, (3, 4), strides=(1, 2))), IMAGES),
    "conv_dilated": (image(lambda: L.Conv2D(6, 3, dilation_rate=2, padding="same")), IMAGES),
    "depthwise": (image(lambda: L.DepthwiseConv2D(3, padding="same", depth_multiplier=2)), IMAGES),
    "separable": (image(lambda: L.SeparableConv2D(6, 3, padding="same")), IMAGES),
    "deconv": (image(lambda: L.Conv2DTranspose(5, 3, strides=2, padding="same")), IMAGES),
    "deconv_valid": (image(lambda: L.Conv2DTranspose(5, 4, strides=2)), IMAGES),
    "conv1d_causal": (row(lambda: L.Conv1D(6, 3, padding="causal", dilation_rate=2)), ROWS),
    "conv3d": (lambda: network(L.Conv3D(3, 3, padding="same"), shape=(5, 6, 7, 2)), [[f(2, 5, 6, 7, 2)], [f(1, 5, 6, 7, 2)]]),
    "norm_relu_pool": (image(lambda: L.Conv2D(8, 3), lambda: L.BatchNormalization(), lambda: L.ReLU(6.0), lambda: L.MaxPooling2D()),
        IMAGES),
    "average_pool_same": (image(lambda: L.AveragePooling2D(3, 2, padding="same")), IMAGES),
    "max_pool_same": (image(lambda: L.MaxPooling2D(3, 2, padding="same")), IMAGES),
    "global_pools": (lambda: (lambda x0: (tf.reduce_mean(x0, [1, 2]), tf.reduce_max(x0, [1, 2]),
        tf.reduce_max(x0, -1, keepdims=True))), WIDE),
    "resize_up": (image(lambda: L.UpSampling2D(2)), IMAGES),
    "resize_up_bilinear": (image(lambda: L.UpSampling2D((2, 3), interpolation="bilinear")), IMAGES),
    "padding_cropping": (image(lambda: L.ZeroPadding2D(((1, 2), (3, 0))), lambda: L.Cropping2D(1)), IMAGES),
    "layer_norm": (row(lambda: L.LayerNormalization()), ROWS),
    "group_norm": (lambda: network(L.GroupNormalization(2), shape=(6, 6, 4)), [[f(2, 6, 6, 4)], [f(1, 6, 6, 4)]]),
    "dense_softmax": (row(lambda: L.Dense(5, activation="softmax")), ROWS),
    "activations": (row(lambda: L.Dense(5, activation="tanh"), lambda: L.Dense(5, activation="swish"),
        lambda: L.Dense(5, activation="selu"),
                        lambda: L.Dense(5, activation="softplus"), lambda: L.LeakyReLU(), lambda: L.PReLU(), lambda: L.ELU()), ROWS),
    "lstm": (row(lambda: L.LSTM(6)), ROWS),
    "lstm_sequences": (row(lambda: L.LSTM(6, return_sequences=True)), ROWS),
    "lstm_both_ways": (row(lambda: L.Bidirectional(L.LSTM(6, return_sequences=True))), ROWS),
    "gru": (row(lambda: L.GRU(6)), ROWS),
    "gru_sequences": (row(lambda: L.GRU(6, return_sequences=True, reset_after=False)), ROWS),
    "simple_rnn": (row(lambda: L.SimpleRNN(6)), ROWS),
    "conv_lstm": (lambda: network(L.ConvLSTM2D(3, 3, padding="same"), shape=(4, 6, 6, 2)),
        [[f(2, 4, 6, 6, 2)], [f(1, 4, 6, 6, 2)]]),
    "time_distributed": (lambda: network(L.TimeDistributed(L.Conv2D(3, 3)), shape=(4, 6, 6, 2)),
        [[f(2, 4, 6, 6, 2)], [f(1, 4, 6, 6, 2)]]),
    "embedding_mean": (lambda: keras.Sequential([keras.Input((9,), dtype="int32"), L.Embedding(20, 6), L.GlobalAveragePooling1D(),
        L.Dense(3)]),
                       [[lambda r: r.integers(0, 20, (2, 9)).astype(np.int32)],
                           [lambda r: r.integers(0, 20, (5, 9)).astype(np.int32)]]),
    "attention": (lambda: attention(), ROWS),
    "mobilenet_v2": (lambda: keras.applications.MobileNetV2((32, 32, 3), 0.35, weights=None, classes=5),
        [[u(2, 32, 32, 3)], [u(1, 32, 32, 3)]]),
    "mobilenet_v3": (lambda: keras.applications.MobileNetV3Small((64, 64, 3), 0.5, minimalistic=False, weights=None, classes=5),
        [[u(2, 64, 64, 3)], [u(1, 64, 64, 3)]]),
    "unet": (lambda: unet(), [[u(2, 32, 32, 3)], [u(1, 32, 32, 3)]]),
}


def attention():
    inputs = keras.Input(ROW)
    x = L.MultiHeadAttention(2, 4)(inputs, inputs)
    x = L.LayerNormalization()(x + inputs)
    return keras.Model(inputs, L.Dense(8, activation="relu")(x) + x)


def unet():
    inputs = keras.Input((32, 32, 3))
    a = L.Conv2D(8, 3, padding="same", activation="relu")(inputs)
    c = L.Conv2D(16, 3, padding="same", activation="relu")(L.MaxPooling2D()(a))
    d = L.Concatenate()([L.Conv2DTranspose(8, 2, 2)(c), a])
    return keras.Model(inputs, L.Conv2D(2, 1, activation="softmax")(d))


def growing(x0):
    """A tensor that grows in a loop."""
    rows = x0[:1]
    k = tf.constant(0)
    _, rows = tf.while_loop(lambda k, rows: k < 4, lambda k, rows: (k + 1, tf.concat([rows, x0[:1] * tf.cast(k, tf.float32)], 0)),
        [k, rows],
                            shape_invariants=[k.shape, tf.TensorShape([None, None])])
    return rows


def until(x0):
    steps, x = tf.while_loop(lambda n, x: tf.reduce_max(tf.abs(x)) > 0.1, lambda n, x: (n + 1, x * 0.5), [tf.constant(0), x0])
    return steps, x


def arrays(x0):
    """A TensorArray that a loop fills."""
    kept = tf.TensorArray(tf.float32, tf.shape(x0)[0], element_shape=[4])
    total = tf.zeros([4])
    for k in tf.range(tf.shape(x0)[0]):
        total += x0[k]
        kept = kept.write(k, total)
    return kept.stack()


def branch(x0):
    return tf.cond(tf.reduce_sum(x0) > 0, lambda: x0 * 2, lambda: tf.exp(x0) + 1)


def suppressed(x0, x1):
    corner = tf.abs(x0)
    boxes = tf.concat([corner[:, :2], corner[:, :2] + 0.5 + corner[:, 2:]], 1)
    kept = tf.image.non_max_suppression(boxes, x1, 5, 0.3)
    return kept, tf.gather(boxes, kept)


def call(function):
    return lambda: function


MATRIX = [[f(3, 4)], [f(7, 4)], [f(1, 4)]]
FUNCTIONS = {
    "growing": (call(growing), MATRIX),
    "until": (call(until), MATRIX),
    "arrays": (call(arrays), [[f(3, 4)], [f(7, 4)]]),
    "branch": (call(branch), [[f(3, 4)], [f(7, 4)], [f(2, 4)]]),
    "suppressed": (call(suppressed), [[f(20, 4), u(20)], [f(6, 4), u(6)]]),
    "gather_nd": (call(lambda x0, x1: tf.gather_nd(x0, x1)), [[f(5, 4, 3), i(4, 6, 2)], [f(5, 4, 3), i(4, 2, 2)]]),
    "scatter_nd": (call(lambda x0, x1: tf.scatter_nd(x0[:, None], x1, [8, 3])),
        [[lambda r: r.permutation(8)[:4].astype(np.int32), f(4, 3)]]),
    "tensor_scatter": (call(lambda x0, x1: tf.tensor_scatter_nd_update(x0, [[1], [3]], x1)),
        [[f(5, 4), f(2, 4)], [f(9, 4), f(2, 4)]]),
    "strided_slices": (call(lambda x0: (x0[:, 1::2, ::-1], x0[..., -2], x0[:, tf.newaxis, 2:5])), ROWS),
    "split_stack": (call(lambda x0: tf.stack(tf.split(x0, 4, -1), 1)), ROWS),
    "einsum": (call(lambda x0, x1: tf.einsum("bij,bkj->bik", x0, x1)), [[f(2, 7, 8), f(2, 5, 8)], [f(3, 4, 8), f(3, 6, 8)]]),
    "matmul_turned": (call(lambda x0, x1: tf.matmul(x0, x1, transpose_b=True)),
        [[f(2, 7, 8), f(2, 5, 8)], [f(3, 4, 8), f(3, 6, 8)]]),
    "batch_space": (call(lambda x0: tf.batch_to_space(tf.space_to_batch(x0, [2, 2], [[0, 0], [0, 0]]) * 2, [2, 2],
        [[0, 0], [1, 1]])), [[f(2, 8, 8, 3)], [f(1, 8, 8, 3)]]),
    "depth_space": (call(lambda x0: (tf.nn.depth_to_space(x0, 2), tf.nn.space_to_depth(x0, 2))),
        [[f(2, 8, 8, 4)], [f(1, 8, 8, 4)]]),
    "resize_bilinear": (call(lambda x0: tf.image.resize(x0, [9, 40])), WIDE),
    "resize_nearest": (call(lambda x0: tf.image.resize(x0, [9, 40], "nearest")), WIDE),
    "resize_bicubic_old": (call(lambda x0: tf.compat.v1.image.resize_bilinear(x0, [9, 40], align_corners=True)), WIDE),
    "resize_nearest_old": (call(lambda x0: tf.compat.v1.image.resize_nearest_neighbor(x0, [9, 40])), WIDE),
    "resize_nearest_pixels": (call(lambda x0: tf.raw_ops.ResizeNearestNeighbor(images=x0, size=[11, 29], half_pixel_centers=True)),
        WIDE),
    "crop_resize": (call(lambda x0: tf.image.crop_and_resize(x0, [[0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]], [0, 0], [6, 7])), WIDE),
    "mirror_pad": (call(lambda x0: tf.pad(x0, [[0, 0], [2, 1], [1, 3], [0, 0]], "REFLECT")), WIDE),
    "symmetric_pad": (call(lambda x0: tf.pad(x0, [[0, 0], [2, 1], [1, 2], [0, 0]], "SYMMETRIC")), [[f(2, 8, 9, 3)]]),
    "segments": (call(lambda x0: tf.math.segment_sum(x0, [0, 0, 1, 1, 2])), [[f(5, 4)]]),
    "top_k": (call(lambda x0: tf.math.top_k(x0, 3)), ROWS),
    "sorted": (call(lambda x0: (tf.sort(x0, -1), tf.argsort(x0, -1))), ROWS),
    "unique": (call(lambda x0: tf.unique(x0)), [[lambda r: r.integers(0, 6, 14).astype(np.int32)]]),
    "where_points": (call(lambda x0: tf.where(x0 > 0)), MATRIX),
    "boolean_mask": (call(lambda x0, x1: tf.boolean_mask(x0, x1)), [[f(6, 4), b(6)], [f(9, 4), b(9)]]),
    "one_hot": (call(lambda x0: tf.one_hot(x0, 5, 2.0, -1.0)), [[i(7, 3, 4)], [i(7, 2, 6)]]),
    "cumulative": (call(lambda x0: (tf.cumsum(x0, 1, exclusive=True), tf.cumsum(x0, -1, reverse=True))), ROWS),
    "floor_division": (call(lambda x0, x1: (x0 // x1, tf.math.floormod(x0, x1), tf.truncatediv(x0, x1))),
                       [[lambda r: r.integers(-40, 40, (3, 4)).astype(np.int32),
                           lambda r: r.integers(1, 7, (3, 4)).astype(np.int32)]]),
    "float_modulo": (call(lambda x0, x1: (tf.math.floordiv(x0, x1), tf.math.floormod(x0, x1))), [[f(3, 4), f(3, 4)]]),
    "clip_round": (call(lambda x0: (tf.clip_by_value(x0, -0.5, 0.7), tf.round(x0 * 3), tf.sign(x0), tf.math.rint(x0 * 3))), ROWS),
    "statistics": (call(lambda x0: (*tf.nn.moments(x0, [1]), tf.reduce_logsumexp(x0, -1), tf.norm(x0, axis=1),
        tf.math.reduce_std(x0, 1))), ROWS),
    "reductions": (call(lambda x0: (tf.reduce_prod(x0, 1), tf.reduce_any(x0 > 1, 1), tf.reduce_all(x0 > -3), tf.argmax(x0, 1),
        tf.argmin(x0, -1))), ROWS),
    "erf_gamma": (call(lambda x0: (tf.math.erf(x0), tf.math.softsign(x0), tf.math.atan2(x0, x0 + 1))), ROWS),
    "bits": (call(lambda x0, x1: (tf.bitwise.left_shift(x0, x1), tf.bitwise.right_shift(x0, x1))),
        [[lambda r: r.integers(0, 60, 8).astype(np.uint32), lambda r: r.integers(0, 5, 8).astype(np.uint32)]]),
    "fake_quantised": (call(lambda x0: tf.quantization.fake_quant_with_min_max_args(x0, -2, 2)), ROWS),
    "sparse_softmax": (call(lambda x0, x1: tf.nn.sparse_softmax_cross_entropy_with_logits(x1, x0)),
        [[f(4, 8), i(8, 4)], [f(7, 8), i(8, 7)]]),
    "reverse_sequence": (call(lambda x0, x1: tf.reverse_sequence(x0, x1, 1)),
        [[f(3, 7, 4), lambda r: r.integers(1, 8, 3).astype(np.int32)]]),
    "matrix_band": (call(lambda x0: tf.linalg.band_part(x0, 1, 2)), ROWS),
    "shape_arithmetic": (call(lambda x0: tf.reshape(x0, [tf.shape(x0)[0], tf.shape(x0)[1] * 2, -1]) + tf.cast(tf.size(x0),
        tf.float32)), [[f(2, 7, 8)], [f(3, 4, 8)]]),
    "range_fill": (call(lambda x0: tf.cast(tf.range(tf.shape(x0)[0]), tf.float32)[:, None] + tf.fill(tf.shape(x0), 2.0)), MATRIX),
    "lrn": (call(lambda x0: tf.nn.local_response_normalization(x0, 2)), WIDE),
    "roll": (call(lambda x0: tf.roll(x0, [1, -2], [1, 2])), ROWS),
}


def models():
    for name, (make, sets) in {**KERAS, **FUNCTIONS}.items():
        yield name, lambda m=make, s=sets: case(m, s)
    for name in ("conv_same", "lstm", "unet", "resize_bilinear", "max_pool_same", "arrays"):
        make, sets = {**KERAS, **FUNCTIONS}[name]
        for opset in (13, 15):
            yield f"{name}_opset_{opset}", lambda m=make, s=sets, o=opset: case(m, s, o)
