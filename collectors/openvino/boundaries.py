"""Boundaries: which of the model's tensors the layers of a compiled model write.

OpenVINO renames what it fuses, and the operators that it lists for a layer are not all. So a tensor
that a layer may write is made an output of the model, and the model is compiled once more. A layer
that is the same then, as is everything before it, and from which that tensor is copied out, writes
it: had the tensor been inside the layer, the layer could not be the same.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from fusescope.collectors.openvino.layers import GIVEN, OUTPUT, REORDER, Layer, constants_of

Names = tuple[str, ...]  # all that ONNX has for one tensor
Guesses = Mapping[str, Sequence[Names]]  # of a layer's tensor, the likeliest first
Compiled = tuple[Sequence[Layer], Mapping[str, Names]]  # layers, and what each Output returns
SECONDS = 60.0


@dataclass(frozen=True)
class Boundaries:
    """`written` says which of the model's tensors a layer's tensor is; `marked` are those that the
    model does not return by itself. `complete`: the search was not ended before its end."""

    written: dict[str, Names]
    marked: tuple[Names, ...]
    complete: bool


def returned(layers: Sequence[Layer], outputs: Mapping[str, Names]) -> dict[str, Names]:
    """Tensor of a layer -> the model's, for what reaches an output by copies alone."""
    makers = {one.name: layer for layer in layers for one in layer.writes}
    found: dict[str, Names] = {}
    for layer in layers:
        names = outputs.get(layer.name) if layer.kind == OUTPUT else None
        reads = layer.reads[0] if layer.reads else ""
        while names and reads in makers:
            found[reads] = tuple(dict.fromkeys((*found.get(reads, ()), *names)))
            maker = makers[reads]
            reads = maker.reads[0] if maker.kind == REORDER and maker.reads else ""
    return found


def search(
    layers: Sequence[Layer],
    outputs: Mapping[str, Names],
    guesses: Guesses,
    compile_with: Callable[[Sequence[Names]], Compiled],
    seconds: float = SECONDS,
) -> Boundaries:
    """`compile_with` gives what the engine makes of the model when it also returns these.

    What is returned changes layers behind it, such as a sum that is no longer computed in place. So
    all guesses are tried at once, again and again those that are left, as long as some are
    confirmed; else the first of them by itself, which confirms or refutes it.
    """
    deadline = time.monotonic() + seconds
    before = _Before(layers)
    written = returned(layers, outputs)
    left = {tensor: list(likely) for tensor, likely in guesses.items() if tensor not in written}
    marked: dict[Names, None] = {}

    def confirm(tensors: Sequence[str]) -> bool:
        wanted = tuple(dict.fromkeys(left[tensor][0] for tensor in tensors))
        found = before.confirmed(*compile_with(wanted))
        new = {own: names for own, names in found.items() if own not in written}
        written.update(new)
        for own, names in new.items():
            left.pop(own, None)
            marked.update(dict.fromkeys(one for one in wanted if set(one) & set(names)))
        return bool(new)

    while left and time.monotonic() < deadline:
        if confirm(list(left)):
            continue
        first = next(iter(left))
        if not confirm([first]) or first in left:
            del left[first][0]
            if not left[first]:
                del left[first]
    return Boundaries(written, tuple(marked), not left)


@dataclass(frozen=True)
class _Before:
    """The layers that the model is compiled to when it returns nothing else."""

    layers: Sequence[Layer]
    _by_digest: dict[str, Layer] = field(init=False)

    def __post_init__(self) -> None:
        digests = _digests(self.layers)
        counts = Counter(digests.values())
        by_digest = {
            digests[layer.name]: layer
            for layer in self.layers
            if layer.name in digests and counts[digests[layer.name]] == 1
        }
        object.__setattr__(self, "_by_digest", by_digest)

    def confirmed(self, layers: Sequence[Layer], outputs: Mapping[str, Names]) -> dict[str, Names]:
        """What these layers return, as tensors of the layers here."""
        digests = _digests(layers)
        makers = {one.name: (layer, at) for layer in layers for at, one in enumerate(layer.writes)}
        same = {name for name, digest in digests.items() if digest in self._by_digest}
        hiding = self._hiding(layers, digests, same)
        found = {}
        for tensor, names in returned(layers, outputs).items():
            layer, at = makers[tensor]
            own = self._by_digest.get(digests.get(layer.name, ""))
            if own is not None and layer.name not in hiding and at < len(own.writes):
                found[own.writes[at].name] = names
        return found

    def _hiding(
        self, layers: Sequence[Layer], digests: Mapping[str, str], same: set[str]
    ) -> set[str]:
        """Layers that are the same by what they list, though a layer that is new here reads them
        which no other layer has lost: it may have been in there without being listed."""
        still = {digests[name] for name in same}
        lost = {
            name
            for digest, layer in self._by_digest.items()
            if digest not in still
            for name in layer.listed
        }
        makers = {one.name: layer for layer in layers for one in layer.writes}
        found: set[str] = set()
        for layer in layers:
            if layer.name not in digests or layer.name in same:
                continue
            if layer.listed and lost.issuperset(layer.listed):
                continue
            for name in layer.reads:
                maker = _behind_copies(makers.get(name), makers)
                found |= {maker.name} if maker is not None else set()
        return found


def _digests(layers: Sequence[Layer]) -> dict[str, str]:
    """For each layer that computes one text for it and everything before it; copies into another
    layout do not count, nor do values that depend on no input."""
    fixed = constants_of(layers)
    makers = {one.name: layer for layer in layers for one in layer.writes}
    found: dict[str, str] = {}
    for layer in layers:
        is_fixed = layer.writes and all(one.name in fixed for one in layer.writes)
        if layer.kind in (*GIVEN, OUTPUT, REORDER) or is_fixed:
            continue
        parts = [repr(layer.key)]
        for name in layer.reads:
            maker = _behind_copies(makers.get(name), makers)
            if maker is None or name in fixed:
                parts.append("fixed")
            elif maker.kind in GIVEN:
                parts.append(f"given {maker.name}")
            else:
                parts.append(found.get(maker.name, "fixed"))
        found[layer.name] = blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()
    return found


def _behind_copies(layer: Layer | None, makers: Mapping[str, Layer]) -> Layer | None:
    while layer is not None and layer.kind == REORDER and layer.reads:
        layer = makers.get(layer.reads[0])
    return layer
