"""Figures that only recipes show, each of one step. All others are those of a comparison."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd

from fusescope.analysis.compare.assumptions import Assumptions, tops
from fusescope.analysis.compare.groups.grouping import group_operators
from fusescope.analysis.compare.side import Side
from fusescope.analysis.experiment import VariantRecord
from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.utilisation import counted_utilisation
from fusescope.analysis.operators.flops import parse_shapes
from fusescope.analysis.quantity import Basis, Quantity, Reason
from fusescope.analysis.recipes.cell import Cell

Figures = Mapping[str, Quantity]


@dataclass(frozen=True, eq=False)
class Context:
    """One step and the first one: their sides, and the figures of a comparison by code."""

    side: Side
    first: Side
    figures: Figures
    first_figures: Figures
    assumptions: Assumptions

    @property
    def variant(self) -> VariantRecord:
        """What was recorded of the step."""
        assert self.side.variant is not None
        return self.side.variant


def sampled_ns(variant: VariantRecord) -> list[int]:
    """Un-profiled wall time of every run of the step; the control's are left out."""
    samples = variant.samples
    return [ns for ns, copy in zip(samples.wall_ns, samples.copy, strict=True) if copy == 1]


def nodes(side: Side) -> int | None:
    """Operators of the graph as the engine ran it; None without a graph."""
    if side.graph is not None:
        return len(side.graph.nodes)
    return side.variant.nodes if side.variant is not None else None


@dataclass(frozen=True)
class Convolution:
    """Shape of the weights (filters, channels of a group, kernel) and the number of groups."""

    weight: tuple[int, ...]
    groups: int


Choose = Callable[[Convolution], bool]


def is_depthwise(convolution: Convolution) -> bool:
    """Whether each of several groups has one channel."""
    return convolution.groups > 1 and convolution.weight[1] == 1


def is_3x3(convolution: Convolution) -> bool:
    """Whether the kernel is 3 x 3."""
    return convolution.weight[2:] == (3, 3)


def convolution_of(node: Node, graph: Graph) -> Convolution | None:
    """A convolution of a graph; None where its weights are not known."""
    tensors = [graph.tensor.get(name) for name in node.inputs]
    weight = _weight([tensor.shape or () if tensor is not None else () for tensor in tensors])
    group = node.attributes.get("group", 1)
    return Convolution(weight, group) if weight and isinstance(group, int) else None


def convolution_from(shapes: Sequence[tuple[int, ...]]) -> Convolution | None:
    """A convolution by the shapes of its inputs, channels first."""
    weight = _weight(shapes)
    return Convolution(weight, shapes[0][1] // weight[1]) if weight and weight[1] > 0 else None


def _weight(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The first later input with as many axes as the data: quantised forms have scales between."""
    axes = len(shapes[0]) if shapes else 0
    return next((s for s in shapes[1:] if len(s) == axes and axes >= 3), None)


def _chosen(side: Side, choose: Choose) -> pd.DataFrame:
    """Convolutions that ran, chosen by the graph where it has them, for a profile leaves out
    weights that the engine packed; figures per run of the profile."""
    table = by_operator(side.trace)
    table = table[table["op_class"] == "convolution"]
    kept = []
    for name, inputs in zip(table["name"], table["inputs"].astype("object"), strict=True):
        node = side.graph.node.get(name) if side.graph is not None else None
        found = convolution_of(node, side.graph) if node is not None and side.graph else None
        if found is None and isinstance(inputs, str):
            found = convolution_from(parse_shapes(inputs))
        kept.append(found is not None and choose(found))
    return table[kept]


def _time(choose: Choose, context: Context) -> Cell:
    """Their time per run, from the profile."""
    table = _chosen(context.side, choose)
    return _cell(
        None if table.empty else float(table["per_run_ns"].sum()), "ns", "no_such_operator"
    )


def _utilisation(choose: Choose, context: Context) -> Cell:
    """Their FLOPs / (their profiled time x peak), of all of them together."""
    table = _chosen(context.side, choose)
    if table.empty:
        return _cell(None, "fraction", "no_such_operator", "modelled")
    value, reason = counted_utilisation(table, tops(context.assumptions, context.side))
    return _cell(value, "fraction", reason, "modelled")


def _per_sample(context: Context) -> Cell:
    """Latency / batch."""
    latency = context.figures["latency"]
    record = context.side.experiment.record if context.side.experiment else None
    batch = (record.model.batch if record else None) or 1
    return _cell(None if latency.value is None else latency.value / batch, "ns", latency.reason)


def _mean_of_runs(context: Context) -> Cell:
    runs = sampled_ns(context.variant)
    return _cell(statistics.fmean(runs) if runs else None, "ns", "no_samples")


def _median_of_runs(context: Context) -> Cell:
    runs = sampled_ns(context.variant)
    return _cell(float(statistics.median(runs)) if runs else None, "ns", "no_samples")


def _removed(context: Context) -> Cell:
    """Intermediate traffic of the first step less that of this one."""
    before, after = (
        side["intermediate_bytes"] for side in (context.first_figures, context.figures)
    )
    if before.value is None or after.value is None:
        return _cell(None, "bytes", after.reason or before.reason, after.basis)
    return _cell(before.value - after.value, "bytes", None, after.basis)


def _operators(context: Context) -> Cell:
    return _cell(nodes(context.side), "count", "no_graph")


def _fused_nodes(context: Context) -> Cell:
    """Operators of the step's graph that stand for several nodes of the model."""
    fusion = group_operators(context.first, context.side)
    if fusion.source != "graphs":
        return _cell(None, "count", "no_graph")
    return _cell(sum(len(g.candidate) for g in fusion.groups if g.kind == "fused"), "count")


def _allocator(context: Context) -> Cell:
    return Cell(text=str(context.variant.settings.get("memory_arena", "")))


def _cell(
    value: float | None, unit: str, reason: Reason | None = None, basis: Basis = "measured"
) -> Cell:
    return Cell(Quantity(value, unit, basis, reason if value is None else None))


MEASURES: Mapping[str, Callable[[Context], Cell]] = {
    "latency_per_sample": _per_sample,
    "latency_mean": _mean_of_runs,
    "latency_median": _median_of_runs,
    "allocator": _allocator,
    "operators": _operators,
    "fused_nodes": _fused_nodes,
    "intermediate_removed": _removed,
    "conv3x3_time": partial(_time, is_3x3),
    "conv3x3_utilisation": partial(_utilisation, is_3x3),
    "depthwise_time": partial(_time, is_depthwise),
    "depthwise_utilisation": partial(_utilisation, is_depthwise),
}
