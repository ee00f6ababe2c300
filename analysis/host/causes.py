"""Causes: what an engineer would name of the stack of a thread while the device was idle."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from fusescope.analysis.host_activity import ANNOTATION, FRAME, OPERATOR, RUNTIME

# Queued is what was launched already, but does not run yet.
CauseKind = Literal[
    "data_loading", "synchronisation", "allocation", "copy_waits", "compilation",
    "garbage_collection", "launching", "python", "queued", "unknown",
]  # fmt: skip


_MOST_NAMES = 20_000  # that are looked at once; the same ones stand in many stacks


@dataclass(frozen=True)
class Frame:
    """A span of a stack: its name, its kind of host_activity.KINDS, and whether it lasted longer
    than a call that does not wait, which is true of all that never do."""

    name: str
    kind: int
    is_long: bool = True


# Of the marks that a profiler sets around each step nothing follows.
STEP_MARK = re.compile(r"ProfilerStep\s*#?\s*\d*\Z")
# A thread in one of these waits for another thread, which does what is to be named.
WAITS_FOR_THREAD = re.compile(
    r"<built-in method run_backward of |<method '(?:acquire|wait)' of '_thread\.|"
    r"(?:.{0,200}/)?threading\.py.{0,20}: (?:wait|join|_wait_for_tstate_lock)\Z"
)
# Scopes explain whatever happens inside them: the outermost one names the cause, by the name here
# where there is one.
_SCOPES: tuple[tuple[CauseKind, str, re.Pattern[str]], ...] = (
    (
        "data_loading",
        "DataLoader.__next__",
        re.compile(
            r"enumerate\(DataLoader\)#|.{0,40}DataLoaderIter\.__next__"
            r"|(?:.{0,200}/)?torch/utils/data/.{1,80}: (?:__next__|_next_data|_get_data|__iter__)"
        ),
    ),
    ("data_loading", "", re.compile(r"(?:.{0,200}/)?(?:webdataset|nvidia/dali|tf_?data)/")),
    (
        "compilation",
        "",
        re.compile(
            r"(?:.{0,200}/)?torch/_dynamo/(?:convert_frame|symbolic_convert|output_graph)\.py"
            r"|(?:.{0,200}/)?torch/_inductor/(?:graph|scheduler|async_compile|codegen/\w{1,60})\.py"
            r"|(?:.{0,200}/)?torch/_inductor/(?:compile_fx|codecache)\.py.{0,20}: "
            r"(?:fx_codegen|_?compile_fx|load|write)"
            r"|(?:.{0,200}/)?triton/compiler/|(?:.{0,200}/)?triton/runtime/(?:build|autotuner)\.py"
            r"|.{0,80}\(dynamo_timed\)|(?:cuda|cu|hip)(?:Module|Library)Load|nvrtc|hiprtc"
        ),
    ),
    (
        "garbage_collection",
        "gc.collect",
        re.compile(r"<built-in (?:function collect>|method collect of module gc)|gc\.collect\b"),
    ),
)  # fmt: skip
# Operators of the framework that read a value of the device.
_READS = re.compile(
    r"aten::(?:item|_local_scalar_dense|is_nonzero|nonzero|equal|cpu|tolist)\Z|.{0,40}::(?:item|cpu)\Z"
)
# Calls to the runtime of CUDA, HIP and Ascend, the innermost of a stack.
_API = r"(?:(?:AscendCL|ACL)@)?(?:cuda|cu|hip|aclrt|musa|mu)"
_CALLS: tuple[tuple[CauseKind, re.Pattern[str]], ...] = (
    ("synchronisation", re.compile(_API + r"(?:Device|Stream|Event|Ctx|Thread)?Synchronize")),
    (
        "allocation",
        re.compile(
            _API + r"(?:Malloc|Free|HostAlloc|HostMalloc|HostFree|HostRegister|HostUnregister"
            r"|Mem(?:Alloc|Free|HostAlloc|Create|Map|Unmap|Release|AddressReserve|SetAccess))"
        ),
    ),
    ("copy_waits", re.compile(_API + r"Memcpy")),
)  # fmt: skip
# Frames of the framework, its compiler and Python itself: who calls them is named in their place.
_PLUMBING = re.compile(
    r"<|nn\.Module: |(?:.{0,200}/(?:site-packages|dist-packages|lib/python3\.\d{1,2})/)?"
    r"(?:torch|torchgen|functorch|triton|importlib|contextlib|threading|queue|multiprocessing"
    r"|concurrent|selectors|socket|functools|collections|copy|typing|abc|enum|re|json|logging"
    r"|asyncio|ctypes|random|inspect|weakref|warnings|runpy|subprocess|dataclasses)(?:/|\.py\b)"
)


@dataclass(frozen=True)
class Cause:
    """The kind of a cause, and the name that an engineer would give it, '' where there is none."""

    kind: CauseKind
    name: str


STARTING = Cause("launching", "")  # from a launch to its start, where the device waited for it
QUEUED = Cause("queued", "")


class Stack(NamedTuple):
    """A stack of the host as far as it tells a cause: its innermost frame, the outermost scope, the
    innermost range that a program marked, the innermost code of the program, and the outermost
    read of a value of the device; each None where there is none."""

    leaf: Frame | None = None
    scope: Cause | None = None
    mark: str | None = None
    code: str | None = None
    read: str | None = None

    def around(self, inner: Frame) -> Stack:
        """Return this stack with one more frame inside."""
        scope, mark, code, read = _shown_by(inner)
        return Stack(
            inner,
            self.scope or scope,
            self.mark if mark is None else mark,
            self.code if code is None else code,
            self.read or read,
        )

    @property
    def cause(self) -> Cause:
        """Return the cause that the stack shows; unknown for none."""
        leaf = self.leaf
        if self.scope is not None:
            return self.scope
        if leaf is None:
            return Cause("unknown", "")
        if leaf.kind == RUNTIME:
            return self._of_call(leaf)
        if leaf.kind == OPERATOR or (leaf.kind == ANNOTATION and "::" in leaf.name):
            waits = leaf.is_long and is_read(leaf.name)  # in a file without calls to the runtime
            return Cause("synchronisation", leaf.name) if waits else self._launching
        return Cause("python", leaf.name if self.code is None else self.code)

    def _of_call(self, leaf: Frame) -> Cause:
        kind = _call_kind(leaf.name)
        if kind is None:
            return self._launching
        waits = kind != "copy_waits" or leaf.is_long
        if self.read is not None and kind in ("copy_waits", "synchronisation") and waits:
            return Cause("synchronisation", self.read)
        return Cause(kind, leaf.name) if waits else self._launching

    @property
    def _launching(self) -> Cause:
        """Operators and calls that start something, by the range that a program marked around."""
        return Cause("launching", self.mark or "")


def cause_of(stack: Iterable[Frame]) -> Cause:
    """The cause that a stack, outermost first, shows; unknown for none."""
    known = Stack()
    for frame in stack:
        known = known.around(frame)
    return known.cause


@lru_cache(maxsize=_MOST_NAMES)
def _shown_by(frame: Frame) -> tuple[Cause | None, str | None, str | None, str | None]:
    """Return what a frame alone shows: a scope, a mark, code of the program, a read of a value."""
    name = frame.name
    return (
        _scope(name),
        name if _is_mark(frame) else None,
        name if _is_code(frame) else None,
        name if is_read(name) else None,
    )


@lru_cache(maxsize=_MOST_NAMES)
def _scope(name: str) -> Cause | None:
    for kind, told, pattern in _SCOPES:
        if pattern.match(name):
            return Cause(kind, told or name)
    return None


@lru_cache(maxsize=_MOST_NAMES)
def _is_plumbing(name: str) -> bool:
    return _PLUMBING.match(name) is not None


@lru_cache(maxsize=_MOST_NAMES)
def _call_kind(name: str) -> CauseKind | None:
    return next((kind for kind, pattern in _CALLS if pattern.match(name)), None)


def waits_if_long(name: str) -> bool:
    """Return whether a call to the runtime of this name waits where it lasts long, and else only
    launches: a copy."""
    return _call_kind(name) == "copy_waits"


@lru_cache(maxsize=_MOST_NAMES)
def is_read(name: str) -> bool:
    """Return whether an operator of this name reads a value of the device, and waits for it."""
    return _READS.match(name) is not None


def _is_mark(frame: Frame) -> bool:
    return (frame.kind == ANNOTATION and "::" not in frame.name) or frame.name.startswith(
        "Optimizer."
    )


def _is_code(frame: Frame) -> bool:
    """Return whether a frame is code of the program, or a mark, and not a library's own."""
    is_own = frame.kind == FRAME and not _is_plumbing(frame.name)
    return frame.kind == ANNOTATION or is_own
