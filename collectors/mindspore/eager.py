"""The operators of one eager run: what Python calls, with the kernels that each call runs.

Every way from Python into MindSpore's operators is watched. A call waits until its kernels are
done, and a profile of the same run says which those are: the ones that ran meanwhile.
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from mindspore import Tensor
from mindspore.graph.api import _pynative_executor
from mindspore.ops.auto_generate import pyboost_inner_prim
from mindspore.profiler import (
    ProfilerActivity,
    profile,
    schedule,
    tensorboard_trace_handler,
)

from fusescope.collectors.mindspore.models import Loaded
from fusescope.collectors.mindspore.program import Given, Kernel, Program, part_of, type_in
from fusescope.collectors.models.array import Array

_BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"]
_OTHERS = ["neg", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge", "getitem", "setitem"]
_OPERATORS = frozenset(
    f"__{name}__" for name in (*(s + one for s in ("", "r", "i") for one in _BINARY), *_OTHERS)
)
_NATIVE = ("instancemethod", "method_descriptor", "builtin_function_or_method")
_MARK = ";HostCpuOps;"


@dataclass
class _Call:
    name: str
    reads: list[str]
    writes: list[tuple[str, Array | None]]
    start_ns: int
    end_ns: int
    kernels: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class EagerRun:
    """The run as a program, and the values of its tensors by name."""

    program: Program
    values: dict[str, Array]


def watch_eager(loaded: Loaded, inputs: Sequence[str], folder: Path) -> EagerRun:
    """Runs the model, whose `inputs` have these names, in PYNATIVE_MODE, which is set; the profile
    goes into the folder. Raises
    ValueError where kernels ran that no call is known of."""
    watch = _Watch(loaded, inputs)
    plan = schedule(wait=0, warmup=1, active=1, repeat=1, skip_first=0)
    with (
        _watched(watch),
        profile(
            activities=[ProfilerActivity.CPU],
            schedule=plan,
            on_trace_ready=tensorboard_trace_handler(str(folder)),
        ) as profiler,
    ):
        for _ in range(2):  # the first is not part of the profile
            watch.begin()
            made = loaded.cell(*loaded.inputs)
            _pynative_executor.sync()
            calls, outputs = watch.calls, watch.names_of(made)
            profiler.step()
    _give(calls, _executions(folder))
    return _as_run(watch, calls, outputs)


class _Watch:
    """Follows tensors by their identity: all of them stay alive."""

    def __init__(self, loaded: Loaded, inputs: Sequence[str]) -> None:
        self._loaded = loaded
        self._inputs = inputs
        self.given: dict[str, Given] = {}
        self.calls: list[_Call] = []
        self._names: dict[int, str] = {}
        self._alive: list[Any] = []
        self.inside = False

    def begin(self) -> None:
        self.given, self.calls, self._names = {}, [], {}
        for name, tensor in zip(self._inputs, self._loaded.inputs, strict=True):
            self._give(tensor, name, is_weight=False)
        for parameter in self._loaded.cell.get_parameters():
            self._give(parameter, parameter.name, is_weight=True)

    def _give(self, tensor: Any, name: str, *, is_weight: bool) -> None:
        self._names[id(tensor)] = name
        self._alive.append(tensor)
        dtype = str(tensor.dtype).lower()
        self.given[name] = Given(name, dtype, tuple(tensor.shape), is_weight)

    def names_of(self, made: Any) -> list[str]:
        return [self._name(one) for one in _tensors(made)]

    def call(self, name: str, function: Any, args: Any, kwargs: Any) -> Any:
        self.inside = True
        try:
            _pynative_executor.sync()  # what ran before is not part of it
            start = time.time_ns()
            made = function(*args, **kwargs)
            _pynative_executor.sync()
            end = time.time_ns()
            results = [one for one in _tensors(made) if id(one) not in self._names]
            if results:
                reads = self.names_of((args, tuple(kwargs.values())))
                own = f"{name}.{len(self.calls)}"
                writes = []
                for place, one in enumerate(results):
                    label = own if len(results) == 1 else part_of(own, place)
                    self._names[id(one)] = label
                    self._alive.append(one)
                    writes.append((label, _array(one)))
                self.calls.append(_Call(own, list(dict.fromkeys(reads)), writes, start, end))
        finally:
            self.inside = False
        return made

    def _name(self, tensor: Any) -> str:
        """One that no call made is a constant."""
        if id(tensor) not in self._names:
            self._give(tensor, f"constant_{len(self._alive)}", is_weight=True)
        return self._names[id(tensor)]


def _give(calls: Sequence[_Call], executions: Sequence[tuple[int, str]]) -> None:
    lost: list[str] = []
    for start, name in executions:
        one = next((call for call in calls if call.start_ns <= start <= call.end_ns), None)
        if one is None:
            lost.append(type_in(name))
        else:
            one.kernels.append(name)
    if lost:
        raise ValueError(f"no call is known of these kernels: {', '.join(dict.fromkeys(lost))}")


def _as_run(watch: _Watch, calls: Sequence[_Call], outputs: Sequence[str]) -> EagerRun:
    """A kernel each; of several that one call ran, each reads what the one before it wrote."""
    kernels: list[Kernel] = []
    values: dict[str, Array] = {}
    counts: dict[str, int] = {}
    for call in calls:
        reads = tuple(call.reads)
        values |= {name: array for name, array in call.writes if array is not None}
        events = call.kernels or [""]
        for place, event in enumerate(events):
            op_type = type_in(event) if event else call.name.partition(".")[0]
            number = counts[op_type] = counts.get(op_type, -1) + 1
            is_last = place == len(events) - 1
            name = f"{op_type}.{number}"
            writes = tuple(label for label, _ in call.writes) if is_last else (f"{name}>",)
            kernels.append(Kernel(name, op_type, reads, writes, event=event, view=not event))
            reads = (*reads, *writes)
    return EagerRun(Program(tuple(watch.given.values()), tuple(kernels), tuple(outputs)), values)


def _executions(folder: Path) -> list[tuple[int, str]]:
    """Start and name of every kernel of the profile, in order."""
    (file,) = folder.glob("**/cpu_op_execute_timestamp_*.txt")
    found = []
    for line in file.read_text().splitlines():
        name, _, times = line.partition(_MARK)
        found += [(int(one.partition(",")[0]), name) for one in times.split()]
    return sorted(found)


def _tensors(made: Any) -> Iterator[Any]:
    if isinstance(made, Tensor):
        yield made
    elif isinstance(made, tuple | list):
        for one in made:
            yield from _tensors(one)


def _array(tensor: Any) -> Array | None:
    try:
        array: Array = np.array(tensor.asnumpy())
    except (TypeError, RuntimeError, ValueError):
        return None
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    return array if array.dtype.kind in "fiub" and array.size else None


@contextmanager
def _watched(watch: _Watch) -> Iterator[None]:
    """Calls in here are noted, those inside another one as part of it."""
    undo: list[tuple[Any, str, Any]] = []
    known: dict[str, Any] = {}

    def watching(name: str, function: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            if watch.inside:
                return function(*args, **kwargs)
            return watch.call(name, function, args, kwargs)

        return called

    def put(owner: Any, name: str, function: Any) -> None:
        undo.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, function)

    for module in [m for n, m in sys.modules.items() if n.startswith("mindspore.") and m]:
        if module.__name__.endswith("_c_expression"):
            continue
        for name, value in list(vars(module).items()):
            is_native = isinstance(value, types.BuiltinFunctionType)
            if is_native and (name.startswith("pyboost_") or name.endswith("_instance")):
                short = name.removeprefix("pyboost_").removesuffix("_instance").strip("_")
                put(module, name, known.setdefault(name, watching(short, value)))
    for name, kind in vars(pyboost_inner_prim).items():
        if isinstance(kind, type) and name.startswith("_Pyboost"):
            short = name.removeprefix("_Pyboost").removesuffix("Prim")
            put(kind, "__call__", watching(short, kind.__call__))
    executor = type(_pynative_executor)
    for name in ("run_op_async", "real_run_op"):
        function = getattr(executor, name)

        def run(self: Any, primitive: Any, *args: Any, _function: Any = function) -> Any:
            if watch.inside:
                return _function(self, primitive, *args)
            return watch.call(
                str(primitive.name), lambda *given: _function(self, primitive, *given), args, {}
            )

        put(executor, name, run)
    for owner in Tensor.__mro__[1:-1]:
        for name, value in list(vars(owner).items()):
            is_public = not name.startswith("_") or name in _OPERATORS
            if type(value).__name__ in _NATIVE and is_public and name not in vars(Tensor):
                put(Tensor, name, watching(name.strip("_"), value))
    try:
        yield
    finally:
        for owner, name, value in reversed(undo):
            if value is None:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
