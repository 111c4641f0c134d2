#!/usr/bin/env python3
"""Functions of JAX and networks of Flax, as jax2onnx writes them.

    from_jax.py [NAME...]
"""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax2onnx import to_onnx
from round_trip import Case, exported, main


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def case(function, arrays, shapes=None):
    """shapes: as given to the exporter, where a word is a dynamic size."""
    types = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays] if shapes is None else shapes
    model = to_onnx(function, types)
    outputs = function(*arrays)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    names = [i.name for i in model.graph.input]
    return Case(model, dict(zip(names, arrays)), [np.asarray(y) for y in outputs])


@exported
def perceptron():
    w, v = numbers(8, 32), numbers(32, 3)
    return case(lambda x: jax.nn.softmax(jnp.tanh(x @ w) @ v), [numbers(4, 8)])


@exported
def any_batch():
    w = numbers(8, 5)
    return case(lambda x: jax.nn.gelu(x @ w), [numbers(7, 8)], [("B", 8)])


@exported
def convolutions():
    class Network(nnx.Module):
        def __init__(self, rngs):
            self.first, self.norm = nnx.Conv(3, 8, (3, 3), strides=2, rngs=rngs), nnx.BatchNorm(8, use_running_average=True, rngs=rngs)
            self.head = nnx.Linear(8, 5, rngs=rngs)

        def __call__(self, x):
            x = nnx.relu(self.norm(self.first(x)))
            return self.head(nnx.max_pool(x, window_shape=(2, 2), strides=(2, 2)).mean((1, 2)))

    return case(Network(nnx.Rngs(0)), [numbers(2, 16, 16, 3)])


@exported
def attention():
    class Block(nnx.Module):
        def __init__(self, rngs):
            self.attend = nnx.MultiHeadAttention(4, 16, decode=False, rngs=rngs)
            self.norm = nnx.LayerNorm(16, rngs=rngs)

        def __call__(self, x):
            return x + self.attend(self.norm(x))

    return case(Block(nnx.Rngs(0)), [numbers(2, 6, 16)])


@exported
def reductions():
    return case(lambda x: (jnp.sort(x, axis=1), jnp.argmax(x, axis=1), jnp.cumsum(x, axis=0), jnp.where(x > 0, jnp.log1p(jnp.abs(x)), x**2)), [numbers(4, 6)])


@exported
def scan():
    """A loop over time, of the exporter's Scan or Loop."""
    w = numbers(5, 5) / 4

    def steps(x):
        last, all = jax.lax.scan(lambda h, t: ((jnp.tanh(h @ w + t),) * 2), jnp.zeros((2, 5), jnp.float32), x)
        return last, all

    return case(steps, [numbers(6, 2, 5)])


@exported
def branch():
    return case(lambda x: jax.lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, x), [-np.abs(numbers(3, 4))])


if __name__ == "__main__":
    sys.exit(main(__doc__))
