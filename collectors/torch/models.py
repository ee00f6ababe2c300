"""Models for torch: built in, or what a function of a user's file returns."""

from __future__ import annotations

import hashlib
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text
from fusescope.collectors.torch import arguments, devices, networks
from fusescope.collectors.torch.arguments import Arguments
from fusescope.collectors.torch.names import PREFIX
from fusescope.collectors.torch.translated import network
from fusescope.collectors.torch.translated.network import Network
from fusescope.collectors.torch.trees import tensors_of
from fusescope.collectors.workers.drawn import GivenInput
from fusescope.collectors.workers.jobs import SessionSettings
from fusescope.collectors.workers.placement import CPU, Placement

_RUN = "def run(*inputs):\n    return model({arguments})\n"
_WEIGHT_SEED = 20_241
_numbers = itertools.count()


@dataclass(frozen=True)
class Loaded:
    """`call` runs `model` on `inputs`; its code object is its own, so that what is compiled for one
    session does not serve, or slow down, another. `file` is the source; `sha256` is of the source,
    the weights and the inputs. `network` is what was translated from ONNX. `names` are those of the
    inputs, empty where they have none; `sources` says how each was drawn, where it was. `changed`
    are the names of inputs and buffers that a run writes into: what it returns, too."""

    call: Callable[..., Any]
    model: Callable[..., Any]
    inputs: tuple[Any, ...]
    file: str
    sha256: str
    network: Network | None = None
    names: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def named_tensors(self) -> dict[int, tuple[str, bool]]:
        """Address of the data of every input, parameter and buffer -> name, and whether it is
        constant."""
        if self.network is not None:
            return self.network.named_tensors()
        found: dict[int, tuple[str, bool]] = {}
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
        """Inputs and buffers by name: what a run may write into."""
        found = {}
        if isinstance(self.model, torch.nn.Module):
            found = dict(self.model.named_buffers())
        return found | dict(self.named_inputs())

    def changing(self) -> list[torch.Tensor]:
        """Those that a run writes into."""
        state = self.state()
        return [state[name] for name in self.changed]

    def results(self, returned: Any) -> list[torch.Tensor]:
        """What a run left: the tensors that it returned, and those that it wrote into."""
        found = tensors_of(returned)
        held = {id(tensor) for tensor in found}
        return found + [tensor for tensor in self.changing() if id(tensor) not in held]

    def source(self, number: int) -> str:
        """How the input of that number was made."""
        return self.sources[number] if self.sources else "made by the model's function"


def of(settings: SessionSettings) -> Loaded:
    """The model of a recording. Raises FuseScopeError as `load` does, and for a form of an ONNX
    operator that is not translated."""
    if not settings.program:
        loaded = load(settings.model, settings.drawing.seed, settings.placement, settings.given)
        return replace(loaded, changed=settings.changed)
    made = network.load(settings)
    inputs = tuple(made.inputs.values())
    return Loaded(_run_of(made.module), made.module, inputs, settings.program, "", made)


def split(spec: str) -> tuple[str, str]:
    """`file.py:function`, or the file of what is built in, as (path, function); '' for the function
    of a file that torch wrote itself (fx_graph_runnable.py)."""
    if spec.startswith(PREFIX):
        return str(Path(networks.__file__)), spec.removeprefix(PREFIX)
    if spec.endswith(".py"):
        return spec, ""
    path, _, function = spec.rpartition(":")
    return path, function


def load(spec: str, seed: int, placement: Placement, given: Sequence[GivenInput] = ()) -> Loaded:
    """The model, in evaluation mode, with its example inputs, or those that are `given` in their
    place, placed. Runs the file: only for what the user named on the command line. Raises
    FuseScopeError where it does not return a model."""
    path, function = split(spec)
    where = Path(path).name
    source = Path(path).read_bytes()
    torch.manual_seed(seed)
    module = ModuleType(f"fusescope_model_{next(_numbers)}")
    module.__file__ = path
    sys.modules[module.__name__] = module  # where the compiler looks globals up
    if str(Path(path).parent) not in sys.path:
        sys.path.insert(0, str(Path(path).parent))
    environment = dict(os.environ)
    try:
        exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102 - the user asked for it
        make = getattr(module, function, None) if function else partial(_repro, module)
        made = make() if callable(make) else None
    except Exception as error:
        raise _raised(where, error) from error
    finally:  # what torch writes sets its cache folder
        os.environ.clear()
        os.environ.update(environment)
    if not callable(make):
        raise FuseScopeError("torch_no_function", where=where, function=function[:60])
    model, taken = _taken(made, given, seed, where, function)
    inputs = taken.values
    if isinstance(model, torch.nn.Module):
        model.eval().requires_grad_(False)
    if placement.dtype:
        move = partial(_converted, dtype=getattr(torch, placement.dtype))
        inputs = _moved(model, inputs, move)
    leaves = torch.utils._pytree.tree_leaves(inputs)
    sha256 = _hash(source, function, model, leaves)
    if placement.device != CPU:
        place = devices.chosen(placement).place
        inputs = _moved(model, inputs, lambda tensor: tensor.to(place))
    taken.mark_dimensions(inputs)
    run = _run_of(model, len(inputs), taken.keywords)
    return Loaded(run, model, inputs, path, sha256, names=taken.names, sources=taken.sources)


