"""Profiles of recordings of ours with OpenVINO: what its layers took in each block.

The engine's counters are means over all runs so far, in whole µs, a row a layer, without start
times. They were read after every run, so the warm-up can be taken out of them: of n runs with the
mean b, of which the first w had the mean a, the others took (n·b - w·a) / (n - w) each. Both means
are cut to whole µs, so that is known to about 1 µs, and a block has one run in the trace: the mean
of its profiled ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import msgspec

from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.operators import flops
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.trace_tables import build_trace, shape_text
from fusescope.analysis.readers.input.json_value import refused
from fusescope.analysis.readers.openvino.profile import layer_class, layer_flops
from fusescope.analysis.trace import Diagnostic, Meta, Trace, runs_frame

_Us = Annotated[int, msgspec.Meta(ge=0, le=2**40)]
_Ns = Annotated[int, msgspec.Meta(ge=0, le=2**50)]


class _Layer(msgspec.Struct, frozen=True):
    name: str
    type: str
    exec_type: str = ""
    node: str = ""

    @property
    def known_as(self) -> str:
        """What the graph calls it: the engine's names differ between processes."""
        return self.node or self.name


class _Run(msgspec.Struct, frozen=True):
    dur_ns: _Ns
    real_us: dict[str, _Us]


class _Profile(msgspec.Struct, frozen=True):
    layers: list[_Layer]
    runs: list[_Run]
    requests: Annotated[int, msgspec.Meta(ge=1, le=4096)] = 1


@dataclass
class RecordedCounters:
    """Collects the profiles of one variant, one a block, into one Trace. `graph` is the variant's,
    None where it is not known."""

    graph: Graph | None
    limits: Limits = DEFAULT_LIMITS
    _rows: Columns = field(default_factory=Columns)
    _runs: Columns = field(default_factory=Columns)

    def add(self, data: bytes, where: str, *, block: int | None, warmup_runs: int) -> None:
        """Add the mean run of one file, the first `warmup_runs` left out. Of requests that run at
        the same time, each has its part of that time. Raises FuseScopeError for a file that cannot
        be read."""
        with refused(where, "openvino_report_damaged"):
            profile = msgspec.json.decode(data, type=_Profile)
        count = len(profile.layers) + self._rows.count
        self.limits.check_events(count, "more_rows_than_limit", where)
        kept = profile.runs[warmup_runs:]
        if not kept:
            return
        run = self._runs.count
        spans = sum(one.dur_ns for one in kept)
        self._runs.add(
            run=run, kind="step", dur_ns=round(spans / len(kept) / profile.requests), block=block
        )
        for row, layer in enumerate(profile.layers):
            took_us = _mean_us(profile, layer.name, warmup_runs)
            node = self.graph.node.get(layer.known_as) if self.graph is not None else None
            self._rows.add(
                **_columns(layer, node, self.graph),
                run=run,
                dur_ns=round(1000 * took_us / profile.requests),
                source_row=row,
            )

    def trace(self, meta: Meta) -> Trace:
        """The Trace of everything added so far. Raises FuseScopeError where there is no layer."""
        notes = [Diagnostic("info", "layer_means")]
        runs = runs_frame(**self._runs, profiled=[True] * self._runs.count)
        return build_trace(meta, self._rows, runs=runs, notes=notes, limits=self.limits)


def _mean_us(profile: _Profile, layer: str, warmup_runs: int) -> float:
    """Of the runs after the warm-up. Several requests have counters of several graphs, and which
    ran how often is not known: of those the mean of all runs."""
    last, count = _mean_at(profile.runs, layer, len(profile.runs))
    first, before = _mean_at(profile.runs, layer, warmup_runs)
    if profile.requests > 1 or count == before:
        return last
    return max(0.0, (count * last - before * first) / (count - before))


def _mean_at(runs: Sequence[_Run], layer: str, count: int) -> tuple[int, int]:
    """The mean after so many runs, and of how many it is."""
    return (runs[count - 1].real_us.get(layer, 0), count) if count else (0, 0)


def _columns(layer: _Layer, node: Node | None, graph: Graph | None) -> dict[str, object]:
    tensors: Mapping[str, object] = {}
    counted: int | None = None
    if node is not None and graph is not None:
        inputs, outputs = _shapes(graph, node.inputs), _shapes(graph, node.outputs)
        counted = layer_flops(layer.type, inputs, outputs)
        weights = [name for name in node.inputs if graph.tensor[name].constant]
        others = [name for name in node.inputs if name not in weights]
        tensors = {
            "inputs": inputs,
            "outputs": outputs,
            "bytes_in": _bytes(graph, others),
            "bytes_param": _bytes(graph, weights),
            "bytes_out": _bytes(graph, node.outputs),
        }
    return {
        "name": layer.known_as,
        "op_type": layer.type,
        "op_class": layer_class(layer.type),
        "provider": layer.exec_type or "CPU",
        "level": "graph_layer",
        "flops": counted,
        "flops_source": None if counted is None else flops.FROM_SHAPES,
        "device": "CPU",
        **tensors,
    }


def _shapes(graph: Graph, names: Sequence[str]) -> str:
    tensors = [graph.tensor[name] for name in names if name in graph.tensor]
    known = [(t.dtype or "", ",".join(map(str, t.shape))) for t in tensors if t.shape is not None]
    return shape_text([dtype for dtype, _ in known], [shape for _, shape in known])


def _bytes(graph: Graph, names: Sequence[str]) -> int | None:
    sizes = [graph.bytes_of(name) for name in names]
    return None if None in sizes else sum(size for size in sizes if size is not None)
