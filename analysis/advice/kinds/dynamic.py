"""Dynamic dimensions: what an engine computes in every run, and does not fuse, because it does not
know the sizes of the inputs."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.advice import prediction
from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.kinds.missed import predicted
from fusescope.analysis.advice.missed_fusions import missed_fusions
from fusescope.analysis.advice.settings import is_dynamic
from fusescope.analysis.advice.subject import MAX_NAMES, Answer, Subject, shown
from fusescope.analysis.compare.groups.equivalence import SHAPE_READERS, in_order, read_by
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph

_NAMED = 4  # op types and patterns
_SIZES = ("int64[", "int32[")
_MOST_SIZES = 8  # values of a tensor that holds a shape
_FROM_SIZES = frozenset(("ConstantOfShape", "Range"))


def dynamic_dimensions(subject: Subject) -> Answer:
    """Operators that compute only from sizes, and fusions that the engine does not do because it
    does not know them, together take 2 % of the run, or more.

    Of a recording only the variant whose dimensions were left open has it: the others were told all
    sizes. Of any other file that has operators such as Shape, those and what seems to compute with
    what they return; whether the sizes can be fixed is not known there.
    """
    side, texts = subject.side, subject.texts
    if not (texts["op_type"] != "").any():
        return "no_types"
    if side.experiment is not None and not is_dynamic(side):
        return ()
    if side.graph is not None:
        try:
            of_sizes = texts["name"].isin(_computing_sizes(side.graph)).to_numpy()
        except FuseScopeError:
            return "no_graph"
    elif side.experiment is not None:
        return "no_graph"
    else:
        of_sizes = _like_sizes(subject)
    comparison = subject.comparison if is_dynamic(side) else None
    missed = [
        (miss, miss.stake_ns)
        for miss in (missed_fusions(comparison) if comparison else ())
        if miss.blocked_by == "dynamic_dimensions" and miss.stake_ns is not None
    ]
    time_ns, stake_ns = subject.time_of(of_sizes), sum(stake for _, stake in missed)
    if not subject.matters(time_ns + stake_ns):
        return ()
    gain = prediction.together(
        prediction.computed_ahead(time_ns), *(predicted(miss, stake) for miss, stake in missed)
    )
    places = sum(miss.count for miss, _ in missed)
    patterns = [*dict.fromkeys(miss.pattern for miss, _ in missed)][:_NAMED]
    fused = tuple(shown(name) for miss, _ in missed for name in miss.nodes)
    names = (*subject.names(of_sizes), *fused) if of_sizes.any() else fused
    return (
        Finding(
            "dynamic_dimensions",
            values={
                **({"operators": int(of_sizes.sum())} if time_ns else {"places": places}),
                "op_types": shown(", ".join(_largest(subject, of_sizes))) if time_ns else "",
                "time_ns": time_ns,
                "patterns": shown(", ".join(patterns)) if patterns else "",
                "stake_ns": stake_ns,
                "share": subject.share(time_ns + stake_ns),
            },
            at_most_ns=max(time_ns + stake_ns, gain.high),
            share=subject.share(time_ns + stake_ns),
            gain=gain if is_dynamic(side) else None,
            where="operators",
            names=tuple(dict.fromkeys(names))[:MAX_NAMES],
            confidence="medium" if is_dynamic(side) else "low",
        ),
    )


def _computing_sizes(graph: Graph) -> set[str]:
    """Operators that read a shape, and those that read nothing but what they return and constants:
    with fixed sizes an engine computes all of that once."""
    constant = {tensor.name for tensor in graph.tensors if tensor.constant}
    known: set[str] = set()
    found: set[str] = set()
    for node in in_order(graph):
        read = set(read_by(node))
        if node.op_type in SHAPE_READERS or (read & known and read <= known | constant):
            found.add(node.name)
            known.update(filter(None, node.outputs))
    return found


def _like_sizes(subject: Subject) -> np.ndarray:
    """Operators that read a shape or make a tensor of one, and where there are some, those that
    return a few integers."""
    types = subject.texts["op_type"]
    readers = types.isin([*SHAPE_READERS, "ShapeOf"])
    if not readers.any():
        return np.zeros(len(types), dtype=bool)
    few = [_holds_sizes(text) for text in subject.operators["outputs"].astype("object")]
    found: np.ndarray = (readers | types.isin(_FROM_SIZES)).to_numpy(dtype=bool) | np.array(few)
    return found


def _holds_sizes(outputs: object) -> bool:
    """Whether the text of an operator's outputs is of one tensor of at most one axis and a few
    whole numbers."""
    if not isinstance(outputs, str) or not outputs.startswith(_SIZES) or not outputs.endswith("]"):
        return False
    inside = outputs.partition("[")[2][:-1]
    return not inside or (inside.isdecimal() and int(inside) <= _MOST_SIZES)


def _largest(subject: Subject, chosen: np.ndarray) -> list[str]:
    """Op types of these operators, most time first."""
    table = subject.operators[chosen].groupby(subject.texts["op_type"][chosen])["per_run_ns"].sum()
    return [str(name) for name in table.sort_values(ascending=False, kind="stable").index][:_NAMED]
