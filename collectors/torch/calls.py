"""The calls of one run of generated code: every kernel in order, with what it reads and writes.

Generated code looks kernels up among the globals of its module. For one run they are replaced by
proxies that note the tensors they are given and what they return, and keep their values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch

from fusescope.collectors.torch.launchers import is_launcher, roles_of
from fusescope.collectors.torch.trees import tensors_of

_HANDLE = re.compile(r"# \[Provenance debug handles\] (.+):(\d+)\s*$", re.MULTILINE)
_SIGNATURE = re.compile(
    r"^(\w+) = async_compile\.cpp_pybinding\(.*?^extern \"C\"\s+void\s+kernel\((.*?)\)",
    re.MULTILINE | re.DOTALL,
)
BETWEEN = -1  # in place of the number of a module: outside all of them
_PLUMBING = ("_alloc_from_pool", "_reinterpret_tensor")  # compute nothing
_Slot = tuple[int, int, int]  # storage, first byte, behind the last byte


@dataclass
class Call:
    """One kernel: `name` as the code calls it, `graph` the number of the generated module, `reads`
    and `writes` names of tensors. What a view writes shares memory with what it reads. `scope` is
    the module that made the call, `source` the line of the user's file, where known."""

    name: str
    reads: list[str]
    writes: list[str]
    graph: int = 0
    is_view: bool = False
    scope: str = ""
    source: str = ""


@dataclass
class Run:
    """The calls of one run in order, and the tensors by name, as they were when written: those
    that were fed or are constant included, those that a library has packed not.
    `outputs` are the names of what was returned, `told` the numbers that the program read out of
    tensors, each with the tensor. `rounded` are types, beside those of the tensors, that
    values were rounded to on the way: 'tf32'."""

    calls: list[Call] = field(default_factory=list)
    values: dict[str, torch.Tensor] = field(default_factory=dict)
    constant: set[str] = field(default_factory=set)
    given: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    told: list[tuple[str, str]] = field(default_factory=list)
    rounded: set[str] = field(default_factory=set)


