"""What changed as steps from the baseline's unit of work to the candidate's, which add up
exactly."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.explanation.explanation import Change, ChangeCode, UnitTimes
from fusescope.analysis.host_activity import is_python
from fusescope.analysis.messages import Message, Shown
from fusescope.analysis.wording.explanation import smaller_changes, told_changes
from fusescope.analysis.wording.explanation.details import where_names
from fusescope.analysis.wording.explanation.kernels import names_text
from fusescope.analysis.wording.explanation.units import is_run
from fusescope.analysis.wording.waterfall import Step, waterfall_steps
from fusescope.analysis.work_units import UnitKind

_AXIS: Mapping[UnitKind, Message] = {
    "step": Message("mean time per step, {unit}"),
    "annotation": Message("mean time per step, {unit}"),
    "repeat": Message("mean time per repetition, {unit}"),
    "file": Message("time in the file, {unit}"),
}
_AXIS_OF_RUN = Message("mean time per run, {unit}")
TITLE = Message("From baseline to candidate")
HELP = Message(
    "From the baseline's unit of work to the candidate's: each change by itself, computed from the "
    "data, then smaller ones together, and last what is in no listed change. The steps add up to "
    "the whole change in ns."
)
TERMS = Message("each change by itself, smaller ones together, and what is in no listed change")
GROUPS = Message("Groups by class and by what launched them")
_SMALLER = Message("{n:count} smaller change", "{n:count} smaller changes")
_REST = Message("in no listed change")
_LABELS: Mapping[ChangeCode, Message] = {
    "added": Message("new: {after}"),
    "removed": Message("gone: {before}"),
    "fused": Message("fused: {after}"),
    "split": Message("no longer fused: {before}"),
    "replaced": Message("{after} instead of {before}"),
    "pieces": Message("in other pieces: {either}"),
    "time": Message("{before}"),
    "operator": Message("{where:name}"),
    "shapes": Message("{where:name}"),
    "place": Message("layer {layer:count} of {layers:count}"),
    "outlier": Message("one long execution of {either}"),
    "repeats": Message("layers"),
    "clocks": Message("the same kernels, as with other clocks"),
    "idle": Message("idle time"),
    "communication": Message("{where:name}"),
}
_ON_ONE_SIDE: Mapping[ChangeCode, Message] = {
    "added": Message("only in the candidate: {after}"),
    "removed": Message("only in the baseline: {before}"),
}
_IDLE_BY = {
    "data_loading": Message("waiting for data"),
    "synchronisation": Message("idle: synchronising"),
    "allocation": Message("idle: allocating memory"),
    "copy_waits": Message("idle: waiting for a copy"),
    "compilation": Message("idle: compiling"),
    "garbage_collection": Message("idle: collecting garbage"),
    "launching": Message("idle: launching"),
    "python": Message("idle: Python"),
    "code": Message("idle: other code of the host"),
    "queued": Message("idle: launched already"),
    "unknown": Message("idle: not known why"),
}


def axis(unit: UnitTimes) -> Message:
    """Return what the axis shows, in its `unit`."""
    return _AXIS_OF_RUN if is_run(unit.kind, unit.name) else _AXIS[unit.kind]


def steps_of(comparison: Comparison) -> tuple[Step, ...]:
    """Return the steps of what changed; where groups are proven, and of recordings, those of the
    groups."""
    found = comparison.explanation
    if found is None or not comparison.is_explained:
        return waterfall_steps(comparison)
    told = told_changes(found)
    others = smaller_changes(found)
    smaller = sum(change.change_ns for change in others)
    are_two = found.ranks is not None or found.difference is not None or found.has_other_kernels
    steps = [
        Step(comparison.baseline.name, found.unit.before_ns, "total"),
        *(_step(change_label(change, are_two=are_two), change.change_ns) for change in told),
    ]
    if others:
        steps.append(_step(_SMALLER.text(n=len(others)), smaller))
    if found.rest_ns:
        steps.append(Step(_REST.text(), found.rest_ns, "term", caption=TERMS.text()))
    return (*steps, Step(comparison.candidate.name, found.unit.after_ns, "total"))


def change_label(change: Change, *, are_two: bool = False) -> str:
    """Return a few words for a change: what it is, and the kernels that it is about. Where the
    sides `are_two` that stand beside each other, such as ranks, nothing is new or gone."""
    if change.code == "idle" and change.values.get("kind") in _IDLE_BY:
        kind = str(change.values["kind"])
        is_other = kind == "python" and not is_python(str(change.values.get("cause")))
        return _IDLE_BY["code" if is_other else kind].text()
    values: dict[str, Shown] = {
        "before": names_text(change.before),
        "after": names_text(change.after),
        "either": names_text(change.after or change.before),
        "where": _where(change),
        "layer": change.values.get("layer", 0),
        "layers": change.values.get("layers", 0),
    }
    is_alike = change.code == "replaced" and str(values["before"]) == str(values["after"])
    if are_two and change.code in _ON_ONE_SIDE:
        return _ON_ONE_SIDE[change.code].text(**values)
    return _LABELS["time" if is_alike else change.code].text(**values)


def _where(change: Change) -> str:
    """Return the operator or the collective that a change is about; its shapes behind it, and
    where the file names no operator the kernels."""
    names = where_names(change)
    if change.code != "shapes":
        return ", ".join(names[:1])
    by_operator = len(names) > 1 and ("::" in names[-2] or "op_class" in change.values)
    return ", ".join((names[-2] if by_operator else str(names_text(change.before)), names[-1]))


def _step(label: str, ns: int) -> Step:
    return Step(label, ns, "slower" if ns > 0 else "faster", caption=TERMS.text())
