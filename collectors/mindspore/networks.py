"""The models for MindSpore that are built in: each function returns a cell and its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore import Parameter, Tensor, nn, ops

SHAPE = (1, 64, 128, 128)  # as the models for ONNX Runtime of the same names
CONVOLUTION = (1, 64, 56, 56)
IMAGE = (1, 3, 224, 224)
# expansion, channels, repeats, stride
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
_SEED = 20_243


class MyNet(nn.Cell):  # type: ignore[misc]
    """x · 2 + 1."""

    def __init__(self) -> None:
        super().__init__()
        self.mul = ops.Mul()
        self.add = ops.Add()

    def construct(self, x: Tensor) -> Tensor:
        """2 operators."""
        return self.add(self.mul(x, 2.0), 1.0)


class Composite(nn.Cell):  # type: ignore[misc]
    """y = (x · 2)³, then (b - y) · b."""

    def __init__(self) -> None:
        super().__init__()
        self.mul = ops.Mul()
        self.pow = ops.Pow()
        self.sub = ops.Sub()

    def construct(self, x: Tensor, b: Tensor) -> Tensor:
        """4 operators."""
        y = self.pow(self.mul(x, 2.0), 3.0)
        return self.mul(self.sub(b, y), b)


class AddRelu(nn.Cell):  # type: ignore[misc]
    """A sum and ReLU."""

    def __init__(self) -> None:
        super().__init__()
        self.add = ops.Add()
        self.relu = ops.ReLU()

    def construct(self, x: Tensor, residual: Tensor) -> Tensor:
        """2 operators."""
        return self.relu(self.add(x, residual))


class ConvBn(nn.Cell):  # type: ignore[misc]
    """A convolution, a normalisation and, where one is given, an activation."""

    def __init__(
        self,
        channels: int,
        width: int,
        size: int,
        *,
        stride: int = 1,
        groups: int = 1,
        activation: nn.Cell | None = None,
        gain: float = 2.0,
        chance: np.random.Generator,
    ) -> None:
        super().__init__()
        fan_in = channels // groups * size * size
        self.conv = nn.Conv2d(
            channels, width, size, stride, pad_mode="pad", padding=size // 2, group=groups,
            has_bias=False, weight_init=_drawn(
                chance, (gain / fan_in) ** 0.5, (width, channels // groups, size, size)
            ),
        )  # fmt: skip
        self.norm = nn.BatchNorm2d(width)
        for parameter, low, high in (
            (self.norm.gamma, 0.8, 1.2),
            (self.norm.beta, -0.1, 0.1),
            (self.norm.moving_mean, -0.1, 0.1),
            (self.norm.moving_variance, 0.8, 1.2),
        ):
            parameter.set_data(Tensor(chance.uniform(low, high, width).astype(np.float32)))
        self.activation = activation

    def construct(self, x: Tensor) -> Tensor:
        """2 or 3 operators."""
        x = self.norm(self.conv(x))
        return x if self.activation is None else self.activation(x)


class Block(nn.Cell):  # type: ignore[misc]
    """An inverted residual block."""

    def __init__(
        self,
        channels: int,
        width: int,
        expansion: int,
        stride: int,
        chance: np.random.Generator,
    ) -> None:
        super().__init__()
        inner = channels * expansion
        self.expand = None
        if expansion != 1:
            self.expand = ConvBn(channels, inner, 1, activation=nn.ReLU6(), chance=chance)
        self.dw = ConvBn(
            inner, inner, 3, stride=stride, groups=inner, activation=nn.ReLU6(), chance=chance
        )
        self.project = ConvBn(inner, width, 1, gain=1.0, chance=chance)
        self.whole = stride == 1 and channels == width

    def construct(self, x: Tensor) -> Tensor:
        """5 to 9 operators."""
        y = x if self.expand is None else self.expand(x)
        y = self.project(self.dw(y))
        return x + y if self.whole else y


class MobileNetV2(nn.Cell):  # type: ignore[misc]
    """Width 1.0."""

    def __init__(self) -> None:
        super().__init__()
        chance = np.random.default_rng(_SEED)
        self.stem = ConvBn(3, 32, 3, stride=2, activation=nn.ReLU6(), chance=chance)
        blocks, channels = [], 32
        for expansion, width, repeats, stride in STAGES:
            for repeat in range(repeats):
                step = stride if repeat == 0 else 1
                blocks.append(Block(channels, width, expansion, step, chance))
                channels = width
        self.blocks = nn.SequentialCell(blocks)
        self.last = ConvBn(channels, 1280, 1, activation=nn.ReLU6(), chance=chance)
        self.mean = ops.ReduceMean()
        self.head = nn.Dense(
            1280, 1000, weight_init=_drawn(chance, 0.05, (1000, 1280)), bias_init="zeros"
        )

    def construct(self, x: Tensor) -> Tensor:
        """152 operators: 52 Conv2D, 52 BatchNorm, 35 ReLU6, 10 Add, ReduceMean, MatMul, BiasAdd."""
        x = self.last(self.blocks(self.stem(x)))
        return self.head(self.mean(x, (2, 3)))


def mynet() -> tuple[nn.Cell, tuple[Tensor, ...]]:
    """2 operators."""
    return MyNet(), _inputs(SHAPE)


def mynet_composite() -> tuple[nn.Cell, tuple[Tensor, ...]]:
    """4 operators."""
    return Composite(), _inputs(SHAPE, SHAPE)


def add_relu() -> tuple[nn.Cell, tuple[Tensor, ...]]:
    """2 operators."""
    return AddRelu(), _inputs(SHAPE, SHAPE)


def conv_bn_relu() -> tuple[nn.Cell, tuple[Tensor, ...]]:
    """3 operators."""
    chance = np.random.default_rng(_SEED)
    channels = CONVOLUTION[1]
    cell = ConvBn(channels, channels, 3, activation=nn.ReLU(), chance=chance)
    return cell, _inputs(CONVOLUTION)


def mobilenetv2() -> tuple[nn.Cell, tuple[Tensor, ...]]:
    """152 operators."""
    return MobileNetV2(), _inputs(IMAGE)


def _drawn(chance: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Parameter:
    return Tensor((chance.standard_normal(shape) * scale).astype(np.float32))


def _inputs(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    chance = np.random.default_rng(0)
    return tuple(Tensor(chance.standard_normal(shape).astype(np.float32)) for shape in shapes)
