"""The explanation of one trace in sentences: its unit of work, where the time goes, and the
largest thing that need not be."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.advice.explanation.explanation import TraceExplanation
from fusescope.analysis.host_activity import is_python
from fusescope.analysis.messages import Message, Said, paragraph
from fusescope.analysis.wording.explanation.blocks import blocks_said
from fusescope.analysis.wording.explanation.savings import saving_said
from fusescope.analysis.wording.explanation.traced_unit import unit_said
from fusescope.analysis.wording.explanation.units import per

FEW = 4  # savings that follow the largest
_LEADS = 0.1  # of a unit, from which the largest saving is told first
_OF_HOST = ("python", "launching")
_MOST = 0.5  # of a unit, from which the host limits
_CAPTURES = Message(
    "The file captures a graph of {kernels:count} kernels, copies and fills, which do not run in "
    "it: compare it with a file in which the graph runs.",
    "The file captures {n:count} graphs of {kernels:count} kernels, copies and fills together, "
    "which do not run in it: compare it with a file in which they run.",
)
_HOST_LIMITS = {
    "python": Message(
        "The host is the limit: for **{ns:duration}** {per}, {share:percent} of the time, the "
        "device waits while the host runs Python and launches, {each:duration} on average "
        "for each of {n:count} executions, so faster kernels would change little."
    ),
    "code": Message(
        "The host is the limit: for **{ns:duration}** {per}, {share:percent} of the time, the "
        "device waits while the host runs other code and launches, {each:duration} on average "
        "for each of {n:count} executions, so faster kernels would change little."
    ),
    "": Message(
        "The host is the limit: for **{ns:duration}** {per}, {share:percent} of the time, the "
        "device waits for the host to launch the next kernel, {each:duration} on "
        "average for each of {n:count} executions, so faster kernels would change little."
    ),
}
# Whoever knows the file knows the time of all its steps.
_IN_ALL = Message("In {n:steps} together that is {all:duration} of {whole:duration}.")
# On pages it stands apart from the sentence before it.
_IDLE_IN_ALL = Message(
    "In {n:steps} together that idle time is {all:duration} of {whole:duration}."
)
_NOTHING = Message("Nothing that takes much time looks avoidable.")


def trace_sentence(found: TraceExplanation) -> str:
    """Return what a unit is and takes, what that goes to, and the largest thing that need not be,
    as one paragraph."""
    return paragraph(*(str(said) for part in told_said(found) for said in part))


def told_said(found: TraceExplanation) -> tuple[Sequence[Said], ...]:
    """Return the parts of `lead_said` in the order in which they are told: the largest thing that
    need not be comes before what the time goes to, where it is much of a unit."""
    unit, blocks, saving = lead_said(found)
    return (unit, saving, blocks) if saving_leads(found) else (unit, blocks, saving)


def saving_leads(found: TraceExplanation) -> bool:
    """Return whether the largest thing that need not be is much of a unit."""
    return bool(found.savings) and found.savings[0].ns >= _LEADS * found.unit.wall_ns


def lead_said(found: TraceExplanation) -> tuple[Sequence[Said], Sequence[Said], Sequence[Said]]:
    """Return the sentences of the unit, of what its time goes to, and of the largest thing that
    need not be."""
    unit = found.unit
    return (
        [*captured_said(found), *unit_said(unit), *host_said(found)],
        blocks_said(found),
        _saved(found),
    )


def _saved(found: TraceExplanation) -> list[Said]:
    """Return the largest thing that need not be; of a file that only captures graphs nothing, since
    it does not show what they take."""
    largest = [saving_said(each, found.unit) for each in found.savings[:1]]
    if not largest and found.captured is not None:
        return []
    return [*largest, *whole_said(found)] or [_NOTHING.of()]


def captured_said(found: TraceExplanation) -> list[Said]:
    """Return that a file captures graphs instead of running them; nothing of any other."""
    if found.captured is None:
        return []
    graphs, kernels = found.captured
    return [_CAPTURES.of(n=graphs, kernels=kernels)]


def host_said(found: TraceExplanation) -> list[Said]:
    """Return that the host is what limits, where the device waits most of the time for its code and
    its launches; nothing elsewhere."""
    unit = found.unit
    ns = sum(each.ns for each in found.savings if each.values.get("kind") in _OF_HOST)
    if ns < _MOST * unit.wall_ns or not unit.kernels:
        return []
    each = round(ns / unit.kernels)
    values = {"ns": ns, "share": ns / unit.wall_ns, "n": unit.kernels, "each": each}
    return [_HOST_LIMITS[_host_code(found)].of(**values, per=per(unit.kind, unit.name))]


def _host_code(found: TraceExplanation) -> str:
    """Return which code the host runs between launches: 'python', 'code' of another language or
    unknown, or '' where the file shows none."""
    causes = [each.values["cause"] for each in found.savings if each.values.get("kind") == "python"]
    if not causes:
        return ""
    return "python" if is_python(str(causes[0])) else "code"


def whole_said(found: TraceExplanation) -> list[Said]:
    """Return how much the largest thing that need not be is in all units together, of several that
    annotations name; nothing of others."""
    unit = found.unit
    if not found.savings or unit.kind != "annotation" or unit.count < 2:
        return []
    ns, count = found.savings[0].ns, unit.count
    message = _IDLE_IN_ALL if found.savings[0].code == "idle" else _IN_ALL
    return [message.of(n=count, all=ns * count, whole=unit.wall_ns * count)]


def following_said(found: TraceExplanation) -> list[Said]:
    """Return what else need not be, the largest first."""
    return [saving_said(each, found.unit) for each in found.savings[1 : FEW + 1]]
