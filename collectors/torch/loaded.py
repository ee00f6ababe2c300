"""A model for torch with its inputs: its tensors by name, and what a run of it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from fusescope.collectors.torch.given.training import Training
from fusescope.collectors.torch.translated.network import Network
from fusescope.collectors.torch.trees import tensors_of

_WEIGHT_SEED = 20_241


@dataclass(frozen=True)
class Loaded:
    """`call` runs `model` on `inputs`; its code object is its own, so that what is compiled for one
    session does not serve, or slow down, another. `file` is the source; `sha256` is of the source,
    the weights and the inputs. `network` is what was translated from ONNX. `names` are those of the
    inputs, empty where they have none; `sources` says how each was drawn, where it was. `changed`
    are the names of inputs and buffers that a run writes into: what it returns, too. `training` is
    None where a run is no training step."""

    call: Callable[..., Any]
    model: Callable[..., Any]
    inputs: tuple[Any, ...]
    file: str
    sha256: str
    network: Network | None = None
    names: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    training: Training | None = None

    def named_tensors(self) -> dict[int, tuple[str, bool]]:
        """Address of the data of every input, parameter and buffer -> name, and whether it is
        constant: nothing is that a training step changes."""
        if self.network is not None:
            return self.network.named_tensors()
        found: dict[int, tuple[str, bool]] = {}
        if self.training is not None:
            changed = {**self.training.state(), **self._buffers()}
            found = {tensor.data_ptr(): (name, False) for name, tensor in changed.items()}
        if isinstance(self.model, torch.nn.Module):
            for name, tensor in (*self.model.named_parameters(), *self.model.named_buffers()):
                found.setdefault(tensor.data_ptr(), (name, True))
        for name, tensor in self.named_inputs():
            found[tensor.data_ptr()] = (name, False)
        return found

    def vary_weights(self) -> None:
        """Moves every weight a little, always in the same way: freshly made normalisations scale
        by 1 and add 0, so that values before and behind them could not be told apart."""
        if not isinstance(self.model, torch.nn.Module):
            return
        chance = torch.Generator().manual_seed(_WEIGHT_SEED)
        with torch.no_grad():
            for tensor in (*self.model.parameters(), *self.model.buffers()):
                if tensor.is_floating_point():
                    drawn = torch.rand(2, *tensor.shape, generator=chance).to(tensor)
                    tensor.mul_(1 + 0.2 * drawn[0]).add_(0.05 * drawn[1])

    def named_inputs(self) -> list[tuple[str, torch.Tensor]]:
        """The tensors that are fed: input_0, input_1, …, or as the ONNX model calls them."""
        if self.network is not None:
            return [*self.network.inputs.items()]
        if self.names:
            return [*_named(self.names, self.inputs)]
        tensors = tensors_of(self.inputs)
        return [(f"input_{index}", tensor) for index, tensor in enumerate(tensors)]

    def state(self) -> dict[str, torch.Tensor]:
        """Inputs and buffers by name, and what a training step changes: what a run may write
        into."""
        found = self._buffers()
        if self.training is not None:
            found |= self.training.state()
        return found | dict(self.named_inputs())

    def _buffers(self) -> dict[str, torch.Tensor]:
        if not isinstance(self.model, torch.nn.Module):
            return {}
        return dict(self.model.named_buffers())

    def changing(self) -> list[torch.Tensor]:
        """Those that a run writes into."""
        state = self.state()
        return [state[name] for name in self.changed]

    def results(self, returned: Any) -> list[torch.Tensor]:
        """What a run left: the tensors that it returned, gradients, and what it wrote into."""
        found = tensors_of(returned)
        if self.training is not None:
            found += self.training.gradients()
        held = {id(tensor) for tensor in found}
        return found + [tensor for tensor in self.changing() if id(tensor) not in held]

    def compared(self, returned: Any) -> list[torch.Tensor]:
        """The same as far as it is compared between variants: of a training step what is of one
        kind as one."""
        if self.training is None:
            return self.results(returned)
        kinds = [
            torch.cat([one.detach().reshape(-1).to(torch.float32) for one in kind])
            for kind in self.training.by_kind()
        ]
        changed = {*self.changed} - self.training.state().keys()
        state = self.state()
        return (
            tensors_of(returned) + kinds + [state[name] for name in self.changed if name in changed]
        )

    def source(self, number: int) -> str:
        """How the input of that number was made."""
        return self.sources[number] if self.sources else "made by the model's function"


def _named(names: Sequence[str], inputs: Sequence[Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of each input, behind its name where it holds several."""
    for name, value in zip(names, inputs, strict=True):
        tensors = tensors_of(value)
        for number, tensor in enumerate(tensors):
            yield (name if len(tensors) == 1 else f"{name}_{number}"), tensor
