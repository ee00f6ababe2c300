"""Dispatch: what torch.compile itself does around the kernels that it generated.

Guards, wrappers and the call of a compiled graph are events of the host like operators, but compute
nothing: a region looks up its graph, prepares the inputs, calls the graph, and ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.readers.building.nesting import Nesting
from analysis.readers.pytorch.events import Sorted, Span
from analysis.trace import Diagnostic

GENERATED = re.compile(r"(?:graph_\d{1,9}_)?(?:cpp|triton_[a-z]+)_fused")
CALL = re.compile(r"## Call CompiledFxGraph (\S{1,200}) ##")
_REGION = re.compile(r"Torch-Compiled Region\b|CompiledFunction(?:Backward\d{0,9})?\Z")
_AROUND = re.compile(
    r"TorchDynamo Cache Lookup\Z|Pregraph bytecode\Z|AOTDispatcher Runtime Wrapper \w{1,40}\Z"
    r"|graph_\d{1,9}_inductor_wrapper_call\Z"
    r"|autograd::engine::evaluate_function: CompiledFunctionBackward\d{0,9}\Z"
)


def is_dispatch(name: str) -> bool:
    """True for an event of torch.compile's own code: a region, a call of a graph, or beside one."""
    return any(form.match(name) for form in (_REGION, _AROUND, CALL))


@dataclass(frozen=True)
class HostOps:
    """Operators of the host in the order of the file, with the time that is each one's own.

    `parents` are positions of the operators around them, -1 for none. `dispatch` counts the events
    of torch.compile's own code, which are none, and `dispatch_ns` is their own time outside every
    operator: inside one it is that operator's own. `hidden` are regions that stand for the kernels
    in them, under the name of the region.
    """

    ops: tuple[Span, ...]
    names: tuple[str, ...]
    self_ns: tuple[int, ...]
    parents: tuple[int, ...]
    dispatch: int
    dispatch_ns: int
    hidden: int

    @property
    def notes(self) -> list[Diagnostic]:
        """What was left out, and what is not seen."""
        notes = []
        if self.dispatch:
            values = {"own_ns": self.dispatch_ns}
            notes.append(Diagnostic("info", "compiled_dispatch", self.dispatch, values=values))
        if self.hidden:
            notes.append(Diagnostic("info", "kernels_hidden", self.hidden))
        return notes


def host_ops(found: Sorted) -> HostOps:
    """The operators of the host without torch.compile's own code.

    Where no generated kernel is in the file, the call of a compiled graph stands for its kernels
    (the region where the file has no such call), and is kept: its own time is theirs.
    """
    spans = sorted((*found.ops, *found.calls), key=lambda span: span.row)
    nesting = Nesting(
        [span.lane for span in spans],
        [span.start_ns for span in spans],
        [span.dur_ns for span in spans],
    )
    is_own = [is_dispatch(span.name) for span in spans]
    shows = any(GENERATED.match(span.name) for span in spans)
    hidden = {} if shows else _hidden(spans, nesting.parents)
    kept = [at for at in range(len(spans)) if not is_own[at] or at in hidden]
    place = {at: new for new, at in enumerate(kept)}
    out = [at for at in range(len(spans)) if at not in place]
    self_ns = [nesting.self_ns[at] for at in kept]
    dispatch_ns = 0
    for at in out:
        around = _kept_parent(at, nesting.parents, place)
        if around >= 0:
            self_ns[around] += nesting.self_ns[at]
        else:
            dispatch_ns += nesting.self_ns[at]
    return HostOps(
        ops=tuple(spans[at] for at in kept),
        names=tuple(hidden.get(at) or spans[at].name or "unnamed" for at in kept),
        self_ns=tuple(self_ns),
        parents=tuple(_kept_parent(at, nesting.parents, place) for at in kept),
        dispatch=len(out),
        dispatch_ns=dispatch_ns,
        hidden=len(hidden),
    )


def _hidden(spans: Sequence[Span], parents: Sequence[int]) -> dict[int, str]:
    """Positions of what stands for kernels, with the name of the outermost region around it."""
    outermost: dict[int, int] = {}
    for at in _outside_first(spans):
        top = outermost.get(parents[at], -1)
        is_region = _REGION.match(spans[at].name) is not None
        outermost[at] = top if top >= 0 else at if is_region else -1
    calls = {at for at, span in enumerate(spans) if CALL.match(span.name)}
    around = {outermost[at] for at in calls}
    named = {at: spans[outermost[at] if outermost[at] >= 0 else at].name for at in calls}
    alone = (at for at, top in outermost.items() if top == at and at not in around)
    return named | {at: spans[at].name for at in alone}


def _outside_first(spans: Sequence[Span]) -> list[int]:
    """Positions, each after those around it."""
    return sorted(range(len(spans)), key=lambda at: (spans[at].start_ns, -spans[at].dur_ns, at))


def _kept_parent(at: int, parents: Sequence[int], place: dict[int, int]) -> int:
    parent = parents[at]
    while parent >= 0 and parent not in place:
        parent = parents[parent]
    return place.get(parent, -1)
