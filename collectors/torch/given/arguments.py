"""What a module is called with: inputs that its function returned, or that are drawn as asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.workers.drawn import GivenInput


@dataclass(frozen=True)
class Arguments:
    """`values` in the order of the call, of which the last have `keywords`; `names` of all, empty
    where they have none. `sources` says how each was drawn; empty where a function made them.
    `dynamic` are the dimensions of each that are marked so, once it is where it runs."""

    values: tuple[Any, ...]
    keywords: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    dynamic: tuple[tuple[int, ...], ...] = ()

    def mark_dimensions(self, values: Sequence[Any]) -> None:
        """Marks the dynamic dimensions of these, which the values became: a conversion drops it."""
        for value, dimensions in zip(values, self.dynamic, strict=False):
            for dimension in dimensions:
                torch._dynamo.mark_dynamic(value, dimension)


def returned(model: Callable[..., Any], inputs: Any) -> Arguments:
    """Return those that a function returned beside the model: one, several, or by name."""
    if isinstance(inputs, Mapping) and inputs and _takes(model, tuple(inputs)):
        names = tuple(map(str, inputs))
        return Arguments(tuple(inputs.values()), names, names)
    return Arguments(inputs if isinstance(inputs, tuple) else (inputs,))


def drawn(model: Any, given: Sequence[GivenInput], seed: int, where: str) -> Arguments:
    """Return inputs as they were asked for, always the same for one seed. Raises FuseScopeError,
    with the file `where`, for a name that the module does not have, and for an empty range."""
    named = tuple(one.name for one in given if not one.name.isdigit())
    known, takes_any = _parameters(model)
    for name in named:
        if name not in known and not takes_any:
            raise FuseScopeError(
                "torch_input_unknown", where=where, input=name[:60], known=", ".join(known)
            )
    tokens = _embeddings(model)
    made = [_drawn(one, seed + at, tokens) for at, one in enumerate(given)]
    places = len(given) - len(named)
    names = (*(f"input_{at}" for at in range(places)), *named)
    values, sources = zip(*made, strict=True) if made else ((), ())
    dynamic = tuple(one.dynamic for one in given)
    return Arguments(tuple(values), named, names, tuple(sources), dynamic)


def parameters(model: Any) -> str:
    """The names of what a module is called with, for people."""
    return ", ".join(_parameters(model)[0])


def _takes(model: Any, names: tuple[Any, ...]) -> bool:
    """Whether these are names of what it is called with: all, or where it takes any, some."""
    known, takes_any = _parameters(model)
    are_known = [name in known for name in names]
    return all(are_known) or (takes_any and any(are_known))


def _parameters(model: Any) -> tuple[list[str], bool]:
    """The names of what it is called with, and whether it takes any others."""
    call = model.forward if isinstance(model, torch.nn.Module) else model
    try:
        found = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return [], True
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in found)
    return [one.name for one in found if one.kind in by_name], takes_any


def _embeddings(model: Any) -> int | None:
    """How many entries the smallest embedding has; None without any."""
    if not isinstance(model, torch.nn.Module):
        return None
    sizes = [one.num_embeddings for one in model.modules() if isinstance(one, torch.nn.Embedding)]
    return min(sizes, default=None)


def _drawn(given: GivenInput, seed: int, tokens: int | None) -> tuple[torch.Tensor, str]:
    """One tensor, and how it was drawn."""
    dtype: torch.dtype = getattr(torch, given.dtype)
    chance = torch.Generator().manual_seed(seed)
    if dtype == torch.bool and given.low is None:
        return torch.ones(given.shape, dtype=dtype), "true"
    if dtype.is_floating_point:
        tensor, source = _real(given, chance)
    else:
        tensor, source = _whole(given, chance, tokens)
    return tensor.to(dtype), source


def _real(given: GivenInput, chance: torch.Generator) -> tuple[torch.Tensor, str]:
    if given.low is None or given.high is None:
        return torch.randn(given.shape, generator=chance), "standard normal"
    tensor = torch.rand(given.shape, generator=chance) * (given.high - given.low) + given.low
    return tensor, f"uniform {given.low:g} to {given.high:g}"


def _whole(
    given: GivenInput, chance: torch.Generator, tokens: int | None
) -> tuple[torch.Tensor, str]:
    low = 0 if given.low is None else int(given.low)
    high = (1 if tokens is None else tokens - 1) if given.high is None else int(given.high)
    tensor = torch.randint(low, max(low, high) + 1, given.shape, generator=chance)
    return tensor, f"uniform {low} to {max(low, high)}"
