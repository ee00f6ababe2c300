"""Models for scripts/check_device.py, as a user's file has them: functions that return a module and
its inputs."""

from __future__ import annotations

import torch
from torch import nn


class _Inverted(nn.Module):
    """Expansion, depthwise convolution and projection, as in MobileNetV2."""

    def __init__(self, width: int, to: int, stride: int) -> None:
        super().__init__()
        wide = 6 * width
        self.is_residual = stride == 1 and width == to
        self.layers = nn.Sequential(
            nn.Conv2d(width, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide),
            nn.ReLU6(), nn.Conv2d(wide, to, 1, bias=False), nn.BatchNorm2d(to),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        return x + y if self.is_residual else y


def mobilenet() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """A stem, three inverted residuals, pooling and a classifier."""
    sizes = ((16, 24, 2), (24, 24, 1), (24, 32, 2))
    stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 100))
    model = nn.Sequential(stem, *(_Inverted(*size) for size in sizes), head)
    for module in model.modules():  # else a normalisation in evaluation mode changes nothing
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.5, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    return model, (torch.randn(4, 3, 128, 128),)


def attention() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Attention as one operator, with a gate, a residual and a normalisation around it."""

    class Attention(nn.Module):
        def __init__(self, width: int = 256, heads: int = 4) -> None:
            super().__init__()
            self.heads = heads
            self.norm = nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            batch, length, width = x.shape
            q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
            shape = (batch, length, self.heads, width // self.heads)
            q, k, v = (each.view(shape).transpose(1, 2) for each in (q, k, v))
            mixed = nn.functional.scaled_dot_product_attention(q, k, v)
            mixed = mixed.transpose(1, 2).reshape(batch, length, width)
            return x + self.out(mixed) * torch.sigmoid(x)

    return Attention(), (torch.randn(2, 128, 256),)
