"""Models for torch: built in, or what a function of a user's file returns."""

from __future__ import annotations

import hashlib
import itertools
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text
from fusescope.collectors.torch import devices, networks
from fusescope.collectors.torch.given import arguments, training
from fusescope.collectors.torch.given.arguments import Arguments
from fusescope.collectors.torch.given.training import Described, Training
from fusescope.collectors.torch.loaded import Loaded
from fusescope.collectors.torch.names import PREFIX
from fusescope.collectors.torch.translated import network
from fusescope.collectors.torch.trees import leaves_of, moved, tensors_of
from fusescope.collectors.workers.drawn import GivenInput
from fusescope.collectors.workers.jobs import SessionSettings
from fusescope.collectors.workers.placement import CPU, Placement

_RUN = "def run(*inputs):\n    return model({arguments})\n"
_numbers = itertools.count()


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
    step = training.described(made, where)
    if step is not None:
        made = step.module if step.inputs is None else (step.module, step.inputs)
    model, taken = _taken(made, given, seed, where, function)
    inputs, targets = taken.values, step.targets if step else ()
    if isinstance(model, torch.nn.Module):
        training.train(model) if step else model.eval().requires_grad_(False)
    if placement.dtype:
        move = partial(_converted, dtype=getattr(torch, placement.dtype))
        inputs, targets = _moved(model, (inputs, targets), move)
    sha256 = _hash(source, function, model, leaves_of((inputs, targets)))
    if placement.device != CPU:
        place = devices.chosen(placement).place
        inputs, targets = _moved(model, (inputs, targets), lambda tensor: tensor.to(place))
    taken.mark_dimensions(inputs)
    loaded = Loaded(model, model, inputs, path, sha256, names=taken.names, sources=taken.sources)
    if step is not None:
        return _training(loaded, step, taken, targets, where)
    return replace(loaded, call=_run_of(model, len(inputs), taken.keywords))


def _training(
    loaded: Loaded, step: Described, taken: Arguments, targets: tuple[Any, ...], where: str
) -> Loaded:
    """The model with a training step as its run, of which the targets are inputs as well."""
    count = len(loaded.inputs)
    made = Training(step, where)
    inputs = (*loaded.inputs, *targets)
    run = {"model": loaded.model, "loss_of": made.loss, "optimizer": made.optimizer}
    places = "".join(f", inputs[{count + at}]" for at in range(len(targets)))
    text = made.text(_arguments_of(count, taken.keywords), places)
    call = _made_of(text, run)
    names = taken.names or tuple(f"input_{at}" for at in range(count))
    names += (
        ("target",) if len(targets) == 1 else tuple(f"target_{at}" for at in range(len(targets)))
    )
    sources = taken.sources and (*taken.sources, *["made by the model's function"] * len(targets))
    made.begin(loaded.state(), lambda: call(*inputs))
    return replace(loaded, call=call, inputs=inputs, names=names, sources=sources, training=made)


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


def _moved(model: Any, inputs: Any, move: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The inputs with every tensor moved, and so in place the weights and buffers of a module. Of
    a function that is none, only the inputs can be reached."""
    if isinstance(model, torch.nn.Module):
        model._apply(move)
    return moved(inputs, move)


def _converted(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """In that type; integers, booleans and complex numbers stay."""
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def _run_of(
    model: Callable[..., Any], count: int = 0, keywords: Sequence[str] = ()
) -> Callable[..., Any]:
    """What calls the model with its inputs in their order, of which the last of all `count` have
    these keywords, names of parameters."""
    return _made_of(_RUN.format(arguments=_arguments_of(count, keywords)), {"model": model})


def _arguments_of(count: int, keywords: Sequence[str]) -> str:
    """The arguments of a call with the first `count` of all inputs."""
    first = count - len(keywords)
    named = [f"{name}=inputs[{first + at}]" for at, name in enumerate(keywords)]
    places = f"*inputs[:{first}]" if keywords or count else "*inputs"
    return ", ".join([places, *named])


def _made_of(text: str, run: dict[str, Any]) -> Callable[..., Any]:
    """The function `run` of a text of ours, whose globals are `run`."""
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
