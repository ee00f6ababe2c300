"""The operators of one eager run: what the user's code calls, with the tensors that go in and out.

A call of the framework (aten::linear) may dispatch others (aten::t, aten::addmm). The profiler
shows the calls, a dispatch mode the tensors; a mark around each dispatched operator joins them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode

from fusescope.collectors.torch.calls import BETWEEN, Call, Watch, operator
from fusescope.collectors.torch.given.training import BACKWARD, OPTIMIZER, Training
from fusescope.collectors.torch.loaded import Loaded

_MARK = "fusescope::dispatched"


class Dispatched(TorchDispatchMode):  # type: ignore[misc]
    """Notes every dispatched operator with the module and the line of the file that it comes from,
    and marks it for the profiler; not those in code of which `is_other` says so."""

    def __init__(
        self, watch: Watch, file: str, is_other: Callable[[FrameType], bool] | None = None
    ) -> None:
        super().__init__()
        self._watch, self._file, self._is_other = watch, file, is_other
        self.scopes: list[str] = []

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Compiled code runs in here as it is, instead of being left out."""
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        calls = self._watch.run.calls
        if self._is_other is not None and self._is_other(sys._getframe()):
            return func(*args, **(kwargs or {}))
        with record_function(f"{_MARK} {len(calls)}"):
            graph = 0 if self._is_other is None else BETWEEN
            run = operator(self._watch, graph, func._schema.name, func)
            result = run(*args, **(kwargs or {}))
        calls[-1].scope = self.scopes[-1] if self.scopes else ""
        calls[-1].source = _line_of(self._file)
        return result


def watch_eager(watch: Watch, loaded: Loaded, folder: Path) -> None:
    """Runs the model once. The calls of the watch are then those of the user's code in order, not
    what they dispatched; those that dispatched nothing are left out."""
    dispatched = Dispatched(watch, loaded.file)
    with (
        _scopes(loaded.model, dispatched.scopes),
        _phases(loaded.training, dispatched.scopes),
        profile(activities=[ProfilerActivity.CPU]) as profiler,
        dispatched,
    ):
        result = loaded.call(*loaded.inputs)
    watch.returns(loaded.results(result))
    parts = watch.run.calls
    found = called_of(events_of(profiler, folder))
    called = [joined(name, [parts[i] for i in inside]) for name, inside in found if inside]
    read = {name for call in called for name in call.reads} | {*watch.run.outputs}
    read |= {scalar for scalar, _ in watch.run.told}
    for call in called:
        call.writes = [name for name in call.writes if name in read]
    watch.run.calls = called


def events_of(profiler: profile, folder: Path) -> list[dict[str, Any]]:
    """What the profiler saw."""
    file = folder / "watched.json"
    profiler.export_chrome_trace(str(file))
    events: list[dict[str, Any]] = json.loads(file.read_bytes())["traceEvents"]
    file.unlink()
    return events


def joined(name: str, parts: list[Call]) -> Call:
    """One call of the user's code, from what it dispatched."""
    made = [name for part in parts for name in part.writes]
    reads = [name for part in parts for name in part.reads if name not in made]
    is_view = all(part.is_view for part in parts)
    first = parts[0]
    reads = list(dict.fromkeys(reads))
    return Call(name, reads, made, first.graph, is_view, first.scope, first.source)


@contextmanager
def _scopes(model: object, scopes: list[str]) -> Iterator[None]:
    """Keeps the name of the module that runs. Without hooks: modules with hooks do not take the
    fast paths that they take in a recording."""
    if not isinstance(model, torch.nn.Module):
        yield
        return
    names = {id(module): name for name, module in model.named_modules()}
    real = torch.nn.Module.__call__

    def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        scopes.append(names.get(id(module), scopes[-1] if scopes else ""))
        try:
            return real(module, *args, **kwargs)
        finally:
            scopes.pop()

    torch.nn.Module.__call__ = call
    try:
        yield
    finally:
        torch.nn.Module.__call__ = real


@contextmanager
def _phases(step: Training | None, scopes: list[str]) -> Iterator[None]:
    """Keeps of a training step whether gradients are computed, or the optimizer runs: what they
    call stands in no module."""
    if step is None:
        yield
        return

    def told(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            scopes.append(name)
            try:
                return real(*args, **kwargs)
            finally:
                scopes.pop()

        return call

    backward = torch.Tensor.backward
    torch.Tensor.backward = told(BACKWARD, backward)
    if step.optimizer is not None:
        step.optimizer.step = told(OPTIMIZER, step.optimizer.step)
    try:
        yield
    finally:
        torch.Tensor.backward = backward
        if step.optimizer is not None:
            del step.optimizer.step


def _line_of(file: str) -> str:
    """The innermost line of that file that is running: 'model.py:12', '' for none."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == file:
            return f"{Path(file).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def called_of(events: list[dict[str, Any]]) -> list[tuple[str, list[int]]]:
    """Operators that no other is around, in order, with the marks inside them; marks behind one are
    its own, such as the copy that watching makes of a gradient. What torch.compile does around
    compiled code is not an operator."""
    spans = sorted(
        (
            (float(e["ts"]), -float(e["dur"]), e["name"], e["cat"])
            for e in events
            if e.get("ph") == "X" and e.get("cat") in ("cpu_op", "user_annotation")
        ),
    )
    found: list[tuple[str, list[int]]] = []
    ends = 0.0
    for start, length, name, category in spans:
        if category == "cpu_op" and start >= ends and "::" in name:
            found.append((name, []))
            ends = start - length
        elif name.startswith(_MARK) and found:
            found[-1][1].append(int(name.rsplit(" ", 1)[1]))
    return found