class Watch:
    """Follows tensors by their memory. Every tensor of the run stays alive, so that no memory is
    used twice. `known` are inputs and weights: address -> (name, whether it is constant)."""

    def __init__(self, known: dict[int, tuple[str, bool]]) -> None:
        self.run = Run()
        self._known = known
        self._alive: list[Any] = []
        # id of a tensor that an operator returned -> its name, and how often its memory had been
        # written by then
        self._objects: dict[int, tuple[str, int]] = {}
        self._history: dict[int, list[str]] = {}
        self._written: dict[int, list[tuple[_Slot, str]]] = {}  # by storage, latest last
        self._numbers: dict[str, int] = {}

    def reads(self, tensor: torch.Tensor) -> list[str]:
        """The names of the tensors whose values stand there now."""
        self._alive.append(tensor)
        if tensor.is_mkldnn:  # a weight in a layout of the library: its memory cannot be looked at
            return [self._packed(tensor)]
        slot = _slot(tensor)
        named = self._objects.get(id(tensor))
        if named is not None and named[1] == len(self._history.get(slot[0], ())):
            return [named[0]]
        found = [name for at, name in self._written.get(slot[0], ()) if _overlap(at, slot)]
        if found:
            return list(dict.fromkeys(found))
        return [self._of_outside(tensor)]

    def has_content(self, tensor: torch.Tensor) -> bool:
        """Whether something was written there, or it came from outside."""
        slot = _slot(tensor)
        written = any(_overlap(at, slot) for at, _ in self._written.get(slot[0], ()))
        return written or tensor.data_ptr() in self._known

    def is_of_outside(self, tensor: torch.Tensor) -> bool:
        """Whether it is memory of an input or buffer."""
        return tensor.data_ptr() in self._known

    def writes(self, tensor: torch.Tensor, base: str) -> str:
        """A new name for what was just written there."""
        name = self._new(base)
        self._alive.append(tensor)
        slot = _slot(tensor)
        rows = self._written.setdefault(slot[0], [])
        kept = [row for row in rows if not (slot[1] <= row[0][1] and row[0][2] <= slot[2])]
        self._written[slot[0]] = [*kept, (slot, name)]
        self._history.setdefault(slot[0], []).append(name)
        self.run.values[name] = _copied(tensor)
        return name

    def returned(
        self, tensor: torch.Tensor, base: str, read: Sequence[torch.Tensor]
    ) -> tuple[str, bool]:
        """A new name for a tensor that an operator returned, and whether it is a view of what it
        read."""
        storage = tensor.untyped_storage().data_ptr()
        plain = [other for other in read if not other.is_mkldnn]
        is_view = any(other.untyped_storage().data_ptr() == storage for other in plain)
        if not is_view:
            name = self.writes(tensor, base)
        else:
            name = self._new(base)
            self._alive.append(tensor)
            self.run.values[name] = _copied(tensor)
        self._objects[id(tensor)] = (name, len(self._history.get(storage, ())))
        return name, is_view

    def tells(self, number: float, base: str, read: str) -> str:
        """A new name for a number that the program read out of a tensor."""
        name = self._new(base)
        self.run.values[name] = torch.tensor(float(number))
        self.run.told.append((name, read))
        return name

    def returns(self, outputs: Sequence[Any]) -> None:
        """What the model returned: later names win over those of what was written in parts."""
        for tensor in outputs:
            self.run.outputs.append(self.reads(tensor)[-1])

    def _of_outside(self, tensor: torch.Tensor) -> str:
        known = self._known.get(tensor.data_ptr())
        if known is None:
            name, constant = self._new("constant"), True
        else:
            name, constant = known
        slot = _slot(tensor)
        self._written.setdefault(slot[0], []).append((slot, name))
        self.run.values.setdefault(name, tensor.detach())
        if constant:
            self.run.constant.add(name)
        elif name not in self.run.given:
            self.run.given.append(name)
        return name

    def _packed(self, tensor: torch.Tensor) -> str:
        known = self._objects.get(id(tensor))
        if known is None:
            known = self._objects[id(tensor)] = (self._new("packed_weight"), 0)
            self.run.constant.add(known[0])
        return known[0]

    def _new(self, base: str) -> str:
        number = self._numbers[base] = self._numbers.get(base, -1) + 1
        return f"{base}_{number}" if number else base


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    """The values now, off the device, whose memory is for the run."""
    return tensor.detach().to("cpu", copy=True)


def _slot(tensor: torch.Tensor) -> _Slot:
    storage = tensor.untyped_storage().data_ptr()
    first = tensor.data_ptr()
    last = sum((s - 1) * abs(t) for s, t in zip(tensor.shape, tensor.stride(), strict=True))
    return storage, first, first + (last + 1) * tensor.element_size()


def _overlap(one: _Slot, other: _Slot) -> bool:
    return one[1] < other[2] and other[1] < one[2]


def handles(source: str) -> list[tuple[str, str]]:
    """(function, handle) of every kernel that the code calls, in order: ('cpp_fused_0', '3')."""
    return [(name, number) for name, number in _HANDLE.findall(source)]


def roles_of_arguments(source: str) -> dict[str, list[str]]:
    """For each generated kernel: in, out or in_out, by argument."""
    return {
        name: [
            "in" if "const" in each or "*" not in each else "in_out" if "in_out" in each else "out"
            for each in parameters.split(",")
        ]
        for name, parameters in _SIGNATURE.findall(source)
    }


@contextmanager
def watching(modules: Sequence[ModuleType], sources: Sequence[str], watch: Watch) -> Iterator[None]:
    """Runs of the modules in here are noted."""
    undo: list[tuple[ModuleType, dict[str, Any]]] = []
    try:
        for graph, (module, source) in enumerate(zip(modules, sources, strict=True)):
            roles = roles_of_arguments(source)
            known = dict(module.__dict__)
            undo.append((module, known))
            for name, value in known.items():
                if name in roles:
                    setattr(module, name, _generated(watch, graph, name, value, roles[name]))
                elif is_launcher(value):
                    setattr(module, name, _Launcher(watch, graph, name, value))
                elif name in ("extern_kernels", "aten", "inductor_ops", "_quantized", "torch"):
                    setattr(module, name, _Namespace(watch, graph, name, value))
        yield
    finally:
        for module, known in undo:
            module.__dict__.update(known)


