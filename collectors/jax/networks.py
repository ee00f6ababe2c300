"""The models for jax that are built in: each function returns a function and its inputs, weights
among them, drawn from one seed."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_SEED = 20_241
Made = tuple[Any, tuple[Any, ...]]


def _norm(x: jax.Array, scale: jax.Array, shift: jax.Array) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def mlp() -> Made:
    """A normalisation, two products with GELU, a residual, softmax and a gate."""

    def model(x: jax.Array, p: dict[str, jax.Array]) -> jax.Array:
        h = _norm(x, p["scale"], p["shift"])
        h = jax.nn.gelu(h @ p["up"] + p["up_bias"])
        h = h @ p["down"] + p["down_bias"]
        z = jax.nn.softmax(h + x)
        return jax.nn.relu(z * 2.0 + 1.0) * jax.nn.sigmoid(z)

    draw = _Drawing()
    weights = {
        "scale": 1 + draw(256), "shift": draw(256), "up": draw(256, 1024), "up_bias": draw(1024),
        "down": draw(1024, 256), "down_bias": draw(256),
    }  # fmt: skip
    return model, (draw(128, 256) * 20, weights)


def transformer() -> Made:
    """Two encoder blocks: attention written out as products and a softmax, GELU."""
    width, heads = 128, 4

    def block(x: jax.Array, p: dict[str, jax.Array]) -> jax.Array:
        batch, length, _ = x.shape
        y = _norm(x, p["scale1"], p["shift1"])
        split = (batch, length, heads, width // heads)
        q = (y @ p["q"]).reshape(split).transpose(0, 2, 1, 3)
        k = (y @ p["k"]).reshape(split).transpose(0, 2, 3, 1)
        v = (y @ p["v"]).reshape(split).transpose(0, 2, 1, 3)
        scores = jax.nn.softmax(q @ k * (width // heads) ** -0.5)
        mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + mixed @ p["out"]
        y = _norm(x, p["scale2"], p["shift2"])
        return x + jax.nn.gelu(y @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]

    def model(x: jax.Array, blocks: list[dict[str, jax.Array]]) -> jax.Array:
        for p in blocks:
            x = block(x, p)
        return x

    draw = _Drawing()
    blocks = [
        {
            "scale1": 1 + draw(width), "shift1": draw(width),
            "q": draw(width, width), "k": draw(width, width), "v": draw(width, width),
            "out": draw(width, width), "scale2": 1 + draw(width), "shift2": draw(width),
            "up": draw(width, 4 * width), "up_bias": draw(4 * width),
            "down": draw(4 * width, width), "down_bias": draw(width),
        }
        for _ in range(2)
    ]  # fmt: skip
    return model, (draw(2, 64, width) * 20, blocks)


def convnet() -> Made:
    """Convolutions with scales, ReLU and residuals, pooling and a classifier."""

    def convolved(x: jax.Array, kernel: jax.Array) -> jax.Array:
        layout = ("NHWC", "HWIO", "NHWC")
        made: jax.Array = jax.lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=layout
        )
        return made

    def model(x: jax.Array, p: dict[str, Any]) -> jax.Array:
        for kernel, scale, shift in p["layers"]:
            x = jax.nn.relu(x + convolved(x, kernel) * scale + shift)
        return jnp.tanh(x.mean((1, 2)) @ p["head"])

    draw = _Drawing()
    layers = [(draw(3, 3, 16, 16), 1 + draw(16), draw(16)) for _ in range(3)]
    return model, (draw(1, 32, 32, 16) * 20, {"layers": layers, "head": draw(16, 10)})


def twice_read() -> Made:
    """A sum over rows that two operators read, in fusions that each may compute it again."""

    def model(x: jax.Array, p: dict[str, jax.Array]) -> jax.Array:
        total = jnp.exp(x * p["scale"]).sum(-1, keepdims=True)
        near = jnp.log(total) - x
        return (near / total) @ p["mix"] + jnp.sqrt(total)

    draw = _Drawing()
    return model, (draw(256, 512) * 20, {"scale": 0.1 + draw(512), "mix": draw(512, 64)})


class _Drawing:
    """Small numbers, the same in every process."""

    def __init__(self) -> None:
        self._chance = np.random.default_rng(_SEED)

    def __call__(self, *shape: int) -> jax.Array:
        return jnp.asarray(self._chance.normal(0, 0.05, shape).astype(np.float32))
