"""A graph that one file captures and the other one replays, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.compare.explanation.explanation import Explanation
from fusescope.analysis.compare.graphs.captured import CapturedGraph
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.wording.explanation.kernels import kernel_text

# By the side of the capture: 0 the baseline's.
_CAPTURES = (
    Message(
        "The baseline captures a graph: the host launches {kernels:count} kernels in "
        "{host:duration}, and none of them runs. The candidate replays it {n:count} time: one "
        "launch runs the same kernels, in {takes:duration}.",
        "The baseline captures a graph: the host launches {kernels:count} kernels in "
        "{host:duration}, and none of them runs. The candidate replays it {n:count} times: each "
        "time one launch runs the same kernels, in {takes:duration}.",
    ),
    Message(
        "The candidate captures a graph: the host launches {kernels:count} kernels in "
        "{host:duration}, and none of them runs. The baseline replays it {n:count} time: one "
        "launch runs the same kernels, in {takes:duration}.",
        "The candidate captures a graph: the host launches {kernels:count} kernels in "
        "{host:duration}, and none of them runs. The baseline replays it {n:count} times: each "
        "time one launch runs the same kernels, in {takes:duration}.",
    ),
)
_NAMES = Message(
    "Operators, shapes and modules of the replay are those of the capture, by the order of its "
    "kernels."
)
_MOST = Message("The largest part of the replay is in {kernel} ({n:executions}, {ns:duration}).")


def graph_sentences(explanation: Explanation, graph: CapturedGraph) -> Sequence[Said]:
    """Return what the host and the device do with the graph in both files, where the names of the
    replay come from, and which of its kernels take most time."""
    said = [
        _CAPTURES[graph.side].of(
            kernels=graph.kernels,
            host=graph.host_ns,
            n=graph.launches,
            takes=graph.replayed_ns,
        )
    ]
    kernels = explanation.kernels[1 - graph.side]
    if kernels:
        most = kernels[0].time
        said.append(_MOST.of(kernel=kernel_text([most]), n=round(most.count), ns=most.ns))
    return [*said, _NAMES.of()]
