"""Models for MindSpore: built in, or what a function of a user's file returns."""

from __future__ import annotations

import hashlib
import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import mindspore
import numpy as np
from mindspore import Tensor, nn

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text
from fusescope.collectors.mindspore import networks
from fusescope.collectors.mindspore.names import PREFIX
from fusescope.collectors.mindspore.program import Given

_VARYING_SEED = 20_244


@dataclass(frozen=True)
class Loaded:
    """`cell` on `inputs` is the model; `sha256` is of its source, weights and inputs, `file` where
    its source is."""

    cell: nn.Cell
    inputs: tuple[Tensor, ...]
    sha256: str
    file: str

    def given(self) -> list[Given]:
        """The inputs by the names that they have in the code."""
        names = inspect.signature(self.cell.construct).parameters
        return [
            Given(name, str(one.dtype).lower(), tuple(one.shape), is_weight=False)
            for name, one in zip(names, self.inputs, strict=False)
        ]

    def vary_weights(self) -> None:
        """Moves every weight a little, always in the same way: freshly made normalisations scale
        by 1 and add 0, so that values before and behind them could not be told apart."""
        chance = np.random.default_rng(_VARYING_SEED)
        for parameter in self.cell.get_parameters():
            array = parameter.asnumpy()
            if array.dtype.kind != "f":
                continue
            drawn = chance.random((2, *array.shape), dtype=np.float32)
            moved = array * (1 + 0.2 * drawn[0]) + 0.05 * drawn[1]
            parameter.set_data(Tensor(moved.astype(array.dtype)))


def load(spec: str, seed: int) -> Loaded:
    """The model, in evaluation mode, with its example inputs. Runs the file: only for what the
    user named on the command line. Raises FuseScopeError where it does not return a model."""
    if spec.startswith(PREFIX):
        path, function = str(Path(networks.__file__)), spec.removeprefix(PREFIX)
    else:
        path, _, function = spec.rpartition(":")
    where = Path(path).name
    source = Path(path).read_bytes()
    mindspore.set_seed(seed)
    module = ModuleType("fusescope_model")
    module.__file__ = path
    sys.modules[module.__name__] = module
    if str(Path(path).parent) not in sys.path:
        sys.path.insert(0, str(Path(path).parent))
    try:
        if spec.startswith(PREFIX):
            module = networks
        else:
            exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102 - the user asked for it
        make = getattr(module, function, None)
        made = make() if callable(make) else None
    except Exception as error:
        reason = clean_text(f"{type(error).__name__}: {error}", 200)
        raise FuseScopeError("mindspore_file_raised", where=where, reason=reason) from error
    if not callable(make):
        raise FuseScopeError("torch_no_function", where=where, function=function[:60])
    if not isinstance(made, tuple) or len(made) != 2 or not isinstance(made[0], nn.Cell):
        raise FuseScopeError("mindspore_no_cell", where=where, function=function[:60])
    cell, inputs = made
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    if not inputs or not all(isinstance(one, Tensor) for one in inputs):
        raise FuseScopeError("mindspore_no_cell", where=where, function=function[:60])
    cell.set_train(False)
    return Loaded(cell, inputs, _hash(source, function, cell, inputs), path)


def _hash(source: bytes, function: str, cell: nn.Cell, inputs: tuple[Any, ...]) -> str:
    digest = hashlib.sha256(source + b"\0" + function.encode())
    named = [(one.name, one) for one in cell.get_parameters()]
    for name, tensor in (*named, *((str(at), one) for at, one in enumerate(inputs))):
        array = tensor.asnumpy()
        digest.update(f"\0{name}{tensor.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
