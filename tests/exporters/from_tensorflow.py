#!/usr/bin/env python3
"""Models of Keras and functions of TensorFlow, as tf2onnx writes them.

    from_tensorflow.py [NAME...]
"""
import os
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf2onnx  # noqa: E402
from keras import layers  # noqa: E402
from round_trip import Case, exported, main  # noqa: E402

OPSET = 18


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def of_function(function, arrays, shapes):
    """shapes: None is any size."""
    signature = [tf.TensorSpec(shape, a.dtype, name=f"x{k}") for k, (shape, a) in enumerate(zip(shapes, arrays))]
    compiled = tf.function(function, input_signature=signature)
    model, _ = tf2onnx.convert.from_function(compiled, input_signature=signature, opset=OPSET)
    outputs = tf.nest.flatten(compiled(*arrays))
    return Case(model, {s.name: a for s, a in zip(signature, arrays)}, [y.numpy() for y in outputs])


def of_keras(network, x):
    """Of any batch."""
    return of_function(lambda x0: network(x0, training=False), [x], [(None, *x.shape[1:])])


@exported
def perceptron():
    return of_keras(keras.Sequential([keras.Input((8,)), layers.Dense(16, "relu"), layers.Dropout(0.2), layers.Dense(3, "softmax")]), numbers(5, 8))


@exported
def convolutions():
    """Keras has channels last; the exporter transposes."""
    x = keras.Input((16, 16, 3))
    y = layers.BatchNormalization()(layers.Conv2D(8, 3, 2, "same")(x))
    z = layers.Add()([layers.SeparableConv2D(8, 3, padding="same", activation="swish")(y), y])
    z = layers.Dense(4)(layers.GlobalAveragePooling2D()(layers.MaxPooling2D()(layers.UpSampling2D(interpolation="bilinear")(z))))
    return of_keras(keras.Model(x, z), numbers(3, 16, 16, 3))


@exported
def recurrent():
    return of_keras(keras.Sequential([keras.Input((7, 5)), layers.Bidirectional(layers.LSTM(6, return_sequences=True)), layers.GRU(4)]), numbers(3, 7, 5))


@exported
def attention():
    """With the approximate GELU: of the exact one tf2onnx 1.17 leaves an operator of TensorFlow's."""
    x = keras.Input((6, 16))
    y = layers.LayerNormalization()(layers.MultiHeadAttention(2, 8)(x, x) + x)
    return of_keras(keras.Model(x, layers.Dense(4, lambda y: keras.activations.gelu(y, approximate=True))(y)), numbers(2, 6, 16))


@exported
def words():
    """Token numbers to a class."""
    network = keras.Sequential([keras.Input((9,), dtype="int32"), layers.Embedding(30, 8), layers.Conv1D(8, 3, activation="relu"), layers.GlobalMaxPooling1D(), layers.Dense(2)])
    return of_keras(network, np.random.default_rng(0).integers(0, 30, (4, 9)).astype(np.int32))


@exported
def function_of_any_size():
    def function(x0):
        best = tf.math.top_k(x0, 3)
        return tf.reduce_logsumexp(x0, 1), best.values, best.indices, tf.where(x0 > 0, tf.sqrt(tf.abs(x0)), x0 / 2)

    return of_function(function, [numbers(4, 9)], [(None, None)])


@exported
def branch_and_loop():
    """AutoGraph's: an If and a Loop."""
    def function(x0):
        if tf.reduce_sum(x0) > 0:
            y = x0 * 2
        else:
            y = x0 - 1
        total = tf.zeros_like(y[0])
        for i in tf.range(tf.shape(y)[0]):
            total = tf.tanh(total + y[i])
        return y, total

    return of_function(function, [-np.abs(numbers(4, 3))], [(None, 3)])


if __name__ == "__main__":
    sys.exit(main(__doc__))
