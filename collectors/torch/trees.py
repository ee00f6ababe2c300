"""Tensors in what a model takes and returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch

_DEPTH = 20


def tensors_of(tree: Any) -> list[torch.Tensor]:
    """Every tensor in nested tuples, lists, dictionaries and dataclasses, and in what torch was
    told to look into, in order. Nothing of other objects."""
    return _found(tree, _DEPTH)


def _found(tree: Any, depth: int) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    if depth == 0 or isinstance(tree, str | bytes):
        return []
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type | Mapping):
        tree = [getattr(tree, field.name, None) for field in dataclasses.fields(tree)]
    elif isinstance(tree, Mapping):
        tree = [*tree.values()]
    elif not isinstance(tree, list | tuple):
        leaves = torch.utils._pytree.tree_leaves(tree)
        tree = [] if len(leaves) == 1 and leaves[0] is tree else leaves
    return [tensor for one in tree for tensor in _found(one, depth - 1)]