def _generated(
    watch: Watch, graph: int, name: str, kernel: Callable[..., Any], roles: Sequence[str]
) -> Callable[..., Any]:
    """A generated kernel, whose arguments have these roles; an in-out one is read where something
    stands there, else it is room for what the kernel keeps. Scratch memory is neither."""

    def call(*args: Any, **kwargs: Any) -> Any:
        given = [
            (arg, roles[index] if index < len(roles) else "in")
            for index, arg in enumerate(args)
            if isinstance(arg, torch.Tensor)
        ]
        reads = [
            name
            for arg, role in given
            if role == "in"
            or (role == "in_out" and watch.has_content(arg))
            or watch.is_of_outside(arg)  # written in part: the rest is what it held
            for name in watch.reads(arg)
        ]
        result = kernel(*args, **kwargs)
        writes = [watch.writes(arg, name) for arg, role in given if role in ("out", "in_out")]
        watch.run.calls.append(Call(name, list(dict.fromkeys(reads)), writes, graph))
        return result

    return call


class _Launcher:
    """Stands for the launcher of a Triton kernel: what it launches is noted."""

    def __init__(self, watch: Watch, graph: int, name: str, real: Any) -> None:
        self._real = real
        self.run = _generated(watch, graph, name, real.run, roles_of(real))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class _Namespace:
    """Stands for `extern_kernels`, `torch` or a part of `torch.ops`: calls of operators in it are
    noted."""

    def __init__(self, watch: Watch, graph: int, path: str, real: Any) -> None:
        self._watch, self._graph, self._path, self._real = watch, graph, path, real

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._real, name)
        path = f"{self._path}.{name}"
        if path.startswith("torch.") and not path.startswith("torch.ops"):
            return real
        if name in _PLUMBING:
            return real
        if isinstance(real, torch._ops.OpOverload) or path.startswith("extern_kernels."):
            return operator(self._watch, self._graph, path, real)
        return _Namespace(self._watch, self._graph, path, real)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return operator(self._watch, self._graph, self._path, self._real)(*args, **kwargs)


def operator(watch: Watch, graph: int, path: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """An operator of a library, which returns what it makes, or writes to `out` or in place."""

    def call(*args: Any, **kwargs: Any) -> Any:
        out = tensors_of(kwargs.get("out"))
        rest = {key: value for key, value in kwargs.items() if key != "out"}
        given = tensors_of((args, rest))
        reads = [name for tensor in given for name in watch.reads(tensor)]
        result = real(*args, **kwargs)
        call = Call(path, list(dict.fromkeys(reads)), [], graph)
        if out or _writes_in_place(real):
            call.writes = [watch.writes(tensor, path) for tensor in out or tensors_of(result)]
        else:
            made = [watch.returned(tensor, path, given) for tensor in tensors_of(result)]
            call.writes = [name for name, _ in made]
            call.is_view = bool(made) and all(is_view for _, is_view in made)
            if isinstance(result, int | float) and len(call.reads) == 1:
                call.writes = [watch.tells(result, path, call.reads[0])]
        call.writes += [watch.writes(tensor, path) for tensor in _unsaid(real, args, kwargs)]
        watch.run.calls.append(call)
        return result

    return call


def _unsaid(
    real: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[torch.Tensor]:
    """What an operator writes into although it returns none of it: the running means of a
    normalisation in training."""
    schema = getattr(real, "_schema", None)
    if schema is None or "batch_norm" not in schema.name:
        return []
    if "backward" in schema.name or "functional" in schema.name:
        return []
    given = {**dict(zip((one.name for one in schema.arguments), args, strict=False)), **kwargs}
    if not given.get("training", given.get("train", True)):
        return []
    means = (given.get(one) for one in ("running_mean", "running_var"))
    return [one for one in means if isinstance(one, torch.Tensor)]


def _writes_in_place(real: Callable[..., Any]) -> bool:
    schema = getattr(real, "_schema", None)
    return schema is not None and any(
        value.alias_info is not None and value.alias_info.is_write for value in schema.returns
    )
