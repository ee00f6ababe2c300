"""Dispatch: what torch.compile itself does around the kernels that it generated.

Guards, wrappers and the call of a compiled graph are events of the host like operators, but compute
nothing: a region looks up its graph, prepares the inputs, calls the graph, and ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.readers.building.coded import Coded
from fusescope.analysis.readers.building.nesting import Nesting
from fusescope.analysis.readers.building.timetable import Ints, distinct
from fusescope.analysis.readers.pytorch.event import Span
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.spans import Spans
from fusescope.analysis.trace import Diagnostic

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

    ops: Spans
    names: Coded
    self_ns: Ints
    parents: Ints
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
    spans = found.ops.joined(found.calls)
    nesting = Nesting(spans.lanes, spans.starts, spans.lengths)
    known = dict(zip(distinct(spans.names).tolist(), spans.distinct_names(), strict=True))
    own = [at for at, name in known.items() if is_dispatch(name)]
    shows = any(GENERATED.match(name) for name in known.values())
    hidden = _hidden(spans, nesting.parents) if own and not shows else {}
    is_kept = ~np.isin(spans.names, own)
    is_kept[list(hidden)] = True
    kept, out = np.flatnonzero(is_kept), np.flatnonzero(~is_kept)
    place = np.where(is_kept, np.cumsum(is_kept) - 1, -1)
    around = nesting.around
    while len(left := np.flatnonzero((around >= 0) & ~is_kept[around])):
        around = around.copy()
        around[left] = around[around[left]]
    parents = np.where(around >= 0, place[around], -1)
    self_ns = nesting.own_ns[kept]
    is_inside = parents[out] >= 0
    np.add.at(self_ns, parents[out[is_inside]], nesting.own_ns[out[is_inside]])
    kept_spans = spans.take(kept)
    names = kept_spans.coded_names().mapped(lambda name: name or "unnamed")
    if hidden:
        cells = [hidden.get(at) or name for at, name in zip(kept.tolist(), names, strict=True)]
        names = Coded.of(cells)
    return HostOps(
        ops=kept_spans,
        names=names,
        self_ns=self_ns,
        parents=parents[kept],
        dispatch=len(out),
        dispatch_ns=int(nesting.own_ns[out[~is_inside]].sum()),
        hidden=len(hidden),
    )


def _hidden(spans: Sequence[Span], parents: Sequence[int]) -> dict[int, str]:
    """Positions of what stands for kernels, with the name of the outermost region around it."""
    spans = list(spans)
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
