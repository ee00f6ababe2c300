"""Models for torch: built in, or what a function of a user's file returns."""

from __future__ import annotations

import hashlib
import itertools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text
from fusescope.collectors.torch import networks
from fusescope.collectors.torch.names import PREFIX
from fusescope.collectors.torch.translated import network
from fusescope.collectors.torch.translated.network import Network
from fusescope.collectors.workers.jobs import SessionSettings
from fusescope.collectors.workers.placement import Placement

_RUN = "def run(*inputs):\n    return model(*inputs)\n"
_WEIGHT_SEED = 20_241
_numbers = itertools.count()


@dataclass(frozen=True)
class Loaded:
    """`call` runs `model` on `inputs`; its code object is its own, so that what is compiled for one
    session does not serve, or slow down, another. `file` is the source; `sha256` is of the source,
    the weights and the inputs. `network` is what was translated from ONNX."""

    call: Callable[..., Any]
    model: Callable[..., Any]
    inputs: tuple[Any, ...]
    file: str
    sha256: str
    network: Network | None = None

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
                    drawn = torch.rand(2, *tensor.shape, generator=chance).to(tensor.dtype)
                    tensor.mul_(1 + 0.2 * drawn[0]).add_(0.05 * drawn[1])

    def named_inputs(self) -> list[tuple[str, torch.Tensor]]:
        """The tensors that are fed: input_0, input_1, …, or as the ONNX model calls them."""
        if self.network is not None:
            return [*self.network.inputs.items()]
        leaves = torch.utils._pytree.tree_leaves(self.inputs)
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        return [(f"input_{index}", tensor) for index, tensor in enumerate(tensors)]


def of(settings: SessionSettings) -> Loaded:
    """The model of a recording. Raises FuseScopeError as `load` does, and for a form of an ONNX
    operator that is not translated."""
    if not settings.program:
        return load(settings.model, settings.drawing.seed, settings.placement)
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


def load(spec: str, seed: int, placement: Placement) -> Loaded:
    """The model, in evaluation mode, with its example inputs, placed. Runs the file: only for what
    the user named on the command line. Raises FuseScopeError where it does not return a model."""
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
    if not isinstance(made, tuple) or len(made) != 2 or not callable(made[0]):
        raise FuseScopeError("torch_no_module", where=where, function=function[:60])
    model, inputs = made
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    leaves = torch.utils._pytree.tree_leaves(inputs)
    if not any(isinstance(leaf, torch.Tensor) for leaf in leaves):
        raise FuseScopeError("torch_no_module", where=where, function=function[:60])
    if isinstance(model, torch.nn.Module):
        model.eval().requires_grad_(False)
    if placement.dtype:
        model, inputs = _converted(model, inputs, getattr(torch, placement.dtype))
        leaves = torch.utils._pytree.tree_leaves(inputs)
    return Loaded(_run_of(model), model, inputs, path, _hash(source, function, model, leaves))


def _converted(model: Any, inputs: Any, dtype: torch.dtype) -> tuple[Any, Any]:
    """Floating-point weights, buffers and inputs in that type; integers, booleans and complex
    numbers stay. Of a function that is no module, only the inputs can be reached."""

    def convert(leaf: Any) -> Any:
        is_tensor = isinstance(leaf, torch.Tensor)
        return leaf.to(dtype) if is_tensor and leaf.is_floating_point() else leaf

    if isinstance(model, torch.nn.Module):
        model._apply(convert)
    return model, torch.utils._pytree.tree_map(convert, inputs)


def _run_of(model: Callable[..., Any]) -> Callable[..., Any]:
    run: dict[str, Any] = {"model": model}
    exec(compile(_RUN, f"<session {next(_numbers)}>", "exec"), run)  # noqa: S102 - our own text
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
            plain = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
            digest.update(plain.numpy().data)
        else:
            digest.update(repr(tensor).encode())
    return digest.hexdigest()


def _raised(where: str, error: Exception) -> FuseScopeError:
    reason = clean_text(f"{type(error).__name__}: {error}", 200)
    return FuseScopeError("torch_file_raised", where=where, reason=reason)