def _taken(
    made: Any, given: Sequence[GivenInput], seed: int, where: str, function: str
) -> tuple[Any, Arguments]:
    """The model that a function made, and what it is called with."""
    is_pair = isinstance(made, tuple) and len(made) == 2 and callable(made[0])
    if not is_pair and not isinstance(made, torch.nn.Module):
        raise FuseScopeError("torch_no_module", where=where, function=function[:60])
    model = made[0] if is_pair else made
    if given:
        return model, arguments.drawn(model, given, seed, where)
    if not is_pair:
        known = arguments.parameters(model)
        raise FuseScopeError("torch_no_inputs", where=where, function=function[:60], known=known)
    taken = arguments.returned(model, made[1])
    if not tensors_of(taken.values):
        raise FuseScopeError("torch_no_module", where=where, function=function[:60])
    return model, taken


def _named(names: Sequence[str], inputs: Sequence[Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of each input, behind its name where it holds several."""
    for name, value in zip(names, inputs, strict=True):
        tensors = tensors_of(value)
        for number, tensor in enumerate(tensors):
            yield (name if len(tensors) == 1 else f"{name}_{number}"), tensor


def _moved(model: Any, inputs: Any, move: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The inputs with every tensor moved, and so in place the weights and buffers of a module. Of
    a function that is none, only the inputs can be reached."""
    if isinstance(model, torch.nn.Module):
        model._apply(move)
    return torch.utils._pytree.tree_map(
        lambda leaf: move(leaf) if isinstance(leaf, torch.Tensor) else leaf, inputs
    )


def _converted(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """In that type; integers, booleans and complex numbers stay."""
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _run_of(
    model: Callable[..., Any], count: int = 0, keywords: Sequence[str] = ()
) -> Callable[..., Any]:
    """What calls the model with its inputs in their order, of which the last of all `count` have
    these keywords, names of parameters."""
    run: dict[str, Any] = {"model": model}
    first = count - len(keywords)
    named = [f"{name}=inputs[{first + at}]" for at, name in enumerate(keywords)]
    places = f"*inputs[:{first}]" if keywords else "*inputs"
    text = _RUN.format(arguments=", ".join([places, *named]))
    exec(compile(text, f"<session {next(_numbers)}>", "exec"), run)  # noqa: S102 - our own text
    called: Callable[..., Any] = run["run"]
    return called


def _repro(module: ModuleType) -> tuple[Any, tuple[Any, ...]]:
    """The module and the inputs of an fx_graph_runnable.py; weights are among the inputs, and what
    torch did not save is drawn."""
    from torch._dynamo.debug_utils import InputReader  # no other model needs it

    reader = InputReader()
    module.load_args(reader)
    return module.mod, tuple(reader.args)


def _hash(source: bytes, function: str, model: object, leaves: list[Any]) -> str:
    digest = hashlib.sha256(source + b"\0" + function.encode())
    weights = model.state_dict().items() if isinstance(model, torch.nn.Module) else ()
    inputs = [(str(index), leaf) for index, leaf in enumerate(leaves)]
    for name, tensor in (*weights, *inputs):
        digest.update(f"\0{name}".encode())
        if isinstance(tensor, torch.Tensor):
            digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
            plain = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(plain.numpy().data)
        else:
            digest.update(repr(tensor).encode())
    return digest.hexdigest()


def _raised(where: str, error: Exception) -> FuseScopeError:
    reason = clean_text(f"{type(error).__name__}: {error}", 200)
    return FuseScopeError("torch_file_raised", where=where, reason=reason)
