"""An explanation in sentences, as a colleague would write them."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.compare.explanation.explanation import (
    Change,
    Explanation,
    UnitTimes,
)
from fusescope.analysis.compare.joining.weights import weights_text
from fusescope.analysis.limits import MOST_DISTINCT
from fusescope.analysis.messages import Message, Part, Said, paragraph, passage
from fusescope.analysis.wording.explanation.changes import change_said
from fusescope.analysis.wording.explanation.earlier import earlier_said
from fusescope.analysis.wording.explanation.graphs import graph_sentences
from fusescope.analysis.wording.explanation.ranks import balance_sentence, ranks_sentences
from fusescope.analysis.wording.explanation.same_kernels import (
    common_kernels_said,
    same_kernels_said,
)
from fusescope.analysis.wording.explanation.units import (
    batch_sentence,
    end_said,
    per_unit,
    profiled_said,
    same_sentence,
    unit_sentence,
)
from fusescope.analysis.wording.explanation.works import (
    after_said,
    devices_sentence,
    fused_said,
    host_limits_said,
    idle_said,
    phases_paragraphs,
    phases_sentences,
    rates_said,
    recorded_devices_said,
    sizes_sentence,
    types_sentence,
)

_LEADS = 0.1  # of the change, below which nothing leads
FEW = 4  # changes that follow the leading one
_MODELS = Message(
    "The two files have hardly a kernel in common in the same order, so nothing is said of what "
    "changed."
)
_WEIGHTS = Message(
    "The weights of the matrix products have different sizes ({before} in the baseline, "
    "{after} in the candidate), so nothing is said of what changed."
)
_NAMES = Message(
    "One of the files has more than {n:count} kernels that all have names of their own, so nothing "
    "in it repeats, and their order is not compared."
)
_REST_FROM = 0.002  # of a unit, below which what is not told is not worth a sentence
_REST = Message("{rest:signed_duration} {per} are in no change listed here.")
_IDLE_REST = Message(
    "The remaining {rest:signed_duration} {per} is idle time: {before:duration} in the baseline "
    "and {after:duration} in the candidate, on average."
)
_LIKE = 0.1  # of what no change accounts for, up to which other idle time is the same time
_SMALLER = Message(
    "{n:count} smaller change adds {smaller:signed_duration} {per}.",
    "{n:count} smaller changes add {smaller:signed_duration} {per}.",
)
_SMALLER_AND_REST = Message(
    "Everything else adds up to {ns:signed_duration} {per}: {n:count} smaller change adds "
    "{smaller:signed_duration}, and {rest:signed_duration} are in no change listed here.",
    "Everything else adds up to {ns:signed_duration} {per}: {n:count} smaller changes add "
    "{smaller:signed_duration}, and {rest:signed_duration} are in no change listed here.",
)
_INTERVAL = Message(
    "The 95 % interval of the change of the mean, {low:signed_duration} to "
    "{high:signed_duration}, includes no change."
)
_UNEXPLAINED = Message("No single cause is large enough to be named.")


def leading_sentence(explanation: Explanation) -> str:
    """Return what changed, where, how often and by how much, and how long a unit takes."""
    return paragraph(*map(str, leading_said(explanation)))


def leading_said(explanation: Explanation) -> Sequence[Said]:
    """Return the leading sentences, to be told where they are shown."""
    unit, first = explanation.unit, _first(explanation)
    if explanation.difference == "phases":
        return phases_sentences(explanation)
    if explanation.graph is not None:
        return graph_sentences(explanation, explanation.graph)
    if explanation.difference == "names":
        return (*first, _NAMES.of(n=MOST_DISTINCT))
    if explanation.difference == "weights":
        before, after = map(weights_text, explanation.weights)
        return (*first, _WEIGHTS.of(before=before, after=after))
    if explanation.outcome == "not_comparable":
        return (*first, _MODELS.of())
    if explanation.outcome == "no_change":
        recorded = recorded_devices_said(explanation)
        return (
            *first,
            same_sentence(unit),
            *_interval_said(explanation),
            *end_said(unit),
            *recorded,
            *earlier_said(explanation),
        )
    lead = leading_change(explanation)
    if lead is None:
        return (
            *first,
            unit_sentence(unit),
            *end_said(unit),
            _UNEXPLAINED.of(),
            *earlier_said(explanation),
        )
    return (
        *first,
        change_said(lead, unit),
        unit_sentence(unit),
        *profiled_said(unit),
        *end_said(unit),
        *earlier_said(explanation),
    )


def _interval_said(explanation: Explanation) -> Sequence[Said]:
    """Return between which bounds the change of the mean lies that is none; () where unknown."""
    if explanation.interval_ns is None:
        return ()
    low, high = explanation.interval_ns
    return (_INTERVAL.of(low=low, high=high),)


def explained_parts(explanation: Explanation) -> list[tuple[Part, ...]]:
    """Return what changed, sentence by sentence, the cause of most of it first; last how long a
    unit takes, and what all that is not told adds to it."""
    lead = leading_change(explanation)
    if explanation.difference == "phases":
        told = phases_paragraphs(explanation)
        return [passage(*(said.parts() for said in each)) for each in told]
    if explanation.outcome in ("not_comparable", "no_change") or lead is None:
        return [said.parts() for said in leading_said(explanation)]
    unit = explanation.unit
    first = first_parts(explanation)
    said = (change_said(change, unit) for change in told_changes(explanation))
    last = last_parts(explanation, rest_parts(explanation))
    return [*([first] if first else []), *(each.parts() for each in said), last]


def last_parts(
    explanation: Explanation, rest: Sequence[Part], *, is_brief: bool = False
) -> tuple[Part, ...]:
    """Return how long a unit takes, and `rest`, which says what the changes do not add up to; with
    `is_brief` without work before the step."""
    unit = explanation.unit
    earlier = () if is_brief else earlier_said(explanation)
    said = (*profiled_said(unit), *end_said(unit), *earlier)
    return passage(unit_sentence(unit).parts(), *(each.parts() for each in said), rest)


def cause_parts(explanation: Explanation) -> tuple[Part, ...]:
    """Return the cause of most of the change, behind what stands in front of all causes; what is
    said first where no change leads."""
    has_causes = bool(told_changes(explanation) and first_parts(explanation))
    return passage(*explained_parts(explanation)[: 1 + has_causes])


def rest_parts(explanation: Explanation) -> tuple[Part, ...]:
    """Return what the smaller changes, which are not told, add up to, and what no change accounts
    for; none where both together are next to nothing."""
    unit, smaller = explanation.unit, smaller_changes(explanation)
    smaller_ns = sum(change.change_ns for change in smaller)
    rest_ns = explanation.rest_ns
    if abs(smaller_ns + rest_ns) < _REST_FROM * unit.before_ns:
        return ()
    idle = _idle_parts(explanation)
    if idle and not smaller:
        return idle
    has_rest = rest_ns and not idle
    message = _SMALLER_AND_REST if smaller and has_rest else _SMALLER if smaller else _REST
    told = message.parts(
        n=len(smaller),
        smaller=smaller_ns,
        rest=rest_ns,
        ns=smaller_ns + rest_ns,
        per=per_unit(unit),
    )
    return passage(told, idle)


def unexplained_parts(explanation: Explanation) -> tuple[Part, ...]:
    """Return what no change accounts for, where the smaller changes are listed; none where it is
    next to nothing."""
    unit, rest_ns = explanation.unit, explanation.rest_ns
    if abs(rest_ns) < _REST_FROM * unit.before_ns:
        return ()
    return _idle_parts(explanation) or _REST.parts(rest=rest_ns, per=per_unit(unit))


def _idle_parts(explanation: Explanation) -> tuple[Part, ...]:
    """Return what no change accounts for as idle time, as in one step of few; none where it is not,
    or where a change has idle time already."""
    parts = [side.parts for side in explanation.sides or ()]
    if not all(parts) or any(change.code == "idle" for change in explanation.changes):
        return ()
    before, after = (part.idle_ns if part else 0 for part in parts) if parts else (0, 0)
    rest_ns = explanation.rest_ns
    if not rest_ns or abs(after - before - rest_ns) > _LIKE * abs(rest_ns):
        return ()
    per = per_unit(explanation.unit)
    return _IDLE_REST.parts(rest=rest_ns, before=before, after=after, per=per)


def smaller_changes(explanation: Explanation) -> list[Change]:
    """Return the changes that are not told, the largest first."""
    told = told_changes(explanation)
    return [change for change in explanation.changes if not any(change is each for each in told)]


def told_changes(explanation: Explanation) -> list[Change]:
    """Return the changes that are told, the leading one first; none where no change leads."""
    lead = leading_change(explanation)
    if explanation.outcome in ("not_comparable", "no_change") or lead is None:
        return []
    return [lead, *following_changes(explanation)]


def first_parts(explanation: Explanation, *, is_brief: bool = False) -> tuple[Part, ...]:
    """Return what stands in front of all changes; with `is_brief` without `detail_parts`."""
    return passage(*(said.parts() for said in _first(explanation, is_brief=is_brief)))


def detail_parts(explanation: Explanation) -> list[tuple[Part, ...]]:
    """Return what is left out of the brief sentences in front of all changes: what each class of
    operators and idle time take on both sides, rates of products, and work before the step."""
    said: list[Said] = []
    if explanation.has_other_kernels and explanation.outcome == "changed":
        said = [devices_sentence(explanation), *idle_said(explanation), *_rates(explanation)]
    return [each.parts() for each in (*said, *earlier_said(explanation))]


def change_parts(change: Change, unit: UnitTimes) -> tuple[Part, ...]:
    """Return one change as a sentence in parts."""
    return change_said(change, unit).parts()


def _first(explanation: Explanation, *, is_brief: bool = False) -> list[Said]:
    """Return what stands in front of all causes: two ranks, stages of a pipeline, other
    amounts of work, two devices."""
    said = ranks_sentences(explanation.ranks, are_stages=explanation.difference == "stages")
    if explanation.difference == "stages":
        said += balance_sentence(explanation)
        said += common_kernels_said(explanation)
    if explanation.difference == "sizes":
        said.append(sizes_sentence(explanation))
    elif explanation.batch is not None:
        said.append(batch_sentence(explanation.unit, explanation.batch))
    if explanation.data_types is not None:
        said.append(types_sentence(explanation))
    is_compared = explanation.outcome == "changed"
    if explanation.has_other_kernels and is_compared:
        said.append(devices_sentence(explanation, is_brief=is_brief))
        said += [*fused_said(explanation), *after_said(explanation)]
        said += idle_said(explanation, is_brief=is_brief)
    if is_compared:
        said += host_limits_said(explanation)
    if explanation.has_other_kernels and is_compared and not is_brief:
        said += _rates(explanation)
    said += same_kernels_said(explanation)
    if is_compared:
        said += recorded_devices_said(explanation)
    return said


def _rates(explanation: Explanation) -> list[Said]:
    """Return at what rates products run, where the host is not the limit."""
    return [] if host_limits_said(explanation) else rates_said(explanation)


def leading_change(explanation: Explanation) -> Change | None:
    """Return the largest change in the direction of what is left without single executions that
    stand out; of those the largest only where nothing else makes that. Of two ranks of one job,
    which wait for one another, the largest that is no waiting. None without a change."""
    changes, ranks = explanation.changes, explanation.ranks
    if explanation.difference == "stages" or (ranks is not None and ranks.is_one_job):
        work = [change for change in changes if change.code not in ("communication", "idle")]
        return next(iter(work or changes), None)
    others = [change for change in changes if change.code != "outlier"]
    rest_ns = explanation.unit.change_ns - sum(
        change.change_ns for change in changes if change.code == "outlier"
    )
    same = [each for each in others if each.change_ns * rest_ns > 0]
    lead = next(iter(same), None)
    if lead is not None and abs(lead.change_ns) >= _LEADS * abs(rest_ns):
        return lead
    return next(iter(changes), None)


def following_changes(explanation: Explanation) -> list[Change]:
    """Return the changes that are told after the leading one, the largest first."""
    lead = leading_change(explanation)
    return [change for change in explanation.changes if change is not lead][:FEW]


def change_sentence(change: Change, unit: UnitTimes) -> str:
    """Return one change as a sentence."""
    return str(change_said(change, unit))
