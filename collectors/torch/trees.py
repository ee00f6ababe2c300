"""Tensors in what a model takes and returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

_DEPTH = 20
_LEAVES = (torch.Tensor, str, bytes, int, float, complex, type(None))
_OPAQUE = (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType, torch.nn.Module)


def tensors_of(tree: Any) -> list[torch.Tensor]:
    """Every tensor in nested tuples, lists, dictionaries, dataclasses and objects, such as a cache,
    and in what torch was told to look into, in order. Nothing of modules and functions."""
    return [leaf for leaf in leaves_of(tree) if isinstance(leaf, torch.Tensor)]


def leaves_of(tree: Any) -> list[Any]:
    """The tensors, and the numbers and words that stand beside them."""
    return list(_found(tree, _DEPTH, set()))


def moved(tree: Any, move: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same with every tensor moved; objects keep their identity."""
    if isinstance(tree, torch.Tensor):
        return move(tree)
    kept = torch.utils._pytree.tree_map(
        lambda leaf: move(leaf) if isinstance(leaf, torch.Tensor) else leaf, tree
    )
    for leaf in torch.utils._pytree.tree_leaves(kept):
        _move_inside(leaf, move, _DEPTH, set())
    return kept


def _found(tree: Any, depth: int, seen: set[int]) -> Iterator[Any]:
    if isinstance(tree, _LEAVES):
        yield tree
        return
    if depth == 0 or isinstance(tree, _OPAQUE):
        return
    inside = _inside(tree)
    if inside is None:  # an object, which may lead back to itself
        if id(tree) in seen:
            return
        seen.add(id(tree))
        inside = [*getattr(tree, "__dict__", {}).values()]
    for one in inside:
        yield from _found(one, depth - 1, seen)


def _inside(tree: Any) -> list[Any] | None:
    """The parts of a container; None for another object."""
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type | Mapping):
        return [getattr(tree, field.name, None) for field in dataclasses.fields(tree)]
    if isinstance(tree, Mapping):
        return [*tree.values()]
    if isinstance(tree, list | tuple | set | frozenset):
        return list(tree)
    leaves: list[Any] = torch.utils._pytree.tree_leaves(tree)
    return None if len(leaves) == 1 and leaves[0] is tree else leaves


def _move_inside(
    tree: Any, move: Callable[[torch.Tensor], torch.Tensor], depth: int, seen: set[int]
) -> None:
    """Moves tensors that an object holds, in place."""
    held = getattr(tree, "__dict__", None)
    if not isinstance(held, dict) or isinstance(tree, (torch.Tensor, *_OPAQUE)):
        return
    if depth == 0 or id(tree) in seen:
        return
    seen.add(id(tree))
    for name, value in list(held.items()):
        if isinstance(value, torch.Tensor):
            setattr(tree, name, move(value))
        for part in value if isinstance(value, list | tuple) else [value]:
            _move_inside(part, move, depth - 1, seen)
