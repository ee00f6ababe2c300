"""The models for torch that are built in: each function returns a module and its inputs."""

from __future__ import annotations

import torch
from torch import nn


def mlp() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """LayerNorm, two linear layers with GELU, a residual, softmax and a gate."""

    class Mlp(nn.Module):  # type: ignore[misc]
        def __init__(self, width: int = 256) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(width)
            self.up = nn.Linear(width, 4 * width)
            self.down = nn.Linear(4 * width, width)
            self.gelu = nn.GELU()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.down(self.gelu(self.up(self.norm(x))))
            z = torch.softmax(y + x, -1)
            return torch.relu(z * 2.0 + 1.0) * torch.sigmoid(z)

    return Mlp(), (torch.randn(128, 256),)


def transformer() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Two encoder blocks: attention written out as products and a softmax, GELU, LayerNorm."""

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self, width: int = 128, heads: int = 4) -> None:
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)
            self.mlp = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
            )

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            batch, length, width = x.shape
            split = (batch, length, 3, self.heads, width // self.heads)
            q, k, v = self.qkv(self.norm1(x)).view(split).permute(2, 0, 3, 1, 4)
            scores = torch.softmax(q @ k.transpose(-1, -2) * (width // self.heads) ** -0.5, -1)
            mixed = (scores @ v).transpose(1, 2).reshape(batch, length, width)
            x = x + self.out(mixed)
            return x + self.mlp(self.norm2(x))

    return nn.Sequential(Block(), Block()), (torch.randn(2, 64, 128),)


def convnet() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """Convolutions with BatchNormalization and ReLU, a residual, pooling and a classifier."""

    class Residual(nn.Module):  # type: ignore[misc]
        def __init__(self, width: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
            self.norm1 = nn.BatchNorm2d(width)
            self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
            self.norm2 = nn.BatchNorm2d(width)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.relu(self.norm1(self.conv1(x)))
            return torch.relu(x + self.norm2(self.conv2(y)))

    stem = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU())
    head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    model = nn.Sequential(stem, Residual(32), Residual(32), head)
    for module in model.modules():  # else a normalisation in evaluation mode changes nothing
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.5, 0.5)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.5, 0.5)
    return model, (torch.randn(1, 3, 64, 64),)


def twice_read() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """A reduction whose result is read twice: values inlined into two kernels."""

    class TwiceRead(nn.Module):  # type: ignore[misc]
        def __init__(self, width: int = 256) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(width)
            self.left, self.right = nn.Linear(width, width), nn.Linear(width, width)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            scaled = x * x.mean(-1, keepdim=True)
            left = self.left(torch.tanh(scaled))
            right = self.right(torch.sigmoid(scaled))
            return self.norm(left * right + scaled)

    return TwiceRead(), (torch.randn(64, 256),)
